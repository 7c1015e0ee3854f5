import Shellac
import TestSupport
import Testing

@Suite("The replica")
struct ReplicaTests {
    /// Keeps a mirror of the tables, from what it is told alone: which rows there are comes from the events, and only
    /// the values of the rows that they name are read.
    private final class Mirror: TransactionObserver {
        private(set) var tables: [String: [Int64: String]] = ["a": [:], "b": [:]]
        private var pending: [DatabaseEvent] = []
        /// What cannot be: the update of a row that is not there.
        private(set) var contradictions: [String] = []
        private(set) var commitCount = 0
        private(set) var rollbackCount = 0

        func databaseDidChange(with event: DatabaseEvent) { pending.append(event) }

        func databaseDidCommit(_ db: Database) {
            commitCount += 1
            var changed: [String: Set<Int64>] = [:]
            for event in pending {
                let isThere = tables[event.tableName]?[event.rowID] != nil
                switch event.kind {
                case .insert: tables[event.tableName]?[event.rowID] = "new"  // it may replace a row
                case .update where !isThere, .delete where !isThere: contradictions.append("\(event)")
                case .update: break
                case .delete: tables[event.tableName]?[event.rowID] = nil
                }
                changed[event.tableName, default: []].insert(event.rowID)
            }
            pending = []
            for (table, ids) in changed {
                for id in ids where tables[table]?[id] != nil {
                    let sql = "SELECT v || '' FROM \(table) WHERE id = ?"
                    tables[table]?[id] = (try? String.fetchOne(db, sql: sql, arguments: [id])) ?? "missing"
                }
            }
        }

        func databaseDidRollback(_ db: Database) {
            rollbackCount += 1
            pending = []
        }
    }

    /// A random workload.
    private struct Workload {
        var random: SeededGenerator
        /// How many savepoints are open.
        var depth = 0

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        /// A statement, which may fail.
        mutating func statement() -> String {
            let (id, v, u) = (number(1...12), number(0...99), number(1...12))
            let conflict = ["", "", "OR FAIL", "OR IGNORE", "OR ABORT"][number(0...4)]
            switch number(0...15) {
            case 0, 1:
                return "INSERT \(conflict) INTO a (v, u) VALUES (\(v), NULL), (\(v), \(u)), (\(v), NULL)"
            case 2: return "INSERT \(conflict) INTO a VALUES (\(id), \(v), NULL)"
            case 3: return "UPDATE \(conflict) a SET v = \(v), u = \(u) WHERE id BETWEEN \(id) AND \(id + 2)"
            case 4: return "UPDATE a SET v = v + 1"
            case 5: return "DELETE FROM a WHERE id = \(id)"
            case 6: return "DELETE FROM \(number(0...3) == 0 ? "a" : "b")"
            case 7: return "INSERT INTO b (a, v) VALUES (\(id), \(v)), (\(u), \(v))"
            case 8: return "REPLACE INTO b (id, a, v) VALUES (\(id), (SELECT min(id) FROM a), \(v))"
            case 9:
                return "INSERT INTO a VALUES (\(id), \(v), NULL), (\(u), \(v), NULL) "
                    + "ON CONFLICT (id) DO UPDATE SET v = excluded.v"
            case 10: return "INSERT INTO b (a, v) SELECT id, fails(id % 3, v) FROM a"
            case 11: return "UPDATE b SET v = fails(id % 4, \(v))"
            case 12: return "INSERT INTO b (v) SELECT nests(v) FROM a WHERE id < 3"
            // The trigger refuses negative values.
            case 13: return "UPDATE a SET v = \(u - 9) - id WHERE id > 3"
            case 14:
                return "INSERT OR \(number(0...9) == 0 ? "ROLLBACK" : "FAIL") INTO a (v, u) VALUES (1, \(u))"
            default: return "UPDATE b SET v = \(v) WHERE a = \(id) RETURNING id"
            }
        }

        /// A statement that opens or ends a savepoint.
        mutating func savepoint() -> String {
            let name = ["s", "S", "t"][number(0...2)]
            return ["SAVEPOINT \(name)", "SAVEPOINT \(name)", "RELEASE \(name)", "ROLLBACK TO \(name)"][
                number(0...3)]
        }
    }

    @Test(
        "A mirror kept from events equals the tables after each of ten thousand transactions",
        arguments: 1...10)
    func replica(seed: Int) throws {
        let queue = try DatabaseQueue()
        let mirror = Mirror()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, v, u UNIQUE);
                    CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE, v);
                    CREATE TRIGGER refuses BEFORE UPDATE ON a WHEN NEW.v < 0 BEGIN SELECT RAISE(ABORT, 'no'); END;
                    CREATE TRIGGER adds AFTER DELETE ON b WHEN OLD.v = 7 BEGIN INSERT INTO b (v) VALUES (8); END;
                    """)
            try db.add(
                function: DatabaseFunction("fails", argumentCount: 2) { values in
                    if values[0] == 1.databaseValue { throw TestError(seed) }
                    return values[1]
                })
            try db.add(
                function: DatabaseFunction("nests", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO b (v) VALUES (?)", arguments: [values[0]])
                    if values[0] == 3.databaseValue { throw TestError(seed) }
                    return values[0]
                })
        }
        queue.add(transactionObserver: mirror)
        var workload = Workload(random: SeededGenerator(seed: UInt64(seed)))
        for number in 0..<1000 {
            try queue.inDatabase { db in
                let kind = workload.number(0...9)
                if kind > 1 { try db.execute(sql: kind > 7 ? "SAVEPOINT s" : "BEGIN") }
                var statements: [String] = []
                for _ in 0..<workload.number(1...6) {
                    let isSavepoint = kind > 4 && workload.number(0...2) == 0
                    statements.append(isSavepoint ? workload.savepoint() : workload.statement())
                    try? db.execute(sql: statements.last ?? "")
                }
                let isRolledBack = workload.number(0...4) == 0
                if db.isInsideTransaction { try db.execute(sql: isRolledBack ? "ROLLBACK" : "COMMIT") }
                try? db.execute(sql: "ROLLBACK")
                for table in ["a", "b"] {
                    let rows = try Row.fetchAll(db, sql: "SELECT id, v || '' FROM \(table)")
                    let content = try Dictionary(
                        uniqueKeysWithValues: rows.map { row in
                            try (row[0] as Int64, row[1] as String? ?? "missing")
                        })
                    try #require(
                        mirror.tables[table] == content,
                        "seed \(seed), transaction \(number), table \(table): \(statements)")
                }
                try #require(
                    mirror.contradictions.isEmpty, "seed \(seed), transaction \(number): \(statements)")
            }
        }
        #expect(mirror.commitCount > 500)
        #expect(mirror.rollbackCount > 50)
    }
}
