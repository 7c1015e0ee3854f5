// Turns recorded changes into undo groups, and drops groups that can no longer be undone.

import CSQLite

// The making of groups from recorded changes, and the dropping of groups.

extension UndoRecorder {
    /// Returns the layouts whose temporary tables exist.
    func knownTables() throws -> [UndoTables] {
        try integers("SELECT layout FROM temp.\(known)").compactMap { number in
            layouts.indices.contains(Int(number)) ? layouts[Int(number)] : nil
        }
    }

    /// Makes groups from the touched rows. It is called in a transaction.
    func makeGroups() throws {
        guard !pendingEpochs.isEmpty else { return }
        let known = try knownTables()
        try giveUpGroups(known)
        let touched = known.filter { self.touched[$0.number] }
        try discardMigrations(touched)
        var epochs: Set<Int64> = []
        for tables in touched {
            let sql = "SELECT DISTINCT epoch FROM temp.\(tables.before)"
            epochs.formUnion(try Int64.fetchAll(database.cachedStatement(sql: sql)))
        }
        let now = autocommitVersions.isEmpty ? nil : try database.triggerInstaller.currentDataVersion()
        let doubtful = autocommitVersions.filter { $0.value != now }.map { "\($0.key)" }.joined(
            separator: ", ")
        guard let first = epochs.min(), let last = epochs.max() else {
            return try execute("DELETE FROM temp.\(groups) WHERE isUndone IS NULL")
        }
        let isCompletion = try !integers(
            "SELECT grp FROM temp.\(groups) WHERE grp BETWEEN \(first) AND \(last) AND isUndone = 0"
        ).isEmpty
        var isNew = false
        for tables in touched {
            let sql = tables.makeGroups(nil, isLast: epochs.count == 1, isReversed: false)
            try database.cachedStatement(sql: sql).execute()
            try database.cachedStatement(sql: "DELETE FROM temp.\(tables.before)").execute()
            // A refused commit has made the group before, and its rows may have their old values
            // again.
            if isCompletion { try execute(tables.dropUnchanged(last)) }
            let range = "FROM temp.\(tables.rows) WHERE grp BETWEEN \(first) AND \(last)"
            if try integers("SELECT 1 \(range) LIMIT 1").isEmpty { continue }
            isNew = true
            try execute(
                "INSERT INTO temp.\(groups) SELECT DISTINCT grp, NULL, 0, grp IN (\(doubtful)) \(range) "
                    + "ON CONFLICT DO UPDATE SET isUndone = 0, isDoubtful = excluded.isDoubtful")
        }
        if isCompletion { try dropEmptyGroup(last, known) }
        try execute("DELETE FROM temp.\(groups) WHERE isUndone IS NULL")
        guard isNew else { return }
        try drop(where: "isUndone = 1", known)
        try keepLimit(known)
    }

    /// Drops the touched rows of transactions that have changed the layout of a table: migrations
    /// are not undone.
    private func discardMigrations(_ touched: [UndoTables]) throws {
        let numbers = current.compactMap { $0?.number }
        var epochs = Set(try integers("SELECT since FROM temp.\(known)"))
        for tables in touched where !numbers.contains(tables.number) {
            epochs.formUnion(try integers("SELECT DISTINCT epoch FROM temp.\(tables.before)"))
        }
        let list = epochs.map(String.init).joined(separator: ", ")
        for tables in touched where !epochs.isEmpty {
            try execute("DELETE FROM temp.\(tables.before) WHERE epoch IN (\(list))")
        }
    }

    private func dropEmptyGroup(_ group: Int64, _ known: [UndoTables]) throws {
        for tables in known
        where try !integers("SELECT 1 FROM temp.\(tables.rows) WHERE grp = \(group) LIMIT 1").isEmpty {
            return
        }
        try execute("DELETE FROM temp.\(groups) WHERE grp = \(group)")
    }

    /// Drops some groups.
    func drop(where condition: String, _ known: [UndoTables]) throws {
        let list = try integers("SELECT grp FROM temp.\(groups) WHERE \(condition)")
        if list.isEmpty { return }
        let numbers = list.map(String.init).joined(separator: ", ")
        for tables in known { try execute("DELETE FROM temp.\(tables.rows) WHERE grp IN (\(numbers))") }
        try execute("DELETE FROM temp.\(groups) WHERE grp IN (\(numbers))")
    }

