/// The decoder of a value that is not a ``DatabaseValueConvertible``, from one column.
///
/// A value that decodes itself from a single value, such as an enum with raw values, gets the
/// column's value. Any other value requests a keyed or unkeyed container. Its decoding is stopped
/// there, and begins again from JSON.
struct SingleDecoder: Decoder, SingleValueDecodingContainer {
    let decoding: RecordDecoding
    let column: String

    private struct NeedsJSON: Error {}

    /// Decodes a value.
    func decodeValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try type.init(from: self)
        } catch is NeedsJSON {
            return try decoding.withJSON(in: column, expecting: type) { try $0.decode(type, from: $1) }
        } catch {
            throw decoding.error(error, in: column, expecting: type)
        }
    }

    var codingPath: [any CodingKey] { [ColumnKey(column)] }
    var userInfo: [CodingUserInfoKey: Any] { decoding.record.decodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw NeedsJSON()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NeedsJSON() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { decoding.row.databaseValue(named: column)?.isNull ?? true }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoding.decode(type, in: column)
    }
}
