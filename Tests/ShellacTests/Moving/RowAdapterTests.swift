import Shellac
import TestSupport
import Testing

@Suite("Row adapters")
struct RowAdapterTests {
    private let sql = "SELECT 0 AS a, 1 AS b, 'two' AS c, NULL AS d"

    private struct Pair: Decodable, FetchableRecord, Equatable {
        struct Part: Decodable, FetchableRecord, Equatable { var a: Int }
        var b: Int
        var left: Part
        var right: Part?
    }

    @Test("Each adapter shows its columns, under its names")
    func columns() throws {
        try withMovers { db in
            func row(_ adapter: some RowAdapter) throws -> Row? {
                try Row.fetchOne(db, sql: sql, adapter: adapter)
            }
            let suffix = try row(SuffixRowAdapter(fromIndex: 2))
            #expect(suffix == ["c": "two", "d": nil])
            let range = try row(RangeRowAdapter(1..<3))
            #expect(range == ["b": 1, "c": "two"])
            let closed = try row(RangeRowAdapter(0...1))
            #expect(closed == ["a": 0, "b": 1])
            let mapping = try row(ColumnMapping(["x": "C", "y": "a"]))
            #expect(mapping == ["y": 0, "x": "two"])
            let renamed = try row(RenameColumnAdapter { $0 + "2" })
            #expect(renamed == ["a2": 0, "b2": 1, "c2": "two", "d2": nil])
            let none = try row(EmptyRowAdapter())
            #expect(none?.isEmpty == true)
            let chained = try Row.fetchOne(
                db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1).followed(by: ColumnMapping(["z": "c"])))
            #expect(chained == ["z": "two"])
        }
    }

    @Test("Values, sets, cursors and statements take one, and nil is none")
    func fetching() throws {
        try withMovers { db in
            let adapter = SuffixRowAdapter(fromIndex: 1)
            let sql = "SELECT id, name FROM mover ORDER BY id"
            try #expect(String.fetchAll(db, sql: sql, adapter: adapter) == ["Arthur", "Barbara", "Craig"])
            try #expect(String.fetchSet(db, sql: sql, adapter: adapter) == ["Arthur", "Barbara", "Craig"])
            try #expect(String.fetchOne(db, sql: sql, arguments: [], adapter: adapter) == "Arthur")
            try #expect(Int.fetchAll(db, sql: sql, adapter: nil) == [1, 2, 3])
            let statement = try db.makeStatement(sql: sql)
            try #expect(String.fetchAll(statement, adapter: adapter) == ["Arthur", "Barbara", "Craig"])
            try #expect(String.fetchOne(statement, adapter: adapter) == "Arthur")
            let cursor = try String.fetchCursor(statement, adapter: adapter)
            try #expect(cursor.next() == "Arthur")
            try #expect(cursor.next() == "Barbara")
            try #expect(cursor.next() == "Craig")
            try #expect(cursor.next() == nil)
            try #expect(cursor.next() == nil)
        }
    }

    @Test("A cursor that is let go of frees its statement")
    func abandoned() throws {
        try withMovers { db in
            let statement = try db.makeStatement(sql: "SELECT id, name FROM mover")
            var cursor: RowCursor? = try Row.fetchCursor(statement, adapter: SuffixRowAdapter(fromIndex: 1))
            try #expect(cursor?.next()?["name"] == "Arthur")
            expectError("the statement is running: make another for a second use at the same time") {
                try statement.execute()
            }
            cursor = nil
            try statement.execute()
        }
    }

    @Test("Records that are fetched with one are clean, and are saved")
    func records() throws {
        try withMovers { db in
            let sql = "SELECT team.title, mover.* FROM mover JOIN team ON team.id = teamId ORDER BY mover.id"
            let adapter = SuffixRowAdapter(fromIndex: 1)
            var movers = try Mover.fetchAll(db, sql: sql, adapter: adapter)
            #expect(movers.map(\.name) == ["Arthur", "Barbara"])
            movers[0].score = 11
            try movers[0].update(db)
            try #expect(Int.fetchOne(db, sql: "SELECT score FROM mover WHERE id = 1") == 11)
            let hero = try MovedHero.fetchAll(db, sql: sql, adapter: adapter)[1]
            #expect(!hero.hasDatabaseChanges)
            hero.score += 1
            try #expect(hero.updateChanges(db))
            try #expect(Int.fetchOne(db, sql: "SELECT score FROM mover WHERE id = 2") == 31)
        }
    }

    @Test("Scopes are rows of their own, which copies keep, and which structs decode")
    func scopes() throws {
        try withMovers { db in
            let adapter = ScopeAdapter(
                base: RangeRowAdapter(1..<2),
                scopes: [
                    "left": RangeRowAdapter(0..<2), "right": ColumnMapping(["a": "d"]),
                    "deep": ScopeAdapter(
                        base: EmptyRowAdapter(), scopes: ["in": SuffixRowAdapter(fromIndex: 2)]),
                ])
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let live = try #require(try cursor.next())
            for row in [live, live.copy()] {
                #expect(Array(row.columnNames) == ["b"])
                #expect(row.scopes.names == ["deep", "left", "right"])
                #expect(row.scopes["left"] == ["a": 0, "b": 1])
                #expect(row.scopes["right"] == nil)
                #expect(row.scopes["deep"]?.scopes["in"] == ["c": "two", "d": nil])
                #expect(row.scopes["none"] == nil)
            }
            let pairs = try Pair.fetchAll(db, sql: sql, adapter: adapter)
            #expect(pairs == [Pair(b: 1, left: Pair.Part(a: 0), right: nil)])
            let added = try Row.fetchOne(
                db, sql: sql,
                adapter: RangeRowAdapter(0..<1).addingScopes(["s": SuffixRowAdapter(fromIndex: 3)]))
            #expect(added?.scopes.names == ["s"])
        }
    }

    @Test("A joined query is split between its tables")
    func splitting() throws {
        try withMovers { db in
            let sql =
                "SELECT mover.*, team.*, 7 AS rest FROM mover LEFT JOIN team ON team.id = teamId ORDER BY mover.id"
            let counts = try [db.columns(in: "mover").count, db.columns(in: "team").count]
            let adapters = splittingRowAdapters(columnCounts: counts)
            #expect(adapters.count == 3)
            let request = SQLRequest(
                sql: sql,
                adapter: ScopeAdapter(["mover": adapters[0], "team": adapters[1], "rest": adapters[2]]))
            let rows = try request.fetchAll(db)
            let titles = try rows.map { try $0.scopes["team"]?["title"] as String? }
            #expect(titles == ["Reds", "Reds", nil])
            let names = try rows.map { try $0.scopes["mover"]?["name"] as String? }
            #expect(names == ["Arthur", "Barbara", "Craig"])
            let rests = try rows.map { try $0.scopes["rest"]?["rest"] as Int? }
            #expect(rests == [7, 7, 7])
        }
    }

    @Test("Requests have one, in each way of fetching, and several follow one another")
    func requests() throws {
        try withMovers { db in
            let sql = "SELECT 0, mover.* FROM mover ORDER BY id"
            let request = SQLRequest<Mover>(sql: sql, adapter: SuffixRowAdapter(fromIndex: 1), cached: false)
            try #expect(request.fetchAll(db).count == 3)
            try #expect(request.fetchOne(db)?.name == "Arthur")
            try #expect(request.fetchSet(db).count == 3)
            try #expect(request.fetchCount(db) == 3)
            let cursor = try request.fetchCursor(db)
            try #expect(Array(cursor.map(\.name)) == ["Arthur", "Barbara", "Craig"])
            let adapted = SQLRequest<Row>(sql: sql)
                .adapted { _ in SuffixRowAdapter(fromIndex: 1) }
                .adapted { db in
                    let count = try db.columns(in: "mover").count
                    return RangeRowAdapter(1..<count - 1)
                }
            try #expect(adapted.fetchOne(db) == ["name": "Arthur", "score": 10])
            try #expect(String.fetchAll(db, adapted) == ["Arthur", "Barbara", "Craig"])
            try #expect(adapted.fetchCount(db) == 3)
            let names = Mover.all().adapted { _ in ColumnMapping(["x": "name"]) }
            try #expect(Row.fetchOne(db, names) == ["x": "Arthur"])
        }
    }

    @Test("Long texts, blobs and many rows are shown as they are")
    func longRows() throws {
        try withMovers { db in
            let sql = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                SELECT i, hex(zeroblob(i * 7)), -i * 1000000007, i / 3.0, zeroblob(i) FROM n
                """
            let plain = try Row.fetchAll(db, sql: sql)
            let shown = try Row.fetchAll(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(shown.count == 300)
            for (plain, shown) in zip(plain, shown) {
                #expect(Array(plain.databaseValues.dropFirst()) == shown.databaseValues)
            }
        }
    }

    @Test("Columns that there are not are told of, also without a row, and the statement is free again")
    func missing() throws {
        try withMovers { db in
            for sql in [sql, sql + " WHERE 0"] {
                let mapping = #expect(throws: DatabaseError.self) {
                    try Row.fetchAll(db, sql: sql, adapter: ColumnMapping(["x": "nope"]))
                }
                #expect(mapping?.message == "an adapter maps the column nope, which is not among a, b, c, d")
                let range = #expect(throws: DatabaseError.self) {
                    try Row.fetchAll(db, sql: sql, adapter: RangeRowAdapter(0..<5))
                }
                #expect(range?.message == "an adapter needs 5 columns, but there are only 4: a, b, c, d")
                expectError("an adapter needs 5 columns, but there are only 4: a, b, c, d") {
                    try Row.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 5))
                }
                expectError("an adapter maps the column nope, which is not among a, b, c, d") {
                    try Row.fetchOne(db, sql: sql, adapter: ScopeAdapter(["s": ColumnMapping(["x": "nope"])]))
                }
            }
            _ = try Row.fetchAll(db, sql: sql)
        }
    }

    @Test("A request that includes relations takes none, and says so")
    func relations() throws {
        try withMovers { db in
            let request = MovedHero.including(optional: MovedHero.team).asRequest(of: Row.self)
                .adapted { _ in EmptyRowAdapter() }
            let error = #expect(throws: DatabaseError.self) { try request.fetchAll(db) }
            #expect(error?.message?.contains("row.scopes") == true)
        }
    }

    @Test("The schema may change between two runs of a kept statement")
    func schemaChange() throws {
        try withMovers { db in
            let request = SQLRequest(
                sql: "SELECT * FROM team ORDER BY id", adapter: SuffixRowAdapter(fromIndex: 1))
            try #expect(request.fetchOne(db) == ["title": "Reds"])
            try db.execute(sql: "ALTER TABLE team ADD COLUMN x DEFAULT 5")
            try #expect(request.fetchOne(db) == ["title": "Reds", "x": 5])
        }
    }

    @Test("A row of a cursor is stale when this has moved on")
    func stale() throws {
        try withMovers { db in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT id, name FROM mover", adapter: SuffixRowAdapter(fromIndex: 1))
            let first = try #require(try cursor.next())
            let kept = first.copy()
            _ = try cursor.next()
            #expect(first.description == "Row (its cursor has moved on)")
            #expect(kept == ["name": "Arthur"])
        }
    }
}

/// A class of the same table.
final class MovedHero: Record {
    static let team = belongsTo(MovedTeam.self)

    var id: Int64?
    var name = ""
    var score = 0
    var teamId: Int64?

    override class var databaseTableName: String { "mover" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("teamId", teamId) { teamId = $0 }
    }
}

final class MovedTeam: Record {
    var id: Int64?
    var title = ""

    override class var databaseTableName: String { "team" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
    }
}
