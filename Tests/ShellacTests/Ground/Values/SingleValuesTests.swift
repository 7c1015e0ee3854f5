import Foundation
import Shellac
import TestSupport
import Testing

/// A type that encodes itself as the value that it wraps.
private struct Single<Wrapped: Codable & Hashable & Sendable>: Codable, Hashable, DatabaseValueConvertible {
    var wrapped: Wrapped

    init(_ wrapped: Wrapped) { self.wrapped = wrapped }
    init(from decoder: any Decoder) throws {
        wrapped = try decoder.singleValueContainer().decode(Wrapped.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrapped)
    }
}

/// The same, but that it does not say how it is stored.
private struct Plain<Wrapped: Codable & Hashable & Sendable>: Codable, Hashable {
    var wrapped: Wrapped

    init(_ wrapped: Wrapped) { self.wrapped = wrapped }
    init(from decoder: any Decoder) throws {
        wrapped = try decoder.singleValueContainer().decode(Wrapped.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrapped)
    }
}

private enum Suit: String, Codable, CaseIterable { case hearts, spades }

/// A value of JSON, which is what it finds.
private enum Anything: Codable, Hashable, DatabaseValueConvertible {
    case nothing
    case integer(Int)
    case text(String)
    case list([Int])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .nothing
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .list(try container.decode([Int].self))
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .nothing: try container.encodeNil()
        case .integer(let integer): try container.encode(integer)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        }
    }
}

/// A record whose properties are of such a type.
private struct SingleThing<Value: Codable & DatabaseValueConvertible & Hashable & Sendable>: Codable,
    Hashable,
    FetchableRecord, PersistableRecord
{
    var direct: Value
    var plain: Plain<Value>
    var optional: Value?
    static var databaseTableName: String { "thing" }
}

