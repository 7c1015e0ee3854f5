import Foundation
import Shellac
import TestSupport
import Testing

/// A record that reads its columns in an order, and by ways, that a test chooses.
private class Reader: Record {
    nonisolated(unsafe) static var read: (Row) throws -> Void = { _ in }  // one test at a time

    override class var databaseTableName: String { "thing" }

    required init(row: Row) throws {
        try Self.read(row)
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        // It differs from everything that is stored: so all columns are reported, with their
        // remembered values.
        for name in ["i", "r", "t", "b", "n", "d", "x"] { container[name] = "?" }
    }
}

private protocol PickyRecord: Record {}

private class AnyPicky: Record {
    override class var databaseTableName: String { "picky" }
}

/// A record that takes integers only, and differs from all that it reads.
private final class PairPicky: AnyPicky, PickyRecord {
    override func updateFromRow(_ row: Row) throws {
        _ = try row["a"] as Int
        _ = try row["b"] as Int
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["a"] = 0
        container["b"] = 0
    }
}

private final class ListedPicky: AnyPicky, PickyRecord {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("a", 0) { _ in }
        try column("b", 0) { _ in }
    }
}

/// An integer that is stored as 0.
private struct Nought: DatabaseValueConvertible, Codable {
    var read = 0
    var databaseValue: DatabaseValue { 0.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> Nought? {
        Int.fromDatabaseValue(value).map { Nought(read: $0) }
    }
}

private final class CodedPicky: AnyPicky, PickyRecord, Codable {
    var a = Nought()
    var b = Nought()
}

extension RecordStyle {
    fileprivate var picky: any PickyRecord.Type { choose(PairPicky.self, ListedPicky.self, CodedPicky.self) }
}

private enum Mood: String, DatabaseValueConvertible { case glad }

/// The row that a class record remembers is packed while its properties are read. However they are
/// read, it is the same row.
@Suite("What a fetched record remembers", .serialized)
struct RecordRememberedRowTests {
    private static let text = String(repeating: "ö", count: 300)

    /// Returns the row that the record remembers after a way of reading it.
    private func remembered(_ read: @escaping (Row) throws -> Void) throws -> [String: DatabaseValue?] {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE thing (i INTEGER, r REAL, t TEXT, b BLOB, n, d TEXT, x TEXT)")
            try db.execute(
                sql:
                    "INSERT INTO thing VALUES (-70000, 1.5, 'glad', x'00ff', NULL, '2020-01-02 03:04:05', ?)",
                arguments: [Self.text])
            Reader.read = read
            defer { Reader.read = { _ in } }
            let reader = try #require(try Reader.fetchOne(db, sql: "SELECT * FROM thing"))
            return try reader.databaseChanges
        }
    }

    private var expected: [String: DatabaseValue?] {
        [
            "i": (-70000).databaseValue, "r": 1.5.databaseValue, "t": "glad".databaseValue,
            "b": Data([0, 255]).databaseValue, "n": .null, "d": "2020-01-02 03:04:05".databaseValue,
            "x": Self.text.databaseValue,
        ]
    }

    @Test(
        "Whatever is read of its row, in whatever order, a record remembers all of it",
        arguments: [
            [], [0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3], [0, 0, 1, 1, 0], [2, 6, 4], [6, 0, 6],
        ])
    func order(_ columns: [Int]) throws {
        let names = ["i", "r", "t", "b", "n", "d", "x"]
        #expect(
            try remembered { row in for column in columns { _ = try row[column] as DatabaseValue } }
                == expected)
        #expect(
            try remembered { row in
                for column in columns {
                    switch column {
                    case 0: _ = try row[names[0]] as Int
                    case 1: _ = try row[names[1]] as Double?
                    case 2: _ = try row[names[2]] as Mood
                    case 3: _ = try row[names[3]] as Data
                    case 4: _ = try row[names[4]] as String?
                    case 5: _ = try row[names[5]] as Date
                    default: _ = try row[names[6]] as String
                    }
                }
            } == expected)
    }

    @Test("A value that is read as another type is remembered as it is stored")
    func types() throws {
        #expect(
            try remembered { row in
                _ = try row["i"] as Double
                _ = try row["i"] as Int32
                _ = try? row["r"] as Int
                #expect(throws: RowDecodingError.self) { try row["t"] as Int }
                _ = try row["d"] as String
                _ = try row["x"] as String?
            } == expected)
    }

    @Test("A copy of the row, made while it is read, changes nothing, and is the row")
    func copies() throws {
        let found = try remembered { row in
            _ = try row["i"] as Int
            let copy = row.copy()
            _ = try row["r"] as Double
            #expect(copy == row)
            #expect(try copy["x"] as String == Self.text)
            _ = try row["t"] as String
        }
        #expect(found == expected)
    }

    @Test("Rows that are long, wide, or both are remembered, too")
    func long() throws {
        class Wide: Record {
            override class var databaseTableName: String { "wide" }
            var values: [Int: String] = [:]
            var width = 0
            override func updateFromRow(_ row: Row) throws {
                width = row.count
                for column in stride(from: 0, to: width, by: 3) { values[column] = try row[column] }
            }
            override func encode(to container: inout PersistenceContainer) throws {
                for column in 0..<width { container["c\(column)"] = 0 }
            }
        }
        for (width, length) in [(2, 5000), (30, 300), (450, 1), (500, 1), (700, 20)] {
            let values = (0..<width).map { "'\($0)" + String(repeating: "-", count: length) + "'" }
            let columns = values.enumerated().map { "\($1) AS c\($0)" }.joined(separator: ", ")
            try DatabaseQueue().read { db in
                let wide = try #require(try Wide.fetchOne(db, sql: "SELECT \(columns)"))
                let changes = try wide.databaseChanges
                #expect(changes.count == width)
                for column in 0..<width {
                    #expect(
                        changes["c\(column)"]
                            == "\(column)\(String(repeating: "-", count: length))".databaseValue)
                }
                #expect(wide.values[0] == "0" + String(repeating: "-", count: length))
            }
        }
    }

    @Test(
        "A cursor's records remember each their own row, also where reading one throws",
        arguments: RecordStyle.allCases)
    func cursor(style: RecordStyle) throws { try cursor(style.picky) }

    private func cursor<Picky: PickyRecord>(_: Picky.Type) throws {
        try DatabaseQueue().read { db in
            let statement = try db.makeStatement(
                sql: "SELECT column1 AS a, column2 AS b FROM (VALUES (1, 2), (3, 'x'), (5, 6))")
            let cursor = try Picky.fetchCursor(statement)
            #expect(try cursor.next()?.databaseChanges == ["a": 1.databaseValue, "b": 2.databaseValue])
            #expect(throws: RowDecodingError.self) { try cursor.next() }
            let rest = try Picky.fetchAll(db, sql: "SELECT 5 AS a, 6 AS b")
            #expect(
                try rest.map { try $0.databaseChanges } == [["a": 5.databaseValue, "b": 6.databaseValue]])
        }
    }
}
