/// Decodes records from rows, by their `Decodable` conformance.
///
/// ```swift
/// let player = try FetchableRecordDecoder().decode(Player.self, from: row)
/// ```
///
/// A `Decodable` record that implements `init(row:)` can decode itself with it, and continue from
/// there. The strategies of the type apply.
public struct FetchableRecordDecoder: Sendable {
    /// Makes a decoder. It has no state, and can decode any number of records.
    public init() {}

    /// Decodes a record.
    ///
    /// - Parameters:
    ///   - type: The type of the record. Its `init(from:)` is called, even if the type has an
    ///     `init(row:)` of its own.
    ///   - row: The row. Columns that the type does not read are ignored.
    /// - Throws: a ``RowDecodingError``, a `DecodingError`, or any error that the type's own code
    ///   throws.
    public func decode<Record: FetchableRecord & Decodable>(_ type: Record.Type, from row: Row) throws
        -> Record
    {
        try Record(from: RecordDecoder(decoding: RecordDecoding(row: row, record: type)))
    }
}
