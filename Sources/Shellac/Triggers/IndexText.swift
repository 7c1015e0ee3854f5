/// What the SQL of an index says of its keys and of its rows: `CREATE UNIQUE INDEX i ON t (lower(name) DESC) WHERE x > 1`.
struct IndexText {
    /// The keys, as they were written, without their direction.
    let keys: [String]
    /// What stands behind WHERE.
    let condition: String?

    /// Nil for SQL that is not understood.
    init?(_ sql: String) {
        let bytes = Array(sql.utf8)
        var keys: [String] = []
        var depth = 0
        var start = 0
        var end: Int?
        var index = 0
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        scan: while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                index = Self.endOfQuote(bytes, index, bytes[index])
                continue
            case UInt8(ascii: "["):
                index = Self.endOfQuote(bytes, index, UInt8(ascii: "]"))
                continue
            case UInt8(ascii: "-") where index + 1 < bytes.count && bytes[index + 1] == bytes[index]:
                index = (bytes[index...].firstIndex(of: 10) ?? bytes.count - 1) + 1
                continue
            case UInt8(ascii: "/") where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "*"):
                index += 2
                while index < bytes.count, !bytes[index...].starts(with: "*/".utf8) { index += 1 }
                index += 2
                continue
            case UInt8(ascii: "("):
                depth += 1
                if depth == 1 { start = index + 1 }
            case UInt8(ascii: ",") where depth == 1:
                keys.append(text(start..<index))
                start = index + 1
            case UInt8(ascii: ")"):
                depth -= 1
                if depth == 0 {
                    keys.append(text(start..<index))
                    end = index + 1
                    break scan
                }
            default: break
            }
            index += 1
        }
        guard let end else { return nil }
        self.keys = keys.map(Self.withoutDirection)
        let rest = text(end..<bytes.count)
        let clause = rest.utf8.drop { [9, 10, 12, 13, 32].contains($0) }
        let isCondition = CaseInsensitiveName.matches(String(Substring(clause.prefix(5))), "WHERE")
        condition = isCondition ? String(Substring(clause.dropFirst(5))) : nil
    }

    /// The place behind a quoted text.
    private static func endOfQuote(_ bytes: [UInt8], _ start: Int, _ quote: UInt8) -> Int {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == quote {
                guard index + 1 < bytes.count, bytes[index + 1] == quote else { return index + 1 }
                index += 1
            }
            index += 1
        }
        return index
    }

    private static func withoutDirection(_ key: String) -> String {
        var words = key.split(whereSeparator: \.isWhitespace)
        guard let last = words.last?.uppercased(), last == "ASC" || last == "DESC" else { return key }
        words.removeLast()
        guard let end = words.last?.endIndex else { return key }
        return String(key[..<end])
    }
}
