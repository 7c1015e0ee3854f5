/// An error of a ``Changeset``.
public enum ChangesetError: Error, Hashable, Sendable {
    /// Bytes that are no changeset: they were cut off or damaged, or come from somewhere else.
    /// The offset is that of the first byte which makes no sense.
    case malformed(offset: Int, reason: String)

    /// A table that has other columns or another key in one changeset than in another, or than in
    /// the database.
    case differentColumns(table: String)

    /// A table that a changeset changes, and that the database does not have.
    case noTable(String)

    /// A table that lacks columns of a changeset.
    case missingColumns(table: String, count: Int)

    /// A change that does not fit the database, and was not resolved.
    case conflict(table: String, key: [DatabaseValue], reason: ChangesetConflict.Reason)

    /// A changeset of more than a billion bytes, which SQLite cannot store in a row.
    case tooLarge
}

extension ChangesetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let offset, let reason): "the changeset is damaged at byte \(offset): \(reason)"
        case .differentColumns(let table):
            "the changeset does not fit: table \(table) has other columns or another key"
        case .noTable(let table): "the changeset cannot be applied: there is no table \(table)"
        case .missingColumns(let table, let count):
            "the changeset cannot be applied: table \(table) lacks \(count) of its columns"
        case .conflict(let table, let key, let reason):
            "the changeset cannot be applied: the row \(key.map(\.description).joined(separator: ", ")) of table \(table) does not fit (\(reason))"
        case .tooLarge: "the changeset has more than a billion bytes, which SQLite cannot store in a row"
        }
    }
}
