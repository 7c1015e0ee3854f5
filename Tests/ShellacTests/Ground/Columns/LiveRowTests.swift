import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Live rows")
struct LiveRowTests {
    // MARK: - Schema changes

    @Test(
        "Names that were remembered are forgotten when the schema has changed", .behaviour(41),
        arguments: [
            ("ALTER TABLE t ADD COLUMN c DEFAULT 3", ["a", "b_with_a_long_name", "c"], [1, 2, 3]),
            ("ALTER TABLE t DROP COLUMN a", ["b_with_a_long_name"], [2]),
            ("ALTER TABLE t DROP COLUMN b_with_a_long_name", ["a"], [1]),
            ("ALTER TABLE t RENAME COLUMN a TO z", ["z", "b_with_a_long_name"], [1, 2]),
            (
                "DROP TABLE t; CREATE TABLE t(b_with_a_long_name, a); INSERT INTO t VALUES (2, 1)",
                ["b_with_a_long_name", "a"], [2, 1]
            ),
            ("CREATE TEMP TABLE t AS SELECT 7 AS q, 8 AS a, 9 AS r", ["q", "a", "r"], [7, 8, 9]),
            (
                "PRAGMA short_column_names = 0; PRAGMA full_column_names = 1",
                ["t.a", "t.b_with_a_long_name"], [1, 2]
            ),
        ] as [(String, [String], [Int])])
    func schemaChange(_ change: String, _ names: [String], _ values: [Int]) throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a, b_with_a_long_name); INSERT INTO t VALUES (1, 2)")
            let made = try db.makeStatement(sql: "SELECT * FROM t")
            var old: [Row] = []
            for statement in [made, try db.cachedStatement(sql: "SELECT * FROM t")] {
                #expect(statement.columnNames == ["a", "b_with_a_long_name"])
                for _ in 1...3 {
                    let rows = try Row.fetchCursor(statement)
                    let row = try #require(try rows.next())
                    #expect(try row["a"] + row["b_with_a_long_name"] == 3)
                    #expect(!row.hasColumn("c"))
                    old.append(row.copy())
                }
            }
            try db.execute(sql: change)
            for statement in [made, try db.cachedStatement(sql: "SELECT * FROM t")] {
                for _ in 1...3 {
                    let rows = try Row.fetchCursor(statement)
                    let row = try #require(try rows.next())
                    // In the order of the look-ups before.
                    for name in ["a", "b_with_a_long_name", "c"] {
                        let expected = names.firstIndex(of: name).map { values[$0] }
                        #expect(try row[name] as Int? == expected, "\(name)")
                    }
                    #expect(row.columnNames == names)
                    #expect(row.databaseValues == values.map(\.databaseValue))
                    #expect(statement.columnNames == names)
                    #expect(statement.columnCount == names.count)
                    #expect(rows.columnNames == names)
                    #expect(row.copy() == Row(zip(names, values).map { ($0, $1.databaseValue) }))
                    #expect(try rows.next() == nil)
                }
            }
            // Rows that were kept keep their columns.
            for row in old { #expect(row == ["a": 1, "b_with_a_long_name": 2]) }
        }
    }

    @Test("A schema that another connection changes is noticed, too")
    func otherConnection() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let reader = try DatabaseQueue(path: path)
        let writer = try DatabaseQueue(path: path)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
        }
        func sum() throws -> [Int?] {
            try reader.read { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM t")
                let row = try #require(try rows.next())
                return try [row["a"], row["b"], row["c"]]
            }
        }
        #expect(try sum() == [1, 2, nil])
        try writer.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 3") }
        #expect(try sum() == [1, 2, 3])
        try writer.write { db in try db.execute(sql: "ALTER TABLE t DROP COLUMN a") }
        #expect(try sum() == [nil, 2, 3])
    }

    // MARK: - Width

    @Test("2,000 columns are read by position and by name, live and owned", arguments: [true, false])
    func wide(_ isLive: Bool) throws {
        try DatabaseQueue().write { db in
            let names = (0..<2000).map { $0.isMultiple(of: 2) ? "c\($0)" : "a_column_with_a_long_name_\($0)" }
            try db.execute(sql: "CREATE TABLE wide (\(names.joined(separator: ", ")))")
            let marks = Array(repeating: "?", count: 2000).joined(separator: ", ")
            for i in 0..<3 {
                try db.execute(
                    sql: "INSERT INTO wide VALUES (\(marks))",
                    arguments: StatementArguments(
                        (0..<2000).map { $0 == 1000 ? nil : i * 10_000 + $0 } as [Int?]))
            }
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM wide ORDER BY rowid")
            for i in 0..<3 {
                var row = try #require(try rows.next())
                if !isLive { row = row.copy() }
                #expect(row.count == 2000)
                #expect(row.columnNames == names)
                for column in (0..<2000).reversed() where column != 1000 {
                    #expect(try row[column] == i * 10_000 + column)
                    #expect(try row[names[column]] == i * 10_000 + column)
                    #expect(try row[names[column].uppercased()] == i * 10_000 + column)
                }
                #expect(try row[1000] as Int? == nil)
                #expect(try row["c1000"] as Int? == nil)
                #expect(throws: RowDecodingError.self) { try row["c1000"] as Int }
                #expect(throws: RowDecodingError.self) { try row[2000] as Int }
                #expect(row.dictionary.count == 2000)
                #expect(row.databaseValues.count == 2000)
            }
            #expect(try rows.next() == nil)
        }
    }

    @Test("Every width of a row gives each value at its place", arguments: [1, 2, 3, 4, 12, 13, 100])
    func widths(_ width: Int) throws {
        try DatabaseQueue().read { db in
            let columns = (0..<width).map { column in
                ["\(column)", "'t\(column)'", "\(column).5", "NULL", "x'0\(column % 10)'"][column % 5]
            }
            let sql = "SELECT \(columns.joined(separator: ", "))"
            let expected = try columns.map { try DatabaseValue.fetchAll(db, sql: "SELECT \($0)")[0] }
            let rows = try Row.fetchCursor(db, sql: sql + " UNION ALL " + sql)
            while let row = try rows.next() {
                #expect(row.databaseValues == expected)
                #expect(try (0..<width).map { try row[$0] as DatabaseValue } == expected)
                #expect(row.copy().databaseValues == expected)
            }
        }
    }

    @Test("Two statements run at once, each with rows of its own")
    func interleaved() throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT value AS v, value * 2 AS w FROM json_each('[1,2,3,4]')"
            let outer = try Row.fetchCursor(db, sql: sql)
            var pairs: [[Int]] = []
            while let a = try outer.next() {
                let inner = try Row.fetchCursor(db, sql: sql)
                while let b = try inner.next() { pairs.append(try [a["v"], b["w"], a["w"], b["v"]]) }
            }
            #expect(pairs == (1...4).flatMap { a in (1...4).map { b in [a, b * 2, a * 2, b] } })
        }
    }

    // MARK: - Stale rows

    @Test("A row whose statement has moved on traps, with a sentence", arguments: StaleUse.allCases)
    func stale(_ use: StaleUse) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [use = use as StaleUse] in
            crashWithoutBacktrace()
            try DatabaseQueue().read { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
                guard let row = try rows.next() else { return }
                _ = try rows.next()
                try use.read(row)
            }
        }
        try expectSentence(result)
    }

    @Test("A row that its statement lost in any way traps, with a sentence", arguments: StaleEnd.allCases)
    func lost(_ end: StaleEnd) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [end = end as StaleEnd] in
            crashWithoutBacktrace()
            try DatabaseQueue().writeWithoutTransaction { db in
                let row = try end.row(db)
                try StaleUse.name.read(row)
            }
        }
        try expectSentence(result)
    }

    private func expectSentence(_ result: ExitTest.Result?) throws {
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            output.contains(
                "Shellac was misused: a row was read after its cursor had moved on. Call copy() on a row to "
                    + "keep it, or fetch an array with Row.fetchAll."), "\(output)")
    }

    @Test("A row that was lost still describes itself, and its copy lives on")
    func staleDescription() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
            let row = try #require(try rows.next())
            let kept = row.copy()
            _ = try rows.next()
            #expect(row.description == "Row (its cursor has moved on)")
            #expect(row.debugDescription == "Row (its cursor has moved on)")
            #expect(Mirror(reflecting: row).children.isEmpty)
            #expect("\(kept)" == "[a: 1]")
        }
    }
}

