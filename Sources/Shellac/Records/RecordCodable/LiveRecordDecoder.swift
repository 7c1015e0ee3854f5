/// The cached decoding of one statement's rows as records of one type.
///
/// Swift puts a keyed container into an allocated box, and finding the types of both costs as much
/// as reading a few columns. So the cache keeps the box, with the position of the rows, and it
/// serves all rows of a statement.
///
/// The box is handed out for one row at a time. A container that is kept beyond its row shows in
/// the box's reference count. The cache replaces it, and it traps when used.
final class RecordDecodingCache {
    let record: any FetchableRecord.Type
    /// The type of the container's keys.
    fileprivate var keyType: ObjectIdentifier?
    /// The box of the container.
    fileprivate var container: AnyObject?

    fileprivate init(_ record: any FetchableRecord.Type) { self.record = record }

    /// Drops the cached container if the record's decoder kept a reference to it.
    fileprivate func checkContainer() {
        if !isKnownUniquelyReferenced(&container) { (keyType, container) = (nil, nil) }
    }
}

extension LiveRow {
    /// Begins to decode the current row as a record. Returns false if another record is being
    /// decoded from it, or if the statement's rows are decoded as other records.
    @inline(__always)
    func beginDecoding(_ record: any FetchableRecord.Type) -> Bool {
        guard storage.pointee.decodingGeneration == 0 else { return false }
        if let cache = storage.pointee.elements.pointee.decoding {
            let cache = unsafeDowncast(cache, to: RecordDecodingCache.self)
            guard ObjectIdentifier(cache.record) == ObjectIdentifier(record) else { return false }
        } else {
            storage.pointee.elements.pointee.decoding = RecordDecodingCache(record)
        }
        storage.pointee.decodingGeneration = storage.pointee.generation
        return true
    }

    func endDecoding() {
        storage.pointee.decodingGeneration = 0
        decodingCache?.checkContainer()
    }

    fileprivate var decodingCache: RecordDecodingCache? {
        storage.pointee.elements.pointee.decoding.map { unsafeDowncast($0, to: RecordDecodingCache.self) }
    }

    fileprivate func checkIsDecoding(_ isDecoding: Bool) { if !isDecoding { trapIsNotDecoding() } }

    @inline(never)
    private func trapIsNotDecoding() -> Never {
        Misuse.trap(
            "the decoder of a record, or one of its containers, was used after the record was decoded. "
                + "Read all values in init(from:).")
    }
}

/// The decoder that a record decodes itself from while SQLite holds its row. It takes three words
/// at most, because a larger value would be allocated.
struct LiveRecordDecoder: Decoder, ColumnCoder {
    private let live: LiveRow
    /// The generation of the row.
    private let generation: UInt64

    init(_ live: LiveRow) {
        self.live = live
        generation = live.storage.pointee.generation
    }

    private var cache: RecordDecodingCache {
        live.checkIsDecoding(
            live.storage.pointee.decodingGeneration == generation
                && live.storage.pointee.generation == generation
        )
        return live.decodingCache.unsafelyUnwrapped
    }

    private var decoder: RecordDecoder {
        RecordDecoder(decoding: RecordDecoding(row: Row(live), record: cache.record))
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { cache.record.decodingUserInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let cache = cache
        if let container = cache.container {
            // A type and its superclass may have keys of their own.
            guard cache.keyType == ObjectIdentifier(type) else { return try decoder.container(keyedBy: type) }
            return unsafeBitCast(container, to: KeyedDecodingContainer<Key>.self)
        }
        live.storage.pointee.decodingTicket = generation
        let container = KeyedDecodingContainer(
            LiveDecodingContainer<Key>(live: live, ticket: generation, record: cache.record))
        // Keep the container only if it consists of the box alone.
        guard MemoryLayout.size(ofValue: container) == MemoryLayout<AnyObject>.size else { return container }
        cache.container = unsafeBitCast(container, to: AnyObject.self)
        cache.keyType = ObjectIdentifier(type)
        return container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try decoder.singleValueContainer()
    }
}

/// The columns of the row that is being decoded. Swift copies it for each column, so it counts no
/// references.
private struct LiveDecodingContainer<Key: CodingKey>: RecordDecodingContainer {
    private let live: LiveRow
    private let ticket: UInt64
    private let record: any FetchableRecord.Type
    private let names: DecodedNames
    private let usesDefaultKeys: Bool

    init(live: LiveRow, ticket: UInt64, record: any FetchableRecord.Type) {
        self.live = live
        self.ticket = ticket
        self.record = record
        names = DecodedNames(record)
        usesDefaultKeys = names.areKeys
    }

    @inline(__always)
    private func check() {
        live.checkIsDecoding(
            ticket == live.storage.pointee.decodingTicket
                && live.storage.pointee.generation == live.storage.pointee.decodingGeneration)
    }

    var decoding: RecordDecoding {
        check()
        return RecordDecoding(row: Row(live), record: record)
    }

    @inline(__always)
    var comesWithRows: Bool { live.storage.pointee.attached != nil }

    @inline(__always)
    func column(_ key: Key) -> String {
        usesDefaultKeys
            ? key.stringValue : names.column(of: key, in: decoding.row)
    }

    @inline(__always)
    func read<Value: DatabaseValueConvertible>(_ key: Key) throws -> Value {
        check()
        let name = column(key)
        let column = live.column(named: name)
        guard column >= 0 else { return try Row(live).missingValue(name, at: nil) }
        return try live.decode(Value.self, at: column)
    }
}
