import CSQLite

extension Broker {
    /// A run of a statement.
    final class Run {
        @exclusivity(unchecked) var statement: ObjectIdentifier
        /// How many functions called by SQLite were running.
        @exclusivity(unchecked) var depth = 0
        @exclusivity(unchecked) var wasInsideTransaction = false
        /// Whether the transaction is one that has only read.
        @exclusivity(unchecked) var isSilent = false
        @exclusivity(unchecked) var audience: Audience?
        @exclusivity(unchecked) var events: [HeldEvent] = []
        /// Whether the commit hook has fired: the statement is a transaction of its own.
        @exclusivity(unchecked) var isCommitting = false
        /// What an observer has thrown in the commit hook.
        @exclusivity(unchecked) var veto: (any Error)?

        init(_ statement: ObjectIdentifier) { self.statement = statement }

        init(_ run: LoneRun) {
            statement = run.statement
            depth = run.depth
            wasInsideTransaction = true
        }
    }

    /// The only run, in a transaction: most runs are like this, and nothing is allocated or counted for them.
    struct LoneRun {
        let statement: ObjectIdentifier
        let depth: Int
        /// Whether somebody wants to hear of it: the broker's lone audience.
        let hasAudience: Bool
    }

    /// A change made by a lone run.
    struct LoneEvent {
        let rowID: Int64
        let table: Int32
        let kind: DatabaseEvent.Kind
    }

    /// The changes made by a lone run, in memory that nobody else holds.
    struct LoneEvents: ~Copyable {
        private(set) var count = 0
        private var capacity = 0
        private var base: UnsafeMutablePointer<LoneEvent>?

        deinit { base?.deallocate() }

        @inline(__always)
        subscript(index: Int) -> LoneEvent {
            precondition(index < count)
            return base.unsafelyUnwrapped[index]
        }

        @inline(__always)
        mutating func append(_ event: LoneEvent) {
            if count == capacity { grow() }
            (base.unsafelyUnwrapped + count).initialize(to: event)
            count &+= 1
        }

        @inline(never)
        private mutating func grow() {
            capacity = max(16, capacity * 2)
            let larger = UnsafeMutablePointer<LoneEvent>.allocate(capacity: capacity)
            if let base {
                larger.moveInitialize(from: base, count: count)
                base.deallocate()
            }
            base = larger
        }

        /// (They have nothing to be released. Much memory is given back.)
        @inline(__always)
        mutating func removeAll() {
            count = 0
            if capacity > 256 { shrink() }
        }

        @inline(never)
        private mutating func shrink() {
            base?.deallocate()
            (base, capacity) = (nil, 0)
        }
    }
}

// MARK: - The lone run

extension Broker {
    /// Begins the only run, in a transaction, of a statement whose audience is known. Returns false if it is not.
    @inline(__always)
    func beginLoneRunAgain(of statement: Statement) -> Bool {
        guard loneRun == nil, runs.isEmpty, !database.isReadOnlyScope,
            !statement.concerns.contains(.transactions),
            let kept = statement.changePlanReference
        else { return false }
        return kept.use { kept in
            let plan = unsafeDowncast(kept, to: ObservationPlan.self)  // nobody else fills the slot
            guard plan.moment == moment, !plan.needsPreUpdateHook else { return false }
            if let audience = plan.audienceReference, audience.toOpaque() != loneAudienceReference?.toOpaque()
            {
                loneAudience = plan.audience
            }
            beginLoneRun(of: statement, hasAudience: plan.audienceReference != nil)
            return true
        }
    }

    /// Begins the only run, in a transaction.
    @inline(__always)
    func beginLoneRun(of statement: Statement, hasAudience: Bool) {
        if hasAudience != hasUpdateHook { setUpdateHook(hasAudience) }
        if hasPreUpdateHook { setPreUpdateHook(false) }
        loneRun = LoneRun(
            statement: ObjectIdentifier(statement), depth: database.callbackDepth, hasAudience: hasAudience)
    }

    /// Another run begins: the lone one becomes one of several.
    func putLoneRunWithOthers() {
        guard let loneRun else { return }
        let run = Run(loneRun)
        if loneRun.hasAudience {
            run.audience = loneAudience
            run.events = takeLoneEvents()
        }
        runs.append(run)
        self.loneRun = nil
    }

    private func takeLoneEvents() -> [HeldEvent] {
        guard let loneAudience else { return [] }
        defer { forgetLoneEvents() }
        return (0..<loneEvents.count).map {
            let event = loneEvents[$0]
            return HeldEvent(
                audience: loneAudience, rowID: event.rowID, table: event.table, kind: event.kind)
        }
    }

    @inline(__always)
    func forgetLoneEvents() { loneEvents.removeAll() }

    /// The only run has ended.
    func endLoneRun(_ error: (any Error)?) {
        loneRun = nil
        // With an error, SQLite may have ended the transaction by itself.
        if error != nil, sqlite3_get_autocommit(database.pointer) != 0 {
            complete(isCommitted: false, false)
        } else if loneEvents.count > 0 {
            passLoneEvents(error)
        }
        if hasFreedObserver || isUseless { tidyUp() }
    }

    private func passLoneEvents(_ error: (any Error)?) {
        if error != nil, sqlite3_changes(database.pointer) == 0 {
            forgetLoneEvents()
        } else if databaseReference.use({ $0.withTransactionLog { $0.savepoints.depth } }) > 0 {
            held += takeLoneEvents()
        } else if let loneAudienceReference {
            tellLoneEvents(to: loneAudienceReference)
            forgetLoneEvents()
        }
    }
}

extension StatementEffects.Transaction {
    /// Whether the transaction was committed, if the statement has ended it.
    var commits: Bool {
        switch self {
        case .commit, .release: true
        case .begin, .rollback, .savepoint, .rollbackTo: false
        }
    }
}
