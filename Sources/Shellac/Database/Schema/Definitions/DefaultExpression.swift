// Rewrites a column's DEFAULT as an expression with the same meaning inside a trigger.

extension ColumnInfo {
    /// The default value, as an expression with the same meaning in a trigger.
    ///
    /// After DEFAULT, a name is a string ("CREATE TABLE", section "The DEFAULT clause", and the
    /// grammar in "parse.y"). Elsewhere it is a column.
    var defaultExpression: String? {
        guard let sql = defaultValueSQL else { return nil }
        let bytes = Array(sql.utf8)
        guard let first = bytes.first, let last = bytes.last else { return nil }
        let closing: UInt8? =
            switch first {
            case UInt8(ascii: "\""), UInt8(ascii: "`"): first
            case UInt8(ascii: "["): UInt8(ascii: "]")
            default: nil
            }
        if let closing, closing == last, bytes.count > 1 {
            let text = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
            let quote = String(decoding: [closing], as: UTF8.self)
            return text.split(separator: quote + quote, omittingEmptySubsequences: false)
                .joined(separator: quote).quotedDatabaseLiteral
        }
        let isName = (first | 0x20) &- 97 < 26 || first == UInt8(ascii: "_") || first >= 128
        let isWord = bytes.allSatisfy { byte in
            byte >= 128 || (byte | 0x20) &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "$")
        }
        let isValue = Self.valueWords.contains { CaseInsensitiveName.matches($0, sql) }
        return isName && isWord && !isValue ? sql.quotedDatabaseLiteral : "(\(sql))"
    }

    private static let valueWords = [
        "null", "true", "false", "current_time", "current_date", "current_timestamp",
    ]
}
