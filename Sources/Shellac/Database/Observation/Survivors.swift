/// Finds the events of a statement that failed and was undone that stand, all the same.
struct Survivors {
    let database: Database
    let tables: TableNames
    let columns: ObservedColumns

    /// What tells a row from others.
    private enum Place: Hashable {
        case rowID(Int32, Int64)
        /// In a WITHOUT ROWID table.
        case key(Int32, [DatabaseValue])
    }

    /// The events, of a statement that failed and was undone, that stand: those made by statements that functions ran
    /// inside of it.
    ///
    /// Whether SQLite undoes those, too, depends on the kind of statement, and SQLite does not tell. All of them stand,
    /// or none: the database is asked for a row that was inserted or deleted.
    func find(among events: UnsafeBufferPointer<RowEvent>) -> [RowEvent] {
        let nested = events.filter { $0.marks.contains(.nested) }
        guard !nested.isEmpty else { return [] }
        var first: [Place: DatabaseEvent.Kind] = [:]
        var last: [Place: DatabaseEvent.Kind] = [:]
        for event in nested where !event.marks.contains(.undetected) {
            let place = place(of: event)
            if first[place] == nil { first[place] = event.kind }
            last[place] = event.kind
        }
        for (place, kind) in last {
            let wasThere = first[place] != .insert
            let isThere = kind != .delete
            guard wasThere != isThere, let found = contains(place) else { continue }
            return found == isThere ? nested : []
        }
        return nested
    }

    private func place(of event: RowEvent) -> Place {
        guard let values = event.values, !values.columns.hasRowID, let row = values.final ?? values.initial
        else { return .rowID(event.table, event.rowID) }
        return .key(event.table, values.columns.primaryKey.map { row[$0] })
    }

    /// Whether there is a row, or nil if that cannot be found out.
    private func contains(_ place: Place) -> Bool? {
        let (number, names, key): (Int32, [String], [DatabaseValue])
        switch place {
        case .rowID(let table, let rowID): (number, names, key) = (table, ["rowid"], [rowID.databaseValue])
        case .key(let table, let values):
            guard let columns = columns[table] else { return nil }
            let keyNames = columns.primaryKey.map { columns.columns[$0].name.quotedDatabaseIdentifier }
            (number, names, key) = (table, keyNames, values)
        }
        let name = tables.names[Int(number)]
        let table = "\(name.schema.quotedDatabaseIdentifier).\(name.table.quotedDatabaseIdentifier)"
        let condition = names.map { "\($0) IS ?" }.joined(separator: " AND ")
        let sql = "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(condition))"
        return try? Bool.fetchOne(database, sql: sql, arguments: StatementArguments(key))
    }
}
