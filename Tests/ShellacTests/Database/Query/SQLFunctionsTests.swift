import Foundation
import Shellac
import TestSupport
import Testing

/// A function, its SQL, and its value for Barbara, whose score is 250.
struct FunctionCase: Sendable, CustomTestStringConvertible {
    let expression: SQLExpression
    let sql: String
    let value: DatabaseValue

    init(_ expression: SQLExpression, _ sql: String, _ value: (any DatabaseValueConvertible)?) {
        self.expression = expression
        self.sql = sql
        self.value = value?.databaseValue ?? .null
    }

    var testDescription: String { sql }
}

@Suite("An SQL function")
struct SQLFunctionsTests {
    private static let name = Column("name")
    private static let score = Column("score")

    static let scalarCases = [
        FunctionCase(ifNull(score, 0), #"IFNULL("score", ?)"#, 250),
        FunctionCase(typeOf(nullIf(score, 250)), #"TYPEOF(NULLIF("score", ?))"#, "null"),
        FunctionCase(iif(score > 100, "high", "low"), #"IIF("score" > ?, ?, ?)"#, "high"),
        FunctionCase(greatest(score, 300, 20), #"MAX("score", ?, ?)"#, 300),
        FunctionCase(least(score, 300, 20), #"MIN("score", ?, ?)"#, 20),
        FunctionCase(typeOf(score), #"TYPEOF("score")"#, "integer"),
        FunctionCase(likely(score > 1), #"LIKELY("score" > ?)"#, 1),
        FunctionCase(unlikely(score > 1), #"UNLIKELY("score" > ?)"#, 1),
        FunctionCase(length(name), #"LENGTH("name")"#, 7),
        FunctionCase(lower(name), #"LOWER("name")"#, "barbara"),
        FunctionCase(upper(name), #"UPPER("name")"#, "BARBARA"),
        FunctionCase(trim(name), #"TRIM("name")"#, "Barbara"),
        FunctionCase(trim(name, "Ba"), #"TRIM("name", ?)"#, "rbar"),
        FunctionCase(ltrim(name), #"LTRIM("name")"#, "Barbara"),
        FunctionCase(ltrim(name, "Ba"), #"LTRIM("name", ?)"#, "rbara"),
        FunctionCase(rtrim(name), #"RTRIM("name")"#, "Barbara"),
        FunctionCase(rtrim(name, "Ba"), #"RTRIM("name", ?)"#, "Barbar"),
        FunctionCase(substr(name, 4), #"SUBSTR("name", ?)"#, "bara"),
        FunctionCase(substr(name, -4, 2), #"SUBSTR("name", ?, ?)"#, "ba"),
        FunctionCase(instr(name, "b"), #"INSTR("name", ?)"#, 4),
        FunctionCase(replace(name, "ar", with: "er"), #"REPLACE("name", ?, ?)"#, "Berbera"),
        FunctionCase(printf("%s (%d)", name, score), #"PRINTF(?, "name", "score")"#, "Barbara (250)"),
        FunctionCase(char(score - 185, 66), #"CHAR("score" - ?, ?)"#, "AB"),
        FunctionCase(unicode(name), #"UNICODE("name")"#, 66),
        FunctionCase(quote(name), #"QUOTE("name")"#, "'Barbara'"),
        FunctionCase(hex(name), #"HEX("name")"#, "42617262617261"),
        FunctionCase(zeroBlob(score - 248), #"ZEROBLOB("score" - ?)"#, Data([0, 0])),
        FunctionCase(length(randomBlob(score)), #"LENGTH(RANDOMBLOB("score"))"#, 250),
        FunctionCase(round(score / 3.0), #"ROUND("score" / ?)"#, 83.0),
        FunctionCase(round(score / 3.0, 2), #"ROUND("score" / ?, ?)"#, 83.33),
        FunctionCase(sign(score), #"SIGN("score")"#, 1),
        FunctionCase(abs(score - 300), #"ABS("score" - ?)"#, 50),
        FunctionCase(typeOf(.random), "TYPEOF(RANDOM())", "integer"),
        FunctionCase(
            .sqliteVersion, "SQLITE_VERSION()",
            (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }) ?? nil),
        FunctionCase(typeOf(.changes), "TYPEOF(CHANGES())", "integer"),
        FunctionCase(typeOf(.totalChanges), "TYPEOF(TOTAL_CHANGES())", "integer"),
        FunctionCase(typeOf(.lastInsertedRowID), "TYPEOF(LAST_INSERT_ROWID())", "integer"),
    ]

    static let mathematicalCases = [
        FunctionCase(round(.pi, 4), "ROUND(PI(), ?)", 3.1416),
        FunctionCase(ceil(score / 3.0), #"CEIL("score" / ?)"#, 84.0),
        FunctionCase(floor(score / 3.0), #"FLOOR("score" / ?)"#, 83.0),
        FunctionCase(trunc(score / -3.0), #"TRUNC("score" / ?)"#, -83.0),
        FunctionCase(mod(score, 7), #"MOD("score", ?)"#, 5.0),
        FunctionCase(pow(score, 2), #"POW("score", ?)"#, 62500.0),
        FunctionCase(sqrt(score * 10), #"SQRT("score" * ?)"#, 50.0),
        FunctionCase(exp(score - 250), #"EXP("score" - ?)"#, 1.0),
        FunctionCase(ln(score - 249), #"LN("score" - ?)"#, 0.0),
        FunctionCase(round(log10(score * 4), 9), #"ROUND(LOG10("score" * ?), ?)"#, 3.0),
        FunctionCase(log2(score + 6), #"LOG2("score" + ?)"#, 8.0),
        FunctionCase(round(log(score, base: 5), 3), #"ROUND(LOG(?, "score"), ?)"#, 3.431),
        FunctionCase(round(degrees(radians(score))), #"ROUND(DEGREES(RADIANS("score")))"#, 250.0),
        FunctionCase(sin(score - 250), #"SIN("score" - ?)"#, 0.0),
        FunctionCase(cos(score - 250), #"COS("score" - ?)"#, 1.0),
        FunctionCase(tan(score - 250), #"TAN("score" - ?)"#, 0.0),
        FunctionCase(asin(score - 250), #"ASIN("score" - ?)"#, 0.0),
        FunctionCase(acos(score - 249), #"ACOS("score" - ?)"#, 0.0),
        FunctionCase(atan(score - 250), #"ATAN("score" - ?)"#, 0.0),
        FunctionCase(atan2(score - 250, 1), #"ATAN2("score" - ?, ?)"#, 0.0),
        FunctionCase(sinh(score - 250), #"SINH("score" - ?)"#, 0.0),
        FunctionCase(cosh(score - 250), #"COSH("score" - ?)"#, 1.0),
        FunctionCase(tanh(score - 250), #"TANH("score" - ?)"#, 0.0),
        FunctionCase(asinh(score - 250), #"ASINH("score" - ?)"#, 0.0),
        FunctionCase(acosh(score - 249), #"ACOSH("score" - ?)"#, 0.0),
        FunctionCase(atanh(score - 250), #"ATANH("score" - ?)"#, 0.0),
    ]

    private static let day = "2024-02-29 12:30:45".sqlExpression

    static let dateCases = [
        FunctionCase(date(day), "DATE(?)", "2024-02-29"),
        FunctionCase(
            date(day, .startOfMonth, .months(1), .days(-1)),
            "DATE(?, 'start of month', '+1 months', '-1 days')", "2024-02-29"),
        FunctionCase(
            date(day, .years(-1), .startOfYear), "DATE(?, '-1 years', 'start of year')", "2023-01-01"),
        FunctionCase(date(day, .weekday(0)), "DATE(?, 'weekday 0')", "2024-03-03"),
        FunctionCase(date(day, "+1 day"), "DATE(?, '+1 day')", "2024-03-01"),
        FunctionCase(time(day, .hours(2), .minutes(-31)), "TIME(?, '+2 hours', '-31 minutes')", "13:59:45"),
        FunctionCase(dateTime(day, .seconds(-45.0)), "DATETIME(?, '-45.0 seconds')", "2024-02-29 12:30:00"),
        FunctionCase(dateTime(day, .startOfDay), "DATETIME(?, 'start of day')", "2024-02-29 00:00:00"),
        FunctionCase(dateTime(score, .unixEpoch), #"DATETIME("score", 'unixepoch')"#, "1970-01-01 00:04:10"),
        FunctionCase(date(score + 2_460_000, .julianDay), #"DATE("score" + ?, 'julianday')"#, "2023-11-01"),
        FunctionCase(
            dateTime(score * 10_000_000, .auto), #"DATETIME("score" * ?, 'auto')"#, "2049-03-22 04:26:40"),
        FunctionCase(
            dateTime(dateTime(day, .localTime), .utc), "DATETIME(DATETIME(?, 'localtime'), 'utc')",
            "2024-02-29 12:30:45"),
        FunctionCase(julianDay(day), "JULIANDAY(?)", 2_460_370.0213541668),
        FunctionCase(unixEpoch(day), "UNIXEPOCH(?)", 1_709_209_845),
        FunctionCase(strftime("%Y/%j", day), "STRFTIME('%Y/%j', ?)", "2024/060"),
        FunctionCase(typeOf(date(.now)), "TYPEOF(DATE(?))", "text"),
    ]

    private static let object = #"{"a": [1, 2], "b": {"c": "x"}}"#.sqlExpression

    static let jsonCases = [
        FunctionCase(object.json(at: "a"), "? -> 'a'", "[1,2]"),
        FunctionCase(object.jsonValue(at: "$.b.c"), "? ->> '$.b.c'", "x"),
        FunctionCase(json(object), "JSON(?)", #"{"a":[1,2],"b":{"c":"x"}}"#),
        FunctionCase(jsonArray(score, "x", nil as Int?), #"JSON_ARRAY("score", ?, ?)"#, #"[250,"x",null]"#),
        FunctionCase(jsonArrayLength(object.json(at: "a")), "JSON_ARRAY_LENGTH(? -> 'a')", 2),
        FunctionCase(jsonArrayLength(object, at: "$.a"), "JSON_ARRAY_LENGTH(?, '$.a')", 2),
        FunctionCase(jsonExtract(object, at: "$.b.c"), "JSON_EXTRACT(?, '$.b.c')", "x"),
        FunctionCase(
            jsonExtract(object, at: "$.b.c", "$.a[0]"), "JSON_EXTRACT(?, '$.b.c', '$.a[0]')", #"["x",1]"#),
        FunctionCase(
            jsonInsert(object, ["$.a": 0, "$.d": score]), #"JSON_INSERT(?, ?, ?, ?, "score")"#,
            #"{"a":[1,2],"b":{"c":"x"},"d":250}"#),
        FunctionCase(
            jsonReplace(object, ["$.a": 0, "$.d": 1]), "JSON_REPLACE(?, ?, ?, ?, ?)",
            #"{"a":0,"b":{"c":"x"}}"#),
        FunctionCase(jsonSet(object, ["$.a": 0, "$.b": 1]), "JSON_SET(?, ?, ?, ?, ?)", #"{"a":0,"b":1}"#),
        FunctionCase(jsonObject(["k": score]), #"JSON_OBJECT(?, "score")"#, #"{"k":250}"#),
        FunctionCase(jsonPatch(object, #"{"a": null}"#), "JSON_PATCH(?, ?)", #"{"b":{"c":"x"}}"#),
        FunctionCase(jsonRemove(object, at: "$.a", "$.b.c"), "JSON_REMOVE(?, '$.a', '$.b.c')", #"{"b":{}}"#),
        FunctionCase(jsonType(object), "JSON_TYPE(?)", "object"),
        FunctionCase(jsonType(object, at: "$.a[1]"), "JSON_TYPE(?, '$.a[1]')", "integer"),
        FunctionCase(jsonValid(name), #"JSON_VALID("name")"#, 0),
        FunctionCase(jsonQuote(name), #"JSON_QUOTE("name")"#, #""Barbara""#),
    ]

    @Test("has its SQL and its value", arguments: scalarCases + dateCases + jsonCases)
    func value(_ function: FunctionCase) throws { try check(function) }

    @Test(
        "of mathematics has its SQL and its value",
        .enabled(if: Self.hasMathematics, "SQLite was built without SQLITE_ENABLE_MATH_FUNCTIONS"),
        arguments: mathematicalCases)
    func mathematics(_ function: FunctionCase) throws { try check(function) }

    private static var hasMathematics: Bool {
        (try? DatabaseQueue().read { try Double.fetchOne($0, sql: "SELECT pi()") }) != nil
    }

    private func check(_ function: FunctionCase) throws {
        var found: DatabaseValue?
        let sql = try League.sql { db in
            let barbara = League.Player.filter(Column("name") == "Barbara")
            found = try barbara.select(function.expression, as: DatabaseValue.self).fetchOne(db)
        }
        #expect(sql == [#"SELECT \#(function.sql) FROM "player" WHERE "name" = ? LIMIT 1"#])
        #expect(found == function.value)
    }

    @Test("that the running SQLite lacks throws its error, with the SQL")
    func missing() throws {
        try League.database().read { db in
            let error = databaseError {
                _ = try League.Player.select(SQLExpression.call("nowhere", Column("id"))).fetchAll(db)
            }
            #expect(error?.message == "no such function: nowhere")
            #expect(error?.sql == #"SELECT "nowhere"("id") FROM "player""#)
        }
    }

    @Test("over malformed JSON throws SQLite's error")
    func malformed() throws {
        try League.database().read { db in
            let error = databaseError { _ = try League.Player.select(json(Column("name"))).fetchAll(db) }
            #expect(error?.message == "malformed JSON")
        }
    }

    // MARK: - Many rows

    static let aggregateCases = [
        FunctionCase(groupConcat(name), #"GROUP_CONCAT("name")"#, "Arthur,Barbara,Craig,Diane,O'Brien"),
        FunctionCase(
            groupConcat(name, separator: "; ", filter: score > 60),
            #"GROUP_CONCAT("name", ?) FILTER (WHERE "score" > ?)"#, "Arthur; Barbara; Diane"),
        FunctionCase(groupConcat(distinct: score), #"GROUP_CONCAT(DISTINCT "score")"#, "100,250,50"),
        FunctionCase(
            jsonGroupArray(score, filter: score > 60),
            #"JSON_GROUP_ARRAY("score") FILTER (WHERE "score" > ?)"#,
            "[100,250,250]"),
        FunctionCase(
            jsonGroupObject(name, score, filter: score < 200),
            #"JSON_GROUP_OBJECT("name", "score") FILTER (WHERE "score" < ?)"#, #"{"Arthur":100,"Craig":50}"#),
    ]

    @Test("of all rows has its SQL and its value", arguments: aggregateCases)
    func aggregate(_ function: FunctionCase) throws {
        var found: DatabaseValue?
        let sql = try League.sql {
            found = try League.Player.select(function.expression, as: DatabaseValue.self).fetchOne($0)
        }
        #expect(sql == [#"SELECT \#(function.sql) FROM "player" LIMIT 1"#])
        #expect(found == function.value)
    }

    static let windowCases: [(SQLExpression, String, [DatabaseValue])] = [
        (rowNumber(), "ROW_NUMBER()", [1, 2, 3, 4]), (rank(), "RANK()", [1, 2, 3, 3]),
        (denseRank(), "DENSE_RANK()", [1, 2, 3, 3]),
        (
            percentRank(), "PERCENT_RANK()",
            [
                0.0, DatabaseValue(.double(1.0 / 3)), DatabaseValue(.double(2.0 / 3)),
                DatabaseValue(.double(2.0 / 3)),
            ]
        ),
        (cumeDist(), "CUME_DIST()", [0.25, 0.5, 1.0, 1.0]), (ntile(2), "NTILE(?)", [1, 1, 2, 2]),
        (lag(score), #"LAG("score")"#, [.null, 50, 100, 250]),
        (lag(score, 2, default: 0), #"LAG("score", ?, ?)"#, [0, 0, 50, 100]),
        (lead(score), #"LEAD("score")"#, [100, 250, 250, .null]),
        (lead(score, 2), #"LEAD("score", ?)"#, [250, 250, .null, .null]),
        (firstValue(score), #"FIRST_VALUE("score")"#, [50, 50, 50, 50]),
        (lastValue(score), #"LAST_VALUE("score")"#, [50, 100, 250, 250]),
        (nthValue(score, 2), #"NTH_VALUE("score", ?)"#, [.null, 100, 100, 100]),
        (sum(score), #"SUM("score")"#, [50, 150, 650, 650]),
    ]

    @Test("over a window has its SQL and its values", arguments: windowCases)
    func window(_ function: SQLExpression, _ expected: String, _ values: [DatabaseValue]) throws {
        var found: [DatabaseValue] = []
        let sql = try League.sql {
            found = try League.Player.filter(Column("score") != nil).order(Column("score"), Column("id"))
                .select(function.over(order: [Column("score")]), as: DatabaseValue.self).fetchAll($0)
        }
        #expect(
            sql == [
                #"SELECT \#(expected) OVER (ORDER BY "score") FROM "player" WHERE "score" IS NOT NULL ORDER BY "score", "id""#
            ])
        #expect(found == values)
    }
}
