// The configuration of a database: all options for opening and using it, and their types.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The options for opening and using a database.
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

    /// Whether the database is opened read-only.
    public var readonly = false

    /// A name for the database, which appears in errors, logs and thread names.
    public var label: String?

    /// The strategy for a lock that a statement needs and another connection holds.
    ///
    /// By default, a ``DatabaseQueue`` does not wait, and a ``DatabasePool`` waits for five
    /// seconds.
    public var busyMode: BusyMode {
        get { chosenBusyMode ?? .immediateError }
        set { chosenBusyMode = newValue }
    }
    private(set) var chosenBusyMode: BusyMode?

    /// SQLite's method to protect transactions from crashes.
    public var journalMode: JournalMode = .default

    /// The name of the VFS that opens the file, or nil for the system's VFS. See "The SQLite OS
    /// Interface or VFS" in the SQLite documentation. An extension may provide a VFS: see
    /// ``Database/loadExtension(_:entryPoint:)``.
    public var vfs: String?

    /// The time for which a connection keeps its file locks.
    public var lockingMode: LockingMode = .normal

    /// The place for temporary tables and for sorting.
    public var temporaryStorage: TemporaryStorage = .default

    /// The page size of new files in bytes, a power of two from 512 to 65536. Nil selects SQLite's
    /// default. An existing file keeps its page size.
    public var pageSize: Int?

    /// The memory for each connection's page cache in bytes, or nil for SQLite's default of 2 MB.
    ///
    /// SQLite reads the file to set it. If another connection has locked the file, opening waits or
    /// throws an error, depending on ``busyMode``.
    public var cacheSize: Int?

    /// Whether Shellac asks the storage, after each commit, if it still has the commit.
    ///
    /// If the storage refuses, the committing statement throws an error whose
    /// ``DatabaseError/leavesOutcomeUnknown`` is true. Transaction handlers receive a rollback.
    /// Each later access throws the same error, until the database is closed.
    ///
    /// This option is for storage that another machine can take over unnoticed, as in ``ceph()``.
    /// Files on the local machine do not need it. It costs a read of 24 bytes for each commit.
    ///
    /// Shellac then uses SQLite's hook of the write-ahead log. So `PRAGMA wal_autocheckpoint`
    /// returns 0 until you set it. The log is copied as before.
    ///
    /// Commits made with ``Database/sqliteConnection`` are confirmed when the access ends. `VACUUM
    /// INTO` writes another file, which is not checked.
    public var verifiesCommits = false

    /// Whether a damaged file is opened as far as SQLite can read its schema. Such a connection
    /// must not write. The command `shellac recover` uses it.
    package var toleratesDamage = false

    /// The default kind of the transactions that `write`, `inTransaction` and `inSavepoint` open.
    public var defaultTransactionKind: TransactionKind = .immediate

    /// The clock for the date of transactions: see ``Database/transactionDate``.
    public var transactionClock: any TransactionClock = .default

    /// Whether descriptions of errors and traced statements reveal the values bound to statements.
    ///
    /// Leave it false if logs travel further than the data should.
    public var publicStatementArguments = false

    /// Whether `"text"` is a text literal if it is not a name. SQLite allows this for old programs.
    /// It turns a mistyped column into a constant.
    public var acceptsDoubleQuotedStringLiterals = false

    /// Whether an error names the violated foreign key: see
    /// ``DatabaseError/Constraint/foreignKey``. SQLite does not report which one it was, so Shellac
    /// runs the failed statement once more, and undoes it.
    public var namesForeignKeys = true

    /// A source of facts about the schema that SQLite does not report: the columns that identify
    /// the rows of a view.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// A function that is called for each statement on each connection: see
    /// ``Database/trace(options:_:)``.
    ///
    /// ```swift
    /// configuration.trace = { event in print(event) }
    /// ```
    ///
    /// It also gets the statements that Shellac itself runs: see ``TraceEvent/isInternal``.
    public var trace: (@Sendable (TraceEvent) -> Void)?

    /// The events that ``trace`` gets. By default, it is the beginning of each statement, so that
    /// each is reported once.
    public var traceOptions: TraceOptions = .statement

    /// A function that gets reports of the database's work: statements, accesses, transactions,
    /// checkpoints, and advice.
    ///
    /// ```swift
    /// configuration.reportHandler = { report in
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
    /// The function is called at the end of each of these, on the thread that did the work. For an
    /// asynchronous access, it is called in the task that requested it. Several threads may call it
    /// at the same time.
    ///
    /// The function must not use the database that it gets reports of, which stops the program with
    /// an explanation. Nor should it pass reports to a task that writes them to that database, as
    /// those writes would be reported, too. Its running time adds to the statement and the access,
    /// so hand over slow work. Without a function, nothing is measured.
    ///
    /// ``DatabaseReport/attributes`` are named according to OpenTelemetry.
    public var reportHandler: (@Sendable (DatabaseReport) -> Void)?

    /// Whether Shellac reports statements that repeatedly read whole tables, once each, with the
    /// index that would help. See ``IndexAdvice``. By default, it does so in debug builds only.
    ///
    /// The advice goes to ``reportHandler``. Without one, it goes to ``Database/logError``, or in a
    /// debug build to the standard error output.
    public var advisesIndexes = Configuration.isDebugBuild

    static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// The number of prepared statements that a connection caches.
    public var statementCacheCapacity = 128

    /// The maximum number of connections that a ``DatabasePool`` reads with at the same time. They
    /// are opened when needed. No pool has more than 63.
    public var maximumReaderCount = 5

    /// Whether a ``DatabasePool`` keeps its reader connections when it releases memory.
    public var persistentReadOnlyConnections = false

    /// Whether an access may leave a transaction open, for a later access to end.
    ///
    /// It is unsafe because accesses in between run inside that transaction.
    public var allowsUnsafeTransactions = false

    /// The method to copy the write-ahead log of a ``DatabasePool`` to the database file.
    public var checkpoints: Checkpoints = .background

    /// The time for which running accesses may continue after ``DatabaseWriter/run()`` was
    /// cancelled. After that, they are interrupted and rolled back.
    ///
    /// The program's shutdown waits for it. Many container runtimes kill a program ten seconds
    /// after requesting its end.
    public var shutdownTimeout: Duration = .seconds(8)

    /// Whether SQLite updates its planner's statistics if necessary, before a writable database is
    /// closed. See "PRAGMA optimize" in the SQLite documentation. It reads at most a few hundred
    /// rows of each index.
    public var optimizesWhenClosing = false

    /// A function that carries a context over to work that runs later without a task.
    ///
    /// Task-local values reach all asynchronous accesses automatically. Use this function for other
    /// values that belong to a thread, such as the context of a tracer written in C. It is called
    /// where an access is requested. It returns a function that is called where the access runs,
    /// and that surrounds the access.
    ///
    /// ```swift
    /// configuration.taskContext = {
    ///     let context = tracer_current()
    ///     return { access in
    ///         tracer_push(context)
    ///         access()
    ///         tracer_pop()
    ///     }
    /// }
    /// ```
    ///
    /// It applies to ``DatabaseReader/asyncRead(file:line:_:)`` and similar methods, and to
    /// ``DatabaseWriter/spawnConcurrentRead(file:line:_:)``.
    public var taskContext: (@Sendable () -> TaskContext)?

    /// A function that surrounds another one, which it must call once.
    public typealias TaskContext = @Sendable (() -> Void) -> Void

    private(set) var preparations: [@Sendable (Database) throws -> Void] = []

    /// Creates a configuration whose properties have their default values.
    public init() {}

    /// Adds a setup function for each new connection: for pragmas, functions, collations.
    ///
    /// - Parameter setup: A function that is called for each connection, after those added before.
    ///   It also gets the connections that a pool later opens for reading. If it throws, opening
    ///   the connection throws the same error.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        preparations.append(setup)
    }
}

