/// An error of a ``Changeset``.
public enum ChangesetError: Error, Hashable, Sendable {
    /// Bytes that are no changeset: they were cut off or damaged, or come from somewhere else.
    /// The offset is that of the first byte which makes no sense.
    case malformed(offset: Int, reason: String)

    /// Two changesets that cannot be concatenated, because the table has other columns or another
    /// key in one than in the other.
    case differentColumns(table: String)

    /// A changeset of more than a billion bytes, which SQLite cannot store in a row.
    case tooLarge
}

extension ChangesetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let offset, let reason): "the changeset is damaged at byte \(offset): \(reason)"
        case .differentColumns(let table):
            "the changesets cannot be concatenated: table \(table) has other columns or another key in one of them"
        case .tooLarge: "the changeset has more than a billion bytes, which SQLite cannot store in a row"
        }
    }
}
