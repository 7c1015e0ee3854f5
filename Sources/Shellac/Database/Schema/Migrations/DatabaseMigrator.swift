/// A list of migrations, which brings a database from any earlier state of its schema to the present one.
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
/// Migrations run in the order of their registration, each once: the database remembers their names, in its table
/// `grdb_migrations`. Names that it remembers and that are not registered are left alone.
///
/// ## The life of one migration
///
/// 1. A transaction begins, IMMEDIATE, so that two processes cannot run the same migration. The second one sees
///    inside its transaction that the migration has been applied, and passes it over.
/// 2. Its function runs. It may use savepoints. It cannot begin or end a transaction: that throws.
/// 3. Foreign keys are checked: see ``ForeignKeyChecks``.
/// 4. Its name is remembered, and the transaction is committed.
///
/// An error, a cancellation and the death of the process undo all of it: the database is as the migration before
/// left it, and the next run goes on from there. A ``DatabaseMigrationError`` tells which migration failed; where
/// the task was cancelled, `CancellationError` is thrown as it is.
///
/// Never change a migration that has left your desk: register another one.
public struct DatabaseMigrator: Sendable {
    /// The time at which the foreign keys of a migration are checked.
    ///
    /// Where the connection does not enforce foreign keys, because ``Configuration/foreignKeysEnabled`` is false,
    /// none are checked.
    public enum ForeignKeyChecks: Sendable {
        /// At the end of the migration. Meanwhile they are not enforced: tables can be dropped and built anew,
        /// and no action such as ON DELETE CASCADE runs.
        ///
        /// The tables that the migration wrote, altered or dropped are checked, and those that refer to them, in
        /// attached databases, too; the others cannot have been harmed. All rows of these tables are looked at, also
        /// those that were wrong before.
        case deferred

        /// By SQLite, statement by statement, as in any transaction.
        case immediate
    }

    /// Whether a database whose schema is not the one that the migrations make loses everything, and is made anew:
    /// see ``hasSchemaChanges(_:)``.
    ///
    /// It is for the time when the migrations of a new version are still being written, and never for programs that
    /// are out:
    ///
    /// ```swift
    /// #if DEBUG
    /// migrator.eraseDatabaseOnSchemaChange = true
    /// #endif
    /// ```
    public var eraseDatabaseOnSchemaChange = false

    /// A migration that was registered.
    struct Migration: Sendable {
        let name: String
        let foreignKeyChecks: ForeignKeyChecks
        /// Whether foreign keys are left alone, neither enforced nor checked.
        var ignoresForeignKeys = false
        /// The migrations that this one replaces.
        var merged: Set<String> = []
        /// Receives those of them that were applied.
        let migrate: @Sendable (Database, Set<String>) throws -> Void
    }

    private(set) var registered: [Migration] = []
    private var defersChecks = true

    /// Creates a migrator without migrations.
    public init() {}

    // MARK: - Registering

    /// The names of the registered migrations, in order.
    public var migrations: [String] { registered.map(\.name) }

    /// Registers a migration, behind those that are registered already.
    ///
    /// ```swift
    /// migrator.registerMigration("addAge") { db in
    ///     try db.alter(table: "person") { t in t.add(column: "age", .integer) }
    /// }
    /// ```
    ///
    /// A name can be registered once: a second time stops the program, with a sentence.
    ///
    /// - Parameters:
    ///   - name: What the database remembers the migration by.
    ///   - foreignKeyChecks: When foreign keys are checked.
    ///   - migrate: Changes the database. It runs inside a transaction.
    public mutating func registerMigration(
        _ name: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(Migration(name: name, foreignKeyChecks: foreignKeyChecks) { db, _ in try migrate(db) })
    }

    /// Registers a migration that replaces earlier ones, which are registered no longer.
    ///
    /// A program that has many migrations behind it can so begin anew. The merged migration takes the name of the last
    /// one, or a new name:
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
    /// Where the database remembers its name, it was applied, and does not run. Everywhere else it runs, also where all of
    /// the merged migrations were applied, and does what these have left to do: nothing, as a rule, in a migration
    /// that has a new name. Either way the database remembers its name from then on, and theirs no longer. A version of
    /// the program that knows only them finds itself superseded.
    ///
    /// A name can be merged once, and it can be registered no more: doing either stops the program, with a sentence.
    ///
    /// - Parameters:
    ///   - name: What the database remembers the migration by: that of the last of several, which `mergedNames` does not
    ///     have then, or a new one.
    ///   - foreignKeyChecks: When foreign keys are checked.
    ///   - mergedNames: The names of the migrations that this one replaces.
    ///   - migrate: Changes the database. It runs inside a transaction, and receives those of the merged names that
    ///     were applied: none, some, or all of them.
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
                "the migration \"\(name)\" is registered twice: give each migration a name of its own.")
        }
        if migration.merged.contains(name) {
            Misuse.trap(
                "the migration \"\(name)\" merges itself: it keeps its name, and merges the ones before it.")
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

    /// Returns a migrator that does not check, at the end of those migrations that are registered from now on, the foreign keys that
    /// were not enforced meanwhile.
    ///
    /// It is for large tables whose every row a check would look at. Whoever does without has to know that no migration harms a foreign
    /// key, or to check the tables by ``Database/checkForeignKeys(in:in:)``.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.defersChecks = false
        return migrator
    }

    // MARK: - Migrating

    /// Runs the registered migrations that the database does not remember.
    ///
    /// ```swift
    /// try migrator.migrate(dbQueue) { progress in
    ///     print("\(progress.name): \(progress.index + 1) of \(progress.count)")
    /// }
    /// ```
    ///
    /// Nothing is written when there is nothing to do: a database opened read-only will then do.
    ///
    /// - Parameters:
    ///   - writer: The database to migrate.
    ///   - name: The last migration to run; the last registered one if nil. A name that is not registered stops the
    ///     program, with a sentence.
    ///   - progress: Hears of each migration that is about to run.
    /// - Throws: a ``DatabaseMigrationError``, also when the database has been migrated beyond `name` already.
    public func migrate(
        _ writer: some DatabaseWriter, upTo name: String? = nil,
        progress: ((MigrationProgress) -> Void)? = nil
    ) throws {
        let target = index(of: name)
        try writer.writeWithoutTransaction { db in try run(db, upTo: target, progress) }
    }

    /// Runs the registered migrations that the database does not remember, without blocking a thread while waiting
    /// for the access.
    ///
    /// ```swift
    /// try await migrator.migrate(dbQueue)
    /// ```
    ///
    /// Cancelling the task undoes the migration that is running, and throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - writer: The database to migrate.
    ///   - name: The last migration to run; the last registered one if nil. A name that is not registered stops the program,
    ///     with a sentence.
    ///   - progress: Hears of each migration that is about to run.
    public nonisolated(nonsending) func migrate(
        _ writer: some DatabaseWriter, upTo name: String? = nil,
        progress: (@Sendable (MigrationProgress) -> Void)? = nil
    ) async throws {
        let target = index(of: name)
        try await writer.writeWithoutTransaction { db in try run(db, upTo: target, progress) }
    }

    /// Returns the index of a registered migration, or of the last one. Nil where none is registered.
    private func index(of name: String?) -> Int? {
        guard let name else { return registered.indices.last }
        guard let index = registered.firstIndex(where: { $0.name == name }) else {
            Misuse.trap("there is no migration \"\(name)\" to migrate up to: register it first.")
        }
        return index
    }
}
