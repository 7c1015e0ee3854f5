// Constants in SQL: values written as literals rather than bound, so that indexes match.

extension SQLExpressible where Self == SQLExpression {
    /// A value that stands in the SQL as a literal, and is not bound.
    ///
    /// SQLite uses an index on an expression for the same expression alone, and a value that is bound could be any other:
    ///
    /// ```swift
    /// let score = ifNull(Column("score"), .constant(0))
    /// try db.create(index: "playerByScore", on: "player", expressions: [score])
    /// let players = try Player.filter(score > 100).fetchAll(db)
    /// // SELECT * FROM "player" WHERE IFNULL("score", 0) > 100
    /// ```
    ///
    /// Paths into JSON, formats of dates and their modifiers are constants without a word.
    ///
    /// - Parameter value: A constant of the program. It is quoted, whatever it is. But each value makes a statement of its own, so
    ///   that values which differ from call to call are better bound.
    public static func constant(_ value: some DatabaseValueConvertible) -> SQLExpression {
        SQLExpression(.constant(value.databaseValue))
    }
}

extension SQLExpressible {
    /// The expression, or the constant that a value is: a path, a format. A plan needs it. To bind a path, write it in an SQL literal.
    var asConstant: SQLExpression {
        let expression = sqlExpression
        guard case .value(let value) = expression.form else { return expression }
        return SQLExpression(.constant(value))
    }
}
