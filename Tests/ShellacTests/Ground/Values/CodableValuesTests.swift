import Foundation
import Shellac
import TestSupport
import Testing

private struct Address: Codable, Hashable, DatabaseValueConvertible {
    struct Point: Codable, Hashable {
        var y: Double
        var x: Double
    }
    var zip: String
    var city: String?
    var place: Point?
    var tags: [String] = []
    var photo: Data?
    var since: Date?
}

private enum Shape: Codable, Hashable, DatabaseValueConvertible {
    case circle(radius: Double)
    case point
}

private struct Score: Codable, Hashable, DatabaseValueConvertible {
    var value: Int
    init(_ value: Int) { self.value = value }
    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A type that says itself how it is stored, although it is Codable.
private struct Celsius: Codable, Hashable, DatabaseValueConvertible {
    var degrees: Double
    var databaseValue: DatabaseValue { degrees.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> Celsius? {
        Double.fromDatabaseValue(value).map(Celsius.init(degrees:))
    }
}

private struct Measure: Codable, Hashable, DatabaseValueConvertible {
    var value: Double
    var at: Date?
}

@Suite("Codable values")
struct CodableValuesTests {
    @Test("Codable values are JSON texts with sorted keys", .behaviour(44), arguments: ReadingWay.allCases)
    func sortedKeys(_ way: ReadingWay) throws {
        let address = Address(
            zip: "75001", city: "Paris \"é\"\0", place: .init(y: 1.5, x: -2), tags: ["a", ""],
            photo: Data([1, 2, 255]), since: Date(timeIntervalSince1970: 1.5))
        try DatabaseQueue().write { db in
            let sql = try db.store([address], column: "TEXT")
            #expect(
                try String.fetchOne(db, sql: sql)
                    == #"{"city":"Paris \"é\"\u0000","photo":"AQL\/","place":{"x":-2,"y":1.5},"#
                    + #""since":1500,"tags":["a",""],"zip":"75001"}"#)
            #expect(try db.read(Address.self, by: way, sql: sql) == address)
            #expect(
                try db.read(Address.self, by: way, sql: db.store([Data(stored(address).utf8)])) == address)
        }
    }

    @Test(
        "Optionals inside are left out, enums with values are objects, single values are no JSON",
        .behaviour(44))
    func shapes() throws {
        try DatabaseQueue().write { db throws in
            #expect(stored(Address(zip: "")) == #"{"tags":[],"zip":""}"#)
            #expect(stored(Shape.circle(radius: 2)) == #"{"circle":{"radius":2}}"#)
            #expect(stored(Shape.point) == #"{"point":{}}"#)
            #expect(Score(7).databaseValue == 7.databaseValue)
            for way in ReadingWay.allCases {
                for shape in [Shape.point, .circle(radius: -0.1)] {
                    #expect(try db.read(Shape.self, by: way, sql: db.store([shape])) == shape)
                }
                #expect(try db.read(Score.self, by: way, sql: db.store([Score(7)])) == Score(7))
                #expect(
                    try db.read(Address.self, by: way, sql: db.store([Address(zip: "")])) == Address(zip: "")
                )
            }
        }
    }

    // SQLite gives a column of the type JSON numeric affinity: see "Datatypes In SQLite" in its
    // documentation.
    @Test(
        "A single value round-trips in a column that makes a number of its text", .behaviour(44),
        arguments: ReadingWay.allCases)
    func loneNumber(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([Score(7)], column: "JSON")
            #expect(try db.read(Score.self, by: way, sql: sql) == Score(7))
        }
    }

    @Test(
        "A Codable type that says how it is stored is stored so", .behaviour(44),
        arguments: ReadingWay.allCases)
    func ownWay(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([Celsius(degrees: 20)])
            #expect(try DatabaseValue.fetchOne(db, sql: sql) == 20.0)
            #expect(try db.read(Celsius.self, by: way, sql: sql) == Celsius(degrees: 20))
        }
    }

    @Test(
        "What JSON cannot hold is stored as NULL", .behaviour(43),
        arguments: [Double.nan, .infinity, -.infinity])
    func unencodable(_ double: Double) {
        #expect(Measure(value: double).databaseValue == .null)
        #expect(Measure(value: 0, at: Date(timeIntervalSince1970: double)).databaseValue == .null)
    }

    @Test("Dates and numbers inside round-trip exactly", .behaviour(43), arguments: [1, 2] as [UInt64])
    func exactness(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let measure = Measure(
                value: Double.random(in: -1e20...1e20, using: &generator),
                at: Date(
                    timeIntervalSince1970: Double(Int.random(in: 0...4_000_000_000_000, using: &generator))
                        / 1000))
            let again = Measure.fromDatabaseValue(measure.databaseValue)
            #expect(again?.value == measure.value, "seed \(seed)")
            #expect(
                abs(again?.at?.timeIntervalSince(measure.at ?? .now) ?? 1) < 0.0001,
                "seed \(seed): \(measure.at?.timeIntervalSince1970 ?? 0)")
            #expect(again?.databaseValue == measure.databaseValue, "seed \(seed): \(stored(measure))")
        }
    }

    @Test(
        "What is no such JSON throws", .behaviour(44), arguments: ReadingWay.allCases,
        ["1", "1.5", "''", "'{'", "'{}'", "'[]'", "'null'", "'{\"zip\":1,\"tags\":[]}'", "x''", "x'ff'"])
    func mismatch(_ way: ReadingWay, _ literal: String) throws {
        try DatabaseQueue().read { db in
            let error = #expect(throws: RowDecodingError.self) {
                try db.read(Address.self, by: way, sql: "SELECT \(literal) AS v")
            }
            #expect(error?.reason == .valueMismatch)
        }
    }

    private func stored(_ value: some DatabaseValueConvertible) -> String {
        String.fromDatabaseValue(value.databaseValue) ?? "no text"
    }
}
