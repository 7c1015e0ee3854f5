import TestSupport
import Testing

@testable import Shellac

@Suite("Live values of tables that become others", .behaviour(74, 76))
struct LiveSchemaTests {
    @Test("rows that are changed while some observations know the new columns, and others do not, are seen")
    func movedColumns() async throws {
        let queue = try DatabaseQueue()
        try await queue.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c); INSERT INTO t (c) VALUES (3)")
        let seen = Recorder<[Int]>()
        // More than are fetched before a writer that comes after them.
        let tasks = (0..<12).map { number in
            Task {
                let request = Table<Row>("t").filter(Column("c") == number && Column("id") > 0)
                for try await rows in queue.values(of: request) { seen.record([number, rows.count]) }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await waitUntil { seen.elements.count == 12 }
        try await queue.settle()
        for column in ["a", "b"] {
            try await queue.run("ALTER TABLE t DROP COLUMN \(column)")
            for number in 0..<24 { try await queue.run("INSERT INTO t (c) VALUES (\(number % 12))") }
        }
        for number in 0..<12 {
            let last = [number, number == 3 ? 5 : 4]
            try await waitFor(last) { seen.elements.last { $0[0] == number } ?? [] }
        }
    }

    @Test("a table that is made anew as a virtual one goes on being followed")
    func remade() async throws {
        let queue = try DatabaseQueue()
        try await queue.run("CREATE TABLE t (a, b); INSERT INTO t VALUES ('x', 1)")
        var values = queue.values(tracking: { db in try String.fetchAll(db, sql: "SELECT a || b FROM t") })
            .makeAsyncIterator()
        try #expect(await values.next() == ["x1"])
        try await queue.run("DROP TABLE t; CREATE VIRTUAL TABLE t USING fts5(a, b)")
        try #expect(await values.next() == [])
        try await queue.run("INSERT INTO t VALUES ('y', 'z')")
        try #expect(await values.next() == ["yz"])
    }

    @Test(
        "a statement that SQLite prepares anew, as another connection has changed the schema, may concern all",
        arguments: [
            // The columns are in another order.
            (
                "ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a", "UPDATE t SET b = 1 WHERE id = 2",
                [1, 2]
            ),
            // The statement changes another table.
            (
                """
                CREATE TRIGGER u_to_t AFTER UPDATE ON u BEGIN
                    UPDATE t SET b = 1 WHERE id = 2;
                END
                """, "UPDATE u SET a = 1", [1, 2]
            ),
            // SQLite does not report rows of the table any more.
            (
                "DROP TABLE t; CREATE TABLE t (id PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (2, 0)",
                "UPDATE t SET b = 1 WHERE id = 2", [2]
            ),
        ])
    func presumedSchema(change: String, write: String, expected: [Int]) async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue()
        try await queue.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t (b) VALUES (1), (0);
            CREATE TABLE u (a); INSERT INTO u VALUES (0);
            """)
        let request = Table<Row>("t").filter(Column("b") == 1).select(Column("id"))
        let seen = Recorder<[Int]>()
        let task = Task {
            for try await rows in queue.values(of: request) { seen.record(try rows.map { try $0[0] }) }
        }
        defer { task.cancel() }
        try await waitUntil { seen.elements == [[1]] }
        // The same statements, outside of a transaction, until no reader looks at the schema any
        // more.
        func run() async throws {
            for sql in ["UPDATE t SET b = 0 WHERE id = 2", "UPDATE u SET a = 0"] where sql != write {
                try await queue.writeWithoutTransaction { try $0.cachedStatement(sql: sql).execute() }
            }
        }
        try await queue.writeWithoutTransaction { try $0.cachedStatement(sql: write).execute() }
        for _ in 0..<3 { try await run() }
        try await queue.settle()
        let other = try file.queue()
        try await other.run(change)
        try await queue.writeWithoutTransaction { try $0.cachedStatement(sql: write).execute() }
        try await waitFor(expected) { seen.elements.last ?? [] }
        // And so it goes on.
        for value in [0, 1] {
            try await queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE t SET b = ? WHERE id = 2", arguments: [value])
            }
            try await waitFor(value == 1) { seen.elements.last?.contains(2) ?? false }
        }
    }

    @Test("a backup over the database is another database", arguments: [true, false])
    func backup(inOneAccess: Bool) async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let other = try DatabaseQueue.withLivePlayers("b", "c")
        var names = playerNames.values(in: queue).makeAsyncIterator()
        var players = queue.values(of: PlayerValue.filter(Column("score") == 0)).makeAsyncIterator()
        try #expect(await names.next() == ["a"])
        try #expect(await players.next()?.count == 1)
        if inOneAccess {
            try queue.inDatabase { destination in
                try other.inDatabase { source in try source.backup(to: destination) }
            }
        } else {
            try await other.backup(to: queue)
        }
        try #expect(await names.next() == ["b", "c"])
        try #expect(await players.next()?.count == 2)
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('d')")
        try #expect(await names.next() == ["b", "c", "d"])
        try #expect(await players.next()?.count == 3)
    }
}
