import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Fetching")
struct FetchingTests {
    @Test("fetchOne of a value is nil for no row and for NULL", .behaviour(26))
    func fetchOne() throws {
        try DatabaseQueue().write { db in
            func check<Value: DatabaseValueConvertible>(_: Value.Type) throws {
                for sql in ["SELECT NULL", "SELECT 1 WHERE 0", "SELECT NULL UNION ALL SELECT 1"] {
                    #expect(try Value.fetchOne(db, sql: sql) == nil, "\(Value.self), \(sql)")
                    #expect(try Value.fetchOne(db.makeStatement(sql: sql)) == nil, "\(Value.self), \(sql)")
                }
                // An optional of an optional has no value in it, at any level.
                #expect(try Value?.fetchOne(db, sql: "SELECT NULL") ?? nil == nil, "\(Value.self)")
                #expect(try Value?.fetchOne(db, sql: "SELECT NULL WHERE 0") ?? nil == nil, "\(Value.self)")
            }
            try check(Int.self)
            try check(UInt8.self)
            try check(Bool.self)
            try check(Double.self)
            try check(Float.self)
            try check(Decimal.self)
            try check(String.self)
            try check(Substring.self)
            try check(URL.self)
            try check(Data.self)
            try check(UUID.self)
            try check(Date.self)
            try check(DatabaseDateComponents.self)
            #expect(try Row.fetchOne(db, sql: "SELECT NULL") == ["NULL": nil])
            #expect(try Row.fetchOne(db, sql: "SELECT NULL WHERE 0") == nil)
        }
    }

