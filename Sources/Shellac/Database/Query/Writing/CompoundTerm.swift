/// One of several queries whose rows are combined.
struct CompoundTerm: Sendable {
    enum Operator: Sendable {
        case union, unionAll, intersect, except

        var text: StaticString {
            switch self {
            case .union: " UNION "
            case .unionAll: " UNION ALL "
            case .intersect: " INTERSECT "
            case .except: " EXCEPT "
            }
        }
    }

    let link: Operator
    let query: SelectQuery
}

extension [CompoundTerm] {
    func write(to writer: inout some QueryWriter) throws {
        for (index, term) in enumerated() {
            if index > 0 { writer.text(term.link.text) }
            if term.query.standsAlone {
                try term.query.write(to: &writer)
            } else {
                // ORDER BY and LIMIT belong to the whole, and queries are combined from the left.
                writer.text("SELECT * FROM (")
                try term.query.write(to: &writer)
                writer.text(")")
            }
        }
    }
}

extension [CompoundTerm] {
    /// Whether the compound query can have an `ORDER BY`. Its terms must be columns of the result,
    /// or selected expressions. See "SELECT" in the SQLite documentation, section "The ORDER BY
    /// clause".
    ///
    /// - Parameters:
    ///   - ordering: The terms of the order.
    ///   - database: The connection for late expressions.
    func areSorted(by ordering: [SQLOrdering], on database: Database?) -> Bool {
        ordering.allSatisfy { term in
            switch term.expression.syntax {
            case nil: if case .column = term.expression.form { return true }
            case .column: return true
            case .collated(let operand, _): if case .column = operand.form { return true }
            case .fragment(let piece): if piece.text.embeddedSQL.ordersByColumns { return true }
            case .late: return false
            default: break
            }
            return contains { $0.query.selects(term.expression, on: database) }
        }
    }
}

extension SelectQuery {
    /// Whether an expression is selected.
    fileprivate func selects(_ expression: SQLExpression, on database: Database?) -> Bool {
        func shape(_ expression: SQLExpression) -> ShapeWriter? {
            var writer = ShapeWriter(over: [], database)
            do { try writer.expression(expression, above: .lowest) } catch { return nil }
            return writer
        }
        guard let wanted = shape(expression) else { return false }
        return ((selection ?? []) + annotations).contains { selected in
            guard case .expression(let expression, _) = selected.form, let shape = shape(expression) else {
                return false
            }
            return shape.bytes == wanted.bytes && shape.arguments == wanted.arguments
        }
    }
}
