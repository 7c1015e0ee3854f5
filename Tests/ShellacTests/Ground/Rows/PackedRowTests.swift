import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Packed rows")
struct PackedRowTests {
    @Test("Random rows are packed and read as they were", arguments: [1, 2, 3, 4] as [UInt64])
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func value() -> DatabaseValue {
            let length = [0, 1, 7, 8, 9, 100].randomElement(using: &generator) ?? 0
            return switch Int.random(in: 0...4, using: &generator) {
            case 0: .null
            case 1: Int64(bitPattern: generator.next()).databaseValue
            case 2: Double.random(in: -1e9...1e9, using: &generator).databaseValue
            case 3:
                String(
                    (0..<length).map { _ in ["a", "é", "\0", "😀"].randomElement(using: &generator) ?? "b" }
                )
                .databaseValue
            default:
                Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }).databaseValue
            }
        }
        try DatabaseQueue().read { db in
            for _ in 0..<300 {
                let values = (0..<Int.random(in: 1...30, using: &generator)).map { _ in value() }
                let byHand = Row(values.enumerated().map { ("c\($0)", $1) })
                let columns = values.indices.map { "? AS c\($0)" }.joined(separator: ", ")
                let fetched = try #require(
                    try Row.fetchOne(db, sql: "SELECT \(columns)", arguments: StatementArguments(values)))
                #expect(byHand.databaseValues == values, "seed \(seed)")
                #expect(fetched.databaseValues == values, "seed \(seed)")
                #expect(fetched == byHand, "seed \(seed)")
                #expect(fetched.hashValue == byHand.hashValue, "seed \(seed)")
            }
        }
    }

    @Test("The bytes of an owned row stay where they are, and so does what is no UTF-8 in them")
    func bytes() throws {
        try DatabaseQueue().read { db in
            let row = try #require(
                try Row.fetchOne(
                    db, sql: "SELECT 1, CAST(x'ff41' AS TEXT) AS t, x'' AS e, zeroblob(100000) AS z"))
            #expect(try row.withUnsafeData(named: "t") { $0 } == Data([0xFF, 0x41]))
            #expect(try row["t"] == "\u{FFFD}A")
            #expect(try row["z"] == Data(count: 100_000))
            func address() throws -> UnsafeRawPointer? {
                try row.withUnsafeData(named: "z") { $0?.withUnsafeBytes { $0.baseAddress } }
            }
            #expect(try address() == address())
            #expect(
                try address()
                    == row.copy().withUnsafeData(named: "z") { $0?.withUnsafeBytes { $0.baseAddress } })
        }
    }

    @Test("Slices of data and of texts are packed alone")
    func slices() throws {
        let row: Row = [
            "a": Data(0..<10).dropFirst(3).prefix(2), "b": "Arthur".dropFirst(4), "c": Data([1]).dropFirst(),
        ]
        #expect(row.databaseValues == [Data([3, 4]).databaseValue, "ur", Data().databaseValue])
    }
}
