/// A term to sort rows by: a column, an expression, or one of them with a direction.
public protocol SQLOrderingTerm: Sendable {
    /// The expression and the direction to sort by.
    var sqlOrdering: SQLOrdering { get }
}

/// An expression to sort rows by, with a direction.
public struct SQLOrdering: SQLOrderingTerm {
    let expression: SQLExpression
    var isDescending = false
    var areNullsLast: Bool?

    init(_ expression: SQLExpression, isDescending: Bool = false, areNullsLast: Bool? = nil) {
        self.expression = expression
        self.isDescending = isDescending
        self.areNullsLast = areNullsLast
    }

    @_documentation(visibility: internal)
    public var sqlOrdering: SQLOrdering { self }

    /// The reversed order.
    var reversed: SQLOrdering {
        if case .fragment(let piece)? = expression.syntax {
            // It may be several terms with directions of their own.
            let direction = direction.description
            let reversed = piece.replacingText { ($0.embeddedSQL + direction).reversedOrder }
            return SQLOrdering(reversed.sqlExpression)
        }
        if case .late(let late)? = expression.syntax, let reversed = late.reversed {
            return SQLOrdering(SQLExpression(.late(reversed)))
        }
        return SQLOrdering(expression, isDescending: !isDescending, areNullsLast: areNullsLast.map { !$0 })
    }

    func write(to writer: inout some QueryWriter) throws {
        try writer.expression(expression, above: .lowest)
        writer.text(direction)
    }

    /// The SQL after the expression.
    private var direction: StaticString {
        switch (isDescending, areNullsLast) {
        case (false, nil): ""
        case (true, nil): " DESC"
        case (false, true?): " NULLS LAST"
        case (true, true?): " DESC NULLS LAST"
        case (false, false?): " NULLS FIRST"
        case (true, false?): " DESC NULLS FIRST"
        }
    }
}

/// A builder that collects the terms of a closure, one per line or in an array.
@resultBuilder
public enum SQLOrderingBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ term: any SQLOrderingTerm) -> [any SQLOrderingTerm] { [term] }
    @_documentation(visibility: internal)
    public static func buildExpression(_ terms: [any SQLOrderingTerm]) -> [any SQLOrderingTerm] { terms }
    @_documentation(visibility: internal)
    public static func buildBlock(_ terms: [any SQLOrderingTerm]...) -> [any SQLOrderingTerm] {
        terms.flatMap { $0 }
    }
    @_documentation(visibility: internal)
    public static func buildOptional(_ terms: [any SQLOrderingTerm]?) -> [any SQLOrderingTerm] { terms ?? [] }
    @_documentation(visibility: internal)
    public static func buildEither(first: [any SQLOrderingTerm]) -> [any SQLOrderingTerm] { first }
    @_documentation(visibility: internal)
    public static func buildEither(second: [any SQLOrderingTerm]) -> [any SQLOrderingTerm] { second }
    @_documentation(visibility: internal)
    public static func buildArray(_ terms: [[any SQLOrderingTerm]]) -> [any SQLOrderingTerm] {
        terms.flatMap { $0 }
    }
}

extension SQLSpecificExpressible {
    /// The ascending order. NULL comes first.
    public var asc: SQLOrdering { SQLOrdering(sqlExpression) }

    /// The descending order. NULL comes last.
    ///
    /// ```swift
    /// Player.order(Column("score").desc, Column("name"))
    /// // SELECT * FROM "player" ORDER BY "score" DESC, "name"
    /// ```
    public var desc: SQLOrdering { SQLOrdering(sqlExpression, isDescending: true) }

    /// The ascending order, with NULL last.
    public var ascNullsLast: SQLOrdering { SQLOrdering(sqlExpression, areNullsLast: true) }

    /// The descending order, with NULL first.
    public var descNullsFirst: SQLOrdering {
        SQLOrdering(sqlExpression, isDescending: true, areNullsLast: false)
    }
}
