import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The values that SQLite stores, compared with those that Shellac predicts.
@Suite("What columns make of values")
struct ColumnAffinityStoringTests {
    static let chosen: [DatabaseValue] =
        [
            .null, 0, 1, -1, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993,
            DatabaseValue(.int64(.max)), DatabaseValue(.int64(.min)), DatabaseValue(.int64(.max - 1)),
            1e15, 1e16, 1e17, 1e18, 9.2e18, 1e19, 1e20, -1e18, -9_223_372_036_854_775_808.0,
            9_223_372_036_854_774_784.0,
            DatabaseValue(.double(-0.0)), DatabaseValue(.double(0.1 + 0.2)), 0.5, 1.5, 100_000_000_000_000.5,
            1e-300,
            DatabaseValue(.double(.leastNonzeroMagnitude)), 1.7976931348623157e308,
            DatabaseValue(.double(.infinity)), DatabaseValue(.double(-.infinity)),
            123_456_789_012_345.678, 1e-5, 0.0001, 1e14, 999_999_999_999_999.9,
        ]
        + [
            "", " ", "1", " 1", "1 ", "\t1\n", "\u{0B}1\u{0C}\r", "+1", "-1", "--1", "+-1", "1+", "- 1", "1.",
            ".5",
            "-.5", "+.5e1", ".", "e5", ".e5", "1e", "1e+", "1e5", "1E5", "1e-5", "1e+5", "1e5.", "1.5", "1.0",
            "01", "00",
            "-0", "-0.0", "+0", "0x10", "0X1F", "1_000", "1,5", "١", "1\0", "\0", "1\0x", " 1.5 \0 ", "1e5\0",
            "x\0", "-\0", "1 \0\0", "1 2", "Infinity", "inf",
            "Inf", "nan",
            "NaN", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809",
            "9223372036854775807.0", "9223372036854775806.0", "18446744073709551616",
            "99999999999999999999999999",
            "1e400", "-1e400", "1e-400", "1e308", "1e309", "0.1", "0.30000000000000004", "9007199254740993",
            "9007199254740993.0",
            "123456789012345678", "1e18", "1e19", "1e15", "1e16", "3.0e+5", "\u{A0}1", "1\u{A0}", "a1", "1a",
            "😀",
            "00000000000000000000000000000001", "0.00000000000000000000000000000000001", "1.50", "1e00005",
            "1e0", "1e-0",
        ].map { ($0 as String).databaseValue }
        + [Data(), Data([0x31]), Data([0x00])].map(\.databaseValue)

    private static let declarations: [ColumnAffinity: String] = [
        .integer: "INTEGER", .text: "TEXT", .blob: "BLOB", .real: "REAL", .numeric: "NUMERIC",
    ]

