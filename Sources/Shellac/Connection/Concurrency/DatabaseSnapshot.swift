// Snapshots of a pool, with one connection or several: readers of one unchanging state.

import CSQLite

/// A reader that sees the database as it was when the snapshot was made, whatever is written
/// meanwhile.
///
/// You get one from a ``DatabasePool``. It is a ``DatabaseSnapshot`` or a ``DatabaseSnapshotPool``.
///
/// As long as the snapshot exists, the write-ahead log must keep what was written since. So the log
/// grows, and is not copied to the file beyond that state. ``DatabasePool/walStatus`` names the
/// readers that are in the way.
public class DatabaseSnapshotReader: DatabaseReader, @unchecked Sendable {  // it has only constants
    public let configuration: Configuration
    public let path: String

    private let readers: PoolReaders
    private let group: ConnectionGroup

    /// Creates a reader from connections that were just opened, and keep a state.
    fileprivate init(
        _ pool: DatabasePool, _ databases: [(Database, ConnectionActivity)], _ kind: String
    ) {
        (configuration, path) = (pool.opening.configuration, pool.path)
        group = pool.opening.group
        readers = PoolReaders(pool.opening, keeping: databases)
        let activity = databases.first?.1
        group.keepOpen(for: self) {
            "a \(kind), \(activity?.label ?? ""), made \((activity?.age ?? .zero).formattedSeconds) ago"
        }
    }

    deinit {
        // If the pool is closed meanwhile, it would not be the last one to close the file, and
        // would leave its log behind.
        readers.giveUp()
        leave()
    }

    private func leave() {
        for place in readers.places { group.remove(place.activity) }
        group.noLongerKeepOpen(for: self)
    }

    /// Closes the connections of the snapshot. Later accesses throw `SQLITE_MISUSE`.
    ///
    /// This waits for the reads that are running.
    ///
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if a statement is still in use: the
    ///   snapshot then stays open.
    public func close() throws {
        if readers.hasThisThread {
            Misuse.trap(
                "a snapshot of \(path) was closed inside of a read of it, and closing waits for the read. "
                    + "Close it after the read."
            )
        }
        _ = readers.line.claimAll()
        defer { readers.line.giveAllBack() }
        try readers.close()
        leave()
    }

    public func interrupt() { readers.interrupt() }
}

// MARK: - Reading

@_documentation(visibility: internal)
extension DatabaseSnapshotReader {

    public func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try readers.access(at: site) { db in try db.readKeptState(value) }
    }

    public nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await readers.run(at: site) { db in try db.readKeptState(value) }
    }

    public func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        if let result = try readers.reenter(value) { return result }
        return try read(at: site, value)
    }

    public func asyncRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        readers.later(at: site, for: self) { result in
            result.give(value) { db, body in try db.readKeptState(body) }
        }
    }
}

/// One connection that sees the database as it was when the snapshot was made.
///
/// ```swift
/// let snapshot = try dbPool.makeSnapshot()
/// try dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
/// let count = try snapshot.read { db in
///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")  // as before
/// }
/// ```
///
/// One access at a time reads. To read on several threads, use a ``DatabaseSnapshotPool``.
public final class DatabaseSnapshot: DatabaseSnapshotReader, @unchecked Sendable {
    fileprivate init(_ pool: DatabasePool) throws {
        let connections = try pool.openForSnapshot(count: 1, "snapshot") { databases in
            for database in databases { try database.keepState() }
        }
        super.init(pool, connections, "snapshot")
    }
}

/// Several connections that all see the same state: the database as it was when they were made.
///
/// ```swift
/// let snapshots = try dbPool.makeSnapshotPool()
/// async let players = snapshots.read { db in try Player.fetchCount(db) }
/// async let teams = snapshots.read { db in try Team.fetchCount(db) }
/// print(try await players, try await teams)
/// ```
public final class DatabaseSnapshotPool: DatabaseSnapshotReader, @unchecked Sendable {
    /// Opens the connections. If `readerCount` is nil, the configuration says how many.
    fileprivate init(_ pool: DatabasePool, readerCount: Int?) throws {
        let wanted = readerCount ?? pool.configuration.maximumReaderCount
        let count = min(max(1, wanted), FreePlaces.most)
        let connections = try pool.openForSnapshot(count: count, "snapshots") { databases in
            let keepState = { for database in databases { try database.keepState() } }
            if pool.configuration.readonly {
                try pool.betweenCommits(databases, keepState)
            } else {
                try pool.withoutCommits(keepState)
            }
        }
        super.init(pool, connections, "snapshot pool")
    }

