import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Rows that cannot matter run nothing", .behaviour(76))
struct RowConditionTests {
    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, score INTEGER, team INTEGER, note,
            double INTEGER AS (score * 2) STORED, triple INTEGER AS (score * 3));
        CREATE TABLE u (id INTEGER PRIMARY KEY, a);
        INSERT INTO t (id, name, score, team) VALUES (1, 'a', 10, 1), (2, 'b', 20, 2), (3, 'c', 30, 3);
        """
    private static let t = Table<Row>("t")

    @Test("nor rows that satisfy the condition neither before nor after a change")
    func rows() async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(Self.t.filter(Column("score") > 15).order(Column("id")))
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (5)") == 0)
        try #expect(await watched.fetches(after: "UPDATE t SET score = 6 WHERE score < 10") == 0)
        try #expect(await watched.fetches(after: "DELETE FROM t WHERE id = 1") == 0)
        try #expect(await watched.fetches(after: "UPDATE t SET name = name, score = score") == 0)
        try #expect(await watched.fetches(after: "UPDATE t SET score = 40 WHERE id = 3", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET score = 1 WHERE id = 3", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET score = 16 WHERE id = 3", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "DELETE FROM t WHERE id = 3", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "REPLACE INTO t (id, score) VALUES (2, 3)", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "DELETE FROM t") == 0)
        try await waitFor(0) { watched.deliveries.elements.last?.count ?? -1 }
    }

    @Test("nor other values of a column that is looked up")
    func lookups() async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(Self.t.filter(Column("team") == 2).select(Column("name")))
        try #expect(await watched.fetches(after: "UPDATE t SET name = 'x' WHERE team = 1") == 0)
        try #expect(
            await watched.fetches(after: "INSERT INTO t (team) VALUES (7), ('2x'), (NULL), (2.5)") == 0)
        try #expect(await watched.fetches(after: "UPDATE t SET score = 5 WHERE team = 2") == 0)
        try #expect(
            await watched.fetches(after: "INSERT INTO t (team, name) VALUES ('2', 'z')", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET team = 2.0 WHERE id = 1", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET team = 9 WHERE id = 1", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET id = id + 100", atLeast: 1) == 1)
        try await waitFor(2) { watched.deliveries.elements.last?.count ?? 0 }
    }

    @Test(
        "also with an order, a limit, groups and aggregates, and by SQLite's own rules",
        arguments: [
            "limit", "aggregate", "group", "nocase", "generated", "virtual", "glob", "text", "in", "json",
            "null", "or",
        ])
    func requests(_ name: String) async throws {
        let watched = try WatchedRequest(Self.schema)
        let t = Self.t
        let (request, idle, live): (QueryInterfaceRequest<Row>, String, String)
        switch name {
        case "limit":
            (request, idle, live) = (
                t.filter(Column("score") >= 20).order(Column("score").desc).limit(1),
                "INSERT INTO t (score) VALUES (19)", "INSERT INTO t (score) VALUES (50)"
            )
        case "aggregate":
            (request, idle, live) = (
                t.filter(Column("score") >= 20).select(max(Column("score"))),
                "INSERT INTO t (score) VALUES (19)",
                "INSERT INTO t (score) VALUES (50)"
            )
        case "group":
            (request, idle, live) = (
                t.filter(Column("score") >= 20).select(Column("team"), count(Column("id"))).group(
                    Column("team")),
                "INSERT INTO t (score) VALUES (19)", "INSERT INTO t (score, team) VALUES (50, 2)"
            )
        case "nocase":
            (request, idle, live) = (
                t.filter(Column("name") == "B"), "INSERT INTO t (name) VALUES ('ba')",
                "INSERT INTO t (name) VALUES ('b')"
            )
        case "generated":
            (request, idle, live) = (
                t.filter(Column("double") > 50), "UPDATE t SET score = 11 WHERE id = 1",
                "UPDATE t SET score = 26 WHERE id = 1"
            )
        case "virtual":
            (request, idle, live) = (
                t.filter(Column("triple") == 90), "UPDATE t SET score = 11 WHERE id = 1",
                "UPDATE t SET score = 30 WHERE id = 1"
            )
        case "glob":
            (request, idle, live) = (
                t.filter(SQL("name GLOB 'a*' AND length(name) > 1").sqlExpression),
                "INSERT INTO t (name) VALUES ('A1')",
                "INSERT INTO t (name) VALUES ('a1')"
            )
        case "text":
            (request, idle, live) = (
                t.filter(Column("score") > "9"), "INSERT INTO t (score) VALUES ('8')",
                "INSERT INTO t (score) VALUES ('100')"
            )
        case "in":
            (request, idle, live) = (
                t.filter([1, 3].contains(Column("team"))), "DELETE FROM t WHERE team = 2",
                "DELETE FROM t WHERE team = 3"
            )
        case "json":
            (request, idle, live) = (
                t.filter(SQL("json_extract(note, '$.a') > 1").sqlExpression),
                "INSERT INTO t (note) VALUES ('{\"a\":1}')", "INSERT INTO t (note) VALUES ('{\"a\":2}')"
            )
        case "null":
            (request, idle, live) = (
                t.filter(Column("team") == nil), "INSERT INTO t (team) VALUES (4)",
                "INSERT INTO t (team) VALUES (NULL)"
            )
        default:
            (request, idle, live) = (
                t.filter(Column("team") == 1 || Column("score") == 30), "INSERT INTO t (team) VALUES (4)",
                "INSERT INTO t (score) VALUES (30)"
            )
        }
        try await watched.follow(request)
        try #expect(await watched.fetches(after: idle) == 0)
        try #expect(await watched.fetches(after: live, atLeast: 1) == 1)
        try await waitFor(2) { watched.deliveries.elements.count }
    }

    @Test(
        "where it cannot be known, the request is fetched",
        arguments: [
            "random() IS NOT NULL AND score > 15", "note < datetime('now') OR score > 15",
            "score > (SELECT AVG(score) FROM t)", "score > 15 AND EXISTS (SELECT 1 FROM u)", "name LIKE 'b%'",
            "impure(score) > 15", "CURRENT_TIMESTAMP IS NULL", "id IN u", "rowid IN (VALUES (2))",
        ])
    func unknown(_ condition: String) async throws {
        let watched = try WatchedRequest(
            Self.schema.replacing(
                "CREATE TABLE u (id INTEGER PRIMARY KEY, a)", with: "CREATE TABLE u (id INTEGER PRIMARY KEY)")
        ) { db in
            try db.add(function: DatabaseFunction("impure", argumentCount: 1) { $0[0] })
        }
        try await watched.follow(Self.t.filter(SQL(stringLiteral: condition).sqlExpression))
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (5)", atLeast: 1) >= 1)
    }

    @Test("values that are equal by a collation of the program are looked up by SQLite")
    func addedCollation() async throws {
        let watched = try WatchedRequest(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE swiftCaseInsensitiveCompare)",
            setUp: { db in try db.add(collation: .caseInsensitiveCompare) })
        try await watched.follow(Self.t.filter(Column("name") == "a"))
        try #expect(await watched.fetches(after: "INSERT INTO t (name) VALUES ('A')", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET name = 'b'", atLeast: 1) == 1)
        try await waitFor(0) { watched.deliveries.elements.last?.count ?? -1 }
    }

    @Test("functions declared pure are known, as long as they are")
    func functions() async throws {
        let watched = try WatchedRequest(Self.schema) { db in
            try db.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    (Int.fromDatabaseValue(values[0]) ?? 0) * 2
                })
        }
        try await watched.follow(Self.t.filter(SQL("twice(score) > 30").sqlExpression))
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (5)") == 0)
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (16)", atLeast: 1) == 1)
        // Another function of the name changes what the request means.
        try await watched.queue.writeWithoutTransaction { db in
            try db.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    (Int.fromDatabaseValue(values[0]) ?? 0) * 10
                })
        }
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (4)", atLeast: 1) >= 1)
        try await waitFor(6) { watched.deliveries.elements.last?.count ?? 0 }
    }

    @Test(
        "views, attached and temporary tables, WITHOUT ROWID tables and subqueries in the selection are fetched"
    )
    func otherTables() async throws {
        for (schema, write) in [
            (
                "CREATE TABLE b (id INTEGER PRIMARY KEY, score); CREATE VIEW t AS SELECT * FROM b",
                "INSERT INTO b (score) VALUES (5)"
            ),
            ("CREATE TEMP TABLE t (id INTEGER PRIMARY KEY, score)", "INSERT INTO t (score) VALUES (5)"),
            (
                "ATTACH ':memory:' AS x; CREATE TABLE x.t (id INTEGER PRIMARY KEY, score)",
                "INSERT INTO t (score) VALUES (5)"
            ),
            ("CREATE TABLE t (id PRIMARY KEY, score) WITHOUT ROWID", "INSERT INTO t VALUES (1, 5)"),
        ] {
            let watched = try WatchedRequest(schema)
            try await watched.follow(Self.t.filter(Column("score") > 15))
            try #expect(await watched.fetches(after: write, atLeast: 1) == 1, "\(schema)")
        }
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(
            Self.t.filter(Column("score") > 15).annotated(with: SQL("(SELECT COUNT(*) FROM t)").sqlExpression)
        )
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (5)", atLeast: 1) == 1)
        try await waitFor(2) { watched.deliveries.elements.count }
    }

    @Test("rows older than a column have its default, and what they had counts")
    func olderRows() async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.queue.run("ALTER TABLE t ADD COLUMN late INTEGER DEFAULT 5")
        try await watched.follow(Self.t.filter(Column("late") == 5).select(Column("id")))
        try #expect(await watched.fetches(after: "UPDATE t SET late = 6 WHERE id = 1", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET late = 7 WHERE id = 1") == 0)
        try #expect(await watched.fetches(after: "DELETE FROM t WHERE id = 2", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "INSERT INTO t (late) VALUES (NULL)") == 0)
        try await waitFor(1) { watched.deliveries.elements.last?.count ?? 0 }
    }

    @Test(
        "a row that moves is tested with the row id that it has then", arguments: ["score > 5", "rowid > 5"])
    func movedRows(_ condition: String) async throws {
        let watched = try WatchedRequest("CREATE TABLE t (score); INSERT INTO t VALUES (1), (2)")
        try await watched.follow(Self.t.filter(SQL(stringLiteral: condition).sqlExpression))
        try #expect(await watched.fetches(after: "UPDATE t SET rowid = 3 WHERE score = 1") == 0)
        guard condition == "rowid > 5" else { return }
        // The values are the same before and after.
        try #expect(await watched.fetches(after: "UPDATE t SET rowid = 7 WHERE score = 2", atLeast: 1) == 1)
        try #expect(await watched.fetches(after: "UPDATE t SET rowid = 4 WHERE score = 2", atLeast: 1) == 1)
        try await waitFor([[], [[2.databaseValue]], []]) { watched.deliveries.elements }
    }

    @Test("a text that is no UTF-8 is not tested by what it reads as")
    func invalidTexts() async throws {
        let watched = try WatchedRequest("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
        try await watched.follow(Self.t.filter(SQL("hex(a) = 'FF'").sqlExpression))
        try #expect(await watched.fetches(after: "INSERT INTO t (a) VALUES ('x')") == 0)
        try #expect(
            await watched.fetches(after: "INSERT INTO t (a) VALUES (CAST(x'ff' AS TEXT))", atLeast: 1) == 1)
        try await waitFor(1) { watched.deliveries.elements.last?.count ?? 0 }
    }

    @Test("columns that statements of one transaction change one after the other are all seen")
    func columnsInTurn() async throws {
        let watched = try WatchedRequest(Self.schema)
        let seen = Recorder<String>()
        // (Functions know columns alone.)
        let tasks = ["name", "note"].map { column in
            Task {
                let values = watched.queue.values(tracking: { db in
                    try String?.fetchAll(db, sql: "SELECT \(column) FROM t")
                })
                for try await _ in values { seen.record(column) }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await waitUntil { seen.elements.count == 2 }
        try await watched.queue.run(
            "UPDATE t SET name = 'x' WHERE id = 1; UPDATE t SET note = 'x' WHERE id = 1")
        try await waitFor(["name", "name", "note", "note"]) { seen.elements.sorted() }
    }

    @Test(
        "cascades, triggers and rows in UTF-16 files are tested as others",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func cascades(_ encoding: String) async throws {
        let watched = try WatchedRequest(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE t (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) ON DELETE CASCADE, name TEXT CHECK (name <> ''));
            CREATE TRIGGER r AFTER UPDATE OF id ON p BEGIN UPDATE t SET name = 'y' WHERE p IS NULL; END;
            INSERT INTO p VALUES (1), (2);
            INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'ä'), (3, NULL, 'z');
            """, encoding: encoding)
        try await watched.follow(Self.t.filter(Column("name") > "y"))
        try #expect(await watched.fetches(after: "DELETE FROM p WHERE id = 1") == 0)
        try #expect(await watched.fetches(after: "DELETE FROM p WHERE id = 2", atLeast: 1) == 1)
        try await watched.queue.run("INSERT INTO p VALUES (5)")
        try #expect(await watched.fetches(after: "UPDATE p SET id = 6 WHERE id = 5", atLeast: 1) == 1)
        try await waitFor(0) { watched.deliveries.elements.last?.count ?? -1 }
    }

    @Test("what is undone runs nothing, and tests are bounded in a large transaction")
    func bounds() async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(Self.t.filter(Column("score") > 1_000_000))
        try #expect(
            await watched.fetches(
                after: "SAVEPOINT s; UPDATE t SET score = 2000000; ROLLBACK TO s; RELEASE s") == 0)
        try? await watched.queue.run("INSERT INTO t (id, score) VALUES (50, 2000000), (1, 3000000)")
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (1)") == 0)
        let many =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %) INSERT INTO t (score) SELECT i FROM n"
        try #expect(
            await watched.fetches(after: many.replacing("%", with: "\(LiveQueries.maximumTests)")) == 0)
        try #expect(
            await watched.fetches(
                after: many.replacing("%", with: "\(LiveQueries.maximumTests + 1)"), atLeast: 1) == 1)
        try #expect(await watched.fetches(after: many.replacing("%", with: "100000"), atLeast: 1) == 1)
        try #expect(
            await watched.fetches(
                after: "INSERT INTO t (note, score) VALUES (zeroblob(2000000), 1)", atLeast: 1) == 1)
        try await waitFor(1) { watched.deliveries.elements.count }
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (1)") == 0)
    }

    @Test("a row that comes behind those that are held for tests concerns each request of its table")
    func rowsBehind() async throws {
        let watched = try WatchedRequest(Self.schema)
        let seen = Recorder<Int>()
        // Each of them alone has fewer rows to test than it may.
        let teams = 1...(LiveQueries.maximumRows / (LiveQueries.maximumTests - 10) + 1)
        let tasks = teams.map { team in
            Task {
                let request = Self.t.filter(Column("team") == team && Column("score") > 1_000)
                for try await rows in watched.queue.values(of: request) where !rows.isEmpty {
                    seen.record(team)
                }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await waitUntil { watched.spy.sql.filter { $0.contains("\"score\" > ?") }.count >= teams.count }
        try await watched.queue.settle()
        try await watched.queue.write { db in
            for row in 0..<(LiveQueries.maximumTests - 10) * teams.count {
                try db.execute(
                    sql: "INSERT INTO t (team, score) VALUES (?, 0)", arguments: [row % teams.count + 1])
            }
            try db.execute(sql: "INSERT INTO t (team, score) VALUES (3, 2000)")
        }
        try await waitFor([3]) { seen.elements }
    }

    @Test(
        "a change of the schema, and VACUUM, concern each observation",
        arguments: ["VACUUM", "CREATE TABLE v (a)", "CREATE INDEX i ON t(score)", "ATTACH ':memory:' AS y"])
    func schemaChanges(_ sql: String) async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(Self.t.filter(Column("score") > 1_000_000))
        watched.spy.removeAll()
        try await watched.queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try await watched.queue.settle()
        #expect(watched.spy.sql.contains { $0.contains("FROM \"t\"") }, "\(sql)")
        try #expect(await watched.fetches(after: "INSERT INTO t (score) VALUES (1)") == 0)
    }

    @Test("what notifyChanges tells is fetched, of the tables that it names")
    func notified() async throws {
        let watched = try WatchedRequest(Self.schema)
        try await watched.follow(Self.t.filter(Column("score") > 15))
        func notify(_ table: String) async throws -> Int {
            watched.spy.removeAll()
            try await watched.queue.write { db in try db.notifyChanges(in: DatabaseRegion(table: table)) }
            try await watched.queue.settle()
            return watched.spy.sql.filter { $0.hasPrefix("SELECT * FROM \"t\"") }.count
        }
        try #expect(await notify("t") == 1)
        try #expect(await notify("u") == 0)
    }

    @Test("columns that the hook cannot tell are fetched, and the statement that writes them does not fail")
    func lostColumns() async throws {
        let watched = try WatchedRequest("CREATE TABLE t (a AS (1), id INTEGER PRIMARY KEY, score INTEGER)")
        try await watched.follow(Self.t.filter(Column("score") > 15))
        try await watched.queue.run("INSERT INTO t (score) VALUES (20)")
        try await waitFor([0, 1]) { watched.deliveries.elements.map(\.count) }
    }

    @Test("without the pre-update hook, tables and columns alone are told apart")
    func withoutHook() async throws {
        try await Features.hiddenOptions.withValue(["ENABLE_PREUPDATE_HOOK"]) {
            let watched = try WatchedRequest(Self.schema)
            try await watched.follow(Self.t.filter(Column("score") > 15).select(Column("score")))
            try #expect(await watched.fetches(after: "UPDATE t SET name = 'x'") == 0)
            try #expect(await watched.fetches(after: "UPDATE t SET score = score + 1", atLeast: 1) == 1)
            try await watched.queue.run("INSERT INTO t (score) VALUES (50)")
            try await waitFor(3) { watched.deliveries.elements.last?.count ?? 0 }
        }
    }

    @Test("changes of virtual tables are seen, where they are made by SQL")
    func virtualTables() async throws {
        let queue = try DatabaseQueue()
        try await queue.run("CREATE VIRTUAL TABLE s USING fts5(text); INSERT INTO s VALUES ('a b')")
        var values = queue.values(of: SQLRequest<String>(sql: "SELECT text FROM s WHERE s MATCH 'b'"))
            .makeAsyncIterator()
        try #expect(await values.next() == ["a b"])
        try await queue.run("INSERT INTO s VALUES ('b')")
        try #expect(await values.next() == ["a b", "b"])
        try await queue.run("DELETE FROM s")
        try #expect(await values.next() == [])
    }
}
