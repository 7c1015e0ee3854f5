// The database connection: its state, the effects of prepared statements, and closing.

import CSQLite

/// A connection to a database, inside an access to it.
///
/// You get a database from a ``DatabaseQueue``, and use it until the closure that received it ends:
///
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
/// ```
///
/// Using it outside of the access stops the program with an explanation, because other threads may
/// be using the connection.
///
/// `Database` is Sendable so that the results of an access need not stay with the connection. This
/// is safe because every entry point checks that the running thread holds the access.
public final class Database: @unchecked Sendable {  // one access at a time: see `checkAccess()`
    /// The configuration that the database was opened with.
    public let configuration: Configuration

    /// The name of the database in errors: its label, or else its path.
    public let description: String

    let pointer: OpaquePointer
    /// The group of connections that this one belongs to.
    let group: ConnectionGroup
    /// The activity that other threads can inspect, if it is requested.
    let activity: ConnectionActivity?
    /// The name of the connection in its group.
    let name: String
    /// The reporter of statements and accesses, if there is one.
    let reporter: Reporter?
    /// The number of changed rows that were already reported.
    var toldChangeCount = 0
    /// The number of changed rows that must never be reported.
    var unheardChangeCount = 0
    @exclusivity(unchecked) private var handle: ConnectionHandle?
    private let authorizer = Authorizer()

    /// The access state: the owning thread, and whether statements can run without a check.
    let access = ConnectionAccess()
    /// The connection that the thread has accessed before this one, while it holds both accesses:
    /// see ``accessed``.
    @exclusivity(unchecked) final var outerAccess: Unretained<Database>?
    /// The statements, functions and backups that are running.
    @exclusivity(unchecked) var running = RunningStatements()
    /// The state of the transaction, tracked by the connection itself.
    @exclusivity(unchecked) var transactionState = TransactionState()
    /// Whether statements must be noted, but a cancellation is the only possible reason to refuse
    /// them.
    @exclusivity(unchecked) final var isOnlyWatched = false
    /// Whether statements that write throw `SQLITE_READONLY`.
    var isReadOnlyScope = false
    /// Whether the running statements are Shellac's own: see ``asking(_:)``.
    private(set) var isAskingByItself = false
    /// The events to report next, if upper layers have requested them.
    @exclusivity(unchecked) var owed: Owed = []

    /// The slots for the state of upper layers.
    @exclusivity(unchecked) var slots = Slots()
    /// The states of the schema that are known to be current.
    @exclusivity(unchecked) var knownSchema = KnownSchema()

    let statementCache: StatementCache
    /// Statements released outside of an access. The next access finalizes or resets them.
    let deferredCleanups = DeferredCleanups()
    /// The functions and collations that were added.
    @exclusivity(unchecked) var added = AddedExtensions()
    /// The hooks that SQLite calls, other than the authorizer.
    @exclusivity(unchecked) var hooks = ConnectionHooks()
    /// The recorder of the reads of the running function, if they are requested.
    @exclusivity(unchecked) var readRecorder: ReadRecorder?
    /// The advisor that finds statements which lack an index, if it is enabled.
    let indexAdvisor: IndexAdvisor?
    #if DEBUG
    /// The debug check of statements that write.
    @exclusivity(unchecked) var advice = StatementAdvice()
    #endif

