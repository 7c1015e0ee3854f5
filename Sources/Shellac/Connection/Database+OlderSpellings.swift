// Spellings of the family's older eras. None of them can be called: the compiler says what to write instead, and its fix-it writes it.

extension Database {
    @available(*, unavailable, renamed: "execute(sql:arguments:)")
    public func execute(_ sql: String, arguments: StatementArguments = StatementArguments()) throws {}

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func makeSelectStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func makeUpdateStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }
}

extension DatabaseFetchable {
    @available(*, unavailable, renamed: "fetchAll(_:sql:arguments:)")
    public static func fetchAll(
        _ db: Database, _ sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] { [] }

    @available(*, unavailable, renamed: "fetchOne(_:sql:arguments:)")
    public static func fetchOne(
        _ db: Database, _ sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? { nil }

    @available(*, unavailable, renamed: "fetchCursor(_:sql:arguments:)")
    public static func fetch(
        _ db: Database, _ sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> DatabaseCursor<Self> { try fetchCursor(db, sql: sql, arguments: arguments) }

    @available(*, unavailable, renamed: "fetchCursor(_:sql:arguments:)")
    public static func fetchCursor(
        _ db: Database, _ sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> DatabaseCursor<Self> { try fetchCursor(db, sql: sql, arguments: arguments) }
}

extension TransactionCompletion {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    @available(*, unavailable, renamed: "commit")
    public static var Commit: TransactionCompletion { .commit }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    @available(*, unavailable, renamed: "rollback")
    public static var Rollback: TransactionCompletion { .rollback }
}

extension Configuration {
    @available(*, unavailable, message: "make a Configuration(), and set its properties")
    public init(foreignKeysEnabled: Bool = true, readonly: Bool = false, trace: (@Sendable (String) -> Void)?)
    {
        self.init()
    }
}
