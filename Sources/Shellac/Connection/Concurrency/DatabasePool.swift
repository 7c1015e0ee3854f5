// The connection pool: one writer and several readers in WAL mode, from opening to closing.

import CSQLite
import Dispatch
import Synchronization

/// Several connections to one database file: one that writes, and others that read beside it.
///
/// ```swift
/// let dbPool = try DatabasePool(path: "server.sqlite")
///
/// try dbPool.write { db in
///     try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
/// }
/// let count = try dbPool.read { db in
///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
/// }
/// ```
///
/// Reads do not wait for writes, nor writes for reads: the file has a write-ahead log (see
/// "Write-Ahead Logging" in the SQLite documentation). Each `read` sees one state of the database
/// from its beginning to its end. A read that begins after a write has returned sees that write.
///
/// To move from a ``DatabaseQueue`` to a pool, change one line. The article "Queue and pool"
/// describes the differences.
public final class DatabasePool: DatabaseWriter {
    public let configuration: Configuration
    public let path: String

    let writer: SerialConnection
    let readers: PoolReaders
    let opening: ReaderOpening
    /// The object that copies the log.
    let checkpointer: Checkpointer?
    /// The reader of the log's size.
    let logIndex = LogIndex()
    /// The number of snapshots made so far: snapshots are numbered.
    let snapshotCount = Atomic<Int>(0)
    /// Whether the pool is closed.
    var isClosed: Bool { readers.isClosed.load(ordering: .relaxed) }
    private let writerActivity: ConnectionActivity

