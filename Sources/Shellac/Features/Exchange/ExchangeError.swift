/// An error in imported data, or in data that cannot be exported.
///
/// ```swift
/// catch let error as ExchangeError {
///     print(error)    // row 3 (line 4), column "score": there are 2 values for 3 columns
/// }
/// ```
public struct ExchangeError: Error, Sendable {
    /// The number of the row in the data, from 1 on, without the header. Nil if the error concerns
    /// no row.
    public let row: Int?

    /// The number of the line in which the row begins, from 1 on.
    public let line: Int?

    /// The column, by its name in the data.
    public let column: String?

    /// The description of the error.
    public let message: String

    /// The error with which a row was refused, by the table (a ``DatabaseError``), or by a record.
    public let underlyingError: (any Error)?

    init(
        row: Int? = nil, line: Int? = nil, column: String? = nil, _ message: String,
        underlyingError: (any Error)? = nil
    ) {
        (self.row, self.line, self.column) = (row, line, column)
        (self.message, self.underlyingError) = (message, underlyingError)
    }
}

extension ExchangeError: CustomStringConvertible {
    public var description: String {
        let place =
            line.map { line in row.map { "row \($0) (line \(line))" } ?? "line \(line)" }
            ?? row.map { "row \($0)" }
        let parts = [place, column.map { "column \"\($0)\"" }].compactMap { $0 }
        return parts.isEmpty ? message : "\(parts.joined(separator: ", ")): \(message)"
    }
}
