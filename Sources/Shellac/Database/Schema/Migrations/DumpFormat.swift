// Text formats for dumping rows, modeled on those of SQLite's command line.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A human-readable format of rows: see ``Database/dumpSQL(_:format:)``.
///
/// The formats are those of SQLite's command line: see "Command Line Shell For SQLite", section
/// "Changing Output Formats".
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .quote)
/// // 1,'Arthur',NULL
/// // 2,'O''Brien',1000
/// ```
public struct DumpFormat: Sendable {
    /// The form of the text.
    enum Form: Hashable, Sendable {
        case list(separator: String)
        case quote(separator: String)
        case debug(separator: String)
        case csv, line, json
    }

    let form: Form
    /// Whether the names of the columns precede the rows.
    var hasHeader = false
    /// The text for NULL.
    var nullText = ""

    init(_ form: Form) { self.form = form }

    /// One row per line, with a bar between the unquoted values: `1|Arthur|`. NULL is empty.
    public static let list = DumpFormat(.list(separator: "|"))

    /// One row per line, with the values as SQL: `1,'Arthur',NULL`.
    public static let quote = DumpFormat(.quote(separator: ","))

    /// The format that other programs read, with a line of names at the top: see RFC 4180. NULL is
    /// empty.
    public static let csv = DumpFormat(.csv)

    /// One value per line, with the name of its column: `name = Arthur`. An empty line separates
    /// two rows.
    public static let line = DumpFormat(.line)

    /// Returns the text before the rows.
    func header(_ columns: [String]) -> String {
        switch form {
        case .csv: columns.map(Self.csvField).joined(separator: ",") + "\r\n"
        case .list(let separator) where hasHeader, .debug(let separator) where hasHeader:
            columns.joined(separator: separator) + "\n"
        case .quote(let separator) where hasHeader:
            columns.map(\.quotedDatabaseLiteral).joined(separator: separator) + "\n"
        case .json: "["
        case .list, .quote, .line, .debug: ""
        }
    }

    /// Returns the text of one row.
    func text(_ row: Row, isFirst: Bool) -> String {
        let values = row.databaseValues
        switch form {
        case .list(let separator): return values.map(plainText).joined(separator: separator) + "\n"
        case .debug(let separator): return values.map(debugText).joined(separator: separator) + "\n"
        case .quote(let separator): return values.map(\.sqlLiteral).joined(separator: separator) + "\n"
        case .csv: return values.map { Self.csvField(plainText($0)) }.joined(separator: ",") + "\r\n"
        case .json:
            let members = zip(row.columnNames, values).map { "\(jsonText($0)):\(jsonText($1))" }
            return (isFirst ? "" : ",\n") + "{\(members.joined(separator: ","))}"
        case .line:
            let names = Array(row.columnNames)
            let width = names.map(\.count).max() ?? 0
            let lines = zip(names, values).map { name, value in
                String(repeating: " ", count: width - name.count) + "\(name) = \(plainText(value))\n"
            }
            return (isFirst ? "" : "\n") + lines.joined()
        }
    }

    /// The text after the rows.
    var footer: String { form == .json ? "]\n" : "" }

    /// Returns a value without quotes. Bytes that are not a valid string are written as SQL.
    private func plainText(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: nullText
        case .int64(let integer): "\(integer)"
        case .double: value.sqlLiteral
        case .string(let text): text
        case .blob(let bytes): String(validating: bytes, as: UTF8.self) ?? value.sqlLiteral
        }
    }

    /// Returns a value for debugging. Sixteen bytes that are not a valid string are written as a
    /// UUID.
    private func debugText(_ value: DatabaseValue) -> String {
        if case .blob(let bytes) = value.storage, bytes.count == 16,
            String(validating: bytes, as: UTF8.self) == nil, let id = UUID.fromDatabaseValue(value)
        {
            return id.uuidString
        }
        return plainText(value)
    }

    private static func csvField(_ text: String) -> String {
        // Compare bytes: a line break followed by a combining accent is a single character.
        let special = [UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        guard text.utf8.contains(where: special.contains) else { return text }
        return text.quotedDatabaseIdentifier  // adds quotes and doubles those inside
    }

    // MARK: - JSON

    /// Returns a value as JSON. Bytes become a base64 string, and a number that JSON cannot
    /// represent becomes a string.
    private func jsonText(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let integer): "\(integer)"
        case .double(let double):
            double.isFinite ? "\(double)" : jsonText(double < 0 ? "-inf" : "inf")
        case .string(let text): jsonText(text)
        case .blob(let bytes): jsonText(bytes.base64EncodedString())
        }
    }

    private func jsonText(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}

extension DumpFormat: Hashable {}

extension DumpFormat: CaseIterable {
    /// The formats of rows, without options.
    public static var allCases: [DumpFormat] { [.list, .quote, .csv, .line] }
}

// MARK: - With options

extension DumpFormat {
    /// The format for debugging. It is like ``list``, but sixteen bytes that are not a valid string
    /// are written as a UUID.
    ///
    /// - Parameters:
    ///   - header: Whether the names of the columns precede the rows.
    ///   - separator: The text between two values.
    ///   - nullValue: The text for NULL.
    public static func debug(
        header: Bool = false, separator: String = "|", nullValue: String = ""
    ) -> DumpFormat {
        var format = DumpFormat(.debug(separator: separator))
        (format.hasHeader, format.nullText) = (header, nullValue)
        return format
    }

    /// An array of objects, one per line. Blobs are base64 strings.
    public static func json() -> DumpFormat { DumpFormat(.json) }

    /// One row per line, with a separator between the unquoted values.
    ///
    /// - Parameters:
    ///   - header: Whether the names of the columns precede the rows.
    ///   - separator: The text between two values.
    ///   - nullValue: The text for NULL.
    public static func list(
        header: Bool = false, separator: String = "|", nullValue: String = ""
    ) -> DumpFormat {
        var format = DumpFormat(.list(separator: separator))
        (format.hasHeader, format.nullText) = (header, nullValue)
        return format
    }

    /// One value per line, with the name of its column.
    ///
    /// - Parameter nullValue: The text for NULL.
    public static func line(nullValue: String = "") -> DumpFormat {
        var format = DumpFormat(.line)
        format.nullText = nullValue
        return format
    }

    /// One row per line, with the values as SQL.
    ///
    /// - Parameters:
    ///   - header: Whether the names of the columns precede the rows.
    ///   - separator: The text between two values.
    public static func quote(header: Bool = false, separator: String = ",") -> DumpFormat {
        var format = DumpFormat(.quote(separator: separator))
        format.hasHeader = header
        return format
    }
}
