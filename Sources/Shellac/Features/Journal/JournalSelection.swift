// The tables that a journal keeps.

/// The tables whose changes a journal keeps: see
/// ``DatabaseWriter/keepJournal(of:for:)-(JournalSelection,_)``.
public struct JournalSelection: Hashable, Sendable {
    /// The names of the tables, or nil for all of them.
    private let names: [String]?
    private let exceptions: Set<String>

    /// All tables with a primary key, those that are created later included.
    ///
    /// Virtual tables, the table of migrations, and tables that Shellac or SQLite made are left
    /// out.
    public static var all: JournalSelection { all(except: []) }

    /// All tables but some.
    ///
    /// - Parameter names: The names of tables that are left out, such as those without a primary
    ///   key.
    public static func all(except names: Set<String>) -> JournalSelection {
        JournalSelection(names: nil, exceptions: names)
    }

    /// Some tables.
    ///
    /// - Parameter names: The names of the tables.
    public static func tables(_ names: [String]) -> JournalSelection {
        JournalSelection(names: names, exceptions: [])
    }

    /// Returns the tables as they are in the database. A table that does not exist is nil.
    func tables(of database: Database) throws -> [(name: String, table: JournaledTable?)] {
        if let names {
            return try names.map { name in
                let table = try database.schema.table(name, in: "main")
                return (table?.name ?? name, try table.map { try JournaledTable($0, database) })
            }
        }
        let left = Set(exceptions.map { CaseInsensitiveName($0) })
        var tables: [TableSchema] = []
        var virtual: [String] = []
        for name in try database.tableNames(in: "main") {
            guard let table = try database.schema.table(name, in: "main") else { continue }
            if table.kind == .virtualTable { virtual.append(name.lowercased()) } else { tables.append(table) }
        }
        return try tables.compactMap { table in
            let name = CaseInsensitiveName(table.name)
            let isOwn =
                OwnName.contains(table.name) || JournalWriter.tables.contains(name)
                || name == CaseInsensitiveName(Database.migrationTable)
            if isOwn || left.contains(name)
                || virtual.contains(where: { table.name.lowercased().hasPrefix($0 + "_") })
            {
                return nil
            }
            return (table.name, try JournaledTable(table, database))
        }
    }
}
