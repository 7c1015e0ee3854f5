import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Coding that is written by hand, initializers, and classes of which Swift leaves something out.
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
        "ByHand codes a key named title, which is not one of its stored properties. So no row can be read into an "
        + "existing record: list its columns in columns(_:)."

    @Test(
        "coding that was written by hand fetches, saves and copies, and what would be set in place throws a sentence",
        .behaviour(89)
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
            expectError(Self.refusal) { try ByHand(row: Row()) }
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
        "a row id that coding by hand cannot be given is told of in a sentence, and the insertion stands",
        .behaviour(89))
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
                    == "setting it threw SQLite error 21: OwnKeyByHand codes a key named id, which is not one of its stored "
                    + "properties. So no row can be read into an existing record: list its columns in columns(_:)."
            )
            let all = try OwnKeyByHand.fetchAll(db)
            #expect(all.map(\.key) == ["1", "2"])
        }
    }

    /// A question that a class asks its decoder, and that synthesized coding never asks.
    fileprivate enum Question: CaseIterable {
        case keys, presence, list, container, parent, keyedParent, elements, value
        @TaskLocal static var asked: Question?

        func ask(_ decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Curious.CodingKeys.self)
            switch self {
            case .keys: _ = container.allKeys
            case .presence: #expect(container.contains(.title))
            case .list: _ = try? container.nestedUnkeyedContainer(forKey: .words)
            case .container:
                _ = try? container.nestedContainer(keyedBy: Curious.CodingKeys.self, forKey: .words)
            case .parent: _ = try? container.superDecoder()
            case .keyedParent: _ = try? container.superDecoder(forKey: .words)
            case .elements: _ = try? decoder.unkeyedContainer()
            case .value: _ = try? decoder.singleValueContainer()
            }
        }

        var reason: String {
            switch self {
            case .elements: "decodes itself from an array"
            case .value: "decodes itself from a single value"
            default: "decodes a nested container, or asks for its keys"
            }
        }
    }

    fileprivate final class Curious: CodedBase, Codable {
        enum CodingKeys: String, CodingKey { case title, words }
        var title = ""
        var words: [String]?

        override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }
        required init(from decoder: any Decoder) throws {
            try Question.asked?.ask(decoder)
            title = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .title)
            super.init()
        }
    }

    @Test(
        "a decoder that is asked for more sets no properties in place, even if the class ignores its errors",
        .behaviour(89), arguments: Question.allCases)
    fileprivate func curious(question: Question) throws {
        try withTable { db in
            let record = try #require(try Curious.fetchOne(db, sql: "SELECT id, title FROM reminder"))
            record.title = "Bread"
            Question.$asked.withValue(question) {
                let error = #expect(throws: DatabaseError.self) { try record.reload(db) }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("\(question.reason). So no row can be read") == true)
            }
            #expect(record.title == "Bread")
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

    @Test("an init(row:) of its own is called for each row", .behaviour(89))
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

    @Test("a constant and a weak reference cannot be set in place, and a sentence says so", .behaviour(89))
    func notSettable() throws {
        try withTable { db in
            let record = try #require(try Constants.fetchOne(db))
            #expect(record.title == "Milk")
            #expect(record.count == 3)
            let error = #expect(throws: DatabaseError.self) { try record.reload(db) }
            #expect(
                error?.message
                    == "Constants decodes title, which is a let. So no row can be read into an existing record: "
                    + "list its columns in columns(_:).")
            let weak = Weak()
            weak.id = 1
            let other = #expect(throws: DatabaseError.self) { try weak.reload(db) }
            #expect(
                other?.message
                    == "Weak decodes title, which is a weak or unowned reference. So no row can be read into an "
                    + "existing record: list its columns in columns(_:).")
        }
    }

    // MARK: - Classes that would lose properties

    private final class Left: PlainErrand {
        var count = 0
        lazy var other = ""
    }
    private final class Nothing: PlainErrand {}
    private final class Both: PlainErrand {
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

    @Test(
        "a subclass whose properties Swift leaves out is refused at its first use, by their names",
        .behaviour(90))
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
                        == "Left inherits Codable from PlainErrand, but Swift does not code the properties that a subclass "
                        + "adds: count, other would be neither read nor stored. List them in columns(_:).")
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
}
