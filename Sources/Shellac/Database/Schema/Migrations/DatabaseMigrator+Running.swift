// Runs pending migrations, each in its own transaction, and keeps the list of applied ones.

extension DatabaseMigrator {
    /// Runs the pending migrations up to the given one.
    func run(_ db: Database, upTo target: Int?, _ progress: ((MigrationProgress) -> Void)? = nil) throws {
        guard let target else { return }
        if eraseDatabaseOnSchemaChange, try hasSchemaChanges(db) { try db.eraseEverything() }
        let remembered = try appliedIdentifiers(db)
        if let beyond = registered[(target + 1)...].last(where: { $0.isBehind(remembered) }) {
            let name = registered[target].name
            var error = DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the database has been migrated beyond it, up to \"\(beyond.name)\": "
                    + "migrations cannot be undone")
            error.migration = name
            throw error
        }
        let count = registered[...target].count { !$0.isApplied(remembered) }
        var index = 0
        for migration in registered[...target] {
            if !migration.isApplied(remembered) {
                progress?(MigrationProgress(name: migration.name, index: index, count: count))
                index += 1
            } else if migration.merged.isDisjoint(with: remembered) || db.configuration.readonly {
                continue
            }
            do {
                try run(migration, on: db)
            } catch let error as CancellationError {
                throw error
            } catch var error as DatabaseError {
                error.migration = error.migration ?? migration.name
                throw error
            } catch {
                throw DatabaseMigrationError(migration: migration.name, underlyingError: error)
            }
        }
    }

    /// Runs one migration in its transaction.
    private func run(_ migration: Migration, on db: Database) throws {
        // Foreign keys cannot be switched inside a transaction: see "PRAGMA foreign_keys" in the
        // SQLite documentation.
        let checksAtEnd =
            try migration.foreignKeyChecks == .deferred
            && Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false
        if checksAtEnd { try db.setForeignKeysEnforced(false) }
        // If the migration has closed the database, there is nothing to restore.
        defer { if checksAtEnd { try? db.setForeignKeysEnforced(true) } }
        try db.inTransaction(.immediate) {
            try db.createMigrationTable()
            let merged = try migration.merged.filter(db.remembers)
            // The migration may have been applied before it merged others. Or another process was
            // faster.
            if try !db.remembers(migration.name) {
                try db.keepingTransactionOpen(refusal: Self.refusal) {
                    if checksAtEnd, !migration.ignoresForeignKeys {
                        try db.checkingForeignKeysAtEnd { try migration.migrate(db, merged) }
                    } else {
                        try migration.migrate(db, merged)
                    }
                }
                try db.remember(migration.name)
            } else if merged.isEmpty {
                return .rollback
            }
            for name in merged { try db.forget(name) }
            return .commit
        }
    }

    private static let refusal =
        "a migration runs in its own transaction. It can neither end this transaction nor begin another "
        + "inside of it: leave BEGIN, COMMIT and ROLLBACK out, and use inSavepoint for a part that can be "
        + "rolled back alone"
}

// The table of applied migrations. Its name and its columns are those of the other library of this
// family. So each library recognizes a database that the other has migrated.
extension Database {
    static let migrationTable = "grdb_migrations"

    fileprivate func createMigrationTable() throws {
        try execute(
            sql: "CREATE TABLE IF NOT EXISTS main.grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    }

    fileprivate func remembers(_ migration: String) throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM main.grdb_migrations WHERE identifier = ?)",
            arguments: [migration]) ?? false
    }

    fileprivate func remember(_ migration: String) throws {
        try execute(
            sql: "INSERT INTO main.grdb_migrations (identifier) VALUES (?)", arguments: [migration])
    }

    fileprivate func forget(_ migration: String) throws {
        try execute(
            sql: "DELETE FROM main.grdb_migrations WHERE identifier = ?", arguments: [migration])
    }
}