/// A value of a single-value type, with the form in which it is stored, and the JSON that earlier
/// versions have stored.
struct SingleCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stored: DatabaseValue
    let databaseValue: DatabaseValue
    let column: @Sendable (Database) throws -> [DatabaseValue]
    let reads: @Sendable (Database, DatabaseValue, ReadingWay) throws -> Bool
    let json: DatabaseValue?

    fileprivate init<Value: DatabaseValueConvertible & Codable & Hashable & Sendable>(
        _ value: Value, _ stored: DatabaseValue, json: String? = nil
    ) {
        testDescription = "\(value)"
        self.stored = stored
        databaseValue = value.databaseValue
        self.json = json?.databaseValue
        column = { db in
            try db.execute(sql: "CREATE TABLE thing(direct, plain, optional)")
            let thing = SingleThing(direct: value, plain: Plain(value), optional: value)
            try thing.insert(db)
            try #require(try SingleThing<Value>.fetchAll(db) == [thing])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM thing"))
            let argument = try #require(try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [value]))
            return row.databaseValues + [argument]
        }
        reads = { db, stored, way in
            try db.execute(sql: "CREATE TABLE t(v)")
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [stored])
            return try db.read(Value.self, by: way, sql: "SELECT v FROM t") == value
        }
    }

    static let date = Date(timeIntervalSince1970: 1.5)
    static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let all: [SingleCase] = [
        SingleCase(Single("foo"), "foo".databaseValue, json: #""foo""#),
        SingleCase(Single(""), "".databaseValue, json: #""""#),
        SingleCase(Single("12"), "12".databaseValue, json: #""12""#),
        SingleCase(Single("null"), "null".databaseValue, json: #""null""#),
        SingleCase(Single("{\"a\":1}"), "{\"a\":1}".databaseValue, json: #""{\"a\":1}""#),
        SingleCase(Single("\"foo"), "\"foo".databaseValue, json: #""\"foo""#),
        // Texts that are JSON strings themselves.
        SingleCase(Single("\"foo\""), #""\"foo\"""#.databaseValue),
        SingleCase(Single(" \"\" "), #"" \"\" ""#.databaseValue),
        SingleCase(Single(7), 7.databaseValue, json: "7"),
        SingleCase(Single(Int64.min), Int64.min.databaseValue, json: "\(Int64.min)"),
        SingleCase(Single(1.5), 1.5.databaseValue, json: "1.5"),
        SingleCase(Single(Double.infinity), Double.infinity.databaseValue),
        SingleCase(Single(true), 1.databaseValue, json: "true"),
        SingleCase(Single(date), date.databaseValue, json: "1500"),
        SingleCase(Single(uuid), uuid.databaseValue, json: "\"\(uuid.uuidString)\""),
        SingleCase(
            Single(URL(string: "https://example.org/a")!), "https://example.org/a".databaseValue,
            json: #""https://example.org/a""#),
        SingleCase(Single(Data([1, 2, 255])), Data([1, 2, 255]).databaseValue, json: #""AQL/""#),
        // Bytes that could be read as JSON are bytes.
        SingleCase(Single(Data("\"AQL/\"".utf8)), Data("\"AQL/\"".utf8).databaseValue),
        SingleCase(Single(Decimal(string: "1.25")!), "1.25".databaseValue, json: "1.25"),
        SingleCase(Single(Suit.spades), "spades".databaseValue, json: #""spades""#),
        SingleCase(Single(Single("foo")), "foo".databaseValue, json: #""foo""#),
        SingleCase(Single(Plain(7)), 7.databaseValue, json: "7"),
        SingleCase(Single(Optional("foo")), "foo".databaseValue, json: #""foo""#),
        SingleCase(Single([1, 2]), "[1,2]".databaseValue, json: "[1,2]"),
        SingleCase(Anything.integer(12), 12.databaseValue, json: "12"),
        SingleCase(Anything.text("foo"), "foo".databaseValue, json: #""foo""#),
        // These would be read as JSON of another kind.
        SingleCase(Anything.text("12"), #""12""#.databaseValue),
        SingleCase(Anything.text("[1]"), #""[1]""#.databaseValue),
        SingleCase(Anything.text("null"), #""null""#.databaseValue),
        SingleCase(Anything.list([1]), "[1]".databaseValue, json: "[1]"),
    ]
}

@Suite("Codable values that are single values")
struct SingleValuesTests {
    @Test(
        "a Codable value that encodes one value is stored as that value, in arguments and in properties alike",
        .behaviour(97),
        arguments: SingleCase.all)
    func stored(_ single: SingleCase) throws {
        #expect(single.databaseValue == single.stored)
        try DatabaseQueue().write { db throws in
            #expect(try single.column(db) == Array(repeating: single.stored, count: 4))
        }
    }

    @Test(
        "a Codable value that encodes one value is read from it, and from the JSON of earlier versions",
        .behaviour(97),
        arguments: SingleCase.all, ReadingWay.allCases)
    func read(_ single: SingleCase, _ way: ReadingWay) throws {
        for stored in [single.stored, single.json].compactMap(\.self) {
            try DatabaseQueue().write { db throws in
                #expect(try single.reads(db, stored, way), "\(stored)")
            }
        }
    }

    @Test(
        "an optional that is wrapped is stored as NULL, and read from it; NULL is nil where an optional is read",
        .behaviour(97)
    )
    func optionals() throws {
        let nothing = Single<Int?>(nil)
        #expect(nothing.databaseValue == .null)
        #expect(Single<Int?>.fromDatabaseValue(.null) == nothing)
        #expect(Single<Int>.fromDatabaseValue(.null) == nil)
        try DatabaseQueue().read { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT NULL AS v"))
            #expect(try row["v"] as Single<Int?> == nothing)
            #expect(try row["v"] as Single<Int?>? == nil)
            #expect(try row["v"] as Anything == .nothing)
            #expect(try Single<Int?>.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try Single<Int?>.fetchAll(db, sql: "SELECT NULL") == [nothing])
            #expect(try Single<Int?>?.fetchAll(db, sql: "SELECT NULL") == [nil])
            #expect(throws: RowDecodingError.self) { try row["v"] as Single<Int> }
        }
    }

    @Test("texts of all kinds round-trip", .behaviour(97), arguments: [1, 2] as [UInt64])
    func texts(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "\\", "a", "1", "-", "[", "]", "{", "}", ":", ",", " ", "\n", "null", "true", "é", "\0",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...5, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let (single, anything) = (Single(text), Anything.text(text))
            #expect(Single<String>.fromDatabaseValue(single.databaseValue) == single, "seed \(seed): \(text)")
            #expect(Anything.fromDatabaseValue(anything.databaseValue) == anything, "seed \(seed): \(text)")
        }
    }

    @Test("a value's own coders of JSON are used")
    func coders() throws {
        struct Measure: Codable, Equatable, DatabaseValueConvertible {
            var value: Double
            var at: Date
            static func databaseJSONEncoder() -> JSONEncoder {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                encoder.dateEncodingStrategy = .iso8601
                encoder.nonConformingFloatEncodingStrategy = .convertToString(
                    positiveInfinity: "+", negativeInfinity: "-", nan: "?")
                return encoder
            }
            static func databaseJSONDecoder() -> JSONDecoder {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                    positiveInfinity: "+", negativeInfinity: "-", nan: "?")
                return decoder
            }
        }
        let measure = Measure(value: .infinity, at: Date(timeIntervalSince1970: 0))
        #expect(measure.databaseValue == #"{"at":"1970-01-01T00:00:00Z","value":"+"}"#.databaseValue)
        #expect(Measure.fromDatabaseValue(measure.databaseValue) == measure)
    }

    @Test("the drift check finds no fault in wrapped values, and invents what they read", .behaviour(97))
    func drift() throws {
        struct Card: Codable, FetchableRecord, PersistableRecord {
            var id: Single<Int>
            var suit: Single<Suit>
            var name: Single<String>
            var at: Single<Date>
            var plain: Plain<Suit>
            static var databaseTableName: String { "card" }
        }
        final class CardRecord: Record {
            var suit = Single(Suit.hearts)
            override class var databaseTableName: String { "cardRecord" }
            override func updateFromRow(_ row: Row) throws { suit = try row["suit"] }
            override func encode(to container: inout PersistenceContainer) throws { container["suit"] = suit }
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE card(
                        id INTEGER PRIMARY KEY, suit TEXT NOT NULL, name TEXT NOT NULL, at DATETIME NOT NULL,
                        plain TEXT NOT NULL);
                    CREATE TABLE cardRecord(suit TEXT NOT NULL)
                    """)
            try Card.checkSchema(db)
            try CardRecord.checkSchema(db)
        }
    }
}