    /// Compares what a table stores of values with what we say.
    private func compare(_ values: [DatabaseValue], in affinity: ColumnAffinity, _ place: Comment?) throws {
        try DatabaseQueue().inDatabase { db in
            let declaration = try #require(Self.declarations[affinity])
            let sql = try db.store(values, column: declaration)
            let stored = try DatabaseValue.fetchAll(db, sql: sql)
            let types = try String.fetchAll(db, sql: "SELECT typeof(v) FROM stored ORDER BY rowid")
            for (value, (found, type)) in zip(values, zip(stored, types)) {
                let comment: Comment =
                    "\(value.debugDescription) is stored as \(found.debugDescription), \(type)"
                #expect(ColumnAffinity.isStored(value, as: found, in: affinity), comment)
                let said = affinity.storing(value)
                #expect(said.typeName == type, comment)
                #expect(said == found, comment)
            }
            // And no two values that are stored as different ones are the same.
            for (value, next) in zip(values, stored.dropFirst()) where affinity.storing(value) != next {
                #expect(
                    !ColumnAffinity.isStored(value, as: next, in: affinity),
                    "\(value.debugDescription) is not \(next.debugDescription), \(place ?? "")")
            }
        }
    }

    @Test(
        "Chosen values are stored as the affinity of the column says", .behaviour(6),
        arguments: ColumnAffinity.allCases)
    func chosen(affinity: ColumnAffinity) throws { try compare(Self.chosen, in: affinity, nil) }

    @Test(
        "Random values are stored as the affinity of the column says", .behaviour(6),
        arguments: ColumnAffinity.allCases,
        [1, 2, 3] as [UInt64])
    func random(affinity: ColumnAffinity, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = (0..<2000).map { _ in DatabaseValue.random(using: &generator) }
        try compare(values, in: affinity, "seed \(seed)")
    }

    @Test(
        "Where the affinity is not known, the same numbers are equal, and other values byte by byte",
        .behaviour(6))
    func unknown() {
        func isStored(_ value: DatabaseValue, _ stored: DatabaseValue) -> Bool {
            let result = ColumnAffinity.isStored(value, as: stored, in: nil)
            #expect(ColumnAffinity.isStored(stored, as: value, in: nil) == result)
            return result
        }
        #expect(isStored(1, 1.0) && isStored(0, DatabaseValue(.double(-0.0))))
        #expect(isStored(9_007_199_254_740_992, 9_007_199_254_740_992.0))
        #expect(!isStored(9_007_199_254_740_993, 9_007_199_254_740_992.0))
        #expect(!isStored(DatabaseValue(.int64(.max)), 9_223_372_036_854_775_807.0))
        #expect(isStored(DatabaseValue(.int64(.min)), -9_223_372_036_854_775_808.0))
        #expect(!isStored(1, "1") && !isStored(1.5, "1.5") && !isStored(.null, 0) && !isStored(.null, ""))
        #expect(!isStored("a", Data("a".utf8).databaseValue) && isStored("a", "a"))
        #expect(!isStored("\u{E9}", "e\u{301}"))
    }
}

extension DatabaseValue {
    /// The result of `typeof()` for the value.
    fileprivate var typeName: String {
        switch storage {
        case .null: "null"
        case .int64: "integer"
        case .double: "real"
        case .string: "text"
        case .blob: "blob"
        }
    }

    /// A value in which affinities may see another one.
    fileprivate static func random(using generator: inout SeededGenerator) -> DatabaseValue {
        func digits(_ counts: ClosedRange<Int>) -> String {
            String(
                (0..<Int.random(in: counts, using: &generator)).map { _ in
                    Character("\(Int.random(in: 0...9, using: &generator))")
                })
        }
        func pick(_ texts: String...) -> String { texts.randomElement(using: &generator) ?? "" }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            return DatabaseValue(
                .int64(Int64(bitPattern: generator.next()) >> Int.random(in: 0..<64, using: &generator)))
        case 1:
            let real = Double(bitPattern: generator.next())
            return real.isNaN ? .null : DatabaseValue(.double(real))
        case 2:
            let exponent = Int.random(in: -6...21, using: &generator)
            let power = Double(sign: .plus, exponent: exponent * 10 / 3, significand: 1)
            return DatabaseValue(.double(Double.random(in: -10...10, using: &generator) * power))
        case 3:
            return DatabaseValue(
                .double(Double(Int64.random(in: -1_000_000...1_000_000, using: &generator)) / 8))
        case 4: return Data(digits(0...3).utf8).databaseValue
        case 5: return digits(1...22).databaseValue
        case 6: return (pick("", "-", "+", " ") + digits(1...20) + pick("", ".", ".0", " ")).databaseValue
        default:
            var text = pick("", "", " ", "\t") + pick("", "", "-", "+") + digits(0...18) + pick("", ".", ".")
            text += digits(0...18) + pick("", "", "e", "E", "e-", "e+", "x") + digits(0...2)
            return (text + pick("", "", "", " ", "a")).databaseValue
        }
    }
}
