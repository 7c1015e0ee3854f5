/// The keys of an index and the condition on its rows, parsed from its SQL.
///
/// For example: `CREATE UNIQUE INDEX i ON t (lower(name) DESC) WHERE x > 1`.
///
/// Other statements on the table can use the pieces. They have no comments, which would swallow the
/// text after them. They have no table name before columns (`t.x`), because the table may have
/// another name there. (An index can only refer to columns of its own table, so nothing else can
/// precede a dot.)
struct IndexText {
    /// The keys as written, without their direction.
    let keys: [String]
    /// The condition after WHERE.
    let condition: String?

    /// Parses the SQL of an index. Returns nil for SQL that it cannot parse.
    init?(_ sql: String) {
        var tokens = Tokens(Array(sql.utf8))
        var keys: [String] = []
        var piece: [Token] = []
        var depth = 0
        scan: while true {
            guard let token = tokens.next() else { return nil }
            switch token.text {
            case "(":
                depth += 1
                if depth > 1 { piece.append(token) }
            case ",", ")":
                if token.text == ")" { depth -= 1 }
                if token.text == ")" ? depth == 0 : depth == 1 {
                    keys.append(Self.sql(Self.withoutDirection(piece)))
                    piece = []
                    if depth == 0 { break scan }
                } else if depth > 0 {
                    piece.append(token)
                }
            default: if depth > 0 { piece.append(token) }
            }
        }
        self.keys = keys
        guard let word = tokens.next(), word.isKeyword("WHERE") else {
            condition = nil
            return
        }
        while let token = tokens.next() { piece.append(token) }
        condition = Self.sql(piece)
    }

    private static func withoutDirection(_ key: [Token]) -> [Token] {
        guard let last = key.last, last.isKeyword("ASC") || last.isKeyword("DESC") else { return key }
        return key.dropLast()
    }

    /// Returns the SQL of the given tokens, without the qualifiers of column names.
    private static func sql(_ tokens: [Token]) -> String {
        var kept: [Token] = []
        for token in tokens {
            if token.text == "." {
                kept.removeLast(kept.isEmpty ? 0 : 1)
            } else {
                kept.append(token)
            }
        }
        var sql = ""
        for token in kept {
            if !sql.isEmpty, token.isApart { sql += " " }
            sql += token.text
        }
        return sql
    }

    private struct Token {
        /// The token: a name or a string with its quotes, a number, a word, or a single other byte.
        let text: String
        let isWord: Bool
        /// Whether white space or a comment precedes it.
        let isApart: Bool

        func isKeyword(_ word: String) -> Bool { isWord && CaseInsensitiveName.matches(text, word) }
    }

    /// The tokens of SQL: see "tokenize.c" in SQLite.
    private struct Tokens {
        private let bytes: [UInt8]
        private var index = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        private func byte(_ offset: Int = 0) -> UInt8? {
            index + offset < bytes.count ? bytes[index + offset] : nil
        }

        mutating func next() -> Token? {
            let before = index
            skipBlanks()
            let start = index
            guard let first = byte() else { return nil }
            var isWord = false
            switch first {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): skipQuoted(first)
            case UInt8(ascii: "["): skipQuoted(UInt8(ascii: "]"))
            case UInt8(ascii: "0")...UInt8(ascii: "9"): skipNumber()
            case UInt8(ascii: ".") where byte(1).map(Self.isDigit) == true: skipNumber()
            case _ where Self.isWordByte(first):
                isWord = true
                while let byte = byte(), Self.isWordByte(byte) { index += 1 }
            default: index += 1
            }
            let text = String(decoding: bytes[start..<index], as: UTF8.self)
            return Token(text: text, isWord: isWord, isApart: start > before)
        }

        private mutating func skipBlanks() {
            while let first = byte() {
                switch (first, byte(1)) {
                case (9, _), (10, _), (12, _), (13, _), (32, _): index += 1
                case (UInt8(ascii: "-"), UInt8(ascii: "-")):
                    while let byte = byte(), byte != 10 { index += 1 }
                case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                    index += 2
                    while byte() != nil, byte() != UInt8(ascii: "*") || byte(1) != UInt8(ascii: "/") {
                        index += 1
                    }
                    index = min(index + 2, bytes.count)
                default: return
                }
            }
        }

        /// Advances past a quoted string, in which a quote is written twice.
        private mutating func skipQuoted(_ quote: UInt8) {
            index += 1
            while let byte = byte() {
                index += 1
                if byte == quote {
                    guard self.byte() == quote, quote != UInt8(ascii: "]") else { return }
                    index += 1
                }
            }
        }

        /// Advances past a number, such as `1.5e-3`, whose dot qualifies nothing.
        private mutating func skipNumber() {
            var last: UInt8 = 0
            let isHexadecimal = byte() == UInt8(ascii: "0") && byte(1).map { $0 | 0x20 } == UInt8(ascii: "x")
            while let byte = byte() {
                let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                let isExponent = isSign && !isHexadecimal && last | 0x20 == UInt8(ascii: "e")
                guard Self.isWordByte(byte) || byte == UInt8(ascii: ".") || isExponent else { return }
                last = byte
                index += 1
            }
        }

        private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

        private static func isWordByte(_ byte: UInt8) -> Bool {
            byte >= 128 || (byte | 0x20) &- 97 < 26 || isDigit(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "$")
        }
    }
}