    /// Opens a database file, and creates it if it does not exist.
    ///
    /// The file gets a write-ahead log, and keeps it.
    ///
    /// - Parameters:
    ///   - path: A path, or a URI: see "Uniform Resource Identifiers" in the SQLite documentation.
    ///   - configuration: The options for opening and using the database.
    /// - Throws: A ``DatabaseError`` that names the path and the reason. It is also thrown if there
    ///   can be no write-ahead log, as in memory, or if the connection locks all others out.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        try Self.checkPath(path)
        ErrorLog.tellVersion()
        var configuration = configuration
        configuration.busyMode = configuration.chosenBusyMode ?? .timeout(5)
        self.configuration = configuration
        self.path = path
        let description = configuration.label ?? path
        let group = ConnectionGroup(reporter: Reporter(configuration, description))
        let name = "\(description).writer"
        writerActivity = ConnectionActivity(label: name)
        let attendant = WriterAttendant(writerActivity, group.commits)
        writer = SerialConnection(
            try Database(
                path: path, configuration: configuration, description: description, group: group, name: name),
            attendant: attendant)
        do {
            opening = try writer.inside { db in
                db.installTransactionLog()
                try db.setUpAsWriterOfPool(path: path)
                // The log is opened when it is first read.
                try? db.takeState()
                db.hooks.place?.noteLog(of: db)
                try db.endAccess()
                return ReaderOpening(db, path: path, configuration: configuration)
            }
        } catch {
            // There is no pool yet whose `deinit` would close it.
            writer.database.giveUp()
            throw error
        }
        readers = PoolReaders(opening, count: configuration.maximumReaderCount)
        group.add(writerActivity)
        checkpointer =
            configuration.checkpoints == .background && !configuration.readonly
            ? Checkpointer(writer, opening, WALSize()) : nil
        try findOutWhetherOthersMayRead()
        writer.inside { db in
            guard let checkpointer, let hook = db.hooks.wal as? WALHook else { return }
            attendant.seeToLog(by: checkpointer, hook)
        }
    }

    private static func checkPath(_ path: String) throws {
        let isURI = path.hasPrefix("file:")
        let parameters =
            path.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first?.split(
                separator: "&") ?? []
        let isMemory =
            path == ":memory:" || path.isEmpty
            || isURI && (path.hasPrefix("file::memory:") || parameters.contains("mode=memory"))
        if isMemory {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message:
                    "a pool needs a file, which its connections share, and "
                    + "\(path.isEmpty ? "a temporary database" : path) has none: use a DatabaseQueue")
        }
        if isURI, parameters.contains("cache=shared") {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message:
                    "the connections of a pool must not share a cache: in a shared cache, readers wait for "
                    + "the writer. Leave cache=shared out of \(path)")
        }
    }

    /// Opens the first reader, so that an obstacle to other connections is found now.
    private func findOutWhetherOthersMayRead() throws {
        do {
            try readers.access(at: CallSite(.read, #fileID, #line)) { db in try db.takeState() }
        } catch let error as DatabaseError {
            throw DatabaseError(
                resultCode: error.extendedResultCode,
                message:
                    "could not open the pool \(writer.database.description): its writer has the file, and "
                    + "no other connection can read it. If the file allows only one connection, use a "
                    + "DatabaseQueue. (\(error.message ?? "\(error.extendedResultCode)"))")
        }
    }

    deinit {
        let end = { @Sendable [checkpointer, logIndex, readers, writer] in
            checkpointer?.close()
            logIndex.close()
            // First the readers: the last connection to close copies the log, and readers may not.
            readers.giveUp()
            writer.database.giveUp()
        }
        // (A handler that was called for a checkpoint may have released the pool in the middle of
        // it.)
        if checkpointer?.isRunningHere == true { DispatchQueue.global().async(execute: end) } else { end() }
    }

    /// Closes the readers, and then the writer. Later accesses throw `SQLITE_MISUSE`.
    ///
    /// This waits for the accesses that are running.
    ///
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` that names an object that is still
    ///   alive, such as a snapshot or a backup. The pool then stays open.
    public func close() throws {
        checkOutsideOfRead("closed")
        writer.checkReentrance()
        try checkNobodyIsAlive()
        checkpointer?.close()
        logIndex.close()
        do {
            try writer.inside { db in
                if db.isClosed { return }
                _ = readers.line.claimAll()
                defer { readers.line.giveAllBack() }
                try checkNobodyIsAlive()
                try db.checkClosing()
                try readers.close()
                do { try closeWriter(db) } catch {
                    readers.reopen()
                    throw error
                }
            }
        } catch {
            checkpointer?.reopen()
            throw error
        }
    }

    public func run() async throws {
        try await ServiceRun(writer: writer, close: { try self.close() }).run()
    }

    private func closeWriter(_ db: Database) throws {
        db.optimizeBeforeClosing()
        // A service leaves no log behind.
        if opening.group.serviceEnd.hasBegun, !configuration.readonly {
            _ = shellac_persist_wal(db.pointer, 0)
        }
        // The last connection copies the log when it closes. This truncates it, too.
        db.forgetInterruption()
        if configuration.checkpoints != .none, !configuration.readonly {
            _ = try? db.checkpointWithoutWaiting(.truncate)
        }
        try db.close()
    }

    private func checkNobodyIsAlive() throws {
        let alive = opening.group.livingNames
        guard let first = alive.first else { return }
        let others = alive.count > 1 ? " (and \(alive.count - 1) more)" : ""
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "the pool \(opening.description) cannot be closed: \(first) is still alive\(others)")
    }

    public func interrupt() {
        writer.database.interruptFromOutside()
        readers.interrupt()
    }

    /// Traps inside of a read of the same thread.
    @inline(__always)
    func checkOutsideOfRead(_ what: String) {
        if readers.hasThisThread { trapInsideOfRead(what) }
    }

    @inline(never)
    private func trapInsideOfRead(_ what: String) -> Never {
        opening.group.reporter?.checkOutside()
        Misuse.trap(
            "the pool \(writer.database.description) was \(what) inside of a read of it: a writer may wait "
                + "for all readers, and so each would wait for the other. Write after the read, or read inside "
                + "of the write.")
    }

    // MARK: - Connections and memory

    /// Closes the connections that read, so that they are reopened when they are needed. Call it
    /// after `PRAGMA key`, for example, or for new functions of
    /// ``Configuration/prepareDatabase(_:)``.
    ///
    /// Running reads end first.
    public func invalidateReadOnlyConnections() { readers.invalidate() }

    /// Frees as much memory as possible: that of the writer, and of the readers that are not
    /// reading. These readers are closed unless ``Configuration/persistentReadOnlyConnections``
    /// keeps them.
    public func releaseMemory() {
        try? writeWithoutTransaction { db in db.releaseMemory() }
        readers.releaseMemory(keepingConnections: configuration.persistentReadOnlyConnections)
    }

    /// Frees as much memory as possible, later: the caller does not wait.
    public func releaseMemoryEventually() {
        asyncWriteWithoutTransaction { db in
            db.releaseMemory()
            self.readers.releaseMemory(keepingConnections: self.configuration.persistentReadOnlyConnections)
        }
    }
}
