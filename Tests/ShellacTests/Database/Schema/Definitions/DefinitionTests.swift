import TestSupport
import Testing

@testable import Shellac

@Suite("Alterations, indexes, views and virtual tables")
struct DefinitionTests {
    @Test("a table is altered step by step, all or nothing")
    func alteration() throws {
        try inDatabase { db in
            try db.create(table: "player") { t in
                t.column("name", .text)
                t.column("score", .integer)
            }
            let executed = try db.executedSQL {
                try db.alter(table: "player") { t in
                    t.add(column: "url", .text).notNull().defaults(to: "").indexed()
                    t.addColumn(sql: "age INTEGER")
                    t.rename(column: "score", to: "points")
                    t.rename(to: "hero")
                    t.drop(column: "name")
                }
            }
            #expect(
                executed == [
                    "BEGIN IMMEDIATE TRANSACTION",
                    #"ALTER TABLE "player" ADD COLUMN "url" TEXT NOT NULL DEFAULT ''"#,
                    #"CREATE INDEX "player_on_url" ON "player"("url")"#,
                    #"ALTER TABLE "player" ADD COLUMN age INTEGER"#,
                    #"ALTER TABLE "player" RENAME COLUMN "score" TO "points""#,
                    #"ALTER TABLE "player" RENAME TO "hero""#, #"ALTER TABLE "hero" DROP COLUMN "name""#,
                    "COMMIT TRANSACTION",
                ])
            #expect(try db.columns(in: "hero").map(\.name) == ["points", "url", "age"])
            expectError(containing: "no such column: ") {
                try db.alter(table: "hero") { t in
                    t.add(column: "x")
                    t.drop(column: "nothing")
                }
            }
            #expect(try db.columns(in: "hero").map(\.name) == ["points", "url", "age"])
            #expect(
                try db.executedSQL { try db.rename(table: "hero", to: "a\"b") }
                    == [#"ALTER TABLE "hero" RENAME TO "a""b""#])
            #expect(try db.executedSQL { try db.drop(table: "a\"b") } == [#"DROP TABLE "a""b""#])
            #expect(try db.tableNames() == [])
        }
    }

