// The maximum number of arguments that a statement can bind.

import CSQLite

extension Database {
    /// The maximum number of values that one statement can bind: see "Limits In SQLite".
    public var maximumStatementArgumentCount: Int {
        checkAccess()
        guard !isClosed else { return 0 }
        return Int(sqlite3_limit(pointer, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }
}
