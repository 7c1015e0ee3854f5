// Finds cached statements that repeatedly scan whole tables, and advises indexes for them.

import CSQLite

/// Examines the statements that a connection caches, and finds those that an index would help: see
/// ``IndexAdvice``.
///
/// SQLite always counts the rows that it reads without an index. So there is no work while
/// statements run. The advisor checks the counters now and then, at the end of an access.
final class IndexAdvisor {
    /// The time of the next check, on the coarse clock.
    private var nextLook: UInt64 = 0
    private static var pause: UInt64 { 100_000_000 }

    /// The thresholds for repeated and wasteful reads.
    private static let (minimumRuns, minimumRowsRead, minimumRowsReadForEachGiven) = (10, 10_000, 20)

    /// The statements that the connections of a group have already examined.
    private final class Examined: Sendable {
        private let statements = Lock<Set<String>>([])
        /// A limit, because a program that writes its values into SQL has any number of statements.
        private static var most: Int { 1_000 }

        /// Whether a statement is new, and there is room for it.
        func mayInsert(_ sql: String) -> Bool {
            statements.withLock { $0.count < Self.most && !$0.contains(sql) }
        }

        /// Adds a statement. Returns whether it was new.
        func insert(_ sql: String) -> Bool { statements.withLock { $0.insert(sql).inserted } }
    }

    /// Examines the statements, if it is time.
    func accessWillEnd(_ db: Database) {
        let now = shellac_coarse_time()
        guard now >= nextLook else { return }
        nextLook = now &+ Self.pause
        look(db)
    }

    /// Examines the idle statements.
    func look(_ db: Database) {
        for statement in db.idleStatements {
            guard let counts = Counts(statement), db.group.shared({ Examined() }).mayInsert(statement.sql),
                let indexes = try? IndexModel.indexes(for: statement),
                db.group.shared({ Examined() }).insert(statement.sql), !indexes.isEmpty
            else { continue }
            db.tell(
                IndexAdvice(
                    sql: statement.sql, runCount: counts.runs, rowsRead: counts.rowsRead,
                    rowCount: counts.rowsGiven, indexes: indexes))
        }
    }

    /// The counters of a statement since it was prepared.
    private struct Counts {
        let runs: Int
        let rowsRead: Int
        let rowsGiven: Int

        /// Reads the counters. Fails for a statement that has not repeatedly read whole tables.
        init?(_ statement: Statement) {
            func counter(_ name: Int32) -> Int {
                Int(UInt32(bitPattern: sqlite3_stmt_status(statement.sqliteStatement, name, 0)))
            }
            rowsRead = counter(SQLITE_STMTSTATUS_FULLSCAN_STEP) + counter(SQLITE_STMTSTATUS_AUTOINDEX)
            guard rowsRead >= IndexAdvisor.minimumRowsRead else { return nil }
            runs = counter(SQLITE_STMTSTATUS_RUN)
            rowsGiven = max(0, Int(statement.row.generation &- statement.firstGeneration) - runs)
            guard runs >= IndexAdvisor.minimumRuns,
                rowsRead / IndexAdvisor.minimumRowsReadForEachGiven >= rowsGiven
            else { return nil }
        }
    }
}

extension Database {
    fileprivate func tell(_ advice: IndexAdvice) {
        if reporter != nil { report(.advice(advice)) } else { ErrorLog.warn("\(name): \(advice)") }
    }
}
