// Finds kept statements that scan whole tables again and again, and advises indexes for them.

import CSQLite

/// Looks at the statements that a connection keeps, and finds those that an index would help: see ``IndexAdvice``.
///
/// SQLite counts the rows that it reads without an index in any case. So nothing is done while statements run: now and then, at the end
/// of an access, the counters are looked at.
final class IndexAdvisor {
    /// When it is time to look again, by the coarse clock.
    private var nextLook: UInt64 = 0
    private static var pause: UInt64 { 100_000_000 }

    /// What is again and again, and in vain.
    private static let (fewestRuns, fewestRowsRead, fewestRowsReadForEachGiven) = (10, 10_000, 20)

    /// What was examined already, by the connections of a group.
    private final class Examined: Sendable {
        private let statements = Lock<Set<String>>([])
        /// A program that writes its values into SQL has any number of statements.
        private static var most: Int { 1_000 }

        /// Whether a statement is a new one.
        func mayInsert(_ sql: String) -> Bool {
            statements.withLock { $0.count < Self.most && !$0.contains(sql) }
        }

        /// Notes a statement. Returns whether it was a new one.
        func insert(_ sql: String) -> Bool { statements.withLock { $0.insert(sql).inserted } }
    }

    /// Looks at the statements, if it is time.
    func accessWillEnd(_ db: Database) {
        let now = shellac_coarse_time()
        guard now >= nextLook else { return }
        nextLook = now &+ Self.pause
        look(db)
    }

    /// Looks at the statements that nobody uses.
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

    /// What a statement has done since it was prepared.
    private struct Counts {
        let runs: Int
        let rowsRead: Int
        let rowsGiven: Int

        /// There are none of a statement that has not read whole tables again and again.
        init?(_ statement: Statement) {
            func counter(_ name: Int32) -> Int {
                Int(UInt32(bitPattern: sqlite3_stmt_status(statement.sqliteStatement, name, 0)))
            }
            rowsRead = counter(SQLITE_STMTSTATUS_FULLSCAN_STEP) + counter(SQLITE_STMTSTATUS_AUTOINDEX)
            guard rowsRead >= IndexAdvisor.fewestRowsRead else { return nil }
            runs = counter(SQLITE_STMTSTATUS_RUN)
            rowsGiven = max(0, Int(statement.row.generation &- statement.firstGeneration) - runs)
            guard runs >= IndexAdvisor.fewestRuns,
                rowsRead / IndexAdvisor.fewestRowsReadForEachGiven >= rowsGiven
            else { return nil }
        }
    }
}

extension Database {
    fileprivate func tell(_ advice: IndexAdvice) {
        if reporter != nil { report(.advice(advice)) } else { ErrorLog.warn("\(name): \(advice)") }
    }
}
