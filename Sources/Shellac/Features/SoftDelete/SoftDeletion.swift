/// The soft deletion of rows, or their restoration.
///
/// The rows get a date, or lose it. Then the rows of other tables that cascade from them follow.
/// One statement is enough for each table, and all rows have the same date.
struct SoftDeletion {
    enum Direction {
        /// Deletes the rows at this date.
        case delete(DatabaseValue)
        /// Restores the rows that were deleted at this date.
        case restore(DatabaseValue)
    }

    let db: Database
    let direction: Direction
    /// The date as it was written, if a trigger has changed it.
    var written: DatabaseValue?

    /// Soft deletes the rows of a request that are not deleted yet. Returns their number.
    static func delete(_ query: SelectQuery, of type: any TableRecord.Type, in db: Database) throws -> Int {
        try db.inOneTransaction(if: type.hasSoftDeleteCascades) {
            let date = try type.softDeletion().date(by: type, in: db)
            return try SoftDeletion(db: db, direction: .delete(date)).run(query, of: type)
        }
    }

    /// Soft deletes the rows of a request that are not deleted yet, and fetches the changed rows.
    static func deleteAndFetch<Element>(
        _ query: SelectQuery, of type: any TableRecord.Type, in db: Database,
        _ fetch: (Statement, StatementArguments) throws -> [Element]
    ) throws -> [Element] {
        let deletion = try type.softDeletion()
        return try db.inOneTransaction(if: !deletion.cascades.isEmpty) {
            let this = SoftDeletion(db: db, direction: .delete(try deletion.date(by: type, in: db)))
            let columns = try deletion.ownerColumns(of: type, on: db)
            let update = this.update(query, by: deletion)
            var known = update.query
            known.select(columns)
            let owners = columns.isEmpty ? [] : try QueryInterfaceRequest<Row>(known).fetchAll(db)
            let (statement, arguments) = try this.prepare(
                BulkQuery(query: update.query, action: update.action, isReturning: true))
            let elements = try fetch(statement, arguments)
            if !columns.isEmpty { try this.checkDate(of: owners.count, type) }
            try this.cascade(
                from: Owners(
                    type: type, deletion: deletion, columns: columns, rows: owners.map(\.databaseValues)))
            return elements
        }
    }

    /// Restores the rows of a request that are deleted. Returns the number of these rows.
    static func restore(_ query: SelectQuery, of type: any TableRecord.Type, in db: Database) throws -> Int {
        let deletion = try type.softDeletion()
        var query = query
        query.seeDeleted()
        query.filter(
            query.scoped(SQLExpression(.isNull(SQLExpression(.column(deletion.column)), isNegated: true))))
        return try db.inOneTransaction(if: true) {
            // Read these rows before they are restored: afterwards, no date identifies them.
            let columns = try deletion.ownerColumns(of: type, on: db)
            var known = query
            known.select([deletion.column] + columns)
            let rows = columns.isEmpty ? [] : try QueryInterfaceRequest<Row>(known).fetchAll(db)
            let (statement, arguments) = try db.queries.prepare(deletion.set(.null, in: query), on: db)
            statement.bypassAdvice()
            try statement.execute(arguments: arguments)
            let count = db.changesCount
            let groups = Dictionary(grouping: rows.map(\.databaseValues), by: { $0[0] })
            for (date, rows) in groups {
                try SoftDeletion(db: db, direction: .restore(date))
                    .cascade(
                        from: Owners(
                            type: type, deletion: deletion, columns: columns,
                            rows: rows.map { Array($0.dropFirst()) }))
            }
            return count
        }
    }

    /// Sets or removes the date of rows, and continues with the rows that cascade from them.
    /// Returns the number of rows, without the cascaded ones.
    private func run(_ query: SelectQuery, of type: any TableRecord.Type) throws -> Int {
        let (count, owners) = try write(query, of: type)
        guard let owners else { return count }
        try checkDate(of: count, type)
        try cascade(from: owners)
        return count
    }

    /// Sets or removes the date of rows. Returns their number, and the values by which cascades
    /// find other rows.
    private func write(_ query: SelectQuery, of type: any TableRecord.Type) throws -> (Int, Owners?) {
        let deletion = try type.softDeletion()
        let columns = try deletion.ownerColumns(of: type, on: db)
        let update = update(query, by: deletion)
        if columns.isEmpty {
            let (statement, arguments) = try prepare(update)
            try statement.execute(arguments: arguments)
            return (db.changesCount, nil)
        }
        var selection = update.query
        selection.select(columns)
        let (statement, arguments) = try prepare(
            BulkQuery(query: selection, action: update.action, isReturning: true))
        let rows = try Row.fetchAll(statement, arguments: arguments).map(\.databaseValues)
        return (rows.count, Owners(type: type, deletion: deletion, columns: columns, rows: rows))
    }

