// Measures the runs of a statement: duration, rows, changes, full scans, sorts.

import CSQLite

/// Measures the runs of a statement, one after the other, for reports.
///
/// SQLite counts its work anyway, and the generation of a row counts the rows. So measuring only
/// takes a look at the beginning of a run, and one at its end.
final class StatementMeasure {
    /// The beginning of the last run.
    private(set) var start: UInt64 = 0
    private var isRunning = false
    private var isInternal = false
    private var rowGeneration: UInt64 = 0
    private var counters = Counters()
    private var changes = ChangeCount()

    /// SQLite's counters, which overflow after the largest number.
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

    /// Ends a run whose row was moved out. Returns its report, if there is one.
    ///
    /// Statements that begin or end transactions are reported as transactions, unless they fail.
    func end(_ statement: Statement, hasRun: Bool, error: (any Error)?) -> StatementReport? {
        guard isRunning else { return nil }
        isRunning = false
        guard hasRun, statement.effects.transaction == nil || error != nil else { return nil }
        let duration = Duration.since(start)
        let now = Counters(statement.sqliteStatement)
        func count(_ now: Int32, since then: Int32) -> Int { Int(UInt32(bitPattern: now &- then)) }
        return StatementReport(
            sql: statement.sql, isInternal: isInternal, duration: duration,
            // The generation has advanced for each row, and when the last row was moved out.
            rowCount: Int(statement.row.generation &- rowGeneration) - 1,
            changedRowCount: changes.take(from: statement.database),
            fullScanSteps: count(now.fullScanSteps, since: counters.fullScanSteps),
            sortCount: count(now.sortCount, since: counters.sortCount),
            automaticIndexRows: count(now.automaticIndexRows, since: counters.automaticIndexRows),
            resultCode: ResultCode(of: error))
    }
}

/// A counter of the rows that were changed from some moment on.
struct ChangeCount {
    /// SQLite's count at that moment, which overflows after the largest number.
    private var total: Int32 = 0
    /// The number of changed rows that were already reported at that moment.
    private var told = 0

    init() {}

    /// Begins to count. This does not require an access: a change handler may release a cursor.
    init(_ database: Database) {
        total = Self.total(database)
        told = database.toldChangeCount
    }

    /// Returns the number of rows that were changed since.
    func count(_ database: Database) -> Int { Int(UInt32(bitPattern: Self.total(database) &- total)) }

    /// Returns the number of rows that were changed since, and marks them as reported. Changes of
    /// statements that have ended and were reported meanwhile do not count.
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
        // Statements that explain the error of another one are not reported.
        if database.running.isRehearsal { return }
        let measure = measure ?? StatementMeasure()
        self.measure = measure
        measure.begin(self)
    }
}
