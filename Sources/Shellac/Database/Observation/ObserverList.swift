/// The observers of a connection, in the order of their addition, and their answers.
final class ObserverList {
    @exclusivity(unchecked) private(set) var registrations: [ObserverRegistration] = []
    /// A number that changes with the list.
    private(set) var version: UInt = 1
    /// A number that changes whenever observers must be asked again.
    private(set) var generation: UInt = 1
    /// Whether the transaction is about to end. Observers added now are not notified of that end.
    private(set) var isEnding = false
    /// Whether all observers are discerning, and so can be notified afterwards that the schema was
    /// another one.
    private(set) var isDiscerning = true
    /// Whether an observer was found to be freed.
    private(set) var hasFreedObserver = false
    /// The audiences of runs and events.
    @exclusivity(unchecked) private var audiences: [Audience] = []
    @exclusivity(unchecked) private var spareAudiences: [Audience] = []
    let columns = ObservedColumns()

    /// Runs when the connection is closed. Cached statements may keep the registrations alive, but
    /// the observers are released.
    deinit { for registration in registrations { registration.remove() } }

    var isEmpty: Bool { registrations.isEmpty }

    func add(_ registration: ObserverRegistration) {
        registration.isLate = isEnding
        registrations.append(registration)
        listDidChange()
    }

    /// Removes observers. Returns whether there were any.
    func remove(where isUnwanted: (ObserverRegistration) -> Bool) -> Bool {
        guard registrations.contains(where: isUnwanted) else { return false }
        registrations.removeAll(where: isUnwanted)
        listDidChange()
        return true
    }

    /// Removes the freed observers. Returns whether there were any.
    func removeFreed() -> Bool {
        hasFreedObserver = false
        return remove { $0.observer == nil }
    }

    private func listDidChange() {
        version &+= 1
        isDiscerning = registrations.allSatisfy { $0.discerning != nil }
        askAgain()
    }

    /// Requires the observers to be asked again about all statements that run from now on.
    func askAgain() { generation &+= 1 }

    // MARK: Asking

    /// Returns the observers interested in a statement's changes. Each observer is asked about each
    /// kind once in a transaction.
    ///
    /// - Parameter number: Returns the number of a table's name.
    func audience(
        of statement: Statement, isInside: Bool, on database: Database, number: (TableSchema) -> Int32
    ) throws -> Unretained<Audience>? {
        if isInside, let plan = statement.observationPlan,
            plan.use({ $0.generation == generation && !$0.needsPreUpdateHook })
        {
            return plan.use { $0.audienceReference }
        }
        return try askedAudience(of: statement, isInside: isInside, on: database, number)
    }

    @inline(never)
    private func askedAudience(
        of statement: Statement, isInside: Bool, on database: Database, _ number: (TableSchema) -> Int32
    ) throws -> Unretained<Audience>? {
        let plan: ObservationPlan
        var schema: UInt64?
        if isInside, let kept = statement.observationPlan, kept.use({ $0.generation == generation }) {
            plan = kept.object
        } else {
            let isSettled: Bool
            (plan, isSettled) = askedPlan(of: statement, isInside: isInside, on: database)
            if isSettled { schema = database.knownSchema.prepared }
        }
        if plan.needsPreUpdateHook {
            try columns.learn(plan, known: schema, on: database, number: number)
        }
        guard let audience = plan.audienceReference else { return nil }
        keep(audience)
        return audience
    }

    /// Returns the plan, and whether the statement fits the schema. The schema was just checked, or
    /// is presumed unchanged.
    private func askedPlan(
        of statement: Statement, isInside: Bool, on database: Database
    ) -> (plan: ObservationPlan, isSettled: Bool) {
        let isSettled =
            !isInside && isPresumed(statement, on: database) || statement.followSchema(isInside: isInside)
        let plan =
            statement.observationPlan?.object
            ?? ObservationPlan(statement.effects, database)
        statement.changePlan = plan
        // The observers may add and remove observers while they are asked.
        let asked = generation
        if !plan.kinds.isEmpty { ask(for: plan, on: database) }
        plan.settledGeneration = isSettled ? statement.effectsGeneration : 0
        // Outside of a transaction, another connection may change the schema before the next run.
        plan.generation = isInside && isSettled ? asked : 0
        return (plan, isSettled)
    }

