import TestSupport
import Testing

@testable import Shellac

/// A request in an SQL literal means what SQL means by a query in its place.
@Suite("Requests in SQL literals", .behaviour(116))
struct LiteralRequestTests {
    private final class Club: Record {
        override class var databaseTableName: String { "team" }
        static let players = hasMany(Mate.self)
        var id: Int64?
        var name = ""

        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    private final class Mate: Record {
        override class var databaseTableName: String { "player" }
        static let club = belongsTo(Club.self)
        override class var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["isFlagged"])] }
        var id: Int64?

        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
        }
    }

    typealias Request = QueryInterfaceRequest<Int>
    private static let players = Table<League.Player>("player")
    private static let id = Column("id")
    private static let score = Column("score")

    /// A request of ids, and the same query by hand.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let request: any SQLSubqueryable & Sendable
        let sql: String
        /// Whether a connection must be asked.
        var asksSchema = false
        var testDescription: String { name }
        /// The request, in a literal.
        var literal: SQL { SQL(request) }
    }

    static let kinds: [Kind] = {
        let ids = players.select(id, as: Int.self)
        let best = CommonTableExpression("best", players.filter(score > 90).all())
        return [
            Kind(name: "plain", request: ids, sql: "SELECT id FROM player"),
            Kind(
                name: "with values", request: ids.filter(score > 90),
                sql: "SELECT id FROM player WHERE score > 90"),
            Kind(
                name: "sorted", request: ids.order(score.desc, id),
                sql: "SELECT id FROM (SELECT id FROM player ORDER BY score DESC, id)"),
            Kind(
                name: "limited", request: ids.order(id.desc).limit(2),
                sql: "SELECT id FROM (SELECT id FROM player ORDER BY id DESC LIMIT 2)"),
            Kind(
                name: "union", request: ids.filter(id == 1).union(ids.filter(id == 5)),
                sql: "SELECT column1 FROM (VALUES (1), (5))"),
            Kind(
                name: "common table", request: best.all().with(best).select(id, as: Int.self),
                sql: "SELECT id FROM player WHERE score > 90"),
            Kind(
                name: "grouped", request: players.select(max(id), as: Int.self).group(Column("teamID")),
                sql: "SELECT max(id) FROM player GROUP BY teamID"),
            Kind(
                name: "joined", request: Club.joining(required: Club.players).select(id, as: Int.self),
                sql: "SELECT team.id FROM team JOIN player ON teamID = team.id", asksSchema: true),
            Kind(
                name: "keys", request: players.filter(keys: [2, 3]).select(id, as: Int.self),
                sql: "SELECT id FROM player WHERE id IN (2, 3)", asksSchema: true),
            Kind(
                name: "SQL", request: SQLRequest<Int>("SELECT id FROM player WHERE id <> \(2) -- all"),
                sql: "SELECT id FROM player WHERE id <> 2"),
            Kind(
                name: "SQL with clauses",
                request: SQLRequest<Int>(
                    "WITH w AS (\(ids)) SELECT id FROM w WHERE id > \(1) UNION SELECT \(7) ORDER BY 1 DESC LIMIT \(3);"
                ),
                sql: "SELECT column1 FROM (VALUES (7), (5), (4))"),
            Kind(
                name: "values", request: SQLRequest<Int>("VALUES (\(3)), (\(4))"),
                sql: "SELECT column1 FROM (VALUES (3), (4))"),
            Kind(
                name: "nested", request: SQLRequest<Int>("SELECT * FROM (\(ids.filter(id > 2)))"),
                sql: "SELECT id FROM player WHERE id > 2"),
        ]
    }()

    /// A place of a query, in a literal and by hand.
    private struct Place: Sendable {
        let literal: @Sendable (SQL) -> SQL
        let sql: @Sendable (String) -> String

        init(_ literal: @escaping @Sendable (SQL) -> SQL, _ sql: @escaping @Sendable (String) -> String) {
            (self.literal, self.sql) = (literal, sql)
        }
    }

    private static let places: [Place] = [
        Place({ "\($0)" }, { $0 }),
        Place({ " \($0) ; -- end" }, { $0 }),
        Place({ "SELECT id FROM player WHERE id IN \($0)" }, { "SELECT id FROM player WHERE id IN (\($0))" }),
        Place(
            { "SELECT id FROM player WHERE id IN (\($0))" }, { "SELECT id FROM player WHERE id IN (\($0))" }),
        Place(
            { "SELECT id FROM player WHERE id NOT IN /* ( */ ( /* ) */ \($0) -- )\n )" },
            { "SELECT id FROM player WHERE id NOT IN (\($0))" }),
        Place(
            { "SELECT id FROM player WHERE id in(\($0)) AND '(' <> ')' OR id IN (\($0), \(9))" },
            { "SELECT id FROM player WHERE id IN (\($0)) OR id IN ((\($0)), 9)" }),
        Place(
            { "SELECT id FROM player WHERE NOT EXISTS (\($0)) OR EXISTS \($0)" },
            { _ in "SELECT id FROM player" }),
        Place({ "SELECT \($0), (\($0)), ((\($0))) AS x" }, { "SELECT (\($0)), (\($0)), (\($0))" }),
        Place({ "SELECT max(\($0)), max((\($0)), -1)" }, { "SELECT max((\($0))), max((\($0)), -1)" }),
        Place({ "SELECT \"coalesce\"(NULL, \($0))" }, { "SELECT (\($0))" }),
        Place({ "SELECT count(*) FROM \($0)" }, { "SELECT count(*) FROM (\($0))" }),
        Place({ "SELECT count(*) FROM (\($0))" }, { "SELECT count(*) FROM (\($0))" }),
        Place(
            { "SELECT count(*) FROM player JOIN \($0) AS q, (\($0))" },
            { "SELECT count(*) FROM player JOIN (\($0)) AS q, (\($0))" }),
        Place({ "VALUES (\($0)), ((\($0)))" }, { "VALUES ((\($0))), ((\($0)))" }),
        Place(
            { "SELECT (\($0)) + 1, -\($0), \($0) IS NULL" },
            { "SELECT (\($0)) + 1, -(\($0)), (\($0)) IS NULL" }),
        Place(
            { "SELECT CASE \($0) WHEN \($0) THEN (\($0)) ELSE \($0) END" },
            { "SELECT CASE (\($0)) WHEN (\($0)) THEN (\($0)) END" }),
        Place({ "SELECT 3 BETWEEN \($0) AND \($0)" }, { "SELECT 3 BETWEEN (\($0)) AND (\($0))" }),
        Place({ "SELECT (1, \($0)) = (1, \($0))" }, { "SELECT (1, (\($0))) = (1, (\($0)))" }),
        Place(
            { "SELECT id FROM player ORDER BY id LIMIT \($0)" },
            { "SELECT id FROM player ORDER BY id LIMIT (\($0))" }),
        Place({ "\($0) UNION \($0)" }, { "SELECT * FROM (\($0)) UNION SELECT * FROM (\($0))" }),
        Place(
            { "SELECT 1 UNION ALL\($0)EXCEPT SELECT 2 UNION ALL \($0)" },
            { "SELECT 1 UNION ALL SELECT * FROM (\($0)) EXCEPT SELECT 2 UNION ALL SELECT * FROM (\($0))" }),
        Place(
            { "SELECT id FROM player WHERE id IN (\($0) UNION SELECT \(1))" },
            { "SELECT id FROM player WHERE id IN (SELECT * FROM (\($0)) UNION SELECT 1)" }),
        Place({ "\($0) ORDER BY 1 LIMIT \(2)" }, { "SELECT * FROM (\($0)) ORDER BY 1 LIMIT 2" }),
        Place({ "\($0) LIMIT 10" }, { "SELECT * FROM (\($0)) LIMIT 10" }),
        Place({ "SELECT EXISTS (\($0) LIMIT 0)" }, { _ in "SELECT 0" }),
        Place({ "WITH x AS (\($0)) SELECT * FROM x" }, { $0 }),
        Place({ "WITH x(a) AS \($0) SELECT a FROM x" }, { $0 }),
        Place({ "WITH RECURSIVE x(a) AS (SELECT 0), y AS (\($0)) \($0)" }, { $0 }),
        Place(
            { "WITH x(a) AS (SELECT 0) SELECT * FROM x UNION ALL \($0)" },
            { "SELECT 0 UNION ALL SELECT * FROM (\($0))" }),
        Place({ "EXPLAIN QUERY PLAN\n\($0)" }, { "EXPLAIN QUERY PLAN \($0)" }),
        Place({ "SELECT \(Column("id")) FROM player -- \($0) ?\n" }, { _ in "SELECT id FROM player" }),
        Place(
            { "SELECT id FROM player" + " WHERE id IN (" + $0 + ")" },
            { "SELECT id FROM player WHERE id IN (\($0))" }),
        Place(
            { [SQL("SELECT id FROM player WHERE id IN"), $0].joined(separator: " ") },
            { "SELECT id FROM player WHERE id IN (\($0))" }),
        Place(
            {
                let condition: SQL = "id IN (\($0)) AND id > \(1)"
                return "SELECT id FROM player WHERE \(condition) OR \(condition)"
            }, { "SELECT id FROM player WHERE id IN (\($0)) AND id > 1" }),
    ]

    private func rows(_ db: Database, _ sql: SQL) throws -> [[DatabaseValue]] {
        try Row.fetchAll(db, literal: sql).map(\.databaseValues).sorted { "\($0)" < "\($1)" }
    }

    @Test("mean what the same query means, by hand, in each place", arguments: kinds)
    func places(kind: Kind) throws {
        try League.database().read { db in
            for place in Self.places {
                let literal = place.literal(kind.literal)
                let expected = place.sql(kind.sql)
                // (A plan is that of the SQL.)
                if expected.hasPrefix("EXPLAIN") {
                    let steps = try rows(db, literal)
                    #expect(!steps.isEmpty)
                    continue
                }
                let found = try rows(db, literal)
                let wanted = try rows(db, SQL(sql: expected))
                let sql = try literal.build(db).sql
                #expect(found == wanted, "\(sql)")
            }
        }
    }

    @Test("mean it in statements that write and define", arguments: kinds)
    func statements(kind: Kind) throws {
        try League.database().write { db in
            let ids = try rows(db, SQL(sql: kind.sql))
            try db.execute(
                sql: "CREATE TABLE copy (id); CREATE TABLE match (id); CREATE TABLE one (id UNIQUE)")
            for statement: SQL in [
                "INSERT INTO copy \(kind.literal)", "INSERT INTO \"copy\"(id) \(kind.literal);",
                "INSERT INTO main.copy\(kind.literal)",
            ] {
                try db.execute(literal: statement)
                try #expect(rows(db, "SELECT * FROM copy") == ids)
                try db.execute(literal: "DELETE FROM copy WHERE id IN (\(kind.literal))")
                try #expect(rows(db, "SELECT * FROM copy").isEmpty)
            }
            try db.execute(literal: "INSERT INTO match \(kind.literal)")
            try db.execute(literal: "UPDATE match SET (id) = (\(kind.literal)), id = \(kind.literal) WHERE 0")
            try #expect(rows(db, "SELECT * FROM match") == ids)
            try db.execute(literal: "INSERT INTO one \(kind.literal) ON CONFLICT (id) DO NOTHING")
            try #expect(Set(rows(db, "SELECT * FROM one")) == Set(ids))
            try db.execute(literal: "CREATE TABLE made AS \(kind.literal)")
            try #expect(rows(db, "SELECT * FROM made") == ids)
            try db.execute(literal: "CREATE VIEW seen AS \(kind.literal)")
            try db.execute(
                literal:
                    "CREATE TEMP VIEW IF NOT EXISTS other(id) AS WITH w AS (\(kind.literal)) SELECT * FROM w")
            try db.create(view: "third", as: kind.literal)
            for view in ["seen", "other", "third"] {
                try #expect(rows(db, "SELECT * FROM \(identifier: view)") == ids)
            }
            try db.create(trigger: "t", .after, .delete, on: "made") { t in
                t.when { _, _ in "EXISTS (\(kind.literal))" }
                t.execute(literal: "INSERT INTO copy \(kind.literal)")
            }
            try db.execute(sql: "DELETE FROM made WHERE rowid = 1")
            try #expect(rows(db, "SELECT * FROM copy") == ids)
        }
    }

    @Test("mean it on each road that takes a literal", arguments: kinds)
    func roads(kind: Kind) throws {
        try League.database().write { db in
            let wanted = try Int.fetchAll(
                db, sql: "SELECT id FROM player WHERE id IN (\(kind.sql)) ORDER BY id")
            let condition: SQL = "id IN (\(kind.literal))"
            let (players, id) = (Self.players, Self.id)
            let query: SQL = "SELECT id FROM player WHERE \(condition) ORDER BY id"
            try #expect(
                players.filter(literal: condition).order(id).select(id, as: Int.self).fetchAll(db) == wanted)
            try #expect(
                players.filter(condition && id > 0).select(id, as: Int.self).fetchAll(db).sorted() == wanted)
            try #expect(players.filter(literal: condition).fetchCount(db) == wanted.count)
            let sorted = players.order(literal: "\(condition), id").reversed().select(id, as: Int.self)
            let order = "SELECT id FROM player ORDER BY id IN (\(kind.sql)) DESC, id DESC"
            try #expect(sorted.fetchAll(db) == Int.fetchAll(db, sql: order))
            let first: Int? = try Row.fetchOne(db, sql: "SELECT (\(kind.sql))")?[0]
            for selection: SQL in ["\(kind.literal)", "(\(kind.literal)) AS x"] {
                let row = try players.select(literal: selection).asRequest(of: Row.self).fetchOne(db)
                try #expect(row?[0] as Int? == first)
            }
            try #expect(
                players.having(literal: condition).group(id).select(id, as: Int.self).fetchCount(db)
                    == wanted.count)
            for _ in 1...2 { try #expect(SQLRequest<Int>(literal: query).fetchAll(db) == wanted) }
            try #expect(SQLRequest<Int>(literal: query).fetchCount(db) == wanted.count)
            try #expect(Int.fetchSet(db, literal: query) == Set(wanted))
            try #expect(Int.fetchOne(db, literal: query) == wanted.first)
            try #expect(Int.fetchAll(db.makeStatement(literal: query)) == wanted)
            try #expect(Int.fetchAll(db.cachedStatement(literal: query)) == wanted)
            let built = try query.build(db)
            try #expect(Int.fetchAll(db, sql: built.sql, arguments: built.arguments) == wanted)
            let cte = CommonTableExpression("t", columns: ["id"], literal: kind.literal)
            let all = try rows(db, SQL(sql: kind.sql))
            try #expect(rows(db, "WITH \(definitionFor: cte) \(cte.all())") == all)
            try #expect(rows(db, "WITH \(definitionFor: cte) SELECT * FROM \(cte)") == all)
            try #expect(cte.all().with(cte).fetchCount(db) == all.count)
            var text = ""
            try db.dumpSQL(query, to: &text)
            #expect(text == wanted.map { "\($0)\n" }.joined())
            try #expect(query.databaseRegion(db).description.contains("player"))
        }
    }

    @Test("throw where there is no connection to ask, or stand in the text")
    func withoutConnection() throws {
        for kind in Self.kinds {
            let query: SQL = "SELECT id FROM player WHERE id IN (\(kind.literal))"
            let error = DatabaseQueue.errorOf(query)
            #expect((error != nil) == kind.asksSchema, "\(kind.name)")
            if kind.asksSchema {
                #expect(
                    query.sql == #"SELECT id FROM player WHERE id IN (\(a request that needs a connection))"#)
                try League.database().read { db in
                    let refused = #expect(throws: DatabaseError.self) { try db.execute(sql: query.sql) }
                    #expect(refused?.message == #"unrecognized token: "\""#)
                }
            }
        }
        #expect(SQL(Self.players.filter(Self.score > 1)).sql == #"SELECT * FROM "player" WHERE "score" > ?"#)
        #expect(SQL(Self.players.filter(Self.score > 1)) == SQL(Self.players.filter(Self.score > 1)))
        #expect(SQL(Self.players.filter(Self.score > 1)) != SQL(Self.players.filter(Self.score > 2)))
    }

    @Test("have selections that only the schema knows, and names that the whole statement gives")
    func selections() throws {
        try League.database().read { db in
            let columns: SQL = "SELECT \(columnsOf: Mate.self) FROM player"
            try #expect(Row.fetchOne(db, literal: columns)?.columnNames == ["id", "name", "score", "teamID"])
            try #expect(Int.fetchOne(db, literal: "SELECT COUNT(*) FROM \(Mate.all())") == 5)
            try #expect(
                Bool.fetchOne(db, literal: "SELECT EXISTS \(Mate.joining(required: Mate.club))") == true)
            let (player, other) = (TableAlias<League.Player>(), TableAlias<League.Player>())
            let better = League.Player.aliased(other).filter(other.score > player.score)
            let best = League.Player.aliased(player).filter(
                literal: "\(player.score) > 0 AND NOT EXISTS (\(better))")
            try #expect(best.order(Self.id).fetchAll(db).map(\.id) == [2, 4])
        }
    }

    @Test("throw between quotes, where SQL has a text or a name")
    func quotes() throws {
        try League.database().read { db in
            for query: SQL in ["SELECT '\(Self.players.all())'", "SELECT \"(\(Self.players.all()))\""] {
                let error = #expect(throws: DatabaseError.self) { try Row.fetchAll(db, literal: query) }
                #expect(error?.message?.hasPrefix("a request is between quotes") == true)
            }
            let nul = #expect(throws: DatabaseError.self) {
                try db.execute(literal: "SELECT \0 IN (\(Self.players.all()))")
            }
            #expect(nul != nil)
        }
    }

    @Test("stand in the middle of parameters that are bound later")
    func parameters() throws {
        try League.database().read { db in
            let statement = try db.makeStatement(
                literal: "SELECT id FROM player WHERE id IN (\(Self.players.select(Self.id))) AND score > ?")
            try #expect(Int.fetchAll(statement, arguments: [100]) == [2, 4])
            let named = SQL(sql: "id > :id", arguments: ["id": 2])
            let query: SQL =
                "SELECT id FROM player WHERE \(named) AND id IN (\(Self.players.select(Self.id).filter(Self.id < 5)))"
            try #expect(Int.fetchAll(db, literal: query) == [3, 4])
        }
    }
}

extension DatabaseQueue {
    /// Returns the error of a piece that is written for no database.
    fileprivate static func errorOf(_ piece: SQL) -> (any Error)? {
        do {
            _ = try piece.written(on: nil)
            return nil
        } catch { return error }
    }
}
