/// The tokens of a piece of SQL, split as SQLite does.
///
/// See "SQLite Keywords" and "SQL Comment Syntax" in its documentation.
struct SQLTokens: Sequence, IteratorProtocol {
    enum Kind {
        case blank
        /// A comment, which is not closed if it continues to the end of the text.
        case lineComment(isClosed: Bool)
        case blockComment(isClosed: Bool)
        /// A quoted text, blob or name.
        case quoted
        /// A keyword, a name, a number.
        case word
        /// `?`, `?1`, `:name`, `@name` or `$name`.
        case parameter
        case comma, semicolon, opening, closing
        /// The place of a part that is written later: a NUL.
        case late
        /// One byte of an operator, or a dot.
        case sign

        /// Whether SQLite ignores the token.
        var isEmpty: Bool {
            switch self {
            case .blank, .lineComment, .blockComment: true
            default: false
            }
        }
    }

    struct Token {
        let kind: Kind
        let range: Range<Int>
    }

    let bytes: [UInt8]
    private var position = 0

    init(_ sql: String) { bytes = Array(sql.utf8) }

    mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        let start = position
        let kind = skip()
        return Token(kind: kind, range: start..<position)
    }

    /// Returns the text of a token.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The tokens that SQLite does not ignore. A name or a text that contains a doubled quote is
    /// one token.
    var meaningful: [Token] {
        var list: [Token] = []
        for token in self where !token.kind.isEmpty {
            guard case .quoted = token.kind, let last = list.last, case .quoted = last.kind,
                last.range.upperBound == token.range.lowerBound,
                bytes[last.range.lowerBound] == bytes[token.range.lowerBound],
                bytes[token.range.lowerBound] != UInt8(ascii: "[")
            else {
                list.append(token)
                continue
            }
            list[list.count - 1] = Token(kind: .quoted, range: last.range.lowerBound..<token.range.upperBound)
        }
        return list
    }

    /// The tokens, with equal spellings for equal meanings: names without quotes, names and
    /// keywords in lower case.
    var meanings: [String] {
        meaningful.map { token in
            let text = text(token.range)
            switch token.kind {
            case .quoted where text.utf8.first != UInt8(ascii: "'"): return text.unquotedSQL.asciiLowercased
            case .word: return text.asciiLowercased
            default: return text
            }
        }
    }

    private mutating func skip() -> Kind {
        let byte = bytes[position]
        position += 1
        switch byte {
        case 0x20, 0x09...0x0D: return .blank
        case 0: return .late
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            // A doubled quote ends one text, and begins another.
            _ = skip(behind: [byte])
            return .quoted
        case UInt8(ascii: "["):
            _ = skip(behind: [UInt8(ascii: "]")])
            return .quoted
        case UInt8(ascii: "-") where isNext(byte): return .lineComment(isClosed: skip(behind: [0x0A]))
        case UInt8(ascii: "/") where isNext(UInt8(ascii: "*")):
            position += 1
            return .blockComment(isClosed: skip(behind: Array("*/".utf8)))
        case UInt8(ascii: ","): return .comma
        case UInt8(ascii: ";"): return .semicolon
        case UInt8(ascii: "("): return .opening
        case UInt8(ascii: ")"): return .closing
        case UInt8(ascii: "?"):
            while position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[position] {
                position += 1
            }
            return .parameter
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
            let start = position
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            return position > start ? .parameter : .sign
        case _ where Self.isWord(byte):
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            return .word
        default: return .sign
        }
    }

    private func isNext(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }

    /// Moves past the given end. Returns whether it was found.
    private mutating func skip(behind end: [UInt8]) -> Bool {
        while position < bytes.count {
            if bytes[position...].starts(with: end) {
                position += end.count
                return true
            }
            position += 1
        }
        return false
    }

    /// Whether a byte may be part of a name: a letter, a digit, `_`, `$`, or any byte that is not
    /// ASCII.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}

extension String {
    /// The text with ASCII letters in lower case, which SQLite treats as equal to upper case.
    var asciiLowercased: String {
        String(
            decoding: utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self
        )
    }

