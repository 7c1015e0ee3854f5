/// What rows are sorted by: a column, an expression, or one of them with a direction.
public protocol SQLOrderingTerm: Sendable {
    /// What rows are sorted by.
    var sqlOrdering: SQLOrdering { get }
}

/// An expression that rows are sorted by, with a direction.
public struct SQLOrdering: SQLOrderingTerm {
    let expression: SQLExpression
    var isDescending = false
    var areNullsLast: Bool?

    init(_ expression: SQLExpression, isDescending: Bool = false, areNullsLast: Bool? = nil) {
        self.expression = expression
        self.isDescending = isDescending
        self.areNullsLast = areNullsLast
    }

    public var sqlOrdering: SQLOrdering { self }

    /// The opposite order.
    var reversed: SQLOrdering {
        SQLOrdering(expression, isDescending: !isDescending, areNullsLast: areNullsLast.map { !$0 })
    }

    func write(to writer: inout some QueryWriter) throws {
        try writer.expression(expression, above: .lowest)
        if isDescending { writer.text(" DESC") }
        switch areNullsLast {
        case nil: break
        case true: writer.text(" NULLS LAST")
        case false: writer.text(" NULLS FIRST")
        }
    }
}

extension SQLSpecificExpressible {
    /// From the least to the greatest: NULL comes first.
    public var asc: SQLOrdering { SQLOrdering(sqlExpression) }

    /// From the greatest to the least: NULL comes last.
    ///
    /// ```swift
    /// Player.order(Column("score").desc, Column("name"))
    /// // SELECT * FROM "player" ORDER BY "score" DESC, "name"
    /// ```
    public var desc: SQLOrdering { SQLOrdering(sqlExpression, isDescending: true) }

    /// From the least to the greatest, and then NULL.
    public var ascNullsLast: SQLOrdering { SQLOrdering(sqlExpression, areNullsLast: true) }

    /// NULL, and then from the greatest to the least.
    public var descNullsFirst: SQLOrdering {
        SQLOrdering(sqlExpression, isDescending: true, areNullsLast: false)
    }
}
