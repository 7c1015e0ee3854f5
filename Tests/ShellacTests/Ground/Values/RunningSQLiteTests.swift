import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Conversions by the running SQLite")
struct RunningSQLiteTests {
    /// The version that `.ci/sqlites` runs the tests with.
    private static let wanted = ProcessInfo.processInfo.environment["SHELLAC_SQLITE_VERSION"]

    @Test("The tests run with the SQLite that was asked for", .enabled(if: wanted != nil))
    func version() { #expect(String(cString: sqlite3_libversion()) == Self.wanted) }

    private static let chosen: [Double] = [
        0, -0.0, 1, -1, 0.1 + 0.2, -7725384014.393921, 123_456_789_012_345.678, 1e15, 1e16, 1e17, 1e21, 1e22,
        9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_994, 9.5, 0.5, 2.5, 99999999999999.95,
        999_999_999_999_999.9, 9_999_999_999_999_998, 0.1, 0.3333333333333333, 0.6666666666666666,
        .leastNonzeroMagnitude,
        2.2250738585072014e-308, 2.2250738585072014e-308.nextDown, 1.7976931348623157e308, .infinity,
        -.infinity, 1e-5,
        0.0001, 1e300, 1e-300,
    ]

    /// Halves beside powers of two, and their neighbours.
    private static var edges: [Double] {
        (0...30).flatMap { (exponent: Int) -> [Double] in
            let real: Double = Double(sign: .plus, exponent: exponent * 3, significand: 1) + 0.5
            return [real, real.nextUp, real.nextDown]
        }
    }

    /// Any bits, numbers of common sizes, and those at the edges where digits are rounded.
    private static func random(_ generator: inout SeededGenerator) -> Double {
        switch generator.next() % 4 {
        case 0: return Double(bitPattern: generator.next())
        case 1:
            return Double(Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator)) / 1000
        case 2:
            let digits = Int64.random(in: 0...999_999_999_999_999, using: &generator)
            return Double("\(digits)5e\(Int.random(in: -30...30, using: &generator))") ?? 0
        default:
            return Double.random(in: -10...10, using: &generator)
                * Double(sign: .plus, exponent: Int.random(in: -60...60, using: &generator), significand: 1)
        }
    }

    /// Compares what columns hold of numbers, and of their texts, with what is said of them.
    private func compare(_ numbers: [Double], _ place: String) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, number TEXT, digits REAL, spelled TEXT)")
            let insertion = try db.makeStatement(
                sql: "INSERT INTO t (number, digits, spelled) VALUES (?, ?, ?)")
            for number in numbers {
                let text = number.isInfinite ? number < 0 ? "-9e999" : "9e999" : "\(number)"
                try insertion.execute(arguments: [number, text, text])
            }
            var (wrong, index) = ([String](), 0)
            let rows = try Row.fetchCursor(db, sql: "SELECT number, digits, spelled FROM t ORDER BY id")
            while let row = try rows.next() {
                let (text, number, spelled): (String, Double, String) = try (row[0], row[1], row[2])
                if RunningSQLite.text(of: numbers[index]) != text { wrong.append(text) }
                if RunningSQLite.real(of: spelled[...].utf8) != number { wrong.append(spelled) }
                index += 1
            }
            #expect(index == numbers.count)
            #expect(wrong == [], "\(place)")
        }
    }

    @Test("Chosen numbers are printed and read as columns do", .behaviour(6))
    func chosen() throws { try compare(Self.chosen + Self.edges, "chosen") }

    @Test(
        "Random numbers are printed and read as columns do", .behaviour(6),
        arguments: [1, 2, 3, 4] as [UInt64])
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let numbers = (0..<100_000).map { _ in Self.random(&generator) }.filter { !$0.isNaN }
        try compare(numbers, "seed \(seed)")
    }

    @Test("Several threads convert at the same time", .behaviour(6))
    func threads() async {
        let texts = (0..<1000).map { RunningSQLite.text(of: Double($0) / 7) }
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<1000).count(where: { RunningSQLite.text(of: Double($0) / 7) != texts[$0] })
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test("Digits beyond the fifteenth count: other ones are a change", .behaviour(6))
    func lastDigits() throws {
        func stored(_ text: String, _ affinity: ColumnAffinity) -> DatabaseValue {
            affinity.storing(text.databaseValue)
        }
        for affinity in [.integer, .real, .numeric] as [ColumnAffinity] {
            let row = stored("12345678901234.61", affinity)
            #expect(ColumnAffinity.isStored("12345678901234.61", as: row, in: affinity))
            #expect(!ColumnAffinity.isStored("12345678901234.64", as: row, in: affinity))
            #expect(!ColumnAffinity.isStored("12345678901234.613", as: row, in: affinity))
        }
    }
}
