// The ?? operator of SQL expressions, written as COALESCE.

extension SQLSpecificExpressible {
    /// Returns the first of two values that is not NULL: `COALESCE(a, b)`.
    ///
    /// ```swift
    /// Player.filter((Column("score") ?? 0) < 10)
    /// // SELECT * FROM "player" WHERE COALESCE("score", 0) < 10
    /// ```
    public static func ?? (value: Self, other: any SQLExpressible) -> SQLExpression {
        var values = [value.sqlExpression]
        if case .call(let call)? = other.sqlExpression.syntax, call.isCoalescing {
            values += call.arguments  // a ?? b ?? c is one call
        } else {
            values.append(other.sqlExpression)
        }
        return .function("COALESCE", values)
    }
}

extension FunctionCall {
    fileprivate var isCoalescing: Bool { name == "COALESCE" && filter == nil && window == nil }
}
