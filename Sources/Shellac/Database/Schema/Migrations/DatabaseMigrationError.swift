/// An error that names the failed migration and its cause.
///
/// ```swift
/// do {
///     try migrator.migrate(dbQueue)
/// } catch let error as DatabaseMigrationError {
///     print(error)    // the migration "addAge" failed: SQLite error 1: no such table: person - while …
/// }
/// ```
///
/// The database is in the state that the previous migration left. See ``DatabaseMigrator``.
public struct DatabaseMigrationError: Error, CustomStringConvertible {
    /// The name of the migration.
    public let migration: String

    /// The cause: often a ``DatabaseError``, or an error thrown by the migration's own code.
    public let underlyingError: any Error

    /// Creates the error of a migration.
    ///
    /// - Parameters:
    ///   - migration: The name of the migration.
    ///   - underlyingError: The cause of the failure.
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
