// Measures the runs of a statement: duration, rows, changes, full scans, sorts.

import CSQLite

/// Measures the runs of a statement, one after the other, for who hears of them.
///
/// SQLite counts what it does in any case, and a row's generation tells how many rows there were: to measure is to look at the
/// beginning of a run, and at its end.
final class StatementMeasure {
    /// When the last run has begun.
    private(set) var start: UInt64 = 0
    private var isRunning = false
    private var isInternal = false
    private var rowGeneration: UInt64 = 0
    private var counters = Counters()
    private var changes = ChangeCount()

    /// SQLite's counters, which begin anew after the largest number.
    private struct Counters {
        var fullScanSteps: Int32 = 0
        var sortCount: Int32 = 0
        var automaticIndexRows: Int32 = 0

        init() {}

        init(_ statement: OpaquePointer) {
            func counter(_ name: Int32) -> Int32 { sqlite3_stmt_status(statement, name, 0) }
            fullScanSteps = counter(SQLITE_STMTSTATUS_FULLSCAN_STEP)
            sortCount = counter(SQLITE_STMTSTATUS_SORT)
            automaticIndexRows = counter(SQLITE_STMTSTATUS_AUTOINDEX)
        }
    }

    func begin(_ statement: Statement) {
        isRunning = true
        isInternal = statement.database.isAskingByItself
        rowGeneration = statement.row.generation
        counters = Counters(statement.sqliteStatement)
        changes = ChangeCount(statement.database)
        start = shellac_time()
    }

    /// Ends a run, whose row was moved out. Returns what there is to tell of it.
    ///
    /// What opens and closes transactions is told of as a transaction, unless it fails.
    func end(_ statement: Statement, hasRun: Bool, error: (any Error)?) -> StatementReport? {
        guard isRunning else { return nil }
        isRunning = false
        guard hasRun, statement.effects.transaction == nil || error != nil else { return nil }
        let duration = Duration.since(start)
        let now = Counters(statement.sqliteStatement)
        func count(_ now: Int32, since then: Int32) -> Int { Int(UInt32(bitPattern: now &- then)) }
        return StatementReport(
            sql: statement.sql, isInternal: isInternal, duration: duration,
            // The generation has moved on for each row, and when the last one was moved out.
            rowCount: Int(statement.row.generation &- rowGeneration) - 1,
            changedRowCount: changes.take(from: statement.database),
            fullScanSteps: count(now.fullScanSteps, since: counters.fullScanSteps),
            sortCount: count(now.sortCount, since: counters.sortCount),
            automaticIndexRows: count(now.automaticIndexRows, since: counters.automaticIndexRows),
            resultCode: ResultCode(of: error))
    }
}

/// Counts the rows that are changed from some moment on.
struct ChangeCount {
    /// SQLite's count, which begins anew after the largest number.
    private var total: Int32 = 0
    /// How many of them were told of.
    private var told = 0

    init() {}

    /// Begins to count. Nobody need have the access: who follows changes may let go of a cursor.
    init(_ database: Database) {
        total = Self.total(database)
        told = database.toldChangeCount
    }

    /// How many rows were changed since.
    func count(_ database: Database) -> Int { Int(UInt32(bitPattern: Self.total(database) &- total)) }

    /// How many rows were changed since, but by statements that have ended meanwhile, and have told of them.
    func take(from database: Database) -> Int {
        let count = max(0, count(database) - (database.toldChangeCount - told))
        database.toldChangeCount += count
        return count
    }

    private static func total(_ database: Database) -> Int32 {
        database.isClosed
            ? 0
            : sqlite3_total_changes(database.pointer)
                &- Int32(truncatingIfNeeded: database.unheardChangeCount)
    }
}

extension Statement {
    /// Begins to measure a run.
    @inline(never)
    func beginMeasure() {
        let measure = measure ?? StatementMeasure()
        self.measure = measure
        measure.begin(self)
    }
}
