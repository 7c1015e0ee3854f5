import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Codable classes that list columns, and their JSON")
struct CodableClassColumnsTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE reminder (id INTEGER PRIMARY KEY, title TEXT, count INTEGER)")
            try db.execute(sql: "INSERT INTO reminder VALUES (1, 'Milk', 3)")
            try body(db)
        }
    }

    private final class Counting: PlainErrand {
        var count = 0
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("count", count) { count = $0 }
        }
    }
    private final class Alone: PlainErrand {
        var number = 1
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("count", number) { number = $0 }
        }
    }
    private final class Transient: PlainErrand {
        var count = 7
        override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
    }
    private final class Listed: CodedBase, Codable {
        var title = ""
        var count = 5
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("title", title) { title = $0 }
        }
    }
    private final class Same: PlainErrand {
        var other = ""
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("title", other) { other = $0 }
        }
    }

    @Test("a subclass adds columns to those that its superclass leaves to Codable", .behaviour(92))
    func added() throws {
        try withTable { db in
            let record = try #require(try Counting.fetchAll(db).first)
            #expect((record.id, record.title, record.count) == (1, "Milk", 3))
            #expect(!record.hasDatabaseChanges)
            (record.title, record.count) = ("Bread", 4)
            #expect(try record.databaseChanges == ["title": "Milk".databaseValue, "count": 3.databaseValue])
            try record.update(db)
            let new = Counting()
            try new.insert(db)
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM reminder").map(\.description)
                    == ["[id: 1, title: 'Bread', count: 4]", "[id: 2, title: '', count: 0]"])
            try new.reload(db)
            let alone = try #require(try Alone.fetchOne(db))
            #expect((alone.id, alone.title, alone.number) == (nil, "Bread", 4))
            #expect(try alone.databaseDictionary.keys.sorted() == ["count", "title"])
            let transient = try #require(try Transient.fetchOne(db))
            #expect((transient.title, transient.count) == ("Bread", 7))
        }
    }

    @Test("a class that says Codable and lists its columns itself is stored by these", .behaviour(92))
    func listed() throws {
        try withTable { db in
            let record = try #require(try Listed.fetchOne(db))
            #expect((record.title, record.count) == ("Milk", 5))
            #expect(try record.databaseDictionary.keys.sorted() == ["id", "title"])
        }
    }

    @Test("a column that Codable has and that is listed as well is refused", .behaviour(92))
    func twice() throws {
        try withTable { db in
            let error = #expect(throws: DatabaseError.self) { try Same().insert(db) }
            #expect(
                error?.message
                    == "Same has the column title twice, through Codable or in columns(_:). One of the two properties "
                    + "would be lost: give each a column of its own.")
        }
    }

    // MARK: - JSON

    @Test("jsonColumns is an Encodable value of all columns, and a coding by hand is served", .behaviour(92))
    func json() throws {
        try withTable { db in
            let record = try #require(try Counting.fetchOne(db))
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let json = try encoder.encode(record.jsonColumns)
            #expect(String(decoding: json, as: UTF8.self) == #"{"count":3,"id":1,"title":"Milk"}"#)
            let decoded = try JSONDecoder().decode(Decoded.self, from: json)
            #expect((decoded.record.id, decoded.record.title, decoded.record.count) == (1, "Milk", 3))
        }
    }

    private final class Many: CodedBase, Codable {
        var data: Data? = Data([1, 2])
        var noData: Data?
        var key = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")
        var isDone = true
        var ratio = 0.5
        var date = Date(timeIntervalSince1970: 5)
        var tags = ["a"]
    }

    @Test("what was encoded by jsonColumns is decoded by decodeColumns(from:)", .behaviour(92))
    func roundTrip() throws {
        struct Copy: Decodable {
            let record: Many
            init(from decoder: any Decoder) throws {
                record = Many()
                (record.isDone, record.ratio, record.tags) = (false, 2, [])
                try record.decodeColumns(from: decoder)
            }
        }
        let many = Many()
        (many.id, many.noData, many.date) = (3, Data([7]), Date(timeIntervalSince1970: 6))
        let copy = try JSONDecoder().decode(Copy.self, from: JSONEncoder().encode(many.jsonColumns)).record
        let isSame = copy.databaseEquals(many)
        #expect(isSame)
        #expect((copy.id, copy.noData, copy.tags) == (3, Data([7]), ["a"]))
    }

    private struct Taken<Hero: HeroRecord>: Decodable {
        init(from decoder: any Decoder) throws { try Hero().decodeColumns(from: decoder) }
    }

    @Test(
        "encodeColumns(to:) throws what encoding the columns throws, and decodeColumns(from:) what reading them throws",
        arguments: RecordStyle.allCases)
    func failures(style: RecordStyle) throws { try failures(style.fickleHero) }

    private func failures<Fickle: FickleHero>(_: Fickle.Type) throws {
        let hero = Fickle()
        hero.fails = true
        #expect(throws: TestError(1)) { try JSONEncoder().encode(hero.jsonColumns) }
        let error = #expect(throws: RowDecodingError.self) {
            try JSONDecoder().decode(Taken<Fickle>.self, from: Data(#"{"score":"many"}"#.utf8))
        }
        #expect(error?.columnName == "score")
    }

    private struct Decoded: Decodable {
        let record = Counting()
        init(from decoder: any Decoder) throws { try record.decodeColumns(from: decoder) }
    }

    private final class Circle: CodedBase, Codable {
        var title = ""
        override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }
        required init(from decoder: any Decoder) throws {
            super.init()
            try decodeColumns(from: decoder)
        }
        func encode(to encoder: any Encoder) throws { try encodeColumns(to: encoder) }
    }

    @Test("a coding by hand that asks for the columns which it is asked for is told so", .behaviour(92))
    func circle() throws {
        try withTable { db in
            let error = #expect(throws: DatabaseError.self) { try Circle().insert(db) }
            #expect(
                error?.message
                    == "Circle calls encodeColumns(to:) while Shellac reads or stores its columns. List them in columns(_:)."
            )
            let other = #expect(throws: DatabaseError.self) { try Circle.fetchAll(db) }
            #expect(
                other?.message
                    == "Circle calls decodeColumns(from:) while Shellac reads or stores its columns. List them in columns(_:)."
            )
        }
    }
}
