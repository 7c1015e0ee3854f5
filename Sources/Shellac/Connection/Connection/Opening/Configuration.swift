// The configuration of a database: all options for opening and using it, and their types.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The configuration of a database: how it is opened and used.
///
/// ```swift
/// var configuration = Configuration()
/// configuration.label = "game"
/// configuration.busyMode = .timeout(5)
/// configuration.journalMode = .wal
/// configuration.prepareDatabase { db in
///     try db.execute(sql: "PRAGMA synchronous = NORMAL")
/// }
/// let dbQueue = try DatabaseQueue(path: "game.sqlite", configuration: configuration)
/// ```
public struct Configuration: Sendable {
    /// Whether SQLite enforces foreign keys.
    public var foreignKeysEnabled = true

    /// Whether the database is opened for reading only.
    public var readonly = false

    /// A name for the database, which errors, logs and threads bear.
    public var label: String?

    /// The way to deal with a lock that a statement needs and another connection holds.
    ///
    /// Unless it is set, a ``DatabaseQueue`` does not wait, and a ``DatabasePool`` waits for five seconds.
    public var busyMode: BusyMode {
        get { chosenBusyMode ?? .immediateError }
        set { chosenBusyMode = newValue }
    }
    private(set) var chosenBusyMode: BusyMode?

    /// The way in which SQLite keeps a transaction safe from crashes.
    public var journalMode: JournalMode = .default

    /// The name of the VFS that opens the file, or nil for that of the system: see "The SQLite OS Interface or VFS" in the SQLite
    /// documentation. An extension brings it along: see ``Database/loadExtension(_:entryPoint:)``.
    public var vfs: String?

    /// The time for which a connection keeps the locks of its file.
    public var lockingMode: LockingMode = .normal

    /// The place of temporary tables, and of what is sorted.
    public var temporaryStorage: TemporaryStorage = .default

    /// The size of the pages of a file that is created, in bytes: a power of two from 512 to 65536, or nil for that of SQLite. A file
    /// that is there keeps its own.
    public var pageSize: Int?

    /// The memory that each connection keeps pages of the file in, in bytes, or nil for that of SQLite, which is 2 MB.
    ///
    /// SQLite reads the file to set it: where another connection has locked the file, the opening waits, or throws, as
    /// ``busyMode`` says.
    public var cacheSize: Int?

    /// Whether the storage is asked, after each commit, whether it still has what was committed.
    ///
    /// Where it refuses, the statement that committed throws an error whose ``DatabaseError/leavesOutcomeUnknown`` is true. Whoever follows
    /// the transaction is told a rollback. Each later access throws the same error, until the database is closed.
    ///
    /// It is for storage that another machine can take over while this one believes that it has it, as in ``ceph()``. A file of the
    /// machine's own needs none of it. It costs a read of 24 bytes for each commit. SQLite's hook of the write-ahead log is taken for it, so that
    /// `PRAGMA wal_autocheckpoint` says 0 until something is set by it; the log is copied as before.
    ///
    /// Commits of ``Database/sqliteConnection`` are confirmed when the access ends. `VACUUM INTO` writes another file, which is not asked.
    public var confirmsCommits = false

    /// The kind of the transactions that `write`, `inTransaction` and `inSavepoint` open, unless they are told.
    public var defaultTransactionKind: TransactionKind = .immediate

    /// The clock that the date of transactions comes from: see ``Database/transactionDate``.
    public var transactionClock: any TransactionClock = .default

    /// Whether the description of errors and traced statements reveals the values bound to statements.
    ///
    /// Leave it false wherever logs travel further than the data should.
    public var publicStatementArguments = false

    /// Whether `"text"` is a text literal where it is not a name. SQLite allows this for the sake of old
    /// programs; it makes a mistyped column a constant.
    public var acceptsDoubleQuotedStringLiterals = false

    /// Whether an error names the foreign key that a statement has violated: see ``DatabaseError/Constraint/foreignKey``. SQLite does
    /// not say which one it was, so the statement runs once more, and is undone.
    public var namesForeignKeys = true

