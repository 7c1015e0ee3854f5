/// The statements by which Shellac opens and closes transactions and savepoints.
///
/// Each connection prepares them once.
enum TransactionStatement: Int, CaseIterable {
    case beginDeferred, beginImmediate, beginExclusive
    case commit, rollback
    case savepoint, release, rollbackTo

    /// The name of all savepoints of Shellac. SQLite uses the innermost one.
    static let savepointName = "shellac"

    init(beginning kind: TransactionKind) {
        self =
            switch kind {
            case .deferred: .beginDeferred
            case .immediate: .beginImmediate
            case .exclusive: .beginExclusive
            }
    }

    /// The statements that undo what this one begins.
    var undoing: [TransactionStatement] {
        switch self {
        case .beginDeferred, .beginImmediate, .beginExclusive: [.rollback]
        case .savepoint: [.rollback, .rollbackTo, .release]
        case .commit, .rollback, .release, .rollbackTo: []
        }
    }

    var sql: String {
        switch self {
        case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
        case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
        case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
        case .commit: "COMMIT TRANSACTION"
        case .rollback: "ROLLBACK TRANSACTION"
        case .savepoint: "SAVEPOINT \(Self.savepointName)"
        case .release: "RELEASE \(Self.savepointName)"
        case .rollbackTo: "ROLLBACK TO \(Self.savepointName)"
        }
    }
}

/// The statements of a connection that open and close transactions, once they are prepared.
struct TransactionStatements {
    private var statements = [Statement?](repeating: nil, count: TransactionStatement.allCases.count)

    /// Returns a prepared statement. The statements that undo it are prepared first, because there
    /// may be no memory later.
    mutating func prepared(_ statement: TransactionStatement, on database: Database) throws -> Statement {
        if let known = statements[statement.rawValue] { return known }
        for undoing in statement.undoing { _ = try prepared(undoing, on: database) }
        let prepared = try database.prepare(sql: statement.sql, persistent: true)
        statements[statement.rawValue] = prepared
        return prepared
    }
}
