/// An error of the journal: see ``DatabaseWriter/keepJournal(of:for:)-(JournalSelection,_)``.
public enum JournalError: Error, Hashable, Sendable {
    /// A table that cannot be kept, with the reason. It has no declared primary key, or it is no
    /// ordinary table.
    case unfitTable(String, reason: String)

    /// A row with NULL in its primary key. Nothing identifies it, so its transaction cannot be
    /// kept.
    case keyIsNull(table: String)

    /// A transaction that changed a table right after another connection had changed the columns
    /// of that table. Its changes cannot be kept, and the next attempt succeeds.
    case schemaWasChanged(table: String)

    /// A statement that has failed, or a write by the C interface, whose remaining changes cannot
    /// be determined. Its transaction cannot be kept.
    case unknownChanges(table: String)

    /// An entry with a number that the journal does not have, or no longer has.
    case noEntry(Int64)

    /// A change of a table's columns that cannot be crossed on the way back. Only added columns
    /// can be. The migration is the last one that had run at that time, if there is one.
    case schemaChanged(entry: Int64, table: String, migration: String?)

    /// Changes that the journal has missed before an entry, and that cannot be crossed on the way
    /// back.
    case gap(entry: Int64)

    /// A row that is not as an entry says: something has written it without the journal.
    case disagreement(entry: Int64, table: String)

    /// A database that has more bytes than a copy may have.
    case tooLarge(bytes: Int)

    /// An entry whose bytes are damaged.
    case damagedEntry(Int64, reason: String)

    /// A connection whose journal was dropped. A transaction that changes a kept table is refused
    /// until the journal begins anew.
    case isGone
}

extension JournalError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unfitTable(let table, let reason): "table \(table) cannot be kept in the journal: \(reason)"
        case .keyIsNull(let table):
            "table \(table) has a row with NULL in its primary key, which the journal cannot keep: declare the key NOT NULL"
        case .schemaWasChanged(let table):
            "another connection has just changed the columns of table \(table): try the transaction again"
        case .unknownChanges(let table):
            "the journal cannot determine which changes of table \(table) remain: the transaction is refused"
        case .noEntry(let number): "the journal has no entry \(number)"
        case .schemaChanged(let entry, let table, let migration):
            "the past before entry \(entry) of the journal is out of reach: it changed the columns of table \(table)"
                + (migration.map { ", by the migration \($0)" } ?? "")
        case .gap(let entry):
            "the past before entry \(entry) of the journal is out of reach: changes before it are missing"
        case .disagreement(let entry, let table):
            "a row of table \(table) is not as entry \(entry) of the journal says"
        case .tooLarge(let bytes): "the copy would have \(bytes) bytes: pass a greater limit"
        case .damagedEntry(let number, let reason): "entry \(number) of the journal is damaged: \(reason)"
        case .isGone:
            "the table of the journal is gone: call keepJournal(of:) to begin anew, or stopJournal()"
        }
    }
}
