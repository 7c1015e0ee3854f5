/// SQLite's conflict resolutions for records that violate a constraint.
///
/// See "ON CONFLICT clause" in the SQLite documentation.
///
/// ```swift
/// static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace, update: .replace)
/// ```
public struct PersistenceConflictPolicy: Hashable, Sendable {
    /// The conflict resolution of insertions.
    public var conflictResolutionForInsert: Database.ConflictResolution

    /// The conflict resolution of updates.
    public var conflictResolutionForUpdate: Database.ConflictResolution

    /// Creates a policy. By default, the statement that violates a constraint throws, and its
    /// changes are undone.
    ///
    /// - Parameters:
    ///   - insert: The conflict resolution of insertions.
    ///   - update: The conflict resolution of updates.
    public init(
        insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort
    ) {
        conflictResolutionForInsert = insert
        conflictResolutionForUpdate = update
    }
}

/// The outcome of an insertion.
public struct InsertionSuccess: Hashable, Sendable {
    /// The row id of the new row.
    public let rowID: Int64

    /// The column that is the row id, if the table has an `INTEGER PRIMARY KEY`.
    public let rowIDColumn: String?
}

/// The outcome of an insertion or an update.
public struct PersistenceSuccess: Hashable, Sendable {
    /// The insertion, if it was one.
    public let insertion: InsertionSuccess?
}

extension Database.ConflictResolution {
    /// The clause after INSERT and UPDATE. ABORT is SQLite's default.
    var orClause: String { self == .abort ? "" : "OR \(rawValue) " }
}
