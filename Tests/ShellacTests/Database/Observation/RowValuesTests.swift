import TestSupport
import Testing

@testable import Shellac

@Suite("The old and new values of rows, observed")
struct RowValuesTests {
    /// Keeps its notifications, with the values.
    final class Spy: TransactionObserver {
        private(set) var log: [String] = []
        private(set) var events: [DatabasePreUpdateEvent] = []
        var onWillChange: (() -> Void)?
        var wants: (DatabaseEventKind) -> Bool = { _ in true }

        func removeAll() -> [String] {
            defer { (log, events) = ([], []) }
            return log
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { wants(eventKind) }

        func databaseWillChange(with event: DatabasePreUpdateEvent) {
            func text(_ values: [DatabaseValue]?) -> String { values.map { "\($0)" } ?? "-" }
            log.append(
                "\(event.kind) \(event.tableName) \(text(event.initialDatabaseValues)) "
                    + "\(text(event.finalDatabaseValues))")
            events.append(event)
            onWillChange?()
        }

        func databaseDidChange(with event: DatabaseEvent) {
            log.append("\(event.kind) \(event.tableName) \(event.rowID)")
        }
        func databaseDidCommit(_ db: Database) { log.append("didCommit") }
        func databaseDidRollback(_ db: Database) { log.append("didRollback") }
    }

