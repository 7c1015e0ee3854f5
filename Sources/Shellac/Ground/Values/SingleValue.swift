// Codable values that are encoded and decoded as a single value: see CodableValues.swift.

/// The encoding of a value that may encode itself as a single value.
final class SingleValueEncoding {
    fileprivate var value: DatabaseValue?
    fileprivate var needsJSON = false

    /// Returns the single value that a value encodes itself as, in the form that a column stores.
    /// Returns nil if the value requests a keyed or unkeyed container: its encoding is stopped
    /// there.
    static func value(of encodable: some Encodable) throws -> DatabaseValue? {
        let encoding = SingleValueEncoding()
        do {
            try encodable.encode(to: SingleValueEncoder(encoding: encoding))
        } catch {
            guard encoding.needsJSON else { throw error }
        }
        return encoding.needsJSON ? nil : encoding.value
    }
}

/// The error for a value that requests containers. Such a value is encoded elsewhere.
private struct Refusal: Error {}

private struct SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    let encoding: SingleValueEncoding

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoding.needsJSON = true
        return KeyedEncodingContainer(RefusingObject(encoder: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.needsJSON = true
        return RefusingArray(encoder: self)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { encoding.value = .null }

    func encode(_ value: some Encodable) throws {
        if encoding.needsJSON { throw Refusal() }
        if let convertible = value as? any DatabaseValueConvertible {
            encoding.value = convertible.databaseValue
        } else {
            try value.encode(to: self)
        }
    }
}

private struct RefusingObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw Refusal() }
    func encode(_ value: some Encodable, forKey key: Key) throws { throw Refusal() }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.container(keyedBy: keyType)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.unkeyedContainer()
    }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct RefusingArray: UnkeyedEncodingContainer {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw Refusal() }
    func encode(_ value: some Encodable) throws { throw Refusal() }
    func nestedContainer<Key: CodingKey>(keyedBy keyType: Key.Type) -> KeyedEncodingContainer<Key> {
        encoder.container(keyedBy: keyType)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder }
}

/// A decoder for a value that encodes itself as a single value. It contains the value of a column.
struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: DatabaseValue

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw Refusal()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let convertible = type as? any DatabaseValueConvertible.Type else {
            return try type.init(from: self)
        }
        return try convert(convertible, to: type)
    }

    private func convert<Convertible: DatabaseValueConvertible, Value>(
        _ convertible: Convertible.Type, to type: Value.Type
    ) throws -> Value {
        guard let converted = Convertible.fromDatabaseValue(value) else {
            throw DecodingError.typeMismatch(
                type, DecodingError.Context(codingPath: [], debugDescription: "\(value) is not a \(type)"))
        }
        // Only the static type differs. (A cast would unwrap optionals.)
        return unsafeBitCast(converted, to: type)
    }
}

extension SingleValueDecoder {
    /// Returns the type of the single value that a type decodes itself from. Returns nil if it
    /// requests anything else first.
    static func wrappedType(of type: any Decodable.Type) -> (any Any.Type)? {
        let probe = SingleValueProbe()
        _ = try? type.init(from: probe)
        return probe.type
    }
}

/// A decoder that notes the first type that is decoded.
private final class SingleValueProbe: Decoder, SingleValueDecodingContainer {
    var type: (any Any.Type)?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw Refusal()
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if self.type == nil { self.type = type }
        throw Refusal()
    }
}