    /// Prepares a statement. A restoration calls no callbacks, and needs no warning about that.
    private func prepare(_ update: BulkQuery) throws -> (Statement, StatementArguments) {
        let (statement, arguments) = try update.prepare(on: db)
        if case .restore = direction { statement.bypassAdvice() }
        return (statement, arguments)
    }

    /// Returns an update that dates rows without a date, or removes this date.
    private func update(_ query: SelectQuery, by deletion: SoftDelete) -> BulkQuery {
        var query = query
        switch direction {
        case .delete(let date):
            query.seeDeleted()
            query.filter(query.scoped(deletion.isNotDeleted))
            return deletion.set(date, in: query)
        case .restore(let date):
            query.seeDeleted()
            query.filter(query.scoped(deletion.isDated(date)))
            return deletion.set(.null, in: query)
        }
    }

    /// Continues with the rows that cascade from the given ones, and from those in turn. It uses a
    /// loop, so a tree may have any depth.
    func cascade(from owners: Owners) throws {
        var waiting = [owners]
        while let owners = waiting.popLast() {
            if owners.rows.isEmpty { continue }
            for cascade in owners.deletion.cascades {
                let values = try owners.values(
                    of: cascade.ownerColumns(of: owners.type, on: db))
                for query in try cascade.rows(along: values, of: owners.type, on: db) {
                    guard let type = query.source.type else { continue }
                    if case .delete(let date) = direction {
                        try type.softDeletion().check(written ?? date, isStoredBy: type, in: db)
                    }
                    let (count, next) = try write(query, of: type)
                    try checkDate(of: count, type, along: query)
                    if let next { waiting.append(next) }
                }
            }
        }
    }

    /// Throws if a trigger of the program has written another date than that of the rows that are
    /// deleted together. A restoration finds the rows that belong together only by this date.
    ///
    /// - Parameters:
    ///   - count: The number of rows that got the date.
    ///   - query: The cascaded rows. Nil for the request's rows, of which only the date is known.
    private func checkDate(of count: Int, _ type: any TableRecord.Type, along query: SelectQuery? = nil)
        throws
    {
        guard case .delete(let date) = direction, count > 0, try type.mayRewriteDates(on: db) else { return }
        let deletion = try type.softDeletion()
        var dated = query ?? SelectQuery(QuerySource(.type(type)))
        dated.own = .none
        dated.filter(deletion.isDated(date))
        if try QueryInterfaceRequest<Row>(dated).fetchCount(db) >= count { return }
        let advice =
            query == nil
            ? "Delete the records one by one, so that they take the date of the trigger, or change the trigger to leave the column alone"
            : "Change the trigger to leave the column alone, or to write the date of the rows that these are deleted with"
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "rows of \(type) were deleted together with others, but a trigger has written another date into \(deletion.column): "
                + "they could not be restored together. \(advice)")
    }

    /// Rows that were deleted or restored, and from which others cascade.
    struct Owners {
        let type: any TableRecord.Type
        let deletion: SoftDelete
        /// The columns by which the cascaded rows are found.
        let columns: [String]
        /// The values of the rows in these columns.
        let rows: [[DatabaseValue]]

        /// Returns the values of some of the columns.
        fileprivate func values(of names: [String]) -> [[DatabaseValue]] {
            let places = names.compactMap { name in
                columns.firstIndex { CaseInsensitiveName.matches($0, name) }
            }
            return rows.map { row in places.map { row[$0] } }
        }
    }
}

extension SoftDelete {
    /// Returns the date of a deletion now, as a type stores it.
    func date(by type: any TableRecord.Type, in db: Database) throws -> DatabaseValue {
        try type.storedKeyValue(db.distinctTransactionDate, in: column)
    }

    /// Returns the condition on the rows that were deleted at a date.
    fileprivate func isDated(_ date: DatabaseValue) -> SQLExpression {
        SQLExpression(.infix(.equal, SQLExpression(.column(column)), SQLExpression(.value(date))))
    }

