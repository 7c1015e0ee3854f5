// The migration state of a database: applied, completed, or superseded by a newer version.

extension DatabaseMigrator {
    // MARK: - Applied migrations

    /// Returns the registered migrations that were applied, in the order of their registration. A
    /// merged migration counts only under its own name, not under those it replaces.
    ///
    /// ```swift
    /// let applied = try dbQueue.read { db in try migrator.appliedMigrations(db) }
    /// ```
    ///
    /// Applied migrations that are not registered are left out: see ``appliedIdentifiers(_:)``.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let remembered = try appliedIdentifiers(db)
        return registered.filter { $0.isApplied(remembered) }.map(\.name)
    }

    /// Returns the names of all applied migrations, registered or not.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        guard try db.tableExists(Database.migrationTable, in: "main") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM main.grdb_migrations")
    }

    /// Returns the applied migrations up to the first registered one that was not applied, in
    /// order.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let remembered = try appliedIdentifiers(db)
        return registered.prefix { $0.isApplied(remembered) }.map(\.name)
    }

    /// Whether all registered migrations were applied.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        try completedMigrations(db).count == registered.count
    }

    /// Whether an applied migration is neither registered nor merged into a registered one. A later
    /// version of the program may have migrated the database.
    ///
    /// ```swift
    /// if try dbQueue.read({ db in try migrator.hasBeenSuperseded(db) }) {
    ///     print("The database was written by a newer version.")
    /// }
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        try !appliedIdentifiers(db).isSubset(of: knownNames)
    }

    /// The names of the registered migrations, and of those they replace.
    var knownNames: Set<String> {
        registered.reduce(into: []) { names, migration in
            names.insert(migration.name)
            names.formUnion(migration.merged)
        }
    }
}

extension DatabaseMigrator.Migration {
    /// Whether a database with the given applied names no longer needs this migration.
    func isApplied(_ remembered: Set<String>) -> Bool { remembered.contains(name) }

    /// Whether a database with the given applied names has reached this migration, or nearly so.
    func isBehind(_ remembered: Set<String>) -> Bool {
        isApplied(remembered) || !merged.isEmpty && merged.isSubset(of: remembered)
    }
}