    /// Opens a connection.
    init(
        path: String, configuration: Configuration, description: String,
        group: ConnectionGroup? = nil, activity: ConnectionActivity? = nil, name: String? = nil
    ) throws {
        ErrorLog.install()
        guard Features.versionNumber >= Features.oldestVersionNumber else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message:
                    "SQLite 3.35 or newer is needed, and \(String(cString: sqlite3_libversion())) is running")
        }
        let flags = configuration.readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let handle = try ConnectionHandle(path: path, flags: flags, vfs: configuration.vfs)
        self.configuration = configuration
        self.description = description
        let group = group ?? ConnectionGroup(reporter: Reporter(configuration, description))
        self.group = group
        reporter = group.reporter
        self.activity = activity
        self.name = name ?? activity?.label ?? description
        indexAdvisor = configuration.advisesIndexes ? IndexAdvisor() : nil
        pointer = handle.pointer
        self.handle = consume handle
        statementCache = StatementCache(capacity: configuration.statementCacheCapacity)
        authorizer.install(on: pointer)
        if reporter != nil { owed.insert(.report) }
        if activity != nil || reporter != nil { updateObstruction() }
        group.add(self)
    }

    /// A version number of the content, for caches of data that this connection has read.
    @exclusivity(unchecked) final var contentVersion = ContentVersion()
    /// Whether something is cached until the access ends: see ``AccessKeeper``.
    final var isKeptForAccess = false

    /// The underlying connection, for features that only the C API offers. Nil once the database is
    /// closed.
    ///
    /// Begin and end transactions with SQL or Shellac's methods. Do not replace the authorizer, the
    /// busy handler, the progress handler or the trace.
    public var sqliteConnection: OpaquePointer? {
        checkAccess()
        return isClosed ? nil : pointer
    }

    var isClosed: Bool { handle == nil }

    // MARK: - Preparing statements

    /// Runs a preparation, and returns SQLite's report about the statement.
    func effects(of prepare: () throws -> Void) rethrows -> StatementEffects {
        try authorizer.effects(of: prepare)
    }

    /// Calls a function, and returns the names of the tables that the statements it prepares may
    /// change: see ``Authorizer/tablesTouched(during:)``.
    func tablesTouched(during body: () throws -> Void) rethrows -> Authorizer.TouchedTables {
        try authorizer.tablesTouched(during: body)
    }

    /// Calls a function whose statements are only prepared, or undone: `tablesTouched(during:)`
    /// ignores them.
    func touchingNothing<Result>(_ body: () throws -> Result) rethrows -> Result {
        try authorizer.touchingNothing(body)
    }

    /// The tables for which SQLite reports each deleted row, even for a DELETE without WHERE: see
    /// ``Authorizer``.
    var tablesWithNotifiedDeletions: Set<CaseInsensitiveName> {
        get { authorizer.tablesWithNotifiedDeletions }
        set {
            authorizer.tablesWithNotifiedDeletions = newValue
            // SQLite only asks the authorizer during preparation, so this makes it prepare every
            // statement again.
            if handle != nil { authorizer.install(on: pointer) }
        }
    }

    /// Makes SQLite prepare again every statement that has not begun, if databases are attached.
    ///
    /// A name refers to the table in the first database that has one of that name: see "Database
    /// Object Name Resolution" in the SQLite documentation. A new table may take over the name of a
    /// table in an attached database. SQLite only checks the schemas of the databases that a
    /// statement uses.
    func resolveNamesAgain() {
        // The databases main and temp are 0 and 1.
        if let name = Features.databaseName, name(pointer, 2) == nil { return }
        authorizer.install(on: pointer)
    }

    // MARK: - Closing

    /// Closes the connection. If a statement is still in use, throws `SQLITE_BUSY`, and the
    /// connection is unchanged.
    func close() throws {
        guard handle != nil else { return }
        try checkClosing()
        dropHandle()
    }

    /// Throws `SQLITE_BUSY` if the connection cannot be closed. It is then unchanged.
    func checkClosing() throws {
        guard handle != nil else { return }
        guard running.backupCount == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "the database \(description) cannot be closed: a backup is still running")
        }
        deferredCleanups.finish()
        letGoOfStatements()
        letGoOfVirtualTables()
        if let running = keptStatement {
            let sql = sqlite3_sql(running).map(String.init(cString:))
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "the database \(description) cannot be closed: a statement is still in use", sql: sql
            )
        }
    }

    /// Runs statements that the user has not requested. They read the schema, the connection's
    /// settings, or whether another connection has changed the database. Traces and reports mark
    /// them.
    func asking<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = isAskingByItself
        isAskingByItself = true
        defer { isAskingByItself = outer }
        return try body()
    }

    /// Lets SQLite update its planner's statistics if necessary: see
    /// ``Configuration/optimizesWhenClosing``. Errors are ignored.
    func optimizeBeforeClosing() {
        guard configuration.optimizesWhenClosing, !configuration.readonly, !isClosed,
            (try? checkPlace()) != nil
        else { return }
        asking {
            try? makeStatement(sql: "PRAGMA analysis_limit = 400").execute()
            try? makeStatement(sql: "PRAGMA optimize").execute()
        }
    }

    /// Closes the connection whatever is in use. SQLite closes the file when the last statement is
    /// finalized.
    func abandon() {
        deferredCleanups.finish()
        // First release anything that may hold objects of the user, which may use the connection
        // when they are freed.
        withExtendedLifetime(takeListeners()) {}
        letGoOfStatements()
        fill(.transactions, with: nil)
        added.departures.hold { deferredCleanups.finishForGood { dropHandle() } }
    }

    /// Releases objects that hold Shellac's statements and can be recreated. Change handlers stay
    /// until the connection closes.
    private func letGoOfStatements() {
        indexAdvisor?.look(self)
        // First release anything that may hold objects of the user, which may use the connection
        // when they are freed.
        object(in: .transactions)?.object.connectionWillClose()
        statementCache.removeAll()
        withExtendedLifetime(slots.takeObjects(until: .closing)) {}
    }

    /// Makes virtual tables, such as those of FTS5, finalize their cached statements. They are
    /// prepared again when needed.
    private func letGoOfVirtualTables() {
        if sqlite3_next_stmt(pointer, nil) == nil { return }
        let isWritable = shellac_db_config_value(pointer, SQLITE_DBCONFIG_WRITABLE_SCHEMA) != 0
        sqlite3_exec(pointer, "PRAGMA writable_schema = RESET", nil, nil, nil)
        if isWritable { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1) }
    }

    /// A statement that is still in use and does not belong to a virtual table, if there is one.
    /// (Statements of virtual tables name their shadow tables with `'main'.`.)
    private var keptStatement: OpaquePointer? {
        let newest = sqlite3_next_stmt(pointer, nil)
        var statement = newest
        while let kept = statement {
            let sql = sqlite3_sql(kept).map(String.init(cString:))
            if sql?.contains("'main'.") == false { return kept }
            statement = sqlite3_next_stmt(pointer, kept)
        }
        return newest
    }

    private func dropHandle() {
        if !isClosed { hooks.place?.leave(self) }
        let listeners = takeListeners()
        access.close()
        group.remove(self)
        if refusedCommit != nil {
            hooks.confirmation?.refusal = nil
            group.forgetRefusal()
        }
        added.departures.hold {
            // Objects that are freed with the connection must find it closed.
            let closing = handle.take()
            let added = added.removeAll()
            updateObstruction()
            _ = consume closing
            withExtendedLifetime(added) {}
        }
        // A change handler that is freed now may use the database, which is closed.
        withExtendedLifetime(listeners) {}
    }

    /// Removes the change handlers and SQLite's hooks. The connection may outlive them, if a
    /// statement is finalized later.
    func takeListeners() -> [AnyObject] {
        if !isClosed {
            sqlite3_update_hook(pointer, nil, nil)
            exchangeCommitHook(for: nil)
            if hooks.wal != nil || hooks.confirmation != nil { sqlite3_wal_hook(pointer, nil, nil) }
            hooks.commit = []
            owed.remove(.confirmation)
            hooks.preUpdate?.takeOff()
        }
        defer { hooks.preUpdate = nil }
        return slots.takeObjects(until: .closed) + [hooks.preUpdate].compactMap { $0 }
    }
}
