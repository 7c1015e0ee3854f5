import Shellac
import TestSupport
import Testing

@Suite("Several tables, or requests, in one request:")
struct CombinedRequestTests {
    typealias Player = League.Player

    private func check(
        _ request: QueryInterfaceRequest<some Any>, _ sql: String, _ ids: [Int64],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var found: [Int64] = []
        let executed = try League.sql { found = try request.asRequest(of: Int64.self).fetchAll($0) }
        #expect(executed.last == sql, sourceLocation: sourceLocation)
        #expect(found == ids, sourceLocation: sourceLocation)
    }

    private static let player = TableAlias("p")
    private static let team = TableAlias("t")
    private static let isTheirTeam = player[Column("teamID")] == team[Column("id")]

    @Test("joins, with aliases and conditions")
    func joins() throws {
        let (p, t) = (Self.player, Self.team)
        try check(
            Player.aliased(p).join(Table("team"), aliased: t, on: Self.isTheirTeam).filter(
                t[Column("color")] == "red"),
            #"SELECT "p".* FROM "player" AS "p" JOIN "team" AS "t" ON "p"."teamID" = "t"."id" WHERE "t"."color" = ?"#,
            [1, 2])
        try check(
            Player.aliased(p).leftJoin(League.Team.all(), aliased: t, on: Self.isTheirTeam).filter(
                t[Column("id")] == nil),
            #"SELECT "p".* FROM "player" AS "p" LEFT JOIN "team" AS "t" ON "p"."teamID" = "t"."id" WHERE "t"."id" IS NULL"#,
            [5])
        try check(
            Player.aliased(p).join(
                Table("team").filter(Column("color") == "blue"), aliased: t, on: Self.isTheirTeam),
            #"SELECT "p".* FROM "player" AS "p" JOIN (SELECT * FROM "team" WHERE "color" = ?) AS "t" ON "p"."teamID" = "t"."id""#,
            [3, 4])
        try check(
            League.Captain.all().join(Table("visit"), on: SQL("visit.playerID = player.id")).order(
                Column("year").desc
            ).limit(1),
            #"SELECT "player"."id", "player"."name" FROM "player" JOIN "visit" ON visit.playerID = player.id ORDER BY "year" DESC LIMIT ?"#,
            [1])
    }

    @Test("what is joined reads through columns of one row, and counts")
    func joinedRows() throws {
        let (p, t) = (Self.player, Self.team)
        let request = Player.aliased(p).join(Table("team"), aliased: t, on: Self.isTheirTeam)
        try League.database().read { db in
            let rows = try request.select(p.allColumns, t[Column("name")].forKey("teamName")).asRequest(
                of: Row.self
            )
            .fetchAll(db)
            let names: [String] = try rows.map { try $0["teamName"] }
            #expect(names == ["Reds", "Reds", "Blues", "Blues"])
            let count = try request.fetchCount(db)
            #expect(count == 4)
        }
    }

    @Test("a column that two tables have is ambiguous without an alias, as SQLite says")
    func ambiguity() throws {
        try League.database().read { db in
            let request = Player.all().join(Table("team"), on: Column("teamID") == Column("id"))
            let error = databaseError { _ = try request.fetchAll(db) }
            #expect(error?.message == "ambiguous column name: id")
            #expect(error?.sql == #"SELECT "player".* FROM "player" JOIN "team" ON "teamID" = "id""#)
            let count = try Player.fetchCount(db)
            #expect(count == 5)
        }
    }

    @Test("rows found by a join are updated and deleted by their keys")
    func bulk() throws {
        let request = Player.all().join(Table("visit"), on: SQL("visit.playerID = player.id"))
        try League.database().write { db in
            let updated = try request.updateAll(db, Column("score").set(to: 0))
            #expect(updated == 2)
            let deleted = try request.filter(Column("year") == 2024).deleteAll(db)
            #expect(deleted == 1)
            let ids = try Player.filter(Column("score") == 0).fetchAll(db).map(\.id)
            #expect(ids == [2])
        }
    }

    @Test("common table expressions, also recursive ones")
    func commonTables() throws {
        let best = CommonTableExpression("best", Player.order(Column("score").desc).limit(2))
        try check(
            best.all().with(best).filter(Column("id") > 2),
            #"WITH "best" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT ?) SELECT * FROM "best" WHERE "id" > ?"#,
            [4])
        let counter = CommonTableExpression(
            "counter", columns: ["n"], isRecursive: true,
            literal: "VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < \(3)")
        try check(
            counter.all().with(counter),
            #"WITH RECURSIVE "counter"("n") AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < ?) SELECT * FROM "counter""#,
            [1, 2, 3])
        try check(
            Player.filter(counter.all().contains(Column("id"))).with(best).with(counter).select(Column("id")),
            #"WITH RECURSIVE "best" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT ?), "counter"("n") AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < ?) SELECT "id" FROM "player" WHERE "id" IN (SELECT * FROM "counter")"#,
            [1, 2, 3])
        try League.database().write { db in
            let count = try counter.all().with(counter).fetchCount(db)
            #expect(count == 3)
            let deleted = try Player.filter(counter.all().contains(Column("id"))).with(counter).deleteAll(db)
            #expect(deleted == 3)
        }
    }

