public import Shellac

/// A way to have a transaction around some operations.
public enum TransactionScope: String, CaseIterable, Sendable, Codable {
    case write
    case queueTransaction
    case databaseTransaction
    case queueSavepoint
    case databaseSavepoint

    /// The scopes whose operations say how the transaction ends.
    public static let choosing = allCases.filter { $0 != .write }

    /// Runs operations in a transaction.
    ///
    /// - Parameter completion: The end of the transaction. `write` always commits.
    public func run(
        _ queue: DatabaseQueue, _ completion: TransactionCompletion = .commit,
        _ operations: (Database) throws -> Void
    ) throws {
        func complete(_ db: Database) throws -> TransactionCompletion {
            try operations(db)
            return completion
        }
        switch self {
        case .write: try queue.write(operations)
        case .queueTransaction: try queue.inTransaction(nil, complete)
        case .databaseTransaction: try queue.inDatabase { db in try db.inTransaction { try complete(db) } }
        case .queueSavepoint: try queue.inSavepoint(complete)
        case .databaseSavepoint: try queue.inDatabase { db in try db.inSavepoint { try complete(db) } }
        }
    }
}
