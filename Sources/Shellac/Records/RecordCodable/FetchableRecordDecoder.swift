/// Decodes records from rows, by their `Decodable` conformance.
///
/// ```swift
/// let player = try FetchableRecordDecoder().decode(Player.self, from: row)
/// ```
///
/// A `Decodable` record that implements `init(row:)` can so decode itself, and go on from there. The strategies of the type apply.
public struct FetchableRecordDecoder: Sendable {
    /// Makes a decoder. It keeps nothing, and can decode any number of records.
    public init() {}

    /// Decodes a record.
    ///
    /// - Parameters:
    ///   - type: The type of the record. Its `init(from:)` is called, also where it has an `init(row:)` of its own.
    ///   - row: The row. Columns that the type does not read are ignored.
    /// - Throws: a ``RowDecodingError``, a `DecodingError`, or what the type's own code throws.
    public func decode<Record: FetchableRecord & Decodable>(_ type: Record.Type, from row: Row) throws
        -> Record
    {
        try Record(from: RecordDecoder(decoding: RecordDecoding(row: row, record: type)))
    }
}
