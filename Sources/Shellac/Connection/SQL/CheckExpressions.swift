// The CHECK constraints in the SQL of a table, with their names.

/// The CHECK constraints in the SQL of a table.
package struct CheckExpressions {
    /// The constraints' names, if they have one, and expressions.
    private var all: [(name: String?, expression: String)] = []

    package init(_ sql: String) {
        let tokens = SQLTokens(sql)
        let list = tokens.meaningful
        var name: String?
        var index = 0
        while index < list.count {
            let word = tokens.text(list[index].range)
            if CaseInsensitiveName.matches(word, "CONSTRAINT"), index + 1 < list.count {
                name = Self.unquoted(tokens.text(list[index + 1].range))
                index += 2
                continue
            }
            if CaseInsensitiveName.matches(word, "CHECK"), index + 1 < list.count,
                case .opening = list[index + 1].kind
            {
                let start = index + 1
                var depth = 0
                repeat {
                    index += 1
                    if case .opening = list[index].kind { depth += 1 }
                    if case .closing = list[index].kind { depth -= 1 }
                } while depth > 0 && index + 1 < list.count
                let range = list[start].range.upperBound..<list[index].range.lowerBound
                all.append((name, tokens.text(range)))
            }
            if case .comma = list[index].kind { name = nil }
            index += 1
        }
    }

    /// Returns the expression of the constraint with the given name. SQLite names a constraint
    /// without a name by its expression.
    ///
    /// SQLite removes the quotes from such a name as from any other: `"kind" IN ('cat')` is called
    /// `kind`. If several constraints match such a name, this returns nil.
    func expression(named name: String) -> String? {
        let found =
            all.first { $0.name.map { CaseInsensitiveName.matches($0, name) } ?? false }
            ?? all.first { $0.name == nil && Self.trimmed($0.expression) == name }
        if let found { return found.expression }
        let quoted = all.filter { constraint in
            guard constraint.name == nil, let first = SQLTokens(constraint.expression).meaningful.first,
                case .quoted = first.kind
            else { return false }
            return Self.unquoted(SQLTokens(constraint.expression).text(first.range)) == name
        }
        return quoted.count == 1 ? quoted[0].expression : nil
    }

    /// Returns the name of the constraint with the given expression.
    func name(ofExpression expression: String) -> String {
        all.first { $0.expression == expression }?.name ?? String(Self.trimmed(expression))
    }

    /// Returns the words of an expression that may be names.
    static func names(in expression: String) -> [String] {
        let tokens = SQLTokens(expression)
        return tokens.meaningful.compactMap { token in
            switch token.kind {
            case .word, .quoted: unquoted(tokens.text(token.range))
            default: nil
            }
        }
    }

    /// The expressions of all constraints.
    var expressions: [String] { all.map(\.expression) }

    /// Returns a name without its quotes. Text between single quotes is not a name, and stays as it
    /// is.
    static func unquoted(_ text: String) -> String {
        text.utf8.first == UInt8(ascii: "'") ? text : text.unquotedSQL
    }

    private static func trimmed(_ text: String) -> Substring {
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        let rest = text.drop(while: isBlank)
        return rest.prefix(
            (rest.lastIndex { !isBlank($0) }).map { rest.distance(from: rest.startIndex, to: $0) + 1 } ?? 0)
    }
}
