// Splits SQL into text, parameter values and late parts, and can write values as literals.

extension SQL {
    /// A segment of a piece of SQL.
    enum Segment {
        case text(String)
        /// The value of the parameter at this place.
        case value(DatabaseValue)
        /// A part that is written when the connection is known.
        case late(LateSQL, SQLPlace)
    }

    /// Whether the values are in the order of the parameters, which have neither names nor numbers.
    private var areValuesInOrder: Bool {
        if values.namedValues != nil { return false }
        var isMark = false
        for byte in text.utf8 {
            if isMark, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { return false }
            isMark = byte == UInt8(ascii: "?")
        }
        return true
    }

    /// The piece with nameless and unnumbered parameters, whose meaning does not change among the
    /// parameters of other pieces. If a parameter occurs several times, its value is repeated.
    ///
    /// - Throws: a ``DatabaseError``, as ``segments(as:)``.
    var positional: SQL {
        get throws {
            if areValuesInOrder { return self }
            var piece = SQL(sql: "")
            for segment in try segments() {
                switch segment {
                case .text(let text): piece.append(SQL(sql: text))
                case .value(let value): piece.append(SQL(sql: "?", arguments: [value]))
                case .late(let part, _): piece.append(SQL(part))
                }
            }
            return piece
        }
    }

    /// Returns the texts and the values of the piece, as a part of a larger statement: see
    /// ``Swift/String/embeddedSQL``.
    ///
    /// - Parameter role: The role of the piece, which determines the SQL around its late parts.
    /// - Throws: a ``DatabaseError`` if there are too many or too few values, if a name is unknown,
    ///   or if a late part is between quotes.
    func segments(as role: SQLRole = .statement) throws -> [Segment] {
        func complaint(_ message: String) -> DatabaseError {
            DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: text.withoutLateParts)
        }
        let tokens = SQLTokens(text.embeddedSQL)
        if values.isEmpty, !lateParts.isEmpty { return try segments(of: tokens, as: role, [], complaint) }

        // The numbers are those that SQLite assigns: see "Expressions", section "Parameters".
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
        let values = try self.values.resolved(for: names, complaint)

        return try segments(of: tokens, as: role, parameters.map { ($0, values[$1 - 1]) }, complaint)
    }

    /// - Parameter parameters: The parameters that have values. Other parameters are kept as text.
    private func segments(
        of tokens: SQLTokens, as role: SQLRole, _ parameters: [(range: Range<Int>, value: DatabaseValue)],
        _ complaint: (String) -> DatabaseError
    ) throws -> [Segment] {
        var segments: [Segment] = []
        var end = 0
        func addText(before start: Int) {
            if end < start { segments.append(.text(tokens.text(end..<start))) }
        }
        guard !lateParts.isEmpty else {
            for (range, value) in parameters {
                addText(before: range.lowerBound)
                segments.append(.value(value))
                end = range.upperBound
            }
            addText(before: tokens.bytes.count)
            return segments
        }
        var values = parameters[...]
        var parts = zip(lateParts, SQLPlace.places(in: tokens, as: role)).makeIterator()
        for token in tokens {
            let range = token.range
            if let value = values.first, value.range == range {
                addText(before: range.lowerBound)
                segments.append(.value(value.value))
                (values, end) = (values.dropFirst(), range.upperBound)
                continue
            }
            guard tokens.bytes[range].contains(0) else { continue }
            addText(before: range.lowerBound)
            end = range.upperBound
            switch token.kind {
            case .late:
                guard let (part, place) = parts.next() else {
                    throw complaint("there is a NUL character in the SQL")
                }
                // If the parentheses are left out, blanks separate the query from words next to it.
                let bare = place != .operand
                if bare, let last = tokens.bytes[..<range.lowerBound].last, SQLTokens.isWord(last) {
                    segments.append(.text(" "))
                }
                segments.append(.late(part, place))
                if bare, let next = tokens.bytes[end...].first, SQLTokens.isWord(next) {
                    segments.append(.text(" "))
                }
            case .quoted:
                throw complaint(
                    "a request is between quotes in an SQL literal, where SQL expects a text or a name")
            default:
                // Late parts in a comment are left out: a line break in one of them would end the
                // comment.
                for byte in tokens.bytes[range] where byte == 0 { _ = parts.next() }
                segments.append(.text(tokens.text(range).withoutLateParts))
            }
        }
        addText(before: tokens.bytes.count)
        return segments
    }

    /// Returns the SQL with its values written as literals, for statements that cannot have
    /// parameters. These are the ones that SQLite stores ("CREATE VIEW", "Partial Indexes" and
    /// "Indexes On Expressions" in its documentation).
    ///
    /// The result can be a part of a larger statement: see ``Swift/String/embeddedSQL``.
    ///
    /// - Parameters:
    ///   - role: The role of the piece, which determines the SQL around its late parts.
    ///   - db: The connection for which its late parts are written.
    /// - Throws: a ``DatabaseError``, as ``segments(as:)``, and the error of a late part that
    ///   cannot be written.
    func literalSQL(as role: SQLRole = .statement, on db: Database?) throws -> String {
        var literal = ""
        for segment in try written(as: role, on: db).segments() {
            let piece: String
            switch segment {
            case .late: continue
            case .text(let text): piece = text
            case .value(let value):
                let written = value.sqlLiteral
                // 1 -? must not become a comment.
                piece = written.hasPrefix("-") ? "(\(written))" : written
            }
            // Tokens that were separate on both sides of a parameter must stay separate on both
            // sides of a literal.
            if let last = literal.utf8.last, let first = piece.utf8.first, Self.joins(last),
                Self.joins(first) || first == UInt8(ascii: "(")
            {
                literal += " "
            }
            literal += piece
        }
        return literal
    }

    /// Whether a byte would merge with an adjacent name, number, or text.
    private static func joins(_ byte: UInt8) -> Bool { SQLTokens.isWord(byte) || byte == UInt8(ascii: "'") }
}
