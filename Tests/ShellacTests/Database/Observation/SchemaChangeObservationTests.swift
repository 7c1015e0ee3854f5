import TestSupport
import Testing

@testable import Shellac

@Suite("Statements that outlive a change of the schema, observed")
struct SchemaChangeObservationTests {
    struct T: TableRecord { static var databaseTableName: String { "t" } }

    /// A change of the schema, or of what statements do, between two runs of a statement.
    enum Change: String, CaseIterable, Sendable {
        case trigger, cascade, emptyingTrigger, foreignKeys, view

        static let schema = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a);
            CREATE TABLE log (id INTEGER PRIMARY KEY, x, t REFERENCES t ON DELETE CASCADE);
            CREATE TABLE plain (id INTEGER PRIMARY KEY, x);
            CREATE VIEW v AS SELECT a FROM t;
            CREATE TRIGGER writes INSTEAD OF UPDATE ON v BEGIN UPDATE t SET a = NEW.a; END;
            INSERT INTO t VALUES (1, 1), (2, 2);
            """

        /// The statement that is run twice.
        var statement: String {
            switch self {
            case .trigger, .emptyingTrigger: "UPDATE t SET a = a + 1"
            case .cascade, .foreignKeys: "DELETE FROM t WHERE id = (SELECT min(id) FROM t)"
            case .view: "UPDATE v SET a = a + 1"
            }
        }

        var sql: String {
            switch self {
            case .trigger: "CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO log (x) VALUES (NEW.a); END"
            case .cascade, .foreignKeys:
                """
                DROP TABLE log;
                CREATE TABLE log (id INTEGER PRIMARY KEY, t REFERENCES t ON DELETE CASCADE);
                INSERT INTO log VALUES (1, 2);
                """
            case .emptyingTrigger:
                """
                INSERT INTO log (x) VALUES (1), (2);
                CREATE TRIGGER tr AFTER UPDATE ON t BEGIN DELETE FROM log; END;
                """
            case .view:
                """
                DROP VIEW v;
                CREATE VIEW v AS SELECT a FROM t;
                CREATE TRIGGER writes INSTEAD OF UPDATE ON v BEGIN INSERT INTO log (x) VALUES (NEW.a); END;
                """
            }
        }

        /// The events of the second run.
        var told: Set<String> {
            switch self {
            case .trigger, .view: ["insert log 1", "insert log 2"]
            case .cascade, .foreignKeys: ["delete log 1"]
            case .emptyingTrigger: ["delete log 1", "delete log 2"]
            }
        }
    }

    /// The connection that changes the schema, and when it does.
    enum Who: String, CaseIterable, Sendable { case this, sameTransaction, other }

    @Test(
        "The first run after a change of the schema is told, of whatever it does since then", .behaviour(104),
        arguments: Change.allCases, Who.allCases)
    func firstRun(change: Change, who: Who) throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue()
        try queue.inDatabase { db in try db.execute(sql: Change.schema) }
        let other = try file.queue()
        for isLone in [true, false] {
            let spy = ObserverSpy()
            spy.filter = { $0.tableName == "log" }
            queue.add(transactionObserver: spy)
            defer { queue.remove(transactionObserver: spy) }
            if !isLone {
                // Once more, from the beginning.
                try queue.inDatabase { db in
                    try db.execute(
                        sql: """
                            PRAGMA foreign_keys = OFF; DROP TABLE log; DROP VIEW v; DROP TABLE t; DROP TABLE plain;
                            \(Change.schema); PRAGMA foreign_keys = ON
                            """)
                }
            }
            if change == .foreignKeys {
                try queue.inDatabase { db in try db.execute(sql: "PRAGMA foreign_keys = OFF") }
            }
            func run(_ db: Database) throws { try db.cachedStatement(sql: change.statement).execute() }
            func access(_ body: (Database) throws -> Void) throws {
                if isLone { try queue.inDatabase(body) } else { try queue.write(body) }
            }
            try access(run)
            #expect(spy.removeAll().filter { $0.contains("log") } == [])
            switch who {
            case .this: try queue.inDatabase { db in try db.execute(sql: change.sql) }
            case .other:
                // (SQLite finds out by reading that its idea of the schema is old.)
                try other.inDatabase { db in try db.execute(sql: "SELECT * FROM t; \(change.sql)") }
            case .sameTransaction: break
            }
            if change == .foreignKeys {
                try queue.inDatabase { db in try db.execute(sql: "PRAGMA foreign_keys = ON") }
            }
            spy.removeAll()
            try access { db in
                if who == .sameTransaction {
                    if !isLone { try run(db) }
                    // (A row for the next run.)
                    try db.execute(sql: "INSERT INTO t VALUES (2, 2) ON CONFLICT DO UPDATE SET a = 2")
                    try db.execute(sql: change.sql)
                    spy.removeAll()
                }
                try run(db)
            }
            let told = Set(spy.log.filter { $0.contains("log") })
            #expect(told.isSubset(of: change.told) && !told.isEmpty, "\(isLone) \(spy.log)")
            if who != .sameTransaction { #expect(told == change.told, "\(isLone)") }
        }
    }

    @Test(
        "A statement executed once, right after another connection has changed the schema, is told of in full",
        .behaviour(104)
    )
    func once() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inDatabase { db in try db.execute(sql: Change.schema) }
        let spy = ObserverSpy()
        spy.filter = { $0.tableName == "log" }
        queue.add(transactionObserver: spy)
        try queue.inDatabase { db in try db.execute(sql: "UPDATE t SET a = a + 1") }
        try other.inDatabase { db in try db.execute(sql: Change.trigger.sql) }
        spy.removeAll()
        try queue.inDatabase { db in try db.execute(sql: "UPDATE t SET a = a + 1") }
        #expect(spy.log == ["insert log 1", "insert log 2", "willCommit", "didCommit"])
    }

    @Test(
        "What a deferred transaction finds out after it has begun is told as an undetected change",
        .behaviour(104))
    func deferred() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inDatabase { db in try db.execute(sql: Change.schema) }
        let spy = ObserverSpy()
        spy.filter = { $0.tableName == "log" }
        queue.add(transactionObserver: spy)
        let sql = "INSERT INTO plain (x) VALUES (1)"
        try queue.write { db in try db.cachedStatement(sql: sql).execute() }
        try other.inDatabase { db in
            try db.execute(
                sql: "CREATE TRIGGER tr AFTER INSERT ON plain BEGIN INSERT INTO log (x) VALUES (NEW.x); END")
        }
        spy.removeAll()
        try queue.inTransaction(.deferred) { db in
            try db.cachedStatement(sql: sql).execute()
            try db.cachedStatement(sql: sql).execute()
            return .commit
        }
        #expect(spy.log == ["undetected", "insert log 2", "willCommit", "didCommit"])
    }

    @Test(
        "An observed deferred transaction still waits for the lock of a writer, as its first statement needs it",
        .behaviour(104)
    )
    func deferredWaits() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let (queue, other) = (try file.queue { $0.busyMode = .timeout(5) }, try file.queue())
        queue.add(transactionObserver: ObserverSpy(), extent: .databaseLifetime)
        try queue.inDatabase { db in
            let sql = "INSERT INTO player (name) VALUES (?)"
            try db.cachedStatement(sql: sql).execute(arguments: ["Arthur"])
            try db.execute(sql: "BEGIN")
            // A snapshot taken before this would be too old to be written to.
            try other.inDatabase { db in try db.insert("Barbara") }
            try db.cachedStatement(sql: sql).execute(arguments: ["Craig"])
            try db.execute(sql: "COMMIT")
        }
        #expect(try queue.names() == ["Arthur", "Barbara", "Craig"])
    }

    @Test(
        "The region of a request, of SQL and of a kept statement is that of the present schema",
        .behaviour(104),
        arguments: Who.allCases)
    func region(who: Who) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE b (x)")
            try db.execute(sql: "CREATE VIEW v AS SELECT a AS x FROM t; INSERT INTO t VALUES (1, 1)")
        }
        let sql = SQL("SELECT * FROM v")
        var statement: Statement?
        try queue.inDatabase { db in
            statement = try db.makeStatement(sql: "SELECT * FROM t")
            _ = try Row.fetchAll(db, sql: "SELECT * FROM t")
            #expect(try T.all().databaseRegion(db).description == "t(a,id)")
            #expect(try sql.databaseRegion(db).description == "t(a),v(x)")
            #expect(statement?.columnNames == ["id", "a"])
        }
        let change = "ALTER TABLE t ADD COLUMN b; DROP VIEW v; CREATE VIEW v AS SELECT x FROM b"
        func check(_ db: Database) throws {
            #expect(try T.all().databaseRegion(db).description == "t(a,b,id)")
            #expect(try statement?.databaseRegion(db).description == "t(a,b,id)")
            #expect(try sql.databaseRegion(db).description == "b(x),v(x)")
            #expect(statement?.columnNames == ["id", "a", "b"])
            #expect(statement?.columnCount == 3)
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
            #expect(cursor.columnNames == ["id", "a", "b"])
            #expect(try cursor.next() == ["id": 1, "a": 1, "b": nil])
            #expect(cursor.columnNames == ["id", "a", "b"])
        }
        switch who {
        case .this:
            try queue.inDatabase { db in try db.execute(sql: change) }
            try queue.inDatabase(check)
        case .sameTransaction:
            try queue.write { db in
                try db.execute(sql: change)
                try check(db)
            }
        case .other:
            try other.inDatabase { db in try db.execute(sql: change) }
            try queue.inDatabase(check)
        }
        statement = nil
    }

    @Test("A region of a generated column made by hand is modified by what the column is made of")
    func generated() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a, g AS (a + 1), s AS (a + 2) STORED);
                    CREATE TABLE u (id INTEGER PRIMARY KEY, a);
                    INSERT INTO t (a) VALUES (1);
                    """)
        }
        let recorder = Recorder<String>()
        let observations = ["g", "s", "id"].map { column in
            DatabaseRegionObservation(tracking: DatabaseRegion(table: "t", columns: [column])).start(
                in: queue, onError: { _ in }, onChange: { _ in recorder.record(column) })
        }
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy)
        try queue.write { db in try db.execute(sql: "UPDATE t SET a = 2") }
        #expect(recorder.elements == ["g", "s"])
        #expect(spy.questions == [.update(tableName: "t", columnNames: ["a", "g", "s"])])
        try queue.write { db in try db.execute(sql: "UPDATE u SET a = 2") }
        #expect(spy.questions.last == .update(tableName: "u", columnNames: ["a"]))
        for observation in observations { observation.cancel() }
    }
}