    @Test("unions, intersections and differences")
    func compounds() throws {
        let (a, b) = (Player.filter(Column("id") < 3), Player.filter(Column("score") > 100))
        let (ofA, ofB) = (
            #"SELECT * FROM "player" WHERE "id" < ?"#, #"SELECT * FROM "player" WHERE "score" > ?"#
        )
        try check(a.union(b), "\(ofA) UNION \(ofB)", [1, 2, 4])
        try check(a.unionAll(b).order(Column("id")), "\(ofA) UNION ALL \(ofB) ORDER BY \"id\"", [1, 2, 2, 4])
        try check(a.intersect(b), "\(ofA) INTERSECT \(ofB)", [2])
        try check(a.except(b), "\(ofA) EXCEPT \(ofB)", [1])
        try check(
            a.union(b).except(Player.filter(key: 1)),
            "\(ofA) UNION \(ofB) EXCEPT SELECT * FROM \"player\" WHERE \"id\" = ?", [2, 4])
        try check(
            a.union(b.order(Column("id").desc).limit(1)),
            "\(ofA) UNION SELECT * FROM (\(ofB) ORDER BY \"id\" DESC LIMIT ?)", [1, 2, 4])
        try check(
            a.union(b).filter(Column("id") > 1), "SELECT * FROM (\(ofA) UNION \(ofB)) WHERE \"id\" > ?",
            [2, 4])
        try check(
            Player.select(Column("id")).filter(a.union(b).select(Column("id")).contains(Column("id"))),
            "SELECT \"id\" FROM \"player\" WHERE \"id\" IN (SELECT \"id\" FROM (\(ofA) UNION \(ofB)))",
            [1, 2, 4])
        try League.database().write { db in
            let count = try a.union(b).fetchCount(db)
            #expect(count == 3)
            let isEmpty = try a.intersect(b).isEmpty(db)
            #expect(!isEmpty)
            let first = try a.union(b).order(Column("id")).fetchOne(db)
            #expect(first?.id == 1)
            let error = databaseError { try a.union(b).deleteAll(db) }
            #expect(error?.message == "only the rows of a table can be updated and deleted")
            let uneven = databaseError { _ = try Player.select(Column("id")).union(b).fetchAll(db) }
            #expect(uneven?.message?.contains("do not have the same number of result columns") == true)
        }
    }

    @Test("window functions")
    func windows() throws {
        let window = SQLWindow(partitionBy: [Column("teamID")], order: [Column("score").desc, Column("id")])
        try check(
            Player.select(rank().over(window)).order(Column("id")),
            #"SELECT RANK() OVER (PARTITION BY "teamID" ORDER BY "score" DESC, "id") FROM "player" ORDER BY "id""#,
            [2, 1, 2, 1, 1])
        try check(
            Player.select(rowNumber().over(order: [Column("id").desc])).order(Column("id")),
            #"SELECT ROW_NUMBER() OVER (ORDER BY "id" DESC) FROM "player" ORDER BY "id""#, [5, 4, 3, 2, 1])
        try check(
            Player.select(denseRank().over(order: [Column("score")])).order(Column("id")),
            #"SELECT DENSE_RANK() OVER (ORDER BY "score") FROM "player" ORDER BY "id""#, [3, 4, 2, 4, 1])
        try check(
            Player.select(
                sum(Column("id"), filter: Column("id") > 1).over(
                    order: [Column("id")], frame: "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
            ).filter(Column("id") > 1),
            #"SELECT SUM("id") FILTER (WHERE "id" > ?) OVER (ORDER BY "id" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM "player" WHERE "id" > ?"#,
            [2, 5, 7, 9])
    }

    @Test("a plan is explained, and rows are dumped")
    func explaining() throws {
        try League.database().read { db in
            let plan = try Player.filter(Column("score") > 100).order(Column("score")).explain(db)
            #expect(plan.split(separator: "\n").count == 2)
            #expect(plan.contains("player") && plan.contains("ORDER BY"))
            let nested = try Player.filter(key: 1).union(Player.filter(key: 2)).explain(db)
            #expect(nested.contains("\n    "))
            let error = databaseError { _ = try Table("nope").explain(db) }
            #expect(error?.message == "no such table: nope")
            var text = ""
            try db.dumpRequest(
                Player.filter(Column("score") > 100).select(Column("id"), Column("name")), to: &text)
            #expect(text == "2|Barbara\n4|Diane\n")
        }
    }

    @Test("expressions and requests stand in SQL literals")
    func literals() throws {
        let score = Column("score")
        let query: SQL =
            "SELECT \(Column("id")) FROM player WHERE \(score > 100) AND id IN \(Player.select(max(Column("id"))))"
        #expect(
            query.sql
                == #"SELECT "id" FROM player WHERE "score" > ? AND id IN (SELECT MAX("id") FROM "player")"#)
        #expect(query.arguments == [100])
    }
}
