/// A value that could not be read from a row.
///
/// The message names the column, what was expected, what was found, and the SQL; of an enum, the values that it has, ten at the most.
public struct RowDecodingError: Error, Sendable {
    /// The reason why the value could not be read.
    public enum Reason: Sendable, Equatable {
        /// The row has no such column.
        case columnNotFound
        /// The column is NULL, and the type that was asked is not optional; or no row of another table was joined.
        case unexpectedNull
        /// The value does not convert: it is of another kind, or out of the bounds of the type that was asked, or
        /// its JSON does not decode.
        case valueMismatch
    }

    /// The reason why the value could not be read.
    public let reason: Reason
    /// The name of the column, as it was asked, or else as the row has it.
    public let columnName: String?
    /// The index of the column, where there is one.
    public let columnIndex: Int?
    /// The type that was asked.
    public let expectedType: any Any.Type
    /// The value in the column, where there is one.
    public let databaseValue: DatabaseValue?
    /// The row: the names of its columns, and its values.
    public let row: [(name: String, value: DatabaseValue)]
    /// The SQL of the statement that gave the row, where one did.
    public let sql: String?
    /// The error that the decoding of the value has thrown, where it was decoded: of JSON, as a rule.
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
    /// The value as an SQL literal, unless it is too long for people: rows may hold megabytes.
    var shortLiteral: String {
        switch storage {
        case .blob(let data) where data.count > 32: "\(self)"
        case .string(let text) where text.prefix(200).endIndex < text.endIndex: "'\(text.prefix(200))…'"
        default: sqlLiteral
        }
    }

    /// Returns the values of a row, with the names of their columns.
    static func description(of row: some Sequence<(name: String, value: DatabaseValue)>) -> String {
        "[\(row.map { "\($0.name): \($0.value.shortLiteral)" }.joined(separator: ", "))]"
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
