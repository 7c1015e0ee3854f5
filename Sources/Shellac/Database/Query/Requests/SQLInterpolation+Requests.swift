// Interpolations of requests into SQL literals: tables, selections, orders, named requests.

extension SQL {
    /// Creates an SQL fragment of expressions, joined with a separator.
    ///
    /// - Parameters:
    ///   - elements: The expressions, whose values are bound. They are not put in parentheses: join
    ///     conditions with `joined(operator:)`. An empty sequence gives an empty fragment.
    ///   - separator: The SQL between two expressions.
    public init(elements: some Sequence<any SQLExpressible>, separator: String = "") {
        self.init(elements: elements.map { SQL($0) }, separator: separator)
    }

    /// Creates an SQL fragment of an expression.
    ///
    /// - Parameter expression: The expression, whose values are bound.
    public init(_ expression: any SQLExpressible) {
        var interpolation = SQLInterpolation(literalCapacity: 0, interpolationCount: 1)
        interpolation.append(expression.sqlExpression)
        self.init(stringInterpolation: interpolation)
    }
}

extension SQLInterpolation {
    /// Appends an expression or a column with its values, or a request: `\(expression)`.
    ///
    /// ```swift
    /// let score = Column("score")
    /// let query: SQL = "SELECT * FROM player WHERE \(score > 100) ORDER BY \(score)"
    /// let best: SQL = "SELECT * FROM team WHERE id IN (\(Player.select(Column("teamID")).filter(score > 100)))"
    /// ```
    ///
    /// A request means the same as an SQL query in its place: see ``SQL``. Parts that need the
    /// schema, such as a request that finds rows by their keys, are written for the connection on
    /// which the literal runs.
    ///
    /// - Parameter expression: The expression, without parentheses of its own, or the request.
    public mutating func appendInterpolation(_ expression: some SQLSpecificExpressible) {
        append(expression.sqlExpression)
    }

    /// Appends any expression, whose type a generic function does not know: `\(expression)`.
    ///
    /// - Parameter expression: The expression, or a value, which is bound.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expression: some SQLExpressible) {
        append(expression.sqlExpression)
    }

    fileprivate mutating func append(_ expression: SQLExpression) {
        switch expression.syntax {
        case .fragment(let piece)?: appendInterpolation(piece)
        case .subquery(let query)?: append(.query(query))
        default: append(.expression(expression))
        }
    }

    /// Appends a part. It is written at once if it needs no connection and has a meaning by itself.
    private mutating func append(_ form: LatePart.Form) {
        let part = LatePart(form)
        appendInterpolation(part.known ?? SQL(part))
    }

    /// Appends the quoted name of a type's table: `\(Player.self)`.
    ///
    /// ```swift
    /// let query: SQL = "SELECT * FROM \(Player.self) WHERE \(Column("score")) > \(100)"
    /// ```
    ///
    /// - Parameter type: The type. Its ``TableRecord/databaseTableName`` is written.
    public mutating func appendInterpolation<Table: TableRecord>(_ type: Table.Type) {
        appendInterpolation(identifier: type.databaseTableName)
    }

    /// Appends the quoted name of a record's table: `\(tableOf: player)`.
    ///
    /// - Parameter record: A record. Only its type matters.
    public mutating func appendInterpolation<Table: TableRecord>(tableOf record: Table) {
        appendInterpolation(identifier: Swift.type(of: record).databaseTableName)
    }

    /// Appends the selection of a type, qualified with its table, such as `"player".*`:
    /// `\(columnsOf: Player.self)`.
    ///
    /// - Parameters:
    ///   - type: The type. Its ``TableRecord/databaseSelection`` is written.
    ///   - alias: The name of its table in the statement, without quotes.
    ///     ``TableRecord/databaseTableName`` if nil.
    public mutating func appendInterpolation<Table: TableRecord>(
        columnsOf type: Table.Type, tableAlias alias: String? = nil
    ) {
        append(.columns(type, alias: alias))
    }

    /// Appends a selection: `\(.allColumns)`, `\(column)`.
    ///
    /// - Parameter selection: The selection, with its name if `forKey(_:)` gives it one. Values in
    ///   it are bound.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ selection: any SQLSelectable) {
        append(.selection(selection.sqlSelection))
    }

    /// Appends all columns: `\(AllColumns())`.
    ///
    /// - Parameter columns: All columns, written as `*`.
    public mutating func appendInterpolation(_ columns: AllColumns) {
        append(.selection(columns.sqlSelection))
    }

    /// Appends a term of an order: `\(column.desc)`.
    ///
    /// - Parameter term: The term, with its direction. Values in it are bound.
    public mutating func appendInterpolation(_ term: SQLOrdering) { append(.ordering(term)) }

    /// Appends the definition of a common table expression, `"name" AS (SELECT …)`:
    /// `\(definitionFor: table)`.
    ///
    /// - Parameter table: The common table expression. Its values are bound.
    public mutating func appendInterpolation<Element>(definitionFor table: CommonTableExpression<Element>) {
        append(.commonTable(table.commonTable))
    }

    /// Appends the quoted name of a common table expression: `\(table)`.
    ///
    /// - Parameter table: The common table expression, which the statement must define:
    ///   `\(definitionFor: table)`.
    public mutating func appendInterpolation<Element>(_ table: CommonTableExpression<Element>) {
        appendInterpolation(identifier: table.tableName)
    }

    /// Appends the quoted name of a collation: `\(collation)`.
    ///
    /// - Parameter collation: One of SQLite's collations, or one added to the connection.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        appendInterpolation(identifier: collation.rawValue)
    }
}
