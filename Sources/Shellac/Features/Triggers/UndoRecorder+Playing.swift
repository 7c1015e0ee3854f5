// Undoes or redoes a group of changes, and throws a conflict if its rows have changed since.

import CSQLite

// The playing of groups: undo and redo.

extension UndoRecorder {
    /// Undoes the last group, or redoes the one that was undone last. It is called in a
    /// transaction.
    ///
    /// - Returns: Whether there was one.
    func play(_ direction: UndoDirection) throws -> Bool {
        try makeGroups()
        let known = try knownTables()
        try giveUpGroups(known)
        let (isUndone, order) = direction == .undo ? (0, "DESC") : (1, "ASC")
        let next = try integers(
            "SELECT grp FROM temp.\(groups) WHERE isUndone = \(isUndone) ORDER BY grp \(order) LIMIT 1")
        guard let group = next.first else { return false }
        if try !integers("SELECT 1 FROM temp.\(groups) WHERE grp = \(group) AND isDoubtful").isEmpty {
            throw DatabaseUndoConflict(direction, .written)
        }
        try checkActions()
        let used = try known.filter {
            try !integers("SELECT 1 FROM temp.\($0.rows) WHERE grp = \(group) LIMIT 1").isEmpty
        }
        for tables in used {
            let later = tables.images(group, direction == .undo ? .redo : .undo)
            if let key = try key(ofRowOtherThan: later, tables) {
                throw DatabaseUndoConflict(direction, tables.layout.table, key, nil)
            }
        }
        try execute("PRAGMA defer_foreign_keys = ON")
        try database.withoutFilling {
            try database.withoutTableCallbacks {
                try setRows(of: group, used, direction)
            }
        }
        try keepPlayed(group, direction, known)
        return true
    }

    /// Gives all rows of a group their earlier or later states, and keeps all other rows unchanged.
    ///
    /// Foreign key actions and triggers may change other rows, and the same ones again: that takes
    /// more than one pass.
    private func setRows(of group: Int64, _ used: [UndoTables], _ direction: UndoDirection) throws {
        let own = used.map { (tables: $0, images: $0.images(group, direction)) }
        var failure: DatabaseError?
        for pass in 1...5 {
            let strays = pass > 1 ? strays(group, used) : []
            // Some triggers of the program change a row again and again, for example a date at each
            // update. This pass writes such rows without triggers. (They have been recorded.)
            let overrules = pass == 4 && failure == nil
            failure = try run(own + strays, withTriggers: !overrules)
            let all = own + self.strays(group, used)
            if failure == nil, try all.allSatisfy({ try key(ofRowOtherThan: $1, $0) == nil }) { return }
        }
        for (tables, images) in own + strays(group, used) {
            if let key = try key(ofRowOtherThan: images, tables) {
                throw DatabaseUndoConflict(direction, tables.layout.table, key, failure)
            }
        }
        if let failure { throw failure }
    }

    /// Returns the rows that were changed meanwhile, and do not belong to the group.
    private func strays(
        _ group: Int64, _ used: [UndoTables]
    ) -> [(tables: UndoTables, images: UndoTables.Images)] {
        current.compactMap { tables in
            guard let tables, touched[tables.number] else { return nil }
            let own = used.first { CaseInsensitiveName.matches($0.layout.table, tables.layout.table) }
            return (tables, tables.strays(epoch, notIn: group, of: own))
        }
    }

