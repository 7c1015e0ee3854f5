// Writes the entries of the journal into its table, inside of the transaction that they are
// about.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The writer of the journal's table.
///
/// The program must not notice the statements. So they bypass the followers of statements. The
/// row ID of the last inserted row, and the number of changed rows, are as before.
final class JournalWriter {
    /// An entry, apart from its changes.
    struct Entry {
        let note: JournalNote?
        /// The columns of the kept tables at the end of the transaction.
        let columns: JournalColumns
        var change: JournalColumns.Changes
        let hasGap: Bool
    }

    private unowned(unsafe) let database: Database  // whose broker owns this, by the recorder
    let origin: Int64
    let counted: CountedChanges
    /// The columns that an entry of the open transaction has stored.
    private(set) var pendingColumns: JournalColumns?
    /// The tables that the open transaction has rebuilt.
    var rebuiltTables: Set<String> = []

    static let table = "shellac_journal"
    static let stateTable = "shellac_journal_state"

    init(_ database: Database, origin: Int64) {
        self.database = database
        self.origin = origin
        counted = CountedChanges(database)
    }

    func transactionDidEnd(committed: Bool) {
        pendingColumns = nil
        rebuiltTables = []
    }

    /// Writes the entry of the open transaction, unless it would be empty. Returns its number.
    ///
    /// - Parameter written: The number of the entry that was written before a refused commit.
    func write(
        _ bytes: UnsafeRawBufferPointer, _ entry: Entry, replacing written: Int64?
    ) throws -> Int64? {
        guard bytes.count <= ChangesetFormat.mostBytes else { throw ChangesetError.tooLarge }
        var entry = entry
        entry.change.rebuilt = rebuiltTables.sorted()
        let isEmpty = bytes.isEmpty && entry.change.isEmpty && !entry.hasGap
        if isEmpty, written == nil { return nil }
        return try counted.keeping { () -> Int64? in
            if let written {
                try run("DELETE FROM main.\(Self.table) WHERE seq = ?") { sqlite3_bind_int64($0, 1, written) }
            }
            if isEmpty { return nil }
            do { return try insert(bytes, entry) } catch let error as DatabaseError
                where error.resultCode == .SQLITE_ERROR
            {
                let isThere = try database.tableExists(Self.table, in: "main")
                throw isThere ? error : JournalError.isGone
            }
        }
    }

    private func insert(_ bytes: UnsafeRawBufferPointer, _ entry: Entry) throws -> Int64 {
        var last: (number: Int64, clock: Int64) = (0, 0)
        try run("SELECT seq, clock FROM main.\(Self.table) ORDER BY seq DESC LIMIT 1") { statement in
            last = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
        }
        let number = last.number + 1
        let clock = try JournalClock.next(after: last.clock, database.transactionDate)
        let schema = entry.change.isEmpty ? nil : try JournalJSON.text(entry.change)
        let note = entry.note?.json
        try run(
            "INSERT INTO main.\(Self.table) (seq, clock, origin, note, schema, gap, changeset) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ) { statement -> Int32 in
            sqlite3_bind_int64(statement, 1, number)
            sqlite3_bind_int64(statement, 2, clock)
            sqlite3_bind_int64(statement, 3, origin)
            if let note { _ = note.databaseValue.bind(to: statement, at: 4) }
            if let schema { _ = schema.databaseValue.bind(to: statement, at: 5) }
            if entry.hasGap { sqlite3_bind_int64(statement, 6, 1) }
            return bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, 7, 0)
                : sqlite3_bind_blob64(
                    statement, 7, bytes.baseAddress, sqlite3_uint64(bytes.count), shellac_static())
        }
        if !entry.change.tables.isEmpty {
            let columns = try JournalJSON.text(entry.columns)
            try run("UPDATE main.\(Self.stateTable) SET value = ? WHERE name = 'columns'") {
                columns.databaseValue.bind(to: $0, at: 1)
            }
            pendingColumns = entry.columns
        }
        return number
    }

    /// Takes the lock of a writer, as the next statement would do.
    func takeLock() throws {
        try counted.keeping {
            try run("DELETE FROM main.\(Self.table) WHERE 0") { _ in SQLITE_OK }
        }
    }

    /// Returns the columns of the kept tables as the last entry has left them.
    func storedColumns() throws -> JournalColumns {
        var text = ""
        try run("SELECT value FROM main.\(Self.stateTable) WHERE name = 'columns'") { statement in
            text = sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
        }
        return try JournalJSON.value(JournalColumns.self, text)
    }

    /// Runs a statement that returns no row, with values that a function binds.
    private func run(_ sql: String, binding bind: (OpaquePointer) -> Int32) throws {
        let statement = try database.asking { try database.cachedStatement(sql: sql).sqliteStatement }
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try database.check(bind(statement))
        let code = database.asking { sqlite3_step(statement) }
        guard code == SQLITE_DONE else { throw database.error(code, sql: sql) }
    }

    /// Runs a statement that returns a row at most.
    private func run(_ sql: String, reading read: (OpaquePointer) -> Void) throws {
        let statement = try database.asking { try database.cachedStatement(sql: sql).sqliteStatement }
        defer { sqlite3_reset(statement) }
        let code = database.asking { sqlite3_step(statement) }
        if code == SQLITE_ROW { return read(statement) }
        guard code == SQLITE_DONE else { throw database.error(code, sql: sql) }
    }
}

/// The clock of the journal's entries: 48 bits of milliseconds since 1970, and 16 bits of a
/// counter.
///
/// Each entry has a greater number than the one before it, also if the system's clock goes back.
enum JournalClock {
    /// Returns the number for a date, after an earlier number.
    static func next(after last: Int64, _ date: Date) -> Int64 {
        let milliseconds = min(max(date.timeIntervalSince1970 * 1000, 0), Double(1 << 47 - 1))
        return max(last + 1, Int64(milliseconds) << 16)
    }

    /// Returns the date of a number.
    static func date(_ clock: Int64) -> Date { Date(timeIntervalSince1970: Double(clock >> 16) / 1000) }

    /// Returns the greatest number of a date.
    static func last(of date: Date) -> Int64 { next(after: .min, date) | 0xFFFF }
}
