/// A format in which rows are written for people who look at them: see ``Database/dumpSQL(_:format:to:)``.
///
/// The formats are those of SQLite's command line: see "Command Line Shell For SQLite", section "Changing Output
/// Formats".
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .quote)
/// // 1,'Arthur',NULL
/// // 2,'O''Brien',1000
/// ```
public enum DumpFormat: Hashable, Sendable, CaseIterable {
    /// One row a line, with a bar between the values, which are written as they are: `1|Arthur|`. NULL is empty.
    case list

    /// One row a line, the values as SQL: `1,'Arthur',NULL`.
    case quote

    /// The form that other programs read, with a line of names above: see RFC 4180. NULL is empty.
    case csv

    /// One value a line, with the name of its column: `name = Arthur`. An empty line stands between two rows.
    case line

    /// Returns the text above the rows.
    func header(_ columns: [String]) -> String {
        switch self {
        case .csv: columns.map(Self.csvField).joined(separator: ",") + "\r\n"
        case .list, .quote, .line: ""
        }
    }

    /// Returns the text of one row.
    func text(_ row: Row, isFirst: Bool) -> String {
        let values = row.databaseValues
        switch self {
        case .list: return values.map(Self.plainText).joined(separator: "|") + "\n"
        case .quote: return values.map(\.sqlLiteral).joined(separator: ",") + "\n"
        case .csv: return values.map { Self.csvField(Self.plainText($0)) }.joined(separator: ",") + "\r\n"
        case .line:
            let names = Array(row.columnNames)
            let width = names.map(\.count).max() ?? 0
            let lines = zip(names, values).map { name, value in
                String(repeating: " ", count: width - name.count) + "\(name) = \(Self.plainText(value))\n"
            }
            return (isFirst ? "" : "\n") + lines.joined()
        }
    }

    /// Returns a value without quotes. Bytes that are no text are written as SQL.
    private static func plainText(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: ""
        case .int64(let integer): "\(integer)"
        case .double: value.sqlLiteral
        case .string(let text): text
        case .blob(let bytes): String(validating: bytes, as: UTF8.self) ?? value.sqlLiteral
        }
    }

    private static func csvField(_ text: String) -> String {
        // By bytes: a line break with an accent behind it is one character.
        let special = [UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        guard text.utf8.contains(where: special.contains) else { return text }
        return text.quotedDatabaseIdentifier  // quotes around, and those inside doubled
    }
}
