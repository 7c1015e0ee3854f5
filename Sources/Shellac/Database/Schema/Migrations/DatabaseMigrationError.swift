/// An error that is no ``DatabaseError``, and that a migration has thrown.
///
/// ```swift
/// do {
///     try migrator.migrate(dbQueue)
/// } catch {
///     print(error)    // the migration "addAge" failed: SQLite error 1: no such table: person - while …
/// }
/// ```
///
/// A ``DatabaseError`` is thrown as it is, and names the migration in ``DatabaseError/migration``.
/// The database is in the state that the previous migration left. See ``DatabaseMigrator``.
public struct DatabaseMigrationError: Error, CustomStringConvertible {
    /// The name of the migration.
    public let migration: String

    /// The error thrown by the migration's own code.
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
