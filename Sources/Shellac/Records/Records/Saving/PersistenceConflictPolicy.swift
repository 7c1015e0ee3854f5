/// What SQLite does when a record violates a constraint: see "ON CONFLICT clause" in its documentation.
///
/// ```swift
/// static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace, update: .replace)
/// ```
public struct PersistenceConflictPolicy: Hashable, Sendable {
    /// What an insertion does.
    public var conflictResolutionForInsert: Database.ConflictResolution

    /// What an update does.
    public var conflictResolutionForUpdate: Database.ConflictResolution

    /// Creates a policy. By default, the statement that violates a constraint throws, and its changes are undone.
    ///
    /// - Parameters:
    ///   - insert: What an insertion does.
    ///   - update: What an update does.
    public init(
        insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort
    ) {
        conflictResolutionForInsert = insert
        conflictResolutionForUpdate = update
    }
}

/// What an insertion did.
public struct InsertionSuccess: Hashable, Sendable {
    /// The row id of the new row.
    public let rowID: Int64

    /// The column that is the row id, where the table has an `INTEGER PRIMARY KEY`.
    public let rowIDColumn: String?
}

/// What an insertion or an update did.
public struct PersistenceSuccess: Hashable, Sendable {
    /// The insertion, if it was one.
    public let insertion: InsertionSuccess?
}

extension Database.ConflictResolution {
    /// What stands behind INSERT and UPDATE. ABORT is what SQLite does without being told.
    var orClause: String { self == .abort ? "" : "OR \(rawValue) " }
}
