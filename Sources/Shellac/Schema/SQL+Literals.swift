extension SQL {
    /// Returns the SQL with its values written into it as literals, for the statements that cannot have parameters:
    /// those that SQLite keeps ("CREATE VIEW", "Partial Indexes" and "Indexes On Expressions" in its documentation).
    ///
    /// It can be a part of a larger statement: see ``Swift/String/embeddedSQL``.
    ///
    /// - Throws: a ``DatabaseError`` when there are too many values or too few, or when a name is unknown.
    func literalSQL() throws -> String {
        var parameters = ParameterScanner(sql.embeddedSQL)
        var literal: [UInt8] = []
        var numbers: [[UInt8]: Int] = [:]
        var greatest = 0
        var used: Set<Int> = []
        var usedNames: Set<String> = []
        /// The positional values taken by parameters that have no value by name.
        var positions: [Int: Int] = [:]
        var wanted: [Int: String?] = [:]

        func complaint(_ message: String) -> DatabaseError {
            DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
        }

        // First the numbers, as SQLite gives them: see "Expressions", section "Parameters".
        var pieces: [(text: ArraySlice<UInt8>, number: Int)] = []
        while let (text, parameter) = parameters.next() {
            guard let parameter else {
                pieces.append((text, 0))
                continue
            }
            let digits = String(decoding: parameter.dropFirst(), as: UTF8.self)
            let isPosition = parameter.first == UInt8(ascii: "?")
            let number: Int
            if isPosition, !digits.isEmpty {
                guard let given = Int(digits), 1...32_766 ~= given else {
                    throw complaint("variable number must be between ?1 and ?32766")
                }
                number = given
            } else if isPosition {
                number = greatest + 1
            } else {
                number = numbers[parameter] ?? greatest + 1
                numbers[parameter] = number
                wanted[number] = .some(digits)
            }
            greatest = max(greatest, number)
            used.insert(number)
            pieces.append((text, number))
        }

        // Then their values, as the arguments of statements are resolved.
        var values: [Int: DatabaseValue] = [:]
        var next = 0
        for number in stride(from: 1, through: greatest, by: 1) {
            if let name = wanted[number] ?? nil, let value = arguments.namedValues?[name] {
                values[number] = value
                usedNames.insert(name)
            } else if next < arguments.values.count {
                values[number] = arguments.values[next]
                positions[number] = next
                next += 1
            } else {
                throw complaint(
                    "wrong number of arguments: \(arguments.values.count) for \(greatest) parameters")
            }
        }
        guard next == arguments.values.count else {
            throw complaint(
                "wrong number of arguments: \(arguments.values.count) for \(greatest) parameters")
        }
        let unknown = Set((arguments.namedValues ?? [:]).keys).subtracting(usedNames)
        guard unknown.isEmpty else {
            throw complaint("unknown arguments: \(unknown.sorted().joined(separator: ", "))")
        }

        for (text, number) in pieces {
            guard let value = values[number] else {
                if let last = literal.last, let first = text.first, !literal.isEmpty,
                    ParameterScanner.isNameByte(last) || last == UInt8(ascii: "'"),
                    ParameterScanner.isNameByte(first) || first == UInt8(ascii: "'")
                {
                    literal.append(UInt8(ascii: " "))
                }
                literal += text
                continue
            }
            var written = value.sqlLiteral
            // 1 -? must not become a comment.
            if written.hasPrefix("-") { written = "(\(written))" }
            if let last = literal.last, ParameterScanner.isNameByte(last) || last == UInt8(ascii: "'") {
                literal.append(UInt8(ascii: " "))
            }
            literal += written.utf8
        }
        return String(decoding: literal, as: UTF8.self)
    }
}

/// Finds the parameters in an SQL text, and leaves alone what stands in texts, names and comments.
private struct ParameterScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ sql: String) { bytes = Array(sql.utf8) }

    /// Whether a byte may be part of a name, as letters, digits, `_`, `$` and all that is not ASCII may: see "SQLite
    /// Keywords" and the tokenizer's requirements.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    /// Returns the next piece of text, or the next parameter.
    mutating func next() -> (text: ArraySlice<UInt8>, parameter: [UInt8]?)? {
        guard position < bytes.count else { return nil }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): skip(to: [byte])
            case UInt8(ascii: "["): skip(to: [UInt8(ascii: "]")])
            case UInt8(ascii: "-") where isFollowed(by: byte): skip(to: [UInt8(ascii: "\n")])
            case UInt8(ascii: "/") where isFollowed(by: UInt8(ascii: "*")):
                position += 1
                skip(to: Array("*/".utf8))
            case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
                let end = endOfName(from: position + 1)
                guard byte == UInt8(ascii: "?") || end > position + 1 else {
                    position += 1  // not a parameter: SQLite will say what it is
                    continue
                }
                if position > start { return (bytes[start..<position], nil) }
                position = end
                return ([], Array(bytes[start..<end]))
            case _ where Self.isNameByte(byte): position = endOfName(from: position)
            default: position += 1
            }
        }
        return (bytes[start..<position], nil)
    }

    private func isFollowed(by byte: UInt8) -> Bool {
        position + 1 < bytes.count && bytes[position + 1] == byte
    }

    private func endOfName(from start: Int) -> Int {
        let isPosition = start > 0 && bytes[start - 1] == UInt8(ascii: "?") && start - 1 == position
        return bytes[start...].firstIndex { byte in
            isPosition ? !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte) : !Self.isNameByte(byte)
        } ?? bytes.count
    }

    /// Moves behind the end of a text, a name or a comment. A doubled quote ends one, and begins another.
    private mutating func skip(to end: [UInt8]) {
        position += 1
        while position < bytes.count, !bytes[position...].starts(with: end) { position += 1 }
        position = min(position + end.count, bytes.count)
    }
}
