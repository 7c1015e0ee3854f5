// The migration state of a database: applied, completed, or superseded by a newer version.

extension DatabaseMigrator {
    // MARK: - What a database remembers

    /// Returns the registered migrations that were applied, in the order of their registration. One that merges others
    /// has its own name: those of the others do not count.
    ///
    /// ```swift
    /// let applied = try dbQueue.read { db in try migrator.appliedMigrations(db) }
    /// ```
    ///
    /// Names that the database remembers and that are not registered are not among them: see
    /// ``appliedIdentifiers(_:)``.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let remembered = try appliedIdentifiers(db)
        return registered.filter { $0.isApplied(remembered) }.map(\.name)
    }

    /// Returns all names that the database remembers, registered or not.
    ///
    /// - Throws: a ``DatabaseError`` when the names cannot be read.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        guard try db.tableExists(Database.migrationTable, in: "main") else { return [] }
        return try String.fetchSet(db, sql: "SELECT identifier FROM main.grdb_migrations")
    }

    /// Returns the applied migrations before which all registered ones were applied, too, in order.
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

    /// Whether the database remembers a migration that is not registered, nor merged into one that is: a later version
    /// of the program may have migrated it.
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

    /// The names of the registered migrations, and of those that they merge.
    var knownNames: Set<String> {
        registered.reduce(into: []) { names, migration in
            names.insert(migration.name)
            names.formUnion(migration.merged)
        }
    }
}

extension DatabaseMigrator.Migration {
    /// Whether a database that remembers some names needs this migration no more.
    func isApplied(_ remembered: Set<String>) -> Bool { remembered.contains(name) }

    /// Whether a database that remembers some names has come to where this migration leads, or nearly so.
    func isBehind(_ remembered: Set<String>) -> Bool {
        isApplied(remembered) || !merged.isEmpty && merged.isSubset(of: remembered)
    }
}
