import Foundation
import Shellac
import TestSupport
import Testing

private enum Color: Int, DatabaseValueConvertible { case red }

@Suite("Row decoding errors")
struct RowDecodingErrorTests {
    @Test(
        "A value that does not convert throws, and the error says what was found", .behaviour(41),
        arguments: [
            ("'1st'", "the text", "'1st'"), ("''", "the text", "''"), ("'it''s'", "the text", "'it''s'"),
            ("1.5", "the real number", "1.5"), ("1e300", "the real number", "1e+300"),
            ("9e999", "the real number", "9e999"), ("x''", "the blob", "x''"),
            ("zeroblob(32)", "the blob", "x'\(String(repeating: "00", count: 32))'"),
            ("zeroblob(33)", "the blob", "Data(33 bytes)"),
            ("'a' || char(0)", "the text", "CAST(x'6100' AS TEXT)"),
            ("printf('%.200c', 'x')", "the text", "'\(String(repeating: "x", count: 200))'"),
            ("printf('%.201c', 'x')", "the text", "'\(String(repeating: "x", count: 200))…'"),
        ])
    func mismatches(_ literal: String, _ kind: String, _ value: String) throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT \(literal) AS v, 17 AS \"a\"\"b\""
            let found = try DatabaseValue.fetchOne(db, sql: sql)
            for way in ReadingWay.withSQL {
                let error = #expect(throws: RowDecodingError.self) {
                    try db.read(Int.self, by: way, sql: sql)
                }
                let type = way.isOptional && way != .fetchOne ? "Optional<Int>" : "Int"
                #expect(
                    error?.description
                        == "could not read \(type) from column \"v\": it holds \(kind) \(value)"
                        + " - in the row [v: \(value), a\"b: 17] of `\(sql)`", "\(way)")
                #expect(error?.reason == .valueMismatch)
                #expect(error?.columnName == "v")
                #expect(error?.columnIndex == 0)
                #expect(error?.row.map(\.0) == ["v", "a\"b"])
                #expect(error?.row.map(\.1) == [found ?? .null, 17])
                #expect(error?.databaseValue == found)
            }
        }
    }

    @Test("The error names the type that was asked, and an integer out of bounds", .behaviour(41))
    func types() throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT 300"
            func message(_ read: () throws -> Any?) -> String? {
                #expect(throws: RowDecodingError.self) { try read() }?.description
            }
            #expect(
                message { try UInt8.fetchOne(db, sql: sql) }
                    == "could not read UInt8 from column \"300\": it holds the integer 300"
                    + " - in the row [300: 300] of `SELECT 300`")
            #expect(
                message { try Color.fetchAll(db, sql: sql) }
                    == "could not read Color from column \"300\": it holds the integer 300"
                    + " - in the row [300: 300] of `SELECT 300`")
            #expect(
                message { try Row(["n": 300])["n"] as UUID }
                    == "could not read UUID from column \"n\": it holds the integer 300 - in the row [n: 300]"
            )
        }
    }

    @Test(
        "A missing column throws, and the error names the columns that are there", .behaviour(41),
        arguments: [true, false])
    func missing(_ isLive: Bool) throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT 1 AS id, 2 AS \"a b\""
            let rows = try Row.fetchCursor(db, sql: sql)
            var row = try #require(try rows.next())
            if !isLive { row = row.copy() }
            let suffix = ": there is no such column - in the row [id: 1, a b: 2] of `\(sql)`"
            let named = #expect(throws: RowDecodingError.self) { try row["na\"me"] as Int }
            #expect(named?.description == "could not read Int from column \"na\"\"me\"" + suffix)
            #expect(named?.reason == .columnNotFound)
            #expect(named?.columnName == "na\"me")
            #expect(named?.columnIndex == nil)
            #expect(named?.databaseValue == nil)
            for index in [2, -1, .max, .min] {
                let error = #expect(throws: RowDecodingError.self) { try row[index] as String }
                #expect(error?.description == "could not read String from column \(index)" + suffix)
                #expect(error?.reason == .columnNotFound)
                #expect(error?.columnIndex == index)
                #expect(error?.columnName == nil)
            }
        }
    }

    @Test(
        "An error of a row made by hand names no SQL, and one of an empty row shows that it is empty",
        .behaviour(41))
    func byHand() {
        let missing = #expect(throws: RowDecodingError.self) { try Row()["a"] as Int }
        #expect(
            missing?.description
                == "could not read Int from column \"a\": there is no such column - in the row []")
        #expect(missing?.sql == nil)
        let null = #expect(throws: RowDecodingError.self) { try Row(["a": nil])["A"] as Int }
        #expect(
            null?.description == "could not read Int from column \"a\": it is NULL - in the row [a: NULL]")
    }
}
