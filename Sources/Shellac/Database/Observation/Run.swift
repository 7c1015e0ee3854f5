// One execution of a statement with its buffered row events, and the stack of such runs.

import CSQLite

/// A run of a statement, and its changes so far.
///
/// Usually a run is the only one, in a transaction, and nothing is allocated or retained for it. An
/// ended run is reused, with the memory of its events. The code that begins a run refers to it
/// without retaining it.
final class Run {
    private(set) var statement: ObjectIdentifier?
    /// The number of functions called by SQLite that were running.
    private(set) var depth = 0
    private(set) var wasInsideTransaction = false
    /// Whether the transaction has only read.
    private(set) var isSilent = false
    /// The observers interested in its changes. The broker keeps the audience until the transaction
    /// has ended.
    private(set) var audience: Unretained<Audience>?
    /// The statement, and how often SQLite had prepared it again before it ran. Nil if that is not
    /// checked.
    private var preparation: (statement: OpaquePointer, count: Int32)?
    /// The state of the schema that the statement is presumed to fit.
    private(set) var schemaGeneration: UInt64 = 0
    @exclusivity(unchecked) var events = EventBuffer()
    /// Whether the commit hook has fired. The statement is then a transaction of its own.
    var isCommitting = false
    /// The error that an observer has thrown in the commit hook.
    @exclusivity(unchecked) var veto: (any Error)?
    /// The run that began before.
    fileprivate(set) var previous: Unretained<Run>?

    func begin(
        _ statement: Statement, depth: Int, isInside: Bool, isSilent: Bool, _ audience: Unretained<Audience>?
    ) {
        self.statement = ObjectIdentifier(statement)
        self.depth = depth
        wasInsideTransaction = isInside
        self.isSilent = isSilent
        self.audience = audience
    }

    /// Notes the preparation of a statement that is presumed to fit the known schema.
    func notePreparation(of statement: Statement) {
        let pointer = statement.sqliteStatement
        preparation = (pointer, Self.preparationCount(of: pointer))
        schemaGeneration = statement.database.knownSchema.prepared
    }

    /// Whether SQLite has prepared the statement again in its first step, usually because the
    /// schema has changed. The columns of its rows and its kinds of changes may then differ.
    var mayBeOutdated: Bool {
        guard let preparation else { return false }
        return Self.preparationCount(of: preparation.statement) != preparation.count
    }

    private static func preparationCount(of statement: OpaquePointer) -> Int32 {
        sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0)
    }

    /// Forgets everything, but keeps the memory.
    @inline(__always)
    fileprivate func reset() {
        statement = nil
        audience = nil
        preparation = nil
        events.removeAll()
        isCommitting = false
        if veto != nil { veto = nil }
    }
}

/// The active runs, in the order they began. Each refers to the one before it.
struct RunStack: ~Copyable {
    /// The run that began last.
    private(set) var last: Unretained<Run>?
    /// Ended runs, to be reused.
    private(set) var spare: Unretained<Run>?

    deinit {
        for first in [last, spare] {
            var next = first
            while let run = next {
                next = run.use { $0.previous }
                Unmanaged.passUnretained(run.object).release()
            }
        }
    }

    var isEmpty: Bool { last == nil }

    /// Creates a run that lives until `deinit` releases it.
    private static func makeRun() -> Unretained<Run> {
        Unretained(Unmanaged.passRetained(Run()).takeUnretainedValue())
    }

    /// Appends a run.
    mutating func add() -> Unretained<Run> {
        let run = spare ?? Self.makeRun()
        run.use {
            spare = $0.previous
            $0.previous = last
        }
        last = run
        return run
    }

    /// Returns the run of a statement.
    func run(of statement: Statement) -> Unretained<Run>? {
        let identifier = ObjectIdentifier(statement)
        return last { $0.statement == identifier }
    }

    /// Returns the last run for which a condition holds.
    func last(where isWanted: (Run) -> Bool) -> Unretained<Run>? {
        var next = last
        while let run = next, !run.use(isWanted) { next = run.use { $0.previous } }
        return next
    }

    /// Removes an ended run. Returns the one that began before it. The caller must give the removed
    /// run back: see ``recycle(_:)``.
    mutating func remove(_ run: Unretained<Run>) -> Unretained<Run>? {
        let previous = run.use { $0.previous }
        if run.context == last?.context {
            last = previous
        } else {
            unlink(run, previous)
        }
        return previous
    }

    /// Removes a run that is not the last. The statement of a cursor may end before those that
    /// began later.
    @inline(never)
    private func unlink(_ run: Unretained<Run>, _ previous: Unretained<Run>?) {
        last { $0.previous?.context == run.context }?.use { $0.previous = previous }
    }

    /// Keeps an ended run for reuse.
    @inline(__always)
    mutating func recycle(_ run: Unretained<Run>) {
        run.use {
            $0.reset()
            $0.previous = spare
        }
        spare = run
    }

    /// Ends all runs: their statements belong to no other transaction.
    mutating func removeAll() {
        while let run = last {
            last = run.use { $0.previous }
            recycle(run)
        }
    }

    /// Removes and returns the events of all runs, in the order the runs began.
    func takeEvents() -> [RowEvent] { Self.takeEvents(upTo: last) }

    private static func takeEvents(upTo last: Unretained<Run>?) -> [RowEvent] {
        guard let last else { return [] }
        return last.use { run in
            defer { run.events.removeAll() }
            return takeEvents(upTo: run.previous) + run.events.events
        }
    }
}