    /// This SQL as a part of a larger one: the SQL that follows is neither in a comment nor beyond
    /// the end of the statement.
    ///
    /// All SQL of callers must pass through this property to become part of Shellac's SQL.
    var embeddedSQL: String {
        guard mayHaveCommentOrSemicolon else { return self }
        let tokens = SQLTokens(self)
        var end = 0
        var isOpen = false
        for token in tokens {
            switch token.kind {
            case .blank, .blockComment(isClosed: true): break
            // When SQLite adds a column to a table, it removes the line break behind the column,
            // but not the comment.
            case .lineComment, .blockComment(isClosed: false), .semicolon: isOpen = true
            default: (end, isOpen) = (token.range.upperBound, false)
            }
        }
        return isOpen ? tokens.text(0..<end) : self
    }

    /// This SQL with its last comment closed.
    var closingLastComment: String {
        guard mayHaveCommentOrSemicolon else { return self }
        var end = ""
        for token in SQLTokens(self) {
            switch token.kind {
            case .lineComment(isClosed: false): end = "\n"
            case .blockComment(isClosed: false): end = "*/"
            default: break
            }
        }
        return self + end
    }

    private var mayHaveCommentOrSemicolon: Bool {
        utf8.contains { [UInt8(ascii: ";"), UInt8(ascii: "-"), UInt8(ascii: "/")].contains($0) }
    }
}

// MARK: - Orders

extension String {
    /// The terms of an `ORDER BY` clause, each in the opposite direction.
    var reversedOrder: String {
        let tokens = SQLTokens(self)
        var reversed = ""
        var depth = 0
        var term: [SQLTokens.Token] = []
        for token in tokens {
            switch token.kind {
            case .opening: depth += 1
            case .closing: depth -= 1
            case .comma where depth == 0:
                reversed += tokens.reversed(term) + ","
                term = []
                continue
            default: break
            }
            term.append(token)
        }
        return reversed + tokens.reversed(term)
    }

    /// Whether an `ORDER BY` clause only has columns and their numbers, and no expressions.
    var ordersByColumns: Bool {
        let tokens = SQLTokens(self)
        return tokens.allSatisfy { token in
            switch token.kind {
            case .opening, .closing, .late: false
            case .sign: tokens.bytes[token.range.lowerBound] == UInt8(ascii: ".")
            case .word: !["CASE", "CAST"].contains(tokens.text(token.range).uppercased())
            default: true
            }
        }
    }
}

extension SQLTokens {
    /// Reverses a term of an `ORDER BY` clause: see "SELECT" in the SQLite documentation.
    fileprivate func reversed(_ term: [Token]) -> String {
        guard let first = term.first, let last = term.last else { return "" }
        var rest = term.filter { !$0.kind.isEmpty }
        func keyword(_ index: Int) -> String? {
            guard rest.indices.contains(index), case .word = rest[index].kind else { return nil }
            return text(rest[index].range).uppercased()
        }
        let end = rest.last?.range.upperBound ?? last.range.upperBound
        var nulls = ""
        if keyword(rest.count - 2) == "NULLS", let place = keyword(rest.count - 1), rest.count > 2 {
            nulls = place == "FIRST" ? " NULLS LAST" : " NULLS FIRST"
            rest.removeLast(2)
        }
        var isDescending = false
        if let direction = keyword(rest.count - 1), ["ASC", "DESC"].contains(direction),
            endsExpression(rest.dropLast())
        {
            isDescending = direction == "DESC"
            rest.removeLast()
        }
        guard let expression = rest.last else { return text(first.range.lowerBound..<last.range.upperBound) }
        return text(first.range.lowerBound..<expression.range.upperBound) + (isDescending ? "" : " DESC")
            + nulls
            + text(end..<last.range.upperBound)
    }

    /// Whether an expression may end here. If none does, `ASC` and `DESC` are names.
    private func endsExpression(_ tokens: ArraySlice<Token>) -> Bool {
        guard let last = tokens.last else { return false }
        switch last.kind {
        case .quoted, .closing, .parameter, .late: return true
        case .word: return !Self.wordsBeforeOperand.contains(text(last.range).uppercased())
        default: return false
        }
    }

    private static let wordsBeforeOperand: Set<String> = [
        "AND", "BETWEEN", "CASE", "COLLATE", "DISTINCT", "ELSE", "ESCAPE", "FROM", "GLOB", "IN", "IS", "LIKE",
        "MATCH", "NOT", "OR", "REGEXP", "THEN", "WHEN",
    ]
}
