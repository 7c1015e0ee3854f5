// Constants in SQL: values written as literals rather than bound, so that indexes match.

extension SQLExpressible where Self == SQLExpression {
    /// Returns a value that is written into the SQL as a literal, and not bound.
    ///
    /// SQLite uses an index on an expression only for the same expression, and a bound value could
    /// be any other:
    ///
    /// ```swift
    /// let score = ifNull(Column("score"), .constant(0))
    /// try db.create(index: "playerByScore", on: "player", expressions: [score])
    /// let players = try Player.filter(score > 100).fetchAll(db)
    /// // SELECT * FROM "player" WHERE IFNULL("score", 0) > 100
    /// ```
    ///
    /// Paths into JSON, formats of dates and their modifiers are constants automatically.
    ///
    /// - Parameter value: A constant of the program. It is always quoted. But each value needs a
    ///   statement of its own, so bind values that differ from call to call.
    public static func constant(_ value: some DatabaseValueConvertible) -> SQLExpression {
        SQLExpression(.constant(value.databaseValue))
    }
}

extension SQLExpressible {
    /// The expression, or a constant if it is a value, such as a path or a format. The plan needs a
    /// constant. To bind a path, write it in an SQL literal.
    var asConstant: SQLExpression {
        let expression = sqlExpression
        guard case .value(let value) = expression.form else { return expression }
        return SQLExpression(.constant(value))
    }
}
