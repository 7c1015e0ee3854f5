extension SQL {
    /// What a piece of SQL is made of.
    enum Segment {
        case text(String)
        /// The value of a parameter, which stands here.
        case value(DatabaseValue)
    }

    /// Whether the values stand in the order of the parameters, which have neither names nor numbers.
    private var areValuesInOrder: Bool {
        if arguments.namedValues != nil { return false }
        var isMark = false
        for byte in sql.utf8 {
            if isMark, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { return false }
            isMark = byte == UInt8(ascii: "?")
        }
        return true
    }

    /// The piece, whose parameters have neither names nor numbers: these would mean something else among those of others.
    /// Where one stands several times, its value does.
    ///
    /// - Throws: a ``DatabaseError``, as ``segments()``.
    var positional: SQL {
        get throws {
            if areValuesInOrder { return self }
            var (text, values) = ("", [DatabaseValue]())
            for segment in try segments() {
                switch segment {
                case .text(let piece): text += piece
                case .value(let value):
                    text += "?"
                    values.append(value)
                }
            }
            return SQL(sql: text, arguments: StatementArguments(values))
        }
    }

    /// Returns the texts and the values of the piece, as a part of a larger statement: see ``Swift/String/embeddedSQL``.
    ///
    /// - Throws: a ``DatabaseError`` when there are too many values or too few, or when a name is unknown.
    func segments() throws -> [Segment] {
        func complaint(_ message: String) -> DatabaseError {
            DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
        }
        let tokens = SQLTokens(sql.embeddedSQL)

        // The numbers, as SQLite gives them: see "Expressions", section "Parameters".
        var parameters: [(range: Range<Int>, number: Int)] = []
        var numbers: [String: Int] = [:]
        var names: [String?] = []
        for token in tokens {
            guard case .parameter = token.kind else { continue }
            let (text, name) = (tokens.text(token.range), tokens.text(token.range.dropFirst()))
            var number = names.count + 1
            if text != "?", tokens.bytes[token.range.lowerBound] == UInt8(ascii: "?") {
                guard let given = Int(name), 1...32_766 ~= given else {
                    throw complaint("variable number must be between ?1 and ?32766")
                }
                number = given
            } else if text != "?" {
                number = numbers[text] ?? number
                numbers[text] = number
            }
            while names.count < number { names.append(nil) }
            if numbers[text] != nil { names[number - 1] = name }
            parameters.append((token.range, number))
        }
        let values = try arguments.resolved(for: names, complaint)

        var segments: [Segment] = []
        var end = 0
        for (range, number) in parameters {
            if end < range.lowerBound { segments.append(.text(tokens.text(end..<range.lowerBound))) }
            segments.append(.value(values[number - 1]))
            end = range.upperBound
        }
        if end < tokens.bytes.count { segments.append(.text(tokens.text(end..<tokens.bytes.count))) }
        return segments
    }

    /// Returns the SQL with its values written into it as literals, for the statements that cannot have parameters:
    /// those that SQLite keeps ("CREATE VIEW", "Partial Indexes" and "Indexes On Expressions" in its documentation).
    ///
    /// It can be a part of a larger statement: see ``Swift/String/embeddedSQL``.
    ///
    /// - Throws: a ``DatabaseError``, as ``segments()``.
    func literalSQL() throws -> String {
        var literal = ""
        for segment in try segments() {
            let piece: String
            switch segment {
            case .text(let text): piece = text
            case .value(let value):
                let written = value.sqlLiteral
                // 1 -? must not become a comment.
                piece = written.hasPrefix("-") ? "(\(written))" : written
            }
            // What stood apart on both sides of a parameter does so on both sides of a literal.
            if let last = literal.utf8.last, let first = piece.utf8.first, Self.joins(last),
                Self.joins(first) || first == UInt8(ascii: "(")
            {
                literal += " "
            }
            literal += piece
        }
        return literal
    }

    /// Whether a byte would be part of what stands beside it: of a name, a number, or a text.
    private static func joins(_ byte: UInt8) -> Bool { SQLTokens.isWord(byte) || byte == UInt8(ascii: "'") }
}
