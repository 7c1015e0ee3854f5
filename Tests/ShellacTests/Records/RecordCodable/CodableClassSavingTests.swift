import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Ways to save Codable classes, and the lives of their objects.
@Suite("Codable classes that are saved and freed")
struct CodableClassSavingTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Errand.table)
            try body(db)
        }
    }

    @Test("many are inserted by one statement, and take their row ids", .behaviour(89))
    func inserted() throws {
        func check<Item: Record>(_ type: Item.Type, _ db: Database) throws {
            let items = try (0..<3).map { _ in try Item(row: Row(["title": "t"])) }
            try Item.insertAll(db, items)
            #expect(try items.map { try $0.databaseDictionary["id"] } == [1, 2, 3].map(\.databaseValue))
            #expect(items.allSatisfy { !$0.hasDatabaseChanges })
            #expect(try Item.fetchCount(db) == 3)
        }
        try withTable { db in try check(Errand.self, db) }
        try withTable { db in try check(OwnKey.self, db) }
    }

    @Test(
        "one that is fetched or inserted anew is of its class, with all that the database made of it",
        .behaviour(89))
    func inserting() throws {
        try withTable { db in
            let errand = Errand()
            errand.title = "Milk"
            let inserted = try errand.insertAndFetch(db)
            #expect(inserted.id == 1)
            #expect(inserted.title == "Milk")
            #expect(!inserted.hasDatabaseChanges)
            errand.title = "Bread"
            try errand.save(db)
            #expect(try Errand.fetchAll(db).map(\.title) == ["Bread"])
            #expect(try Errand.filter(key: 1).fetchOne(db)?.id == 1)
        }
    }

    @Test("a copy is saved by another access", .behaviour(89))
    func sent() async throws {
        let dbQueue = try DatabaseQueue()
        try await dbQueue.write { try $0.execute(sql: Errand.table) }
        let errand = Errand()
        errand.title = "Milk"
        try await errand.save(in: dbQueue)
        #expect(errand.id == 1)
        #expect(!errand.hasDatabaseChanges)
        let all = try await dbQueue.read { try Errand.fetchAll($0) }
        #expect(all.map(\.title) == ["Milk"])
    }

    private final class Note: Codable {
        var text = "new"
        var whenFreed: (() -> Void)?
        enum CodingKeys: CodingKey { case text }
        init() {}
        init(from decoder: any Decoder) throws {
            text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
        }
        deinit { whenFreed?() }
    }
    private final class Noted: CodedBase, Codable {
        var place = Note()
        var title = ""
    }

    @Test("an object that is replaced in place may save the record while it is freed", .behaviour(89))
    func savingDeinit() throws {
        try withTable { db in
            let record = Noted()
            try record.insert(db)
            try db.execute(sql: "UPDATE reminder SET place = '{\"text\":\"other\"}', title = 'other'")
            record.place.whenFreed = { [unowned record] in try? record.update(db) }
            try record.reload(db)
            #expect(record.place.text == "other")
            #expect(record.title == "other")
            let place = try String.fetchOne(db, sql: "SELECT place FROM reminder")
            #expect(place == #"{"text":"other"}"#)
        }
    }

    private final class Dying: CodedBase, Codable {
        var title = "d"
        private static let counter = Recorder<String>()
        static var freed: Int { counter.elements.count }
        deinit { Self.counter.record(title) }
    }

    @Test(
        "fetched records are made once each, and set in place by a second one which is freed", .behaviour(89))
    func lives() throws {
        try withTable { db in
            try db.execute(sql: "INSERT INTO reminder (title) VALUES ('a'), ('b')")
            let sql = "SELECT id, title FROM reminder"
            // The first fetch finds out how they are made.
            _ = try Dying.fetchAll(db, sql: sql)
            let before = Dying.freed
            let records = try Dying.fetchAll(db, sql: sql)
            try withExtendedLifetime(records) {
                #expect(Dying.freed == before, "no second record was made")
                try records[0].reload(db)
                #expect(Dying.freed == before + 1)
            }
        }
    }
}
