import Shellac
import TestSupport
import Testing

@Suite("What stands in SQL literals")
struct LiteralNamesTests {
    private enum Key: String, CodingKey { case first = "the first" }

    private struct Short: Decodable, FetchableRecord, TableRecord {
        static var databaseTableName: String { "mover" }
        static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }
    }

    @Test("Tables, keys, selections, orders and pieces become SQL, and values are bound")
    func interpolations() throws {
        let mover = Mover(id: 1, name: "", score: 0)
        let cases: [(SQL, String, StatementArguments)] = [
            ("SELECT \(.allColumns) FROM \(Mover.self)", #"SELECT * FROM "mover""#, []),
            ("SELECT \(AllColumns()) FROM \(tableOf: mover)", #"SELECT * FROM "mover""#, []),
            ("SELECT \(.rowID), \(Key.first)", #"SELECT "rowid", "the first""#, []),
            (
                "WHERE \(Column("a") == 1) ORDER BY \(Column("b").desc)", #"WHERE "a" = ? ORDER BY "b" DESC"#,
                [1]
            ),
            ("\(literal: "a = \(1)") AND \(sql: "b = ?", arguments: [2])", "a = ? AND b = ?", [1, 2]),
            ("SELECT \(columnsOf: Short.self)", #"SELECT "mover"."id", "mover"."name""#, []),
            ("SELECT \(columnsOf: Short.self, tableAlias: "p\"")", #"SELECT "p"""."id", "p"""."name""#, []),
            ("\(Column("a")) COLLATE \(Database.CollationName.nocase)", #""a" COLLATE "NOCASE""#, []),
            ("x IN \([1, 2])", "x IN (?,?)", [1, 2]),
            ("SELECT \((Column("a") + 1).forKey("b"))", #"SELECT "a" + ? AS "b""#, [1]),
        ]
        for (piece, sql, arguments) in cases {
            #expect(piece.sql == sql)
            #expect(piece.arguments == arguments)
        }
    }

    @Test("Requests and common table expressions stand in them")
    func requests() throws {
        try withMovers { db in
            let best = CommonTableExpression(named: "best", request: Mover.filter { $0.score > 10 })
            let query: SQL =
                "WITH \(definitionFor: best) SELECT name FROM \(best) WHERE id IN \(Mover.select(Column("id"))) ORDER BY 1"
            try #expect(String.fetchAll(db, literal: query) == ["Barbara", "Craig"])
        }
    }

    @Test("Pieces are put together step by step")
    func pieces() throws {
        try withMovers { db in
            var query: SQL = "SELECT name"
            query.append(literal: ", \(7)")
            query.append(sql: " FROM mover WHERE id = ?", arguments: [2])
            try #expect(Row.fetchOne(db, literal: query)?.databaseValues == ["Barbara", 7])
            #expect(SQL("").isEmpty)
            #expect(!query.isEmpty)
            let list = SQL(
                elements: [Column("id"), 1, Column("name").desc.expressionOfTerm] as [any SQLExpressible],
                separator: ", ")
            #expect(list.sql == #""id", ?, "name""#)
            #expect(SQL(elements: ["a", "b"] as [SQL], separator: "; ").sql == "a; b")
            #expect(SQL(Column("x") + 1).sql == #""x" + ?"#)
        }
    }

    @Test("A piece is built with question marks, or refused")
    func building() throws {
        try withMovers { db in
            let piece = SQL(sql: "a = :x AND b = :x", arguments: ["x": 1])
            let (sql, arguments) = try piece.build(db)
            #expect(sql == "a = ? AND b = ?")
            #expect(arguments == [1, 1])
            expectError("missing arguments: x") { try SQL(sql: "a = :x", arguments: ["y": 1]).build(db) }
        }
    }

    @Test("A request that asks the schema for its key is written for the connection")
    func late() throws {
        try withMovers { db in
            let ids = Mover.select(Column("id"), as: Int.self).orderByPrimaryKey()
            try #expect(
                Int.fetchAll(db, literal: "SELECT id FROM mover WHERE id IN (\(ids.limit(2)))") == [1, 2])
        }
    }
}

extension SQLOrdering {
    /// (A term is no expression: this is its column.)
    fileprivate var expressionOfTerm: Column { Column("name") }
}