/// A way to read a row.
enum StaleUse: String, CaseIterable, Codable, Sendable {
    case name, index, optionalName, missingName, hasColumn, count, isEmpty, columnNames, databaseValues
    case databaseValueNamed, databaseValueAtIndex, hasNull, containsNonNullValue, dictionary, iteration, copy
    case equality, hash, withUnsafeDataNamed, withUnsafeDataAtIndex

    func read(_ row: Row) throws {
        switch self {
        case .name: _ = try row["a"] as Int
        case .index: _ = try row[0] as Int
        case .optionalName: _ = try row["a"] as Int?
        case .missingName: _ = try row["b"] as Int?
        case .hasColumn: _ = row.hasColumn("a")
        case .count: _ = row.count
        case .isEmpty: _ = row.isEmpty
        case .columnNames: _ = row.columnNames
        case .databaseValues: _ = row.databaseValues
        case .databaseValueNamed: _ = row.databaseValue(named: "a")
        case .databaseValueAtIndex: _ = row.databaseValue(atIndex: 0)
        case .hasNull: _ = row.hasNull(atIndex: 0)
        case .containsNonNullValue: _ = row.containsNonNullValue
        case .dictionary: _ = row.dictionary
        case .iteration: for _ in row {}
        case .copy: _ = row.copy()
        case .equality: _ = row == Row()
        case .hash: _ = row.hashValue
        case .withUnsafeDataNamed: try row.withUnsafeData(named: "a") { _ in }
        case .withUnsafeDataAtIndex: try row.withUnsafeData(atIndex: 0) { _ in }
        }
    }
}

