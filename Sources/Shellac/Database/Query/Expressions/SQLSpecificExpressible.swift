/// A value that is an SQL expression by itself, and not by its place beside one: a column, an expression, a request.
///
/// One of the two operands of an operator is specific. This is how Swift tells `Column("score") + 1` from `1 + 1`.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    public var sqlSelection: SQLSelection { SQLSelection(.expression(sqlExpression, name: nil)) }
    public var sqlOrdering: SQLOrdering { SQLOrdering(sqlExpression) }
}

extension SQLExpression: SQLSpecificExpressible {}

extension Column: SQLSpecificExpressible {
    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.column(name)) }
}

/// A piece of SQL is an expression. It stands in parentheses wherever it is not alone.
extension SQL: SQLSpecificExpressible {
    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.fragment(self)) }
}

extension SQLSpecificExpressible {
    /// Gives the expression a name in a selection.
    ///
    /// ```swift
    /// Player.select(Column("teamID"), max(Column("score")).forKey("best"))
    /// // SELECT "teamID", MAX("score") AS "best" FROM "player"
    /// ```
    ///
    /// - Parameter name: The name that the rows have the value under, without quotes: SQL gets it quoted.
    public func forKey(_ name: String) -> SQLSelection {
        SQLSelection(.expression(sqlExpression, name: name))
    }

    /// Gives the expression the name of a coding key in a selection.
    ///
    /// - Parameter key: The key, whose `stringValue` is the name.
    public func forKey(_ key: some CodingKey) -> SQLSelection { forKey(key.stringValue) }
}
