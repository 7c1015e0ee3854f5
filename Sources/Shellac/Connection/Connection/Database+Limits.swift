// The running version of SQLite, and its limits.

import CSQLite

extension Database {
    /// The version of the running SQLite as a number, such as 3040001 for 3.40.1.
    public static var sqliteLibVersionNumber: Int32 { sqlite3_libversion_number() }

    /// The maximum number of values that one statement can bind: see "Limits In SQLite".
    public var maximumStatementArgumentCount: Int {
        checkAccess()
        guard !isClosed else { return 0 }
        return Int(sqlite3_limit(pointer, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }
}
