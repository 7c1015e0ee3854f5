import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Stamp triggers")
struct StampTriggersTests {
    // MARK: - 36

    @Test(
        "stamp() is the transaction date in the storage format, also for a statement outside of a transaction, and NULL while suspended",
        .behaviour(36)
    )
    func stampFunction() throws {
        let memos = try MemoDatabase()
        try memos.queue.write { db in
            #expect(try String.fetchOne(db, sql: "SELECT stamp()") == minute(0))
            memos.clock.advance()
            #expect(try String.fetchOne(db, sql: "SELECT stamp()") == minute(0))
            try #expect(db.transactionDate == memos.clock.date(0))
            let suspended = try db.withoutStamps {
                try db.withoutStamps {}
                return try DatabaseValue.fetchOne(db, sql: "SELECT stamp()")
            }
            #expect(suspended == nil || suspended == .null)
            #expect(try String.fetchOne(db, sql: "SELECT stamp()") == minute(0))
        }
        try memos.queue.inDatabase { db in
            // One date for all rows and triggers of a statement, though the clock moves on.
            try db.add(
                function: DatabaseFunction("advance", argumentCount: 0) { _ in
                    memos.clock.advance()
                    return 1
                })
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a'), ('b'), ('c')")
            try db.execute(sql: "UPDATE memo SET score = advance()")
            #expect(try String.fetchAll(db, sql: "SELECT DISTINCT updatedAt FROM memo").count == 1)
            #expect(try String.fetchAll(db, sql: "SELECT DISTINCT createdAt FROM memo") == [minute(1)])
            try db.execute(sql: "UPDATE memo SET score = 0")
            #expect(try db.memoStamps() == "1 4 -")
        }
    }

    @Test(
        "A clock whose date cannot be stored fails the statement, with that error", .behaviour(36),
        arguments: RecordStyle.allCases)
    func clockThatThrows(style: RecordStyle) throws { try clockThatThrows(style.memo) }

