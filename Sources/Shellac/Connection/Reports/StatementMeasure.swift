import CSQLite

/// Measures the runs of a statement, one after the other, for who hears of them.
///
/// SQLite counts what it does in any case, and a row's generation tells how many rows there were: to measure is to look at the
/// beginning of a run, and at its end.
final class StatementMeasure {
    /// When the last run has begun.
    private(set) var start: UInt64 = 0
    private var isRunning = false
    private var rowGeneration: UInt64 = 0
    private var counters = Counters()
    private var totalChangesCount = 0

    private struct Counters {
        var fullScanSteps = 0
        var sortCount = 0
        var automaticIndexRows = 0

        init() {}

        init(_ statement: OpaquePointer) {
            func counter(_ name: Int32) -> Int { Int(sqlite3_stmt_status(statement, name, 0)) }
            fullScanSteps = counter(SQLITE_STMTSTATUS_FULLSCAN_STEP)
            sortCount = counter(SQLITE_STMTSTATUS_SORT)
            automaticIndexRows = counter(SQLITE_STMTSTATUS_AUTOINDEX)
        }
    }

    func begin(_ statement: Statement) {
        isRunning = true
        rowGeneration = statement.row.generation
        counters = Counters(statement.sqliteStatement)
        totalChangesCount = statement.database.totalChangesCount
        start = shellac_time()
    }

    /// Ends a run, whose row was moved out. Returns what there is to tell of it.
    func end(_ statement: Statement, hasRun: Bool, error: (any Error)?) -> StatementReport? {
        guard isRunning else { return nil }
        isRunning = false
        guard hasRun, statement.effects.transaction == nil else { return nil }
        let duration = Duration.since(start)
        let now = Counters(statement.sqliteStatement)
        return StatementReport(
            sql: statement.sql, duration: duration,
            // The generation has moved on for each row, and when the last one was moved out.
            rowCount: Int(statement.row.generation &- rowGeneration) - 1,
            changedRowCount: statement.database.totalChangesCount - totalChangesCount,
            fullScanSteps: now.fullScanSteps - counters.fullScanSteps,
            sortCount: now.sortCount - counters.sortCount,
            automaticIndexRows: now.automaticIndexRows - counters.automaticIndexRows,
            resultCode: ResultCode(of: error))
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
