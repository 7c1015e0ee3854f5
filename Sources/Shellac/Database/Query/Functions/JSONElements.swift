// Elements of JSON, which the methods of Database make of their arguments.

extension SQLExpressible {
    /// The expression as an element of JSON. JSON remains JSON, and does not become a string.
    var jsonElement: SQLExpression {
        self is any SQLJSONExpressible ? .function("JSON", [sqlExpression]) : sqlExpression
    }
}

/// Returns the paths and values of a function as alternating arguments.
func jsonOperands(
    _ values: some Collection<(key: String, value: any SQLExpressible)>
) -> [any SQLExpressible] {
    values.flatMap { [$0.key as any SQLExpressible, $0.value.jsonElement] }
}