    /// Opens a file, whose state does not change for these connections, whatever is written later.
    ///
    /// The file must have a write-ahead log. To read the state of a pool that is open already, call
    /// ``DatabasePool/makeSnapshotPool(readerCount:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - configuration: The configuration of the connections, which only read whatever it says.
    /// - Throws: A ``DatabaseError`` if the file cannot be opened, or if others keep writing to it.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        var configuration = configuration
        configuration.readonly = true
        let pool = try DatabasePool(path: path, configuration: configuration)
        try self.init(pool, readerCount: nil)
    }

    @available(
        *, unavailable,
        message:
            "SQLite opens no other connection at the state of a running read: write `dbPool.makeSnapshotPool()`"
    )
    public convenience init(_ db: Database, configuration: Configuration? = nil) throws {
        try self.init(path: "")
    }
}

extension DatabasePool {
    /// Makes a reader that sees the database as it is now, whatever is written later.
    ///
    /// It has a connection of its own. You can make it at any time. Inside of a write, it sees what
    /// is committed.
    ///
    /// - Throws: A ``DatabaseError`` if the file cannot be opened again.
    public func makeSnapshot() throws -> DatabaseSnapshot { try DatabaseSnapshot(self) }

    /// Makes several readers that all see the database as it is now.
    ///
    /// This waits for the writer, and blocks writes of other processes for a fraction of a
    /// millisecond. Inside of a write, call it outside of a transaction.
    ///
    /// - Parameter readerCount: The number of connections to open;
    ///   ``Configuration/maximumReaderCount`` if nil.
    /// - Throws: A ``DatabaseError`` if the file cannot be opened again, or another process keeps
    ///   writing.
    public func makeSnapshotPool(readerCount: Int? = nil) throws -> DatabaseSnapshotPool {
        try DatabaseSnapshotPool(self, readerCount: readerCount)
    }

    /// Opens the connections of a snapshot, and makes them keep a state. If that fails, it closes
    /// those that are open.
    fileprivate func openForSnapshot(
        count: Int, _ kind: String, keepingState keepState: ([Database]) throws -> Void
    ) throws -> [(Database, ConnectionActivity)] {
        if isClosed { throw opening.closedError }
        let number = snapshotCount.add(1, ordering: .relaxed).newValue
        var connections: [(Database, ConnectionActivity)] = []
        do {
            for connection in 1...count {
                let suffix = count > 1 ? ".\(connection)" : ""
                let activity = ConnectionActivity(
                    label: "\(opening.description).\(kind).\(number)\(suffix)", keepsState: true)
                try connections.append((opening.keepingTransactions.open(activity), activity))
            }
            try keepState(connections.map(\.0))
        } catch {
            for (database, _) in connections { database.giveUp() }
            throw error
        }
        return connections
    }

    /// Makes connections keep their states, again and again until no commit came between. A
    /// read-only pool cannot block writes: its `BEGIN IMMEDIATE` begins a transaction like any
    /// other, which takes no lock.
    fileprivate func betweenCommits(_ databases: [Database], _ keepStates: () throws -> Void) throws {
        guard let first = databases.first else { return }
        for _ in 1...1_000 {
            let before = try first.logHeader()
            try keepStates()
            if try first.logHeader() == before { return }
            for database in databases { try database.loseState() }
        }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message:
                "the connections of a snapshot pool of \(path) could not get the same state: other "
                + "connections write without a pause"
        )
    }

    /// Runs a function while neither this process nor another one commits.
    fileprivate func withoutCommits(_ body: () throws -> Void) throws {
        try unsafeReentrantWrite { db in
            if db.isInsideTransaction {
                Misuse.trap(
                    "makeSnapshotPool was called inside of a transaction, which no other connection can "
                        + "see. Call it outside, or inside of writeWithoutTransaction, before the transaction "
                        + "or after it.")
            }
            // The program has not asked for this transaction, so no handler is called for it.
            try db.executeUnheard("BEGIN IMMEDIATE")
            defer { try? db.executeUnheard("ROLLBACK") }
            try body()
        }
    }
}

extension Database {
    /// Fixes one state that the connection sees until it is closed.
    fileprivate func keepState() throws { try withAccess { db in try db.beginState() } }

    /// Ends the transaction in which the connection sees one state.
    fileprivate func loseState() throws { try withAccess { db in try db.rollback() } }

    /// Returns a value that differs after each commit, of whatever process.
    fileprivate func logHeader() throws -> [UInt32] {
        var header = [UInt32](repeating: 0, count: 12)
        try check(shellac_wal_header(pointer, &header))
        return header
    }

    /// Reads the state that the connection keeps.
    fileprivate func readKeptState<T>(_ value: (Database) throws -> T) throws -> T {
        guard isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_ABORT,
                message:
                    "the snapshot of \(description) has lost its state after an error in an earlier read: "
                    + "make another one"
            )
        }
        return try keepingTransactionOpen(
            refusal:
                "a snapshot is one transaction, which ends with the snapshot: use savepoints inside of it"
        ) { try readOnly { try value(self) } }
    }

    /// Executes SQL without calling any handler.
    func executeUnheard(_ sql: String) throws {
        try checkObstruction(for: nil)
        let code = executeUninterrupted(sql)
        if code != SQLITE_OK { throw error(code, sql: sql) }
    }
}
