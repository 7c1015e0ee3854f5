import Foundation
import Shellac
import Synchronization

/// A process that writes without a pause: rows of the table `entry (process, number, content)`,
/// numbered from 1.
struct Writing {
    enum Way: String {
        case pool, queue
    }

    private let writer: any DatabaseWriter
    private let process: Int

    init(path: String, _ way: Way, process: Int) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        self.process = process
        writer =
            switch way {
            case .pool: try DatabasePool(path: path, configuration: configuration)
            case .queue: try DatabaseQueue(path: path, configuration: configuration)
            }
    }

    /// Opens a file, which may be new, with a log, and writes a row.
    static func open(path: String, _ way: Way) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.journalMode = .wal
        let writer: any DatabaseWriter =
            switch way {
            case .pool: try DatabasePool(path: path, configuration: configuration)
            case .queue: try DatabaseQueue(path: path, configuration: configuration)
            }
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS opening (a); INSERT INTO opening VALUES (1)")
        }
        try writer.close()
    }

    /// Writes until the standard input has a line, or closes.
    func run() throws {
        let isEnd = Flag()
        Thread {
            _ = readLine()
            isEnd.set()
        }.start()
        var number = 0
        while !isEnd.isSet {
            number += 1
            let (process, next) = (process, number)
            try writer.write { db in
                // Each transaction is a few pages, so that the log grows, and is copied now and
                // then.
                for content in [2_000, 3_000, 0] {
                    try db.execute(
                        sql: """
                            INSERT INTO entry (process, number, content) VALUES (?, ?, zeroblob(?))
                            ON CONFLICT DO UPDATE SET content = excluded.content
                            """, arguments: [process, next, content])
                }
            }
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
        try writer.close()
    }
}

/// Something that one thread says to another one.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension Writing {
    @Sendable
    static func open(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, arguments[2] == "open", let way = Way(rawValue: arguments[3]) else {
            return false
        }
        try open(path: arguments[1], way)
        return true
    }

    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, let way = Way(rawValue: arguments[2]), let number = Int(arguments[3])
        else { return false }
        try Writing(path: arguments[1], way, process: number).run()
        return true
    }
}
