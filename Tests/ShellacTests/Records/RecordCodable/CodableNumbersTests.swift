import Foundation
import Shellac
import TestSupport
import Testing

/// Codable has methods of its own for each type of numbers: a mistake in one of them would be
/// found with that type alone.
@Suite("Numbers of all types in Codable records") struct CodableNumbersTests {
    private struct Numbers: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "numbers"

        var id = 1
        var bool = true
        var float: Float = 0.5
        var double = 0.1
        var int8 = Int8.min
        var int16 = Int16.min
        var int32 = Int32.min
        var int64 = Int64.min
        var uint = UInt(Int64.max)
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64(Int64.max)

        var maybeBool: Bool? = false
        var maybeFloat: Float? = -0.5
        var maybeDouble: Double? = -0.1
        var maybeInt: Int? = .max
        var maybeInt8: Int8? = .max
        var maybeInt16: Int16? = .max
        var maybeInt32: Int32? = .max
        var maybeInt64: Int64? = .max
        var maybeUInt: UInt? = 7
        var maybeUInt8: UInt8? = 8
        var maybeUInt16: UInt16? = 9
        var maybeUInt32: UInt32? = 10
        var maybeUInt64: UInt64? = 11

        /// A value whose optionals are nil.
        static var empty: Self {
            var numbers = Self()
            (numbers.maybeBool, numbers.maybeFloat, numbers.maybeDouble) = (nil, nil, nil)
            (numbers.maybeInt, numbers.maybeInt8, numbers.maybeInt16) = (nil, nil, nil)
            (numbers.maybeInt32, numbers.maybeInt64) = (nil, nil)
            (numbers.maybeUInt, numbers.maybeUInt8, numbers.maybeUInt16) = (nil, nil, nil)
            (numbers.maybeUInt32, numbers.maybeUInt64) = (nil, nil)
            return numbers
        }
    }

    /// The same columns, in a class that Shellac codes by its properties.
    private final class NumbersRecord: Record, Codable {
        override class var databaseTableName: String { "numbers" }

        var id = 1
        var bool = true
        var float: Float = 0.5
        var double = 0.1
        var int8 = Int8.min
        var int16 = Int16.min
        var int32 = Int32.min
        var int64 = Int64.min
        var uint = UInt(Int64.max)
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64(Int64.max)

        var maybeBool: Bool? = false
        var maybeFloat: Float? = -0.5
        var maybeDouble: Double? = -0.1
        var maybeInt: Int? = .max
        var maybeInt8: Int8? = .max
        var maybeInt16: Int16? = .max
        var maybeInt32: Int32? = .max
        var maybeInt64: Int64? = .max
        var maybeUInt: UInt? = 7
        var maybeUInt8: UInt8? = 8
        var maybeUInt16: UInt16? = 9
        var maybeUInt32: UInt32? = 10
        var maybeUInt64: UInt64? = 11
    }

    private static let columns = [
        "id", "bool", "float", "double", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16",
        "uint32", "uint64", "maybeBool", "maybeFloat", "maybeDouble", "maybeInt", "maybeInt8", "maybeInt16",
        "maybeInt32", "maybeInt64", "maybeUInt", "maybeUInt8", "maybeUInt16", "maybeUInt32", "maybeUInt64",
    ]

    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE numbers (id INTEGER PRIMARY KEY, \(Self.columns.dropFirst().joined(separator: ", ")))"
            )
            try body(db)
        }
    }

    private static var stored: Row {
        [
            "id": 1, "bool": true, "float": 0.5, "double": 0.1, "int8": -128, "int16": -32_768,
            "int32": -2_147_483_648, "int64": Int64.min, "uint": Int64.max, "uint8": 255, "uint16": 65_535,
            "uint32": 4_294_967_295, "uint64": Int64.max, "maybeBool": false, "maybeFloat": -0.5,
            "maybeDouble": -0.1, "maybeInt": Int.max, "maybeInt8": 127, "maybeInt16": 32_767,
            "maybeInt32": 2_147_483_647, "maybeInt64": Int64.max, "maybeUInt": 7, "maybeUInt8": 8,
            "maybeUInt16": 9, "maybeUInt32": 10, "maybeUInt64": 11,
        ]
    }

    @Test("are stored as they are, and read again, present and nil")
    func structs() throws {
        for numbers in [Numbers(), .empty] {
            try withTable { db in
                try numbers.insert(db)
                try #expect(Numbers.fetchOne(db) == numbers)
                let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM numbers"))
                if numbers == Numbers() {
                    #expect(row == Self.stored)
                } else {
                    #expect(Array(row.databaseValues.suffix(13)) == Array(repeating: .null, count: 13))
                }
            }
        }
    }

    @Test("of a class are stored as those of a struct")
    func classes() throws {
        try withTable { db in
            try NumbersRecord().insert(db)
            try #expect(Row.fetchOne(db, sql: "SELECT * FROM numbers") == Self.stored)
            let record = try #require(try NumbersRecord.fetchOne(db))
            #expect(!record.hasDatabaseChanges)
            (record.maybeInt32, record.maybeUInt16, record.uint32) = (nil, 1, 2)
            let changes = try record.databaseChanges
            #expect(changes.keys.sorted() == ["maybeInt32", "maybeUInt16", "uint32"])
            try record.updateChanges(db)
            var expected = Numbers()
            (expected.maybeInt32, expected.maybeUInt16, expected.uint32) = (nil, 1, 2)
            try #expect(Numbers.fetchOne(db) == expected)
        }
    }

    @Test("that do not fit are errors that name the column", arguments: columns.dropFirst(4))
    func overflow(_ column: String) throws {
        try withTable { db in
            try Numbers().insert(db)
            // No type of integers has this one. (No `maybeBool`: any number is true, or false.)
            try db.execute(sql: "UPDATE numbers SET \(column) = 1e300")
            if ["maybeBool", "maybeFloat", "maybeDouble"].contains(column) { return }
            let errors = [
                #expect(throws: RowDecodingError.self) { try Numbers.fetchOne(db) },
                #expect(throws: RowDecodingError.self) { try NumbersRecord.fetchOne(db) },
            ]
            for error in errors { #expect(error?.description.contains(column) == true) }
        }
    }
}
