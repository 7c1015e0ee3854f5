import Foundation
import Shellac

/// A process that executes SQL, or holds a lock.
enum Holding {
    private enum Lock: String {
        case read, immediate, exclusive

        var kind: TransactionKind {
            switch self {
            case .read: .deferred
            case .immediate: .immediate
            case .exclusive: .exclusive
            }
        }
    }

    @Sendable
    static func execute(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, arguments[2] == "execute" else { return false }
        try await DatabaseQueue(path: arguments[1]).write { db in try db.execute(sql: arguments[3]) }
        return true
    }

    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 3, let lock = Lock(rawValue: arguments[2]) else { return false }
        try hold(lock, DatabaseQueue(path: arguments[1]))
        return true
    }

    private static func hold(_ lock: Lock, _ queue: DatabaseQueue) throws {
        try queue.inTransaction(lock.kind) { db in
            if lock == .read { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }
            FileHandle.standardOutput.write(Data("locked\n".utf8))
            _ = readLine()
            return .rollback
        }
    }
}
