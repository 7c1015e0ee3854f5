/// The columns of an `Encodable` record, by its coding keys.
///
/// Every encoded key is a column, even if its value is nil, so all records of a type have the same
/// columns.
struct RecordEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: RunningEncoding<RecordEncoding>

    var codingPath: [any CodingKey] { [] }

    @inline(__always)
    private func store<Value: DatabaseValueConvertible>(_ value: Value?, _ key: Key) {
        let encoding = encoding.pointer
        encoding.pointee.values.container.store(value, in: encoding.pointee.column(key))
    }

    private func node(_ key: Key) -> JSONNode {
        let encoding = encoding.pointer
        return encoding.pointee.node(of: encoding.pointee.column(key))
    }

    // MARK: - Values of any type

    func encodeNil(forKey key: Key) { store(DatabaseValue.null, key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let encoding = encoding.pointer
        if encoding.pointee.isRegistrar(key) { return }
        try encoding.pointee.values.encode(value, in: encoding.pointee.column(key))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeConditional<Object: AnyObject & Encodable>(_ object: Object, forKey key: Key) throws {
        try encode(object, forKey: key)
    }

    // MARK: - Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        // A key type without a `super` key still has such a column.
        if let key = Key(stringValue: "super") { return superEncoder(forKey: key) }
        let encoding = encoding.pointer
        return JSONNodeEncoder(node: encoding.pointee.node(of: encoding.pointee.column(ColumnKey("super"))))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        JSONNodeEncoder(node: node(key))
    }

    // MARK: - The standard types
    //
    // Each type has its own methods, so that nothing is cast.

    func encode(_ value: Bool, forKey key: Key) { store(value, key) }
    func encode(_ value: String, forKey key: Key) { store(value, key) }
    func encode(_ value: Double, forKey key: Key) { store(value, key) }
    func encode(_ value: Float, forKey key: Key) { store(value, key) }
    func encode(_ value: Int, forKey key: Key) { store(value, key) }
    func encode(_ value: Int8, forKey key: Key) { store(value, key) }
    func encode(_ value: Int16, forKey key: Key) { store(value, key) }
    func encode(_ value: Int32, forKey key: Key) { store(value, key) }
    func encode(_ value: Int64, forKey key: Key) { store(value, key) }
    func encode(_ value: UInt, forKey key: Key) { store(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { store(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { store(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { store(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { store(value, key) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { store(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { store(value, key) }
}
