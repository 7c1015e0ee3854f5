// Copies of a database as it was, by rewinding the journal.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DatabaseReader {
    /// Returns a read-only copy of the database as it was after an entry of the journal.
    ///
    /// ```swift
    /// let past = try dbQueue.asOf(entry.number - 1)
    /// try past.read { db in try Team.including(Team.players).fetchAll(db) }
    /// ```
    ///
    /// The copy is in memory, with all tables and indexes. The tables that the journal keeps are
    /// as they were, and the others are as they are now. Columns that were added later have the
    /// present values, or their defaults in rows that were deleted since.
    ///
    /// - Parameters:
    ///   - number: The number of an entry: see ``JournalEntry/number``.
    ///   - limit: The greatest number of bytes that the copy may have.
    /// - Throws: ``JournalError/noEntry(_:)`` for a number that the journal does not have.
    ///   ``JournalError/schemaChanged(entry:table:migration:)`` and ``JournalError/gap(entry:)``
    ///   for what cannot be crossed. ``JournalError/tooLarge(bytes:)`` beyond the limit.
    public func asOf(_ number: Int64, limit: Int = 1 << 30) throws -> DatabaseQueue {
        try copy(limit: limit) { db in
            guard
                try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM \(JournalWriter.table) WHERE seq = ?)",
                    arguments: [number]) == true
            else { throw JournalError.noEntry(number) }
            return number
        }
    }

    /// Returns a read-only copy of the database as it was at a date.
    ///
    /// ```swift
    /// let past = try dbQueue.asOf(yesterday)
    /// ```
    ///
    /// - Parameters:
    ///   - date: The date. Transactions with this date or an earlier one are in the copy.
    ///   - limit: The greatest number of bytes that the copy may have.
    /// - Throws: ``JournalError/noEntry(_:)`` if the journal began later.
    ///   ``JournalError/schemaChanged(entry:table:migration:)`` and ``JournalError/gap(entry:)``
    ///   for what cannot be crossed. ``JournalError/tooLarge(bytes:)`` beyond the limit.
    public func asOf(_ date: Date, limit: Int = 1 << 30) throws -> DatabaseQueue {
        try copy(limit: limit) { db in
            let number = try Int64.fetchOne(
                db, sql: "SELECT max(seq) FROM \(JournalWriter.table) WHERE clock <= ?",
                arguments: [JournalClock.last(of: date)])
            guard let number else { throw JournalError.noEntry(0) }
            return number
        }
    }

    /// Compares the tables with the journal, by taking a copy of the database back, entry by
    /// entry.
    ///
    /// It finds rows that were written without the journal, if an entry has changed them before
    /// or since. Rows that no entry has changed cannot be checked.
    ///
    /// - Parameter limit: The greatest number of bytes that the copy may have.
    /// - Returns: The number of the first entry that the copy was taken back to. The entries
    ///   after it agree with the tables. It is not the first one if the way back has an obstacle,
    ///   such as a change of columns.
    /// - Throws: ``JournalError/disagreement(entry:table:)`` for the last entry that does not
    ///   agree. ``JournalError/noEntry(_:)`` without a journal. ``JournalError/tooLarge(bytes:)``
    ///   beyond the limit.
    @discardableResult
    public func verifyJournal(limit: Int = 1 << 30) throws -> Int64 {
        var first: Int64 = 0
        _ = try copy(limit: limit, isStrict: true) { db in
            first = try Int64.fetchOne(db, sql: "SELECT min(seq) FROM \(JournalWriter.table)") ?? 0
            while true {
                do {
                    _ = try JournalRewind(db, to: first)
                    return first
                } catch JournalError.gap(let entry) { first = entry } catch JournalError.schemaChanged(
                    let entry, _, _)
                { first = entry }
            }
        }
        return first
    }

    /// Copies the database, and rewinds the copy to an entry.
    private func copy(
        limit: Int, isStrict: Bool = false, to number: (Database) throws -> Int64
    ) throws -> DatabaseQueue {
        var configuration = configuration
        configuration.readonly = false
        configuration.journalMode = .default
        configuration.vfs = nil
        configuration.verifiesCommits = false
        configuration.label = nil
        let size = try read { db in try Int.fetchOne(db, sql: "PRAGMA page_size") }
        configuration.pageSize = size
        let queue = try DatabaseQueue(configuration: configuration)
        let rewind = try read { db in
            guard try db.tableExists(JournalWriter.table, in: "main") else { throw JournalError.noEntry(0) }
            let bytes =
                try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0)
                * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            guard bytes <= limit else { throw JournalError.tooLarge(bytes: bytes) }
            let rewind = try JournalRewind(db, to: number(db), isStrict: isStrict)
            try queue.inDatabase { copy in try db.backup(to: copy) }
            return rewind
        }
        try queue.inDatabase { copy in
            try rewind.run(copy)
            copy.isReadOnlyScope = true
            // For code that writes through the C interface.
            try copy.asking { try copy.makeStatement(sql: "PRAGMA query_only = 1").execute() }
        }
        return queue
    }
}
