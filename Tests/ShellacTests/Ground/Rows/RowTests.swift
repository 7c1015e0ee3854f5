import Foundation
import Shellac
import TestSupport
import Testing

/// The places of a row's values.
enum RowPlace: String, CaseIterable, Sendable {
    case live, copied, fetchedOne, fetchedAll, madeByHand

    /// The first row of a query, on any of the ways.
    func row<T>(_ db: Database, _ sql: String, _ body: (Row) throws -> T) throws -> T {
        let rows = try Row.fetchCursor(db, sql: sql)
        let live = try #require(try rows.next())
        switch self {
        case .live: return try body(live)
        case .copied: return try body(live.copy())
        case .fetchedOne: return try body(try #require(try Row.fetchOne(db, sql: sql)))
        case .fetchedAll: return try body(try #require(try Row.fetchAll(db, sql: sql).first))
        case .madeByHand: return try body(Row(zip(live.columnNames, live.databaseValues).map { ($0, $1) }))
        }
    }
}

@Suite("Rows")
struct RowTests {
    static let sql = """
        SELECT 1 AS id, 'Arthur' AS name, 1.5 AS "Score", NULL AS email, x'C0FFEE' AS photo, '' AS note,
        x'' AS empty, -9223372036854775808 AS least, 'a' || char(0) || 'b' AS nul, 2 AS ID
        """
    static let names = ["id", "name", "Score", "email", "photo", "note", "empty", "least", "nul", "ID"]
    static let values: [DatabaseValue] = [
        1, "Arthur", 1.5, .null, Data([0xC0, 0xFF, 0xEE]).databaseValue, "", Data().databaseValue,
        -9_223_372_036_854_775_808, "a\0b", 2,
    ]

    @Test("A row reads by position and by name, wherever it stands", arguments: RowPlace.allCases)
    func reading(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, Self.sql) { row throws in
                for _ in 1...2 {
                    #expect(try row["id"] == 1)
                    #expect(try row["name"] == "Arthur")
                    #expect(try row["score"] == 1.5)
                    #expect(try row["EMAIL"] as String? == nil)
                    #expect(try row["photo"] == Data([0xC0, 0xFF, 0xEE]))
                    #expect(try row["note"] == "")
                    #expect(try row["empty"] == Data())
                    #expect(try row["least"] == Int64.min)
                    #expect(try row["nul"] == "a\0b")
                    #expect(try row[9] == 2)
                }
                for (index, value) in Self.values.enumerated() {
                    #expect(try row[index] == value)
                    #expect(row.databaseValue(atIndex: index) == value)
                    #expect(row.hasNull(atIndex: index) == value.isNull)
                    let leftmost = index == 9 ? Self.values[0] : value
                    #expect(row.databaseValue(named: Self.names[index]) == leftmost)
                    #expect(try row[Self.names[index]] == leftmost)
                }
                for index in [-1, 10, .max, .min] {
                    #expect(row.databaseValue(atIndex: index) == nil)
                    #expect(row.hasNull(atIndex: index))
                }
                #expect(row.databaseValue(named: "missing") == nil)
                #expect(!row.hasColumn("missing"))
                #expect(Self.names.allSatisfy(row.hasColumn))
                #expect(row.count == 10)
                #expect(!row.isEmpty)
                #expect(row.columnNames == Self.names)
                #expect(row.databaseValues == Self.values)
                #expect(row.containsNonNullValue)
            }
        }
    }

