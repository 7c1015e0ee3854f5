// The temporary triggers that Shellac creates on a connection: listing, creating, dropping.

import CSQLite

/// Shellac's own temporary triggers on a connection.
struct OwnTriggers {
    private unowned(unsafe) let database: Database  // whose triggers own this
    /// The names of all triggers that Shellac has created. The program may use similar names for
    /// its own.
    private var names: Set<String> = []

    /// The prefix of the names of Shellac's triggers.
    static let prefix = OwnName.prefix

    init(_ database: Database) { self.database = database }

    /// Whether Shellac has created a trigger with a name.
    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Returns the SQL of the existing triggers, by their names. (SQLite rewrites it when it
    /// renames tables and columns.)
    func present() throws -> [String: String] {
        let sql = "SELECT name, sql FROM temp.sqlite_master WHERE type = 'trigger' AND substr(name, 1, 8) = ?"
        let rows = try database.asking {
            try Row.fetchAll(database.cachedStatement(sql: sql), arguments: [Self.prefix])
        }
        var present: [String: String] = [:]
        for row in rows {
            let name: String = try row["name"]
            if names.contains(name) { present[name] = try row["sql"] }
        }
        return present
    }

    mutating func create(_ name: String, _ sql: String) throws {
        if !names.contains(name), try database.schema.contains(.trigger, name, in: "temp") {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the temporary trigger \(name) has a name that a trigger of Shellac needs: give it another one",
                sql: sql)
        }
        names.insert(name)
        try database.execute(definition: "CREATE TEMP" + sql.dropFirst("CREATE".count))
    }

    func dropAll() throws { for name in try present().keys.sorted() { try drop(name) } }

    /// Drops a trigger.
    ///
    /// If another connection has dropped its table, the trigger is an orphan. SQLite forgets it
    /// when it reads the schema again, but leaves it in the list of triggers, where it would block
    /// its successor.
    func drop(_ name: String) throws {
        try database.execute(definition: "DROP TRIGGER IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        let count = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT COUNT(*) FROM temp.sqlite_master WHERE name = ?"),
            arguments: [name])
        guard count != 0 else { return }
        // A defensive connection, as Apple's are, protects even this list from writes.
        let pointer = database.pointer
        let isDefensive = shellac_db_config_value(pointer, SQLITE_DBCONFIG_DEFENSIVE) != 0
        if isDefensive { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 0) }
        defer { if isDefensive { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 1) } }
        try database.execute(sql: "PRAGMA writable_schema = ON")
        defer { try? database.execute(sql: "PRAGMA writable_schema = OFF") }
        try database.execute(
            sql: "DELETE FROM temp.sqlite_master WHERE type = 'trigger' AND name = ?", arguments: [name])
    }
}
