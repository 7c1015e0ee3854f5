// Checks whether an expression depends on the connection, or may read more than its own row.

extension SQLExpression {
    /// Whether a part of the expression requires a connection.
    var isLate: Bool {
        var finder = LateFinder()
        // The finder writes nothing, so nothing can fail.
        try? finder.expression(self, above: .lowest)
        return finder.isFound
    }

    /// Whether the expression reads only its own row. It contains no query, and no raw SQL, which
    /// is not parsed.
    var readsRowAlone: Bool {
        var finder = LateFinder(findsQueries: true)
        try? finder.expression(self, above: .lowest)
        return !finder.isFound
    }
}

/// A writer that traverses an expression without writing. It finds parts that require a connection,
/// or that read other rows.
private struct LateFinder: QueryWriter {
    static var asksForConditions: Bool { false }
    var findsQueries = false
    private(set) var isFound = false
    let database: Database? = nil
    var current: QueryTables?
    var enclosing: [QueryTables] = []
    var scope: ColumnScope?

    mutating func expression(_ expression: SQLExpression, above level: Precedence) throws {
        switch expression.syntax {
        case nil: break
        case .late: isFound = true
        // A query inside of the expression has rows of its own.
        case .query where findsQueries, .subquery where findsQueries, .exists where findsQueries,
            .fragment where findsQueries:
            isFound = true
        case .fragment(let fragment) where !fragment.lateParts.isEmpty: isFound = true
        case .query(let operand, _, _): try self.expression(operand, above: .lowest)
        case .subquery, .exists: break
        default:
            guard case .tree(let tree) = expression.form else { return }
            try unsafeDowncast(tree, to: ExpressionTree.self).write(to: &self)
        }
    }

    mutating func begin(_ scope: ColumnScope) {}
    mutating func text(_ text: StaticString) {}
    mutating func keyword(_ text: String) {}
    mutating func name(_ name: String) {}
    mutating func value(_ value: DatabaseValue) {}
    mutating func plainFragment(_ fragment: SQL) throws {}
    mutating func query(_ query: Subquery, at place: SQLPlace) throws {}
    mutating func table(of type: any TableRecord.Type) throws {}
    mutating func selection(of type: any TableRecord.Type) throws {}
    mutating func joinedSelection(of type: any TableRecord.Type, alias: String?) throws {}
    mutating func rowKey(of source: QuerySource, _ separator: StaticString) throws {}
    mutating func condition(_ keys: KeyCondition) throws {}
    mutating func condition(_ condition: SQLExpression, of table: @autoclosure () -> String?) throws {}
}