    /// Throws if a type stores a date differently from the type that its rows cascade from. Nothing
    /// could then restore the rows together.
    fileprivate func check(
        _ date: DatabaseValue, isStoredBy type: any TableRecord.Type, in db: Database
    ) throws {
        let own = try self.date(by: type, in: db)
        if own == date { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "rows of \(type) are deleted along with others, but \(type) stores dates in \(column) differently (\(own) instead of \(date)): "
                + "use the same strategy for dates in both types")
    }

    /// Returns the columns by which cascades find other rows.
    func ownerColumns(of type: any TableRecord.Type, on db: Database) throws -> [String] {
        try cascades.reduce(into: []) { columns, cascade in
            for name in try cascade.ownerColumns(of: type, on: db)
            where !columns.contains(where: { CaseInsensitiveName.matches($0, name) }) {
                columns.append(name)
            }
        }
    }

    /// Returns an update that sets the column of rows.
    fileprivate func set(_ value: DatabaseValue, in query: SelectQuery) -> BulkQuery {
        BulkQuery(
            query: query, action: .update([Column(column).set(to: value)], .abort), isReturning: false)
    }
}

extension SelectQuery {
    /// Includes soft deleted rows.
    mutating func seeDeleted() {
        if source.type?.databaseSoftDelete != nil { own.leaveOut(.deleted) }
    }

    fileprivate mutating func select(_ columns: [String]) {
        selection = columns.map {
            SQLSelection(.expression(scoped(SQLExpression(.column($0))), name: nil))
        }
        annotations = []
        supplement = supplement?.joinsTables == true ? supplement : nil
    }
}

extension TableRecord {
    fileprivate static var hasSoftDeleteCascades: Bool { databaseSoftDelete?.cascades.isEmpty == false }

    /// Whether a trigger of the program may write another deletion date than the requested one.
    static func mayRewriteDates(on db: Database) throws -> Bool {
        let table = try tableSchema(on: db)
        guard table.kind == .table else { return false }
        return try db.schema.triggers(on: table).contains { !$0.isOwnTrigger }
    }
}

extension Database {
    /// Runs a function, in a savepoint if it takes more than one statement. Outside of a
    /// transaction, it uses a transaction instead, which excludes the writes of others.
    func inOneTransaction<Result>(if isNeeded: Bool, _ body: () throws -> Result) throws -> Result {
        guard isNeeded else { return try body() }
        var result: Result?
        func run() throws -> TransactionCompletion {
            result = try body()
            return .commit
        }
        if isInsideTransaction || lostTransaction != nil {
            try inSavepoint(run)
        } else {
            try inTransaction(.immediate, run)
        }
        return result.unsafelyUnwrapped
    }
}

// MARK: - Requests

extension RowSource {
    /// Deletes the rows of the request permanently, even if ``TableRecord/databaseSoftDelete``
    /// keeps deleted rows.
    ///
    /// ```swift
    /// try Player.ignoringDefaultFilter(.deleted).filter(Column("deletedAt") < lastYear).destroyAll(db)
    /// ```
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: a ``DatabaseError`` if a foreign key of other rows prevents the deletion.
    @discardableResult
    public func destroyAll(_ db: Database) throws -> Int {
        try BulkQuery(query: all().query, action: .delete, isReturning: false).execute(db)
    }

    /// Restores the rows of the request that ``TableRecord/databaseSoftDelete`` has deleted, and
    /// the rows that were deleted along with them.
    ///
    /// ```swift
    /// try Player.filter(key: 1).restoreAll(db)
    /// ```
    ///
    /// - Returns: The number of restored rows, without those that were deleted along.
    /// - Throws: a ``DatabaseError`` if the type of the rows declares no soft delete.
    @discardableResult
    public func restoreAll(_ db: Database) throws -> Int {
        let query = all().query
        guard let type = query.source.type else {
            throw DatabaseError(
                message: "only rows of a type that declares databaseSoftDelete can be restored")
        }
        return try SoftDeletion.restore(query, of: type, in: db)
    }
}

extension TableRecord {
    /// Deletes all rows of the table permanently, except for rows that a default filter leaves out:
    /// see ``RowSource/destroyAll(_:)``.
    ///
    /// - Throws: a ``DatabaseError`` if a foreign key of other rows prevents the deletion.
    @discardableResult
    public static func destroyAll(_ db: Database) throws -> Int { try all().destroyAll(db) }

    /// Restores all rows of the table that are deleted: see ``RowSource/restoreAll(_:)``.
    ///
    /// - Throws: a ``DatabaseError`` if the type declares no soft delete.
    @discardableResult
    public static func restoreAll(_ db: Database) throws -> Int { try all().restoreAll(db) }
}
