/// The query of a request, shared by all readers whose requests have the same SQL and arguments.
///
/// Its rows are fetched once for all of them.
///
/// A reader starts with a query of its own. Its first fetch looks for another query with the same
/// SQL and arguments. If there is one, the reader moves to it, its *host*, and its own query
/// retires. When the schema has changed, requests that were equal may no longer be. Readers that do
/// not fit any more move to queries of their own.
///
/// The result of the last fetch is kept as ``PackedRows``, or as ``ReadRows`` if elements are made
/// from several statements. A fetch with the same result delivers nothing.
final class LiveRows: LiveQuery, @unchecked Sendable {  // as its superclass; readers have a lock
    /// The properties that are equal among requests that share a query.
    final class Key: Hashable {
        private let sql: String
        private let arguments: StatementArguments

        init(_ prepared: PreparedRequest) { (sql, arguments) = (prepared.statement.sql, prepared.arguments) }

        static func == (a: Key, b: Key) -> Bool {
            a.sql.hasSameBytes(as: b.sql) && a.arguments == b.arguments
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(sql)
            hasher.combine(arguments)
        }
    }

    private struct Readers {
        /// The first reader, which is mostly the only one. `others` has the rest.
        private var first: RowsReader?
        private var others: [RowsReader] = []
        var list: [RowsReader] {
            get { first.map { [$0] + others } ?? [] }
            set { (first, others) = (newValue.first, Array(newValue.dropFirst())) }
        }
        /// Whether the last reader has left, so that no other one may come.
        var isClosed = false
        /// The result of the last fetch, of one statement or of several. It takes much memory, so
        /// it is released with the last reader.
        private enum Fetched {
            case nothing
            case rows(PackedRows)
            case read(ReadRows)
        }
        private var fetched = Fetched.nothing
        var rows: PackedRows? {
            get { if case .rows(let rows) = fetched { rows } else { nil } }
            set { fetched = newValue.map { .rows($0) } ?? .nothing }
        }
        var read: ReadRows? {
            get { if case .read(let read) = fetched { read } else { nil } }
            set { fetched = newValue.map { .read($0) } ?? .nothing }
        }

        /// Releases everything. Returns the old content, for the caller to free without the lock.
        mutating func close() -> Readers {
            defer { (first, others, isClosed, fetched) = (nil, [], true, .nothing) }
            return self
        }
    }
    /// The lock for the readers of all queries: see ``RowsReader``.
    private static let lists = Lock(0)  // (an empty value would have the address of another one)
    private var readers: Readers

    /// The key of the query in the registry. It changes only under the lock of ``LiveHosts``.
    @exclusivity(unchecked) var key: Key?

    // For the fetching side:
    /// The connection that fetched the rows, and a value that changes with the commits of other
    /// connections, as of that fetch.
    @exclusivity(unchecked) private var fetcher: ObjectIdentifier?
    @exclusivity(unchecked) private var seenVersion: UInt32 = 0

    // For the side of the writing connection:
    @exclusivity(unchecked) private var concernVersion = RowTesters.Version.unknown
    @exclusivity(unchecked) private var region = DatabaseRegion()
    @exclusivity(unchecked) private var condition: RowCondition?

    init(_ reader: RowsReader, in writer: any DatabaseWriter, _ settings: LiveSettings) {
        readers = Readers()
        readers.list = [reader]
        super.init(writer, settings)
    }

    override var content: AnyObject? { list as AnyObject }

    private var list: [RowsReader] { withReaders { $0.list } }

    private func withReaders<Result>(_ body: (inout Readers) throws -> Result) rethrows -> Result {
        try Self.lists.withLock { _ in try body(&readers) }
    }

    #if DEBUG
    /// Whether the rows of the last fetch are kept.
    var hasRows: Bool { withReaders { $0.rows != nil } }
    #endif

    // MARK: - Readers

    /// Adds a reader. Returns false if the query has ended.
    private func add(_ reader: RowsReader) -> Bool {
        withReaders { readers in
            if !readers.isClosed { readers.list.append(reader) }
            return !readers.isClosed
        }
    }

    override func remove(_ reader: LiveReader) {
        let (isLast, left) = withReaders { readers -> (Bool, [RowsReader]) in
            let left = readers.list
            readers.list.removeAll { $0 === reader }
            if readers.list.isEmpty, !left.isEmpty { readers.isClosed = true }
            return (readers.isClosed, left)
        }
        withExtendedLifetime(left) {}
        if isLast { end(isCancelled: true) }
    }

