// The decoder for JSON in a column, with errors that name the column, the row and the SQL.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Decodes a nested container from the JSON of a column. Errors name the column, the row and the
// SQL.

struct JSONColumnDecoder: Decoder {
    let decoding: RecordDecoding
    let column: String

    var codingPath: [any CodingKey] { [ColumnKey(column)] }
    var userInfo: [CodingUserInfoKey: Any] { decoding.record.decodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let container = try read(ObjectOfJSON<Key>.self, for: type).container
        return KeyedDecodingContainer(JSONColumnObject(container: container, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        JSONColumnArray(container: try read(ArrayOfJSON.self, for: [Any].self).container, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { JSONColumnValue(decoder: self) }

    fileprivate func read<Value: Decodable>(
        _ type: Value.Type, for expected: (any Any.Type)? = nil
    ) throws -> Value {
        try decoding.withJSON(in: column, expecting: expected ?? type) { try $0.decode(type, from: $1) }
    }

    fileprivate func naming<Result>(_ type: any Any.Type, _ decode: () throws -> Result) throws -> Result {
        try decoding.wrappingErrors(in: column, expecting: type, decode)
    }
}

/// A decodable that captures a keyed container.
private struct ObjectOfJSON<Key: CodingKey>: Decodable {
    let container: KeyedDecodingContainer<Key>
    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Key.self) }
}

/// A decodable that captures an unkeyed container.
private struct ArrayOfJSON: Decodable {
    let container: any UnkeyedDecodingContainer
    init(from decoder: any Decoder) throws { container = try decoder.unkeyedContainer() }
}

private struct JSONColumnValue: SingleValueDecodingContainer {
    let decoder: JSONColumnDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { (try? decoder.read(Int?.self)) == .some(nil) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.read(type) }
}

private struct JSONColumnObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let container: KeyedDecodingContainer<Key>
    let decoder: JSONColumnDecoder

    var codingPath: [any CodingKey] { decoder.codingPath + container.codingPath }
    var allKeys: [Key] { container.allKeys }
    func contains(_ key: Key) -> Bool { container.contains(key) }

    func decodeNil(forKey key: Key) throws -> Bool {
        try decoder.naming(Never.self) { try container.decodeNil(forKey: key) }
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.naming(type) { try container.decode(type, forKey: key) }
    }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let nested = try decoder.naming(type) { try container.nestedContainer(keyedBy: type, forKey: key) }
        return KeyedDecodingContainer(JSONColumnObject<NestedKey>(container: nested, decoder: decoder))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let nested = try decoder.naming([Any].self) { try container.nestedUnkeyedContainer(forKey: key) }
        return JSONColumnArray(container: nested, decoder: decoder)
    }
    func superDecoder() throws -> any Decoder {
        try decoder.naming(Never.self) { try container.superDecoder() }
    }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        try decoder.naming(Never.self) { try container.superDecoder(forKey: key) }
    }
}

private struct JSONColumnArray: UnkeyedDecodingContainer {
    var container: any UnkeyedDecodingContainer
    let decoder: JSONColumnDecoder

    var codingPath: [any CodingKey] { decoder.codingPath + container.codingPath }
    var count: Int? { container.count }
    var isAtEnd: Bool { container.isAtEnd }
    var currentIndex: Int { container.currentIndex }

    mutating func decodeNil() throws -> Bool {
        try decoder.naming(Never.self) { try container.decodeNil() }
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.naming(type) { try container.decode(type) }
    }
    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        let nested = try decoder.naming(type) { try container.nestedContainer(keyedBy: type) }
        return KeyedDecodingContainer(JSONColumnObject<Key>(container: nested, decoder: decoder))
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let nested = try decoder.naming([Any].self) { try container.nestedUnkeyedContainer() }
        return JSONColumnArray(container: nested, decoder: decoder)
    }
    mutating func superDecoder() throws -> any Decoder {
        try decoder.naming(Never.self) { try container.superDecoder() }
    }
}
