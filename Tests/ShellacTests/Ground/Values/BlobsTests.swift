import CSQLite
import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Blobs")
struct BlobsTests {
    static let blobs: [Data] = [
        Data(), Data([0]), Data([0, 1, 0]), Data("text".utf8), Data(0...255),
        Data(repeating: 0xFF, count: 15),
        Data(count: 14), Data(count: 16), Data(count: 100_000), Data([1, 2, 3, 4, 5]).dropFirst(2),
        Data(repeating: 7, count: 100).dropFirst(50).prefix(20), Data([9]).dropFirst(),
    ]

    @Test(
        "Blobs round-trip, empty ones and slices too", .behaviour(43), arguments: blobs, ReadingWay.allCases)
    func roundTrip(_ data: Data, _ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            for column in ["", "BLOB NOT NULL", "TEXT", "INTEGER"] {
                let sql = try db.store([data], column: column)
                #expect(try db.read(Data.self, by: way, sql: sql) == data)
                #expect(try db.read(DatabaseValue.self, by: way, sql: sql) == data.databaseValue)
                #expect(try String.fetchOne(db, sql: "SELECT typeof(v) FROM stored") == "blob")
                #expect(try Int.fetchOne(db, sql: "SELECT length(v) FROM stored") == data.count)
            }
        }
    }

    @Test("A text reads as its UTF-8 bytes", .behaviour(44), arguments: ReadingWay.allCases)
    func texts(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            for (literal, text) in [("'é'", "é"), ("''", ""), ("CAST(x'410042' AS TEXT)", "A\0B")] {
                let sql = "SELECT \(literal) AS v"
                #expect(try db.read(Data.self, by: way, sql: sql) == Data(text.utf8), "\(literal)")
            }
            for literal in ["1", "1.5"] {
                #expect(throws: RowDecodingError.self) {
                    try db.read(Data.self, by: way, sql: "SELECT \(literal) AS v")
                }
            }
        }
    }

    @Test(
        "A text that is not UTF-8 reads as the same bytes on every way", .behaviour(43),
        arguments: ReadingWay.allCases)
    func invalidTexts(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            let sql = "SELECT CAST(x'ff41' AS TEXT) AS v"
            #expect(try db.read(Data.self, by: way, sql: sql) == Data.fetchOne(db, sql: sql))
        }
    }

    // MARK: - UUID

    static let uuidTexts = [
        "00000000-0000-0000-0000-000000000000", "00112233-4455-6677-8899-AABBCCDDEEFF",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ]

    @Test(
        "UUIDs are stored as blobs of 16 bytes, and read from texts too", .behaviour(44),
        arguments: uuidTexts,
        ReadingWay.allCases)
    func uuids(_ text: String, _ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let uuid = try #require(UUID(uuidString: text))
            let sql = try db.store([uuid])
            #expect(try db.read(UUID.self, by: way, sql: sql) == uuid)
            #expect(
                try String.fetchOne(db, sql: "SELECT hex(v) FROM stored")
                    == text.replacing("-", with: ""))
            for stored in [uuid.uuidString, uuid.uuidString.lowercased()] {
                #expect(try db.read(UUID.self, by: way, sql: db.store([stored])) == uuid)
            }
        }
    }

    @Test(
        "What is no UUID throws", .behaviour(44),
        arguments: [
            "1", "1.5", "''", "x''", "zeroblob(15)", "zeroblob(17)", "'00112233445566778899AABBCCDDEEFF'",
            "'00112233-4455-6677-8899-AABBCCDDEEF'", "'00112233-4455-6677-8899-AABBCCDDEEFF0'",
            "'00112233-4455-6677-8899-AABBCCDDEEFF '", "' 00112233-4455-6677-8899-AABBCCDDEEFF'",
            "'00112233-4455-6677-8899-AABBCCDDEEFG'", "'{00112233-4455-6677-8899-AABBCCDDEEF}'",
            "'00112233-4455-6677-8899-AABBCCDDEEFF' || char(0)",
            "'00112233-4455-6677-8899-AABBCCDDEEFF' || char(0) || 'x'",
            "CAST('00112233-4455-6677-8899-AABBCCDDEEFF' AS BLOB)",
        ])
    func noUUID(_ literal: String) throws {
        try DatabaseQueue().read { db in
            for way in ReadingWay.allCases {
                let error = #expect(throws: RowDecodingError.self, "\(way)") {
                    try db.read(UUID.self, by: way, sql: "SELECT \(literal) AS v")
                }
                #expect(error?.reason == .valueMismatch)
            }
        }
    }

    // MARK: - 100 MB

    @Test("A blob of 100 MB is bound, fetched, and seen without a copy", .behaviour(43))
    func great() throws {
        let count = 100_000_000
        var data = Data(count: count)
        for index in stride(from: 0, to: count, by: 4099) { data[index] = UInt8(truncatingIfNeeded: index) }
        data[count - 1] = 99
        try DatabaseQueue().write { [data] db in
            let sql = try db.store([data], column: "BLOB")
            #expect(try Int.fetchOne(db, sql: "SELECT length(v) FROM stored") == count)
            #expect(try Data.fetchOne(db, sql: sql) == data)

            let statement = try db.makeStatement(sql: sql)
            let rows = try Row.fetchCursor(statement)
            let row = try #require(try rows.next())
            let held = UnsafeRawPointer(sqlite3_column_blob(statement.sqliteStatement, 0))
            for _ in 1...2 {
                try row.withUnsafeData(named: "v") { found in
                    let found = try #require(found)
                    #expect(found.count == count)
                    #expect(found.withUnsafeBytes { $0.baseAddress } == held)
                    #expect(found == data)
                }
            }
            let kept = row.copy()
            #expect(try rows.next() == nil)
            let addresses = try (1...2).map { _ in
                try kept.withUnsafeData(atIndex: 0) { found in
                    #expect(found == data)
                    return found.map { $0.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }
                }
            }
            #expect(addresses[0] == addresses[1])
            #expect(kept.description == "[v: Data(100000000 bytes)]")
            // The connection goes on.
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test("A blob above SQLite's limit throws, and the connection goes on", .behaviour(43))
    func tooGreat() throws {
        try DatabaseQueue().write { db throws in
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 1000)
            for value in [Data(count: 1001), String(repeating: "x", count: 1001)]
                as [any DatabaseValueConvertible]
            {
                let error = #expect(throws: DatabaseError.self) {
                    try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [value])
                }
                #expect(error?.resultCode == .SQLITE_TOOBIG)
                #expect(
                    error?.description
                        == "SQLite error 18: string or blob too big - while executing `SELECT ?`")
            }
            #expect(try Data.fetchOne(db, sql: "SELECT ?", arguments: [Data(count: 900)]) == Data(count: 900))
        }
    }
}