/// A way in which a row is lost.
enum StaleEnd: String, CaseIterable, Codable, Sendable {
    case cursorsEnd, cursorFreed, statementFreed, statementFreedAndPlaceUsedAgain, anotherRun, arrayOfCursor
    case cursorFailed

    func row(_ db: Database) throws -> Row {
        let sql = "SELECT 1 AS a UNION ALL SELECT 2"
        func first(_ cursor: DatabaseCursor<Row>) throws -> Row {
            guard let row = try cursor.next() else { throw NoRow(sql: sql) }
            return row
        }
        switch self {
        case .cursorsEnd:
            let cursor = try Row.fetchCursor(db, sql: sql)
            var last = try first(cursor)
            while let row = try cursor.next() { last = row }
            return last
        case .cursorFreed: return try first(Row.fetchCursor(db, sql: sql))
        case .statementFreed: return try first(Row.fetchCursor(db.makeStatement(sql: sql)))
        case .statementFreedAndPlaceUsedAgain:
            let row = try first(Row.fetchCursor(db.makeStatement(sql: sql)))
            let others = try (0..<10).map { _ in try Row.fetchCursor(db.makeStatement(sql: sql)) }
            for other in others { _ = try first(other) }
            try StaleUse.name.read(row)
            return withExtendedLifetime(others) { row }
        case .anotherRun:
            let statement = try db.makeStatement(sql: sql)
            let row = try first(Row.fetchCursor(statement))
            let cursor = try Row.fetchCursor(statement)
            _ = try first(cursor)
            try StaleUse.name.read(row)
            return withExtendedLifetime(cursor) { row }
        case .arrayOfCursor:
            // The documentation of Array.init says that rows must be copied.
            return try Array(Row.fetchCursor(db, sql: sql))[0]
        case .cursorFailed:
            let integers = "[1, -9223372036854775808]"
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT abs(value) AS a FROM json_each(?)", arguments: [integers])
            let row = try first(cursor)
            do { _ = try cursor.next() } catch {}
            return row
        }
    }
}
