// Checks that a table can have row triggers, and builds the key of a trigger's OLD or NEW row.

extension Database {
    /// Returns a table of `main` whose rows triggers can follow.
    func tableForTriggers(_ name: String, _ refuse: (String) -> DatabaseError) throws -> TableSchema {
        let table = try tableSchema(name, in: "main")
        if Database.isSQLiteInternalTable(name) { throw refuse("it belongs to SQLite") }
        switch table.kind {
        case .table: break
        case .view: throw refuse("it is a view. Name the tables of its rows instead")
        case .virtualTable, .tableValuedFunction:
            throw refuse("it is a virtual table, and SQLite has no triggers on virtual tables")
        }
        // The statements of a trigger cannot name a database.
        if try schema.table(name, in: "temp") != nil {
            throw refuse("a temporary table hides it")
        }
        return table
    }
}

extension TableSchema {
    /// Returns the expressions that find a row `NEW` or `OLD` of a trigger in the table, such as
    /// `NEW."id"`. Nil if there is none.
    func keyOfRow(_ row: String) -> [String]? {
        if let name = rowIDName {
            return ["\(row).\(primaryKey.rowIDColumn == nil ? name : name.quotedDatabaseIdentifier)"]
        }
        let key = primaryKey.tableHasRowID ? [] : primaryKey.columns
        return key.isEmpty ? nil : key.map { "\(row).\($0.quotedDatabaseIdentifier)" }
    }
}
