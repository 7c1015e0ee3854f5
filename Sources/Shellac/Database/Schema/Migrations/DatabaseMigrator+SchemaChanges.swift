// Detects schema changes by running the migrations on an empty database. Erases databases.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DatabaseMigrator {
    /// Whether the database was made by other migrations than those registered.
    ///
    /// This is true if it lists an applied migration that is not registered. It is also true if its
    /// schema differs from that of the registered migrations, up to the last applied one. To
    /// compare, these run on an empty database with the configuration, functions and collations of
    /// this one. It is a temporary file if this database is a file in the file system, and
    /// otherwise in memory.
    ///
    /// Attached databases are copied for it as they are. The migrations then change the copies, on
    /// top of the changes they made before. So a migration throws here if it creates a table in an
    /// attached database, or writes something there that can be written only once. Let it check
    /// first, as `CREATE TABLE IF NOT EXISTS` does.
    ///
    /// Tables, indexes, views and triggers are compared by the meaning of their SQL. White space,
    /// comments, quotes around names, and the case of names and keywords do not matter. Neither
    /// does the generated name of an index. SQLite's own tables, and the table of applied
    /// migrations, are left out.
    ///
    /// If some migrations were applied that a pending one merges, their expected schema cannot be
    /// determined. That is no schema change. See ``eraseDatabaseOnSchemaChange``.
    ///
    /// - Throws: any error that a migration throws on the empty database.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let remembered = try appliedIdentifiers(db)
        if !remembered.isSubset(of: knownNames) { return true }
        let isHalfMerged = registered.contains { migration in
            !migration.isApplied(remembered) && !migration.merged.isDisjoint(with: remembered)
        }
        guard !isHalfMerged, let last = registered.lastIndex(where: { $0.isApplied(remembered) }) else {
            return false
        }
        var configuration = db.configuration
        configuration.readonly = false
        configuration.journalMode = .default
        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        let expected = try db.withEmptyDatabase(configuration) { empty in
            for function in db.added.functions { try empty.add(function: function) }
            for collation in db.added.collations { try empty.add(collation: collation) }
            try empty.attachCopies(from: db)
            try migrator.run(empty, upTo: last)
            return try empty.declarations()
        }
        return try db.declarations() != expected
    }
}

/// The meaning of a schema object's SQL.
private struct Declaration: Hashable {
    private let type: String
    /// The name, or nil for an index with a generated name.
    private let name: CaseInsensitiveName?
    private let table: CaseInsensitiveName
    private let tokens: [String]

    init(_ type: String, _ name: String, of table: String, sql: String) {
        (self.type, self.table) = (type, CaseInsensitiveName(table))
        let tokens = SQLTokens(sql).meanings
        let keys = type == "index" ? IndexText(sql)?.keys.map { SQLTokens($0).meanings.joined() } : nil
        // The table or a column may have been renamed since, so compare the end of the name.
        let columns = keys.map { "_on_" + $0.joined(separator: "_") } ?? ""
        let isAutomatic = !columns.isEmpty && name.lowercased().hasSuffix(columns)
        self.name = isAutomatic ? nil : CaseInsensitiveName(name)
        // Before ON there are only the name and UNIQUE.
        self.tokens = tokens.filter {
            !isAutomatic || $0 != SQLTokens(name.quotedDatabaseIdentifier).meanings[0]
        }
    }
}

extension Database {
    /// Runs a function with an empty database of the same kind.
    ///
    /// Code that prepares connections may need a file, for example to call
    /// `sqlite3_file_control()`. Other VFS may keep their files in unknown places.
    fileprivate func withEmptyDatabase<Result>(
        _ configuration: Configuration, _ body: (Database) throws -> Result
    ) throws -> Result {
        let isFile = sqlite3_db_filename(pointer, "main").map { $0.pointee != 0 } ?? false
        guard isFile, configuration.vfs == nil else {
            return try DatabaseQueue(configuration: configuration).inDatabase(body)
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "shellac-migrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = configuration
        configuration.label = configuration.label ?? description
        // The file is not needed after a crash.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let queue = try DatabaseQueue(
            path: folder.appending(path: "empty.sqlite").path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.inDatabase(body)
    }

    /// Detaches all databases, and attaches copies of the databases attached to another connection.
    fileprivate func attachCopies(from other: Database) throws {
        for name in try attachedNames() { try execute(definition: "DETACH \(name.quotedDatabaseIdentifier)") }
        for name in try other.attachedNames() {
            // A temporary database: see "In-Memory Databases" in the SQLite documentation.
            try execute(definition: "ATTACH '' AS \(name.quotedDatabaseIdentifier)")
            let backup = try Backup(from: other, to: self, of: name)
            defer { backup.finish() }
            while try !backup.step(pages: -1).isCompleted {}
        }
    }

    private func attachedNames() throws -> [String] {
        try String.fetchAll(self, sql: "SELECT name FROM pragma_database_list").filter { name in
            !["main", "temp"].contains { CaseInsensitiveName.matches($0, name) }
        }
    }

    /// Returns the declarations of the database `main`.
    fileprivate func declarations() throws -> Set<Declaration> {
        let rows = try Row.fetchAll(self, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        let declarations = try rows.compactMap { row -> Declaration? in
            let (type, name, table): (String, String, String) = try (row[0], row[1], row[2])
            let isOwn = [name, table].contains(where: Self.isInternalTable)
            return isOwn ? nil : Declaration(type, name, of: table, sql: try row[3] ?? "")
        }
        return Set(declarations)
    }

    /// Drops everything in the database `main`, and resets its version numbers: all, or nothing.
    func eraseEverything() throws {
        let enforced = try Bool.fetchOne(self, sql: "PRAGMA foreign_keys") ?? false
        // Otherwise, dropping a referenced table would fail.
        if enforced { try setForeignKeysEnforced(false) }
        defer { if enforced { try? setForeignKeysEnforced(true) } }
        try inTransaction(.immediate) {
            try dropAll("VIEW", where: "type = 'view'")
            // Virtual tables have no page of their own, and their shadow tables are dropped with
            // them. See "The Schema Table" in the SQLite documentation.
            try dropAll("TABLE", where: "type = 'table' AND coalesce(rootpage, 0) = 0")
            try dropAll("TABLE", where: "type = 'table'")
            try execute(sql: "PRAGMA main.user_version = 0; PRAGMA main.application_id = 0")
            return .commit
        }
    }

    private func dropAll(_ kind: String, where condition: String) throws {
        let names = try String.fetchAll(
            self, sql: "SELECT name FROM main.sqlite_master WHERE \(condition) ORDER BY rowid DESC")
        for name in names where !Self.isSQLiteInternalTable(name) {
            try execute(definition: "DROP \(kind) main.\(name.quotedDatabaseIdentifier)")
        }
    }
}
