import Foundation
import Shellac

/// A process that uses more databases than it has file descriptors for, and then fewer.
struct Keeping {
    private let keeper: DatabaseKeeper<Int, DatabaseQueue>

    init(folder: String) {
        keeper = DatabaseKeeper(maximumCount: 1_000) { key in
            var configuration = Configuration()
            configuration.journalMode = .wal
            let queue = try DatabaseQueue(path: "\(folder)/\(key).sqlite", configuration: configuration)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (text); INSERT INTO note VALUES (1)")
            }
            return queue
        }
    }

    /// Prints the number of databases that could be used at the same time, and the error of the
    /// next one. Then it uses all databases, one after the other, and prints how many there were.
    func run(count: Int) throws {
        var used = 0
        do { try use(from: 1, to: count, &used) } catch { print(used, error) }
        for key in 1...count {
            try keeper.use(key) { queue in try queue.read { db in _ = try db.tableExists("note") } }
        }
        print(count, keeper.openKeys.count)
    }

    private func use(from key: Int, to count: Int, _ used: inout Int) throws {
        try keeper.use(key) { _ in
            used += 1
            if key < count { try use(from: key + 1, to: count, &used) }
        }
    }
}

extension Keeping {
    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, arguments[2] == "keeper", let count = Int(arguments[3]) else {
            return false
        }
        try Keeping(folder: arguments[1]).run(count: count)
        return true
    }
}
