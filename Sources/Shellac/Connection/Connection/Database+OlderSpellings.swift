// Older spellings, which no longer compile: the compiler names the new ones.

extension Database {
    @available(*, unavailable, renamed: "execute(sql:arguments:)")
    public func execute(_ sql: String, arguments: StatementArguments = StatementArguments()) throws {}

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func makeSelectStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func makeUpdateStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func selectStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }

    @available(*, unavailable, renamed: "makeStatement(sql:)")
    public func updateStatement(_ sql: String) throws -> Statement { try makeStatement(sql: sql) }

    @available(*, unavailable, renamed: "execute(sql:)")
    public func executeMultiStatement(_ sql: String) throws {}
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

    // Callers iterated the result with `for`. A cursor does not support that, since reading it may
    // throw.
    @available(*, unavailable, renamed: "fetchAll(_:sql:arguments:)")
    public static func fetch(
        _ db: Database, _ sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] { [] }

    @available(*, unavailable, renamed: "fetchAll(_:arguments:)")
    public static func fetch(
        _ statement: Statement, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] { [] }

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

    @available(
        *, unavailable, message: "write `configuration.prepareDatabase { db in db.trace { print($0) } }`"
    )
    public static var logSQL: @Sendable (String) -> Void { { _ in } }
}

extension DatabaseError {
    @available(*, unavailable, renamed: "resultCode")
    public var code: Int { Int(resultCode.rawValue) }
}
