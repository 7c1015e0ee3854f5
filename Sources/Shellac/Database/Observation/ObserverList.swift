/// The observers of a connection, in the order of their addition, and what they have answered.
final class ObserverList {
    @exclusivity(unchecked) private(set) var registrations: [ObserverRegistration] = []
    /// Changes with the list.
    private(set) var version: UInt = 1
    /// Changes whenever observers are to be asked again.
    private(set) var generation: UInt = 1
    /// Whether the transaction is about to end: observers that are added now hear nothing of it.
    private(set) var isEnding = false
    /// Whether all are asked of each row, and can be told afterwards that the schema was another one.
    private(set) var isDiscerning = true
    /// Whether an observer was found to be gone.
    private(set) var hasFreedObserver = false
    /// The audiences of runs and events.
    @exclusivity(unchecked) private var audiences: [Audience] = []
    @exclusivity(unchecked) private var spareAudiences: [Audience] = []
    let columns = ObservedColumns()

    /// The connection has closed. What is kept of statements may keep the registrations, and lets go of the observers.
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

    /// Removes the observers that are gone. Returns whether there were any.
    func removeFreed() -> Bool {
        hasFreedObserver = false
        return remove { $0.observer == nil }
    }

    private func listDidChange() {
        version &+= 1
        isDiscerning = registrations.allSatisfy { $0.discerning != nil }
        askAgain()
    }

    /// Has the observers asked anew of the statements that run from now on.
    func askAgain() { generation &+= 1 }

    // MARK: Asking

    /// Those who want to hear of a statement's changes. Each observer is asked for each kind, once in a transaction.
    ///
    /// - Parameter number: Gives the number of a table's name.
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

    /// Returns the plan, and whether the statement fits the schema, which was compared just now or is presumed.
    private func askedPlan(
        of statement: Statement, isInside: Bool, on database: Database
    ) -> (plan: ObservationPlan, isSettled: Bool) {
        let isSettled =
            !isInside && isPresumed(statement, on: database) || statement.followSchema(isInside: isInside)
        let plan =
            statement.observationPlan?.object
            ?? ObservationPlan(statement.effects, database)
        statement.changePlan = plan
        // Whoever is asked may add and remove observers.
        let asked = generation
        if !plan.kinds.isEmpty { ask(for: plan, on: database) }
        plan.settledGeneration = isSettled ? statement.effectsGeneration : 0
        // Outside of a transaction, another connection may change the schema before the next run.
        plan.generation = isInside && isSettled ? asked : 0
        return (plan, isSettled)
    }

    /// Whether a statement outside of a transaction is presumed to fit the schema still, as it did when it ran last.
    ///
    /// To look takes the lock of a reader, for each statement. When it has run, SQLite says whether it has found another
    /// schema: see ``Run/mayBeOutdated``.
    private func isPresumed(_ statement: Statement, on database: Database) -> Bool {
        guard isDiscerning, let plan = statement.observationPlan else { return false }
        let generation = database.knownSchema.prepared
        return plan.use {
            $0.settledGeneration == generation && generation != 0
                && (!$0.needsPreUpdateHook
                    || $0.schemaGeneration == generation && columns.schemaGeneration == generation)
        } && statement.effectsGeneration == generation
    }

    /// Asks the observers for the changes that a statement may make. Mostly they answer what they answered last time.
    private func ask(for plan: ObservationPlan, on database: Database) {
        plan.expectAnswers(of: registrations.count, version)
        // Whoever is asked may add and remove others.
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

    /// Those who want some kinds of changes now.
    func listeners(to kinds: [DatabaseEventKind], on database: Database) -> [Audience.Listener] {
        let registrations = registrations
        return database.access.forbidding {
            registrations.filter { registration in
                guard !registration.isPaused, let observer = registration.observer else { return false }
                return kinds.contains { observer.observes(eventsOfKind: $0) }
            }
        }.map { Audience.Listener(registration: $0, kinds: kinds) }
    }

    /// Keeps an audience until the transaction has ended: for runs and events, which refer to it without counting.
    @inline(__always)
    func keep(_ audience: Unretained<Audience>) {
        if audience.use({ $0.isKept }) { return }
        audiences.append(audience.object)
        audience.use { $0.isKept = true }
    }

    /// Lets go of the audiences: nobody refers to them any more.
    func releaseAudiences() {
        if audiences.isEmpty { return }
        for audience in audiences { audience.isKept = false }
        // What is freed may come back.
        var released: [Audience] = []
        swap(&released, &audiences)
        swap(&audiences, &spareAudiences)
        released.removeAll(keepingCapacity: true)
        spareAudiences = released
    }

    /// Tells who is asked of each row that the schema has become another one, and that nothing is known of the rows.
    func tellSchemaMayHaveChanged() {
        for registration in registrations { registration.discerning?.schemaMayHaveChanged() }
    }

    /// Tells who is asked of each row that a statement has run which is no transaction.
    func tellMayHaveChanged() {
        for registration in registrations { registration.discerning?.databaseMayHaveChanged() }
    }

    // MARK: The end of a transaction

    /// Tells an observer no more changes until the end of the transaction.
    func pause(_ observer: any TransactionObserver) {
        for registration in registrations where registration.identifier == ObjectIdentifier(observer) {
            registration.isPaused = true
        }
        askAgain()
    }

    /// The transaction is about to end, or goes on after all: SQLite has refused to commit.
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

    /// A transaction has ended. Returns those who are to be told of it, in the order of their addition.
    ///
    /// - Parameter isSilent: Whether it has only read, in a read-only access: observers are not told.
    func endTransaction(isSilent: Bool) -> [ObserverRegistration] {
        let told = isSilent ? [] : registrations.filter { !$0.isLate }
        for registration in registrations { registration.isPaused = false }
        // An observer may open the next transaction, which is not that of those who leave now.
        for registration in told where registration.extent == .nextTransaction {
            registration.hasEnded = true
        }
        if !isSilent { _ = remove { $0.hasEnded } }
        setEnding(false)
        return told
    }
}
