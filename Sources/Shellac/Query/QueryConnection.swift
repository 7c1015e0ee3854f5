import CSQLite

/// What a connection keeps for requests: their statements, by their shape.
///
/// A request is a value, which is made again each time. So it is written to a ``ShapeWriter``, which gives a key and the
/// arguments. The SQL is made when there is no statement for the key.
final class QueryConnection: StatementKeeper {
    private final class Entry {
        let shape: [UInt8]
        @exclusivity(unchecked) var statement: Statement
        /// The state of the schema that the SQL was made for, or nil where it did not ask.
        let schemaGeneration: UInt64?

        init(_ shape: [UInt8], _ statement: Statement, _ schemaGeneration: UInt64?) {
            (self.shape, self.statement, self.schemaGeneration) = (shape, statement, schemaGeneration)
        }
    }

    @exclusivity(unchecked) private var entries: [UInt64: Entry] = [:]
    @exclusivity(unchecked) private var lastHash: UInt64 = 0
    @exclusivity(unchecked) private var lastEntry: Entry?
    @exclusivity(unchecked) private var buffer: [UInt8] = []
    private let capacity: Int

    /// How often SQL was made.
    private(set) var buildCount = 0

    init(capacity: Int) { self.capacity = Swift.max(capacity, 1) }

    /// The statement of a query, and its arguments.
    func prepare(
        _ query: some WritableQuery, on database: Database
    ) throws -> (statement: Statement, arguments: StatementArguments) {
        var shape = ShapeWriter(over: buffer.take())
        defer { buffer = shape.bytes }
        try query.write(to: &shape)
        let arguments = StatementArguments(positional: shape.arguments)
        let hash = Self.hash(shape.bytes)
        if let entry = hash == lastHash ? lastEntry : entries[hash], entry.shape == shape.bytes,
            try entry.schemaGeneration.map({ try $0 == database.schemaGeneration }) ?? true
        {
            (lastHash, lastEntry) = (hash, entry)
            if isKnownUniquelyReferenced(&entry.statement), !entry.statement.isInUse {
                entry.statement.forgetArguments()
                return (entry.statement, arguments)
            }
            // A cursor has it. Whoever asks next shall find a statement.
            entry.statement = try database.prepare(sql: entry.statement.sql, persistent: true)
            return (entry.statement, arguments)
        }
        var writer = SQLWriter(database)
        try query.write(to: &writer)
        buildCount += 1
        assert(writer.arguments == shape.arguments, "the writers disagree: \(writer.sql)")
        let statement = try database.prepare(sql: writer.sql, persistent: true)
        let generation = writer.dependsOnSchema ? try database.schemaGeneration : nil
        if entries.count >= capacity { removeAll() }
        let entry = Entry(shape.bytes, statement, generation)
        entries[hash] = entry
        (lastHash, lastEntry) = (hash, entry)
        return (statement, arguments)
    }

    /// Frees the arguments of the statements that nobody uses.
    func releaseArguments() {
        for entry in entries.values where isKnownUniquelyReferenced(&entry.statement) {
            entry.statement.releaseArguments()
        }
    }

    private func removeAll() {
        entries.removeAll(keepingCapacity: true)
        lastEntry = nil
    }

    /// Eight bytes at a time. Whoever finds two requests of the same hash has them built again and again, no more.
    @inline(__always)
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash = UInt64(bytes.count)
            var offset = 0
            while offset &+ 8 <= bytes.count {
                hash =
                    (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
                offset &+= 8
            }
            while offset < bytes.count {
                hash = (hash ^ UInt64(bytes[offset])) &* 0x0100_0000_01B3
                offset &+= 1
            }
            return hash ^ hash >> 32
        }
    }
}

/// What has a statement.
protocol WritableQuery {
    func write(to writer: inout some QueryWriter) throws
}

extension [UInt8] {
    /// The bytes, which are no longer here.
    fileprivate mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &self)
        return taken
    }
}

extension StatementArguments {
    fileprivate init(positional values: [DatabaseValue]) {
        self.init()
        positional = values.count == 1 ? .one(values[0]) : .many(values)
    }
}

extension Database {
    /// What this connection keeps for requests.
    var queries: QueryConnection {
        checkAccess()
        if let queryConnection { return unsafeDowncast(queryConnection, to: QueryConnection.self) }
        let queries = QueryConnection(capacity: configuration.statementCacheCapacity)
        queryConnection = queries
        return queries
    }
}

/// A query, with what is asked of it.
struct PurposefulQuery: WritableQuery {
    let query: SelectQuery
    let purpose: SelectQuery.Purpose

    func write(to writer: inout some QueryWriter) throws { try query.write(to: &writer, for: purpose) }
}
