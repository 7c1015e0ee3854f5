/// A migration that failed: which one, and why.
///
/// ```swift
/// do {
///     try migrator.migrate(dbQueue)
/// } catch let error as DatabaseMigrationError {
///     print(error)    // the migration "addAge" failed: SQLite error 1: no such table: person - while …
/// }
/// ```
///
/// The database is as the migration before left it. See ``DatabaseMigrator``.
public struct DatabaseMigrationError: Error, CustomStringConvertible {
    /// The name of the migration.
    public let migration: String

    /// Why it failed: often a ``DatabaseError``, or what the migration's own code threw.
    public let underlyingError: any Error

    /// Creates the error of a migration.
    ///
    /// - Parameters:
    ///   - migration: The name of the migration.
    ///   - underlyingError: Why it failed.
    public init(migration: String, underlyingError: any Error) {
        self.migration = migration
        self.underlyingError = underlyingError
    }

    public var description: String { "the migration \"\(migration)\" failed: \(underlyingError)" }
}

/// The progress of a ``DatabaseMigrator``.
public struct MigrationProgress: Hashable, Sendable {
    /// The name of the migration that is about to run.
    public let name: String

    /// The index of the migration among those that have to run, counted from 0.
    public let index: Int

    /// The number of migrations that have to run.
    public let count: Int
}
