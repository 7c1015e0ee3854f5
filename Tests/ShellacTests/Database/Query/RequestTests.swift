import Shellac
import TestSupport
import Testing

@Suite("A request")
struct RequestTests {
    typealias Player = League.Player

    private func expect<Request: FetchRequest>(
        _ request: Request, _ sql: String, _ ids: [Int64], sourceLocation: SourceLocation = #_sourceLocation
    ) throws where Request.RowDecoder: DatabaseFetchable {
        var found: [Int64] = []
        let executed = try League.sql { db in
            found = try request.fetchAll(db).map { element in
                switch element {
                case let player as Player: player.id
                case let member as League.Member: member.id ?? 0
                case let row as Row: try row["id"]
                case let id as Int64: id
                default: 0
                }
            }
        }
        #expect(
            executed.last { !$0.hasPrefix("PRAGMA") && !$0.contains("sqlite_master") } == sql,
            sourceLocation: sourceLocation)
        #expect(found == ids, sourceLocation: sourceLocation)
    }

    @Test("is derived from a type, an instance at a time")
    func deriving() throws {
        let score = Column("score")
        try expect(Player.all(), #"SELECT * FROM "player""#, [1, 2, 3, 4, 5])
        try expect(Player.none(), #"SELECT * FROM "player" WHERE 0"#, [])
        try expect(Player.none().filter(score > 1), #"SELECT * FROM "player" WHERE 0 AND "score" > ?"#, [])
        try expect(
            Player.filter(score > 60).filter(Column("id") > 1),
            #"SELECT * FROM "player" WHERE "score" > ? AND "id" > ?"#,
            [2, 4])
        try expect(
            Player.filter(literal: "score > \(100)"), #"SELECT * FROM "player" WHERE score > ?"#, [2, 4])
        try expect(
            Player.filter(sql: "score > ?", arguments: [100]), #"SELECT * FROM "player" WHERE score > ?"#,
            [2, 4])
        try expect(
            Player.order(score.desc, Column("name")),
            #"SELECT * FROM "player" ORDER BY "score" DESC, "name""#,
            [2, 4, 1, 3, 5])
        try expect(
            Player.order(score.ascNullsLast), #"SELECT * FROM "player" ORDER BY "score" NULLS LAST"#,
            [3, 1, 2, 4, 5])
        try expect(
            Player.order(score.descNullsFirst, Column("id").asc),
            #"SELECT * FROM "player" ORDER BY "score" DESC NULLS FIRST, "id""#, [5, 2, 4, 1, 3])
        try expect(
            Player.order(score.descNullsFirst, Column("id").asc).reversed(),
            #"SELECT * FROM "player" ORDER BY "score" NULLS LAST, "id" DESC"#, [3, 1, 4, 2, 5])
        try expect(Player.all().reversed(), #"SELECT * FROM "player""#, [1, 2, 3, 4, 5])
        try expect(Player.order(score).unordered(), #"SELECT * FROM "player""#, [1, 2, 3, 4, 5])
        try expect(
            Player.order(score).order(Column("id").desc), #"SELECT * FROM "player" ORDER BY "id" DESC"#,
            [5, 4, 3, 2, 1])
        try expect(
            Player.order(sql: "id DESC"), #"SELECT * FROM "player" ORDER BY id DESC"#, [5, 4, 3, 2, 1])
        try expect(Player.limit(2), #"SELECT * FROM "player" LIMIT ?"#, [1, 2])
        try expect(
            Player.order(Column("id")).limit(2, offset: 3),
            #"SELECT * FROM "player" ORDER BY "id" LIMIT ? OFFSET ?"#, [4, 5])
        try expect(
            Player.select(score, as: Int?.self).distinct(), #"SELECT DISTINCT "score" FROM "player""#,
            [0, 0, 0, 0])
    }

    @Test("finds by key, whatever the key is")
    func keys() throws {
        try expect(Player.filter(key: 2), #"SELECT * FROM "player" WHERE "id" = ?"#, [2])
        try expect(Player.filter(id: 2), #"SELECT * FROM "player" WHERE "id" = ?"#, [2])
        try expect(
            Player.filter(keys: [1, 3, 9]), #"SELECT * FROM "player" WHERE "id" IN (?, ?, ?)"#, [1, 3])
        try expect(Player.filter(ids: [1, 3]), #"SELECT * FROM "player" WHERE "id" IN (?, ?)"#, [1, 3])
        try expect(Player.filter(keys: [Int]()), #"SELECT * FROM "player" WHERE 0"#, [])
        try expect(Player.filter(key: Int?.none), #"SELECT * FROM "player" WHERE 0"#, [])
        try expect(Player.filter(key: ["name": "Craig"]), #"SELECT * FROM "player" WHERE "name" = ?"#, [3])
        try expect(
            Player.filter(keys: [["name": "Craig"], ["id": 1]]).order(Column("id")),
            #"SELECT * FROM "player" WHERE "name" = ? OR "id" = ? ORDER BY "id""#, [1, 3])
        try expect(
            Player.filter(keys: [["name": "Arthur"], ["name": "Craig"]]).filter(Column("id") > 1),
            #"SELECT * FROM "player" WHERE ("name" = ? OR "name" = ?) AND "id" > ?"#, [3])
        try expect(Player.filter(key: ["name": nil]), #"SELECT * FROM "player" WHERE 0"#, [])
        try expect(
            Table("visit").filter(key: ["playerID": 1, "year": 2025]).select(literal: "playerID AS id"),
            #"SELECT playerID AS id FROM "visit" WHERE "playerID" = ? AND "year" = ?"#, [1])
    }

    @Test("by a key that is none throws what finding by it throws")
    func wrongKeys() throws {
        try League.database().read { db in
            #expect(
                throws: RecordError.compositeKey(databaseTableName: "visit", columns: ["playerID", "year"])
            ) {
                try Table("visit").filter(key: 1).fetchAll(db)
            }
            #expect(throws: RecordError.notAUniqueKey(databaseTableName: "player", columns: ["score"])) {
                try Player.filter(key: ["score": 100]).fetchAll(db)
            }
            let found = try Player.filter(key: 1).fetchAll(db)
            #expect(found.count == 1)
        }
    }

    @Test("A row of a composite key is not one of a value, and neither of nil", arguments: [1, nil])
    func oneValue(key: Int?) throws {
        struct Visit: TableRecord { static let databaseTableName = "visit" }
        try League.database().write { db in
            let error = RecordError.compositeKey(
                databaseTableName: "visit", columns: ["playerID", "year"])
            #expect(throws: error) { try Visit.deleteOne(db, key: key) }
            #expect(throws: error) { try Visit.exists(db, key: key) }
            #expect(throws: error) { try Visit.deleteAll(db, keys: [key]) }
        }
    }

    @Test("selects what it is told, and reads it as another type")
    func selections() throws {
        let (id, score) = (Column("id"), Column("score"))
        try expect(Player.select(id, as: Int64.self), #"SELECT "id" FROM "player""#, [1, 2, 3, 4, 5])
        try expect(
            Player.select([id, score]).asRequest(of: Row.self), #"SELECT "id", "score" FROM "player""#,
            [1, 2, 3, 4, 5])
        try expect(
            Player.select(literal: "id + \(1)", as: Int64.self), #"SELECT id + ? FROM "player""#,
            [2, 3, 4, 5, 6])
        try expect(
            Player.annotated(with: (score + 1).forKey("next")).filter(score > 100),
            #"SELECT *, "score" + ? AS "next" FROM "player" WHERE "score" > ?"#, [2, 4])
        try expect(
            Player.select(Column("teamID").forKey("id"), max(score).forKey("best")).group(Column("teamID"))
                .having(count(.allColumns) > 1).order(Column("best")).asRequest(of: Row.self),
            #"SELECT "teamID" AS "id", MAX("score") AS "best" FROM "player" GROUP BY "teamID" HAVING COUNT(*) > ? ORDER BY "best""#,
            [1, 2])
    }

    @Test("of a class fetches the class it was asked of, with that class's selection")
    func classes() throws {
        try expect(
            League.Member.filter(Column("score") > 100), #"SELECT * FROM "player" WHERE "score" > ?"#, [2, 4])
        try expect(
            League.Captain.filter(Column("score") > 100).order(Column("id").desc),
            #"SELECT "id", "name" FROM "player" WHERE "score" > ? ORDER BY "id" DESC"#, [4, 2])
        try League.database().read { db in
            let captains: [League.Captain] = try League.Captain.filter(Column("id") == 1).fetchAll(db)
            #expect(captains.map(\.name) == ["Arthur"])
            let member = try #require(try League.Member.filter(key: 1).fetchOne(db))
            #expect(type(of: member) == League.Member.self)
            #expect(!member.hasDatabaseChanges)
        }
    }

    @Test("of a table needs no type")
    func tables() throws {
        try expect(Table("player"), #"SELECT * FROM "player""#, [1, 2, 3, 4, 5])
        try expect(Table("player").filter(key: 3), #"SELECT * FROM "player" WHERE "id" = ?"#, [3])
        try expect(
            Table<Player>("player").filter(Column("score") > 100),
            #"SELECT * FROM "player" WHERE "score" > ?"#, [2, 4])
    }

    @Test("is extended for its records")
    func extensions() throws {
        try expect(
            Player.filter(Column("id") < 5).best(),
            #"SELECT * FROM "player" WHERE "id" < ? ORDER BY "score" DESC LIMIT ?"#, [2])
        try expect(Player.best(), #"SELECT * FROM "player" ORDER BY "score" DESC LIMIT ?"#, [2])
    }

    @Test("fetches a cursor, an array, a set, and one element")
    func fetches() throws {
        let request = Player.filter(Column("score") > 100)
        var one: Player?
        #expect(
            try League.sql { one = try request.fetchOne($0) } == [
                #"SELECT * FROM "player" WHERE "score" > ? LIMIT 1"#
            ])
        #expect(one?.id == 2)
        #expect(
            try League.sql { one = try request.limit(5, offset: 1).fetchOne($0) }
                == [#"SELECT * FROM "player" WHERE "score" > ? LIMIT ? OFFSET ?"#])
        #expect(one?.id == 4)
        #expect(try League.sql { one = try request.limit(0).fetchOne($0) }.count == 1)
        #expect(one == nil)
        #expect(
            try League.sql { one = try Player.filter(key: 3).fetchOne($0) }.last
                == #"SELECT * FROM "player" WHERE "id" = ?"#)
        #expect(one?.id == 3)
        try League.database().read { db in
            #expect(try request.fetchSet(db).map(\.id).sorted() == [2, 4])
            let cursor = try request.fetchCursor(db)
            var ids: [Int64] = []
            // The same shape, while the cursor has its statement.
            while let player = try cursor.next() {
                ids.append(player.id)
                #expect(try Player.filter(Column("score") > 200).fetchAll(db).count == 2)
            }
            #expect(ids == [2, 4])
        }
    }

    @Test("counts its rows, and tells whether there are any")
    func counts() throws {
        func count(_ request: some FetchRequest, _ sql: String, _ expected: Int) throws {
            var count = -1
            let executed = try League.sql { count = try request.fetchCount($0) }
            #expect(executed.last == sql)
            #expect(count == expected)
        }
        let score = Column("score")
        try count(Player.all(), #"SELECT COUNT(*) FROM "player""#, 5)
        try count(
            Player.filter(score > 60).order(score).select(score),
            #"SELECT COUNT(*) FROM "player" WHERE "score" > ?"#, 3)
        try count(
            Player.select(score).distinct(), #"SELECT COUNT(*) FROM (SELECT DISTINCT "score" FROM "player")"#,
            4)
        try count(Player.limit(3), #"SELECT COUNT(*) FROM (SELECT * FROM "player" LIMIT ?)"#, 3)
        try count(Player.select(max(score)), #"SELECT COUNT(*) FROM (SELECT MAX("score") FROM "player")"#, 1)
        try count(
            Player.select(score).group(score),
            #"SELECT COUNT(*) FROM (SELECT "score" FROM "player" GROUP BY "score")"#, 4)
        try count(SQLRequest<Row>("SELECT * FROM team"), "SELECT COUNT(*) FROM (SELECT * FROM team)", 2)
        var isEmpty: Bool?
        #expect(
            try League.sql { isEmpty = try Player.filter(score > 60).isEmpty($0) }
                == [#"SELECT EXISTS (SELECT * FROM "player" WHERE "score" > ?)"#])
        #expect(isEmpty == false)
        let answers = try League.database().read { db in
            try [
                Player.filter(score > 999).isEmpty(db), Player.filter(score > 999).exists(db),
                Player.filter(score > 99).exists(db), Player.isEmpty(db), Table("team").isEmpty(db),
            ]
        }
        #expect(answers == [true, false, true, false, false])
    }

    @Test("with a column or a table that does not exist throws SQLite's error, with the SQL")
    func unknownNames() throws {
        try League.database().read { db in
            var error = databaseError { _ = try Player.filter(Column("nope") > 1).fetchAll(db) }
            #expect(error?.message == "no such column: nope, in the table player")
            #expect(error?.sql == #"SELECT * FROM "player" WHERE "nope" > ?"#)
            error = databaseError { _ = try Table("nope").fetchAll(db) }
            #expect(error?.message == "no such table: nope")
            let count = try Player.fetchCount(db)
            #expect(count == 5)
        }
    }
}

extension QueryInterfaceRequest<League.Player> {
    fileprivate func best() -> Self { order(Column("score").desc).limit(1) }
}

extension League.Player {
    fileprivate static func best() -> QueryInterfaceRequest<Self> { all().best() }
}
