import Foundation
import Shellac

/// A process that does the jobs of the table `job`, and notes each one in the table `done`.
struct Working {
    struct Refused: Error {}

    private let jobs: Jobs
    private let process: Int

    init(path: String, process: Int) throws {
        var configuration = Configuration.server
        configuration.busyMode = .timeout(60)
        // A crash of the machine is no part of this.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        jobs = Jobs(dbPool: pool, lease: 0.2, pause: 0.005)
        self.process = process
    }

    /// Works until the standard input has a line, or closes.
    func run() async throws {
        let process = process
        let work = Task { [jobs] in
            try await jobs.run { job in
                switch job.payload {
                // It never succeeds.
                case "poison": throw Refused()
                // It succeeds at the third attempt.
                case "flaky": if job.attempts < 3 { throw Refused() }
                // It may take longer than its lease, so that another worker takes it, too.
                case "slow": try await Task.sleep(for: .milliseconds(Int.random(in: 0...300)))
                // It fails in its own changes.
                case "torn" where job.attempts < 2:
                    return { db in
                        try db.execute(
                            sql: "INSERT INTO done (job, process) VALUES (?, ?)",
                            arguments: [job.id, process])
                        throw Refused()
                    }
                default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...5)))
                }
                return { db in
                    try db.execute(
                        sql: "INSERT INTO done (job, process) VALUES (?, ?)", arguments: [job.id, process])
                    // Its follower is there if, and only if, it was done.
                    if job.payload == "parent" {
                        try db.execute(
                            sql: "INSERT INTO job (payload, runAt) VALUES ('child', ?)", arguments: [Date()])
                    }
                }
            }
        }
        FileHandle.standardOutput.write(Data("working\n".utf8))
        await withCheckedContinuation { continuation in
            Thread {
                _ = readLine()
                continuation.resume()
            }.start()
        }
        work.cancel()
        _ = await work.result
        try await jobs.dbPool.close()
    }
}

extension Working {
    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, arguments[2] == "jobs", let number = Int(arguments[3]) else {
            return false
        }
        try await Working(path: arguments[1], process: number).run()
        return true
    }
}
