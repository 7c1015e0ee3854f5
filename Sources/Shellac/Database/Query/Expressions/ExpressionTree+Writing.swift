// SQL generation for expression trees, with parentheses by operator precedence.

extension ExpressionTree.Syntax {
    var precedence: Precedence {
        switch self {
        case .column, .word, .constant, .choice, .call, .cast, .row, .subquery, .exists(_, isNegated: false),
            .late:
            .atom
        case .exists(_, isNegated: true): .not
        case .prefix(let prefix, _): prefix.precedence
        case .infix(let infix, _, _): infix.precedence
        case .chain(let chain, _): chain.precedence
        case .isNull, .between, .pattern, .list, .query: .equality
        case .collated: .collation
        case .key(let condition): condition.precedence
        case .fragment, .terms: .fragment
        case .scoped(_, let expression): expression.syntax?.precedence ?? .atom
        }
    }
}

extension KeyCondition {
    fileprivate var precedence: Precedence {
        isOfPrimaryKey ? .equality : count == 1 ? .and : .or
    }
}

extension ExpressionTree {
    // A left operand may have the same level, because SQLite evaluates from left to right.

    func write(to writer: inout some QueryWriter) throws {
        switch syntax {
        case .column(let table, let name):
            writer.name(table)
            writer.text(".")
            writer.name(name)
        case .word(let word): writer.text(word)
        case .constant(let value):
            let literal = value.sqlLiteral
            // `1 -?` must not become a comment.
            writer.keyword(literal.hasPrefix("-") ? "(\(literal))" : literal)
        case .prefix(let prefix, let operand):
            writer.text(prefix.text)
            // Write `-(-a)`, because `--` begins a comment.
            try writer.expression(
                operand, above: prefix == .not ? prefix.precedence.below : prefix.precedence)
        case .infix(let infix, let first, let second):
            try writer.expression(first, above: infix.precedence.below)
            writer.text(infix.text)
            try writer.expression(second, above: infix.precedence)
        case .chain(let chain, let operands):
            try writer.balanced(operands[...], chain.text) { try $0.expression($1, above: chain.precedence) }
        case .isNull(let operand, let isNegated):
            try writer.expression(operand, above: Precedence.equality.below)
            writer.text(isNegated ? " IS NOT NULL" : " IS NULL")
        case .between(let operand, let first, let last, let isNegated):
            try writer.expression(operand, above: Precedence.equality.below)
            writer.text(isNegated ? " NOT BETWEEN " : " BETWEEN ")
            try writer.expression(first, above: .equality)
            writer.text(" AND ")
            try writer.expression(last, above: .equality)
        case .pattern(let pattern, let operand, let text, let escape, let isNegated):
            try writer.expression(operand, above: Precedence.equality.below)
            writer.text(pattern.text(isNegated: isNegated))
            try writer.expression(text, above: .escape)
            if let escape {
                writer.text(" ESCAPE ")
                try writer.expression(escape, above: .escape)
            }
        case .list(let operand, let elements, let isNegated):
            try writer.expression(operand, above: Precedence.equality.below)
            writer.text(isNegated ? " NOT IN (" : " IN (")
            try writer.list(elements)
            writer.text(")")
        case .query(let operand, let query, let isNegated):
            try writer.expression(operand, above: Precedence.equality.below)
            writer.text(isNegated ? " NOT IN (" : " IN (")
            try query.write(to: &writer)
            writer.text(")")
        case .collated(let operand, let collation):
            try writer.expression(operand, above: Precedence.collation.below)
            writer.text(" COLLATE ")
            writer.keyword(collation.sql)
        case .cast(let operand, let type):
            writer.text("CAST(")
            try writer.expression(operand, above: .lowest)
            writer.text(" AS ")
            writer.keyword(type.rawValue)
            writer.text(")")
        case .choice(let operand, let branches, let other):
            writer.text("CASE")
            if let operand {
                writer.text(" ")
                try writer.expression(operand, above: .lowest)
            }
            for (condition, result) in branches {
                writer.text(" WHEN ")
                try writer.expression(condition, above: .lowest)
                writer.text(" THEN ")
                try writer.expression(result, above: .lowest)
            }
            if let other {
                writer.text(" ELSE ")
                try writer.expression(other, above: .lowest)
            }
            writer.text(" END")
        case .call(let call): try call.write(to: &writer)
        case .row(let elements):
            writer.text("(")
            try writer.list(elements)
            writer.text(")")
        case .terms(let terms, let suffix):
            try writer.list(terms) { writer, term in
                try writer.expression(term, above: .lowest)
                writer.text(suffix)
            }
        case .subquery(let query):
            writer.text("(")
            try query.write(to: &writer)
            writer.text(")")
        case .exists(let query, let isNegated):
            writer.text(isNegated ? "NOT EXISTS (" : "EXISTS (")
            try query.write(to: &writer)
            writer.text(")")
        case .key(let condition): try writer.condition(condition)
        case .fragment(let fragment): try writer.fragment(fragment)
        case .scoped(let scope, let expression):
            try writer.inScope(scope) { try $0.expression(expression, above: .lowest) }
        case .late(let expression): try writer.expression(writer.known(expression), above: .lowest)
        }
    }
}

extension FunctionCall {
    fileprivate func write(to writer: inout some QueryWriter) throws {
        writer.keyword(name)
        writer.text("(")
        if isDistinct { writer.text("DISTINCT ") }
        if takesRows { writer.text("*") }
        try writer.list(arguments)
        writer.text(")")
        if let filter {
            writer.text(" FILTER (WHERE ")
            try writer.expression(filter, above: .lowest)
            writer.text(")")
        }
        if let window {
            writer.text(" OVER (")
            try window.write(to: &writer)
            writer.text(")")
        }
    }
}

extension Database.CollationName {
    /// The name as SQL. SQLite's own collations need no quotes.
    fileprivate var sql: String {
        let isPlain = [Self.binary, .nocase, .rtrim].contains(self)
        return isPlain ? rawValue : rawValue.quotedDatabaseIdentifier
    }
}
