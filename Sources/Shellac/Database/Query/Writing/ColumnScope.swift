/// The table of unqualified columns, if several tables are read.
struct ColumnScope: Sendable {
    /// The name of the table in the statement.
    let table: String
    /// Names in the selection that are not columns of the table.
    var names: [String] = []

    /// Whether a name belongs to a column of the table.
    func isColumn(_ name: String) -> Bool { !names.contains { CaseInsensitiveName.matches($0, name) } }
}

extension SQLExpression {
    /// Returns the same expression, with its columns qualified by a table.
    func moved(to scope: ColumnScope) -> SQLExpression { SQLExpression(.scoped(scope, self)) }
}

/// The tables of a query that is being written.
struct QueryTables {
    let source: QuerySource
    let joins: [QueryJoin]
    /// The conditions on the rows. Nil if the writer does not need them.
    let conditions: RowConditions?

    init(_ query: SelectQuery, hasConditions: Bool = true) {
        (source, joins) = (query.source, query.joins)
        conditions = hasConditions ? RowConditions(query) : nil
    }

    /// The names of the tables in the statement.
    var names: [String] { sources.compactMap(\.name) }

    var sources: [QuerySource] { [source] + joins.flatMap(\.sources) }
}

/// The conditions on the rows of a query. They are an object, because each written query copies its
/// tables more than once, and few writers need the conditions.
final class RowConditions {
    /// The scope of the conditions of the source's type.
    let own: OwnScope
    /// Further conditions on the rows.
    let given: SQLExpression?

    init(_ query: SelectQuery) { (own, given) = (query.own, query.given) }
}

extension QuerySource {
    /// The name of the source in the statement.
    var name: String? { alias ?? tableName }
}

/// An expression that requires a connection. An upper layer builds it, using the schema.
class LateExpression: @unchecked Sendable {  // subclasses are constant
    /// Returns the expression.
    ///
    /// - Parameters:
    ///   - source: The table whose columns it may use, by its name in the statement.
    ///   - names: The names of all tables of the statement so far.
    ///   - db: A connection to the database.
    func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression { SQLExpression(.word("NULL")) }

    /// The reversed order, if the expression is an order with a direction of its own.
    var reversed: LateExpression? { nil }
}

extension QueryWriter {
    /// The tables of the query that is being written, after those of the enclosing queries.
    var tables: [QueryTables] { enclosing + (current.map { [$0] } ?? []) }

    /// Returns the expression behind a late expression.
    func known(_ expression: LateExpression) throws -> SQLExpression {
        let tables = tables
        var source = tables.last?.source
        if let scope { source = tables.last?.sources.first { $0.name == scope.table } }
        return try expression.expression(of: source, among: tables.flatMap(\.names), on: schema())
    }

    /// Returns the connection that provides the schema.
    ///
    /// - Throws: a ``DatabaseError`` if there is none.
    func schema() throws -> Database {
        if let database { return database }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a request that asks the schema for columns was written without a connection: run the SQL "
                + "literal that contains it on a connection, or call its build(_:)")
    }

    /// Writes the parts of a query.
    @inline(__always)
    mutating func inQuery(
        _ query: SelectQuery, _ write: (inout Self) throws -> Void
    ) throws {
        // Most requests have no enclosing query. For them, nothing is allocated or freed.
        guard current == nil else { return try inInnerQuery(query, write) }
        current = QueryTables(query, hasConditions: Self.asksForConditions)
        defer { current = nil }
        try write(&self)
    }

    /// Writes the parts of a query inside of another one.
    @inline(never)
    private mutating func inInnerQuery(
        _ query: SelectQuery, _ write: (inout Self) throws -> Void
    ) throws {
        // SQLite, too, refuses queries that are nested more deeply.
        guard enclosing.count < 100 else { throw Self.endlessQuery(query) }
        let outer = (scope, current)
        scope = nil
        current = QueryTables(query, hasConditions: Self.asksForConditions)
        if let around = outer.1 { enclosing.append(around) }
        defer {
            (scope, current) = outer
            enclosing.removeLast()
        }
        try write(&self)
    }

    private static func endlessQuery(_ query: SelectQuery) -> DatabaseError {
        let name = query.source.type.map { "\($0)" } ?? query.source.tableName ?? "a table"
        return DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "queries of \(name) are nested more than 100 levels deep. If a default filter asks for "
                + "rows of another type, and the filter of that type asks for these, leave out one of the "
                + "two with ignoringDefaultFilter(_:)")
    }

    /// Writes expressions whose columns belong to a table.
    mutating func inScope(_ scope: ColumnScope, _ write: (inout Self) throws -> Void) rethrows {
        let outer = self.scope
        self.scope = scope
        begin(scope)
        defer { self.scope = outer }
        try write(&self)
    }
}