    /// Deletes, updates and inserts rows that do not have their target states.
    ///
    /// - Parameter withTriggers: Whether triggers run for updates and insertions.
    /// - Returns: The error of a failed constraint, if any: the next pass may succeed.
    private func run(
        _ jobs: [(tables: UndoTables, images: UndoTables.Images)], withTriggers: Bool
    ) throws -> DatabaseError? {
        var failure: DatabaseError?
        func attempt(_ sql: String) throws -> Bool {
            do {
                try execute(sql)
                return true
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_CONSTRAINT && database.lostTransaction == nil
            {
                failure = error
                return false
            }
        }
        for (tables, images) in jobs { _ = try attempt(tables.delete(images)) }
        if !withTriggers { try database.enableTriggers(false) }
        defer { if !withTriggers { try? database.enableTriggers(true) } }
        for (tables, images) in jobs {
            guard let columns = try columnsToUpdate(tables, images) else { continue }
            // Rows may block each other, such as two that exchange a unique value.
            if try attempt(tables.update(images, columns: columns)) || !withTriggers { continue }
            let outer = failure
            failure = nil
            if try !attempt(tables.deleteChanged(images)) { failure = outer }
        }
        for (tables, images) in jobs { _ = try attempt(tables.insert(images)) }
        if !withTriggers { try database.recountMaintainedColumns(of: jobs.map(\.tables.layout.table)) }
        return failure
    }

    /// Returns the places of the columns that must change in any row. Nil for none.
    private func columnsToUpdate(_ tables: UndoTables, _ images: UndoTables.Images) throws -> [Int]? {
        guard let sql = tables.columnsToUpdate(images),
            let row = try Row.fetchOne(database.makeStatement(sql: sql))
        else { return nil }
        let columns = row.databaseValues.indices.filter { row.databaseValues[$0] == 1.databaseValue }
        return columns.isEmpty ? nil : columns
    }

    /// Makes the group again: it has other columns if the table was altered since.
    private func keepPlayed(_ group: Int64, _ direction: UndoDirection, _ known: [UndoTables]) throws {
        for tables in known {
            try execute("DELETE FROM temp.\(tables.rows) WHERE grp = \(group)")
        }
        for tables in current.compactMap(\.self) where touched[tables.number] {
            try execute(tables.makeGroups(group, isLast: true, isReversed: direction == .undo))
            try execute("DELETE FROM temp.\(tables.before)")
        }
        try execute(
            "UPDATE temp.\(groups) SET isUndone = \(direction == .undo ? 1 : 0) WHERE grp = \(group)")
        hasNews = true
        database.owed.insert(.accessWillEnd)
    }

    private func key(
        ofRowOtherThan images: UndoTables.Images, _ tables: UndoTables
    ) throws -> [String: DatabaseValue]? {
        guard
            let row = try Row.fetchOne(
                database.makeStatement(sql: tables.keys(ofRowsOtherThan: images)))
        else { return nil }
        return Dictionary(
            zip(tables.layout.key.map(\.name), row.databaseValues), uniquingKeysWith: { a, _ in a })
    }

    /// Throws if a foreign key action changes an unrecorded table together with a recorded one.
    func checkActions() throws { try database.checkForeignKeyActions(of: tables, areAmong: tables) }
}

extension Database {
    func enableTriggers(_ isOn: Bool) throws {
        try check(shellac_db_config(pointer, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn ? 1 : 0))
    }

    /// Throws if a foreign key action changes an unrecorded table together with some others.
    ///
    /// - Parameters:
    ///   - changed: The tables whose changes shall be undone.
    ///   - recorded: All tables whose changes are recorded.
    func checkForeignKeyActions(of changed: [String], areAmong recorded: [String]) throws {
        let changed = Set(changed.map(CaseInsensitiveName.init))
        let recorded = Set(recorded.map(CaseInsensitiveName.init))
        for object in try schema.objects(.table, in: "main") {
            guard !recorded.contains(CaseInsensitiveName(object.name)),
                let table = try schema.table(object.name, in: "main"), table.kind == .table
            else { continue }
            for key in try schema.foreignKeys(of: table)
            where changed.contains(CaseInsensitiveName(key.destinationTable)) && key.changesRows {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "the changes of \(key.destinationTable) cannot be undone without those of \(table.name), whose "
                        + "rows a foreign key action changes with them: name \(table.name) among the tables, too"
                )
            }
        }
    }
}

extension ForeignKeyInfo {
    fileprivate var changesRows: Bool {
        func changes(_ action: Database.ForeignKeyAction?) -> Bool {
            switch action {
            case .cascade, .setNull, .setDefault: true
            default: false
            }
        }
        return changes(onDelete) || changes(onUpdate)
    }
}
