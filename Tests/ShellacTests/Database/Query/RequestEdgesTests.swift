import TestSupport
import Testing

@testable import Shellac

@Suite("Requests at their edges: keys, unions, limits and names")
struct RequestEdgesTests {
    typealias Player = League.Player
    private static let id = Column("id")
    private static let score = Column("score")

    // MARK: - Keys beside joins

    static let keyFilters: [@Sendable (QueryInterfaceRequest<Player>) -> QueryInterfaceRequest<Player>] = [
        { $0.filter(key: 1) }, { $0.filter(id: 2) }, { $0.filter(keys: [1, 3]) },
        { $0.filter(keys: Array(2...3000)) },
        { $0.filter(key: ["id": 1]) }, { $0.filter(key: ["name": "Arthur"]) },
        { $0.filter(keys: [["id": 4], ["name": "Arthur"], ["ID": 3]]) },
    ]

    @Test(
        "by key find their rows beside joined tables that have the same columns",
        arguments: 0..<keyFilters.count)
    func joinedKeys(number: Int) throws {
        let filter = Self.keyFilters[number]
        let (player, team) = (TableAlias("p"), TableAlias("t"))
        let named = player[Column("teamID")] == team[Self.id]
        let other = Table("team")
        let joins: [QueryInterfaceRequest<Player>] = [
            filter(Player.all().join(other, aliased: team, on: SQL("player.teamID = t.id"))),
            filter(Player.all()).join(other, aliased: team, on: SQL("player.teamID = t.id")),
            filter(Player.aliased(player)).join(other, aliased: team, on: named),
            filter(Player.all()).join(other, aliased: team, on: named).aliased(player),
            filter(Player.aliased(player).leftJoin(other, aliased: team, on: named)).filter(
                team[Self.id] != nil),
        ]
        try League.database().write { db in
            let expected = try filter(Player.all()).filter(Column("teamID") != nil).fetchAll(db).map(\.id)
                .sorted()
            for (index, request) in joins.enumerated() {
                let comment: Comment = "join \(index)"
                let found = try request.fetchAll(db).map(\.id).sorted()
                #expect(found == expected, comment)
                let count = try request.fetchCount(db)
                #expect(count == expected.count, comment)
                let first = try request.fetchOne(db)
                #expect(first.map { expected.contains($0.id) } == true, comment)
                try db.inSavepoint {
                    let deleted = try request.deleteAll(db)
                    #expect(deleted == expected.count, comment)
                    return .rollback
                }
            }
        }
    }

    // MARK: - Regions

