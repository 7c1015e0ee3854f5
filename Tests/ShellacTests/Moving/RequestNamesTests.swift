// Operators of assignments make values here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Shellac
import TestSupport
import Testing

@Suite("Names of requests")
struct RequestNamesTests {
    /// A record whose columns are cases of an enumeration, which was the family's way for years.
    private struct Cased: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int

        enum Columns: String, ColumnExpression { case id, name, score }

        static var databaseTableName: String { "mover" }
    }

    private struct Encoded: FetchableRecord, PersistableRecord {
        enum Columns: String, ColumnExpression { case id, name, score }
        static var databaseTableName: String { "mover" }
        var (id, name, score): (Int, String, Int) = (0, "", 0)

        init(row: Row) throws {
            (id, name, score) = try (row[Columns.id], row[Columns.name], row[Columns.score])
        }

        func encode(to container: inout PersistenceContainer) throws {
            container[Columns.id] = id
            container[Columns.name] = name
            container[Columns.score] = score
        }
    }

    private func sql(_ request: some FetchRequest, _ db: Database) throws -> String {
        try request.makePreparedRequest(db, forSingleResult: false).statement.sql
    }

    // MARK: - Closures of columns

    @Test("Closures of columns select, annotate, group and filter groups")
    func closures() throws {
        try withMovers { db in
            let pairs = Mover.select { [$0.name, $0.score] }
            try #expect(sql(pairs, db) == #"SELECT "name", "score" FROM "mover""#)
            let names: QueryInterfaceRequest<String> = Mover.order { $0.id }.select { $0.name }
            try #expect(names.fetchAll(db) == ["Arthur", "Barbara", "Craig"])
            let typed = Mover.order(\.score.desc).select({ $0.name }, as: String.self)
            try #expect(typed.fetchAll(db) == ["Barbara", "Craig", "Arthur"])
            let annotated = Mover.annotated { [($0.score + 1).forKey("next"), $0.name.forKey("again")] }
            try #expect(
                sql(annotated, db) == #"SELECT *, "score" + ? AS "next", "name" AS "again" FROM "mover""#)
            let one = Mover.all().annotated { ($0.score * 2).forKey("double") }
            try #expect(Row.fetchOne(db, one)?["double"] == 20)
            let groups = Mover.select { [$0.teamId, max($0.score)] }.group { $0.teamId }.having {
                count($0.id) > 1
            }
            try #expect(Row.fetchAll(db, groups).map(\.databaseValues) == [[1, 30]])
            let several = Mover.select { _ in [count(.allColumns)] }.group { [$0.teamId, $0.name] }
            try #expect(Int.fetchAll(db, several) == [1, 1, 1])
            try #expect(sql(Mover.group(\.teamId), db) == #"SELECT * FROM "mover" GROUP BY "teamId""#)
            try #expect(
                sql(Mover.all().group(\.teamId).order(\.name), db).hasSuffix(
                    #"GROUP BY "teamId" ORDER BY "name""#))
            try #expect(
                sql(Mover.having { max($0.score) > 1 }.group(\.teamId), db).hasSuffix(
                    #"HAVING MAX("score") > ?"#))
            try #expect(sql(Mover.group { $0.teamId }, db).hasSuffix(#"GROUP BY "teamId""#))
        }
    }

    @Test("An error that a closure of columns throws comes out")
    func throwingClosures() throws {
        #expect(throws: Boom()) { _ = try Mover.select { _ in throw Boom() } as QueryInterfaceRequest<Mover> }
    }

    @Test("Cases of an enumeration are columns, wherever a column stands")
    func enumerations() throws {
        try withMovers { db in
            let best = Cased.filter { $0.score > 10 }.order { $0.score.desc }
            try #expect(best.fetchAll(db).map(\.name) == ["Barbara", "Craig"])
            try #expect(Cased.filter(Cased.Columns.name == "Craig").fetchCount(db) == 1)
            try #expect(Cased.select(Cased.Columns.id, as: Int.self).fetchAll(db) == [1, 2, 3])
            try Cased.updateAll(db) { [$0.score += 1, $0.name.set(to: $0.name.appending("!"))] }
            try Cased.filter(key: 1).updateAll(db, Cased.Columns.score <<= 1)
            try Cased.filter(key: 2).updateAll(db, Cased.Columns.score >>= 1)
            try #expect(Int.fetchAll(db, sql: "SELECT score FROM mover ORDER BY id") == [22, 15, 21])
            let row = try #require(try Row.fetchOne(db, Cased.filter(key: 1)))
            try #expect(row[Cased.Columns.name] == "Arthur!")
            try #expect(row.decode(Int.self, forColumn: Cased.Columns.score) == 22)
            try #expect(row.coalesce([Cased.Columns.id]) == 1)
            #expect(row.hasColumn(Cased.Columns.id))
            #expect(throws: RowDecodingError.self) { try row[Cased.Columns.name] as Int }
            let alias = TableAlias("p")
            try #expect(Cased.aliased(alias).filter(alias[Cased.Columns.id] == 3).fetchCount(db) == 1)
            var encoded = try #require(try Encoded.fetchOne(db, key: 3))
            encoded.name = "Craig"
            try encoded.update(db)
            try #expect(String.fetchOne(db, sql: "SELECT name FROM mover WHERE id = 3") == "Craig")
        }
    }

    // MARK: - Other types

    @Test("A request becomes elements of the type that fetches it")
    func otherTypes() throws {
        try withMovers { db in
            let request = Mover.order(Column("id"))
            try #expect(Row.fetchAll(db, request).count == 3)
            try #expect(Row.fetchOne(db, request)?["name"] == "Arthur")
            try #expect(
                String.fetchAll(db, request.select(Column("name"))) == ["Arthur", "Barbara", "Craig"])
            try #expect(Int?.fetchAll(db, request.select(Column("teamId"))) == [1, 1, nil])
            try #expect(Int.fetchSet(db, request.select(Column("score"))) == [10, 20, 30])
            let literal: SQLRequest<Row> = "SELECT * FROM mover WHERE score > \(15)"
            try #expect(Mover.fetchAll(db, literal).map(\.name) == ["Barbara", "Craig"])
            try #expect(Mover.fetchOne(db, literal)?.name == "Barbara")
            try #expect(Mover.fetchSet(db, literal).count == 2)
            let cursor = try Mover.fetchCursor(db, literal)
            try #expect(cursor.next()?.name == "Barbara")
            let rows = try Row.fetchCursor(db, request)
            try #expect(rows.next()?["id"] == 1)
            let inferred = SQLRequest(sql: "SELECT ? AS a", arguments: [7])
            try #expect(inferred.fetchOne(db) == ["a": 7])
            try #expect(Row.fetchOne(db, Table("mover"))?["name"] == "Arthur")
            #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, request.select(Column("name"))) }
            let hero = try MovedHero.fetchOne(db, MovedHero.including(optional: MovedHero.team))
            #expect(hero?.name == "Arthur")
            let joined = try Row.fetchAll(
                db, MovedHero.including(optional: MovedHero.team).orderByPrimaryKey())
            try #expect(joined[0].scopes["team"]?["title"] == "Reds")
        }
    }

    // MARK: - Primary keys

    @Test("Requests name the primary key, whatever its columns are")
    func primaryKeys() throws {
        try withMovers { db in
            try #expect(sql(Mover.orderByPrimaryKey(), db) == #"SELECT * FROM "mover" ORDER BY "id""#)
            try #expect(
                sql(Mover.order(Column("score")).withStableOrder(), db).hasSuffix(#"ORDER BY "score", "id""#))
            try #expect(sql(Mover.withStableOrder().reversed(), db).hasSuffix(#"ORDER BY "id" DESC"#))
            try #expect(sql(Mover.all().groupByPrimaryKey(), db).hasSuffix(#"GROUP BY "id""#))
            try #expect(Mover.selectPrimaryKey(as: Int64.self).fetchAll(db) == [1, 2, 3])
            try #expect(Mover.filter { $0.score > 10 }.selectID().fetchAll(db) == [2, 3])
            try db.execute(
                sql: """
                    CREATE TABLE pair (b TEXT, a INTEGER, x, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO pair VALUES ('x', 2, 1), ('y', 1, 2), ('x', 1, 3);
                    CREATE TABLE "odd ""name" ("the ""key" TEXT PRIMARY KEY, x);
                    INSERT INTO "odd ""name" VALUES ('b', 1), ('a', 2);
                    CREATE TABLE bare (x); INSERT INTO bare VALUES (7), (6);
                    CREATE VIEW v AS SELECT * FROM mover;
                    """)
            let pairs = Table("pair").orderByPrimaryKey()
            try #expect(sql(pairs, db) == #"SELECT * FROM "pair" ORDER BY "a", "b""#)
            try #expect(pairs.reversed().fetchAll(db).map { $0.databaseValues.last } == [1, 2, 3])
            try #expect(sql(pairs.reversed(), db).hasSuffix(#"ORDER BY "a" DESC, "b" DESC"#))
            try #expect(
                Table("pair").selectPrimaryKey(as: Row.self).orderByPrimaryKey().fetchOne(db) == [
                    "a": 1, "b": "x",
                ])
            let odd = Table("odd \"name").orderByPrimaryKey().select(Column("x"), as: Int.self)
            try #expect(odd.fetchAll(db) == [2, 1])
            try #expect(
                Table("bare").selectPrimaryKey(as: Int.self).orderByPrimaryKey().fetchAll(db) == [1, 2])
            try #expect(Table("bare").orderByPrimaryKey().reversed().fetchOne(db) == ["x": 6])
            let view = #expect(throws: DatabaseError.self) { try Table("v").orderByPrimaryKey().fetchAll(db) }
            #expect(view?.message?.contains("no primary key") == true)
            expectError("no such table: nope") { try Table("nope").orderByPrimaryKey().fetchAll(db) }
            let union = Mover.all().union(Mover.all())
            expectError("only the rows of a table can be found by primary key") {
                try union.orderByPrimaryKey().fetchAll(db)
            }
            let ids = Mover.selectPrimaryKey(as: Int.self).union(Mover.selectPrimaryKey(as: Int.self))
            try #expect(ids.order(Column("id") * -1).fetchAll(db) == [3, 2, 1])
            let (m, t) = (TableAlias("m"), TableAlias("t"))
            let joined = Mover.aliased(m).join(
                Table("team"), aliased: t, on: m[Column("teamId")] == t[Column("id")])
            try #expect(
                joined.orderByPrimaryKey().reversed().fetchAll(db).map(\.name) == ["Barbara", "Arthur"])
            let included = try MovedHero.including(required: MovedHero.team).orderByPrimaryKey().reversed()
                .fetchAll(db)
            #expect(included.map(\.name) == ["Barbara", "Arthur"])
        }
    }

    @Test("The key is looked for again when the schema has changed")
    func changedKey() throws {
        try withMovers { db in
            let request = Table("team").orderByPrimaryKey()
            try #expect(sql(request, db).hasSuffix(#"ORDER BY "id""#))
            try db.execute(sql: "DROP TABLE mover; DROP TABLE team; CREATE TABLE team (x TEXT PRIMARY KEY)")
            try #expect(sql(request, db).hasSuffix(#"ORDER BY "x""#))
        }
    }

    @Test("All columns but some, by the schema")
    func columnsButSome() throws {
        try withMovers { db in
            let request = Mover.select(.allColumns(excluding: ["SCORE", "teamId"]))
            try #expect(sql(request, db) == #"SELECT "id", "name" FROM "mover""#)
            let typed = Mover.select(.allColumns(excluding: [Column("id")]))
            try #expect(Row.fetchOne(db, typed)?.count == 3)
            let unknown = #expect(throws: DatabaseError.self) {
                try Mover.select(.allColumns(excluding: ["nope"])).fetchAll(db)
            }
            #expect(unknown?.message == "the table mover has no column nope to leave out")
            let all = Table("team").select(.allColumns(excluding: ["id", "title"]))
            expectError("all columns of the table team are left out") { try all.fetchAll(db) }
        }
    }

    @Test("A condition may wait for the connection, and throw there")
    func connectedConditions() throws {
        try withMovers { db in
            let request = Mover.all().filterWhenConnected { db in
                try Column("score") >= (Int.fetchOne(db, sql: "SELECT AVG(score) FROM mover") ?? 0)
            }
            try #expect(request.fetchCount(db) == 2)
            try db.execute(sql: "UPDATE mover SET score = 1000 WHERE id = 1")
            try #expect(request.fetchAll(db).map(\.name) == ["Arthur"])
            #expect(throws: Boom()) { try Mover.all().filterWhenConnected { _ in throw Boom() }.fetchAll(db) }
        }
    }

    // MARK: - SQL

    @Test("Parts of requests are written in SQL, with their values")
    func sqlParts() throws {
        try withMovers { db in
            try #expect(
                Mover.select(sql: "score + ?", arguments: [1], as: Int.self).fetchAll(db) == [11, 31, 21])
            try #expect(Mover.all().select(sql: "name", as: String.self).fetchOne(db) == "Arthur")
            try #expect(sql(Mover.select(sql: "id, name"), db) == #"SELECT id, name FROM "mover""#)
            let groups = Mover.select(sql: "COUNT(*)", as: Int.self).group(sql: "teamId, ?", arguments: [1])
            try #expect(sql(groups, db).hasSuffix("GROUP BY teamId, ?"))
            try #expect(groups.having(sql: "COUNT(*) > ?", arguments: [1]).fetchAll(db) == [2])
            try #expect(groups.having(literal: "COUNT(*) < \(2)").fetchAll(db) == [1])
            try #expect(
                sql(Mover.group(literal: "teamId").having(sql: "1"), db).hasSuffix("GROUP BY teamId HAVING 1")
            )
            try #expect(
                sql(Mover.having(literal: "1").group(sql: "id"), db).hasSuffix("GROUP BY id HAVING 1"))
            try #expect(Row.fetchOne(db, Mover.annotated(sql: "score * ? AS x", arguments: [2]))?["x"] == 20)
            try #expect(Row.fetchOne(db, Mover.all().annotated(literal: "score * \(3) AS x"))?["x"] == 30)
            try #expect(sql(Mover.group(sql: "teamId"), db).hasSuffix("GROUP BY teamId"))
            expectError("no such column: nope, in the table mover") {
                try Mover.select(sql: "nope", as: Int.self).fetchAll(db)
            }
            expectError("wrong number of arguments: 0 for 1 parameters") {
                try Mover.all().group(sql: "?", arguments: []).fetchAll(db)
            }
        }
    }

    @Test("Expressions take Swift's values, and several operands")
    func expressions() throws {
        try withMovers { db in
            func count(_ condition: some SQLSpecificExpressible) throws -> Int {
                try Mover.filter(condition).fetchCount(db)
            }
            let score = Column("score")
            try #expect(count(score > 10 && true) == 2)
            try #expect(count(false || score > 10) == 2)
            try #expect(count(score > 10 && false) == 0)
            try #expect(count(Column("teamId") === nil) == 1)
            try #expect(count(Column("teamId") !== nil) == 2)
            try #expect(count(Column("teamId") !== 1) == 1)
            try #expect(count(nil === Column("teamId")) == 1)
            try #expect(count(Column("id") === Column("teamId")) == 1)
            try #expect(
                count([Column("id"), Column("score"), 1 as any SQLExpressible].joined(operator: .add) > 24)
                    == 1)
            try #expect(count([Column("id"), Column("score")].joined(operator: .multiply) == 60) == 2)
            try #expect(count(([] as [SQLExpression]).joined(operator: .add) == 0) == 3)
            try #expect(count(([] as [SQLExpression]).joined(operator: .multiply) == 1) == 3)
            try #expect(count([].joined(operator: .and)) == 3)
            try #expect(count(min(score, 15, 12) == 10) == 1)
            try #expect(count(max(score, Column("id")) == 30) == 1)
            try #expect(count(Mover.select(Column("teamId")).contains(1)) == 3)
            try #expect(count((score + 1).sqlExpression * [2, 3].joined(operator: .add) > 100) == 2)
        }
    }

    @Test("Common table expressions have the family's labels, and any rows")
    func commonTables() throws {
        try withMovers { db in
            let best = CommonTableExpression(
                named: "best", request: Mover.filter { $0.score > 10 }.select { $0.id })
            try #expect(Mover.with(best).filter(best.contains(Column("id"))).fetchCount(db) == 2)
            let counter = CommonTableExpression<Int>(
                recursive: true, named: "counter", columns: ["n"],
                sql: "VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < ?", arguments: [5])
            try #expect(counter.all().with(counter).fetchAll(db) == [1, 2, 3, 4, 5])
            let rows = CommonTableExpression(named: "r", sql: "SELECT 1 AS x")
            try #expect(rows.all().with(rows).fetchOne(db) == ["x": 1])
            let literal = CommonTableExpression(named: "l", literal: "SELECT \(7) AS x")
            try #expect(literal.all().with(literal).fetchOne(db) == ["x": 7])
            let movers = CommonTableExpression<Mover>(
                named: "m", request: SQLRequest<Row>(sql: "SELECT * FROM mover"))
            try #expect(movers.all().with(movers).fetchAll(db).count == 3)
            expectError("no such table: r") { try rows.all().fetchAll(db) }
        }
    }

    // MARK: - Keys

    @Test("Cursors and sets are fetched by composite keys and ids, and an empty list is one")
    func keys() throws {
        try withMovers { db in
            let keys: [[String: (any DatabaseValueConvertible)?]] = [
                ["name": "Craig"], ["name": nil], ["name": "Arthur"],
            ]
            try #expect(Array(Mover.fetchCursor(db, keys: keys).map(\.name)) == ["Craig", "Arthur"])
            try #expect(Mover.fetchSet(db, keys: keys).count == 2)
            try #expect(Mover.fetchAll(db, keys: []).isEmpty)
            try #expect(Mover.fetchSet(db, keys: []).isEmpty)
            try #expect(Mover.fetchCursor(db, keys: []).isEmpty())
            try #expect(Array(Mover.fetchCursor(db, ids: [1, 9, 3]).map(\.name)) == ["Arthur", "Craig"])
            try #expect(Array(MovedHero.fetchCursor(db, ids: [2]).map(\.name)) == ["Barbara"])
            #expect(throws: RecordError.self) { try Mover.fetchCursor(db, keys: [["score": 1]]).next() }
            let table = Table<Mover>("mover")
            try #expect(table.exists(db, key: 1))
            try #expect(table.exists(db, id: 2))
            try #expect(!table.exists(db, key: ["name": "Nobody"]))
            try #expect(table.deleteOne(db, key: 1))
            try #expect(!table.deleteOne(db, key: 1))
            try #expect(table.deleteOne(db, key: ["name": "Barbara"]))
            try #expect(table.deleteAll(db, keys: [3, 4]) == 1)
            #expect(throws: RecordError.self) { try table.exists(db, key: ["score": 1]) }
        }
    }
}