    /// What tells of the schema what SQLite does not: the columns that tell the rows of a view apart.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// A function that is called for each statement, on each connection: see ``Database/trace(options:_:)``.
    ///
    /// ```swift
    /// configuration.trace = { event in print(event) }
    /// ```
    ///
    /// It hears of statements that Shellac asks by itself, too: see ``TraceEvent/isInternal``.
    public var trace: (@Sendable (TraceEvent) -> Void)?

    /// The events that ``trace`` hears of: by default, the beginning of each statement, so that each is told once.
    public var traceOptions: TraceOptions = .statement

    /// A function that hears of what the database does: statements, accesses, transactions, checkpoints, and advice.
    ///
    /// ```swift
    /// configuration.report = { report in
    ///     switch report.event {
    ///     case .statement(let run) where run.duration > .milliseconds(100):
    ///         logger.warning("slow", metadata: ["sql": "\(run.sql)", "took": "\(run.duration)"])
    ///     case .access(let access) where access.waited > .seconds(1):
    ///         logger.warning("\(access.site) waited for \(access.waited)")
    ///     case .advice(let advice):
    ///         logger.notice("\(advice)")
    ///     default:
    ///         break
    ///     }
    /// }
    /// ```
    ///
    /// It is called at the end of each of these, on the thread that has done it, or, of an asynchronous access, in the task that has
    /// asked for it; and by several threads at the same time. It
    /// must not use the database that it hears of, which stops the program, with a sentence; nor hand what it hears to a task that
    /// writes it there, which would be told of, too. What it takes is taken from the statement and the access, so leave
    /// what is slow to others. Where there is none, nothing is measured.
    ///
    /// ``DatabaseReport/attributes`` are named as OpenTelemetry names them.
    public var report: (@Sendable (DatabaseReport) -> Void)?

    /// Whether statements that read whole tables again and again are told of, once each, with the index that would help: see
    /// ``IndexAdvice``. Without this, that is so in debug builds alone.
    ///
    /// It is told to ``report``, and where there is none, to ``Database/logError``, or, in debug builds, to the standard error.
    public var advisesIndexes = Configuration.isDebugBuild

    static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// The number of statements that a connection keeps prepared.
    public var statementCacheCapacity = 128

    /// The number of connections that a ``DatabasePool`` reads with at the same time, at most. They are opened when they are
    /// needed. No pool has more than 63.
    public var maximumReaderCount = 5

    /// Whether a ``DatabasePool`` keeps the connections that it reads with when it gives back memory.
    public var persistentReadOnlyConnections = false

    /// Whether an access may leave a transaction open, which a later access ends.
    ///
    /// It is unsafe because whoever comes between is inside of that transaction.
    public var allowsUnsafeTransactions = false

    /// The way in which the log of a ``DatabasePool`` is copied to the database file.
    public var checkpoints: Checkpoints = .background

    /// How long accesses go on that run when ``DatabaseWriter/run()`` is cancelled. Then they are interrupted, and rolled back.
    ///
    /// Who ends a program waits for it: many that run containers kill them ten seconds after having asked.
    public var closingDeadline: Duration = .seconds(8)

    /// Whether SQLite looks, before a database is closed that can be written to, whether its planner knows enough of the tables: see
    /// "PRAGMA optimize" in the SQLite documentation. It reads a few hundred rows of each index at most.
    public var optimizesWhenClosing = false

    /// What surrounds a function that is called later, where there is no task to bring it along.
    ///
    /// Task-local values reach all asynchronous accesses by themselves. What else belongs to a thread, such as the context of a
    /// tracer that is written in C, is brought along by this: it is called where the access is asked for, and returns a function
    /// that is called where the access runs, with what it is to surround.
    ///
    /// ```swift
    /// configuration.carry = {
    ///     let context = tracer_current()
    ///     return { access in
    ///         tracer_push(context)
    ///         access()
    ///         tracer_pop()
    ///     }
    /// }
    /// ```
    ///
    /// It is for ``DatabaseReader/asyncRead(file:line:_:)`` and its kin, and for ``DatabaseWriter/spawnConcurrentRead(file:line:_:)``.
    public var carry: (@Sendable () -> Carried)?

