import CSQLite
import TestSupport
import Testing

@testable import Shellac

/// Histories in which everything moves. Observers come and go at any moment, and open transactions
/// when they are notified of a commit. The schema changes between two runs of a kept statement, by
/// this connection and another one. Transactions are lost inside of statements that read.
@Suite("The replica, in restless histories")
struct ReplicaHistoryTests {
    static let tables = ["a", "b", "log"]

    /// The state that all parts of one history share. It is used on the connection's side alone.
    final class History {
        var random: SeededGenerator
        unowned let queue: DatabaseQueue
        var log: [String] = []
        var faults: [String] = []
        var passers: [Passer] = []
        /// The number of transactions that observers have opened, and that are still running.
        var depth = 0
        var nestedCount = 0
        var lossCount = 0

        init(seed: Int, _ queue: DatabaseQueue) {
            random = SeededGenerator(seed: UInt64(seed))
            self.queue = queue
        }

        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        static let kept = [
            "INSERT INTO a (v) VALUES (?)",
            "INSERT INTO a (v) SELECT v + ? FROM a LIMIT 2",
            "UPDATE a SET v = v + ?",
            "UPDATE a SET v = ? WHERE id = (SELECT max(id) FROM a)",
            "DELETE FROM a WHERE id = (SELECT min(id) + ? % 2 FROM a)",
            "INSERT INTO b (a, v) SELECT max(id), ? FROM a",
            "DELETE FROM b WHERE id % 3 = ?",
            "DELETE FROM log WHERE x > ?",
            "INSERT OR ROLLBACK INTO a (id, v) SELECT max(id), ? FROM a",
        ]

        static let changes = [
            "CREATE TRIGGER t1 AFTER UPDATE ON a BEGIN INSERT INTO log (x) VALUES (NEW.v); END",
            "CREATE TRIGGER t2 AFTER INSERT ON a BEGIN INSERT INTO log (x) VALUES (NEW.v); END",
            "CREATE TRIGGER t3 AFTER INSERT ON b BEGIN DELETE FROM log; END",
            "CREATE TRIGGER t4 AFTER DELETE ON log WHEN OLD.x % 2 BEGIN INSERT INTO b (v) VALUES (OLD.x); END",
            "DROP TRIGGER t1", "DROP TRIGGER t2", "DROP TRIGGER t3", "DROP TRIGGER t4",
            "ALTER TABLE a ADD COLUMN c1 DEFAULT 1", "ALTER TABLE a ADD COLUMN c2",
            "ALTER TABLE a DROP COLUMN c1", "ALTER TABLE a DROP COLUMN c2",
        ]

        /// A change of the schema that keeps all rows. It fails if it was made before.
        func change() -> String { Self.changes[number(0...Self.changes.count - 1)] }

        func run(_ sql: String, _ db: Database) {
            log.append(sql)
            let statement = try? db.cachedStatement(sql: sql)
            try? statement?.execute(arguments: sql.contains("?") ? [number(0...9)] : [])
        }

        func step(_ db: Database) {
            switch number(0...11) {
            case 0:
                let change = change()
                log.append(change)
                try? db.execute(sql: change)
            case 1 where db.isInsideTransaction:
                lossCount += 1
                log.append("spills")
                _ = try? Row.fetchAll(db, sql: "SELECT spills() FROM a")
            case 2 where db.isInsideTransaction:
                run(["SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"][number(0...2)], db)
            case 3 where passers.count < 6: add(Passer(self))
            default: run(Self.kept[number(0...Self.kept.count - 1)], db)
            }
        }

        func add(_ passer: Passer) {
            passers.append(passer)
            log.append("add")
            queue.add(
                transactionObserver: passer, extent: number(0...3) == 0 ? .nextTransaction : .observerLifetime
            )
        }

        func transaction(_ db: Database) {
            let isCommitted = number(0...3) > 0
            log.append("BEGIN")
            try? db.inTransaction(.immediate) {
                for _ in 0...number(0...3) {
                    step(db)
                    #if DEBUG
                    if !db._violations.isEmpty { faults.append("\(db._violations)") }
                    #endif
                }
                log.append(isCommitted ? "COMMIT" : "ROLLBACK")
                return isCommitted ? .commit : .rollback
            }
        }
    }

    /// An observer that comes and goes, and opens transactions.
    final class Passer: TransactionObserver {
        unowned let history: History
        private var hasLeft = false

        init(_ history: History) { self.history = history }