    private func clockThatThrows<Memo: MemoRecord>(_: Memo.Type) throws {
        var configuration = Configuration()
        let isStopped = Shared(false)
        configuration.transactionClock = .custom { _ in
            if isStopped.value { throw TestError(1) }
            return Date(timeIntervalSince1970: 0)
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.execute(sql: memoTable) }
        try queue.register(Memo.self)
        isStopped.withLock { $0 = true }
        try queue.inDatabase { db in
            #expect(throws: TestError(1)) { try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')") }
            #expect(throws: TestError(1)) { try Memo("b").insert(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM memo") == 0)
            try db.withoutStamps { try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')") }
        }
    }

    // MARK: - 37

    @Test("The triggers are temporary, on main's table, with guards that end: their text", .behaviour(37))
    func text() throws {
        let memos = try MemoDatabase()
        try memos.queue.read { db in
            let sql = try String.fetchAll(db, sql: "SELECT sql FROM temp.sqlite_master ORDER BY name")
            #expect(
                sql == [
                    """
                    CREATE TRIGGER "shellac stamps memo insert" AFTER INSERT ON main."memo" FOR EACH ROW \
                    WHEN (NEW."createdAt" IS NULL OR NEW."updatedAt" IS NULL) AND stamp() IS NOT NULL \
                    BEGIN UPDATE "memo" SET "createdAt" = coalesce("createdAt", stamp()), \
                    "updatedAt" = coalesce("updatedAt", stamp()) WHERE "id" = NEW."id"; END
                    """,
                    """
                    CREATE TRIGGER "shellac stamps memo update" AFTER UPDATE ON main."memo" FOR EACH ROW \
                    WHEN NEW."updatedAt" IS OLD."updatedAt" AND NEW."createdAt" IS OLD."createdAt" \
                    AND NEW."updatedAt" IS NOT stamp() AND stamp() IS NOT NULL \
                    BEGIN UPDATE "memo" SET "updatedAt" = stamp() WHERE "id" = NEW."id"; END
                    """,
                    """
                    CREATE TRIGGER "shellac stamps memo update of titleChangedAt" AFTER UPDATE OF "title" \
                    ON main."memo" FOR EACH ROW \
                    WHEN (NEW."title" COLLATE BINARY IS NOT OLD."title") \
                    AND NEW."titleChangedAt" IS OLD."titleChangedAt" \
                    AND NEW."titleChangedAt" IS NOT stamp() AND stamp() IS NOT NULL \
                    BEGIN UPDATE "memo" SET "titleChangedAt" = stamp() WHERE "id" = NEW."id"; END
                    """,
                ])
            #expect(
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM main.sqlite_master WHERE type = 'trigger'")
                    == 0)
        }
    }

    @Test(
        "Raw SQL is stamped: insertions, updates, a second update in the transaction, upserts, REPLACE",
        .behaviour(37))
    func rawSQL() throws {
        let memos = try MemoDatabase()
        try memos.queue.write { db in
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a'), ('b')")
            #expect(try db.memoStamps(1) == "0 0 -")
            #expect(try db.memoStamps(2) == "0 0 -")
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET score = 1")
            try db.execute(sql: "UPDATE memo SET score = 2")  // recursed forever, with a simpler guard
            #expect(try db.memoStamps(1) == "0 1 -")
            #expect(try db.memoStamps(2) == "0 1 -")
        }
        try memos.later { db in
            // Another text, for all but the collation.
            try db.execute(sql: "UPDATE memo SET title = 'A' WHERE id = 1")
            try db.execute(sql: "UPDATE memo SET title = title WHERE id = 2")
            #expect(try db.memoStamps(1) == "0 2 2")
            #expect(try db.memoStamps(2) == "0 2 -")
        }
        try memos.later { db in
            try db.execute(
                sql: "INSERT INTO memo (id, title) VALUES (1, 'c') ON CONFLICT DO UPDATE SET score = 5")
            #expect(try db.memoStamps(1) == "0 3 2")
            try db.execute(sql: "REPLACE INTO memo (id, title) VALUES (2, 'c')")
            #expect(try db.memoStamps(2) == "3 3 -")
        }
    }

    @Test("An explicit value wins over each stamp", .behaviour(37))
    func explicit() throws {
        let memos = try MemoDatabase()
        try memos.queue.write { db in
            try db.execute(
                sql: "INSERT INTO memo (title, createdAt) VALUES ('a', ?), ('b', NULL)",
                arguments: [minute(7)])
            #expect(try db.memoStamps(1) == "7 0 -")
            try db.execute(
                sql: "INSERT INTO memo (title, updatedAt) VALUES ('c', ?)", arguments: [minute(8)])
            #expect(try db.memoStamps(3) == "0 8 -")
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET updatedAt = ? WHERE id = 1", arguments: [minute(9)])
            #expect(try db.memoStamps(1) == "7 9 -")
            try db.execute(sql: "UPDATE memo SET updatedAt = NULL WHERE id = 1")
            #expect(try db.memoStamps(1) == "7 - -")
            try db.execute(
                sql: "UPDATE memo SET title = 'x', titleChangedAt = ? WHERE id = 2", arguments: [minute(6)])
            #expect(try db.memoStamps(2) == "0 1 6")
            try db.execute(sql: "UPDATE memo SET createdAt = ? WHERE id = 3", arguments: [minute(5)])
            #expect(try db.memoStamps(3) == "5 8 -")
        }
    }

    /// Tables of all kinds of keys.
    static let tables = [
        "CREATE TABLE thing (id INTEGER PRIMARY KEY, a TEXT, b TEXT, value, c, u)",
        "CREATE TABLE thing (a TEXT, b TEXT, value, c, u)",
        "CREATE TABLE thing (a TEXT, b TEXT, value, c, u, PRIMARY KEY (b, a))",
        "CREATE TABLE thing (a TEXT, b TEXT COLLATE NOCASE, value, c, u, PRIMARY KEY (b, a)) WITHOUT ROWID",
        "CREATE TABLE thing (a TEXT, rowid TEXT, b TEXT, value, c, u)",
        "CREATE TABLE thing (a TEXT PRIMARY KEY, b TEXT, value TEXT, c TEXT, u TEXT) STRICT",
    ]

    @Test(
        "By row id or key, in tables of every kind, with recursive triggers and without", .behaviour(37),
        arguments: tables, [true, false])
    func keys(sql: String, isRecursive: Bool) throws {
        let memos = try MemoDatabase(registers: false, sql)
        try memos.queue.inDatabase { db in
            try db.execute(sql: "PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")")
            try db.register(DatabaseStamps(created: "c", updated: "u"), on: "THING")
        }
        func stamps(_ db: Database) throws -> [String] {
            try Row.fetchAll(db, sql: "SELECT c, u FROM thing ORDER BY a, b")
                .map { $0.databaseValues.map(short).joined(separator: " ") }
        }
        try memos.queue.write { db in
            try db.execute(sql: "INSERT INTO thing (a, b) VALUES ('1', 'x'), ('2', 'y')")
            #expect(try stamps(db) == ["0 0", "0 0"])
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE thing SET value = 1 WHERE a = '1'")
            try db.execute(sql: "UPDATE thing SET value = 2 WHERE a = '1'")
            #expect(try stamps(db) == ["0 1", "0 0"])
        }
        try memos.later { db in
            // The key itself may change.
            try db.execute(sql: "UPDATE thing SET a = '3', b = 'Z' WHERE a = '1'")
            #expect(try stamps(db) == ["0 0", "0 2"])
        }
    }

    @Test("One stamp alone: only created, only updated, only a group of columns", .behaviour(37))
    func oneStamp() throws {
        let memos = try MemoDatabase(registers: false)
        for (stamps, expected) in [
            (DatabaseStamps(created: "createdAt"), ["0 - -", "0 - -"]),
            (DatabaseStamps(updated: "updatedAt"), ["- 0 -", "- 1 -"]),
            (DatabaseStamps().stamping("titleChangedAt", onUpdateOf: "score", "title"), ["- - -", "- - 1"]),
        ] {
            let queue = memos.queue
            try queue.register(stamps, on: "memo")
            try queue.inTransaction { db in
                try db.execute(sql: "DELETE FROM memo; INSERT INTO memo (title) VALUES ('a')")
                let zero = try db.memoStamps()
                #expect(zero == expected[0].replacing("0", with: short(try db.transactionDate.databaseValue)))
                return .commit
            }
            memos.clock.advance()
            try queue.inTransaction { db in
                try db.execute(sql: "UPDATE memo SET title = 'b'")
                let now = short(try db.transactionDate.databaseValue)
                let last = try db.memoStamps()
                #expect(last.contains(now) == expected[1].contains("1"))
                return .rollback
            }
        }
        // Stamps without columns end it.
        try memos.queue.register(DatabaseStamps(), on: "memo")
        #expect(
            try memos.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM temp.sqlite_master") } == 0
        )
    }

    @Test("Cascades are stamped, and so is what other triggers write", .behaviour(37))
    func cascades() throws {
        let memos = try MemoDatabase(
            registers: false,
            """
            CREATE TABLE list (id INTEGER PRIMARY KEY);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list REFERENCES list ON DELETE SET NULL, u TEXT);
            CREATE TABLE log (id INTEGER PRIMARY KEY, c TEXT);
            CREATE TRIGGER t AFTER UPDATE OF list ON item BEGIN INSERT INTO log VALUES (NULL, NULL); END;
            INSERT INTO list VALUES (1);
            INSERT INTO item VALUES (1, 1, NULL);
            """)
        try memos.queue.register(DatabaseStamps(updated: "u"), on: "item")
        try memos.queue.register(DatabaseStamps(created: "c"), on: "log")
        try memos.later { db in
            try db.execute(sql: "DELETE FROM list")
            #expect(try String.fetchOne(db, sql: "SELECT u FROM item") == minute(1))
            #expect(try String.fetchAll(db, sql: "SELECT c FROM log") == [minute(1)])
        }
    }

    @Test("Suspended for one scope, on one connection", .behaviour(37))
    func suspended() throws {
        let file = try TemporaryDatabase()
        let memos = try MemoDatabase(path: file.path)
        let other = try DatabaseQueue(path: file.path, configuration: memos.clock.configuration())
        try other.register(Memo.self)
        struct Stop: Error {}
        try memos.queue.inDatabase { db in
            try db.withoutStamps {
                try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
                try other.inDatabase { try $0.execute(sql: "INSERT INTO memo (title) VALUES ('b')") }
                try db.execute(sql: "UPDATE memo SET score = 1 WHERE id = 1")
            }
            #expect(throws: Stop.self) { try db.withoutStamps { throw Stop() } }
            #expect(try db.memoStamps(1) == "- - -")
            #expect(try db.memoStamps(2) == "0 0 -")
            try db.execute(sql: "UPDATE memo SET score = 2 WHERE id = 1")
            #expect(try db.memoStamps(1) == "- 0 -")
        }
    }

    // MARK: - What is refused

    @Test(
        "Views, virtual tables and what cannot be stamped are refused with a sentence, and change nothing",
        .behaviour(37)
    )
    func refused() throws {
        let memos = try MemoDatabase(
            registers: false,
            """
            \(memoTable);
            CREATE VIEW glance AS SELECT * FROM memo;
            CREATE VIRTUAL TABLE search USING fts5(body, updatedAt);
            CREATE TABLE odd (rowid, oid, _rowid_, updatedAt);
            CREATE TABLE computed (a, updatedAt AS (a + 1));
            CREATE TABLE keyed (updatedAt PRIMARY KEY);
            CREATE TABLE hidden (updatedAt);
            CREATE TEMP TABLE hidden (updatedAt);
            """)
        for (table, stamps, message) in [
            ("glance", DatabaseStamps(updated: "updatedAt"), "it is a view"),
            ("search", DatabaseStamps(updated: "updatedAt"), "it is a virtual table"),
            ("odd", DatabaseStamps(updated: "updatedAt"), "neither a primary key nor a row id"),
            ("computed", DatabaseStamps(updated: "updatedAt"), "its column updatedAt is generated"),
            ("keyed", DatabaseStamps(updated: "updatedAt"), "its column updatedAt is in the primary key"),
            ("hidden", DatabaseStamps(updated: "updatedAt"), "a temporary table hides it"),
            ("memo", DatabaseStamps(updated: "nope"), "it has no column nope"),
            ("memo", DatabaseStamps().stamping("updatedAt", onUpdateOf: "nope"), "it has no column nope"),
            ("nobody", DatabaseStamps(updated: "updatedAt"), "no such table"),
            ("sqlite_schema", DatabaseStamps(updated: "name"), "sqlite_schema"),
        ] {
            let error = databaseError { try memos.queue.register(stamps, on: table) }
            #expect(error?.message?.contains(message) == true, "\(table): \(error as Any)")
        }
        try memos.queue.inDatabase { db in
            #expect(
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master WHERE type = 'trigger'")
                    == 0)
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try db.memoStamps() == "- - -")
        }
    }

    @Test(
        "A stamp that is NOT NULL and has no default is told of by register, and raw insertions must give it",
        arguments: RecordStyle.allCases)
    func notNull(style: RecordStyle) async throws {
        await #expect(processExitsWith: .success) { [style = style as RecordStyle] in
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let memos = try MemoDatabase(
                registers: false,
                """
                CREATE TABLE memo (id INTEGER PRIMARY KEY, title, score, createdAt TEXT NOT NULL,
                    updatedAt TEXT NOT NULL DEFAULT '', titleChangedAt TEXT)
                """)
            try memos.queue.register(style.memo)
            #expect(log.elements.count == 1)
            #expect(log.elements.first?.contains("NOT NULL without a default value: createdAt.") == true)
            #expect(log.elements.first?.contains("NOT NULL DEFAULT CURRENT_TIMESTAMP") == true)
            try memos.queue.write { db in
                let error = databaseError { try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')") }
                #expect(error?.resultCode == .SQLITE_CONSTRAINT)
                let memo = style.memo.init("a")
                try memo.insert(db)
                #expect(memo.stamps == "0 0 -")
                #expect(try db.memoStamps() == "0 0 -")
            }
        }
    }

    @Test("A type without stamps that is registered stops the program, with a sentence")
    func nothingToRegister() async throws {
        final class Plain: Record { override class var databaseTableName: String { "memo" } }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            final class Plain: Record { override class var databaseTableName: String { "memo" } }
            try DatabaseQueue().register(Plain.self)
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("Plain has no stamps to register. Declare them in `databaseStamps`"))
    }
}
