// Counter columns: creates and drops their triggers, and recounts, as the schema changes.

import CSQLite

/// The counters of one database, compared with the triggers that maintain them.
///
/// The schema alone says which triggers are needed: see ``CounterMark``. Each definition of a table
/// or an index ends by checking it, in the same transaction. Triggers are created once both tables
/// exist, and dropped when a table is gone.
struct Counters {
    private let db: Database
    private let schemaName: String
    /// The counters whose tables both exist.
    private(set) var kept: [CounterTriggers] = []
    /// The counters whose counted table does not exist yet.
    private(set) var waiting: [(parent: TableSchema, mark: CounterMark)] = []

    /// - Throws: a ``DatabaseError`` if a counter cannot count its rows.
    init(_ db: Database, in schemaName: String) throws {
        (self.db, self.schemaName) = (db, schemaName)
        for object in try db.schema.objects(.table, in: schemaName)
        where !CounterMark.marks(in: object.sql).isEmpty {
            guard let parent = try db.schema.table(object.name, in: schemaName) else { continue }
            for mark in parent.maintainedColumns {
                if let child = try db.schema.table(mark.countedTable, in: schemaName) {
                    kept.append(try CounterTriggers(mark, of: parent, child, db))
                } else {
                    waiting.append((parent, mark))
                }
            }
        }
    }

    /// Returns the SQL of the existing triggers, by name.
    private func present() throws -> [String: String] {
        let triggers = try db.schema.objects(.trigger, in: schemaName).filter(\.maintainsColumns)
        return Dictionary(triggers.map { ($0.name, $0.sql) }, uniquingKeysWith: { first, _ in first })
    }

    /// Drops the triggers that are not needed, creates the missing ones, and recounts for those
    /// that were missing.
    ///
    /// - Parameter recountsReplaced: Whether to recount as well if other triggers were in their
    ///   place.
    func follow(recountsReplaced: Bool = false) throws {
        let present = try present()
        let wanted = Dictionary(
            kept.flatMap { $0.triggers() }.map { ($0.name, $0.sql) }, uniquingKeysWith: { first, _ in first })
        for (name, sql) in present.sorted(by: { $0.key < $1.key }) where wanted[name] != sql {
            try db.execute(definition: "DROP TRIGGER \(name.quoted(in: schemaName))")
        }
        let notes = try db.schema.objects(.table, in: schemaName).filter(\.maintainsColumns).map(\.name)
        for name in notes where !kept.contains(where: { $0.notesName == name }) {
            try db.execute(definition: "DROP TABLE \(name.quoted(in: schemaName))")
        }
        for counter in kept {
            let triggers = counter.triggers()
            let missing = triggers.filter { present[$0.name] != $0.sql }
            if missing.isEmpty, notes.contains(counter.notesName) { continue }
            // The keys may have changed since the table was created. The table is empty.
            if notes.contains(counter.notesName) {
                try db.execute(definition: "DROP TABLE \(counter.notesName.quoted(in: schemaName))")
            }
            try db.execute(definition: counter.notesSQL(in: schemaName))
            for (_, sql) in missing {
                let rest = sql.dropFirst("CREATE TRIGGER ".count)
                try db.execute(definition: "CREATE TRIGGER \(schemaName.quotedDatabaseIdentifier).\(rest)")
            }
            if recountsReplaced || missing.contains(where: { present[$0.name] == nil }) {
                try execute(counter.recount(in: schemaName))
            }
        }
        for (parent, mark) in waiting {
            let column = mark.column.quotedDatabaseIdentifier
            try execute(
                "UPDATE \(parent.name.quoted(in: schemaName)) SET \(column) = 0 WHERE \(column) IS NOT 0")
        }
    }

    private func execute(_ sql: String) throws {
        let statement = try db.makeStatement(sql: sql)
        statement.bypassAdvice()
        try statement.execute()
    }

    /// Counts again what the triggers of some tables would have counted.
    func recount(_ tables: [String]) throws {
        for counter in kept
        where tables.contains(where: { name in
            [counter.parent.name, counter.child.name].contains { CaseInsensitiveName.matches($0, name) }
        }) { try execute(counter.recount(in: schemaName)) }
    }

    /// Drops the triggers of the counters in a table, and of the counters that count its rows,
    /// while the table is changed.
    static func suspend(_ table: String, in schemaName: String, _ db: Database) throws {
        var names: [String] = []
        for object in try db.schema.objects(.table, in: schemaName) {
            for mark in CounterMark.marks(in: object.sql)
            where [object.name, mark.countedTable].contains(where: { CaseInsensitiveName.matches($0, table) })
            {
                names.append("\(CounterTriggers.baseName(object.name, mark)) ")
            }
        }
        for trigger in try db.schema.objects(.trigger, in: schemaName)
        where names.contains(where: trigger.name.hasPrefix) {
            try db.execute(definition: "DROP TRIGGER \(trigger.name.quoted(in: schemaName))")
        }
    }
}

extension Database: ColumnMaintenance {
    func maintainColumns(
        of table: String?, in schemaName: String?, without suspended: String?,
        during change: () throws -> Void
    ) throws {
        // Look the table up now: the change may drop it.
        let place = try schemaName ?? table.flatMap { try schema.table($0)?.schemaName } ?? "main"
        try inSavepoint {
            if let suspended { try Counters.suspend(suspended, in: place, self) }
            try change()
            try Counters(self, in: place).follow()
            return .commit
        }
    }

    func recount(_ tables: [String]) throws { try Counters(self, in: "main").recount(tables) }

    func refuseRenaming(of table: String, column: String?, in schemaName: String?) throws {
        guard let schema = try self.schema.table(table, in: schemaName) else { return }
        for object in try self.schema.objects(.table, in: schema.schemaName) {
            for mark in CounterMark.marks(in: object.sql)
            where CaseInsensitiveName.matches(mark.countedTable, table) {
                if let column,
                    !mark.originColumns.contains(where: { CaseInsensitiveName.matches($0, column) })
                {
                    continue
                }
                let what =
                    column.map { "the column \($0) of the table \(schema.name)" }
                    ?? "the table \(schema.name)"
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "\(what) cannot be renamed, since \(object.name) has a counter of its rows, "
                        + "\(mark.column), whose triggers contain the name: drop that column first, and "
                        + "add the counter again afterwards")
            }
        }
    }
}