    /// A function that surrounds another one, which it calls once.
    public typealias Carried = @Sendable (() -> Void) -> Void

    private(set) var preparations: [@Sendable (Database) throws -> Void] = []

    /// Creates a configuration whose properties have their default values.
    public init() {}

    /// Adds work for each connection, right after it has been opened: pragmas, functions, collations.
    ///
    /// - Parameter setup: Called for each connection, behind the functions that were added before: also for those that a pool
    ///   opens later, to read. What it throws, the opening of the connection throws.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        preparations.append(setup)
    }
}

/// The way to deal with a lock that a statement needs and another connection holds.
///
/// The queues of one named database in memory share a cache: for their locks, SQLite throws `SQLITE_LOCKED` at once.
public enum BusyMode: Sendable {
    /// The statement throws `SQLITE_BUSY` at once.
    case immediateError

    /// The statement waits, for so many seconds at most.
    case timeout(TimeInterval)

    /// The function is told how many times it has been called for this lock, and returns whether SQLite
    /// should try again. It must not use the database.
    case callback(@Sendable (_ numberOfTries: Int) -> Bool)
}

/// The way in which SQLite keeps a transaction safe from crashes: see "PRAGMA journal_mode" in the SQLite
/// documentation.
public enum JournalMode: String, Sendable {
    /// As the database file says.
    case `default` = ""
    /// The journal file is deleted at the end of each transaction.
    case delete
    /// The journal file is cut to no length at the end of each transaction, which is often faster than to delete it.
    case truncate
    /// The journal file stays, and its header is overwritten at the end of each transaction.
    case persist
    /// The journal is kept in memory: a crash in the middle of a transaction is likely to ruin the file.
    case memory
    /// Changes go to a write-ahead log: readers and one writer do not block each other.
    case wal
    /// There is no journal: neither a crash nor an error in the middle of a transaction can be undone.
    case off
}

/// The way in which a pool's write-ahead log is copied to the database file: see "Checkpointing" in the SQLite documentation.
public enum Checkpoints: Sendable {
    /// Beside the writer, by a connection of their own, when the log has grown.
    case background
    /// As SQLite does it by itself: the commit that finds a large log copies it, and takes that much longer.
    case atCommit
    /// Not at all: somebody else sees to it, such as a program that replicates the log.
    case none
}

/// The time at which a transaction takes its locks: see "Transaction" in the SQLite documentation.
public enum TransactionKind: String, Sendable, CaseIterable {
    /// At the first statement that needs them.
    case deferred = "DEFERRED"
    /// The write lock at once.
    case immediate = "IMMEDIATE"
    /// All locks at once: in the journal modes other than WAL, nobody else reads.
    case exclusive = "EXCLUSIVE"
}

/// The end of a transaction.
public enum TransactionCompletion: Sendable {
    /// What was written is kept.
    case commit
    /// What was written is undone.
    case rollback
}

/// A clock that the date of transactions comes from.
///
/// ```swift
/// configuration.transactionClock = .custom { db in Date(timeIntervalSince1970: 0) }
/// ```
public protocol TransactionClock: Sendable {
    /// Returns the date of a transaction. It is asked once in each transaction, when the date is first needed.
    ///
    /// - Throws: an error that keeps ``Database/transactionDate`` from having a date: who asks for it gets the error.
    func now(_ db: Database) throws -> Date
}

/// The system's clock.
public struct DefaultTransactionClock: TransactionClock {
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A clock of one's own.
public struct CustomTransactionClock: TransactionClock {
    let clock: @Sendable (Database) throws -> Date

    public func now(_ db: Database) throws -> Date { try clock(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The system's clock.
    public static var `default`: Self { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// Makes a clock of one's own: a fixed date in tests, say.
    ///
    /// - Parameter clock: Returns the date. It is asked as ``TransactionClock/now(_:)`` is: once in a transaction, and outside
    ///   of one each time.
    public static func custom(_ clock: @escaping @Sendable (Database) throws -> Date) -> Self {
        CustomTransactionClock(clock: clock)
    }
}
