/// The cache of a connection for requests: their statements, by shape.
///
/// A request is a value that is created again each time. So it is written to a ``ShapeWriter``,
/// which produces a key and the arguments. The SQL is built only if there is no statement for the
/// key.
final class RequestCache: StatementKeeper {
    private final class Entry {
        let shape: [UInt8]
        @exclusivity(unchecked) var statement: Statement
        /// The state of the schema for which the SQL was built, or nil if it does not depend on it.
        let schemaGeneration: UInt64?

        init(_ shape: [UInt8], _ statement: Statement, _ schemaGeneration: UInt64?) {
            (self.shape, self.statement, self.schemaGeneration) = (shape, statement, schemaGeneration)
        }
    }

    @exclusivity(unchecked) private var entries: [UInt64: Entry] = [:]
    private var lastHash: UInt64 = 0
    @exclusivity(unchecked) private var lastEntry: Entry?
    @exclusivity(unchecked) private var buffer: [UInt8] = []
    private let capacity: Int

    /// The number of times that SQL was built.
    private(set) var buildCount = 0

    /// The rows read by requests with supplements, recorded while they are needed for a comparison.
    @exclusivity(unchecked) var noted: ReadRows?

    /// The names of tables, by type.
    private var tableNames: [ObjectIdentifier: String] = [:]

    init(capacity: Int) { self.capacity = Swift.max(capacity, 1) }

    /// Prepares the statement of a query, with its arguments.
    func prepare(
        _ query: some WritableQuery, on database: Database
    ) throws -> (statement: Statement, arguments: StatementArguments) {
        var shape = ShapeWriter(over: buffer.take(), database)
        defer { buffer = shape.bytes }
        do { try query.write(to: &shape) } catch { throw database.tellingNames(error, of: query.sources) }
        let arguments = StatementArguments(positional: shape.arguments)
        let hash = Self.hash(shape.bytes)
        if let entry = hash == lastHash ? lastEntry : entries[hash],
            entry.shape.hasSameBytes(as: shape.bytes),
            try entry.schemaGeneration.map({ try $0 == database.schemaGeneration }) ?? true
        {
            (lastHash, lastEntry) = (hash, entry)
            if isKnownUniquelyReferenced(&entry.statement), !entry.statement.isInUse {
                entry.statement.forgetArguments()
                return (entry.statement, arguments)
            }
            // A cursor uses it. Prepare another one for the next caller.
            entry.statement = try database.prepare(sql: entry.statement.sql, persistent: true)
            return (entry.statement, arguments)
        }
        var writer = SQLWriter(database)
        let statement: Statement
        do {
            try query.write(to: &writer)
            buildCount += 1
            assert(writer.arguments == shape.arguments, "the writers disagree: \(writer.sql)")
            statement = try database.prepare(sql: writer.sql, persistent: true)
        } catch {
            throw database.tellingNames(error, of: query.sources)
        }
        let generation = writer.dependsOnSchema ? try database.schemaGeneration : nil
        if entries.count >= capacity { removeAll() }
        let entry = Entry(shape.bytes, statement, generation)
        entries[hash] = entry
        (lastHash, lastEntry) = (hash, entry)
        return (statement, arguments)
    }

    /// Frees the arguments of unused statements.
    func releaseArguments() {
        for entry in entries.values where isKnownUniquelyReferenced(&entry.statement) {
            entry.statement.releaseArguments()
        }
    }

    var idleStatements: [Statement] {
        entries.values.filter { isKnownUniquelyReferenced(&$0.statement) }.map(\.statement)
    }

    /// Refuses a type whose table name has changed. Cached values of the type belong to the earlier
    /// table.
    ///
    /// This is called when something is built for a type, and in debug builds each time a type is
    /// used.
    func checkTableName(of type: any TableRecord.Type) throws {
        let name = type.databaseTableName
        guard let known = tableNames[ObjectIdentifier(type)] else {
            tableNames[ObjectIdentifier(type)] = name
            return
        }
        if known == name { return }
        let sentence =
            "the databaseTableName of \(type) was \(known), and is \(name) now: it must never change. "
            + "Declare another type for the other table, or fetch from it with Table(\"\(name)\")."
        #if DEBUG
        Misuse.trap(sentence)
        #else
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: sentence)
        #endif
    }

    private func removeAll() {
        entries.removeAll(keepingCapacity: true)
        lastEntry = nil
    }

    /// Hashes eight bytes at a time. A hash collision only costs a rebuild.
    static func hash(_ bytes: [UInt8]) -> UInt64 {
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

/// A query from which a statement is written.
protocol WritableQuery {
    /// The tables that the query names.
    var sources: [QuerySource] { get }

    func write(to writer: inout some QueryWriter) throws
}

extension [UInt8] {
    /// Returns the bytes, and leaves this array empty.
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

extension Slot<RequestCache> {
    static var queries: Self { Slot(5, until: .closing) }
}

extension Database {
    /// The request cache of this connection.
    var queries: RequestCache {
        checkAccess()
        if let queries = object(in: .queries) { return queries.object }
        let queries = RequestCache(capacity: configuration.statementCacheCapacity)
        fill(.queries, with: queries)
        return queries
    }
}

/// A query and its purpose.
struct RequestQuery: WritableQuery {
    let storage: SharedQuery
    let purpose: SelectQuery.Purpose

    var sources: [QuerySource] { storage.query.sources }

    func write(to writer: inout some QueryWriter) throws {
        guard storage.query.supplement?.joinsTables != true else {
            return try storage.query.write(to: &writer, for: purpose)
        }
        // Pass the stored query itself: passing a closure on would copy it.
        try writer.inQuery(storage.query) { [storage, purpose] in
            try storage.query.writeTables(to: &$0, for: purpose)
        }
    }
}
