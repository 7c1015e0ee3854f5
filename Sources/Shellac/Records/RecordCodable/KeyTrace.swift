/// Finds out which properties a record codes, without encoding a value.
///
/// This works at the first save, when there is no row to decode. Synthesized coding names each key,
/// in the order of the keys, even if its value is nil.
final class KeyTrace {
    /// A value that is encoded for a key.
    struct Coded {
        let column: String
        let type: any Any.Type
        /// The property of the key. Nil if the key names no stored property.
        let property: StoredProperty?
    }

    private let coded: CodedClass
    private(set) var columns: [Coded] = []
    /// Whether a key names no stored property, or no key is used.
    private(set) var isByHand = false

    /// - Throws: any error that the record's `encode(to:)` throws.
    init(_ record: Record, _ coded: CodedClass) throws {
        self.coded = coded
        try coded.coder.encode(record, to: TracingEncoder(trace: self))
    }

    fileprivate func note<Key: CodingKey, Value>(_ key: Key, _ type: Value.Type) {
        if coded.isRegistrar(key) { return }
        let property = try? coded.properties?.property(for: key, of: type)
        if property == nil { isByHand = true }
        columns.append(
            Coded(
                column: coded.type.databaseColumnEncodingStrategy.column(for: coded.plainKey(key)),
                type: property?.type ?? type, property: property))
    }

    fileprivate func noteNoKey() { isByHand = true }
}

private struct TracingEncoder: Encoder, ColumnCoder {
    let trace: KeyTrace

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(TracingContainer(trace: trace))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        trace.noteNoKey()
        return JSONNode().unkeyedContainer()
    }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        trace.noteNoKey()
        return JSONNode().singleValueContainer()
    }
}

private struct TracingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let trace: KeyTrace

    var codingPath: [any CodingKey] { [] }

    private func note<Value>(_ type: Value.Type, _ key: Key) { trace.note(key, type) }

    func encodeNil(forKey key: Key) { note(DatabaseValue.self, key) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { note(Value.self, key) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) { note(Value.self, key) }

    // The standard types have methods of their own, whose default implementations drop nil.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { note(Bool.self, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { note(String.self, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { note(Double.self, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { note(Float.self, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { note(Int.self, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { note(Int8.self, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { note(Int16.self, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { note(Int32.self, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { note(Int64.self, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) { note(Int128.self, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { note(UInt.self, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { note(UInt8.self, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { note(UInt16.self, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { note(UInt32.self, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { note(UInt64.self, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) { note(UInt128.self, key) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        note(DatabaseValue.self, key)
        return JSONNode().container(keyedBy: keyType)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        note(DatabaseValue.self, key)
        return JSONNode().unkeyedContainer()
    }
    func superEncoder() -> any Encoder {
        trace.noteNoKey()
        return JSONNodeEncoder(node: JSONNode())
    }
    func superEncoder(forKey key: Key) -> any Encoder {
        note(DatabaseValue.self, key)
        return JSONNodeEncoder(node: JSONNode())
    }
}
