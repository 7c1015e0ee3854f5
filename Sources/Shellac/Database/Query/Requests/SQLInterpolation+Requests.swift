// What stands in SQL literals beside values, pieces and expressions: tables, selections, orders, requests with names.

extension SQL {
    /// Makes a piece of expressions, which are joined with a separator between them.
    ///
    /// - Parameters:
    ///   - elements: The expressions, whose values are bound. No parentheses stand around them: join conditions by
    ///     `joined(operator:)`. With none, the piece is empty.
    ///   - separator: What stands between two expressions, as SQL.
    public init(elements: some Sequence<any SQLExpressible>, separator: String = "") {
        self.init(elements: elements.map { SQL($0) }, separator: separator)
    }

    /// Makes a piece of an expression.
    ///
    /// - Parameter expression: The expression, whose values are bound.
    public init(_ expression: any SQLExpressible) {
        var interpolation = SQLInterpolation(literalCapacity: 0, interpolationCount: 1)
        interpolation.append(expression.sqlExpression)
        self.init(stringInterpolation: interpolation)
    }
}

extension SQLInterpolation {
    /// `\(expression)`: an expression or a column, with its values, or a request.
    ///
    /// ```swift
    /// let score = Column("score")
    /// let query: SQL = "SELECT * FROM player WHERE \(score > 100) ORDER BY \(score)"
    /// let best: SQL = "SELECT * FROM team WHERE id IN (\(Player.select(Column("teamID")).filter(score > 100)))"
    /// ```
    ///
    /// A request means what SQL means by a query in its place: see ``SQL``. What asks the schema, as a request does that finds rows by their
    /// keys, is written for the connection that the literal runs on.
    ///
    /// - Parameter expression: The expression, which stands in no parentheses of its own, or the request.
    public mutating func appendInterpolation(_ expression: some SQLSpecificExpressible) {
        append(expression.sqlExpression)
    }

    fileprivate mutating func append(_ expression: SQLExpression) {
        switch expression.syntax {
        case .fragment(let piece)?: appendInterpolation(piece)
        case .subquery(let query)?: append(.query(query))
        default: append(.expression(expression))
        }
    }

    /// Appends what is written at once where it needs no connection, and has a meaning by itself.
    private mutating func append(_ form: LatePart.Form) {
        let part = LatePart(form)
        appendInterpolation(part.known ?? SQL(part))
    }

    /// `\(Player.self)`: the name of a type's table, quoted.
    ///
    /// ```swift
    /// let query: SQL = "SELECT * FROM \(Player.self) WHERE \(Column("score")) > \(100)"
    /// ```
    ///
    /// - Parameter type: The type, whose ``TableRecord/databaseTableName`` is written.
    public mutating func appendInterpolation<Table: TableRecord>(_ type: Table.Type) {
        appendInterpolation(identifier: type.databaseTableName)
    }

    /// `\(tableOf: player)`: the name of a record's table, quoted.
    ///
    /// - Parameter record: A record, of which the type alone matters.
    public mutating func appendInterpolation<Table: TableRecord>(tableOf record: Table) {
        appendInterpolation(identifier: Swift.type(of: record).databaseTableName)
    }

    /// `\(columnsOf: Player.self)`: what a type selects, by the name of its table: `"player".*`.
    ///
    /// - Parameters:
    ///   - type: The type, whose ``TableRecord/databaseSelection`` is written.
    ///   - alias: The name of its table in the statement, without quotes; ``TableRecord/databaseTableName`` if nil.
    public mutating func appendInterpolation<Table: TableRecord>(
        columnsOf type: Table.Type, tableAlias alias: String? = nil
    ) {
        append(.columns(type, alias: alias))
    }

    /// `\(.allColumns)`, `\(column)`: something that is selected.
    ///
    /// - Parameter selection: What is selected, with its name, where `forKey(_:)` gives it one. Values in it are bound.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ selection: any SQLSelectable) {
        append(.selection(selection.sqlSelection))
    }

    /// `\(AllColumns())`: all columns.
    ///
    /// - Parameter columns: Stands for `*`.
    public mutating func appendInterpolation(_ columns: AllColumns) {
        append(.selection(columns.sqlSelection))
    }

    /// `\(column.desc)`: a term of an order.
    ///
    /// - Parameter term: The term, with its direction. Values in it are bound.
    public mutating func appendInterpolation(_ term: SQLOrdering) { append(.ordering(term)) }

    /// `\(definitionFor: table)`: a common table expression as it is defined: `"name" AS (SELECT …)`.
    ///
    /// - Parameter table: The common table expression, whose own values are bound.
    public mutating func appendInterpolation<Element>(definitionFor table: CommonTableExpression<Element>) {
        append(.commonTable(table.commonTable))
    }

    /// `\(table)`: the name of a common table expression, quoted.
    ///
    /// - Parameter table: The common table expression, which the statement must define: `\(definitionFor: table)`.
    public mutating func appendInterpolation<Element>(_ table: CommonTableExpression<Element>) {
        appendInterpolation(identifier: table.tableName)
    }

    /// `\(collation)`: the name of a collation, quoted.
    ///
    /// - Parameter collation: The collation: one of SQLite's, or one that was added to the connection.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        appendInterpolation(identifier: collation.rawValue)
    }
}
