/// Finds events that remain valid although their statement failed and was undone.
struct Survivors {
    let database: Database
    let tables: TableNames
    let columns: ObservedColumns

    /// The identity of a row.
    private enum Place: Hashable {
        case rowID(Int32, Int64)
        /// The key of a row in a WITHOUT ROWID table.
        case key(Int32, [DatabaseValue])
    }

    /// Returns the events that remain valid although their statement failed and was undone. They
    /// were made by statements that functions ran inside of it.
    ///
    /// Whether SQLite undoes those, too, depends on the kind of statement, and SQLite does not
    /// report it. Either all of them remain, or none. To find out, a query looks for a row that was
    /// inserted or deleted.
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

    /// Whether a row exists, or nil if that cannot be determined.
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
