// The encoder that stores each property of an Encodable record in a column of its own.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EncodableRecord where Self: Encodable {
    /// Encodes the properties of the type, each into its column. A nil becomes NULL.
    ///
    /// - Parameter container: The container that receives the values. The type's
    ///   ``databaseColumnEncodingStrategy`` makes the column names from its coding keys.
    /// - Throws: any error that encoding a property throws. An `EncodingError` if the type encodes
    ///   itself as a number, a text or an array, which have no columns.
    public func encode(to container: inout PersistenceContainer) throws {
        try RecordEncoding.encode(self, as: Self.self, in: &container)
    }
}

/// One encoding of an `Encodable` record.
///
/// The record gets an encoder that points here, and stores its properties one by one in the
/// persistence container. Nested containers are filled after they are given out, so they wait until
/// the record has encoded itself.
struct RecordEncoding: ~Copyable {
    let values: ValueEncoding
    let strategy: DatabaseColumnEncodingStrategy
    let usesDefaultKeys: Bool
    /// The class of the record, if it leaves its columns to `Codable`.
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
        for (column, node) in encoding.nested { try encoding.values.storeJSON(node, in: column) }
    }

    init(
        _ container: consuming PersistenceContainer, _ record: any EncodableRecord.Type,
        _ coded: CodedClass? = nil
    ) {
        values = ValueEncoding(container, record)
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
                    "a \(values.record) encodes itself as a single value or an array without columns: "
                    + "implement encode(to: inout PersistenceContainer)"))
    }

    /// Returns the column of a key.
    @inline(__always)
    func column(_ key: some CodingKey) -> String {
        usesDefaultKeys ? key.stringValue : convertedColumn(key)
    }

    @inline(never)
    private func convertedColumn(_ key: some CodingKey) -> String {
        guard let coded else { return strategy.column(for: key) }
        return strategy.column(for: coded.plainKey(key))
    }

    /// Whether a key is that of the observation registrar, which is not a column.
    @inline(__always)
    func isRegistrar(_ key: some CodingKey) -> Bool { !usesDefaultKeys && coded?.isRegistrar(key) == true }

    /// Returns the node that gathers a nested container of a column.
    mutating func node(of column: String) -> JSONNode {
        if let known = nested.first(where: { $0.column == column }) { return known.node }
        let node = JSONNode()
        nested.append((column, node))
        return node
    }
}

// MARK: - The encoder

/// The encoder that an `Encodable` record encodes itself to. It is valid for the duration of the
/// encoding.
private struct RecordEncoder: Encoder, ColumnCoder {
    let encoding: RunningEncoding<RecordEncoding>

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { encoding.pointer.pointee.values.record.encodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RecordEncodingContainer(encoding: encoding))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.pointer.pointee.isNotKeyed = true
        return JSONNode().unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { WrappedValue(encoder: self) }
}

/// The single value that a record encodes itself as. Its properties become the columns.
private struct WrappedValue: SingleValueEncodingContainer {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.encoding.pointer.pointee.isNotKeyed = true }
    func encode<Value: Encodable>(_ value: Value) throws {
        if let record = value as? any EncodableRecord {
            // By the strategies of its own type, as it is read.
            var container = PersistenceContainer(encoder.encoding.pointer.pointee.values.container.encoding)
            try record.encode(to: &container)
        } else if value is any DatabaseValueConvertible {
            encodeNil()
        } else {
            try value.encode(to: encoder)
        }
    }
}
