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
        /// The columns of the kept tables, if they are others than before.
        let columns: NewColumns?
        let hasGap: Bool
    }

    /// The columns of the kept tables at the end of a transaction that has changed them.
    struct NewColumns {
        let columns: JournalColumns
        let changes: JournalColumns.Changes
    }

    private unowned(unsafe) let database: Database  // whose broker owns this, by the recorder
    let origin: Int64
    let counted: CountedChanges
    private let retention: JournalRetention
    /// The last entry that this connection has read or written, whether or not its transaction
    /// was undone.
    private var last: (number: Int64, clock: Int64) = (0, 0)
    private var lastCommitted: (number: Int64, clock: Int64) = (0, 0)
    private var otherCommits: OtherCommits
    /// The columns that an entry of the open transaction has stored.
    private(set) var pendingColumns: JournalColumns?
    /// The tables that the open transaction has rebuilt.
    var rebuiltTables: Set<String> = []

    static let table = "shellac_journal"
    static let stateTable = "shellac_journal_state"
    /// The tables of the journal, whose own changes it does not keep.
    static let tables = Set([table, stateTable, JournalHistory.indexTable].map { CaseInsensitiveName($0) })

    init(_ database: Database, origin: Int64, _ retention: JournalRetention) {
        self.database = database
        self.origin = origin
        self.retention = retention
        otherCommits = OtherCommits(database)
        counted = CountedChanges(database)
        try? run(
            "SELECT seq, clock FROM main.\(Self.table) ORDER BY seq DESC LIMIT 1",
            reading: { self.last = (sqlite3_column_int64($0, 0), sqlite3_column_int64($0, 1)) })
        lastCommitted = last
    }

    func transactionDidEnd(committed: Bool) {
        pendingColumns = nil
        rebuiltTables = []
        // (After a rollback, another connection may take the number.)
        if committed { lastCommitted = last } else { last = lastCommitted }
        otherCommits.transactionDidEnd(committed: committed)
    }

    /// Writes the entry of the open transaction, unless it would be empty. Returns its number.
    ///
    /// - Parameter written: The number of the entry that was written before a refused commit.
    func write(
        _ bytes: UnsafeRawBufferPointer, _ entry: Entry, replacing written: Int64?
    ) throws -> Int64? {
        guard bytes.count <= ChangesetFormat.mostBytes else { throw ChangesetError.tooLarge }
        let isEmpty =
            bytes.isEmpty && entry.columns == nil && rebuiltTables.isEmpty && !entry.hasGap
        if isEmpty, written == nil { return nil }
        return try counted.keeping { () -> Int64? in
            if let written {
                try run(
                    "DELETE FROM main.\(Self.table) WHERE seq = ?",
                    binding: { sqlite3_bind_int64($0, 1, written) })
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
        let schema = try schema(of: entry)
        let note = entry.note?.json
        let clock = try JournalClock.next(after: last.clock, database.transactionDate)
        func bind(_ statement: OpaquePointer) -> Int32 {
            sqlite3_bind_int64(statement, 1, clock)
            sqlite3_bind_int64(statement, 2, origin)
            if let note { _ = note.databaseValue.bind(to: statement, at: 3) }
            if let schema { _ = schema.databaseValue.bind(to: statement, at: 4) }
            if entry.hasGap { sqlite3_bind_int64(statement, 5, 1) }
            return bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, 6, 0)
                : sqlite3_bind_blob64(
                    statement, 6, bytes.baseAddress, sqlite3_uint64(bytes.count), shellac_static())
        }
        try run(Self.insertion, binding: bind)
        // (SQLite takes the number after the greatest one. The last entry is never removed.)
        let number = sqlite3_last_insert_rowid(database.pointer)
        let isNext = number == last.number + 1
        last = (number, clock)
        // Another connection has written entries, or this one's have been undone.
        if !isNext { try advanceClock(of: number) }
        if try otherCommits.wereMade(database), isNext {
            let sql = "UPDATE main.\(Self.table) SET gap = ifnull(gap, 0) | 2 WHERE seq = ?"
            try run(sql, binding: { sqlite3_bind_int64($0, 1, number) })
        }
        if let columns = entry.columns?.columns {
            let text = try JournalJSON.text(columns)
            let sql = "UPDATE main.\(Self.stateTable) SET value = ? WHERE name = 'columns'"
            try run(sql, binding: { text.databaseValue.bind(to: $0, at: 1) })
            pendingColumns = columns
        }
        if number % JournalRetention.interval == 0 { try removeOldEntries(before: number) }
        return number
    }

    /// Deletes the entries that need not be kept.
    private func removeOldEntries(before number: Int64) throws {
        let date = JournalClock.date(last.clock)
        guard let (condition, argument) = retention.condition(after: number, at: date) else { return }
        try run(
            "DELETE FROM main.\(Self.table) WHERE seq < \(number) AND \(condition)",
            binding: { sqlite3_bind_int64($0, 1, argument) })
    }

    private static let insertion =
        "INSERT INTO main.\(table) (clock, origin, note, schema, gap, changeset) VALUES (?, ?, ?, ?, ?, ?)"

    /// Makes the clock of an entry greater than that of the one before it.
    private func advanceClock(of number: Int64) throws {
        var earlier: Int64 = .min
        let before =
            "SELECT clock FROM main.\(Self.table) WHERE seq < ? ORDER BY seq DESC LIMIT 1"
        try run(
            before, binding: { sqlite3_bind_int64($0, 1, number) },
            reading: { earlier = sqlite3_column_int64($0, 0) })
        guard earlier >= last.clock else { return }
        last.clock = earlier + 1
        let clock = last.clock
        let sql = "UPDATE main.\(Self.table) SET clock = ? WHERE seq = ?"
        try run(
            sql,
            binding: { statement in
                sqlite3_bind_int64(statement, 1, clock)
                return sqlite3_bind_int64(statement, 2, number)
            })
    }

    /// Returns what the entry says of the tables' columns.
    private func schema(of entry: Entry) throws -> String? {
        if entry.columns == nil, rebuiltTables.isEmpty { return nil }
        var changes = entry.columns?.changes ?? JournalColumns.Changes()
        changes.rebuilt = rebuiltTables.sorted()
        changes.migration = try lastMigration()
        return try JournalJSON.text(changes)
    }

    /// Takes the lock of a writer, as the next statement would do.
    func takeLock() throws {
        try counted.keeping {
            try run("DELETE FROM main.\(Self.table) WHERE 0")
        }
    }

    /// Returns the columns of the kept tables as the last entry has left them.
    func storedColumns() throws -> JournalColumns {
        guard try database.tableExists(Self.stateTable, in: "main") else { throw JournalError.isGone }
        var text = ""
        let sql = "SELECT value FROM main.\(Self.stateTable) WHERE name = 'columns'"
        try run(sql, reading: { text = sqlite3_column_text($0, 0).map { String(cString: $0) } ?? "" })
        return try JournalJSON.value(JournalColumns.self, text)
    }

    /// Returns the name of the last migration, if the program has any.
    private func lastMigration() throws -> String? {
        guard try database.tableExists(Database.migrationTable, in: "main") else { return nil }
        var name: String?
        let sql = "SELECT identifier FROM main.\(Database.migrationTable) ORDER BY rowid DESC LIMIT 1"
        try run(sql, reading: { name = sqlite3_column_text($0, 0).map { String(cString: $0) } })
        return name
    }

    /// Runs a statement, with values that a function binds, and reads its row, if it returns one.
    private func run(
        _ sql: String, binding bind: (OpaquePointer) -> Int32 = { _ in SQLITE_OK },
        reading read: ((OpaquePointer) -> Void)? = nil
    ) throws {
        let statement = try database.asking { try database.cachedStatement(sql: sql).sqliteStatement }
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try database.check(bind(statement))
        let code = database.asking { sqlite3_step(statement) }
        if code == SQLITE_ROW, let read { return read(statement) }
        guard code == SQLITE_DONE else { throw database.error(code, sql: sql) }
    }
}

/// Finds out whether another connection has committed a transaction.
private struct OtherCommits {
    /// A number that each commit changes, which costs next to nothing to read.
    private var quick: UInt32
    /// A number that commits of other connections change.
    private var exact: Int64?
    /// Whether one was made since the last entry that is committed.
    private var isPending = false

    init(_ database: Database) {
        quick = Self.quick(of: database)
        exact = try? database.dataVersion()
    }

    private static func quick(of database: Database) -> UInt32 {
        var number: UInt32 = 0
        sqlite3_file_control(database.pointer, "main", SQLITE_FCNTL_DATA_VERSION, &number)
        return number
    }

    /// Whether one was made since the last entry. It is called once in a transaction.
    mutating func wereMade(_ database: Database) throws -> Bool {
        let now = Self.quick(of: database)
        // The next commit of this connection will count, too.
        defer { quick = now &+ 1 }
        if now != quick {
            let version = try database.dataVersion()
            if version != exact { isPending = true }
            exact = version
        }
        return isPending
    }

    mutating func transactionDidEnd(committed: Bool) { if committed { isPending = false } }
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
