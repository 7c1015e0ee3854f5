// Takes a copy of a database back to an entry of the journal.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The changes that lead from the present state of a database back to an earlier one.
///
/// The changes of all later entries are joined, so that each row has one. Its present row is
/// removed, and then the earlier rows are inserted. Since all of them were in the tables at the
/// same time, no constraint forbids that, in whatever order. A row whose unique keys stay the same
/// is updated in place. Triggers, foreign keys and CHECK constraints are off meanwhile.
///
/// If a table got columns in between, its changes have fewer columns before. Such changes are not
/// joined, and the later part is rewound first.
struct JournalRewind {
    /// The entry to go back to.
    let number: Int64
    /// Changesets in order of time, in each of which a row has one change.
    private let parts: [(entry: Int64, data: Data)]
    /// Whether the rows must be as the entries say, and not only be there.
    private let isStrict: Bool

    /// Reads the entries after a number.
    ///
    /// - Parameter isStrict: Whether each entry is rewound alone, and compared with the rows.
    /// - Throws: a ``JournalError`` if something in them cannot be crossed.
    init(_ database: Database, to number: Int64, isStrict: Bool = false) throws {
        self.number = number
        self.isStrict = isStrict
        var parts: [(Int64, Data)] = []
        var pending = ChangesetBytes()
        /// Joins the pending changes, or splits them where a table got columns.
        func finish(_ pending: borrowing ChangesetBytes, _ entry: Int64) throws {
            if pending.isEmpty { return }
            for section in try Self.sections(pending.bytes) {
                var joined = ChangesetBytes()
                try ChangesetJoiner.join(
                    UnsafeRawBufferPointer(rebasing: pending.bytes[section]), into: &joined)
                parts.append((entry, Data(joined.bytes)))
            }
        }
        var last = number
        let cursor = try Row.fetchCursor(
            database, sql: "SELECT * FROM main.\(JournalWriter.table) WHERE seq > ? ORDER BY seq",
            arguments: [number])
        while let row = try cursor.next() {
            let entry: Int64 = try row["seq"]
            let gap: Int = try row["gap"] ?? 0
            if gap & 1 != 0 { throw JournalError.gap(entry: entry) }
            if let schema: String = try row["schema"] {
                guard let changes = try? JournalJSON.value(JournalColumns.Changes.self, schema) else {
                    throw JournalError.damagedEntry(entry, reason: "its columns cannot be read")
                }
                try Self.check(changes, of: entry)
            }
            let data: Data = try row["changeset"]
            data.withUnsafeBytes { pending.append($0) }
            last = entry
            if isStrict || pending.count > ChangesetFormat.mostBytes / 4 {
                do { try finish(pending, entry) } catch let error as ChangesetError {
                    throw JournalError.damagedEntry(entry, reason: "\(error)")
                }
                pending.removeAll()
            }
        }
        do { try finish(pending, last) } catch let error as ChangesetError {
            throw try Self.damage(after: number, database) ?? error
        }
        self.parts = parts
    }

    /// Returns the error of the first entry that is damaged.
    private static func damage(after number: Int64, _ database: Database) throws -> JournalError? {
        do {
            _ = try database.journalEntries(after: number)
            return nil
        } catch let error as JournalError {
            return error
        }
    }

    /// Throws an error if a change of columns cannot be crossed: only added columns can.
    private static func check(_ changes: JournalColumns.Changes, of entry: Int64) throws {
        func refuse(_ table: String) -> JournalError {
            .schemaChanged(entry: entry, table: table, migration: changes.migration)
        }
        if let table = changes.rebuilt.first { throw refuse(table) }
        for (table, change) in changes.tables.sorted(by: { $0.key < $1.key }) {
            switch (change.before, change.after) {
            // A new table is empty before. If the journal did not keep it, its rows are not
            // known.
            case (nil, .some): if changes.isBeginning == true { throw refuse(table) }
            case (let before?, let after?):
                guard before.key == after.key, after.columns.starts(with: before.columns) else {
                    throw refuse(table)
                }
            default: throw refuse(table)
            }
        }
    }

    /// Returns the ranges of changes in which each table has the same columns.
    private static func sections(_ bytes: UnsafeRawBufferPointer) throws -> [Range<Int>] {
        var reader = ChangesetReader(bytes)
        var counts: [String: Int] = [:]
        var sections: [Range<Int>] = []
        var start = 0
        var last: ChangesetReader.Heading?
        while try reader.next() != nil {
            guard let heading = reader.heading, heading != last else { continue }
            last = heading
            let name = String(decoding: bytes[heading.nameRange], as: UTF8.self)
            if let count = counts[name], count != heading.columnCount {
                sections.append(start..<heading.range.lowerBound)
                start = heading.range.lowerBound
                counts = [:]
            }
            counts[name] = heading.columnCount
        }
        sections.append(start..<bytes.count)
        return sections
    }

    // MARK: - Going back

    /// Takes a copy back.
    ///
    /// - Throws: ``JournalError/disagreement(entry:table:)`` if a row is not as the journal says.
    func run(_ copy: Database) throws {
        try copy.setForeignKeysEnforced(false)
        try copy.enableTriggers(false)
        try copy.execute(sql: "PRAGMA ignore_check_constraints = ON")
        try copy.inTransaction(.immediate) {
            for part in parts.reversed() {
                try part.data.withUnsafeBytes { try rewind($0, part.entry, copy) }
            }
            try copy.execute(
                sql: "DELETE FROM main.\(JournalWriter.table) WHERE seq > ?", arguments: [number])
            return .commit
        }
        try copy.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        try copy.enableTriggers(true)
        try copy.setForeignKeysEnforced(copy.configuration.foreignKeysEnabled)
    }

    /// Rewinds changes, of which a row has one at most.
    private func rewind(_ bytes: UnsafeRawBufferPointer, _ entry: Int64, _ copy: Database) throws {
        var tables: [Range<Int>: RewoundTable] = [:]
        func table(_ heading: ChangesetReader.Heading) throws -> RewoundTable {
            if let known = tables[heading.range] { return known }
            let table = try RewoundTable(copy, heading, bytes, entry, isStrict: isStrict)
            tables[heading.range] = table
            return table
        }
        var reader = ChangesetReader(bytes)
        while let place = try reader.next(), let heading = reader.heading {
            try table(heading).remove(place)
        }
        for table in tables.values { try table.insertUpdatedRows() }
        reader = ChangesetReader(bytes)
        while let place = try reader.next(), let heading = reader.heading {
            if place.operation == ChangesetFormat.delete { try table(heading).insert(place) }
        }
    }
}