    /// Whether a statement outside of a transaction is presumed to fit the schema, as in its last
    /// run.
    ///
    /// A check would take a read lock for each statement. After the run, SQLite reports whether it
    /// has found another schema: see ``Run/mayBeOutdated``.
    private func isPresumed(_ statement: Statement, on database: Database) -> Bool {
        guard isDiscerning, let plan = statement.observationPlan else { return false }
        let generation = database.knownSchema.prepared
        return plan.use {
            $0.settledGeneration == generation && generation != 0
                && (!$0.needsPreUpdateHook
                    || $0.schemaGeneration == generation && columns.schemaGeneration == generation)
        } && statement.effectsGeneration == generation
    }

    /// Asks the observers about the possible changes of a statement. Usually they repeat their last
    /// answers.
    private func ask(for plan: ObservationPlan, on database: Database) {
        plan.expectAnswers(of: registrations.count, version)
        // The observers may add and remove others while they are asked.
        let registrations = registrations
        var hasChanged = false
        database.access.forbidding {
            registrations.withUnsafeBufferPointer { registrations in
                for number in registrations.indices {
                    for word in 0..<plan.wordCount {
                        let answer = registrations[number].answers(to: plan, from: word &* 64)
                        if answer == nil { hasFreedObserver = true }
                        if plan.keep(answer ?? 0, at: number &* plan.wordCount &+ word) { hasChanged = true }
                    }
                }
            }
        }
        if hasChanged { plan.makeAudience(of: registrations, on: database) }
    }

    /// Returns the observers that are now interested in the given kinds of changes.
    func listeners(to kinds: [DatabaseEventKind], on database: Database) -> [Audience.Listener] {
        let registrations = registrations
        return database.access.forbidding {
            registrations.filter { registration in
                guard !registration.isPaused, let observer = registration.observer else { return false }
                return kinds.contains { observer.observes(eventsOfKind: $0) }
            }
        }.map { Audience.Listener(registration: $0, kinds: kinds) }
    }

    /// Keeps an audience until the transaction has ended, for runs and events that refer to it
    /// without retaining it.
    @inline(__always)
    func keep(_ audience: Unretained<Audience>) {
        if audience.use({ $0.isKept }) { return }
        audiences.append(audience.object)
        audience.use { $0.isKept = true }
    }

    /// Releases the audiences, to which nothing refers any more.
    func releaseAudiences() {
        if audiences.isEmpty { return }
        for audience in audiences { audience.isKept = false }
        // Freeing them may call back into this list.
        var released: [Audience] = []
        swap(&released, &audiences)
        swap(&audiences, &spareAudiences)
        released.removeAll(keepingCapacity: true)
        spareAudiences = released
    }

    /// Notifies discerning observers that the schema has changed, and that the changed rows are
    /// unknown.
    func tellSchemaMayHaveChanged() {
        for registration in registrations { registration.discerning?.schemaMayHaveChanged() }
    }

    /// Notifies discerning observers that a statement has run that is no transaction.
    func tellMayHaveChanged() {
        for registration in registrations { registration.discerning?.databaseMayHaveChanged() }
    }

    // MARK: The end of a transaction

    /// Stops notifying an observer of changes until the end of the transaction.
    func pause(_ observer: any TransactionObserver) {
        for registration in registrations where registration.identifier == ObjectIdentifier(observer) {
            registration.isPaused = true
        }
        askAgain()
    }

    /// Called when the transaction is about to end, or continues because SQLite has refused to
    /// commit.
    func setEnding(_ isEnding: Bool) {
        self.isEnding = isEnding
        if !isEnding { for registration in registrations { registration.isLate = false } }
    }

    /// Asks the observers whether the transaction may be committed.
    func askForVeto(on database: Database) throws {
        setEnding(true)
        let registrations = registrations
        try database.access.forbidding {
            for registration in registrations { try registration.observer?.databaseWillCommit() }
        }
    }

    /// Ends the transaction. Returns the observers to notify, in the order of their addition.
    ///
    /// - Parameter isSilent: Whether the transaction has only read, in a read-only access.
    ///   Observers are then not notified.
    func endTransaction(isSilent: Bool) -> [ObserverRegistration] {
        let told = isSilent ? [] : registrations.filter { !$0.isLate }
        for registration in registrations { registration.isPaused = false }
        // An observer may begin the next transaction, which does not concern the observers that are
        // removed now.
        for registration in told where registration.extent == .nextTransaction {
            registration.hasEnded = true
        }
        if !isSilent { _ = remove { $0.hasEnded } }
        setEnding(false)
        return told
    }
}