    override func host(_ db: Database) throws -> LiveQuery {
        guard key == nil, let reader = list.first else { return self }
        let prepared = try reader.prepare(db)
        guard prepared.supplement == nil else { return self }
        let host = LiveHosts.of(db).host(Key(prepared), for: self) { host in
            host.settings.pollingInterval == settings.pollingInterval && host.add(reader)
        }
        progress.withLock { $0.hosts = LiveHosts.of(db) }
        if host !== self {
            _ = withReaders { $0.close() }
            reader.move(to: host)
        } else if isEnded {
            // It has ended meanwhile, when it was not in the registry yet.
            LiveHosts.of(db).remove(self)
        }
        return host
    }

    override func release(_ failure: (any Error)?) {
        hosts?.remove(self)
        for reader in withReaders({ $0.close() }).list { reader.finish(failure) }
    }

    // MARK: - Fetching

    override func fetch(_ db: Database) throws -> LiveDelivery {
        let version = try RowTesters.version(on: db)
        if seenSchema != .unknown, seenSchema != version { try regroup(db) }
        let readers = list
        guard let first = readers.first else { return LiveDelivery {} }
        let prepared = try first.prepare(db)
        guard prepared.supplement == nil else { return try fetchSeveralStatements(for: first, db) }

        var rows = withReaders { $0.rows }
        // If only another reader has come, the rows are known, unless another connection has
        // committed.
        let present = try db.dataVersion(of: prepared.statement.effects.databases)
        if rows == nil || isOutdated || present != seenVersion || fetcher != ObjectIdentifier(db) {
            (seenVersion, fetcher) = (present, ObjectIdentifier(db))
            let statement = prepared.statement
            try statement.begin(prepared.arguments)
            defer { statement.abandon() }
            let fetched = try PackedRows(statement)
            if let rows, rows.hasSameRows(as: fetched) {
                // Only new readers get the rows.
            } else {
                rows = fetched
                withReaders { if !$0.isClosed { $0.rows = fetched } }
                for reader in readers { reader.isServed = false }
            }
        }
        guard let rows else { return LiveDelivery {} }
        let deliveries = readers.filter { !$0.isServed }.map { $0.serve(rows, on: db) }
        return LiveDelivery { for delivery in deliveries { try delivery.deliver() } }
    }

    /// Fetches for the only reader of a request whose elements are made from several statements. If
    /// all of these give the same rows as before, nothing is delivered.
    private func fetchSeveralStatements(for reader: RowsReader, _ db: Database) throws -> LiveDelivery {
        let read = ReadRows()
        let known = reader.isServed ? withReaders { $0.read } : nil
        let delivery = try reader.fetch(db, noting: read, unlessSameAs: known)
        let old = withReaders { readers -> ReadRows? in
            guard !readers.isClosed else { return nil }
            defer { readers.read = read }
            return readers.read
        }
        withExtendedLifetime(old) {}
        return delivery
    }

    override func fetchWasLost() { for reader in list { reader.isServed = false } }

    override func concern(_ db: Database) throws -> LiveConcern {
        let version = try RowTesters.version(on: db)
        if concernVersion != version, let first = list.first {
            let (queries, prepared) = (LiveQueries.of(db), try first.prepare(db))
            region = queries.sharing(try first.region(db))
            condition = try first.condition(prepared, queries.testers, on: db)
            concernVersion = version
        }
        return LiveConcern(region, condition)
    }

    /// Moves readers to new queries if their requests are no longer equal to that of the first one.
    private func regroup(_ db: Database) throws {
        guard key != nil else { return }
        var newKey: Key?
        for reader in list {
            let prepared = try reader.prepare(db)
            let key = Key(prepared)
            if newKey == nil { newKey = key }
            guard key != newKey, let writer else { continue }
            withReaders { readers in readers.list.removeAll { $0 === reader } }
            let query = LiveRows(reader, in: writer, settings)
            reader.move(to: query)
            query.start()
        }
        LiveHosts.of(db).move(self, to: newKey)
    }
}

extension Database {
    /// Returns a value that changes when another connection has committed to one of some databases.
    /// It is a sum, as the number of each database only grows.
    func dataVersion(of databases: Set<String>) throws -> UInt32 {
        try databases.reduce(into: 0) { sum, name in
            sum &+= UInt32(truncatingIfNeeded: try dataVersion(of: name) ?? 0)
        }
    }
}
