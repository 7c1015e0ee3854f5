import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Coding that is written by hand, initializers, and classes that list columns, too.
@Suite("Codable classes with code of their own")
struct CodableClassCodingTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE reminder (id INTEGER PRIMARY KEY, title TEXT, count INTEGER)")
            try db.execute(sql: "INSERT INTO reminder VALUES (1, 'Milk', 3)")
            try body(db)
        }
    }

    private final class ByHand: CodedBase, Codable {
        var words: [Substring] = []

        private enum Keys: String, CodingKey { case title }

        override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            words = try container.decode(String.self, forKey: .title).split(separator: " ")
            super.init()
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(words.joined(separator: " "), forKey: .title)
        }
    }

    private static let refusal =
        "ByHand codes a key named title, which is no stored property of it: so no row can be read into a record that "
        + "is there already. List its columns in columns(_:)."

    @Test(
        "89. coding that was written by hand fetches, saves and copies, and what would be set in place throws a sentence"
    )
    func byHand() throws {
        try withTable { db in
            let record = try #require(try ByHand.fetchOne(db, sql: "SELECT id, title FROM reminder"))
            #expect(record.id == 1)
            #expect(record.words == ["Milk"])
            #expect(!record.hasDatabaseChanges)
            record.words.append("Bread")
            #expect(try record.updateChanges(db))
            #expect(try String.fetchOne(db, sql: "SELECT title FROM reminder") == "Milk Bread")
            #expect(try record.copy().words == ["Milk", "Bread"])
            let new = ByHand()
            try new.insert(db)
            #expect(new.id == 2)
            let error = #expect(throws: DatabaseError.self) { try record.reload(db) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == Self.refusal)
            #expect(throws: DatabaseError.self) { try ByHand(row: Row()) }
        }
    }

    private final class OwnKeyByHand: Record, Codable {
        var key = ""
        private enum Keys: String, CodingKey { case id }
        override class var databaseTableName: String { "reminder" }

        override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }
        required init(from decoder: any Decoder) throws {
            key = try "\(decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id))"
            super.init()
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(Int(key), forKey: .id)
        }
    }

    @Test(
        "89. a row id that coding by hand cannot be given is told of in a sentence, and the insertion stands")
    func rowIDByHand() throws {
        try withTable { db in
            let error = #expect(throws: RecordError.self) { try OwnKeyByHand().insert(db) }
            guard case .rowNotTaken(let recordType, let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(recordType == "OwnKeyByHand")
            #expect(
                reason
                    == "setting it threw SQLite error 21: OwnKeyByHand codes a key named id, which is no stored property of "
                    + "it: so no row can be read into a record that is there already. List its columns in columns(_:)."
            )
            let all = try OwnKeyByHand.fetchAll(db)
            #expect(all.map(\.key) == ["1", "2"])
        }
    }

    private final class Written: CodedBase, Codable {
        var title = ""
        var isFetched = false
        private enum CodingKeys: CodingKey { case title }

        override init() { super.init() }
        required init(row: Row) throws {
            try super.init(row: row)
            isFetched = true
        }
    }

    @Test("89. an init(row:) of its own is called for each row")
    func writtenInitializer() throws {
        try withTable { db in
            let all = try Written.fetchAll(db)
            #expect(all.map(\.isFetched) == [true])
            #expect(all.map(\.title) == ["Milk"])
        }
    }

    private final class Constants: CodedBase, Codable {
        let title: String
        var count = 0

        override init() {
            title = "none"
            super.init()
        }
        required init(row: Row) throws {
            title = "row"
            try super.init(row: row)
        }
    }

    private final class Weak: CodedBase, Codable {
        weak var title: Text?
        var count = 0
        final class Text: Codable {}
    }

    @Test("89. a constant and a weak reference cannot be set in place, and a sentence says so")
    func notSettable() throws {
        try withTable { db in
            let record = try #require(try Constants.fetchOne(db))
            #expect(record.title == "Milk")
            #expect(record.count == 3)
            let error = #expect(throws: DatabaseError.self) { try record.reload(db) }
            #expect(
                error?.message
                    == "Constants decodes title, which is a let: so no row can be read into a record that is there "
                    + "already. List its columns in columns(_:).")
            let weak = Weak()
            weak.id = 1
            let other = #expect(throws: DatabaseError.self) { try weak.reload(db) }
            #expect(
                other?.message
                    == "Weak decodes title, which is a weak or unowned reference: so no row can be read into a record "
                    + "that is there already. List its columns in columns(_:).")
        }
    }

    // MARK: - Columns beside Codable

    private class Plain: CodedBase, Codable {
        var title = ""
    }
    private final class Counting: Plain {
        var count = 0
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("count", count) { count = $0 }
        }
    }
    private final class Alone: Plain {
        var number = 1
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("count", number) { number = $0 }
        }
    }
    private final class Transient: Plain {
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
    private final class Same: Plain {
        var other = ""
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("title", other) { other = $0 }
        }
    }

    @Test("92. a subclass adds columns to those that its superclass leaves to Codable")
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

    @Test("92. a class that says Codable and lists its columns itself is stored by these")
    func listed() throws {
        try withTable { db in
            let record = try #require(try Listed.fetchOne(db))
            #expect((record.title, record.count) == ("Milk", 5))
            #expect(try record.databaseDictionary.keys.sorted() == ["id", "title"])
        }
    }

    @Test("92. a column that Codable has and that is listed as well is refused")
    func twice() throws {
        try withTable { db in
            let error = #expect(throws: DatabaseError.self) { try Same().insert(db) }
            #expect(
                error?.message
                    == "Same has the column title twice, by Codable or in columns(_:). One of two properties would be "
                    + "lost: give them columns of their own.")
        }
    }

    // MARK: - Classes that would lose properties

    private final class Left: Plain {
        var count = 0
        lazy var other = ""
    }
    private final class Nothing: Plain {}
    private final class Both: Plain {
        var count = 0
        private enum Keys: String, CodingKey { case count }
        override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }
        required init(from decoder: any Decoder) throws {
            count = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .count)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(count, forKey: .count)
        }
    }

    @Test("90. a subclass whose properties Swift leaves out is refused at its first use, by their names")
    func leftOut() throws {
        try withTable { db in
            for body: () throws -> Void in [
                { _ = try Left.fetchAll(db) }, { _ = try Left.fetchOne(db, key: 7) },
                { try Left().insert(db) },
                { _ = try Left(row: Row()) },
            ] {
                let error = #expect(throws: DatabaseError.self) { try body() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(
                    error?.message
                        == "Left inherits Codable from Plain, and Swift leaves out what a subclass adds: count, other "
                        + "would be neither read nor stored. List them in columns(_:).")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM reminder") == 1)
            #expect(try Nothing.fetchAll(db).map(\.title) == ["Milk"])
            let both = try #require(try Both.fetchOne(db))
            #expect((both.title, both.count) == ("Milk", 3))
            both.count = 9
            try both.update(db)
            try both.reload(db)
            #expect((both.id, both.title, both.count) == (1, "Milk", 9))
        }
    }

    // MARK: - JSON

    @Test("92. jsonColumns is an Encodable value of all columns, and a coding by hand is served")
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

    @Test("92. what was encoded by jsonColumns is decoded by decodeColumns(from:)")
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

    @Test("92. a coding by hand that asks for the columns which it is asked for is told so")
    func circle() throws {
        try withTable { db in
            let error = #expect(throws: DatabaseError.self) { try Circle().insert(db) }
            #expect(
                error?.message
                    == "Circle calls encodeColumns(to:) where it is asked for its columns. List them in columns(_:)."
            )
            let other = #expect(throws: DatabaseError.self) { try Circle.fetchAll(db) }
            #expect(
                other?.message
                    == "Circle calls decodeColumns(from:) where it is asked for its columns. List them in columns(_:)."
            )
        }
    }
}
