import Foundation
import Shellac
import TestSupport
import Testing

/// The SQL contains the constants that a plan needs, and values are bound.
@Suite("Constants of expressions", .behaviour(114))
struct ConstantTests {
    private static let json = JSONColumn("json")
    private static let at = Column("at")
    private static let name = Column("name")
    private static let score = Column("score")

    /// An expression that an index is made of, and a value to look for.
    struct Case: Sendable, CustomTestStringConvertible {
        let expression: SQLExpression
        let value: DatabaseValue
        let testDescription: String

        init(_ description: String, _ expression: SQLExpression, _ value: some DatabaseValueConvertible) {
            (testDescription, self.expression, self.value) = (description, expression, value.databaseValue)
        }
    }

    static let cases = [
        Case("->>", json.jsonValue(at: "theme"), "dark"),
        Case("subscript", json["theme"], "dark"),
        Case("element", json[0], 1),
        Case("->", json.json(at: "$.theme"), "\"dark\""),
        Case("quotes", json.jsonValue(at: "$.\"it's\""), 1),
        Case("extract", jsonExtract(json, at: "$.theme"), "dark"),
        Case("extract of several", jsonExtract(json, at: "$.theme", "$.size"), "[]"),
        Case("extract at a path", json.jsonExtract(atPath: "$.theme"), "dark"),
        Case("extract at paths", json.jsonExtract(atPaths: ["$.a", "$.b"]), "[]"),
        Case("Database.extract", Database.jsonExtract(json, atPath: "$.theme"), "dark"),
        Case("Database.extract at paths", Database.jsonExtract(json, atPaths: ["$.theme"]), "dark"),
        Case("length", jsonArrayLength(json, at: "$.tags"), 2),
        Case("Database.length", Database.jsonArrayLength(json, atPath: "$.tags"), 2),
        Case("type", jsonType(json, at: "$.tags"), "array"),
        Case("Database.type", Database.jsonType(json, atPath: "$.tags"), "array"),
        Case("remove", jsonRemove(json, at: "$.tags"), "{}"),
        Case("Database.remove", Database.jsonRemove(json, atPath: "$.tags"), "{}"),
        Case("Database.remove at paths", Database.jsonRemove(json, atPaths: ["$.tags"]), "{}"),
        Case("strftime", strftime("%Y-%m", at), "2024-02"),
        Case("date", date(at, .startOfMonth, .months(-1)), "2024-01-01"),
        Case("time", time(at, "+1 hour"), "00:00:00"),
        Case("dateTime", dateTime(at, .days(7)), "2024-01-01 00:00:00"),
        Case("julianDay", julianDay(at, .startOfDay), 2_460_370.5),
        Case("unixEpoch", unixEpoch(at, .startOfYear), 0),
        Case("collation", name.collating(.nocase), "arthur"),
        Case("lower", lower(name), "arthur"),
        Case("upper", upper(name), "ARTHUR"),
        Case("ifNull", ifNull(score, .constant(0)), 0),
        Case("coalesce", score ?? SQLExpression.constant(-1), -1),
        Case("arithmetics", score * SQLExpression.constant(2.5) + SQLExpression.constant(1), 3),
        Case("substr", substr(name, .constant(1), .constant(1)), "A"),
        Case("round", round(score, .constant(1)), 1.0),
        Case("replace", replace(name, .constant("-"), with: .constant("")), "x"),
        Case("cast", cast(score, as: .text), "1"),
    ]

    private static func table(_ spy: SQLSpy? = nil) throws -> DatabaseQueue {
        let queue = try spy.map { try DatabaseQueue(configuration: $0.configuration()) } ?? DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE p (json TEXT, at TEXT, name TEXT, score)")
        }
        return queue
    }

    @Test(
        "An index on an expression is used by a request that filters and sorts by the same one",
        arguments: cases)
    func index(_ test: Case) throws {
        try Self.table().write { db in
            try db.create(index: "i", on: "p", expressions: [test.expression])
            let table = Table("p")
            for plan in try [
                table.filter(test.expression == test.value).explain(db),
                table.filter([test.value].contains(test.expression)).explain(db),
                table.filter(sql: "score IS NOT ?", arguments: [9]).filter(test.expression > test.value)
                    .explain(db),
                SQLRequest<Row>("SELECT * FROM p WHERE \(test.expression) = \(test.value)").explain(db),
            ] { #expect(plan.hasPrefix("SEARCH p USING INDEX i"), "\(plan)") }
            let order = try table.order(test.expression).explain(db)
            #expect(order == "SCAN p USING INDEX i")
        }
    }

    @Test("A unique index on an expression finds its rows, and values stay bound")
    func rows() throws {
        let spy = SQLSpy()
        try Self.table(spy).write { db in
            try db.execute(
                sql: #"INSERT INTO p(json) VALUES ('{"theme":"dark","it''s":1}'), ('{"theme":"light"}')"#)
            let theme = Self.json.jsonValue(at: "theme")
            try db.create(index: "i", on: "p", expressions: [theme], options: .unique)
            spy.removeAll()
            for value in ["dark", "light", "dark"] {
                try #expect(Table("p").filter(theme == value).fetchCount(db) == 1)
            }
            #expect(Set(spy.sql) == [#"SELECT COUNT(*) FROM "p" WHERE "json" ->> 'theme' = ?"#])
            let quoted = Self.json.jsonValue(at: "$.\"it's\"")
            try #expect(Table("p").filter(quoted == 1).fetchCount(db) == 1)
        }
    }

    @Test(
        "A constant is quoted, whatever it is",
        arguments: ["'", "''; DROP TABLE p; --", "\0", "a\0b", "\"", "\\", "é", "/*", "?1", ":a"])
    func quoting(text: String) throws {
        try Self.table().write { db in
            let request = Table("p").select(SQLExpression.constant(text), as: String.self)
            try db.execute(sql: "INSERT INTO p(score) VALUES (1)")
            try #expect(request.fetchAll(db) == [text])
            let path = Self.json.jsonValue(at: text)
            try #expect(Table("p").filter(path == 1).fetchCount(db) == 0)
        }
    }

    @Test("Constants of all types are what they are")
    func types() throws {
        try Self.table().write { db in
            try db.execute(sql: "INSERT INTO p(score) VALUES (5)")
            for value: DatabaseValue in [
                .null, 1.databaseValue, (-7).databaseValue, 1.5.databaseValue, (-0.25).databaseValue,
                Int64.min.databaseValue, "x".databaseValue, Data([1, 2]).databaseValue,
            ] {
                let row = try Table("p").select(SQLExpression.constant(value)).asRequest(of: Row.self)
                    .fetchOne(db)
                #expect(row?.databaseValues == [value])
            }
            let difference = Self.score - SQLExpression.constant(-1)
            try #expect(Table("p").select(difference, as: Int.self).fetchOne(db) == 6)
        }
    }

    @Test("A path that an SQL literal binds is no part of the SQL")
    func bound() throws {
        let path = "theme"
        let bound: SQL = "\(path)"
        #expect(SQL(Self.json.jsonValue(at: bound)).arguments == ["theme"])
        #expect(SQL(Self.json.jsonValue(at: path)).arguments == [])
    }
}
