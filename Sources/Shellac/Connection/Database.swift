import CSQLite
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A connection to a database, inside an access to it.
///
/// You get a database from a ``DatabaseQueue``, and use it until the end of the closure that it was given to:
///
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
/// ```
///
/// Use outside of the access stops the program, with a sentence: other threads may be using the connection.
///
/// `Database` is Sendable so that what an access gives need not stay with the connection. It is safe because
/// every entry point checks that the running thread holds the access.
public final class Database: @unchecked Sendable {  // one access at a time, checked by `checkAccess()`
    /// How the database was opened.
    public let configuration: Configuration

    /// What the database is called in errors: its label, or else its path.
    public let description: String

    let pointer: OpaquePointer
    @exclusivity(unchecked) private var handle: ConnectionHandle?
    /// Whether the connection is open: for threads that interrupt it without having the access.
    let isOpen = Lock(true)
    private let authorizer = Authorizer()

    /// The thread that holds the access, or 0.
    let owner = Atomic<UInt>(0)

    /// Whether the next statement may have to be refused: see `obstruct(_:)`.
    let isObstructed = Atomic<Bool>(false)
    /// The error that every statement throws until the scope of a lost transaction ends.
    @exclusivity(unchecked) var lostTransaction: (any Error)?
    /// Whether the task that holds the access was cancelled.
    let isCancelled = Atomic<Bool>(false)

    /// Whether statements that write throw `SQLITE_READONLY`.
    @exclusivity(unchecked) var isReadOnlyScope = false

    /// The statement whose run began last, of those that run. Each knows the one before it.
    @exclusivity(unchecked) var lastBegun: Unmanaged<Statement>?
    /// How many functions called by SQLite are running.
    @exclusivity(unchecked) var callbackDepth = 0
    /// How many backups read or write this database.
    @exclusivity(unchecked) var backupCount = 0
    /// The date of the open transaction, or of the running statement.
    @exclusivity(unchecked) var currentDate: Date?
    /// Whether something is owed at the end of a statement outside of a transaction: to forget its date, to tell the
    /// listener.
    @exclusivity(unchecked) var hasLoneState = false
    #if DEBUG
    /// What is told of statements that write, each time that this number changes: a slot for the layer of records.
    @exclusivity(unchecked) var adviceVersion = 0
    @exclusivity(unchecked) var advisor: ((Statement) -> Void)?
    #endif
    /// Whether the follower of the schema is to be told of the end of the access.
    @exclusivity(unchecked) var owesFollower = false
    /// Whether there is something that ends with a statement because a function was called inside of it.
    @exclusivity(unchecked) var hasNestedState = false
    /// The error thrown by a Swift function inside the running statement.
    @exclusivity(unchecked) var functionError: FunctionError?

    /// The error of a lone statement whose rows were not read to the end: its commit failed when it was let go of.
    @exclusivity(unchecked) var forgottenError: (any Error)?
    /// Whether a kept statement may hold a large text or blob.
    @exclusivity(unchecked) var hasLargeBindings = false

    /// What hears of the statements that may change the database: a slot for the layer of transactions.
    @exclusivity(unchecked) var statementListener: StatementListener? {
        didSet { listenerReference = statementListener.map { Unmanaged.passUnretained($0) } }
    }
    /// The listener, for those who look at it all the time: see ``Unmanaged/use(_:)``.
    @exclusivity(unchecked) private(set) var listenerReference: Unmanaged<StatementListener>?
    /// What hears of the statements that write: a slot for the layer of observation, empty while nobody observes.
    @exclusivity(unchecked) var statementObserver: StatementObserver? {
        didSet { observerReference = statementObserver.map { Unmanaged.passUnretained($0) } }
    }
    /// Whether the observer has something to tell before the next statement that it hears of begins.
    @exclusivity(unchecked) var owesObserver = false
    /// The observer, for those who look at it all the time.
    @exclusivity(unchecked) private(set) var observerReference: Unmanaged<StatementObserver>?
    /// What is kept for observers: a slot for the layer of observation.
    @exclusivity(unchecked) var observation: AnyObject?
    /// Tells of rows before they are changed, once somebody has asked for it.
    @exclusivity(unchecked) var preUpdateHook: PreUpdateHook?
    /// What is known of the schema: a slot for the layer of schemas.
    @exclusivity(unchecked) var schemaCache: AnyObject?
    /// Which state of the schema is known to hold until the transaction ends or the schema changes, or 0.
    @exclusivity(unchecked) var heldSchemaGeneration: UInt64 = 0
    /// The state of the schema that SQLite knows when it prepares a statement, where an observer has found that out, or 0.
    @exclusivity(unchecked) var preparedSchemaGeneration: UInt64 = 0
    /// What is kept for requests: a slot for the layer of queries.
    @exclusivity(unchecked) var queryConnection: (any StatementKeeper)?
    /// What is kept for records: a slot for the layer of records.
    @exclusivity(unchecked) var recordConnection: AnyObject? {
        didSet { recordReference = recordConnection.map { Unmanaged.passUnretained($0) } }
    }
    @exclusivity(unchecked) private(set) var recordReference: Unmanaged<AnyObject>?
    /// The record type whose callbacks are watched, and which of them were those that do nothing: see `DefaultCallback`.
    @exclusivity(unchecked) @usableFromInline var watchedType: ObjectIdentifier?
    @exclusivity(unchecked) var defaultCallbacks: UInt8 = 0
    /// What is kept for stamps: another slot for the layer of records.
    @exclusivity(unchecked) var stampConnection: AnyObject?
    /// The functions and collations that were added, for a connection that is to have them, too.
    @exclusivity(unchecked) var addedFunctions: [DatabaseFunction] = []
    @exclusivity(unchecked) var addedCollations: [DatabaseCollation] = []
    /// What hears of changes of the schema: a slot for the layer of triggers.
    @exclusivity(unchecked) var schemaFollower: (any SchemaFollower)?

