// Matches regions with change events, and finds the regions of statements.
//
// Also reports changes in a region, by `notifyChanges(in:)`.

extension DatabaseRegion {
    /// Whether changes of the given kind may modify the region.
    ///
    /// - Parameter eventKind: The kind. Insertions and deletions modify every column. An update
    ///   modifies the columns that its statement names.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        switch eventKind {
        case .insert(let table), .delete(let table): contains(table: table)
        case .update(let table, let columns): contains(anyOf: columns, in: table)
        }
    }

    /// Whether a change modifies the region.
    ///
    /// - Parameter event: The change, of a kind that may modify the region. Call
    ///   ``isModified(byEventsOfKind:)`` first, in ``TransactionObserver/observes(eventsOfKind:)``.
    ///   The columns of the change are not checked again.
    public func isModified(by event: DatabaseEvent) -> Bool {
        if contains(rowID: event.rowID, in: event.tableName) { return true }
        // The row may have been in the region before. And a row without an id can be any row.
        return isLimitedToRows(in: event.tableName) && (event.mayHaveMoved || event.hasNoRowID)
    }

    /// Returns all kinds of changes that may modify the region.
    func eventKinds(_ db: Database) throws -> [DatabaseEventKind] {
        let tables = try tableNames ?? db.schema.databaseNames().flatMap { try db.tableNames(in: $0) }
        return try tables.flatMap { table -> [DatabaseEventKind] in
            let all = try db.schema.tables(named: table).flatMap { $0.allColumns.map(\.name) }
            return [
                .insert(tableName: table), .delete(tableName: table),
                .update(tableName: table, columnNames: columns(of: table) ?? Set(all)),
            ]
        }
    }
}

extension Statement: DatabaseRegionConvertible {
    /// Returns the tables and the columns that the statement reads. SQLite reports them when it
    /// prepares the statement.
    ///
    /// SQLite does not report what functions defined in Swift read, nor what a virtual table reads.
    /// A generated column counts as all columns of its table.
    ///
    /// - Parameter db: The connection of the statement.
    /// - Throws: a ``DatabaseError`` when the statement no longer compiles after a schema change.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        db.checkAccess()
        try followSchema()
        var region = DatabaseRegion()
        for (table, columns) in effects.reads {
            let isGenerated = try db.schema.tables(named: table).contains { known in
                columns.contains { known.column(named: $0)?.isGenerated == true }
            }
            region.formUnion(
                isGenerated ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: columns))
        }
        return region
    }
}

extension SQL: DatabaseRegionConvertible {
    /// Returns the tables and the columns that a query reads.
    ///
    /// ```swift
    /// let region = try SQL("SELECT MAX(score) FROM player").databaseRegion(db)
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when the query does not compile.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try db.cachedStatement(sql: written(on: db).sql).databaseRegion(db)
    }
}

extension Database {
    /// Notifies observers of changes that SQLite does not report: by another process or connection,
    /// to virtual tables, or through the C interface's blobs.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO search(search) VALUES ('rebuild')")  // a virtual table
    ///     try db.notifyChanges(in: DatabaseRegion(table: "search"))
    /// }
    /// ```
    ///
    /// Observers of the region are notified with ``TransactionObserver/databaseDidChange()``, as of
    /// all changes: after the surrounding savepoints, and with the commit that follows. Outside of
    /// a transaction they are notified in an empty one.
    ///
    /// In a `read` this does nothing, because a read changes nothing and reports no commit. In the
    /// other accesses of a read-only connection it notifies them, because changes by another
    /// process matter there, too.
    ///
    /// - Parameter region: The changed region, or something that reads it, such as a request. Its
    ///   tables count as inserted into, deleted from, and updated in the columns of the region.
    /// - Throws: a ``DatabaseError`` when the region cannot be determined, and outside of a
    ///   transaction the error of a veto.
    public func notifyChanges(in region: some DatabaseRegionConvertible) throws {
        checkAccess()
        guard !isReadOnlyScope, let broker, !broker.observers.isEmpty else { return }
        let kinds = try region.databaseRegion(self).eventKinds(self)
        if isInsideTransaction || callbackDepth > 0 {
            broker.tellUndetectedChanges(kinds)
        } else {
            try inTransaction(.deferred) {
                broker.tellUndetectedChanges(kinds)
                return .commit
            }
        }
    }
}

extension Statement {
    /// The tables and the columns that the statement reads: see ``databaseRegion(_:)``. The whole
    /// database if they cannot be determined.
    public var databaseRegion: DatabaseRegion { (try? databaseRegion(database)) ?? .fullDatabase }
}
