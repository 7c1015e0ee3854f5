import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Contents of rows")
struct RowContentsTests {
    @Test("A row's bytes are seen without a copy, by name and by position", arguments: RowPlace.allCases)
    func unsafeData(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            let sql = """
                SELECT x'00FF10' AS blob, x'' AS emptyBlob, 'é' AS text, '' AS emptyText, NULL AS none,
                zeroblob(5) AS zeros, 'a' || char(0) AS nul
                """
            let expected: [Data?] = [
                Data([0, 255, 16]), Data(), Data("é".utf8), Data(), nil, Data(count: 5), Data([97, 0]),
            ]
            try place.row(db, sql) { row throws in
                for (index, data) in expected.enumerated() {
                    let name = row.columnNames[index]
                    #expect(try row.withUnsafeData(atIndex: index) { $0 } == data, "\(name)")
                    #expect(try row.withUnsafeData(named: name.uppercased()) { $0 } == data, "\(name)")
                    #expect(try row.withUnsafeData(named: name) { $0?.count } == data?.count)
                }
                for index in [7, -1, .max] {
                    #expect(try row.withUnsafeData(atIndex: index) { $0 == nil })
                }
                #expect(try row.withUnsafeData(named: "missing") { $0 == nil })
            }
        }
    }

    @Test(
        "A number has no bytes: asking for them throws", arguments: RowPlace.allCases, ["1", "1.5", "9e999"])
    func noUnsafeData(_ place: RowPlace, _ literal: String) throws {
        try DatabaseQueue().read { db in
            try place.row(db, "SELECT 'a' AS a, \(literal) AS v") { row in
                for read in [
                    { try row.withUnsafeData(named: "v") { _ in Issue.record("called") } },
                    { try row.withUnsafeData(atIndex: 1) { _ in Issue.record("called") } },
                ] {
                    let error = #expect(throws: RowDecodingError.self) { try read() }
                    #expect(error?.reason == .valueMismatch)
                    #expect(error?.columnName == "v")
                    #expect(error?.columnIndex == 1)
                }
            }
        }
    }

    @Test("What the function throws comes through, and the row stays readable", arguments: RowPlace.allCases)
    func throwing(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, "SELECT x'01' AS v") { row throws in
                #expect(throws: CancellationError.self) {
                    try row.withUnsafeData(named: "v") { _ in throw CancellationError() }
                }
                #expect(throws: CancellationError.self) {
                    try row.withUnsafeData(atIndex: 0) { _ in throw CancellationError() }
                }
                #expect(try row["v"] == Data([1]))
            }
        }
    }

    @Test("Data that is changed in the function does not change the row", arguments: RowPlace.allCases)
    func mutation(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            for sql in ["SELECT x'010203' AS v", "SELECT zeroblob(1000) AS v"] {
                try place.row(db, sql) { row in
                    let before: Data = try row["v"]
                    try row.withUnsafeData(named: "v") { data in
                        var data = try #require(data)
                        data[0] = 99
                        data.append(7)
                        #expect(data.count == before.count + 1)
                    }
                    #expect(try row["v"] == before)
                }
            }
        }
    }

    // MARK: - For people

    @Test("A row describes itself in one line", arguments: RowPlace.allCases)
    func description(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            let sql = """
                SELECT 1 AS id, 'it''s' AS name, NULL AS score, 1.0 AS "a b", x'C0FFEE' AS photo,
                zeroblob(33) AS film, zeroblob(2) AS zeros, 2 AS id
                """
            try place.row(db, sql) { row in
                let text =
                    "[id: 1, name: 'it''s', score: NULL, a b: 1.0, photo: x'C0FFEE', film: Data(33 bytes), "
                    + "zeros: x'0000', id: 2]"
                #expect(row.description == text)
                #expect(row.debugDescription == text)
                #expect("\(row)" == text)
            }
        }
    }

    @Test(
        "A long text is cut in a description, and only a long one",
        arguments: [
            (String(repeating: "x", count: 200), "'" + String(repeating: "x", count: 200) + "'"),
            (String(repeating: "x", count: 201), "'" + String(repeating: "x", count: 200) + "…'"),
            (String(repeating: "é", count: 150), "'" + String(repeating: "é", count: 150) + "'"),
            (String(repeating: "'", count: 100), "'" + String(repeating: "'", count: 200) + "'"),
        ])
    func longTexts(_ text: String, _ description: String) {
        #expect(Row(["a": text]).description == "[a: \(description)]")
    }

    @Test("A debugger shows a row's columns", arguments: RowPlace.allCases)
    func mirror(_ place: RowPlace) throws {
        try DatabaseQueue().read { db in
            try place.row(db, "SELECT 1 AS id, 'x' AS name, 2 AS id") { row in
                let mirror = Mirror(reflecting: row)
                #expect(mirror.children.map(\.label) == ["id", "name", "id"])
                #expect(mirror.children.compactMap { $0.value as? DatabaseValue } == [1, "x", 2])
                #expect(mirror.displayStyle == .struct)
                #expect(String(reflecting: row) == "[id: 1, name: 'x', id: 2]")
            }
        }
    }
}