    let statementCache: StatementCache
    /// What SQLite has let go of, and waits for its return.
    let departures = Departures()
    /// What was let go of outside of an access, and waits for the next one.
    let leftovers = Lock(Leftovers())
    let hasLeftovers = Atomic<Bool>(false)
    /// Held by the thread that uses the connection after the last access.
    let abandoning = Lock(())

    /// What hears of traced statements.
    var tracer: Tracer?
    var busyHandler: BusyHandler?

    /// Opens a connection.
    init(path: String, configuration: Configuration, description: String) throws {
        ErrorLog.install()
        guard Features.versionNumber >= Features.oldestVersionNumber else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message:
                    "SQLite 3.35 or newer is needed, and \(String(cString: sqlite3_libversion())) is running")
        }
        let flags = configuration.readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let handle = try ConnectionHandle(path: path, flags: flags)
        self.configuration = configuration
        self.description = description
        pointer = handle.pointer
        self.handle = consume handle
        statementCache = StatementCache(capacity: configuration.statementCacheCapacity)
        authorizer.install(on: pointer)
        Self.all.withLock { $0[ObjectIdentifier(self)] = Unmanaged.passUnretained(self) }
    }

    deinit { Self.all.withLock { $0[ObjectIdentifier(self)] = nil } }

    /// All connections. (Weak references would make all others slow.)
    private static let all = Lock<[ObjectIdentifier: Unmanaged<Database>]>([:])

    /// The connections that the running thread has the access to: nobody frees these meanwhile.
    static var accessed: [Database] {
        all.withLock { all in
            // One that has been closed holds nothing any more.
            all.values.filter { $0._withUnsafeGuaranteedRef { $0.isAccessed && !$0.isClosed } }
                .map { $0.takeUnretainedValue() }
        }
    }

    /// The underlying connection, for what only the C API does. Nil once the database is closed.
    ///
    /// Open and end transactions by SQL or by our methods, and leave the authorizer, the busy handler, the progress
    /// handler and the trace to us.
    public var sqliteConnection: OpaquePointer? {
        checkAccess()
        return isClosed ? nil : pointer
    }

    var isClosed: Bool { handle == nil }

    // MARK: - Access

    /// Traps unless the running thread holds the access to this connection.
    @inline(__always)
    func checkAccess() {
        if owner.load(ordering: .relaxed) != shellac_thread() { trapOutsideOfAccess() }
    }

    @inline(never)
    func trapOutsideOfAccess() -> Never {
        if owner.load(ordering: .relaxed) == shellac_thread() | 1 {
            Misuse.trap(
                "the Database of \(description) was used by an observer that was being told of a change, or of a "
                    + "commit to come: the changes are not committed yet. Use it in databaseDidCommit(_:) "
                    + "or databaseDidRollback(_:).")
        }
        Misuse.trap(
            "the Database of \(description) was used outside of its access, or on another thread. "
                + "Use a database, its statements and its cursors inside the closure that received it, "
                + "and return what you need from there.")
    }

    /// Whether the running thread holds the access.
    var isAccessed: Bool { owner.load(ordering: .relaxed) & ~1 == shellac_thread() }

    /// Throws where a statement must not run: the access was cancelled, or its transaction is lost, or the
    /// database is closed.
    @inline(never)
    func checkObstruction(for effect: StatementEffects.Transaction?) throws {
        if handle == nil { throw closedError() }
        if effect == .rollback { return }
        if let lostTransaction { throw lostTransaction }
        if case .rollbackTo = effect { return }
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }

    func closedError() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database \(description) is closed")
    }

    /// Works out again whether statements can run without a question.
    func updateObstruction() {
        isObstructed.store(
            handle == nil || lostTransaction != nil || owesObserver, ordering: .sequentiallyConsistent)
        // Another thread may cancel at any time: look after having stored.
        if isCancelled.load(ordering: .sequentiallyConsistent) {
            isObstructed.store(true, ordering: .sequentiallyConsistent)
        }
    }

    // MARK: - Preparing statements

    /// Runs a preparation, and returns what SQLite said of the statement.
    func effects(of prepare: () throws -> Void) rethrows -> StatementEffects {
        try authorizer.effects(of: prepare)
    }

    /// Runs a function, and returns the names of the tables that the statements prepared meanwhile may change: see
    /// ``Authorizer/tablesTouched(during:)``.
    func tablesTouched(during body: () throws -> Void) rethrows -> Authorizer.TouchedTables {
        try authorizer.tablesTouched(during: body)
    }

    /// Runs a function whose statements are prepared only, or undone: `tablesTouched(during:)` does not hear of them.
    func touchingNothing<Result>(_ body: () throws -> Result) rethrows -> Result {
        try authorizer.touchingNothing(body)
    }

    /// The tables of which each deleted row is notified, also by a DELETE without WHERE: see ``Authorizer``.
    var tablesWithObservedDeletions: Set<CaseInsensitiveName> {
        get { authorizer.tablesWithObservedDeletions }
        set {
            authorizer.tablesWithObservedDeletions = newValue
            // SQLite asks while it prepares: this has it prepare every statement again.
            if handle != nil { authorizer.install(on: pointer) }
        }
    }

    /// Has SQLite prepare every statement again that has not begun, where databases are attached.
    ///
    /// A name means the table of the first database that has one of that name: see "Database Object Name Resolution" in
    /// the SQLite documentation. A table that is created may take the name away from one of an attached database, and
    /// SQLite looks only at the schemas of the databases that a statement uses.
    func resolveNamesAgain() {
        // main and temp are 0 and 1.
        if let name = Features.databaseName, name(pointer, 2) == nil { return }
        authorizer.install(on: pointer)
    }

    // MARK: - Closing

    /// Closes the connection. What has not been finalized makes SQLite throw `SQLITE_BUSY`: the connection is then as it
    /// was.
    func close() throws {
        guard handle != nil else { return }
        guard backupCount == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "the database \(description) cannot be closed: a backup is still running")
        }
        finishLeftovers()
        // What holds statements of ours, and can be made again. Observers go with the connection alone.
        statementCache.removeAll()
        schemaCache = nil
        queryConnection = nil
        recordConnection = nil
        statementListener?.connectionWillClose()
        if let running = sqlite3_next_stmt(pointer, nil) {
            let sql = sqlite3_sql(running).map(String.init(cString:))
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "the database \(description) cannot be closed: a statement is still in use", sql: sql
            )
        }
        dropHandle()
    }

    /// Closes the connection whatever is in use: SQLite closes the file when the last statement is finalized.
    func abandon() {
        finishLeftovers()
        // First what may hold objects of the user, which may use the connection when they are freed.
        _ = takeObservers()
        statementListener?.connectionWillClose()
        statementListener?.letGo()
        statementCache.removeAll()
        schemaCache = nil
        queryConnection = nil
        recordConnection = nil
        statementListener = nil
        departures.hold {
            abandoning.withLock { _ in
                finishLeftovers(abandon: true)
                dropHandle()
            }
        }
    }

    private func dropHandle() {
        let observers = takeObservers()
        isOpen.withLock { $0 = false }
        departures.hold {
            // What is freed with the connection finds it closed.
            let closing = handle.take()
            let added = (addedFunctions, addedCollations)
            (addedFunctions, addedCollations) = ([], [])
            updateObstruction()
            _ = consume closing
            withExtendedLifetime(added) {}
        }
        // An observer that is freed now may look at the database, which is closed.
        withExtendedLifetime(observers) {}
    }

    /// Takes the observers, and SQLite's hooks off: the connection may outlive them, in a statement that is finalized
    /// later.
    private func takeObservers() -> [AnyObject] {
        if !isClosed {
            sqlite3_update_hook(pointer, nil, nil)
            sqlite3_commit_hook(pointer, nil, nil)
            preUpdateHook?.takeOff()
        }
        let observers = [statementObserver, observation, preUpdateHook].compactMap { $0 }
        statementObserver = nil
        observation = nil
        preUpdateHook = nil
        return observers
    }
}
