/// The effects of a statement: its reads and writes, which SQLite reports during the preparation.
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
    /// The columns read, by table. A table that is read without any column, as by `SELECT
    /// COUNT(*)`, has an empty set.
    var reads: [String: Set<String>] = [:]
    var writes: Set<Write> = []
    /// The names of the called functions, in lower case. Operators such as LIKE, and
    /// CURRENT_TIMESTAMP, are functions, too.
    var functions: Set<String> = []
    /// The names of the databases that these effects refer to.
    var databases: Set<String> = []
    var changesSchema = false
    /// Whether the statement is a PRAGMA that changes how other statements affect rows, and makes
    /// SQLite prepare them again.
    var changesRules = false
    /// Whether the statement is a PRAGMA that changes no content, although
    /// `sqlite3_stmt_readonly()` reports that it writes.
    var leavesContent = false
    /// The journal mode that the statement sets, if it is such a PRAGMA.
    var journalMode: JournalModeChange?

    /// A journal mode that a PRAGMA sets.
    struct JournalModeChange: Equatable, Sendable {
        /// The mode, in lower case.
        let mode: String
        /// The name of the database, in lower case, or nil for all databases.
        let databaseName: String?
    }
}
