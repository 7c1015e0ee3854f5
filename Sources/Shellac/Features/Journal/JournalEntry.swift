// The entries of the journal, as the program reads them.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The entry of a transaction in the journal.
///
/// ```swift
/// for entry in try db.journalEntries() {
///     print(entry.number, entry.date, entry.note["author"] as Any)
///     print(try entry.changeset.described(db))
/// }
/// ```
public struct JournalEntry: Hashable, Sendable {
    /// The number of the entry. Entries count from 1, in the order of their commits.
    public let number: Int64
    /// The date of the transaction: see ``Database/transactionDate``. No entry has an earlier
    /// date than the one before it, even if the clock went back.
    public let date: Date
    /// A number for the file. It was chosen at random when the journal began.
    public let origin: Int64
    /// The note of the task: see ``JournalNote``.
    public let note: JournalNote
    /// Whether the journal has missed changes before this entry.
    public let followsGap: Bool
    /// Whether another connection has committed a transaction since the entry before, and has
    /// written no entry.
    ///
    /// It may have changed kept rows, of which the journal knows nothing:
    /// ``DatabaseReader/verifyJournal(limit:)`` finds most of them. Or it has changed other tables
    /// only. This is known only of the time in which a connection keeps the journal.
    public let followsOtherCommit: Bool
    /// The changes, with one at most for each row.
    public let changeset: Changeset
    /// The changes of the kept tables' columns.
    let columnChanges: JournalColumns.Changes

    init(_ row: Row) throws {
        number = try row["seq"]
        let clock: Int64 = try row["clock"]
        date = JournalClock.date(clock)
        origin = try row["origin"]
        note = JournalNote(json: try row["note"])
        let gap: Int = try row["gap"] ?? 0
        (followsGap, followsOtherCommit) = (gap & 1 != 0, gap & 2 != 0)
        changeset = try Self.changeset(of: row, number)
        do {
            let schema: String? = try row["schema"]
            columnChanges =
                try schema.map { try JournalJSON.value(JournalColumns.Changes.self, $0) }
                ?? JournalColumns.Changes()
        } catch {
            throw JournalError.damagedEntry(number, reason: "\(error)")
        }
    }
}

extension JournalEntry {
    /// Reads the changes of an entry.
    static func changeset(of row: Row, _ number: Int64) throws -> Changeset {
        do { return try Changeset(data: row["changeset"]) } catch {
            throw JournalError.damagedEntry(number, reason: "\(error)")
        }
    }
}

extension Database {
    /// Returns the entries of the journal, in order.
    ///
    /// - Parameters:
    ///   - number: The number of an entry: only later ones are returned.
    ///   - limit: The greatest number of entries, or nil for all.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``. A database
    ///   without a journal has no entries.
    public func journalEntries(after number: Int64 = 0, limit: Int? = nil) throws -> [JournalEntry] {
        guard try tableExists(JournalWriter.table, in: "main") else { return [] }
        return try Row.fetchAll(
            self, sql: "SELECT * FROM main.\(JournalWriter.table) WHERE seq > ? ORDER BY seq LIMIT ?",
            arguments: [number, limit ?? -1]
        ).map(JournalEntry.init)
    }
}
