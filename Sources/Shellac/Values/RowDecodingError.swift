/// A value that could not be read from a row.
///
/// The message names the column, what was expected, what was found, and the SQL.
public struct RowDecodingError: Error, Sendable {
    /// Why the value could not be read.
    public enum Reason: Sendable, Equatable {
        /// The row has no such column.
        case columnNotFound
        /// The column is NULL, and the type that was asked is not optional.
        case unexpectedNull
        /// The value does not convert: it is of another kind, or out of the bounds of the type that was asked.
        case valueMismatch
    }

    /// Why the value could not be read.
    public let reason: Reason
    /// The name of the column, as it was asked, or else as the row has it.
    public let columnName: String?
    /// The index of the column, where there is one.
    public let columnIndex: Int?
    /// The type that was asked.
    public let expectedType: any Any.Type
    /// What stands in the column, where there is one.
    public let databaseValue: DatabaseValue?
    /// The names of the row's columns.
    public let columnNames: [String]
    /// The SQL of the statement that gave the row, where one did.
    public let sql: String?
}

extension RowDecodingError: CustomStringConvertible {
    public var description: String {
        let column =
            columnName.map { "column \($0.quotedDatabaseIdentifier)" } ?? "column \(columnIndex ?? 0)"
        var sentence =
            switch reason {
            case .columnNotFound:
                columnNames.isEmpty
                    ? "could not read \(expectedType) from \(column): the row has no column"
                    : "could not read \(expectedType) from \(column): "
                        + "the row has the columns \(columnNames.joined(separator: ", "))"
            case .unexpectedNull:
                "could not read \(expectedType) from \(column): it is NULL"
            case .valueMismatch:
                "could not read \(expectedType) from \(column): it holds \(Self.short(databaseValue ?? .null))"
            }
        if let sql { sentence += " - while reading a row of `\(sql)`" }
        return sentence
    }

    /// A value's kind and its beginning: rows may hold megabytes.
    private static func short(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let integer): "the integer \(integer)"
        case .double(let double): "the real number \(double)"
        case .string(let text): "the text \(text.prefix(60).debugDescription)\(text.count > 60 ? "…" : "")"
        case .blob(let data): "a blob of \(data.count) bytes"
        }
    }
}
