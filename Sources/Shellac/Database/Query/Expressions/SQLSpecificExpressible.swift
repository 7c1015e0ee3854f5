/// A value that is an SQL expression on its own: a column, an expression, a request.
///
/// Other values become expressions only beside one.
///
/// At least one operand of an operator is specific. This is how Swift distinguishes
/// `Column("score") + 1` from `1 + 1`.
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

/// An SQL fragment is an expression. It is put in parentheses unless it is alone.
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
    /// - Parameter name: The name of the value in the rows, without quotes. It is quoted in SQL.
    public func forKey(_ name: String) -> SQLSelection {
        SQLSelection(.expression(sqlExpression, name: name))
    }
}
