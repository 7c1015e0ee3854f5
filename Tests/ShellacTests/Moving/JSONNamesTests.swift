import Shellac
import TestSupport
import Testing

@Suite("Names of JSON")
struct JSONNamesTests {
    private struct Sheet: Codable, FetchableRecord, PersistableRecord {
        struct Info: Codable {
            var city: String
            var tags: [String]
        }
        var id: Int64
        var info: Info

        enum Columns {
            static let id = Column("id")
            static let info = JSONColumn(CodingKeys.info)
        }
    }

    private func withSheets(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.create(table: "sheet") { t in
                t.primaryKey("id", .integer)
                t.column("info", .jsonText)
            }
            try Sheet(id: 1, info: Sheet.Info(city: "Arras", tags: ["a", "b"])).insert(db)
            try Sheet(id: 2, info: Sheet.Info(city: "O'Brien \"x\"", tags: [])).insert(db)
            try body(db)
        }
    }

    @Test("A column of JSON is read by keys, paths and places")
    func columns() throws {
        try withSheets { db in
            let info = JSONColumn("info")
            try #expect(Sheet.filter { $0.info["city"] == "Arras" }.fetchCount(db) == 1)
            try #expect(Sheet.filter(info["$.city"] == "O'Brien \"x\"").fetchCount(db) == 1)
            try #expect(Sheet.select(info["nope"], as: String?.self).fetchAll(db) == [nil, nil])
            try #expect(Sheet.select(info["tags"].asJSON[0], as: String?.self).fetchAll(db) == ["a", nil])
            try #expect(
                Sheet.select(info.jsonExtract(atPath: "$.tags[1]"), as: String?.self).fetchAll(db) == [
                    "b", nil,
                ])
            try #expect(
                Sheet.select(info.jsonExtract(atPaths: ["$.city", "$.tags[0]"]), as: String.self).fetchOne(db)
                    == #"["Arras","a"]"#)
            try #expect(
                Sheet.select(info.jsonRepresentation(atPath: "$.city"), as: String.self).fetchOne(db)
                    == #""Arras""#)
            try #expect(Sheet.select(Column("info").asJSON["city"], as: String.self).fetchOne(db) == "Arras")
            let row = try #require(try Row.fetchOne(db, Sheet.all()))
            try #expect((row[Sheet.Columns.info] as String).contains("Arras"))
            try Sheet.filter(key: 1).updateAll(db) {
                $0.info.set(to: Database.jsonSet($0.info, ["$.city": "Lens"]))
            }
            try #expect(Sheet.find(db, key: 1).info.city == "Lens")
        }
    }

    @Test("Each function of Database is SQLite's of the same name")
    func functions() throws {
        try withSheets { db in
            let info = JSONColumn("info")
            let text = Column("t")
            func value(_ expression: SQLExpression) throws -> DatabaseValue? {
                try DatabaseValue.fetchOne(db, Sheet.filter(key: 1).annotated(with: []).select([expression]))
            }
            let cases: [(SQLExpression, DatabaseValue)] = [
                (Database.json(#" { "a" : 1 } "#), #"{"a":1}"#),
                (Database.jsonArray([1, 2]), "[1,2]"),
                (
                    Database.jsonArray([Column("id"), "x", info] as [any SQLExpressible]),
                    #"[1,"x",{"city":"Arras","tags":["a","b"]}]"#
                ),
                (Database.jsonArray([Column("info")]), #"["{\"city\":\"Arras\",\"tags\":[\"a\",\"b\"]}"]"#),
                (Database.jsonArrayLength("[1,2,3]"), 3),
                (Database.jsonArrayLength(info, atPath: "$.tags"), 2),
                (Database.jsonExtract(info, atPath: "$.city"), "Arras"),
                (Database.jsonExtract(info, atPaths: ["$.city"]), "Arras"),
                (Database.jsonInsert("{}", ["$.a": Column("id")]), #"{"a":1}"#),
                (Database.jsonReplace(#"{"a":1}"#, ["$.a": 2, "$.b": 3]), #"{"a":2}"#),
                (
                    Database.jsonSet("{}", ["$.x": JSONColumn("info")]),
                    #"{"x":{"city":"Arras","tags":["a","b"]}}"#
                ),
                (Database.jsonObject(["b": 1, "a": "x"]), #"{"b":1,"a":"x"}"#),
                (Database.jsonPatch(#"{"a":1}"#, with: #"{"b":2}"#), #"{"a":1,"b":2}"#),
                (Database.jsonRemove(#"{"a":1,"b":2}"#, atPath: "$.a"), #"{"b":2}"#),
                (Database.jsonRemove(#"{"a":1,"b":2}"#, atPaths: ["$.a", "$.b"]), "{}"),
                (Database.jsonType(info), "object"),
                (Database.jsonType(info, atPath: "$.tags"), "array"),
                (Database.jsonIsValid("{"), 0),
                (Database.jsonQuote("x"), #""x""#),
                (Database.jsonGroupArray(Column("id")), "[1]"),
                (Database.jsonGroupArray(Column("id"), filter: Column("id") > 1), "[]"),
                (Database.jsonGroupObject(key: Column("id"), value: "x"), #"{"1":"x"}"#),
            ]
            for (expression, expected) in cases {
                try #expect(value(expression) == expected, "\(SQL(expression).sql)")
            }
            expectError("malformed JSON") { try value(Database.json("{")) }
            #expect(SQL(Database.jsonErrorPosition(text)).sql == #"JSON_ERROR_POSITION("t")"#)
            #expect(SQL(Database.jsonb(text)).sql == #"JSONB("t")"#)
        }
    }
}
