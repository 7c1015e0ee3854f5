// The point where changes of the schema call the layer whose triggers maintain columns.

/// The code that maintains columns by triggers. The layer of counters makes ``Database`` conform to
/// it.
///
/// It is called only if a database has such columns.
protocol ColumnMaintenance {
    /// Runs a schema change and updates the triggers to match, all of it or nothing.
    ///
    /// - Parameters:
    ///   - table: The table that is changed, if its database is not given.
    ///   - suspended: The table whose columns have no triggers during the change. Nil for none.
    func maintainColumns(
        of table: String?, in schemaName: String?, without suspended: String?,
        during change: () throws -> Void) throws

    /// Throws if a trigger refers to a table by its name, or to a column if one is given.
    func refuseRenaming(of table: String, column: String?, in schemaName: String?) throws

    /// Computes the columns again that depend on rows of some tables of the main database, after a
    /// change for which no triggers ran.
    func recount(_ tables: [String]) throws
}

/// The code that keeps indexes in step which SQLite does not maintain by itself. The layer of
/// full-text search makes ``Database`` conform to it.
protocol IndexMaintenance {
    /// Whether a database has such indexes.
    func hasMaintainedIndexes(in schemaName: String) throws -> Bool

    /// Keeps the indexes of a table from following its rows, until they follow a schema change.
    func suspendIndexes(of table: String, in schemaName: String) throws

    /// Makes the indexes of a database follow a schema change that was just made.
    ///
    /// - Parameter rewritten: The table whose rows the change may have written without triggers.
    ///   Nil for none.
    func followIndexes(in schemaName: String, rewritten: String?) throws
}

extension Database {
    /// Computes the maintained columns again that depend on rows of some tables.
    func recountMaintainedColumns(of tables: [String]) throws {
        try (self as Any as? any ColumnMaintenance)?.recount(tables)
    }

    /// Runs a schema change, and makes the indexes follow that SQLite does not maintain by itself.
    private func maintainingIndexes(
        of table: String?, in schemaName: String?, rewritten: String?, _ change: () throws -> Void
    ) throws {
        guard !isClosed, let indexes = self as Any as? any IndexMaintenance else { return try change() }
        let isSilent = hooks.tracer?.isSilent ?? false
        hooks.tracer?.isSilent = true
        // Look the table up now: the change may drop it.
        let place = schemaName ?? table.flatMap { try? schema.table($0)?.schemaName } ?? "main"
        let isConcerned = (try? indexes.hasMaintainedIndexes(in: place)) ?? false
        hooks.tracer?.isSilent = isSilent
        guard isConcerned else { return try change() }
        try inSavepoint {
            if let rewritten { try indexes.suspendIndexes(of: rewritten, in: place) }
            try change()
            try indexes.followIndexes(in: place, rewritten: rewritten)
            return .commit
        }
    }

    /// Runs a schema change, and maintains the columns that it concerns.
    ///
    /// - Parameters:
    ///   - table: The table that is changed, if its database is not given.
    ///   - isDeclared: Whether the change declares a maintained column.
    ///   - suspended: The table whose columns have no triggers during the change. Nil for none.
    func maintainingColumns(
        of table: String? = nil, in schemaName: String?, declared isDeclared: Bool = false,
        without suspended: String? = nil, _ change: () throws -> Void
    ) throws {
        try maintainingIndexes(of: table, in: schemaName, rewritten: suspended) {
            guard isDeclared || mayHaveMaintainedColumns(in: schemaName) else { return try change() }
            try columnMaintenance().maintainColumns(
                of: table, in: schemaName, without: suspended, during: change)
        }
    }

    /// Runs a change of an index whose table may determine maintained columns.
    func maintainingColumns(ofIndex name: String, in schemaName: String?, _ change: () throws -> Void) throws
    {
        guard mayHaveMaintainedColumns(in: schemaName) else { return try change() }
        let places = try schemaName.map { [$0] } ?? schema.databaseNames()
        let place = try places.first { try schema.contains(.index, name, in: $0) }
        try maintainingColumns(in: place ?? schemaName, declared: true, change)
    }

    /// Refuses to rename a table or column that triggers refer to by name.
    func checkRenaming(_ table: String, column: String? = nil, in schemaName: String?) throws {
        guard mayHaveMaintainedColumns(in: schemaName) else { return }
        try columnMaintenance().refuseRenaming(of: table, column: column, in: schemaName)
    }

    /// Returns the code that maintains columns.
    ///
    /// - Throws: a ``DatabaseError`` if this program lacks it. A linker may have dropped it from an
    ///   archive.
    func columnMaintenance() throws -> any ColumnMaintenance {
        if let maintenance = self as Any as? any ColumnMaintenance { return maintenance }
        throw DatabaseError.missingCode(that: "maintains them", for: "the database has counters")
    }

    /// Whether a database has maintained columns, or any database if `schemaName` is nil. False if
    /// the schema cannot be read: the schema change then fails as well, with an error of its own.
    private func mayHaveMaintainedColumns(in schemaName: String?) -> Bool {
        if isClosed { return false }
        hooks.tracer?.isSilent = true
        defer { hooks.tracer?.isSilent = false }
        let names = schemaName.map { [$0] } ?? (try? schema.databaseNames()) ?? []
        return names.contains { name in
            let tables = (try? schema.objects(.table, in: name)) ?? []
            if tables.contains(where: { !CounterMark.marks(in: $0.sql).isEmpty }) { return true }
            return ((try? schema.objects(.trigger, in: name)) ?? []).contains(where: \.maintainsColumns)
        }
    }
}
