// Builders of the selections and groups that closures over declared columns return.

/// Collects the selection of a closure: one item, or an array.
@resultBuilder
public enum SQLSelectionBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ selection: any SQLSelectable) -> [any SQLSelectable] { [selection] }
    @_documentation(visibility: internal)
    public static func buildExpression(_ selection: [any SQLSelectable]) -> [any SQLSelectable] { selection }
    @_documentation(visibility: internal)
    public static func buildBlock(_ selections: [any SQLSelectable]...) -> [any SQLSelectable] {
        selections.flatMap { $0 }
    }
    @_documentation(visibility: internal)
    public static func buildOptional(_ selection: [any SQLSelectable]?) -> [any SQLSelectable] {
        selection ?? []
    }
    @_documentation(visibility: internal)
    public static func buildEither(first: [any SQLSelectable]) -> [any SQLSelectable] { first }
    @_documentation(visibility: internal)
    public static func buildEither(second: [any SQLSelectable]) -> [any SQLSelectable] { second }
}

/// Collects the expressions of a closure: one, or an array.
@resultBuilder
public enum SQLExpressionsBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ expression: any SQLExpressible) -> [any SQLExpressible] {
        [expression]
    }
    @_documentation(visibility: internal)
    public static func buildExpression(_ expressions: [any SQLExpressible]) -> [any SQLExpressible] {
        expressions
    }
    @_documentation(visibility: internal)
    public static func buildBlock(_ expressions: [any SQLExpressible]...) -> [any SQLExpressible] {
        expressions.flatMap { $0 }
    }
}