    private func keepLimit(_ known: [UndoTables]) throws {
        guard let limit else { return }
        let last = try integers(
            "SELECT grp FROM temp.\(groups) WHERE isUndone = 0 ORDER BY grp DESC LIMIT 1 OFFSET \(limit)")
        if let last = last.first { try drop(where: "grp <= \(last)", known) }
    }

    // MARK: - Changes of the schema

    /// Drops all groups if some can no longer be undone.
    func giveUpGroups(_ known: [UndoTables]) throws {
        try compareVersions(known)
        guard mayHaveOtherLayouts else { return }
        for tables in known where !current.contains(where: { $0?.number == tables.number }) {
            guard try isUsed(tables) else { continue }
            let now = current.compactMap(\.self).first {
                CaseInsensitiveName.matches($0.layout.table, tables.layout.table)
            }
            guard let now else { return try empty("the table \(tables.layout.table) no longer exists") }
            if !tables.layout.isCompatible(with: now.layout) {
                return try empty(
                    "columns of the table \(tables.layout.table) were dropped, renamed or changed")
            }
        }
    }

    private func isUsed(_ tables: UndoTables) throws -> Bool {
        try !integers(
            "SELECT 1 FROM (SELECT 1 FROM temp.\(tables.rows) LIMIT 1) UNION ALL "
                + "SELECT 1 FROM (SELECT 1 FROM temp.\(tables.before) LIMIT 1)"
        ).isEmpty
    }

    /// Checks whether row ids may have changed: `VACUUM`, on any connection, gives new row ids to
    /// tables without an INTEGER PRIMARY KEY. Its only visible effect is the version of the schema.
    private func compareVersions(_ known: [UndoTables]) throws {
        guard known.contains(where: { !$0.layout.hasLastingKey }) else { return }
        let version = try integers("PRAGMA main.schema_version")
        let kept = try integers("SELECT version FROM temp.\(versions)")
        if version == kept { return }
        if !kept.isEmpty {
            for tables in known where !tables.layout.hasLastingKey {
                guard try isUsed(tables) else { continue }
                try empty(
                    "VACUUM, or another connection, has changed the schema, and the table \(tables.layout.table) has no "
                        + "INTEGER PRIMARY KEY, so that its rows may have other row ids")
                break
            }
        }
        try keepVersion()
    }

    /// Stores the version of the schema after a change by this connection.
    func keepVersion() throws {
        guard layouts.contains(where: { !$0.layout.hasLastingKey }) else { return }
        guard let version = try integers("PRAGMA main.schema_version").first else { return }
        try execute(
            "INSERT INTO temp.\(versions) VALUES (1, \(version)) "
                + "ON CONFLICT DO UPDATE SET version = excluded.version")
    }

    /// Drops all groups, and reports the reason.
    private func empty(_ reason: String) throws {
        try removeAll(keeping: nil)
        notice(reason)
    }

    private func notice(_ reason: String) {
        let text = "the changes of \(tables.joined(separator: ", ")) can no longer be undone: \(reason)"
        shared.notices.withLock { $0.append(text) }
        ErrorLog.warn(text)
    }

    /// Drops all groups and touched rows, except those of the present transaction.
    func removeAll(keeping epoch: Int64?) throws {
        for tables in try knownTables() {
            try execute("DELETE FROM temp.\(tables.rows)")
            try execute(
                "DELETE FROM temp.\(tables.before)" + (epoch.map { " WHERE epoch <> \($0)" } ?? ""))
        }
        try execute("DELETE FROM temp.\(groups)" + (epoch.map { " WHERE grp <> \($0)" } ?? ""))
        hasNews = true
        database.owed.insert(.accessWillEnd)
    }

    /// Handles the announcement of a schema change by this connection.
    func schemaWillChange() throws { if !isEnded { try compareVersions(knownTables()) } }

    /// Handles a schema change by this connection, when the layouts are known.
    func schemaDidChange() throws {
        guard !isEnded else { return }
        try keepVersion()
        guard sqlite3_get_autocommit(database.pointer) != 0 else { return }
        try giveUpGroups(knownTables())
        epoch += 1
    }

    // MARK: - Timing