/// The strategy for a lock that a statement needs and another connection holds.
///
/// Queues of one named in-memory database share a cache. For their locks, SQLite throws
/// `SQLITE_LOCKED` at once.
public enum BusyMode: Sendable {
    /// The statement throws `SQLITE_BUSY` at once.
    case immediateError

    /// The statement waits, at most for the given number of seconds.
    case timeout(TimeInterval)

    /// The function gets the number of its previous calls for this lock, and returns whether SQLite
    /// should try again. It must not use the database.
    case callback(@Sendable (_ numberOfTries: Int) -> Bool)
}

/// SQLite's method to protect transactions from crashes: see "PRAGMA journal_mode" in the SQLite
/// documentation.
public enum JournalMode: String, Sendable {
    /// The mode of the database file.
    case `default` = ""
    /// The journal file is deleted at the end of each transaction.
    case delete
    /// The journal file is truncated at the end of each transaction, which is often faster than
    /// deleting it.
    case truncate
    /// The journal file stays, and its header is overwritten at the end of each transaction.
    case persist
    /// The journal is kept in memory. A crash in the middle of a transaction will probably corrupt
    /// the file.
    case memory
    /// Changes go to a write-ahead log: readers and one writer do not block each other.
    case wal
    /// There is no journal. Neither a crash nor an error in the middle of a transaction can be
    /// undone.
    case off
}

/// The method to copy a pool's write-ahead log to the database file: see "Checkpointing" in the
/// SQLite documentation.
public enum Checkpoints: Sendable {
    /// In parallel to the writer, on a connection of its own, when the log has grown.
    case background
    /// By SQLite's own method: the commit that finds a large log copies it, and takes that much
    /// longer.
    case atCommit
    /// Not at all: something else copies it, such as a program that replicates the log.
    case none
}

/// The time at which a transaction takes its locks: see "Transaction" in the SQLite documentation.
public enum TransactionKind: String, Sendable, CaseIterable {
    /// At the first statement that needs them.
    case deferred = "DEFERRED"
    /// The write lock immediately.
    case immediate = "IMMEDIATE"
    /// All locks immediately. In journal modes other than WAL, no other connection can read.
    case exclusive = "EXCLUSIVE"
}

/// The end of a transaction.
public enum TransactionCompletion: Sendable {
    /// The changes are kept.
    case commit
    /// The changes are undone.
    case rollback
}

/// A clock for the date of transactions.
///
/// ```swift
/// configuration.transactionClock = .custom { db in Date(timeIntervalSince1970: 0) }
/// ```
public protocol TransactionClock: Sendable {
    /// Returns the date of a transaction. It is called once per transaction, when the date is first
    /// needed.
    ///
    /// - Throws: an error, which ``Database/transactionDate`` then throws.
    func now(_ db: Database) throws -> Date
}

/// The system's clock.
public struct DefaultTransactionClock: TransactionClock {
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A custom clock.
public struct CustomTransactionClock: TransactionClock {
    let clock: @Sendable (Database) throws -> Date

    public func now(_ db: Database) throws -> Date { try clock(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The system's clock.
    public static var `default`: Self { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// Creates a custom clock, for example with a fixed date in tests.
    ///
    /// - Parameter clock: A function that returns the date. As with ``TransactionClock/now(_:)``,
    ///   it is called once per transaction. Outside of a transaction, it is called each time.
    public static func custom(_ clock: @escaping @Sendable (Database) throws -> Date) -> Self {
        CustomTransactionClock(clock: clock)
    }
}
