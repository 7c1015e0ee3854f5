/// A list of migrations that bring a database from any earlier schema to the current one.
///
/// ```swift
/// var migrator = DatabaseMigrator()
///
/// // Version 1.0
/// migrator.registerMigration("createTables") { db in
///     try db.create(table: "person") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text).notNull()
///     }
/// }
///
/// // Version 2.0
/// migrator.registerMigration("addAge") { db in
///     try db.alter(table: "person") { t in t.add(column: "age", .integer) }
/// }
///
/// try migrator.migrate(dbQueue)
/// ```
///
/// Migrations run in the order of their registration, each once. The database stores their names in
/// its table `grdb_migrations`. Stored names that are not registered are left alone.
///
/// ## The life of one migration
///
/// 1. An IMMEDIATE transaction begins, so that two processes cannot run the same migration. The
///    second process sees inside its transaction that the migration has been applied, and skips it.
/// 2. Its function runs. It may use savepoints. It cannot begin or end a transaction: that throws
///    an error.
/// 3. Foreign keys are checked: see ``ForeignKeyChecks``.
/// 4. Its name is stored, and the transaction is committed.
///
/// An error, a cancellation, or the death of the process undoes all of it. The database is in the
/// state that the previous migration left, and the next run continues from there. The
/// error names the failed migration: see ``DatabaseError/migration`` and
/// ``DatabaseMigrationError``. If the task was cancelled, `CancellationError` is thrown unchanged.
///
/// Never change a migration after you have released it: register another one.
public struct DatabaseMigrator: Sendable {
    /// The time when the foreign keys of a migration are checked.
    ///
    /// If the connection does not enforce foreign keys, because
    /// ``Configuration/foreignKeysEnabled`` is false, none are checked.
    public enum ForeignKeyChecks: Sendable {
        /// At the end of the migration. Until then they are not enforced. Tables can be dropped and
        /// rebuilt, and no action such as ON DELETE CASCADE runs.
        ///
        /// The check covers the tables that the migration wrote, altered or dropped, and those that
        /// refer to them, also in attached databases. The others cannot have been affected. All
        /// rows of these tables are checked, also those that were wrong before.
        case deferred

        /// By SQLite, statement by statement, as in any transaction.
        case immediate
    }

    /// Whether to erase and recreate a database whose schema differs from that of the migrations.
    /// See ``hasSchemaChanges(_:)``.
    ///
    /// This is for development, while you are still writing the migrations of a new version. Never
    /// use it in a released program:
    ///
    /// ```swift
    /// #if DEBUG
    /// migrator.eraseDatabaseOnSchemaChange = true
    /// #endif
    /// ```
    public var eraseDatabaseOnSchemaChange = false

    /// A registered migration.
    struct Migration: Sendable {
        let name: String
        let foreignKeyChecks: ForeignKeyChecks
        /// Whether foreign keys are neither enforced nor checked.
        var ignoresForeignKeys = false
        /// The migrations that this one replaces.
        var merged: Set<String> = []
        /// The function that changes the database. It receives those of the merged names that were
        /// applied.
        let migrate: @Sendable (Database, Set<String>) throws -> Void
    }

    private(set) var registered: [Migration] = []
    private var defersChecks = true

    /// Creates a migrator without migrations.
    public init() {}

    // MARK: - Registering

    /// The names of the registered migrations, in order.
    public var migrations: [String] { registered.map(\.name) }

