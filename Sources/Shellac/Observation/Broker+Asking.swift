import CSQLite

// Who wants to hear of a statement's changes.

extension Broker {
    /// Those who want to hear of a statement's changes. Each observer is asked for each kind, once in a transaction.
    @inline(__always)
    func audience(of statement: Statement, isInside: Bool) throws -> Audience? {
        if isInside, let kept = statement.changePlan {
            let plan = unsafeDowncast(kept, to: ObservationPlan.self)  // nobody else fills the slot
            if plan.moment == moment { return try audience(of: plan) }
        }
        return try askedAudience(of: statement, isInside: isInside)
    }

    @inline(__always)
    private func audience(of plan: ObservationPlan) throws -> Audience? {
        guard let audience = plan.audience else { return nil }
        if audience.needsPreUpdateHook { try learnColumns(plan) }
        return audience
    }

    @inline(never)
    private func askedAudience(of statement: Statement, isInside: Bool) throws -> Audience? {
        let isSettled = followSchema(of: statement, isInside: isInside)
        let plan: ObservationPlan
        if let kept = statement.changePlan {
            plan = unsafeDowncast(kept, to: ObservationPlan.self)
        } else {
            plan = ObservationPlan(statement.effects, database)
            statement.changePlan = plan
        }
        // Whoever is asked may add and remove observers.
        let asked = moment
        if !plan.kinds.isEmpty { ask(plan) }
        // Outside of a transaction, another connection may change the schema before the next run.
        plan.moment = isInside && isSettled ? asked : 0
        return try audience(of: plan)
    }

    /// Has what is known of a statement fit the schema that it is about to run against. Returns whether it does, as far as
    /// can be said before it runs: see ``effectsDidChange(of:from:)``.
    private func followSchema(of statement: Statement, isInside: Bool) -> Bool {
        // To look takes the lock of a reader. A transaction that has it does not wait for another one's to write.
        if isInside, sqlite3_txn_state(database.pointer, nil) == SQLITE_TXN_NONE {
            if statement.effectsGeneration == 0
                || statement.effectsGeneration != database.knownSchema.prepared
            {
                try? statement.refreshEffects()
            }
            return false
        }
        // Where the file is locked, the statement itself waits, and says so.
        do { try statement.followSchema() } catch { return false }
        return true
    }

    /// Asks the observers. Mostly they answer what they answered last time.
    @inline(never)
    private func ask(_ plan: ObservationPlan) {
        let observations = observations
        var hasChanged = false
        if plan.version != version {
            plan.version = version
            plan.answers = Array(repeating: 0, count: observations.count * plan.wordCount)
            plan.audience = nil
        }
        let wordCount = plan.wordCount
        database.access.forbidding {
            observations.withUnsafeBufferPointer { observations in
                for number in 0..<observations.count {
                    for index in 0..<wordCount {
                        let answer = observations[number].answers(to: plan, from: index &* 64)
                        if answer == nil { hasFreedObserver = true }
                        if plan.keep(answer ?? 0, at: number &* wordCount &+ index) { hasChanged = true }
                    }
                }
            }
        }
        if hasChanged { plan.audience = makeAudience(plan, observations) }
    }

    @inline(never)
    private func makeAudience(_ plan: ObservationPlan, _ observations: [Observation]) -> Audience? {
        var listeners: [Audience.Listener] = []
        var unseen: Set<CaseInsensitiveName> = []
        for (index, observation) in observations.enumerated() {
            let kinds = plan.kinds.indices.filter { plan.answer(of: index, to: $0) }
                .map { plan.kinds[$0] }
            guard !kinds.isEmpty else { continue }
            listeners.append(Audience.Listener(observation: observation, kinds: kinds))
            for case .delete(let table) in kinds { unseen.insert(CaseInsensitiveName(table)) }
        }
        if !unseen.isSubset(of: database.tablesWithNotifiedDeletions) {
            database.tablesWithNotifiedDeletions.formUnion(unseen)
        }
        guard !listeners.isEmpty else { return nil }
        return Audience(listeners, movedTables: movedTables(plan.kinds))
    }

    /// The tables whose row ids may be updated.
    private func movedTables(_ kinds: [DatabaseEventKind]) -> Set<CaseInsensitiveName> {
        var moved: Set<CaseInsensitiveName> = []
        for case .update(let table, let columns) in kinds {
            let names = Set(columns.map(CaseInsensitiveName.init))
            // SQLite says ROWID whatever the column is called, and the name of the column where the statement does.
            let known = try? database.schema.tables(named: table).compactMap(\.primaryKey.rowIDColumn)
            let rowIDs = (known ?? Array(columns)) + ["rowid"]
            if rowIDs.contains(where: { names.contains(CaseInsensitiveName($0)) }) {
                moved.insert(CaseInsensitiveName(table))
            }
        }
        return moved
    }

    /// Learns the columns of a statement's tables: inside of SQLite's hooks nobody can be asked.
    @inline(never)
    private func learnColumns(_ plan: ObservationPlan) throws {
        let generation = try database.schemaGeneration
        if generation != schemaGeneration {
            schemaGeneration = generation
            columns = [:]
        } else if plan.schemaGeneration == generation {
            return
        }
        for name in Set(plan.kinds.map(\.tableName)) {
            for table in try database.schema.tables(named: name) where table.kind == .table {
                let number = tables.number(table.schemaName, table.name)
                if columns[number] == nil { columns[number] = try storedColumns(of: table) }
            }
        }
        plan.schemaGeneration = generation
    }

    private func storedColumns(of table: TableSchema) throws -> StoredColumns {
        let columns = StoredColumns(table, database)
        guard let lost = columns.lostColumn else { return columns }
        throw DatabaseError(
            message:
                "the values of column \(lost) of table \(table.name) cannot be observed: SQLite confuses it with "
                + "the primary key. Declare the INTEGER PRIMARY KEY before the virtual columns, or observe the table "
                + "without its values.")
    }
}
