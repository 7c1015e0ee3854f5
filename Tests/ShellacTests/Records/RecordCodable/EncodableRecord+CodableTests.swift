import Foundation
import Shellac
import TestSupport
import Testing

private struct Address: Codable, Equatable {
    var street: String
    var city: String
}

private enum Color: String, Codable { case red, blue }
private enum Level: Int, Codable, DatabaseValueConvertible { case low, high }

/// A value that encodes itself as another one.
private struct Name: Codable, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

private struct Everything: Codable, PersistableRecord, FetchableRecord {
    var id: Int64
    var bool = true
    var int8: Int8 = -8
    var uint64: UInt64 = 64
    var double = 1.5
    var float: Float = 0.5
    var text = "a"
    var date = Date(timeIntervalSince1970: 1)
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var data = Data([1, 2])
    var url = URL(string: "https://example.com/a")
    var decimal: Decimal = 3
    var color = Color.blue
    var level = Level.high
    var name = Name("Arthur")
    var address = Address(street: "Main", city: "Lyon")
    var tags = ["b", "a"]
    var counts = ["z": 1, "a": 2]
    var none: Int?
    var noDate: Date?
    var noAddress: Address?
    var noColor: Color?
}

/// A record whose encoding tests say.
private struct Encoding: EncodableRecord, Encodable {
    var body: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private enum Key: String, CodingKey { case a, b, c }

@Suite("Encodable records")
struct EncodableRecordCodableTests {
    @Test(
        "Each property is a column: values as themselves, other ones as JSON with sorted keys, nil as NULL",
        .behaviour(44)
    )
    func everything() throws {
        let expected: [String: DatabaseValue] = [
            "id": 1, "bool": 1, "int8": -8, "uint64": 64, "double": 1.5, "float": 0.5, "text": "a",
            "date": "1970-01-01 00:00:01.000", "uuid": Everything(id: 1).uuid.databaseValue,
            "data": Data([1, 2]).databaseValue, "url": "https://example.com/a", "decimal": "3",
            "color": "blue",
            "level": 1, "name": "Arthur", "address": #"{"city":"Lyon","street":"Main"}"#,
            "tags": #"["b","a"]"#,
            "counts": #"{"a":2,"z":1}"#, "none": .null, "noDate": .null, "noAddress": .null, "noColor": .null,
        ]
        #expect(try Everything(id: 1).databaseDictionary == expected)
        try DatabaseQueue().write { db in
            let columns = expected.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE everything (\(columns), PRIMARY KEY (id))")
            try Everything(id: 1).insert(db)
            try Everything(id: 2).insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM everything WHERE id = 1"))
            #expect(row.dictionary == expected)
            for record in try Everything.fetchAll(db) {
                #expect(record.databaseEquals(Everything(id: record.id)))
            }
        }
    }

