// The database region of a request, narrowed to row IDs when it fetches by primary key.

extension FetchRequest {
    /// Returns the region that the request reads: tables and columns, and rows if it finds them by
    /// row id.
    ///
    /// ```swift
    /// try Player.filter(Column("score") > 100).select(Column("name")).region(db)   // player(name,score)
    /// try Player.filter(key: 1).region(db)                                         // player(*)[1]
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when the statement of the request does not compile.
    public func region(_ db: Database) throws -> DatabaseRegion { try databaseRegion(db) }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion(db)
    }
}

extension QueryInterfaceRequest {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let query = query
        var region = try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion(db)
        if let rows = try query.rowsRegion(db) { region = region.intersection(rows) }
        guard let supplement = query.supplement else { return region }
        return try region.union(supplement.region(of: query.source.type, in: db))
    }
}

extension SelectQuery {
    /// Returns the rows found by row id, if nothing else is read.
    func rowsRegion(_ db: Database) throws -> DatabaseRegion? {
        let selection = selection ?? source.type?.databaseSelection.map(\.sqlSelection) ?? []
        guard case .key(let condition)? = given?.syntax, condition.isOfPrimaryKey,
            let name = source.tableName, annotations.isEmpty, joins.isEmpty, supplement?.joinsTables != true,
            commonTables.isEmpty,
            groupCondition == nil, selection.allSatisfy(\.isPlain), ordering.allSatisfy(\.isPlain),
            groups.isEmpty, ownCondition?.readsRowAlone ?? true
        else { return nil }
        let table = try db.tableSchema(name)
        guard table.primaryKey.rowIDColumn != nil, source.type?.databasePrimaryKey == nil,
            case .values(let values) = try condition.keys({ (table, table.primaryKey.columns) })
        else { return nil }
        let rowIDs = values.compactMap(Int64.fromDatabaseValue)
        // SQLite also finds 1 by '1'.
        guard rowIDs.count == values.count else { return nil }
        return DatabaseRegion(table: table.name, rowIDs: rowIDs)
    }
}

extension SQLOrdering {
    fileprivate var isPlain: Bool { SQLSelection(.expression(expression, name: nil)).isPlain }
}
