// The values that a CHECK constraint lists.

extension CheckExpressions {
    /// A CHECK of the form `"kind" IN ('cat', 'dog')`.
    package struct ValueList {
        let column: String
        /// The values, as SQL: literals alone.
        package let sql: String

        /// Parses an expression. Nil if it has another form.
        init?(_ expression: String) {
            let tokens = SQLTokens(expression)
            let list = tokens.meaningful
            var rest = list[...]
            func word(_ text: String) -> Bool {
                guard let next = rest.first, case .word = next.kind else { return false }
                return CaseInsensitiveName.matches(tokens.text(next.range), text)
            }
            guard let name = rest.popFirst() else { return nil }
            switch name.kind {
            case .word, .quoted: column = CheckExpressions.unquoted(tokens.text(name.range))
            default: return nil
            }
            if word("COLLATE") { rest = rest.dropFirst(2) }
            guard word("IN") else { return nil }
            rest = rest.dropFirst()
            guard let opening = rest.popFirst(), case .opening = opening.kind,
                let closing = rest.popLast(), case .closing = closing.kind
            else { return nil }
            var depth = 0
            for token in rest {
                switch token.kind {
                case .opening: depth += 1
                case .closing:
                    depth -= 1
                    if depth < 0 { return nil }
                // A quoted name is no literal, and neither is a string in the quotes of a name.
                case .quoted where tokens.bytes[token.range.lowerBound] != UInt8(ascii: "'"): return nil
                default: break
                }
            }
            sql = tokens.text(opening.range.upperBound..<closing.range.lowerBound)
        }
    }

    /// Returns the lists of values in the constraints of a column.
    package func valueLists(of column: String) -> [ValueList] {
        expressions.compactMap(ValueList.init).filter { CaseInsensitiveName.matches($0.column, column) }
    }
}
