/// The encoding of a value that is not a ``DatabaseValueConvertible``, in one column.
///
/// A value that encodes itself as a single value, such as an enum with raw values, is stored as
/// that value. Any other value requests a keyed or unkeyed container. Its encoding is stopped at
/// the first step, and begins again as JSON.
struct SingleEncoding: ~Copyable {
    let values: UnsafePointer<ValueEncoding>
    let column: String
    fileprivate var isStored = false
    fileprivate var needsJSON = false

    /// Encodes a value.
    static func encode(_ value: some Encodable, in column: String, by values: borrowing ValueEncoding) throws
    {
        try withUnsafePointer(to: values) { values in
            var encoding = SingleEncoding(values: values, column: column)
            do {
                try withUnsafeMutablePointer(to: &encoding) { encoding in
                    try RunningEncoding.run(encoding) { try value.encode(to: SingleEncoder(encoding: $0)) }
                }
            } catch {
                guard encoding.needsJSON else { throw error }
            }
            if encoding.needsJSON || !encoding.isStored {
                try values.pointee.storeJSON(value, in: column)
            }
        }
    }

    private init(values: UnsafePointer<ValueEncoding>, column: String) {
        (self.values, self.column) = (values, column)
    }
}

/// The encoder that a value encodes itself to. It is valid for the duration of the encoding.
private struct SingleEncoder: Encoder, SingleValueEncodingContainer {
    let encoding: RunningEncoding<SingleEncoding>

    var codingPath: [any CodingKey] { [ColumnKey(encoding.pointer.pointee.column)] }
    var userInfo: [CodingUserInfoKey: Any] { encoding.pointer.pointee.values.pointee.record.encodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoding.pointer.pointee.needsJSON = true
        return JSONNode.refusing.container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.pointer.pointee.needsJSON = true
        return JSONNode.refusing.unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {
        let encoding = encoding.pointer
        encoding.pointee.values.pointee.container.store(DatabaseValue.null, in: encoding.pointee.column)
        encoding.pointee.isStored = true
    }

    func encode(_ value: some Encodable) throws {
        let encoding = encoding.pointer
        try encoding.pointee.values.pointee.encode(value, in: encoding.pointee.column)
        encoding.pointee.isStored = true
    }
}
