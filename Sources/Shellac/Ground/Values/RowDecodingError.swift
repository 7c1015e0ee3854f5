/// The error for a value that could not be read from a row.
///
/// The message names the column, the expected type, the value found, and the SQL. For an enum, it
/// lists the valid values, at most ten.
public struct RowDecodingError: Error, Sendable {
    /// The reason why the value could not be read.
    public enum Reason: Sendable, Equatable {
        /// The row has no such column.
        case columnNotFound
        /// The column is NULL, and the requested type is not optional. Or no row of another table
        /// was joined.
        case unexpectedNull
        /// The value does not convert. It is of another kind, or out of the bounds of the requested
        /// type, or its JSON does not decode.
        case valueMismatch
    }

    /// The reason why the value could not be read.
    public let reason: Reason
    /// The name of the column as it was requested, or else as the row has it.
    public let columnName: String?
    /// The index of the column, if there is one.
    public let columnIndex: Int?
    /// The requested type.
    public let expectedType: any Any.Type
    /// The value in the column, if there is one.
    public let databaseValue: DatabaseValue?
    /// The row: the names of its columns, and its values.
    public let row: [(String, DatabaseValue)]
    /// The SQL of the statement that returned the row, if there was one.
    public let sql: String?
    /// The error thrown by the decoding of the value, usually of JSON.
    public internal(set) var underlyingError: (any Error)?
}

extension RowDecodingError: CustomStringConvertible {
    public var description: String {
        let column =
            columnName.map { "column \($0.quotedDatabaseIdentifier)" } ?? "column \(columnIndex ?? 0)"
        let reason =
            switch reason {
            case .columnNotFound: "there is no such column"
            case .unexpectedNull: "it is NULL"
            case .valueMismatch: "it holds \((databaseValue ?? .null).kindAndLiteral)"
            }
        var sentence = "could not read \(expectedType) from \(column): \(reason)"
        sentence += " - in the row \(DatabaseValue.description(of: row))"
        if let sql { sentence += " of `\(sql)`" }
        if self.reason == .valueMismatch, let cases = CaseValues(expectedType) {
            sentence += " - \(cases.sentence)"
        }
        if let underlyingError { sentence += " - \(underlyingError)" }
        return sentence
    }
}

extension DatabaseValue {
    /// The value as an SQL literal, shortened if it is too long to read: rows may hold megabytes.
    var shortLiteral: String {
        switch storage {
        case .blob(let data) where data.count > 32: "\(self)"
        case .string(let text) where text.prefix(200).endIndex < text.endIndex: "'\(text.prefix(200))…'"
        default: sqlLiteral
        }
    }

    /// Returns a description of a row: its values with the names of their columns.
    static func description(of row: some Sequence<(String, DatabaseValue)>) -> String {
        "[\(row.map { "\($0): \($1.shortLiteral)" }.joined(separator: ", "))]"
    }

    fileprivate var kindAndLiteral: String {
        switch storage {
        case .null: "NULL"
        case .int64: "the integer \(shortLiteral)"
        case .double: "the real number \(shortLiteral)"
        case .string: "the text \(shortLiteral)"
        case .blob: "the blob \(shortLiteral)"
        }
    }
}