    /// Handles the announcement of a commit.
    func transactionWillCommit() throws {
        do {
            try makeGroups()
        } catch let error as DatabaseError
            where error.resultCode != .SQLITE_INTERRUPT && error.resultCode != .SQLITE_NOMEM
            && database.lostTransaction == nil
        {
            // The program's data are more important. (Without memory, the commit fails anyway.)
            giveUp(error)
        }
    }

    /// Handles the end of an access, when no transaction is open.
    ///
    /// - Returns: Whether no work is left.
    func accessWillEnd() -> Bool {
        do {
            if !pendingEpochs.isEmpty || mayHaveOtherLayouts || isBroken {
                try database.touchingNothing {
                    try inQuietTransaction {
                        if isBroken { try removeAll(keeping: nil) }
                        try makeGroups()
                        try giveUpGroups(knownTables())
                    }
                }
                isBroken = false
                mayHaveOtherLayouts = false
                pendingEpochs.removeAll()
                autocommitVersions.removeAll()
                for index in touched.indices { touched[index] = false }
                hasNews = true
            }
            if hasNews { try database.touchingNothing { try publish() } }
            return true
        } catch {
            // The next access does this, if another connection uses the database, the access was
            // cancelled, or there was no memory.
            switch (error as? DatabaseError)?.resultCode {
            case .SQLITE_BUSY, .SQLITE_INTERRUPT, .SQLITE_LOCKED, .SQLITE_NOMEM, nil: return false
            default: break
            }
            giveUp(error)
            return false
        }
    }

    private func giveUp(_ error: any Error) {
        guard !isBroken else { return }
        isBroken = true
        notice("the recorded changes could not be kept: \(error)")
    }

    /// Runs a function in a transaction without handlers: it writes only to Shellac's temporary
    /// tables.
    private func inQuietTransaction(_ body: () throws -> Void) throws {
        try database.check(database.executeUninterrupted("BEGIN"))
        do {
            try body()
            try database.check(database.executeUninterrupted("COMMIT"))
        } catch {
            if database.executeUninterrupted("ROLLBACK") != SQLITE_OK, database.isInsideTransaction {
                database.deferredCleanups.add(.rollBack(database.transactionLog))
            }
            throw error
        }
    }

    // MARK: - Requests of the program

    /// Names the group of the transaction, or the last one.
    func nameGroup(_ name: String) throws {
        try database.touchingNothing {
            database.owed.insert(.accessWillEnd)
            hasNews = true
            let isInside = database.isInsideTransaction
            if isInside, pendingEpochs.last != epoch { pendingEpochs.append(epoch) }
            if let group = pendingEpochs.last {
                return try database.makeStatement(
                    sql: "INSERT INTO temp.\(groups) VALUES (\(group), ?, NULL, 0) "
                        + "ON CONFLICT DO UPDATE SET name = excluded.name"
                ).execute(arguments: [name])
            }
            guard
                let group = try integers(
                    "SELECT grp FROM temp.\(groups) WHERE isUndone = 0 ORDER BY grp DESC LIMIT 1"
                ).first
            else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "there is no group that could be named \(name): name it inside of its transaction")
            }
            try database.makeStatement(sql: "UPDATE temp.\(groups) SET name = ? WHERE grp = \(group)")
                .execute(arguments: [name])
        }
    }

    /// Drops all groups, except the future group of the present transaction.
    func forgetGroups() throws {
        try database.touchingNothing {
            try removeAll(keeping: database.isInsideTransaction ? epoch : nil)
        }
    }

    /// Copies the public state for other threads.
    func publish() throws {
        var state = Shared.State()
        for (isUndone, order) in [(false, "DESC"), (true, "ASC")] {
            let condition = "FROM temp.\(groups) WHERE isUndone = \(isUndone ? 1 : 0)"
            let count = try Int.fetchOne(database.makeStatement(sql: "SELECT COUNT(*) \(condition)")) ?? 0
            let name = try String.fetchOne(
                database.makeStatement(sql: "SELECT name \(condition) ORDER BY grp \(order) LIMIT 1"))
            if isUndone {
                (state.redoCount, state.redoName) = (count, name)
            } else {
                (state.undoCount, state.undoName) = (count, name)
            }
        }
        shared.state.withLock { [state] in $0 = state }
        hasNews = false
    }
}
