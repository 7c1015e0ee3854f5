// One execution of a statement with its buffered row events, and the stack of such runs.

import CSQLite

/// A run of a statement, and the changes that it has made so far.
///
/// Most runs are the only one, in a transaction, and nothing is allocated or counted for them: one that has ended is used
/// again, with the memory of its events, and whoever has begun one follows it without counting.
final class Run {
    private(set) var statement: ObjectIdentifier?
    /// How many functions called by SQLite were running.
    private(set) var depth = 0
    private(set) var wasInsideTransaction = false
    /// Whether the transaction is one that has only read.
    private(set) var isSilent = false
    /// Those who want to hear of its changes: the broker keeps them until the transaction has ended.
    private(set) var audience: Unretained<Audience>?
    /// The statement, and how often SQLite had prepared it anew before it ran, where that is looked at.
    private var preparation: (statement: OpaquePointer, count: Int32)?
    /// The state of the schema that the statement is presumed to fit.
    private(set) var schemaGeneration: UInt64 = 0
    @exclusivity(unchecked) var events = EventBuffer()
    /// Whether the commit hook has fired: the statement is a transaction of its own.
    var isCommitting = false
    /// What an observer has thrown in the commit hook.
    @exclusivity(unchecked) var veto: (any Error)?
    /// The run that had begun before.
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

    /// The statement is presumed to fit the schema that is known.
    func notePreparation(of statement: Statement) {
        let pointer = statement.sqliteStatement
        preparation = (pointer, Self.preparationCount(of: pointer))
        schemaGeneration = statement.database.knownSchema.prepared
    }

    /// Whether SQLite has prepared the statement anew in its first step: mostly since the schema is another one. The columns
    /// of its rows may be others then, and its kinds of changes.
    var mayBeOutdated: Bool {
        guard let preparation else { return false }
        return Self.preparationCount(of: preparation.statement) != preparation.count
    }

    private static func preparationCount(of statement: OpaquePointer) -> Int32 {
        sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0)
    }

    /// Forgets everything but the memory.
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

/// The runs that have begun, in that order: each knows the one before it.
struct RunStack: ~Copyable {
    /// The run that has begun last.
    private(set) var last: Unretained<Run>?
    /// Runs that have ended, to be used again.
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

    /// Makes a run that lives until it is released above.
    private static func makeRun() -> Unretained<Run> {
        Unretained(Unmanaged.passRetained(Run()).takeUnretainedValue())
    }

    /// Puts a run behind the others.
    mutating func add() -> Unretained<Run> {
        let run = spare ?? Self.makeRun()
        run.use {
            spare = $0.previous
            $0.previous = last
        }
        last = run
        return run
    }

    /// The run of a statement.
    func run(of statement: Statement) -> Unretained<Run>? {
        let identifier = ObjectIdentifier(statement)
        return last { $0.statement == identifier }
    }

    /// The last run for which a condition holds.
    func last(where isWanted: (Run) -> Bool) -> Unretained<Run>? {
        var next = last
        while let run = next, !run.use(isWanted) { next = run.use { $0.previous } }
        return next
    }

    /// Takes a run out that has ended. Returns the one that had begun before it. Whoever has taken it gives it back:
    /// see ``recycle(_:)``.
    mutating func remove(_ run: Unretained<Run>) -> Unretained<Run>? {
        let previous = run.use { $0.previous }
        if run.context == last?.context {
            last = previous
        } else {
            unlink(run, previous)
        }
        return previous
    }

    /// The statement of a cursor may end before those that began later.
    @inline(never)
    private func unlink(_ run: Unretained<Run>, _ previous: Unretained<Run>?) {
        last { $0.previous?.context == run.context }?.use { $0.previous = previous }
    }

    /// Keeps a run that has ended for another one.
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

    /// Takes the events of all runs, in the order in which these began.
    func takeEvents() -> [RowEvent] { Self.takeEvents(upTo: last) }

    private static func takeEvents(upTo last: Unretained<Run>?) -> [RowEvent] {
        guard let last else { return [] }
        return last.use { run in
            defer { run.events.removeAll() }
            return takeEvents(upTo: run.previous) + run.events.events
        }
    }
}
