/// The first words of a trigger's SQL, parsed: `CREATE TRIGGER name AFTER UPDATE OF score, name ON player`.
struct TriggerHeading {
    /// The columns behind UPDATE OF. Empty for other triggers.
    ///
    /// SQLite does not mind when there are no such columns: the trigger never fires, then.
    let updatedColumns: [String]

    /// Whether the table has the name of its database before it: `ON main.player`.
    let saysDatabase: Bool

    init(sql: String) {
        var tokens = Tokens(rest: Array(sql.utf8)[...])
        var columns: [String] = []
        var words = (earlier: "", last: "")
        var end: Token?
        while let token = tokens.next() {
            if token.isKeyword, ["ON", "BEGIN"].contains(token.text) {
                end = token
                break
            }
            if !columns.isEmpty || words == ("UPDATE", "OF") {
                if token.text != "," { columns.append(token.name) }
            }
            words = (words.last, token.isKeyword ? token.text : "")
        }
        updatedColumns = columns
        let table = end?.text == "ON" ? tokens.next() : nil
        saysDatabase = table != nil && tokens.next()?.text == "."
    }

    private struct Token {
        /// The token; in upper case, if it may be a keyword.
        var text: String
        /// The token as a name: as it was written, and without quotes.
        var name: String
        var isKeyword: Bool
    }

    /// The tokens of SQL: see "tokenize.c" in SQLite.
    private struct Tokens {
        var rest: ArraySlice<UInt8>

        mutating func next() -> Token? {
            while let byte = rest.first {
                switch byte {
                case UInt8(ascii: "-") where rest.dropFirst().first == byte: _ = take(through: [10])
                case UInt8(ascii: "/") where rest.dropFirst().first == UInt8(ascii: "*"):
                    _ = take(through: Array("*/".utf8))
                case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): return quoted(byte)
                case UInt8(ascii: "["):
                    let name = String(
                        decoding: take(through: [UInt8(ascii: "]")]).dropFirst().dropLast(), as: UTF8.self)
                    return Token(text: "", name: name, isKeyword: false)
                case _ where Self.isWordByte(byte):
                    let word = rest.prefix(while: Self.isWordByte)
                    rest = rest[word.endIndex...]
                    let name = String(decoding: word, as: UTF8.self)
                    return Token(text: name.uppercased(), name: name, isKeyword: true)
                case 9, 10, 12, 13, 32: rest.removeFirst()
                default:
                    rest.removeFirst()
                    let text = String(decoding: [byte], as: UTF8.self)
                    return Token(text: text, name: text, isKeyword: false)
                }
            }
            return nil
        }

        private static func isWordByte(_ byte: UInt8) -> Bool {
            byte >= 128 || (byte | 0x20) &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "$")
        }

        /// Reads a name between quotes, which are doubled inside of it.
        private mutating func quoted(_ quote: UInt8) -> Token {
            rest.removeFirst()
            var name: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == quote {
                    guard rest.first == quote else { break }
                    rest.removeFirst()
                }
                name.append(byte)
            }
            return Token(text: "", name: String(decoding: name, as: UTF8.self), isKeyword: false)
        }

        /// Takes the bytes up to an end, the end included.
        private mutating func take(through end: [UInt8]) -> ArraySlice<UInt8> {
            let start = rest
            rest = rest.dropFirst()
            while !rest.isEmpty, !rest.starts(with: end) { rest.removeFirst() }
            rest = rest.dropFirst(end.count)
            return start[..<rest.startIndex]
        }
    }
}