    @Test("Columns are encoded in the order of the properties, and the SQL names all of them")
    func sql() throws {
        struct Player: Encodable, PersistableRecord {
            var id: Int64
            var name: String?
            var score: Int?
        }
        let spy = SQLSpy()
        try DatabaseQueue(configuration: spy.configuration()).write { db in
            try db.execute(sql: "CREATE TABLE player (score INTEGER, name TEXT, id INTEGER PRIMARY KEY)")
            spy.removeAll()
            try Player(id: 1, name: nil, score: nil).insert(db)
            try Player(id: 2, name: "Arthur", score: 3).insert(db)
            try Player(id: 1, name: "Barbara", score: nil).update(db)
            #expect(
                spy.sql.filter { !$0.contains("sqlite_") && !$0.hasPrefix("PRAGMA") } == [
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (?, ?, ?)"#,
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (?, ?, ?)"#,
                    #"UPDATE "player" SET "name" = ?, "score" = ? WHERE "id" = ?"#,
                ])
            #expect(
                try Row.fetchAll(db, sql: "SELECT id, name, score FROM player ORDER BY id").map(
                    \.databaseValues)
                    == [[1, "Barbara", .null], [2, "Arthur", 3]])
        }
    }

    @Test("A date in another format is no change, a text is")
    func dates() throws {
        struct Event: Codable, FetchableRecord, MutablePersistableRecord {
            var id: Int64?
            var date: Date?
            var text: String?
        }
        class Holder: Record {
            var event = Event(date: Date(timeIntervalSince1970: 0), text: nil)
            override func updateFromRow(_ row: Row) throws { event = try Event(row: row) }
            override func encode(to container: inout PersistenceContainer) throws {
                try event.encode(to: &container)
            }
        }
        try DatabaseQueue().read { db in
            let sql = "SELECT 1 AS id, '1970-01-01T00:00' AS date, '1970-01-01T00:00' AS text"
            let holder = try #require(try Holder.fetchOne(db, sql: sql))
            #expect(!holder.hasDatabaseChanges)
            holder.event.text = "1970-01-01 00:00"
            #expect(try holder.databaseChanges == ["text": "1970-01-01T00:00"])
        }
    }

    @Test("An encoding of its own may nest containers, which become JSON columns")
    func nestedContainers() throws {
        let record = Encoding { encoder in
            var container = encoder.container(keyedBy: Key.self)
            var object = container.nestedContainer(keyedBy: Key.self, forKey: .a)
            var array = container.nestedUnkeyedContainer(forKey: .b)
            try object.encode(2, forKey: .b)
            try object.encodeNil(forKey: .a)
            try array.encode(Date(timeIntervalSince1970: 1))
            try array.encodeNil()
            var inner = array.nestedContainer(keyedBy: Key.self)
            try inner.encode(["x"], forKey: .c)
            try array.encode(Address(street: "Main", city: "Lyon"))
            var parent = container.superEncoder().container(keyedBy: Key.self)
            try parent.encode("p", forKey: .a)
            var single = container.superEncoder(forKey: .c).singleValueContainer()
            try single.encode(true)
        }
        #expect(
            try record.databaseDictionary == [
                "a": #"{"a":null,"b":2}"#, "b": #"[1000,null,{"c":["x"]},{"city":"Lyon","street":"Main"}]"#,
                "super": #"{"a":"p"}"#, "c": "true",
            ])
    }

    @Test("A superclass encodes its columns beside those of the class")
    func superclass() throws {
        class Base: Encodable, EncodableRecord {
            var id = 1
            var name: String?
        }
        final class Derived: Base {
            var score = 2
            enum CodingKeys: String, CodingKey { case score }
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(score, forKey: .score)
            }
        }
        let record: Base = Derived()
        #expect(try record.databaseDictionary == ["id": 1, "name": .null, "score": 2])
    }

    @Test("Optionals that are encoded as such are NULL, or as their values are")
    func explicitOptionals() throws {
        let record = Encoding { encoder in
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Address?.none, forKey: .a)
            try container.encode(Date?.some(Date(timeIntervalSince1970: 0)), forKey: .b)
            try container.encode(Color??.some(.red), forKey: .c)
        }
        #expect(
            try record.databaseDictionary == ["a": .null, "b": "1970-01-01 00:00:00.000", "c": "red"])
    }

    @Test("Not a number is NULL")
    func notANumber() throws {
        struct Measure: Encodable, EncodableRecord { var value: Double }
        #expect(try Measure(value: .nan).databaseDictionary == ["value": .null])
    }

    // MARK: - Errors

    @Test("A record that encodes itself as a single value or an array has no columns", arguments: [0, 1, 2])
    func notKeyed(_ kind: Int) throws {
        let record = Encoding { encoder in
            if kind == 0 {
                var container = encoder.singleValueContainer()
                try container.encode(1)
            } else {
                var container = encoder.unkeyedContainer()
                if kind == 1 { try container.encode(1) }
            }
        }
        let error = try #require(thrownError { _ = try record.databaseDictionary } as? EncodingError)
        #expect("\(error)".contains("a Encoding encodes itself as a single value or an array"))
    }

    @Test("An error of a JSON column names the column")
    func invalidJSON() throws {
        struct Place: Encodable, PersistableRecord {
            struct Point: Encodable { var x: Double }
            var id = 1
            var points: [Point]
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE place (id INTEGER PRIMARY KEY, points TEXT)")
            let error = thrownError { try Place(points: [Place.Point(x: .nan)]).insert(db) }
            guard case .invalidValue(_, let context)? = error as? EncodingError else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(context.codingPath.map(\.stringValue) == ["points", "Index 0", "x"])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM place") == 0)
            try Place(points: [Place.Point(x: 1)]).insert(db)
            #expect(try String.fetchOne(db, sql: "SELECT points FROM place") == #"[{"x":1}]"#)
        }
    }

    @Test("What an encoding throws reaches the caller, and nothing is written", arguments: [false, true])
    func throwing(_ isNested: Bool) throws {
        struct Failure: Error, Equatable {}
        struct Thrower: Encodable { func encode(to encoder: any Encoder) throws { throw Failure() } }
        struct Outer: Encodable, PersistableRecord {
            var id = 1
            var isNested: Bool
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: ColumnName.self)
                try container.encode(id, forKey: .id)
                if isNested { try container.encode(Thrower(), forKey: .x) }
                throw Failure()
            }
            enum ColumnName: CodingKey { case id, x }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE outer (id INTEGER PRIMARY KEY, x)")
            #expect(throws: Failure()) { try Outer(isNested: isNested).insert(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM outer") == 0)
        }
    }
}
