import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Sizes of packed rows")
struct PackedRowSizesTests {
    private static let numbers: [DatabaseValue] = {
        let powers = [7, 8, 15, 16, 31, 32, 47, 48, 62].map { Int64(1) << $0 }
        let integers = powers.flatMap { [$0 - 1, $0, $0 + 1, -$0 - 1, -$0, -$0 + 1] }
        return ([0, 1, -1, 2, .max, .max - 1, .min, .min + 1] + integers).map { DatabaseValue(.int64($0)) }
    }()

    private static let reals: [DatabaseValue] = [
        0, -0.0, 0.1, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e15,
        4_503_599_627_370_497,
    ].map { DatabaseValue(.double($0)) }

    private static let lengths = [
        0, 1, 2, 7, 8, 15, 16, 127, 128, 254, 255, 256, 257, 511, 1000, 1023, 1024, 1025, 65_536, 100_000,
    ]

    private static let texts =
        lengths.map { String(repeating: "x", count: $0).databaseValue }
        + ["é", "a\0b", "\0", "😀", String(repeating: "é", count: 128)].map(\.databaseValue)

    private static let blobs = lengths.map {
        Data((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 7) }).databaseValue
    }

    private static let values: [DatabaseValue] = [.null] + numbers + reals + texts + blobs

    /// Fetches a row of values, and expects that it reads in all ways as what it was made of.
    private func expectRoundTrip(_ values: [DatabaseValue], names: [String]? = nil, _ comment: Comment? = nil)
        throws
    {
        let names = names ?? values.indices.map { "c\($0)" }
        let columns = names.map { "? AS \"\($0)\"" }.joined(separator: ", ")
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT \(columns)", arguments: StatementArguments(values))
            let live = try #require(try rows.next())
            let (copy, byHand) = (live.copy(), Row(Array(zip(names, values))))
            // A row that keeps more than its values is no failure of these: compare the bytes, too.
            for row in [live, copy, copy.copy(), byHand] {
                #expect(row.columnNames == names, comment)
                #expect(row.databaseValues.elementsEqual(values, by: Self.isIdentical), comment)
                #expect(row.count == values.count, comment)
                for (index, value) in values.enumerated() {
                    let found = try #require(row.databaseValue(atIndex: index))
                    #expect(Self.isIdentical(found, value), comment)
                    #expect(try row[index] as DatabaseValue == value, comment)
                    let leftmost = names.firstIndex { $0.lowercased() == names[index].lowercased() } ?? index
                    let named = try #require(row.databaseValue(named: names[index].uppercased()))
                    #expect(Self.isIdentical(named, values[leftmost]), comment)
                }
                #expect(
                    row.databaseValue(atIndex: values.count) == nil && row.databaseValue(atIndex: -1) == nil)
                #expect(row == byHand && row.hashValue == byHand.hashValue, comment)
            }
        }
    }

    private static func isIdentical(_ a: DatabaseValue, _ b: DatabaseValue) -> Bool {
        switch (a.storage, b.storage) {
        // SQLite returns no negative zero even if it has stored one.
        case (.double(let a), .double(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.blob(let a), .blob(let b)): a == b
        case (.null, .null): true
        default: false
        }
    }

    @Test("A value of any class and size is packed and read as it was, alone")
    func alone() throws {
        for value in Self.values { try expectRoundTrip([value], "\(value)") }
    }

    @Test("A value of any class and size is packed and read as it was, between others")
    func between() throws {
        for value in Self.values {
            try expectRoundTrip([300, value, "end", value, .null, value, -1], "\(value)")
        }
        try expectRoundTrip(Self.numbers + Self.reals + [.null])
        try expectRoundTrip(Self.values)
    }

    @Test(
        "A row is packed whatever its bytes add up to, around those that are packed on the stack",
        arguments: [990, 1000, 1005, 1010, 1015, 1016, 1017, 1020, 1023, 1024, 1025, 1030, 2048])
    func limits(length: Int) throws {
        for last in [DatabaseValue(.int64(.max)), 1, 1.5, "abc", Data([1, 2, 3]).databaseValue, .null] {
            // Texts that are short by themselves, and fill the rest.
            var (texts, rest) = ([DatabaseValue](), length)
            while rest > 200 {
                texts.append(String(repeating: "t", count: 198).databaseValue)
                rest -= 200
            }
            texts.append(String(repeating: "r", count: rest).databaseValue)
            try expectRoundTrip(texts + [last], "\(length), then \(last)")
        }
    }

    @Test(
        "Rows of many columns are packed, by position and by name",
        arguments: [1, 12, 13, 100, 1016, 1024, 2000])
    func wide(count: Int) throws {
        try expectRoundTrip((0..<count).map { DatabaseValue(.int64(Int64($0))) }, "integers")
        try expectRoundTrip(Array(repeating: .null, count: count), "NULL")
        try expectRoundTrip((0..<count).map { $0 % 3 == 0 ? .null : "\($0)".databaseValue }, "texts")
    }

    @Test("A row without columns is empty")
    func empty() throws {
        let row = Row()
        #expect(row.isEmpty && row.databaseValues == [] && row == row.copy() && row.columnNames == [])
        #expect(row.databaseValue(atIndex: 0) == nil && row.databaseValue(named: "") == nil)
        #expect(try row[0] as Int? == nil)
        #expect(PackedRow.make(RowLayout(names: [], sql: nil), values: []).byteCount == 0)
    }

    @Test(
        "Of columns with the same name all are kept, and the leftmost wins", .behaviour(41),
        arguments: [3, 30])
    func duplicates(count: Int) throws {
        let names = (0..<count).map { ["a", "A", "b"][$0 % 3] }
        let values = (0..<count).map { DatabaseValue(.int64(Int64($0 * 1000))) }
        try expectRoundTrip(values, names: names)
        let row = Row(Array(zip(names, values)))
        #expect(try row["a"] == 0 && row["A"] == 0 && row["b"] == 2000)
        #expect(try row[1] == 1000)
    }

    @Test(
        "Small values take few bytes",
        arguments: [
            (.null, 1), (0, 2), (1, 2), (-128, 2), (128, 3), (-32_769, 5), (2_147_483_648, 9), (1.5, 9),
            ("", 2),
            ("abc", 5),
        ] as [(DatabaseValue, Int)])
    func bytes(value: DatabaseValue, count: Int) {
        #expect(PackedRow.make(RowLayout(names: ["a"], sql: nil), values: [value]).byteCount == count)
    }
}
