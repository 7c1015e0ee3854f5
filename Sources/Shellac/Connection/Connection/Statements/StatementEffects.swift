/// The effects of a statement: what it reads and writes, as SQLite tells while it prepares the statement.
struct StatementEffects: Equatable, Sendable {
    /// The effect of a statement on transactions.
    enum Transaction: Hashable, Sendable {
        case begin
        case commit
        case rollback
        case savepoint(String)
        case release(String)
        case rollbackTo(String)
    }

    /// The effect of a statement on the rows of a table.
    enum Write: Hashable, Sendable {
        case insert(table: String)
        case delete(table: String)
        case update(table: String, column: String)
    }

    var transaction: Transaction?
    /// The columns read, by table. A table read without any column, as by `SELECT COUNT(*)`, has none.
    var reads: [String: Set<String>] = [:]
    var writes: Set<Write> = []
    /// The names of the functions called, in lower case: operators such as LIKE, and CURRENT_TIMESTAMP, are functions, too.
    var functions: Set<String> = []
    /// The names of the databases that all this is in.
    var databases: Set<String> = []
    var changesSchema = false
    /// Whether it is a PRAGMA that changes what other statements do to rows, and has SQLite prepare them again.
    var changesRules = false
    /// Whether it is a PRAGMA that changes no content, though `sqlite3_stmt_readonly()` says that it writes.
    var leavesContent = false
    /// The journal mode that it sets, if it is a PRAGMA that does.
    var journalMode: JournalModeChange?

    /// A journal mode that a PRAGMA sets.
    struct JournalModeChange: Equatable, Sendable {
        /// The mode, in lower case.
        let mode: String
        /// The name of the database, in lower case, or nil where all of them are meant.
        let databaseName: String?
    }
}