    @Test("a table does not take the name of another table, nor that of an index")
    func takenNames() throws {
        try inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE player (a); CREATE TABLE hero (b); CREATE INDEX byB ON hero (b)")
            for name in ["hero", "byB"] {
                #expect(
                    message { try db.rename(table: "player", to: name) }
                        == "there is already another table or index with this name: \(name)")
            }
            #expect(message { try db.rename(table: "nobody", to: "team") } == "no such table: nobody")
            #expect(try db.tableNames() == ["player", "hero"])
        }
    }

    @Test("indexes are created with their options, condition and expressions")
    func indexes() throws {
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE player (name TEXT, score INTEGER)")
            let executed = try db.executedSQL {
                try db.create(index: "i1", on: "player", columns: ["name", "score"])
                try db.create(index: "i1", on: "player", columns: ["name"], options: .ifNotExists)
                try db.create(
                    index: "i2", on: "player", columns: ["name"], options: .unique, condition: "score > \(10)"
                )
                try db.create(
                    index: "i3", on: "player", expressions: ["name COLLATE NOCASE DESC", "score + \(-1)"],
                    options: [.unique, .ifNotExists], condition: "name <> \("it's")")
                try db.create(indexOn: "player", columns: ["score", "name"])
            }
            #expect(
                executed == [
                    #"CREATE INDEX "i1" ON "player"("name", "score")"#,
                    #"CREATE INDEX IF NOT EXISTS "i1" ON "player"("name")"#,
                    #"CREATE UNIQUE INDEX "i2" ON "player"("name") WHERE score > 10"#,
                    #"CREATE UNIQUE INDEX IF NOT EXISTS "i3" ON "player"(name COLLATE NOCASE DESC, score + (-1)) WHERE name <> 'it''s'"#,
                    #"CREATE INDEX "index_player_on_score_name" ON "player"("score", "name")"#,
                ])
            try db.execute(sql: "INSERT INTO player VALUES ('a', 1), ('a', 2), ('a', 11)")
            #expect(
                message { try db.execute(sql: "INSERT INTO player VALUES ('a', 12)") }
                    == "UNIQUE constraint failed: player.name")
            #expect(
                message { try db.execute(sql: "INSERT INTO player VALUES ('A', 11)") }
                    == "UNIQUE constraint failed: index 'i3'")

            #expect(try db.executedSQL { try db.drop(index: "i3") } == [#"DROP INDEX "i3""#])
            #expect(
                try db.executedSQL { try db.drop(indexOn: "PLAYER", columns: ["NAME", "score"]) }
                    == [#"DROP INDEX "main"."i1""#])
            #expect(
                try db.executedSQL { try db.drop(indexOn: "player", columns: ["score", "name"]) }
                    == [#"DROP INDEX "main"."index_player_on_score_name""#])
            #expect(try db.indexes(on: "player").map(\.name) == ["i2"])
            #expect(
                message { try db.drop(indexOn: "player", columns: ["score"]) }
                    == "no such index: on player(score)")
            #expect(message { try db.drop(indexOn: "x", columns: ["score"]) } == "no such table: x")
        }
    }

    @Test("views are created with their options, and values become literals")
    func views() throws {
        try inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (name TEXT, score REAL); INSERT INTO player VALUES ('O''Brien', 0.1), ('x', 1)"
            )
            let (name, score) = ("O'Brien", 0.1)
            let executed = try db.executedSQL {
                try db.create(
                    view: "v1", as: "SELECT name FROM player WHERE name = \(name) AND score = \(score)")
                try db.create(
                    view: "v2", options: .temporary, columns: ["a\"", "b"], as: "SELECT * FROM player")
                try db.create(
                    view: "v1", options: .ifNotExists, as: SQL(sql: "SELECT :x", arguments: ["x": 1]))
            }
            #expect(
                executed == [
                    #"CREATE VIEW "v1" AS SELECT name FROM player WHERE name = 'O''Brien' AND score = 0.1"#,
                    #"CREATE TEMPORARY VIEW "v2" ("a""", "b") AS SELECT * FROM player"#,
                    #"CREATE VIEW IF NOT EXISTS "v1" AS SELECT 1"#,
                ])
            #expect(try String.fetchAll(db, sql: "SELECT * FROM v1") == ["O'Brien"])
            #expect(try db.columns(in: "v2", in: "temp").map(\.name) == ["a\"", "b"])
            #expect(try db.executedSQL { try db.drop(view: "v1") } == [#"DROP VIEW "v1""#])
            #expect(try !db.viewExists("v1"))
            try db.execute(sql: "CREATE TRIGGER tr AFTER INSERT ON player BEGIN SELECT 1; END")
            try db.drop(trigger: "tr")
            #expect(try !db.triggerExists("tr"))
        }
    }

    @Test("virtual tables are created with columns, options and arguments")
    func virtualTables() throws {
        try inDatabase { db in
            let executed = try db.executedSQL {
                try db.create(virtualTable: "doc\"s", using: "fts5") { t in
                    t.column("title")
                    t.column("u\"rl", sql: "UNINDEXED")
                    t.option("tokenize", "porter ascii")
                    t.argument(sql: "detail=none")
                }
            }.filter { $0.hasPrefix("CREATE VIRTUAL") }
            #expect(
                executed == [
                    #"CREATE VIRTUAL TABLE "doc""s" USING "fts5"("title", "u""rl" UNINDEXED, tokenize='porter ascii', detail=none)"#
                ])
            #expect(try db.columns(in: "doc\"s").map(\.name) == ["title", "u\"rl"])
            try db.create(virtualTable: "doc\"s", options: .ifNotExists, using: "fts5") { $0.column("x") }
            try db.execute(sql: "INSERT INTO \"doc\"\"s\" VALUES ('running', 'x')")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \"doc\"\"s\"('run')") == 1)
            try db.create(virtualTable: "place", using: "rtree") { t in
                for name in ["id", "min X", "max X"] { t.column(name) }
            }
            #expect(try db.columns(in: "place").map(\.name) == ["id", "min X", "max X"])
            try db.drop(table: "doc\"s")
            #expect(try !db.tableExists("doc\"s"))
        }
    }

    @Test("values are written where the parameters stand, and nowhere else")
    func literals() throws {
        func literal(_ sql: String, _ arguments: StatementArguments) throws -> String {
            try SQL(sql: sql, arguments: arguments).literalSQL(on: nil)
        }
        #expect(try literal("a = ? AND b=?", [1, "x"]) == "a = 1 AND b='x'")
        #expect(
            try literal("'?' \"?\" `?` [?] ? -- ?\n ? /* ? */", [1, 2])
                == "'?' \"?\" `?` [?] 1 -- ?\n 2 /* ? */")
        #expect(try literal("'it''s ?' ?", [1]) == "'it''s ?' 1")
        #expect(try literal("?2 ?1 ?", [1, 2, 3]) == "2 1 3")
        #expect(try literal(":a @b $c :a", ["a": 1, "b": 2, "c": 3]) == "1 2 3 1")
        #expect(try literal(":a :b :a", [1, 2]) == "1 2 1")
        #expect(try literal("x-?", [-1]) == "x-(-1)")
        #expect(try literal("a=?AND b LIKE?", [1, "x"]) == "a=1 AND b LIKE 'x'")
        #expect(try literal("?||?", ["a", "b"]) == "'a'||'b'")
        #expect(try literal("a$b ? c", [nil]) == "a$b NULL c")
        #expect(try literal("", []) == "")
        #expect(try literal("'unfinished ?", []) == "'unfinished ?")
        #expect(try literal("1 /* unfinished ?", []) == "1")
        let range = "variable number must be between ?1 and ?32766"
        for (sql, arguments, sentence) in [
            ("?", [], "wrong number of arguments: 0 for 1 parameters"),
            ("", [1], "wrong number of arguments: 1 for 0 parameters"),
            ("? ?", [1], "wrong number of arguments: 1 for 2 parameters"),
            ("?", [1, 2], "wrong number of arguments: 2 for 1 parameters"),
            (":a", ["b": 1], "missing arguments: a"), ("?0", [1], range), ("?99999", [1], range),
            ("?2", [1], "wrong number of arguments: 1 for 2 parameters"),
            (":a", ["a": 1, "b": 2], "unknown arguments: b"),
        ] as [(String, StatementArguments, String)] {
            expectError(sentence, "\(sql)") { try literal(sql, arguments) }
        }
        // SQLite returns the same values.
        try inDatabase { db in
            var generator = SeededGenerator(seed: 4)
            for _ in 1...300 {
                let pieces = ["?", "?", "?1", ":a", "'?'", "\"a?\"", "1", "/*?*/1", "-?", "1-?"]
                let count = Int.random(in: 1...6, using: &generator)
                let items = (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }
                let query = "SELECT \(items.joined(separator: ", ")) FROM (SELECT 1 AS \"a?\")"
                let parameters = try db.makeStatement(sql: query).parameterNames.count
                let values: [DatabaseValue] = [1, -2, 0.1, "a'b", .null, -1.5, "?"]
                let arguments = StatementArguments(
                    (0..<parameters).compactMap { _ in values.randomElement(using: &generator) })
                let bound = try Row.fetchOne(db, sql: query, arguments: arguments)
                let written = try Row.fetchOne(db, sql: literal(query, arguments))
                #expect(
                    bound.map { Array($0.databaseValues) } == written.map { Array($0.databaseValues) },
                    "\(query) \(arguments)")
            }
        }
    }
}