    struct Counted: TableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] {
            [.allColumns, SQL("(SELECT COUNT(*) FROM team)").forKey("n")]
        }
    }

    @Test("by key have all in their region that the type selects elsewhere")
    func selectedRegion() throws {
        try League.database().read { db in
            let region = try Counted.filter(key: 1).region(db)
            #expect(region.tableNames == ["player", "team"])
            let explicit = try Counted.filter(key: 1).select(Self.id).region(db)
            #expect(explicit.tableNames == ["player"])
        }
    }

    // MARK: - Common tables

    @Test(
        "of a common table neither update nor delete the table of its name", arguments: ["player", "PLAYER"])
    func commonTables(name: String) throws {
        let table = CommonTableExpression(name, Table("player").filter(Self.score > 99))
        let requests = [
            table.all().with(table), Table<Row>("player").all().with(table),
            Player.all().with(table).asRequest(of: Row.self),
            table.all().with(table).limit(1), table.all().with(table).filter(Self.score > 1),
        ]
        try League.database().write { db in
            for request in requests {
                let attempts: [() throws -> Void] = [
                    { _ = try request.deleteAll(db) },
                    { _ = try request.updateAll(db, Self.score.set(to: 0)) },
                    { _ = try request.deleteAndFetchAll(db) },
                    { _ = try request.updateAndFetchAll(db, [Self.score.set(to: 0)]) },
                ]
                for attempt in attempts {
                    let error = databaseError { try attempt() }
                    #expect(
                        error?.message?.hasPrefix("only the rows of a table can be updated and deleted")
                            == true)
                }
            }
            let count = try Player.filter(Self.score > 0).fetchCount(db)
            #expect(count == 4)
            // Another name does no harm.
            let best = CommonTableExpression("best", Table("player").filter(Self.score > 99).select(Self.id))
            let deleted = try Player.filter(best.all().contains(Self.id)).with(best).deleteAll(db)
            #expect(deleted == 3)
        }
    }

    // MARK: - Many operands

    @Test("take chains of thousands of conditions, and of composite keys", arguments: [64, 65, 1001, 5000])
    func chains(count: Int) throws {
        try League.database().read { db in
            let terms = (0..<count).map { Self.id != 100 + $0 }
            var found = try Table("player").filter(terms.joined(operator: .and)).fetchCount(db)
            #expect(found == 5)
            found = try Table("player").filter(terms.map { !$0 }.joined(operator: .or) || Self.id == 1)
                .fetchCount(db)
            #expect(found == 1)
            let text = try Table("player").select(
                Array(repeating: "a".sqlExpression, count: count).joined(operator: .concat), as: String.self
            ).fetchOne(db)
            #expect(text == String(repeating: "a", count: count))
            let request = terms.prefix(1500).reduce(Player.all()) { $0.filter($1) }
            found = try request.fetchCount(db)
            #expect(found == 5)
            let keys: [[String: (any DatabaseValueConvertible)?]] = (0..<count).map {
                ["playerID": 1, "year": 2024 - $0]
            }
            found = try Table("visit").filter(keys: keys).fetchCount(db)
            #expect(found == 1)
        }
    }

    // MARK: - Limits and NULL

    @Test("with a limit update and delete rows whose key is NULL")
    func nullKeys() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE n (k TEXT PRIMARY KEY, v); INSERT INTO n VALUES (NULL, 1), (NULL, 2), ('a', 3)"
            )
            let request = Table("n").order(Column("v")).limit(2)
            let updated = try request.updateAll(db, Column("v").set(to: Column("v") + 10))
            #expect(updated == 2)
            let values = try Int.fetchAll(db, sql: "SELECT v FROM n ORDER BY rowid")
            #expect(values == [11, 12, 3])
            let deleted = try request.deleteAll(db)
            #expect(deleted == 2)
            let rest = try Int.fetchAll(db, sql: "SELECT v FROM n")
            #expect(rest == [12])
        }
    }

    // MARK: - Unions

    @Test("that are unions are sorted by expressions, by columns, and by what they select")
    func sortedUnions() throws {
        try League.database().read { db in
            let union = Table("player").select(Self.id).filter(Self.id < 3)
                .union(Table("player").select(Self.id).filter(Self.id > 2))
            let orders: [(any SQLOrderingTerm, [Int])] = [
                (abs(Self.id - 3).desc, [1, 5, 2, 4, 3]), (Self.id.desc, [5, 4, 3, 2, 1]),
                (SQL("abs(id - 3) DESC"), [1, 5, 2, 4, 3]), (SQL("id DESC"), [5, 4, 3, 2, 1]),
                (SQL("1 DESC"), [5, 4, 3, 2, 1]), (Self.id.collating(.nocase).desc, [5, 4, 3, 2, 1]),
            ]
            for (term, expected) in orders {
                let found = try union.order(term, Self.id).asRequest(of: Int.self).fetchAll(db)
                #expect(found == expected)
                let some = try union.order(term, Self.id).limit(2).asRequest(of: Int.self).fetchAll(db)
                #expect(some == Array(expected.prefix(2)))
            }
            let selected = Table("player").select(abs(Self.score)).union(Table("team").select(Self.id))
            let values = try selected.order(abs(Self.score).desc).limit(1).asRequest(of: Int?.self).fetchAll(
                db)
            #expect(values == [250])
        }
    }

    @Test("that are unions inside of others are put together as they were nested")
    func nestedUnions() throws {
        try League.database().read { db in
            func ids(_ values: [Int]) -> QueryInterfaceRequest<Int> {
                Table("player").filter(keys: values).select(Self.id, as: Int.self)
            }
            let nested = try ids([1, 2, 3]).except(ids([1]).union(ids([2]))).fetchAll(db)
            #expect(nested == [3])
            let flat = try ids([1, 2, 3]).except(ids([1])).union(ids([2])).fetchAll(db)
            #expect(flat == [2, 3])
        }
    }

    // MARK: - Names

    @Test("that name a column which is not there say where, and which one is near")
    func misspelled() throws {
        try League.database().read { db in
            let error = databaseError { _ = try League.Member.filter { $0.nmae == "x" }.fetchAll(db) }
            #expect(
                error?.message == "no such column: nmae, in the table player of Member: did you mean name?")
            #expect(error?.sql == #"SELECT * FROM "player" WHERE "nmae" = ?"#)
            let far = databaseError { _ = try League.Member.filter { $0.altogether == 1 }.fetchCount(db) }
            #expect(far?.message == "no such column: altogether, in the table player of Member")
            let joined = databaseError {
                _ = try Table("player").join(Table("team"), on: Column("colour") == "red").fetchAll(db)
            }
            #expect(
                joined?.message
                    == "no such column: colour, in the table player and the table team: did you mean color?")
        }
    }

    @Test("of a type whose table is not there name the type, and say what is missing")
    func missingTable() throws {
        struct Nowhere: Codable, FetchableRecord, PersistableRecord { var id: Int }
        let sentence =
            "no such table: nowhere, where Nowhere is stored: run the migration that creates it, or override "
            + "databaseTableName"
        try DatabaseQueue().write { db in
            let attempts: [(() throws -> Void, String)] = [
                ({ _ = try Nowhere.fetchAll(db) }, #"SELECT * FROM "nowhere""#),
                ({ try Nowhere(id: 1).insert(db) }, #"SELECT * FROM "nowhere""#),
                ({ try Nowhere(id: 1).save(db) }, #"SELECT * FROM "nowhere""#),
                ({ _ = try Nowhere.find(db, key: 1) }, #"SELECT * FROM "nowhere""#),
                ({ _ = try Nowhere.all().fetchAll(db) }, #"SELECT * FROM "nowhere""#),
                ({ _ = try Nowhere.filter(key: 1).fetchAll(db) }, #"SELECT * FROM "nowhere""#),
                ({ _ = try Nowhere.all().deleteAll(db) }, #"DELETE FROM "nowhere""#),
            ]
            for (attempt, sql) in attempts {
                let error = databaseError { try attempt() }
                #expect(error?.message == sentence)
                #expect(error?.sql == sql)
            }
        }
    }

    @Test("are sorted by several terms of a closure, and rows know their columns")
    func closures() throws {
        try League.database().read { db in
            let pair = try Player.order { [$0.score.desc, $0.name.desc] }.fetchAll(db).map(\.id)
            #expect(pair == [4, 2, 1, 3, 5])
            let lines = try Player.all().order {
                $0.score.desc
                $0.name
            }.fetchAll(db).map(\.id)
            #expect(lines == [2, 4, 1, 3, 5])
            let one = try League.Member.order { $0.name.desc }.fetchOne(db)?.name
            #expect(one == "O'Brien")
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a")
            #expect(row?.hasColumn(Column("A")) == true)
            #expect(row?.hasColumn(Column("b")) == false)
        }
    }

    @Test("of a type whose table has another name than before stop a debug build", arguments: [true, false])
    func changedName(isRecord: Bool) async {
        struct Tenant: Codable, FetchableRecord, PersistableRecord {
            nonisolated(unsafe) static var databaseTableName = "player"  // used by one thread
            var id: Int64
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isRecord = isRecord as Bool] in
            crashWithoutBacktrace()
            try League.database().write { db in
                _ = try Tenant.all().fetchCount(db)
                Tenant.databaseTableName = "team"
                if isRecord { _ = try Tenant.deleteAll(db) } else { _ = try Tenant.all().deleteAll(db) }
            }
        }
        let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(error.contains("the databaseTableName of Tenant was player, and is team now"))
    }

    // MARK: - Shapes

    @Test("whose shapes have one hash are told apart")
    func collision() throws {
        struct Piece: WritableQuery {
            let sql: String
            var sources: [QuerySource] { [] }
            func write(to writer: inout some QueryWriter) throws { try writer.fragment(SQL(sql: sql)) }
        }
        let pieces = ["first: adABaBa", "Th6r_XzJ.1.d.e"]
        let shapes = try pieces.map { text in
            var writer = ShapeWriter(over: [])
            try Piece(sql: "SELECT '\(text)'").write(to: &writer)
            return writer.bytes
        }
        #expect(RequestCache.hash(shapes[0]) == RequestCache.hash(shapes[1]))
        #expect(!shapes[0].hasSameBytes(as: shapes[1]))
        try DatabaseQueue().read { db in
            for text in pieces + pieces {
                let found = try String.fetchOne(
                    db.queries.prepare(Piece(sql: "SELECT '\(text)'"), on: db).statement)
                #expect(found == text)
            }
        }
    }
}
