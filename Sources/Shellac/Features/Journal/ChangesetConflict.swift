// A change that does not fit the row that it meets, and the ways to resolve it.

/// A change of a changeset that does not fit the database: see
/// ``Changeset/apply(_:resolving:)``.
///
/// It has the three rows of a merge. The change begins with `base` and leads to `theirs`, and
/// `mine` is in the database.
public struct ChangesetConflict {
    /// The reasons for a conflict.
    public enum Reason: Hashable, Sendable {
        /// The row is not in the database, and the change updates it.
        case missing
        /// The row is in the database, and the change inserts it with other values.
        case exists
        /// The row has other values in the database than before the change.
        case changed
        /// A constraint forbids the change.
        case constraint
    }

    /// The connection.
    public let database: Database
    /// The change.
    public let change: Changeset.Change
    /// The reason.
    public let reason: Reason
    /// The row before the change. Columns that the change leaves alone have the values of `mine`.
    /// Nil for an insertion.
    public let base: Row?
    /// The row in the database, or nil if there is none.
    public let mine: Row?
    /// The row after the change. Columns that the change leaves alone have the values of `mine`.
    /// Nil for a deletion.
    public let theirs: Row?
    /// The error of the constraint, if that is the reason.
    public let error: DatabaseError?

    /// Makes records of the three rows, of the classes that the rows name.
    ///
    /// ```swift
    /// try changeset.apply(db) { conflict in
    ///     let (base, mine, theirs) = try conflict.records(of: Player.self)
    ///     guard let base, let mine, let theirs else { return .keepMine }
    ///     return .write(["score": (mine.score + theirs.score - base.score).databaseValue])
    /// }
    /// ```
    ///
    /// - Parameter type: The type of the records.
    /// - Throws: the errors of the type's initializer.
    public func records<Element: FetchableRecord>(
        of type: Element.Type
    ) throws -> (base: Element?, mine: Element?, theirs: Element?) {
        func record(_ row: Row?) throws -> Element? {
            try row.flatMap { try Element.record(of: $0, database) }
        }
        return (try record(base), try record(mine), try record(theirs))
    }
}

/// The resolution of a conflict: see ``Changeset/apply(_:resolving:)``.
public enum ChangesetResolution: Hashable, Sendable {
    /// The row stays as it is in the database.
    case keepMine
    /// The row becomes what the change leads to. An update of a missing row changes nothing,
    /// since the other values of the row are not known. For a constraint, its error is thrown.
    case takeTheirs
    /// The columns with these names get these values. If the row is missing, it is inserted with
    /// them.
    case write([String: DatabaseValue])
    /// ``ChangesetError/conflict(table:key:reason:)`` is thrown, and nothing is applied.
    case fail
}

extension FetchableRecord {
    /// Makes a record of values, of the class that they name.
    static func record(of row: Row, _ database: Database) throws -> Self? {
        let columns = Array(row)
        let names = columns.enumerated().map {
            "?\($0.offset + 1) AS \($0.element.0.quotedDatabaseIdentifier)"
        }
        return try fetchOne(
            database, sql: "SELECT \(names.joined(separator: ", "))",
            arguments: StatementArguments(columns.map(\.1)))
    }
}
