import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The comparison of values by columns, beside SQLite's.
@Suite("The comparison of a column", .behaviour(109))
struct ColumnComparisonTests {
    private static let types = [
        "", "BLOB", "TEXT", "INTEGER", "NUMERIC", "REAL", "COLLATE NOCASE", "COLLATE RTRIM",
        "TEXT COLLATE NOCASE",
        "TEXT COLLATE RTRIM", "INTEGER COLLATE NOCASE", "REAL COLLATE RTRIM",
        "TEXT COLLATE swiftCaseInsensitiveCompare",
        "BLOB COLLATE swiftCaseInsensitiveCompare", "TEXT COLLATE length",
    ]

    private static let values: [DatabaseValue] = [
        0.databaseValue, 1.databaseValue, (-1).databaseValue, 10.databaseValue, Int64.max.databaseValue,
        (1 << 53).databaseValue, (1 << 53 + 1).databaseValue, 0.0.databaseValue, 1.0.databaseValue,
        1.5.databaseValue, 1e300.databaseValue, Double(1 << 53).databaseValue, Double.infinity.databaseValue,
        "".databaseValue, " ".databaseValue, "a".databaseValue, "A".databaseValue, "a ".databaseValue,
        "a  ".databaseValue, " a".databaseValue, "a\t".databaseValue, "A ".databaseValue, "1".databaseValue,
        "1 ".databaseValue, "1.0".databaseValue, "1e0".databaseValue, "é".databaseValue, "É".databaseValue,
        "e\u{301}".databaseValue, "a\u{0}b".databaseValue, "A\u{0}c".databaseValue, "a\u{0}bc".databaseValue,
        "[".databaseValue, "{".databaseValue, "@".databaseValue, "`".databaseValue, "\u{130}".databaseValue,
        Data("a".utf8).databaseValue, Data("A".utf8).databaseValue, Data().databaseValue, .null,
    ]

    private func withTable(
        _ type: String, _ body: (Database, ColumnComparison) throws -> Void
    ) throws {
        try DatabaseQueue().inDatabase { db in
            try db.add(collation: .caseInsensitiveCompare)
            try db.add(
                collation: DatabaseCollation("length") { a, b in
                    a.utf8.count == b.utf8.count
                        ? .orderedSame : a.utf8.count < b.utf8.count ? .orderedAscending : .orderedDescending
                })
            try db.execute(sql: "CREATE TABLE t (c \(type))")
            try body(db, #require(try db.schema.table("t")).comparison(ofColumn: "c"))
        }
    }

    @Test("takes for equal what SQLite takes for equal", arguments: types)
    func equality(type: String) throws {
        try withTable(type) { db, comparison in
            let select = try db.makeStatement(sql: "SELECT c, +c = ?1, c = ?1 FROM t")
            for stored in Self.values {
                try db.execute(sql: "DELETE FROM t")
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [stored])
                for value in Self.values {
                    let row = try #require(try Row.fetchOne(select, arguments: [value]))
                    let held = row.databaseValues[0]
                    let isEqual = row.databaseValues[2] == true.databaseValue
                    let comment: Comment = "\(type): \(value) and \(held)"
                    #expect(comparison.areEqual(value, held) == isEqual, comment)
                    guard !value.isNull, !held.isNull else { continue }
                    if comparison.isComparable {
                        #expect(
                            (comparison.comparable(value) == comparison.comparable(held)) == isEqual, comment)
                    }
                    // A value that is found, and need not be written, is what the column makes of
                    // the value.
                    if isEqual, comparison.isExact(for: value) {
                        #expect(comparison.affinity?.storing(value) ?? value == held, comment)
                    }
                }
            }
        }
    }

    @Test("of a comparable value finds the same rows as the value", arguments: types)
    func comparableValues(type: String) throws {
        try withTable(type) { db, comparison in
            guard comparison.isComparable else { return }
            for value in Self.values {
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
            }
            for value in Self.values where !value.isNull {
                func found(_ value: DatabaseValue) throws -> [Int64] {
                    try Int64.fetchAll(
                        db, sql: "SELECT rowid FROM t WHERE c = ? ORDER BY rowid", arguments: [value])
                }
                try #expect(found(comparison.comparable(value)) == found(value), "\(type): \(value)")
            }
        }
    }

    @Test(
        "is SQLite's in all but one row, which SQLite itself does not find by the number that it is equal to")
    func smallestRowID() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (\(Int64.min))")
            let real = Double(Int64.min)
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE +id = ?", arguments: [real]) == 1)
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t WHERE id = ?", arguments: [real]) == 0)
        }
    }

    @Test("of keys that are compared byte by byte is exact, so that no update writes them")
    func exactKeys() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (
                        id INTEGER PRIMARY KEY COLLATE NOCASE, a TEXT, b REAL, c NUMERIC, d BLOB, e,
                        f TEXT COLLATE NOCASE, g INTEGER COLLATE RTRIM);
                    CREATE VIEW v AS SELECT id, a || '' AS a FROM t
                    """)
            let table = try #require(try db.schema.table("t"))
            #expect(["id", "rowid", "a", "b", "c"].allSatisfy { table.comparison(ofColumn: $0).isExact })
            #expect(["d", "e", "f", "g"].allSatisfy { !table.comparison(ofColumn: $0).isExact })
            // The values in such a column decide.
            let blob = table.comparison(ofColumn: "d")
            #expect(blob.isExact(for: UUID().databaseValue) && blob.isExact(for: "a".databaseValue))
            #expect(!blob.isExact(for: 1.databaseValue))
            // SQLite reports the collation of no view's column.
            let view = try #require(try db.schema.table("v"))
            #expect(view.comparison(ofColumn: "id").isExact && !view.comparison(ofColumn: "a").isComparable)
        }
    }
}
