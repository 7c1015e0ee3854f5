import TestSupport
import Testing

@testable import Shellac

@Suite("A piece of SQL inside of a larger one")
struct SQLPiecesTests {
    @Test(
        "loses the comments and semicolons at its end that would swallow what follows",
        arguments: [
            ("a", "a"), ("a;", "a"), ("a ; ; ", "a"), ("a -- b", "a"), ("a -- b\n", "a"),
            ("a -- b\n ;", "a"),
            ("a /* b */", "a /* b */"), ("a /* b", "a"), ("a /* b */ ; -- c", "a"), ("';--'", "';--'"),
            ("\";\" -- ';", "\";\""), ("[a--b]", "[a--b]"), ("`;`;", "`;`"), ("a - -b", "a - -b"),
            ("a / b", "a / b"),
            ("-- a\nb -- c", "-- a\nb"), ("a; b", "a; b"), ("a -- 'b", "a"),
            ("'it''s -- ' -- x", "'it''s -- '"),
            ("", ""), ("-- a", ""), ("/* a", ""), (";", ""), ("é -- é", "é"),
            ("'unfinished --", "'unfinished --"),
        ])
    func embedding(sql: String, expected: String) { #expect(sql.embeddedSQL == expected) }

    @Test(
        "that sorts is reversed term by term",
        arguments: [
            ("a", "a DESC"), ("a DESC", "a"), ("a asc", "a DESC"), ("a, b", "a DESC, b DESC"),
            ("a DESC, b", "a, b DESC"), ("max(a, b), c", "max(a, b) DESC, c DESC"), ("'a, b' DESC", "'a, b'"),
            ("a NULLS LAST", "a DESC NULLS FIRST"), ("a DESC NULLS FIRST, b", "a NULLS LAST, b DESC"),
            ("a COLLATE NOCASE desc", "a COLLATE NOCASE"), ("desc", "desc DESC"), ("t.desc", "t.desc DESC"),
            ("desc desc", "desc"), ("a COLLATE desc", "a COLLATE desc DESC"),
            ("a /* , */ DESC /* x */", "a /* x */"),
            ("a -- ,\n, b", "a DESC -- ,\n, b DESC"),
            ("CASE WHEN a THEN 1 END DESC", "CASE WHEN a THEN 1 END"),
            ("(a), [b, c]", "(a) DESC, [b, c] DESC"), ("", ""), ("1 DESC, ?", "1, ? DESC"), ("-a", "-a DESC"),
        ])
    func reversal(sql: String, expected: String) { #expect(sql.reversedOrder == expected) }

    @Test("ends its comment where it is interpolated, joined, or followed by another piece")
    func interpolation() throws {
        let (condition, other): (SQL, SQL) = ("a > \(1) -- why", "b /* open")
        let query: SQL = "SELECT 1 WHERE \(condition) AND \(sql: "1 -- x") ORDER BY 1"
        #expect(query.sql == "SELECT 1 WHERE a > ? -- why\n AND 1 -- x\n ORDER BY 1")
        #expect(
            [condition, other, "c;"].joined(separator: " AND ").sql == "a > ? -- why\n AND b /* open*/ AND c;"
        )
        #expect((condition + " AND b").sql == "a > ? -- why\n AND b")
        #expect((SQL(sql: "a - '--'") + " AND b -- c" + " AND d").sql == "a - '--' AND b -- c\n AND d")
        var appended = other
        appended.append(literal: " AND \(1)")
        #expect(appended.sql == "b /* open*/ AND ?" && appended.arguments == [1])
    }

    @Test("keeps its values beside pieces whose parameters have the same names and numbers")
    func parameters() throws {
        let above = SQL(sql: "id > :id", arguments: ["id": 1])
        let below = SQL(sql: "id < :id AND :id > 0 -- :id", arguments: ["id": 4])
        let numbered = SQL(sql: "?2 > ?1 AND id <> ?2", arguments: [1, 3])
        let pieces = [above, below, numbered]
        let select: SQL = "SELECT id FROM player WHERE "
        let text = "id > ? AND id < ? AND ? > 0 AND ? > ? AND id <> ? AND ?"
        let arguments: StatementArguments = [1, 4, 4, 3, 1, 3, true]
        let query: SQL = "\(above) AND \(below) AND \(numbered) AND \(true)"
        #expect(query.sql == text && query.arguments == arguments)
        let joined = (pieces + ["\(true)"]).joined(separator: " AND ")
        #expect(joined.sql == text && joined.arguments == arguments)
        #expect(above + " AND " + numbered == "id > \(1) AND \(3) > \(1) AND id <> \(3)")
        let id = Column("id")
        let spy = SQLSpy()
        try League.database(spy).read { db in
            try #expect(Int.fetchAll(db, literal: select + query) == [2])
            let players = pieces.reduce(Table("player").all()) { $0.filter($1) }
            spy.removeAll()
            for _ in 1...2 { try #expect(players.select(id, as: Int.self).fetchAll(db) == [2]) }
            let bound =
                #"SELECT "id" FROM "player" WHERE (id > ?) AND (id < ? AND ? > 0) AND (? > ? AND id <> ?)"#
            #expect(spy.sql == [bound, bound], "the values are bound")
            // A mismatch is not put right.
            let short = SQL(sql: "id > ?2", arguments: [1])
            var error = #expect(throws: DatabaseError.self) {
                try Table("player").filter(short).fetchCount(db)
            }
            #expect(error?.message == "wrong number of arguments: 1 for 2 parameters")
            error = #expect(throws: DatabaseError.self) { try db.execute(literal: select + short) }
            #expect(error?.message == "wrong number of arguments: 1 for 2 parameters")
            let unknown = SQL(sql: "id > :id", arguments: ["id": 1, "other": 2])
            error = #expect(throws: DatabaseError.self) { try Table("player").filter(unknown).fetchCount(db) }
            #expect(error?.message == "unknown arguments: other")
        }
    }

    /// The endings of a piece of SQL.
    static let endings = ["", ";", " -- all", " -- all\n", " /* all */", " /* all", "; -- ? :a\n;", "\n;\n"]

    @Test("means the same in requests, whatever stands at its end", arguments: endings)
    func requests(ending: String) throws {
        try League.database().read { db in
            let id = Column("id")
            let filtered = Table("player").filter(sql: "id > ?\(ending)", arguments: [1])
            var ids = try filtered.order(id.desc).limit(2).select(id, as: Int.self).fetchAll(db)
            #expect(ids == [5, 4])
            ids = try Table("player").filter(sql: "id > :a AND id <> :a\(ending)", arguments: ["a": 2])
                .order(sql: "id DESC\(ending)").limit(2).select(
                    literal: SQL(sql: "id\(ending)"), as: Int.self
                )
                .fetchAll(db)
            #expect(ids == [5, 4])
            let request = SQLRequest<Int>(sql: "SELECT id FROM player WHERE id > 2\(ending)")
            ids = try request.fetchAll(db)
            #expect(ids == [3, 4, 5])
            let count = try request.fetchCount(db)
            #expect(count == 3)
            ids = try Table("player").filter(request.contains(id)).order(id).select(id, as: Int.self)
                .fetchAll(db)
            #expect(ids == [3, 4, 5])
            ids = try Table("player").order(sql: "isFlagged, id\(ending)").reversed().select(id, as: Int.self)
                .fetchAll(db)
            #expect(ids == [2, 5, 4, 3, 1])
            let table = CommonTableExpression("t", literal: SQL(sql: "SELECT 7 AS id\(ending)"))
            ids = try table.all().with(table).select(id, as: Int.self).fetchAll(db)
            #expect(ids == [7])
            let frame = SQL(sql: "ROWS UNBOUNDED PRECEDING\(ending)")
            ids = try Table("player").select(sum(id).over(order: [id], frame: frame), as: Int.self).fetchAll(
                db)
            #expect(ids == [1, 3, 6, 10, 15])
            let grouped = try Table("player").select(id).group(SQL(sql: "id\(ending)"))
                .having(SQL(sql: "id > 1\(ending)")).fetchCount(db)
            #expect(grouped == 4)
        }
    }

    @Test("means the same in definitions, whatever stands at its end", arguments: endings)
    func definitions(ending: String) throws {
        try DatabaseQueue().write { db in
            try db.create(table: "t") { t in
                t.column("a").check(sql: "a > 0\(ending)").defaults(sql: "1 + 1\(ending)")
                t.column("b").generatedAs(sql: "a + 1\(ending)")
                t.column(sql: "c DEFAULT 3\(ending)")
                t.column("d")
                t.check(sql: "a < 100\(ending)")
                t.constraint(sql: "CHECK (c > 0)\(ending)")
            }
            try db.alter(table: "t") { $0.addColumn(sql: "e\(ending)") }
            try db.create(index: "i", on: "t", expressions: [SQL(sql: "a + 1\(ending)"), "c"])
            try db.create(index: "j", on: "t", columns: ["a"], condition: SQL(sql: "a > 0\(ending)"))
            try db.create(view: "v", as: SQL(sql: "SELECT a FROM t\(ending)"))
            try db.create(trigger: "r", .after, .insert, on: "t") { t in
                t.when { _, new in SQL(sql: "\(new["a"].sql) > 0\(ending)") }
                t.execute(sql: "UPDATE t SET d = 1\(ending)")
                t.execute(literal: SQL(sql: "UPDATE t SET e = 2\(ending)"))
            }
            try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            let row = try Row.fetchOne(db, sql: "SELECT * FROM t")
            #expect(row == ["a": 2, "b": 3, "c": 3, "d": 1, "e": 2])
            try db.rebuild(table: "t", copying: ["a": SQL(sql: "a + 1\(ending)")]) { t in
                for name in ["a", "c", "d", "e"] { t.column(name) }
            }
            let rebuilt = try Int.fetchOne(db, sql: "SELECT a FROM v")
            #expect(rebuilt == 3)
        }
    }
}
