import TestSupport
import Testing

@testable import Shellac

@Suite("Advice on indexes")
struct IndexAdvisorTests {
    private let spy = ReportSpy()

    /// The tables of a game, with two thousand scores.
    private static let schema = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team INTEGER, "order" INTEGER);
        CREATE TABLE score (player INTEGER, level INTEGER, value INTEGER, note TEXT);
        CREATE VIEW best AS SELECT player, level, max(value) AS value FROM score GROUP BY player, level;
        CREATE INDEX score_note ON score(note);
        CREATE VIRTUAL TABLE search USING fts5(text);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO player SELECT i, 'player ' || i, i % 200, i % 50 FROM n;
        INSERT INTO score SELECT id, id % 100, id, 'note ' || id FROM player
        """

    /// Runs SQL again and again, and returns the advice until the database is closed.
    private func advice(
        _ sql: String, times: Int = 30, configure: (inout Configuration) -> Void = { _ in }
    ) throws -> [IndexAdvice] {
        var configuration = spy.configuration
        configuration.advisesIndexes = true
        configure(&configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.execute(sql: Self.schema) }
        try run(sql, times: times, on: queue)
        try queue.close()
        return spy.advice
    }

    private func run(_ sql: String, times: Int, on queue: DatabaseQueue) throws {
        for time in 1...times {
            try queue.writeWithoutTransaction { db in
                let statement = try db.cachedStatement(sql: sql)
                let arguments = statement.parameterNames.map { _ in time }
                if statement.isReadonly {
                    _ = try Row.fetchAll(statement, arguments: StatementArguments(arguments))
                } else {
                    try statement.execute(arguments: StatementArguments(arguments))
                }
            }
        }
    }

    // MARK: - What helps

    private static let helped: [(sql: String, indexes: [String])] = [
        (
            "SELECT name FROM player WHERE team = ? LIMIT 1 OFFSET 50",
            [#"CREATE INDEX "player_team" ON "player"("team")"#]
        ),
        (
            #"SELECT * FROM player p WHERE p."order" = ? AND p.name = 'x'"#,
            [#"CREATE INDEX "player_order_name" ON "player"("order", "name")"#]
        ),
        (
            "SELECT value FROM score WHERE level = ? AND value > 1990",
            [#"CREATE INDEX "score_level_value" ON "score"("level", "value")"#]
        ),
        (
            "SELECT count(*) FROM player JOIN score ON score.player = player.id WHERE player.id = ?",
            [#"CREATE INDEX "score_player" ON "score"("player")"#]
        ),
        (
            "SELECT sum(value) FROM score WHERE player = ?1 OR level = ?1",
            [
                #"CREATE INDEX "score_player" ON "score"("player")"#,
                #"CREATE INDEX "score_level" ON "score"("level")"#,
            ]
        ),
        (
            "UPDATE score SET note = 'x' WHERE player = ?",
            [#"CREATE INDEX "score_player" ON "score"("player")"#]
        ),
        (
            "SELECT count(*) FROM player a JOIN player b ON b.team = a.name WHERE a.team = ?",
            [#"CREATE INDEX "player_team" ON "player"("team")"#]
        ),
        (
            "SELECT id FROM player WHERE team = ?1 UNION ALL SELECT id FROM player WHERE team = ?1 AND name = 'x'",
            [#"CREATE INDEX "player_team_name" ON "player"("team", "name")"#]
        ),
        ("DELETE FROM player WHERE name = ?", [#"CREATE INDEX "player_name" ON "player"("name")"#]),
    ]

    @Test(
        "A statement that reads whole tables again and again is told of once, with the index that SQLite then uses",
        arguments: helped.indices)
    func helps(number: Int) throws {
        let (sql, indexes) = Self.helped[number]
        let told = try advice(sql)
        #expect(told.map(\.indexes) == [indexes])
        let advice = try #require(told.first)
        #expect(advice.sql == sql && advice.runCount >= 10 && advice.rowsRead >= 10_000)
        #expect(advice.rowCount <= advice.rowsRead / 20)
        #expect(
            "\(advice)".hasPrefix(
                "an index would help a statement that has read \(advice.rowsRead) rows in \(advice.runCount) runs to return "
            ))
        #expect("\(advice)".hasSuffix("\(sql)\n" + indexes.joined(separator: "\n")))

        // With them, no table is read as a whole.
        let (fresh, helper) = (ReportSpy(), sql)
        let queue = try DatabaseQueue(configuration: fresh.configuration)
        try queue.inDatabase { db in
            try db.execute(sql: Self.schema)
            for index in advice.indexes { try db.execute(sql: index) }
            fresh.recorder.removeAll()
        }
        try run(helper, times: 3, on: queue)
        #expect(fresh.statements.filter { $0.sql == helper }.map(\.fullScanSteps) == [0, 0, 0])
        #expect(fresh.statements.filter { $0.sql == helper }.map(\.automaticIndexRows) == [0, 0, 0])
    }

    @Test(
        "Where no index helps, or there is one, or nothing is read in vain, nothing is told",
        arguments: [
            "SELECT count(*) FROM player", "SELECT * FROM player WHERE team > -1", "SELECT * FROM player",
            "SELECT * FROM score WHERE note = ?", "SELECT * FROM player WHERE id = ?",
            "SELECT * FROM player WHERE name LIKE '%9999%'", "SELECT * FROM player WHERE team + 1 = 3000",
            "SELECT * FROM search WHERE text = 'x'", "DELETE FROM player WHERE team < 0", "VALUES (1), (2)",
            "SELECT unknown(team) AS t FROM player WHERE name = 'x'",
            "SELECT count(*) FROM temp.visit WHERE player = 1",
        ])
    func helpless(sql: String) throws {
        let told = try advice(sql) { configuration in
            configuration.prepareDatabase { db in
                try db.add(function: DatabaseFunction("unknown", argumentCount: 1) { _ in 1 })
                try db.execute(
                    sql: """
                        CREATE TEMP TABLE visit (player);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                        INSERT INTO temp.visit SELECT i FROM n
                        """)
            }
        }
        #expect(told.map(\.indexes) == [])
    }

    /// A request that the tests run.
    enum Asking: String, CaseIterable, Sendable {
        case rows, values, count, emptiness, first, update, deletion

        func run(_ team: Int, _ db: Database) throws {
            let players = Table("player").filter(Column("team") == team)
            switch self {
            case .rows: _ = try players.fetchAll(db)
            case .values: _ = try String.fetchSet(db, players.select(Column("name")))
            case .count: _ = try players.fetchCount(db)
            case .emptiness: _ = try Table("player").filter(Column("name") == "\(team)").isEmpty(db)
            case .first: _ = try players.order(Column("id").desc).limit(1, offset: 9).fetchOne(db)
            case .update: try players.updateAll(db, Column("order").set(to: 1))
            case .deletion: try Table("player").filter(Column("name") == "\(team)").deleteAll(db)
            }
        }
    }

    @Test(
        "A request that reads whole tables again and again is told of as SQL is", arguments: Asking.allCases)
    func requests(asking: Asking) throws {
        var configuration = spy.configuration
        configuration.advisesIndexes = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.execute(sql: Self.schema) }
        for team in 1...30 { try queue.write { db in try asking.run(team, db) } }
        try queue.close()
        let column = [.emptiness, .deletion].contains(asking) ? "name" : "team"
        #expect(
            spy.advice.map(\.indexes) == [[#"CREATE INDEX "player_\#(column)" ON "player"("\#(column)")"#]])
    }

    @Test("A few runs, or small tables, are nothing to tell of")
    func few() throws {
        try #expect(advice("SELECT name FROM player WHERE team = ? LIMIT 1 OFFSET 50", times: 4).isEmpty)
        #expect(
            try advice("SELECT * FROM (SELECT * FROM player LIMIT 5) WHERE team = ?", times: 100).isEmpty)
    }

    // MARK: - Once, and to whom

    @Test("The connections of a pool tell of it once")
    func pool() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let spy = spy
        let pool = try file.pool { configuration in
            spy.listen(&configuration)
            configuration.advisesIndexes = true
            configuration.maximumReaderCount = 3
        }
        try await pool.write { db in try db.execute(sql: "DROP TABLE player; \(Self.schema)") }
        for _ in 1...3 {
            try await withThrowingTaskGroup { group in
                for _ in 1...3 {
                    group.addTask {
                        for team in 1...20 {
                            try await pool.read { db in
                                _ = try Row.fetchAll(
                                    db, sql: "SELECT id FROM player WHERE team = ?", arguments: [team])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await onThread { try pool.close() }
        #expect(spy.advice.count == 1)
        let told = spy.recorder.elements.first { $0.name == "advice" }
        #expect(told?.connection.hasPrefix("test.reader.") == true)
        #expect(
            told?.attributes["shellac.advice"]
                == .string(#"CREATE INDEX "player_team" ON "player"("team")"#))
    }

    @Test("It is told at the end of an access, while the database is used")
    func soon() async throws {
        var configuration = spy.configuration
        configuration.advisesIndexes = true
        let queue = try DatabaseQueue(configuration: configuration)
        try await queue.write { db in try db.execute(sql: Self.schema) }
        try await waitUntil {
            try queue.inDatabase { db in
                for team in 1...20 {
                    _ = try Row.fetchAll(db, sql: "SELECT id FROM player WHERE team = ?", arguments: [team])
                }
            }
            return !spy.advice.isEmpty
        }
        let told = try #require(spy.recorder.elements.first { $0.name == "advice" })
        #expect(
            told.attributes["shellac.advice"] == .string(#"CREATE INDEX "player_team" ON "player"("team")"#))
    }

    @Test("Who does not ask for it in a release build, or says so, hears nothing")
    func off() throws {
        let sql = Self.helped[0].sql
        try #expect(advice(sql) { $0.advisesIndexes = false }.isEmpty)
        #expect(Configuration().advisesIndexes == Configuration.isDebugBuild)
    }

    @Test("Where nobody hears reports, the log of errors does")
    func log() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            var configuration = Configuration()
            configuration.label = "test"
            configuration.advisesIndexes = true
            let queue = try DatabaseQueue(configuration: configuration)
            try queue.inDatabase { db in try db.execute(sql: IndexAdvisorTests.schema) }
            for team in 1...30 {
                try queue.read { db in
                    _ = try Row.fetchAll(db, sql: "SELECT id FROM player WHERE team = ?", arguments: [team])
                }
            }
            try queue.close()
            #expect(log.elements.count == 1, "\(log.elements)")
            #expect(log.elements.first?.hasPrefix("test: an index would help") == true)
        }
    }
}
