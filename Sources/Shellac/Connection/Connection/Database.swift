// The database connection: its state, the effects of prepared statements, and closing.

import CSQLite

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
    /// The configuration that the database was opened with.
    public let configuration: Configuration

    /// The name of the database in errors: its label, or else its path.
    public let description: String

    let pointer: OpaquePointer
    /// The connections that this one belongs to.
    let group: ConnectionGroup
    /// What others may see of the work of this connection, where somebody wants to know.
    let activity: ConnectionActivity?
    /// The name of the connection among those of its group.
    let name: String
    /// Who hears of what is done.
    let reporter: Reporter?
    /// How many changed rows they were told of.
    var toldChangeCount = 0
    /// How many rows were changed and were not, of which nobody is to hear.
    var unheardChangeCount = 0
    @exclusivity(unchecked) private var handle: ConnectionHandle?
    private let authorizer = Authorizer()

    /// Who may use the connection, and whether its statements may run without a question.
    let access = ConnectionAccess()
    /// The connection that the thread has had the access to before this one, as long as it has that to both: see ``accessed``.
    @exclusivity(unchecked) final var outerAccess: Unretained<Database>?
    /// The statements, functions and backups that are running.
    @exclusivity(unchecked) var running = RunningStatements()
    /// The state of the transaction, as the connection itself knows it.
    @exclusivity(unchecked) var transactionState = TransactionState()
    /// Whether statements have to be noted, and need not be refused for another reason than a cancellation.
    @exclusivity(unchecked) final var isOnlyWatched = false
    /// Whether statements that write throw `SQLITE_READONLY`.
    var isReadOnlyScope = false
    /// Whether what runs is asked by ourselves: see ``asking(_:)``.
    private(set) var isAskingByItself = false
    /// The events to tell next, where somebody has asked for them.
    @exclusivity(unchecked) var owed: Owed = []

    /// The slots in which upper layers keep their state.
    @exclusivity(unchecked) var slots = Slots()
    /// The states of the schema that are known.
    @exclusivity(unchecked) var knownSchema = KnownSchema()

    let statementCache: StatementCache
    /// Statements released outside of an access: the next access finalizes or resets them.
    let deferredCleanups = DeferredCleanups()
    /// The functions and collations that were added.
    @exclusivity(unchecked) var added = AddedExtensions()
    /// The hooks that SQLite calls beside the authorizer.
    @exclusivity(unchecked) var hooks = ConnectionHooks()
    /// What notes the reads of the function that is running, if somebody wants to know them.
    @exclusivity(unchecked) var readRecorder: ReadRecorder?
    /// What finds statements that an index would help, where somebody wants to know.
    let indexAdvisor: IndexAdvisor?
    #if DEBUG
    /// The check of statements that write.
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

    /// What is compared by those who keep what this connection has read.
    @exclusivity(unchecked) final var contentVersion = ContentVersion()
    /// Whether somebody keeps something until the access ends: see ``AccessKeeper``.
    final var isKeptForAccess = false

    /// The underlying connection, for what only the C API does. Nil once the database is closed.
    ///
    /// Open and end transactions by SQL or by our methods, and leave the authorizer, the busy handler, the progress
    /// handler and the trace to us.
    public var sqliteConnection: OpaquePointer? {
        checkAccess()
        return isClosed ? nil : pointer
    }

    var isClosed: Bool { handle == nil }

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
    var tablesWithNotifiedDeletions: Set<CaseInsensitiveName> {
        get { authorizer.tablesWithNotifiedDeletions }
        set {
            authorizer.tablesWithNotifiedDeletions = newValue
            // SQLite asks while it prepares: this has it prepare every statement again.
            if handle != nil { authorizer.install(on: pointer) }
        }
    }

    /// Makes SQLite prepare every statement again that has not begun, where databases are attached.
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
        try checkClosing()
        dropHandle()
    }

    /// Throws `SQLITE_BUSY` where the connection cannot be closed. It is then as it was.
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

    /// Runs statements that nobody has asked for: to know the schema, whether somebody else has changed the database, and what the
    /// connection is set to. Traces and reports tell them apart.
    func asking<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = isAskingByItself
        isAskingByItself = true
        defer { isAskingByItself = outer }
        return try body()
    }

    /// Has SQLite look whether its planner knows enough of the tables: see ``Configuration/optimizesWhenClosing``. An error is nobody's
    /// business.
    func optimizeBeforeClosing() {
        guard configuration.optimizesWhenClosing, !configuration.readonly, !isClosed,
            (try? checkPlace()) != nil
        else { return }
        asking {
            try? makeStatement(sql: "PRAGMA analysis_limit = 400").execute()
            try? makeStatement(sql: "PRAGMA optimize").execute()
        }
    }

    /// Closes the connection whatever is in use: SQLite closes the file when the last statement is finalized.
    func abandon() {
        deferredCleanups.finish()
        // First what may hold objects of the user, which may use the connection when they are freed.
        withExtendedLifetime(takeListeners()) {}
        letGoOfStatements()
        fill(.transactions, with: nil)
        added.departures.hold { deferredCleanups.finishForGood { dropHandle() } }
    }

    /// Lets go of what holds statements of ours, and can be made again. Who hears of changes goes with the connection alone.
    private func letGoOfStatements() {
        indexAdvisor?.look(self)
        // First what may hold objects of the user, which may use the connection when they are freed.
        object(in: .transactions)?.object.connectionWillClose()
        statementCache.removeAll()
        withExtendedLifetime(slots.takeObjects(until: .closing)) {}
    }

    /// Has virtual tables, such as those of FTS5, let go of the statements that they keep: they are made anew when they are needed.
    private func letGoOfVirtualTables() {
        if sqlite3_next_stmt(pointer, nil) == nil { return }
        let isWritable = shellac_db_config_value(pointer, SQLITE_DBCONFIG_WRITABLE_SCHEMA) != 0
        sqlite3_exec(pointer, "PRAGMA writable_schema = RESET", nil, nil, nil)
        if isWritable { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1) }
    }

    /// A statement that somebody keeps, and no virtual table, if there is one. (Theirs name the tables that are behind them so.)
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
            // Objects that are freed with the connection find it closed.
            let closing = handle.take()
            let added = added.removeAll()
            updateObstruction()
            _ = consume closing
            withExtendedLifetime(added) {}
        }
        // Who hears of changes and is freed now may look at the database, which is closed.
        withExtendedLifetime(listeners) {}
    }

    /// Takes those who hear of changes, and SQLite's hooks off: the connection may outlive them, in a statement that is
    /// finalized later.
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
