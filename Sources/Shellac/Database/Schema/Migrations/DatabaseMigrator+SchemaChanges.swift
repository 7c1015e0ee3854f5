// Detects schema changes by running the migrations on an empty database; erases a database.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DatabaseMigrator {
    /// Whether the database was made by other migrations than those registered.
    ///
    /// That is so when it remembers a migration that is not registered, and when its schema is not the one that the
    /// registered migrations make, up to the last one that it remembers. To find out, these run on an empty database,
    /// which is opened with the configuration of this one, and has its functions and collations: a temporary file where
    /// this one has a file in the file system, and one in memory elsewhere. Attached
    /// databases are copied for it, as they are: whatever the migrations do there is done to the copies, on top of what
    /// they have done there before. So a migration that creates a table in an attached database, or writes there what may
    /// be written once, throws here; have it look first, as by `CREATE TABLE IF NOT EXISTS`.
    ///
    /// Tables, indexes, views and triggers are compared by what their SQL means: white space, comments, quotes around names, and the
    /// case of names and keywords do not count, nor does the name of an index that nobody has named. SQLite's own tables, and the
    /// one that remembers migrations, are left out. Where migrations of a merged one were applied that has yet to run, nobody
    /// can say what they should have made: that is no schema change. See ``eraseDatabaseOnSchemaChange``.
    ///
    /// - Throws: what a migration throws on the empty database.
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

/// What an object of a schema means.
private struct Declaration: Hashable {
    private let type: String
    /// Nil for an index that nobody has named.
    private let name: CaseInsensitiveName?
    private let table: CaseInsensitiveName
    private let tokens: [String]

    init(_ type: String, _ name: String, of table: String, sql: String) {
        (self.type, self.table) = (type, CaseInsensitiveName(table))
        let tokens = SQLTokens(sql).meanings
        let keys = type == "index" ? IndexText(sql)?.keys.map { SQLTokens($0).meanings.joined() } : nil
        // The table, or a column, may have been renamed since.
        let columns = keys.map { "_on_" + $0.joined(separator: "_") } ?? ""
        let isAutomatic = !columns.isEmpty && name.lowercased().hasSuffix(columns)
        self.name = isAutomatic ? nil : CaseInsensitiveName(name)
        // What stands before ON are the name, and UNIQUE.
        self.tokens = tokens.filter {
            !isAutomatic || $0 != SQLTokens(name.quotedDatabaseIdentifier).meanings[0]
        }
    }
}

extension Database {
    /// Runs a function with an empty database of the same kind.
    ///
    /// What prepares connections to a file may need one, as `sqlite3_file_control()` does. Other VFS have their files where we know
    /// nothing of.
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
        // Nobody misses it after a crash.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let queue = try DatabaseQueue(
            path: folder.appending(path: "empty.sqlite").path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.inDatabase(body)
    }

    /// Attaches copies of the databases that are attached to another connection, and no other databases.
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

    /// Returns what the database `main` declares.
    fileprivate func declarations() throws -> Set<Declaration> {
        let rows = try Row.fetchAll(self, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        let declarations = try rows.compactMap { row -> Declaration? in
            let (type, name, table): (String, String, String) = try (row[0], row[1], row[2])
            let isOwn = [name, table].contains {
                Self.isSQLiteInternalTable($0) || CaseInsensitiveName.matches($0, Self.migrationTable)
            }
            return isOwn ? nil : Declaration(type, name, of: table, sql: try row[3] ?? "")
        }
        return Set(declarations)
    }

    /// Drops all that is in the database `main`, and its version numbers: all, or nothing.
    func eraseEverything() throws {
        let enforced = try Bool.fetchOne(self, sql: "PRAGMA foreign_keys") ?? false
        // Dropping a table that others refer to would fail.
        if enforced { try setForeignKeysEnforced(false) }
        defer { if enforced { try? setForeignKeysEnforced(true) } }
        try inTransaction(.immediate) {
            try dropAll("VIEW", where: "type = 'view'")
            // They have no page of their own, and take their shadow tables with them. See "The Schema Table" in the
            // SQLite documentation.
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
