#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EncodableRecord where Self: Encodable {
    /// Encodes the properties of the type, each in its column. A nil is NULL.
    ///
    /// - Throws: what the encoding of a property throws, and an `EncodingError` when the type encodes itself as
    ///   a single value or an array, which have no columns.
    public func encode(to container: inout PersistenceContainer) throws {
        try RecordEncoding.encode(self, as: Self.self, in: &container)
    }
}

/// One encoding of an `Encodable` record.
///
/// The record gets an encoder that points here, and stores its properties, one by one, in the persistence container.
/// Nested containers, which are filled once they were given out, wait until the record has encoded itself.
struct RecordEncoding: ~Copyable {
    let container: PersistenceContainer
    let record: any EncodableRecord.Type
    let strategy: DatabaseColumnEncodingStrategy
    let usesDefaultKeys: Bool
    /// The class of the record, where it leaves its columns to `Codable`.
    private let coded: CodedClass?
    private var nested: [(column: String, node: JSONNode)] = []
    fileprivate(set) var isNotKeyed = false

    @inline(__always)
    static func encode(
        _ value: some Encodable, as record: any EncodableRecord.Type,
        in container: inout PersistenceContainer, _ coded: CodedClass? = nil
    ) throws {
        var encoding = RecordEncoding(PersistenceContainer(container.encoding), record, coded)
        try withUnsafeMutablePointer(to: &encoding) { encoding in
            try RunningEncoding.run(encoding) { try value.encode(to: RecordEncoder(encoding: $0)) }
        }
        if encoding.isNotKeyed { throw encoding.notKeyedError(value) }
        for (column, node) in encoding.nested { try encoding.storeJSON(node, in: column) }
    }

    init(
        _ container: consuming PersistenceContainer, _ record: any EncodableRecord.Type,
        _ coded: CodedClass? = nil
    ) {
        self.container = container
        self.record = record
        self.coded = coded
        if let coded, coded.usesDefaultEncodingKeys {
            (strategy, usesDefaultKeys) = (.useDefaultKeys, true)
        } else {
            strategy = record.databaseColumnEncodingStrategy
            usesDefaultKeys = strategy.usesDefaultKeys && coded?.isObserved != true
        }
    }

    private func notKeyedError(_ value: Any) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [],
                debugDescription:
                    "a \(record) encodes itself as a single value or an array, which have no columns: "
                    + "implement encode(to: inout PersistenceContainer)"))
    }

    /// The column of a key.
    @inline(__always)
    func column(_ key: some CodingKey) -> String {
        usesDefaultKeys ? key.stringValue : convertedColumn(key)
    }

    @inline(never)
    private func convertedColumn(_ key: some CodingKey) -> String {
        guard let coded else { return strategy.column(for: key) }
        return strategy.column(for: coded.plainKey(key))
    }

    /// Whether a key stands for what keeps those who observe the record, and is no column.
    @inline(__always)
    func isRegistrar(_ key: some CodingKey) -> Bool { !usesDefaultKeys && coded?.isRegistrar(key) == true }

    /// What a nested container of a column is gathered in.
    mutating func node(of column: String) -> JSONNode {
        if let known = nested.first(where: { $0.column == column }) { return known.node }
        let node = JSONNode()
        nested.append((column, node))
        return node
    }

    // MARK: - Values

    /// Stores a value of any type.
    func encode<Value: Encodable>(_ value: Value, in column: String) throws {
        // The types that most records have come first: a cast costs more than all of these comparisons.
        if Value.self == Date.self {
            store(unsafeBitCast(value, to: Date.self), in: column)
        } else if Value.self == Data.self {
            try store(unsafeBitCast(value, to: Data.self), in: column)
        } else if Value.self == UUID.self {
            store(unsafeBitCast(value, to: UUID.self), in: column)
        } else if let optional = value as? any EncodableOptional {
            try optional.encode(in: column, by: self)
        } else if let convertible = value as? any DatabaseValueConvertible {
            storeConvertible(convertible, in: column)
        } else {
            try SingleEncoding.encode(value, in: column, by: self)
        }
    }

    /// Stores a date, data or a UUID, or an optional one.
    func encodeByStrategy(_ value: some DatabaseValueConvertible, in column: String) throws {
        if let date = value as? Date {
            store(date, in: column)
        } else if let data = value as? Data {
            try store(data, in: column)
        } else if let uuid = value as? UUID {
            store(uuid, in: column)
        } else {
            container.store(value, in: column)
        }
    }

    private func store(_ date: Date, in column: String) {
        let strategy = record.databaseDateEncodingStrategy(for: column)
        if case .deferredToDate = strategy {
            container.store(date, in: column)
        } else {
            container.store(strategy.value(for: date), in: column)
        }
    }

    private func store(_ data: Data, in column: String) throws {
        let strategy = record.databaseDataEncodingStrategy(for: column)
        if case .deferredToData = strategy { return container.store(data, in: column) }
        guard let value = strategy.value(for: data) else {
            throw EncodingError.invalidValue(
                data,
                EncodingError.Context(
                    codingPath: [ColumnKey(column)],
                    debugDescription: "the data of the column \(column) is no UTF-8 text"))
        }
        container.store(value, in: column)
    }

    private func store(_ uuid: UUID, in column: String) {
        let strategy = record.databaseUUIDEncodingStrategy(for: column)
        if case .deferredToUUID = strategy {
            container.store(uuid, in: column)
        } else {
            container.store(strategy.value(for: uuid), in: column)
        }
    }

    private func storeConvertible(_ value: some DatabaseValueConvertible, in column: String) {
        container.store(value, in: column)
    }

    /// Stores a value as JSON.
    func storeJSON(_ value: some Encodable, in column: String) throws {
        let json: Data
        do {
            json = try record.databaseJSONEncoder(for: column).encode(value)
        } catch EncodingError.invalidValue(let invalid, let context) {
            throw EncodingError.invalidValue(
                invalid,
                EncodingError.Context(
                    codingPath: [ColumnKey(column)] + context.codingPath,
                    debugDescription: context.debugDescription, underlyingError: context.underlyingError))
        }
        container.store(String(decoding: json, as: UTF8.self), in: column)
    }
}

/// An optional, which a cast finds.
private protocol EncodableOptional {
    func encode(in column: String, by encoding: borrowing RecordEncoding) throws
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    fileprivate func encode(in column: String, by encoding: borrowing RecordEncoding) throws {
        if let self {
            try encoding.encode(self, in: column)
        } else {
            encoding.container.store(DatabaseValue.null, in: column)
        }
    }
}

/// The name of a column, or a place in an array, in a coding path.
struct ColumnKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

// MARK: - The encoder

/// What an `Encodable` record encodes itself to. It is good for the duration of the encoding.
private struct RecordEncoder: Encoder, ColumnCoder {
    let encoding: RunningEncoding<RecordEncoding>

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { encoding.pointer.pointee.record.encodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RecordEncodingContainer(encoding: encoding))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.pointer.pointee.isNotKeyed = true
        return JSONNode().unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        encoding.pointer.pointee.isNotKeyed = true
        return JSONNode().singleValueContainer()
    }
}
