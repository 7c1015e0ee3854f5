import Shellac
import TestSupport
import Testing

/// Rows with the same columns, live and owned, narrow and too wide for a search from left to right.
struct RowShape: Sendable, CustomTestStringConvertible {
    let isLive: Bool
    let width: Int

    var testDescription: String { "\(isLive ? "live" : "owned"), \(width) columns" }

    static let all = [true, false].flatMap { isLive in
        [4, 12, 13, 40].map { RowShape(isLive: isLive, width: $0) }
    }

    /// Runs a body with a row that has some columns, and others named f0, f1… after them.
    func row(_ columns: [(String, Int)], _ body: (Row) throws -> Void) throws {
        let fillers = (0..<(width - columns.count)).map { ("f\($0)", -1) }
        let selected = (columns + fillers).map { "\($1) AS \($0.quotedDatabaseIdentifier)" }
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT \(selected.joined(separator: ", "))")
            let row = try #require(try rows.next())
            try body(isLive ? row : row.copy())
        }
    }
}

@Suite("Names of columns")
struct RowLayoutTests {
    @Test(
        "Duplicate columns are kept, and the leftmost wins by name", .behaviour(41), arguments: RowShape.all)
    func duplicates(_ shape: RowShape) throws {
        try shape.row([("a", 1), ("B", 2), ("A", 3), ("b", 4)]) { row throws in
            #expect(row.count == shape.width)
            #expect(Array(row.columnNames.prefix(4)) == ["a", "B", "A", "b"])
            #expect(try (0..<4).map { try row[$0] as Int } == [1, 2, 3, 4])
            for name in ["a", "A", "a", "A"] {
                #expect(try row[name] == 1)
                #expect(row.databaseValue(named: name) == 1)
            }
            for name in ["b", "B"] {
                #expect(try row[name] == 2)
                #expect(row.databaseValue(named: name) == 2)
            }
        }
    }

    @Test(
        "Names match without regard to the case of ASCII letters alone", .behaviour(41),
        arguments: RowShape.all)
    func caseInsensitive(_ shape: RowShape) throws {
        try shape.row([("É", 1), ("aZ[`{@", 2), ("e\u{301}", 3)]) { row throws in
            #expect(try row["É"] == 1)
            #expect(!row.hasColumn("é"))
            #expect(try row["é"] as Int? == nil)
            #expect(throws: RowDecodingError.self) { try row["é"] as Int }
            // é composed is not é decomposed, whose letter folds.
            #expect(try row["e\u{301}"] == 3)
            #expect(try row["E\u{301}"] == 3)
            #expect(!row.hasColumn("\u{e9}"))
            #expect(try row["Az[`{@"] == 2)
            // A character one bit away from these is another one.
            for name in ["aZ{`{@", "aZ[@{@", "aZ[`[@", "aZ[`{`", "aZ", "aZ[`{@ ", "", " ", "aZ[`{@\0"] {
                #expect(!row.hasColumn(name), "\(name)")
                #expect(row.databaseValue(named: name) == nil, "\(name)")
            }
        }
    }

    @Test(
        "A missing column is nil as an optional, and throws as any other type", .behaviour(41),
        arguments: RowShape.all)
    func missing(_ shape: RowShape) throws {
        try shape.row([("a", 1)]) { row throws in
            for _ in 1...3 {
                #expect(try row["b"] as Int? == nil)
                #expect(try row[shape.width] as Int? == nil)
                #expect(try row[-1] as String? == nil)
                #expect(!row.hasColumn("b"))
                #expect(row.hasColumn("A"))
                #expect(throws: RowDecodingError.self) { try row["b"] as Int }
                #expect(throws: RowDecodingError.self) { try row[shape.width] as Int }
                // A value that holds NULL does not hold nothing.
                #expect(throws: RowDecodingError.self) { try row["b"] as DatabaseValue }
                #expect(try row["b"] as DatabaseValue? == nil)
                #expect(try row["a"] == 1)
            }
        }
    }

    @Test("Columns with the empty name, quotes and NUL-free binary names are found", arguments: RowShape.all)
    func oddNames(_ shape: RowShape) throws {
        let long = String(repeating: "é", count: 4000)
        try shape.row([("", 1), ("a\"b", 2), (long, 3), ("1", 4)]) { row throws in
            #expect(try row[""] == 1)
            #expect(try row["a\"b"] == 2)
            #expect(try row[long] == 3)
            #expect(try row["1"] == 4)
        }
    }
}