    /// Registers a migration after those already registered.
    ///
    /// ```swift
    /// migrator.registerMigration("addAge") { db in
    ///     try db.alter(table: "person") { t in t.add(column: "age", .integer) }
    /// }
    /// ```
    ///
    /// A name can be registered once. A second time traps with a message.
    ///
    /// - Parameters:
    ///   - name: The name under which the database stores the migration.
    ///   - foreignKeyChecks: The time when foreign keys are checked.
    ///   - migrate: Changes the database. It runs inside a transaction.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(Migration(name: name, foreignKeyChecks: foreignKeyChecks) { db, _ in try migrate(db) })
    }

    /// Registers a migration that replaces earlier ones, which are no longer registered.
    ///
    /// A program with many old migrations can start over this way. The merged migration takes the
    /// name of the last one, or a new name:
    ///
    /// ```swift
    /// // There were three migrations: "createTables", "addAge", "addTeams".
    /// migrator.registerMigration("addTeams", merging: ["createTables", "addAge"]) { db, applied in
    ///     if !applied.contains("createTables") {
    ///         try db.create(table: "person") { t in
    ///             t.autoIncrementedPrimaryKey("id")
    ///             t.column("name", .text).notNull()
    ///             t.column("age", .integer)
    ///         }
    ///     } else if !applied.contains("addAge") {
    ///         try db.alter(table: "person") { t in t.add(column: "age", .integer) }
    ///     }
    ///     try db.create(table: "team") { t in t.autoIncrementedPrimaryKey("id") }
    /// }
    /// ```
    ///
    /// If the database has its name, the migration was applied and does not run. Otherwise it runs,
    /// even if all merged migrations were applied, and does the rest of their work. For a migration
    /// with a new name, that is usually nothing. Either way the database then stores its name and
    /// no longer theirs. A version of the program that knows only theirs considers itself
    /// superseded.
    ///
    /// A name can be merged once, and can then no longer be registered. Doing either again traps
    /// with a message.
    ///
    /// - Parameters:
    ///   - name: The name under which the database stores the migration. It is the name of the last
    ///     of several migrations, which `mergedNames` then leaves out, or a new one.
    ///   - foreignKeyChecks: The time when foreign keys are checked.
    ///   - mergedNames: The names of the migrations that this one replaces.
    ///   - migrate: Changes the database. It runs inside a transaction, and receives the merged
    ///     names that were applied: none, some, or all of them.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks: ForeignKeyChecks = .deferred, merging mergedNames: Set<String>,
        migrate: @escaping @Sendable (_ db: Database, _ appliedIdentifiers: Set<String>) throws -> Void
    ) {
        register(
            Migration(
                name: name, foreignKeyChecks: foreignKeyChecks, merged: mergedNames, migrate: migrate))
    }

    private mutating func register(_ migration: Migration) {
        let name = migration.name
        if registered.contains(where: { $0.name == name }) {
            Misuse.trap(
                "the migration \"\(name)\" is registered twice: give each migration its own name.")
        }
        if migration.merged.contains(name) {
            Misuse.trap(
                "the migration \"\(name)\" merges itself: it keeps its name, so name only earlier "
                    + "migrations in `merging`.")
        }
        for other in registered {
            if other.merged.contains(name) {
                Misuse.trap(
                    "the migration \"\(name)\" is merged into \"\(other.name)\": do not register it.")
            }
            if migration.merged.contains(other.name) {
                Misuse.trap(
                    "the migration \"\(other.name)\" is merged into \"\(name)\": do not register it.")
            }
            if let twice = migration.merged.intersection(other.merged).min() {
                Misuse.trap(
                    "the migration \"\(twice)\" is merged into \"\(other.name)\" and \"\(name)\": merge it once."
                )
            }
        }
        var migration = migration
        migration.ignoresForeignKeys = !defersChecks && migration.foreignKeyChecks == .deferred
        registered.append(migration)
    }

    /// Returns a migrator whose later registered migrations do not check foreign keys at their end,
    /// if these were not enforced meanwhile.
    ///
    /// Use this for large tables of which a check would read every row. Make sure that no migration
    /// breaks a foreign key, or check the tables with ``Database/checkForeignKeys(in:in:)``.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.defersChecks = false
        return migrator
    }

    // MARK: - Migrating

    /// Runs the registered migrations that were not yet applied.
    ///
    /// ```swift
    /// try migrator.migrate(dbQueue) { progress in
    ///     print("\(progress.name): \(progress.index + 1) of \(progress.count)")
    /// }
    /// ```
    ///
    /// Nothing is written if there is nothing to do, so a read-only database is enough then.
    ///
    /// - Parameters:
    ///   - writer: The database to migrate.
    ///   - name: The last migration to run. The last registered one if nil. A name that is not
    ///     registered traps with a message.
    ///   - progress: Called before each migration that runs.
    /// - Throws: a ``DatabaseError`` that names its ``DatabaseError/migration``, also when the
    ///   database has already been migrated beyond `name`. A ``DatabaseMigrationError`` for another
    ///   error that a migration has thrown.
    public func migrate(
        _ writer: some DatabaseWriter, upTo name: String? = nil,
        progress: ((MigrationProgress) -> Void)? = nil
    ) throws {
        let target = index(of: name)
        try writer.writeWithoutTransaction { db in try run(db, upTo: target, progress) }
    }

    /// Runs the registered migrations that were not yet applied, without blocking a thread while
    /// waiting for the access.
    ///
    /// ```swift
    /// try await migrator.migrate(dbQueue)
    /// ```
    ///
    /// Cancelling the task undoes the running migration, and throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - writer: The database to migrate.
    ///   - name: The last migration to run. The last registered one if nil. A name that is not
    ///     registered traps with a message.
    ///   - progress: Called before each migration that runs.
    public nonisolated(nonsending) func migrate(
        _ writer: some DatabaseWriter, upTo name: String? = nil,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws {
        let target = index(of: name)
        try await writer.writeWithoutTransaction { db in try run(db, upTo: target, progress) }
    }

    /// Runs the registered migrations that were not yet applied, later: the caller does not wait.
    ///
    /// - Parameters:
    ///   - writer: The database to migrate.
    ///   - completion: Called in the access after the last migration, with the database or the
    ///     error.
    public func asyncMigrate(
        _ writer: some DatabaseWriter,
        completion: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        let target = index(of: nil)
        writer.asyncBarrierWriteWithoutTransaction { access in
            completion(
                Result {
                    let db = try access.get()
                    try run(db, upTo: target)
                    return db
                })
        }
    }

    /// Returns the index of a registered migration, or of the last one. Nil if none is registered.
    private func index(of name: String?) -> Int? {
        guard let name else { return registered.indices.last }
        guard let index = registered.firstIndex(where: { $0.name == name }) else {
            Misuse.trap("there is no migration \"\(name)\" to migrate up to: register it first.")
        }
        return index
    }
}
