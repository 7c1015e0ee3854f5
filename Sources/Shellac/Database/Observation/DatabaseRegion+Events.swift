// Regions and change events: matching, the regions of statements, and notifyChanges(in:).

extension DatabaseRegion {
    /// Whether changes of a kind may modify the region.
    ///
    /// - Parameter eventKind: The kind. Insertions and deletions modify each column. An update modifies the columns that its statement
    ///   names.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        switch eventKind {
        case .insert(let table), .delete(let table): contains(table: table)
        case .update(let table, let columns): contains(anyOf: columns, in: table)
        }
    }

    /// Whether a change modifies the region.
    ///
    /// - Parameter event: The change, of a kind that may: ask ``isModified(byEventsOfKind:)`` first, in
    ///   ``TransactionObserver/observes(eventsOfKind:)``. Its columns are not looked at any more.
    public func isModified(by event: DatabaseEvent) -> Bool {
        if contains(rowID: event.rowID, in: event.tableName) { return true }
        // It may have been in the region before. And a row without an id can be any.
        return isLimitedToRows(in: event.tableName) && (event.mayHaveMoved || event.hasNoRowID)
    }

    /// The kinds of changes that may modify the region, all there are.
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
    /// The tables and the columns that the statement reads. SQLite tells when it prepares the statement.
    ///
    /// It is not told what functions made in Swift read, nor what a virtual table reads. Where a generated column is
    /// read, it is all columns of its table.
    ///
    /// - Parameter db: The connection of the statement.
    /// - Throws: a ``DatabaseError`` when the schema has changed so that the statement does not compile any more.
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
    /// The tables and the columns that a query reads.
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
    /// Tells observers of changes that SQLite does not: by another process or connection, to virtual tables, by the C
    /// interface's blobs.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO search(search) VALUES ('rebuild')")  // a virtual table
    ///     try db.notifyChanges(in: DatabaseRegion(table: "search"))
    /// }
    /// ```
    ///
    /// The observers that want changes of the region are told by ``TransactionObserver/databaseDidChange()``, as of all
    /// changes: after the savepoints around it, and with the commit that follows. Outside of a transaction it is told
    /// in an empty one. In a `read` it does nothing: that changes nothing, and tells of no commit. In the other accesses of a
    /// connection that is opened for reading it tells: what another process has changed is news there, too.
    ///
    /// - Parameter region: What has changed: a region, or what reads it, such as a request. Its tables count as inserted into, deleted
    ///   from, and updated in the columns of the region.
    /// - Throws: a ``DatabaseError`` when the region cannot be found out, and what a veto throws outside of a
    ///   transaction.
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
    /// The tables and the columns that the statement reads: see ``databaseRegion(_:)``. Where these cannot be found out, it is the
    /// whole database.
    public var databaseRegion: DatabaseRegion { (try? databaseRegion(database)) ?? .fullDatabase }
}
