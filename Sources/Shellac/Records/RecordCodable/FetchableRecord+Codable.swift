// Reads a Decodable record from a row, with the general decoder if no faster one applies.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FetchableRecord where Self: Decodable {
    /// Reads the properties of the type, each from its column. An optional property is nil if the
    /// column is NULL or missing.
    ///
    /// - Parameter row: The row. Columns that the type does not read are ignored.
    /// - Throws: a ``RowDecodingError`` if a column is missing, NULL, or holds a value or JSON that
    ///   does not convert. Also any error that the type itself throws.
    public init(row: Row) throws {
        if row.isLive, row.live.beginDecoding(Self.self) {
            defer { row.live.endDecoding() }
            try self.init(from: LiveRecordDecoder(row.live))
        } else {
            try self.init(from: RecordDecoder(decoding: RecordDecoding(row: row, record: Self.self)))
        }
    }
}

extension RecordDecoding {
    /// Returns a decoder of the JSON in a column.
    func jsonDecoder(in column: String) throws -> any Decoder {
        JSONColumnDecoder(decoding: self, column: column)
    }
}

// MARK: - The decoder

/// The decoder that a record decodes itself from, if no faster one is available.
struct RecordDecoder: Decoder, ColumnCoder {
    let decoding: RecordDecoding
    /// The keys of the properties that the row is decoded for.
    var codingPath: [any CodingKey] = []

    var userInfo: [CodingUserInfoKey: Any] { decoding.record.decodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowDecodingContainer(decoding: decoding, codingPath: codingPath))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.typeMismatch(
            decoding.record,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription:
                    "a \(decoding.record) decodes itself from an array, and a row is none: implement init(row:)"
            ))
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { WholeRow(decoder: self) }
}

/// A row as a single value: another value of the same columns, or the value in the first column.
private struct WholeRow: SingleValueDecodingContainer {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { !decoder.decoding.row.containsNonNullValue }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoding = decoder.decoding
        if type is any DatabaseValueConvertible.Type, let column = decoding.row.columnNames.first {
            return try decoding.decode(type, in: column)
        }
        return try decoding.decodeRow(decoding.row, as: type, of: decoder.codingPath)
    }
}
