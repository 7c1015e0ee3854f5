/// A run of a statement, and the changes that it has made so far.
///
/// Most runs are the only one, in a transaction, and nothing is allocated or counted for them: one that has ended is used
/// again, with the memory of its events, and whoever has begun one follows it without counting.
final class Run {
    @exclusivity(unchecked) private(set) var statement: ObjectIdentifier?
    /// How many functions called by SQLite were running.
    @exclusivity(unchecked) private(set) var depth = 0
    @exclusivity(unchecked) private(set) var wasInsideTransaction = false
    /// Whether the transaction is one that has only read.
    @exclusivity(unchecked) private(set) var isSilent = false
    /// Those who want to hear of its changes: the broker keeps them until the transaction has ended.
    @exclusivity(unchecked) private(set) var audience: Unmanaged<Audience>?
    @exclusivity(unchecked) var events = EventBuffer()
    /// Whether the commit hook has fired: the statement is a transaction of its own.
    @exclusivity(unchecked) var isCommitting = false
    /// What an observer has thrown in the commit hook.
    @exclusivity(unchecked) var veto: (any Error)?
    /// The run that had begun before.
    @exclusivity(unchecked) fileprivate(set) var previous: Unmanaged<Run>?

    @inline(__always)
    func begin(
        _ statement: Statement, depth: Int, isInside: Bool, isSilent: Bool, _ audience: Unmanaged<Audience>?
    ) {
        self.statement = ObjectIdentifier(statement)
        self.depth = depth
        wasInsideTransaction = isInside
        self.isSilent = isSilent
        self.audience = audience
    }

    /// Forgets everything but the memory.
    @inline(__always)
    fileprivate func reset() {
        statement = nil
        audience = nil
        events.removeAll()
        isCommitting = false
        if veto != nil { veto = nil }
    }
}

/// The runs that have begun, in that order: each knows the one before it.
struct RunStack: ~Copyable {
    /// The run that has begun last.
    private(set) var last: Unmanaged<Run>?
    /// Runs that have ended, to be used again.
    private(set) var spare: Unmanaged<Run>?

    deinit {
        for first in [last, spare] {
            var next = first
            while let run = next {
                next = run.use { $0.previous }
                run.release()
            }
        }
    }

    @inline(__always)
    var isEmpty: Bool { last == nil }

    /// Puts a run behind the others.
    @inline(__always)
    mutating func add() -> Unmanaged<Run> {
        let run = spare ?? .passRetained(Run())
        run.use {
            spare = $0.previous
            $0.previous = last
        }
        last = run
        return run
    }

    /// The run of a statement.
    @inline(__always)
    func run(of statement: Statement) -> Unmanaged<Run>? {
        let identifier = ObjectIdentifier(statement)
        return last { $0.statement == identifier }
    }

    /// The last run for which a condition holds.
    @inline(__always)
    func last(where isWanted: (Run) -> Bool) -> Unmanaged<Run>? {
        var next = last
        while let run = next, !run.use(isWanted) { next = run.use { $0.previous } }
        return next
    }

    /// Takes a run out that has ended. Returns the one that had begun before it. Whoever has taken it gives it back:
    /// see ``recycle(_:)``.
    @inline(__always)
    mutating func remove(_ run: Unmanaged<Run>) -> Unmanaged<Run>? {
        let previous = run.use { $0.previous }
        if run.toOpaque() == last?.toOpaque() {
            last = previous
        } else {
            unlink(run, previous)
        }
        return previous
    }

    /// The statement of a cursor may end before those that began later.
    @inline(never)
    private func unlink(_ run: Unmanaged<Run>, _ previous: Unmanaged<Run>?) {
        last { $0.previous?.toOpaque() == run.toOpaque() }?.use { $0.previous = previous }
    }

    /// Keeps a run that has ended for another one.
    @inline(__always)
    mutating func recycle(_ run: Unmanaged<Run>) {
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

    private static func takeEvents(upTo last: Unmanaged<Run>?) -> [RowEvent] {
        guard let last else { return [] }
        return last.use { run in
            defer { run.events.removeAll() }
            return takeEvents(upTo: run.previous) + run.events.events
        }
    }
}
