/// The columns of a row, by the coding keys of a `Decodable` record.
protocol RecordDecodingContainer: KeyedDecodingContainerProtocol {
    var decoding: RecordDecoding { get }
    /// Whether rows of other tables come with the row.
    var comesWithRows: Bool { get }
    /// Returns the name of the column that a key is read from.
    func column(_ key: Key) -> String
    /// Reads the value in the column of a key.
    func read<Value: DatabaseValueConvertible>(_ key: Key) throws -> Value
}

extension RecordDecodingContainer {
    var comesWithRows: Bool { decoding.row.attached != nil }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        let decoding = decoding
        let strategy = decoding.record.databaseColumnDecodingStrategy
        return decoding.row.columnNames.compactMap { Key(stringValue: strategy.key(ofColumn: $0)) }
    }

    // MARK: - Values of any type

    func contains(_ key: Key) -> Bool {
        let row = decoding.row
        return row.hasColumn(column(key)) || row.attached?.hasRows(key.stringValue) ?? false
    }

    func decodeNil(forKey key: Key) -> Bool {
        decoding.row.databaseValue(named: column(key))?.isNull ?? true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if comesWithRows { return try decodeAmongRows(type, key) }
        do {
            return try decoding.decode(type, in: column(key))
        } catch {
            return try decodeOwnRow(type, key, orThrow: error)
        }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if comesWithRows, decoding.row.attached?.hasRows(key.stringValue) ?? false {
            // A value has a column, even if a joined row has the same name.
            let isValue = type is any DatabaseValueConvertible.Type
            if !isValue || !decoding.row.hasColumn(column(key)) {
                return try decoding.decodeRows(type, of: key.stringValue)
            }
        }
        return try decoding.decodeIfPresent(type, in: column(key))
    }

    /// Decodes a property that may come from a row of another table.
    @inline(never)
    private func decodeAmongRows<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        let decoding = decoding
        if let value = try decoding.decodeRows(type, of: key.stringValue) { return value }
        let column = column(key)
        if decoding.row.hasColumn(column) { return try decoding.decode(type, in: column) }
        if decoding.row.attached?.hasRows(key.stringValue) ?? false {
            throw decoding.row.missingRow(key.stringValue, type)
        }
        if let value = try decoding.decodeOwnRow(type) { return value }
        return try decoding.decode(type, in: column)
    }

    /// Decodes a property that has no column, and is a record of the row itself.
    @inline(never)
    private func decodeOwnRow<Value: Decodable>(
        _ type: Value.Type, _ key: Key, orThrow error: any Error
    ) throws -> Value {
        let decoding = decoding
        if !decoding.row.hasColumn(column(key)), let value = try decoding.decodeOwnRow(type) { return value }
        throw error
    }

    // MARK: - Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        // A key type without a `super` key still has such a column.
        if let key = Key(stringValue: "super") { return try superDecoder(forKey: key) }
        let decoding = decoding
        let strategy = decoding.record.databaseColumnDecodingStrategy
        return try decoding.jsonDecoder(in: strategy.column(for: ColumnKey("super"), in: decoding.row))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoding.jsonDecoder(in: column(key)) }
}

// MARK: - The standard types
//
// Each type has its own methods, so that nothing is cast.

extension RecordDecodingContainer {
    @inline(__always)
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key) }
    @inline(__always)
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key) }
    @inline(__always)
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(key) }
    @inline(__always)
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(key) }
    @inline(__always)
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try read(key) }
    @inline(__always)
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try read(key) }
    @inline(__always)
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try read(key) }
    @inline(__always)
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try read(key) }
    @inline(__always)
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try read(key) }
    @inline(__always)
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try read(key) }
    @inline(__always)
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try read(key) }
    @inline(__always)
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try read(key) }
    @inline(__always)
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try read(key) }
    @inline(__always)
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try read(key) }

    @inline(__always)
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try read(key) }
    @inline(__always)
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try read(key) }
}

/// The columns of any row.
struct RowDecodingContainer<Key: CodingKey>: RecordDecodingContainer {
    let decoding: RecordDecoding
    let codingPath: [any CodingKey]
    private let names: DecodedNames

    init(decoding: RecordDecoding, codingPath: [any CodingKey]) {
        (self.decoding, self.codingPath) = (decoding, codingPath)
        names = DecodedNames(decoding.record)
    }

    func column(_ key: Key) -> String { names.column(of: key, in: decoding.row) }

    func read<Value: DatabaseValueConvertible>(_ key: Key) throws -> Value { try decoding.row[column(key)] }
}

/// The column names of a record type's coding keys. It counts no references.
struct DecodedNames {
    private let record: any FetchableRecord.Type
    private let coded: Unretained<CodedClass>?
    let areKeys: Bool

    init(_ record: any FetchableRecord.Type) {
        self.record = record
        coded = (record as? Record.Type).flatMap { CodedClass.of($0) }.map { Unretained($0) }
        areKeys =
            coded?.object.usesDefaultDecodingKeys
            ?? record.databaseColumnDecodingStrategy.usesDefaultKeys
    }

    /// Returns the column of a row that a key is read from.
    func column(of key: some CodingKey, in row: @autoclosure () -> Row) -> String {
        if areKeys { return key.stringValue }
        if let coded { return coded.object.column(of: key, in: row()) }
        return record.databaseColumnDecodingStrategy.column(for: key, in: row())
    }
}