        private func move() {
            switch history.number(0...14) {
            case 0:
                history.log.append("leave")
                hasLeft = true
                history.queue.remove(transactionObserver: self)
                history.passers.removeAll { $0 === self }
            case 1 where history.passers.count < 6: history.add(Passer(history))
            case 2: stopObservingDatabaseChangesUntilNextTransaction()
            default: break
            }
        }

        private func act(_ db: Database) {
            guard !hasLeft else { return history.faults.append("told after it had left") }
            move()
            guard history.depth < 2, history.number(0...2) == 0 else { return }
            history.depth += 1
            defer { history.depth -= 1 }
            history.nestedCount += 1
            history.log.append("nested {")
            if history.number(0...1) == 0 { history.transaction(db) } else { history.step(db) }
            history.log.append("}")
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            move()
            return history.number(0...1) == 0
        }
        func databaseDidChange(with event: DatabaseEvent) { move() }
        func databaseWillCommit() throws {
            move()
            if history.number(0...19) == 0 { throw TestError(1) }
        }
        func databaseDidCommit(_ db: Database) { act(db) }
        func databaseDidRollback(_ db: Database) { act(db) }
    }

    /// Keeps the ids of all rows from events alone, and compares them with the tables at each
    /// commit and rollback.
    final class Mirror: TransactionObserver {
        let name: String
        unowned let history: History
        private var ids: [String: Set<Int64>] = [:]
        private var pending: [DatabaseEvent] = []
        private(set) var commitCount = 0
        private(set) var rollbackCount = 0

        init(_ name: String, _ history: History) { (self.name, self.history) = (name, history) }

        func databaseDidChange(with event: DatabaseEvent) { pending.append(event) }

        func databaseDidChange() { history.faults.append("\(name): undetected") }

        func databaseDidCommit(_ db: Database) {
            commitCount += 1
            for event in pending {
                let isThere = ids[event.tableName]?.contains(event.rowID) == true
                switch event.kind {
                case .insert: ids[event.tableName, default: []].insert(event.rowID)
                case .update: break
                case .delete: ids[event.tableName]?.remove(event.rowID)
                }
                if isThere == (event.kind == .insert) { history.faults.append("\(name): \(event)") }
            }
            pending = []
            compare(db)
        }

        func databaseDidRollback(_ db: Database) {
            rollbackCount += 1
            pending = []
            compare(db)
        }

        func compare(_ db: Database) {
            if db.isInsideTransaction { history.faults.append("\(name): inside of a transaction") }
            for table in tables {
                let present = (try? Int64.fetchSet(db, sql: "SELECT id FROM \(table)")) ?? [-1]
                if present != ids[table, default: []] {
                    history.faults.append("\(name): \(table) \(ids[table, default: []]), not \(present)")
                }
            }
        }
    }

    @Test(
        "Mirrors agree with the tables at each end of a transaction, whatever goes on around them",
        .behaviour(46, 49, 102, 104),
        arguments: 1...12)
    func history(seed: Int) throws {
        let file = try TemporaryDatabase()
        let configure = { (configuration: inout Configuration) in
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        }
        let (queue, other) = (try file.queue(configure: configure), try file.queue(configure: configure))
        let history = History(seed: seed, queue)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, v);
                    CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE, v);
                    CREATE TABLE log (id INTEGER PRIMARY KEY, x);
                    """)
            sqlite3_create_function_v2(
                db.sqliteConnection, "spills", 0, SQLITE_UTF8, nil,
                { context, _, _ in sqlite3_result_error_code(context, SQLITE_IOERR) }, nil, nil, nil)
        }
        let first = Mirror("first", history)
        let last = Mirror("last", history)
        queue.add(transactionObserver: first)
        for _ in 0..<3 { history.add(Passer(history)) }
        queue.add(transactionObserver: last)
        for number in 0..<150 {
            if history.number(0...2) == 0 {
                let change = history.change()
                history.log.append("other: \(change)")
                try other.inDatabase { db in try? db.execute(sql: change) }
            }
            // They leave, and others come. (Some observe one transaction alone, and do not say so.)
            if number % 10 == 0 { history.passers = [] }
            while history.passers.count < 3 { history.add(Passer(history)) }
            try? queue.inDatabase { db in
                if history.number(0...2) == 0 { history.step(db) } else { history.transaction(db) }
            }
            try queue.inDatabase { db in for mirror in [first, last] { mirror.compare(db) } }
            try #require(
                history.faults.isEmpty, "seed \(seed), step \(number): \(history.faults) \(history.log)")
            history.log = []
        }
        #expect(first.commitCount > 50)
        #expect(first.commitCount == last.commitCount)
        #expect(first.rollbackCount == last.rollbackCount)
        #expect(history.nestedCount > 10)
        #expect(history.lossCount > 3)
    }
}
