/// Reads a row into an existing record whose class leaves its columns to `Codable`.
///
/// A second record decodes itself from the row with the synthesized code, which requests each of
/// its keys. If the row has the column, the decoder returns the row's value. If the row lacks it,
/// the decoder returns the value of the first record. So a row that lacks columns can be decoded
/// without default values.
///
/// Then the properties that the row had are copied to the first record, one by one, and the second
/// record is freed. If anything throws, the first record is unchanged.
final class InPlaceDecoding {
    fileprivate let decoding: RecordDecoding
    private let record: Record
    fileprivate let coded: CodedClass
    private let properties: CodedProperties
    /// The properties for which the row had a column.
    private var told: [StoredProperty] = []
    /// The reason why nothing is set. It is kept because a hand-written `init(from:)` may swallow
    /// an error.
    private var refusal: CodingRefusal?

    private init(_ row: Row, _ record: Record, _ coded: CodedClass, _ properties: CodedProperties) {
        decoding = RecordDecoding(row: row, record: coded.type)
        self.record = record
        self.coded = coded
        self.properties = properties
    }

    /// Sets the properties that have a column in a row.
    ///
    /// - Returns: Whether there were any, and the second record.
    /// - Throws: a ``CodingRefusal`` if the class does not code its properties as Swift synthesizes
    ///   it, and any error that its `init(from:)` throws. Then no property was set.
    @discardableResult
    static func read(_ row: Row, into record: Record, _ coded: CodedClass) throws -> (
        isTold: Bool, twin: Record
    ) {
        let properties = try coded.settableProperties()
        let decoding = InPlaceDecoding(row, record, coded, properties)
        let twin: Record
        do {
            twin = try coded.coder.decode(InPlaceDecoder(decoding: decoding))
        } catch {
            throw decoding.refusal ?? error
        }
        if let refusal = decoding.refusal { throw refusal }
        properties.assign(decoding.told, from: twin, to: record)
        return (!decoding.told.isEmpty, twin)
    }

    fileprivate func refuse(_ reason: String) -> CodingRefusal {
        let refusal = refusal ?? CodingRefusal(coded.type, reason)
        self.refusal = refusal
        return refusal
    }

    /// Returns the column of a key. Nil if the row lacks it.
    fileprivate func column<Key: CodingKey, Value>(of key: Key, as type: Value.Type) throws -> String? {
        let property: StoredProperty
        do {
            property = try properties.assignableProperty(for: key, of: type)
        } catch let error as CodingRefusal {
            refusal = refusal ?? error
            throw error
        }
        let column = coded.column(of: key, in: decoding.row)
        guard decoding.row.hasColumn(column) else { return nil }
        told.append(property)
        return column
    }

    /// Returns the value that the record itself has. Nil if it is of another type, which is then an
    /// optional.
    fileprivate func present<Key: CodingKey, Value>(_ key: Key, as type: Value.Type) throws -> Value? {
        try properties.assignableProperty(for: key, of: type).value(as: type, in: record)
    }
}

private struct InPlaceDecoder: Decoder, ColumnCoder {
    let decoding: InPlaceDecoding

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { decoding.decoding.record.decodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(InPlaceContainer(place: decoding))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw decoding.refuse("decodes itself from an array")
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw decoding.refuse("decodes itself from a single value")
    }
}

private struct InPlaceContainer<Key: CodingKey>: RecordDecodingContainer {
    let place: InPlaceDecoding

    var decoding: RecordDecoding { place.decoding }
    func column(_ key: Key) -> String { place.coded.column(of: key, in: decoding.row) }

    func read<Value: DatabaseValueConvertible>(_ key: Key) throws -> Value {
        if let column = try place.column(of: key, as: Value.self) { return try decoding.row[column] }
        if let value = try place.present(key, as: Value.self) { return value }
        return try decoding.row.missingValue(column(key), at: nil)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if let column = try place.column(of: key, as: type) { return try decoding.decode(type, in: column) }
        if let value = try place.present(key, as: type) { return value }
        return try decoding.decode(type, in: column(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        // If the row lacks the column, the returned value is not copied.
        guard let column = try place.column(of: key, as: type) else {
            return try place.present(key, as: type)
        }
        return try decoding.decodeIfPresent(type, in: column)
    }

    // The synthesized coding of a class does none of these.

    private var byHand: String { "decodes a nested container, or asks for its keys" }

    var allKeys: [Key] {
        _ = place.refuse(byHand)
        return []
    }
    func contains(_ key: Key) -> Bool {
        _ = place.refuse(byHand)
        return decoding.row.hasColumn(column(key))
    }
    func decodeNil(forKey key: Key) -> Bool {
        _ = place.refuse(byHand)
        return decoding.row.databaseValue(named: column(key))?.isNull ?? true
    }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw place.refuse(byHand) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw place.refuse(byHand)
    }
    func superDecoder() throws -> any Decoder { throw place.refuse(byHand) }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw place.refuse(byHand) }
}