    private func makeQueue(
        _ sql: String = "CREATE TABLE t (id INTEGER PRIMARY KEY, v, u UNIQUE)",
        options: TransactionObservationOptions = [.rowValues]
    ) throws -> (DatabaseQueue, Spy) {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: sql) }
        let spy = Spy()
        try queue.add(transactionObserver: spy, options: options)
        return (queue, spy)
    }

    @Test(
        "Observers receive the old and the new values of each row, before the change is told", .behaviour(53))
    func values() throws {
        let (queue, spy) = try makeQueue()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 'a', NULL)")
            try db.execute(sql: "UPDATE t SET id = 2, v = 1.5")
            try db.execute(sql: "DELETE FROM t")
        }
        let events = spy.events
        #expect(
            spy.removeAll() == [
                "insert t - [1, 'a', NULL]", "insert t 1",
                "update t [1, 'a', NULL] [2, 1.5, NULL]", "update t 2",
                "delete t [2, 1.5, NULL] -", "delete t 2", "didCommit",
            ])
        #expect(events.map(\.initialRowID) == [nil, 1, 2])
        #expect(events.map(\.finalRowID) == [1, 2, nil])
        #expect(events[1].columnNames == ["id", "v", "u"])
        #expect(events[1].initialDatabaseValue(named: "V") == "a".databaseValue)
        #expect(events[1].finalDatabaseValue(named: "v") == 1.5.databaseValue)
        #expect(events[0].initialDatabaseValue(named: "v") == nil)
        #expect(events[2].finalDatabaseValue(named: "v") == nil)
        #expect(events[1].finalDatabaseValue(named: "missing") == nil)
        #expect(events[1].copy() == events[1])
        #expect(events[1].databaseName == "main")
    }

    @Test(
        "Values of what was undone are not told: by a statement, a savepoint, the transaction", .behaviour(53)
    )
    func undone() throws {
        let (queue, spy) = try makeQueue()
        try queue.inTransaction { db in
            expectError("UNIQUE constraint failed: t.u") {
                try db.execute(sql: "INSERT INTO t (u) VALUES (1), (2), (1)")
            }
            try db.execute(sql: "SAVEPOINT s; INSERT INTO t (v) VALUES (3)")
            #expect(spy.removeAll() == [])
            try db.execute(sql: "ROLLBACK TO s; INSERT INTO t (v) VALUES (4)")
            #expect(spy.removeAll() == [])
            try db.execute(sql: "RELEASE s")
            #expect(spy.removeAll() == ["insert t - [1, 4, NULL]", "insert t 1"])
            return .rollback
        }
        #expect(spy.removeAll() == ["didRollback"])
    }

    @Test(
        "Where SQLite lacks the hook, asking throws an error that names the option, and adds nobody",
        .behaviour(53))
    func missing() throws {
        let queue = try DatabaseQueue.withPlayers()
        for options in [[.rowValues], [.hiddenChanges], [.rowValues, .hiddenChanges]]
            as [TransactionObservationOptions]
        {
            let spy = Spy()
            Features.hiddenOptions.withValue(["ENABLE_PREUPDATE_HOOK"]) {
                let error = #expect(throws: DatabaseError.self) {
                    try queue.add(transactionObserver: spy, options: options)
                }
                #expect(error?.message?.contains("SQLITE_ENABLE_PREUPDATE_HOOK") == true)
                #expect(
                    error?.message?.contains(options.contains(.rowValues) ? "values" : "SQLite hides") == true
                )
            }
            try queue.write { db in try db.insert("Arthur \(options.rawValue)") }
            #expect(spy.removeAll() == [])
        }
        // Without options, nothing is needed.
        try Features.hiddenOptions.withValue(["ENABLE_PREUPDATE_HOOK"]) {
            let spy = Spy()
            try queue.add(transactionObserver: spy, options: [])
            try queue.write { db in try db.insert("Barbara") }
            #expect(spy.removeAll() == ["insert player 4", "didCommit"])
        }
    }

    @Test("A closed database cannot be observed with options", .behaviour(53))
    func closed() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.close()
        expectError("the database test is closed") {
            try queue.add(transactionObserver: Spy(), options: .rowValues)
        }
    }

    @Test(
        "Hidden changes are told to those alone who ask for them", .behaviour(53), arguments: [true, false])
    func hidden(isAsked: Bool) throws {
        let (queue, spy) = try makeQueue(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v, u UNIQUE);
            CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
            INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2);
            INSERT INTO w VALUES ('x', 1);
            """, options: isAsked ? [.hiddenChanges, .rowValues] : .rowValues)
        try queue.inDatabase { db in
            try db.execute(sql: "REPLACE INTO t VALUES (3, 'c', 1)")
            try db.execute(sql: "UPDATE OR REPLACE t SET u = 2 WHERE id = 3")
            try db.execute(sql: "INSERT INTO w VALUES ('y', 2)")
            try db.execute(sql: "UPDATE w SET k = 'z' WHERE k = 'x'")
            try db.execute(sql: "DELETE FROM w")
        }
        let told = spy.removeAll().filter { $0 != "didCommit" }
        let replacing = [
            "delete t [1, 'a', 1] -", "delete t 1", "insert t - [3, 'c', 1]", "insert t 3",
            "delete t [2, 'b', 2] -", "delete t 2", "update t [3, 'c', 1] [3, 'c', 2]", "update t 3",
        ]
        let withoutRowID = [
            "insert w - ['y', 2]", "insert w 0", "update w ['x', 1] ['z', 1]", "update w 0",
            "delete w ['y', 2] -", "delete w 0", "delete w ['z', 1] -", "delete w 0",
        ]
        #expect(
            told == (isAsked ? replacing + withoutRowID : replacing.filter { !$0.hasPrefix("delete") }))
    }

    @Test(
        "An observer of hidden changes is asked for deletions, and one that declines does not hear of them",
        .behaviour(53)
    )
    func hiddenKinds() throws {
        let (queue, spy) = try makeQueue(options: .hiddenChanges)
        nonisolated(unsafe) var asked: [DatabaseEventKind] = []
        spy.wants = { kind in
            asked.append(kind)
            if case .delete = kind { return false }
            return true
        }
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 1, 1)")
            try db.execute(sql: "REPLACE INTO t VALUES (1, 2, 2)")
        }
        #expect(asked.filter { $0 == .delete(tableName: "t") }.count == 2)
        #expect(spy.removeAll() == ["insert t 1", "didCommit", "insert t 1", "didCommit"])
    }

    @Test(
        "Whole numbers of REAL columns, generated columns, and columns added later have their values",
        .behaviour(53))
    func awkwardColumns() throws {
        let (queue, spy) = try makeQueue(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, g AS (r || 'g'), r REAL, s AS (r + 1) STORED, n);
            INSERT INTO t (r, n) VALUES (1, 2);
            ALTER TABLE t ADD COLUMN added REAL NOT NULL DEFAULT 7;
            ALTER TABLE t ADD COLUMN word TEXT NOT NULL DEFAULT 'x';
            CREATE TABLE w (k, g AS (v || 'g'), v INTEGER, r REAL, PRIMARY KEY (v, k)) WITHOUT ROWID;
            """, options: [.rowValues, .hiddenChanges])
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO t (r, n) VALUES (5, 6)")
            try db.execute(sql: "UPDATE t SET n = 3 WHERE id = 1")
            try db.execute(sql: "INSERT INTO w (k, v, r) VALUES ('a', 1, 2)")
            try db.execute(sql: "UPDATE w SET v = 2")
            return .commit
        }
        #expect(
            spy.removeAll() == [
                "insert t - [2, 5.0, 6.0, 6, 7.0, 'x']", "insert t 2",
                "update t [1, 1.0, 2.0, 2, 7.0, 'x'] [1, 1.0, 2.0, 3, 7.0, 'x']", "update t 1",
                "insert w - ['a', 1, 2.0]", "insert w 0",
                "update w ['a', 1, 2.0] ['a', 2, 2.0]", "update w 0", "didCommit",
            ])
    }

    @Test(
        "A column that SQLite cannot tell is an error that names it, and only for who wants values",
        .behaviour(53))
    func lostColumn() throws {
        let (queue, spy) = try makeQueue("CREATE TABLE t (g AS (v), v, id INTEGER PRIMARY KEY, n)")
        guard !PreUpdateFunctions.countsVirtualColumns else { return }
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t (v, n) VALUES (1, 2)")
            }
            #expect(error?.message?.contains("column n of table t") == true)
            db.remove(transactionObserver: spy)
            try db.execute(sql: "INSERT INTO t (v, n) VALUES (1, 2)")
        }
    }

    @Test("The schema may change between two runs of one statement", .behaviour(53))
    func schemaChange() throws {
        let (queue, spy) = try makeQueue("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try queue.write { db in
            let statement = try db.cachedStatement(sql: "INSERT INTO t (v) VALUES (1)")
            try statement.execute()
            try db.execute(sql: "ALTER TABLE t ADD COLUMN w DEFAULT 5")
            try statement.execute()
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN v TO x")
            try db.execute(sql: "INSERT INTO t (x) VALUES (1)")
        }
        #expect(spy.events.map(\.columnNames) == [["id", "v"], ["id", "v", "w"], ["id", "x", "w"]])
        #expect(spy.events.last?.finalDatabaseValue(named: "w") == 5.databaseValue)
    }

    @Test(
        "The old values of rows that are older than a column are its default, and a NULL is a NULL",
        .behaviour(53))
    func olderRows() throws {
        let (queue, spy) = try makeQueue("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
            for column in [
                "u DEFAULT 5", "i INTEGER DEFAULT '6'", "r REAL DEFAULT -7", "s TEXT DEFAULT 'it''s (8)'",
                "x DEFAULT x'09'", "n DEFAULT NULL", "d DATETIME", "k TEXT NOT NULL DEFAULT 'k'",
            ] { try db.execute(sql: "ALTER TABLE t ADD COLUMN \(column)") }
            try db.execute(
                sql: "UPDATE t SET u = NULL, i = NULL, r = NULL, s = NULL, x = NULL WHERE v = 'b'")
        }
        let row = try queue.read { db in try Row.fetchOne(db, sql: "SELECT * FROM t WHERE id = 1")?.copy() }
        #expect(spy.events.last?.initialDatabaseValues?.dropFirst(2) == row?.databaseValues.dropFirst(2))
        _ = spy.removeAll()
        try queue.write { db in
            try db.execute(sql: "UPDATE t SET v = 'changed'")
            try db.execute(sql: "DELETE FROM t")
        }
        for event in spy.events {
            let old = event.initialDatabaseValues?.dropFirst(2)
            if event.initialRowID == 2 {
                let null = DatabaseValue.null
                #expect(old == [null, null, null, null, null, null, null, "k".databaseValue])
            } else {
                #expect(old == row?.databaseValues.dropFirst(2))
            }
            if event.kind == .update { #expect(event.finalDatabaseValues?.dropFirst(2) == old) }
        }
        #expect(spy.events.count == 6)
    }

    @Test("The default of a column is not called for its old values", .behaviour(53))
    func calledDefaults() throws {
        let recorder = Recorder<String>()
        let (queue, spy) = try makeQueue("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("token", argumentCount: 0) { _ in
                    recorder.record("called")
                    return 1.databaseValue
                })
            try db.execute(
                sql:
                    "CREATE TABLE u (id INTEGER PRIMARY KEY, v, a DEFAULT (token()), b NOT NULL DEFAULT (token()))"
            )
            try db.execute(sql: "INSERT INTO u (v, a, b) VALUES (1, NULL, 2)")
            try db.execute(sql: "UPDATE u SET v = 2")
        }
        #expect(recorder.elements == [])
        #expect(
            spy.events.last?.initialDatabaseValues
                == [1.databaseValue, 1.databaseValue, .null, 2.databaseValue])
    }

    @Test("Tables of the same name in several databases are told apart", .behaviour(53))
    func schemas() throws {
        let (queue, spy) = try makeQueue("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH ':memory:' AS other; CREATE TABLE other.t (a, b)")
            try db.execute(sql: "CREATE TEMP TABLE t (c)")
            try db.execute(sql: "INSERT INTO main.t VALUES (1, 2)")
            try db.execute(sql: "INSERT INTO other.t VALUES (3, 4)")
            try db.execute(sql: "INSERT INTO temp.t VALUES (5)")
        }
        #expect(spy.events.map(\.databaseName) == ["main", "other", "temp"])
        #expect(spy.events.map(\.columnNames) == [["id", "v"], ["a", "b"], ["c"]])
    }

    @Test(
        "An observer that pauses or removes itself in databaseWillChange hears no more", .behaviour(53),
        arguments: [true, false])
    func leaving(isPaused: Bool) throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            spy.onWillChange = {
                if isPaused {
                    spy.stopObservingDatabaseChangesUntilNextTransaction()
                } else {
                    db.remove(transactionObserver: spy)
                }
            }
            try db.execute(sql: "INSERT INTO t (v) VALUES (1), (2)")
            #expect(
                spy.removeAll() == ["insert t - [1, 1, NULL]"] + (isPaused ? ["didCommit"] : []))
        }
    }

    @Test("Use of the database in databaseWillChange stops the program", .behaviour(52))
    func useTooEarly() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            crashWithoutBacktrace()
            let queue = try DatabaseQueue.withPlayers()
            let spy = RowValuesTests.Spy()
            try queue.add(transactionObserver: spy, options: .rowValues)
            try queue.inDatabase { db in
                spy.onWillChange = { _ = try? db.names() }
                try db.insert("Arthur")
            }
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains("used by an observer"))
    }

    @Test("The pre-update hook goes when nobody needs it", .behaviour(50))
    func hookGoes() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            func isInstalled() -> Bool {
                guard let functions = PreUpdateFunctions.found else { return false }
                // SQLite returns what was installed before.
                let context = functions.hook(db.pointer, nil, nil)
                return context != nil
            }
            spy.wants = { _ in true }
            try db.execute(sql: "INSERT INTO t (v) VALUES (1)")
            spy.wants = { _ in false }
            try db.execute(sql: "INSERT INTO t (v) VALUES (2)")
            #expect(!isInstalled())
            spy.wants = { _ in true }
            try db.execute(sql: "INSERT INTO t (v) VALUES (3)")
            #expect(isInstalled())
        }
    }
}