    @Test("fetchOne of a type that has a value for NULL is nil for NULL, too", .behaviour(26))
    func fetchOneDatabaseValue() throws {
        try DatabaseQueue().read { db throws in
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT 1 WHERE 0") == nil)
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try Int?.fetchOne(db, sql: "SELECT 1 WHERE 0") == .none)
            #expect(try Int?.fetchOne(db, sql: "SELECT NULL") == .none)
        }
    }

    @Test(
        "A non-optional value read from NULL throws, and the error names column, row and SQL", .behaviour(26),
        arguments: ReadingWay.withSQL.filter { !$0.isOptional })
    func null(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            func check<Value: DatabaseValueConvertible & Hashable>(_ type: Value.Type) throws {
                let sql = "SELECT NULL AS v, 17 AS id"
                let error = #expect(throws: RowDecodingError.self) {
                    try db.read(Value.self, by: way, sql: sql)
                }
                #expect(error?.reason == .unexpectedNull)
                #expect(error?.columnName == "v")
                #expect(error?.columnIndex == 0)
                #expect(error?.row.map(\.0) == ["v", "id"])
                #expect(error?.row.map(\.1) == [.null, 17])
                #expect(error?.databaseValue == .null)
                #expect(error?.expectedType == type)
                #expect(error?.sql == sql)
                #expect(
                    error?.description
                        == "could not read \(type) from column \"v\": it is NULL"
                        + " - in the row [v: NULL, id: 17] of `\(sql)`")
            }
            try check(Int.self)
            try check(Bool.self)
            try check(Double.self)
            try check(String.self)
            try check(Data.self)
            try check(UUID.self)
            try check(Date.self)
            try check(Decimal.self)
            // The connection goes on.
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test(
        "An optional read from NULL is nil", .behaviour(26),
        arguments: ReadingWay.allCases.filter(\.isOptional))
    func optionalNull(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            #expect(try db.read(Int.self, by: way, sql: "SELECT NULL AS v") == nil)
        }
    }

    // MARK: - From SQL and from statements

    @Test("All four methods fetch from SQL and from a statement, with arguments")
    func methods() throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT value FROM json_each('[1,2,2,3]') WHERE value >= ?"
            let statement = try db.makeStatement(sql: sql)
            for minimum in [1, 2, 4] {
                let expected = [1, 2, 2, 3].filter { $0 >= minimum }
                #expect(try Int.fetchAll(db, sql: sql, arguments: [minimum]) == expected)
                #expect(try Int.fetchAll(statement, arguments: [minimum]) == expected)
                #expect(try Int.fetchSet(db, sql: sql, arguments: [minimum]) == Set(expected))
                #expect(try Int.fetchSet(statement, arguments: [minimum]) == Set(expected))
                #expect(try Array(Int.fetchCursor(db, sql: sql, arguments: [minimum])) == expected)
                #expect(try Array(Int.fetchCursor(statement, arguments: [minimum])) == expected)
                #expect(try Int.fetchOne(db, sql: sql, arguments: [minimum]) == expected.first)
                #expect(try Int.fetchOne(statement, arguments: [minimum]) == expected.first)
                // The arguments that were bound last are used again.
                #expect(try Int.fetchAll(statement) == expected)
                #expect(try Row.fetchSet(statement) == Set(expected.map { ["value": $0] as Row }))
                #expect(try Row.fetchAll(statement) == expected.map { ["value": $0] })
            }
        }
    }

    @Test("A value that does not convert in the middle leaves the statement and the connection usable")
    func errorInTheMiddle() throws {
        try DatabaseQueue().write { db in
            let sql = "SELECT value FROM json_each('[1,2,\"three\",4]')"
            let statement = try db.makeStatement(sql: sql)
            for _ in 1...3 {
                #expect(throws: RowDecodingError.self) { try Int.fetchAll(statement) }
                #expect(throws: RowDecodingError.self) { try Int.fetchSet(statement) }
                #expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: sql) }
                #expect(try Int.fetchOne(statement) == 1)
                #expect(
                    try String.fetchAll(db, sql: "SELECT value || '' FROM (\(sql))") == [
                        "1", "2", "three", "4",
                    ])
                try db.execute(sql: "CREATE TABLE t (a); DROP TABLE t")
            }
        }
    }

    @Test("An error of SQLite in the middle leaves the statement and the connection usable")
    func databaseErrorInTheMiddle() throws {
        try DatabaseQueue().write { db in
            let sql = "SELECT abs(value) FROM json_each(?)"
            let statement = try db.makeStatement(sql: sql)
            for _ in 1...3 {
                let error = #expect(throws: DatabaseError.self) {
                    try Int.fetchAll(statement, arguments: ["[1,2,-9223372036854775808]"])
                }
                #expect(error?.description == "SQLite error 1: integer overflow - while executing `\(sql)`")
                #expect(try Int.fetchAll(statement, arguments: ["[-1,-2]"]) == [1, 2])
                try db.execute(sql: "CREATE TABLE t (a); DROP TABLE t")
            }
        }
    }

    @Test("fetchOne of a statement that writes writes all, and stops a query after its first row")
    func fetchOneThatWrites() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(
                try Int.fetchOne(db, sql: "INSERT INTO t SELECT value FROM json_each('[1,2,3]') RETURNING a")
                    == 1)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == [1, 2, 3])
            // The second row would fail.
            #expect(
                try Int.fetchOne(db, sql: "SELECT abs(value) FROM json_each('[1,-9223372036854775808]')") == 1
            )
            #expect(throws: RowDecodingError.self) {
                try Int.fetchOne(db, sql: "INSERT INTO t VALUES ('x'), (7) RETURNING a")
            }
            try db.execute(sql: "CREATE TABLE u (a); DROP TABLE u")
            #expect(try Int.fetchOne(db, sql: "CREATE TABLE u (a)") == nil)
            #expect(try Int.fetchAll(db, sql: "DROP TABLE u") == [])
        }
    }

    @Test("Queries whose SQL differs in the bytes of a letter alone are two queries")
    func canonicallyEquivalentSQL() throws {
        try DatabaseQueue().read { db in
            for text in ["\u{e9}", "e\u{301}", "\u{e9}"] {
                let found = try #require(try String.fetchOne(db, sql: "SELECT '\(text)'"))
                #expect(Array(found.utf8) == Array(text.utf8))
            }
        }
    }

    @Test("Records of wide and of narrow rows are fetched by a statement in turn")
    func rowsOfOneStatement() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT value AS v, CASE value % 3 WHEN 0 THEN NULL WHEN 1 THEN 'x' ELSE 1.5 END AS w "
                    + "FROM json_each('[0,1,2,3,4,5]')")
            #expect(try rows.map { try $0["w"] as DatabaseValue } == [.null, "x", 1.5, .null, "x", 1.5])
        }
    }
}