    @Test("A row is a sequence of names and values, and a dictionary", arguments: RowPlace.allCases)
    func sequence(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, Self.sql) { row in
                var names: [String] = []
                var values: [DatabaseValue] = []
                for (name, value) in row {
                    names.append(name)
                    values.append(value)
                }
                #expect(names == Self.names)
                #expect(values == Self.values)
                #expect(row.map(\.0) == Self.names)
                #expect(row.underestimatedCount == 10)
                #expect(row.reversed().first?.1 == 2)
                #expect(
                    row.dictionary
                        == Dictionary(zip(Self.names, Self.values), uniquingKeysWith: { a, _ in a }))
                #expect(row.dictionary["email"] == .some(.null))
            }
        }
    }

    @Test("Rows with the same columns are equal, wherever they stand", arguments: RowPlace.allCases)
    func equality(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, Self.sql) { row in
                let same = try #require(try Row.fetchOne(db, sql: Self.sql))
                #expect(row == same)
                #expect(row.hashValue == same.hashValue)
                #expect(row == row.copy())
                #expect(Set([row.copy(), same]).count == 1)
            }
            try place.row(db, "SELECT 1 AS a, 'b' AS b") { row in
                #expect(row == ["a": 1, "b": "b"])
                let others: [Row] = [
                    ["b": "b", "a": 1], ["a": 1], ["a": 1, "b": "b", "c": nil], ["A": 1, "b": "b"],
                    ["a": 1.0, "b": "b"], ["a": 1, "b": "B"], ["a": 1, "b": Data("b".utf8)],
                    ["a": 1, "b": nil], [:],
                ]
                for other in others { #expect(row != other, "\(other)") }
            }
        }
    }

    @Test("Rows with names of other bytes are not equal")
    func equalNames() {
        #expect(Row(["\u{e9}": 1]) != Row(["e\u{301}": 1]))
        #expect(Row(["a": "\u{e9}"]) != Row(["a": "e\u{301}"]))
    }

    @Test("Rows outlive their statement, their access and their queue")
    func outliving() throws {
        nonisolated(unsafe) var rows: [Row] = []
        do {
            let queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t AS \(Self.sql)")
                rows += try Row.fetchAll(db.makeStatement(sql: "SELECT * FROM t"))
                rows.append(try #require(try Row.fetchOne(db, sql: Self.sql)))
                let cursor = try Row.fetchCursor(db, sql: Self.sql)
                rows.append(try #require(try cursor.next()).copy())
                #expect(try cursor.next() == nil)
                rows.append(rows[0].copy())
                try db.execute(sql: "DROP TABLE t")
            }
            try queue.close()
        }
        for row in rows {
            #expect(row.databaseValues == Self.values)
            #expect(try row["name"] == "Arthur")
        }
    }

    @Test("A live row's copy is a row of its own: the next row does not change it")
    func copies() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT value AS v, 'text ' || value AS t FROM json_each('[0,1,2,3,4]')")
            var kept: [Row] = []
            while let row = try rows.next() { kept.append(row.copy()) }
            #expect(kept == (0..<5).map { (v: Int) -> Row in ["v": v, "t": "text \(v)"] })
            #expect(kept.map { $0.copy() } == kept)
        }
    }

    // MARK: - By hand

    @Test("Rows are made by hand, from a literal in its order, and from a dictionary in the order of names")
    func byHand() throws {
        let literal: Row = ["b": 1, "a": "x", "c": nil, "b": 2]
        #expect(literal.columnNames == ["b", "a", "c", "b"])
        #expect(literal.databaseValues == [1, "x", .null, 2])
        #expect(try literal["B"] == 1)
        let dictionary: [String: (any DatabaseValueConvertible)?] = [
            "b": 1, "a": Date(timeIntervalSince1970: 0), "c": nil,
        ]
        let row = Row(dictionary)
        #expect(row.columnNames == ["a", "b", "c"])
        #expect(row.databaseValues == ["1970-01-01 00:00:00.000", 1, .null])
        #expect(Row([("x", 1), ("x", 2)]).databaseValues == [1, 2])
        let many = Row((0..<3000).map { ("c\($0)", $0.databaseValue) })
        #expect(try many["C2999"] == 2999)
        #expect(many.count == 3000)
    }

    @Test("An empty row has nothing, and says so")
    func empty() throws {
        for row in [Row(), [:], Row([(String, DatabaseValue)]()), Row().copy()] {
            #expect(row.isEmpty)
            #expect(row.count == 0)
            #expect(row.columnNames.isEmpty)
            #expect(row.databaseValues.isEmpty)
            #expect(row.dictionary.isEmpty)
            #expect(!row.containsNonNullValue)
            #expect(!row.hasColumn(""))
            #expect(row.description == "[]")
            #expect(row == Row())
            #expect(try row["a"] as Int? == nil)
            #expect(try row[0] as Int? == nil)
            #expect(throws: RowDecodingError.self) { try row[0] as Int }
            #expect(try row.withUnsafeData(atIndex: 0) { $0 == nil })
            for _ in row { Issue.record("an empty row has no column") }
        }
    }

    @Test("A row of NULLs contains no value", arguments: RowPlace.allCases)
    func nulls(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, "SELECT NULL AS a, NULL AS b") { row in
                #expect(!row.containsNonNullValue)
                #expect(row.count == 2)
            }
            try place.row(db, "SELECT NULL AS a, '' AS b") { row in #expect(row.containsNonNullValue) }
        }
    }
}
