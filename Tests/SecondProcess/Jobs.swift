// The queue of jobs of the article *Servers*: a test compares the two.

import Foundation
import Shellac

struct Job: Sendable {
    var id: Int64
    var payload: String
    var attempts: Int
}

struct Jobs: Sendable {
    struct LeaseLost: Error {}
    let dbPool: DatabasePool
    var lease: TimeInterval = 60
    var pause: TimeInterval = 1
    var maximumAttempts = 8

    /// Takes the job that is due the longest. Others leave it alone until its lease has ended.
    func next() async throws -> Job? {
        try await dbPool.write { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    UPDATE job SET attempts = attempts + 1, runAt = ?
                    WHERE id = (SELECT id FROM job WHERE runAt <= ? AND attempts < ? ORDER BY runAt LIMIT 1)
                    RETURNING id, payload, attempts
                    """, arguments: [Date(timeIntervalSinceNow: lease), Date(), maximumAttempts])
            return try row.map { try Job(id: $0["id"], payload: $0["payload"], attempts: $0["attempts"]) }
        }
    }

    /// Removes a job, and makes its changes in the same transaction.
    func finish(_ job: Job, _ changes: @escaping @Sendable (Database) throws -> Void) async throws {
        try await dbPool.write { db in
            let key: StatementArguments = [job.id, job.attempts]
            try db.execute(sql: "DELETE FROM job WHERE id = ? AND attempts = ?", arguments: key)
            if db.changesCount == 0 { throw LeaseLost() }
            try changes(db)
        }
    }

    /// Lets a job come back after a pause, which doubles with each attempt up to an hour.
    func postpone(_ job: Job, _ error: any Error) async throws {
        let seconds = min(3600, pause * pow(2, Double(job.attempts - 1))) * .random(in: 0.75...1.25)
        try await dbPool.write { db in
            try db.execute(
                sql: "UPDATE job SET runAt = ?, error = ? WHERE id = ? AND attempts = ?",
                arguments: [Date(timeIntervalSinceNow: seconds), "\(error)", job.id, job.attempts])
        }
    }

    /// Works until the task is cancelled.
    func run(_ work: (Job) async throws -> @Sendable (Database) throws -> Void) async throws {
        while true {
            if let job = try await next() {
                do { try await finish(job, work(job)) } catch is LeaseLost {} catch {
                    try await postpone(job, error)
                }
            } else {
                try await Task.sleep(for: .seconds(pause))
            }
        }
    }
}
