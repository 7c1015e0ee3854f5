import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Rows that are deleted and stay, beside stamps, strategies, undo, graphs, observations and other
/// connections.
@Suite("Soft delete, in use", .behaviour(72))
struct SoftDeleteInUseTests {
    private static let schema = """
        CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL, updatedAt DATETIME, deletedAt DATETIME);
        CREATE TABLE item (id INTEGER PRIMARY KEY, shopID INTEGER REFERENCES shop(id), name TEXT, updatedAt DATETIME, deletedAt);
        INSERT INTO shop VALUES (1, 'a', NULL, NULL), (2, 'b', NULL, NULL);
        INSERT INTO item VALUES (1, 1, 'x', NULL, NULL), (2, 1, 'y', NULL, NULL), (3, 2, 'z', NULL, NULL);
        """

    private func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: Self.schema) }
        return queue
    }

    @Test("A deletion is an update for stamps: the record takes them, and keeps what the program has said")
    func stamps() throws {
        let queue = try database()
        try queue.register(Shop.self)
        try queue.inDatabase { db in
            let shop = try Shop.find(db, key: 1)
            try shop.delete(db)
            let date = try #require(shop.updatedAt)
            #expect(shop.deletedAt == date && !shop.hasDatabaseChanges)
            try #expect(Date.fetchOne(db, sql: "SELECT updatedAt FROM shop WHERE id = 1") == date)
            // No other connection has written the row.
            shop.name = "aa"
            try shop.update(db, checking: .all)
            try db.inTransaction {
                try shop.restore(db)
                return .rollback
            }
            #expect(shop.deletedAt == date && !shop.hasDatabaseChanges)
            let explicit = Date(timeIntervalSince1970: 1)
            shop.updatedAt = explicit
            try shop.restore(db)
            #expect(shop.deletedAt == nil && shop.updatedAt == explicit && shop.hasDatabaseChanges)
            try shop.updateChanges(db)
            try #expect(Date.fetchOne(db, sql: "SELECT updatedAt FROM shop WHERE id = 1") == explicit)
        }
    }

    @Test("An update leaves the date alone, wherever it is among the columns that a record encodes")
    func placesOfTheDate() throws {
        try database().inDatabase { db in
            try db.execute(sql: "UPDATE item SET deletedAt = 'then' WHERE id = 1")
            let lists = [
                ["id", "name", "deletedAt"], ["deletedAt", "name", "id"], ["name", "id"],
                ["name", "DELETEDAT", "id"], ["id", "name", "deletedAt"],
            ]
            for (number, names) in lists.enumerated() {
                try LooseItem(names: names, name: "\(number)").update(db)
                let row = try Row.fetchOne(db, sql: "SELECT name, deletedAt FROM item WHERE id = 1")
                #expect(row == ["name": "\(number)", "deletedAt": "then"], "\(names)")
            }
            // A named column is written.
            try LooseItem(names: lists[1], name: "").update(db, columns: ["deletedAt"])
            try #expect(Int.fetchOne(db, sql: "SELECT deletedAt IS NULL FROM item WHERE id = 1") == 1)
        }
    }

    @Test(
        "The date is stored as the type stores dates, and goes along with those alone that are stored alike")
    func strategies() throws {
        try database().inDatabase { db in
            try #expect(SecondsItem.deleteOne(db, key: 1))
            try #expect(
                String.fetchOne(db, sql: "SELECT typeof(deletedAt) FROM item WHERE id = 1") == "integer")
            let item = try #require(
                try SecondsItem.ignoringDefaultFilter(.deleted).filter(key: 1).fetchOne(db))
            #expect(item.deletedAt.map { abs($0.timeIntervalSinceNow) < 3600 } == true)
            try #expect(item.restore(db) && SecondsItem.fetchCount(db) == 3)
            let error = #expect(throws: DatabaseError.self) { try MixedShop.deleteAll(db) }
            #expect(error?.message?.contains("use the same strategy for dates in both types") == true)
            try #expect(MixedShop.fetchCount(db) == 2 && SecondsItem.fetchCount(db) == 3)
        }
    }

    @Test("Undo takes a deletion away, with all that went along, and does it again")
    func undo() throws {
        let queue = try database()
        let undo = try DatabaseUndo(queue, Shop.self, Item.self)
        try queue.write { db in _ = try Shop.find(db, key: 1).delete(db) }
        try queue.read { db in try #expect(Shop.fetchCount(db) == 1 && Item.fetchCount(db) == 1) }
        try undo.undo()
        try queue.read { db in try #expect(Shop.fetchCount(db) == 2 && Item.fetchCount(db) == 3) }
        try undo.redo()
        try queue.read { db in try #expect(Shop.fetchCount(db) == 1 && Item.fetchCount(db) == 1) }
    }

    @Test("What is removed from a saved list stays in the table, deleted")
    func graphs() throws {
        try database().inDatabase { db in
            let shop = try #require(try Shop.including(Shop.items).filter(key: 1).fetchOne(db))
            shop.set(Shop.items, to: try shop[Shop.items].filter { $0.id == 1 })
            try shop.save(db, with: Shop.items, removed: .delete)
            try #expect(Item.filter(Column("shopID") == 1).fetchAll(db).map(\.id) == [1])
            try #expect(Item.ignoringDefaultFilter(.deleted).fetchCount(db) == 3)
            try #expect(Item.ignoringDefaultFilter(.deleted).filter(key: 2).restoreAll(db) == 1)
            try #expect(Item.fetchCount(db) == 3)
        }
    }

    @Test("Rows go along that another default filter leaves out, and the conditions stand once")
    func filters() throws {
        let statements = Recorder<String>()
        try database().inDatabase { db in
            try db.execute(sql: "UPDATE item SET name = 'hidden' WHERE id = 2")
            try #expect(FilteredItem.fetchAll(db).map(\.id) == [1, 3])
            db.trace { statements.record($0.description) }
            try #expect(FilteredShop.filter(key: 1).deleteAll(db) == 1)
            db.trace(nil)
            try #expect(Item.fetchAll(db).map(\.id) == [3])
            try #expect(FilteredShop.filter(key: 1).restoreAll(db) == 1)
            try #expect(Item.fetchCount(db) == 3 && FilteredItem.fetchCount(db) == 2)
            // To delete the items themselves is to delete those that are seen.
            try #expect(FilteredItem.deleteAll(db) == 2)
            try #expect(Item.fetchAll(db).map(\.id) == [2])
        }
        #expect(
            statements.elements.filter { $0.hasPrefix("UPDATE") } == [
                #"UPDATE "shop" SET "deletedAt" = ? WHERE "id" = ? AND "deletedAt" IS NULL RETURNING "id""#,
                #"UPDATE "item" SET "deletedAt" = ? WHERE "shopID" IN (SELECT +value FROM json_each(?)) AND "deletedAt" IS NULL"#,
            ], "\(statements.elements)")
    }

    #if DEBUG
    @Test(
        "A developer is told of the callbacks of deletions that a bulk deletion bypasses, once for a hierarchy"
    )
    func advice() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try DatabaseQueue()
            try await queue.write { db in
                try db.execute(sql: SoftDeleteInUseTests.schema)
                for type in [LoudItem.self, LouderItem.self] as [LoudItem.Type] { try type.fetchFirst(db) }
                try LouderItem.filter(Column("id") == 1).deleteAll(db)
                try LoudItem.filter(Column("id") == 1).restoreAll(db)
                let item = try LouderItem.find(db, key: 1)
                try item.delete(db)
                try item.restore(db)
            }
            #expect(log.elements.count == 1, "\(log.elements)")
            #expect(
                log.elements.first?.contains(
                    "SQL deletes rows of item without running these callbacks of LoudItem: willDelete.")
                    == true)
        }
    }
    #endif

    @Test("Observers hear of a deletion as an update, and live values lose the row")
    func observation() async throws {
        let queue = try database()
        var names = queue.values(of: Item.order(Column("id")).select(Column("name"), as: String.self))
            .makeAsyncIterator()
        try #expect(await names.next() == ["x", "y", "z"])
        let item = try await queue.read { db in try Item.find(db, key: 3) }
        try #expect(await item.delete(in: queue))
        try #expect(await names.next() == ["x", "y"])
        var states = item.follow(in: queue).makeAsyncIterator()
        guard case .changed? = try await states.next() else {
            return #expect(Bool(false), "the row is there")
        }
        try #expect(await item.restore(in: queue))
        try #expect(await names.next() == ["x", "y", "z"])
        guard case .changed(let row)? = try await states.next() else {
            return #expect(Bool(false), "the row is there")
        }
        try #expect((row["deletedAt"] as Date?) == nil)
        try #expect(await item.destroy(in: queue))
        guard case .deleted? = try await states.next() else { return #expect(Bool(false), "the row is gone") }
    }

    @Test("Outside of a transaction, another connection comes before a cascade or after it")
    func connections() throws {
        let file = try TemporaryDatabase()
        let (one, two) = (try file.queue(), try file.queue())
        try one.write { db in try db.execute(sql: Self.schema) }
        try one.inDatabase { db in
            let shop = try Shop.find(db, key: 1)
            try two.write { db in _ = try Shop.find(db, key: 1).delete(db) }
            // The row has its date already, and so have those that went along.
            try #expect(!shop.delete(db))
            try #expect(shop.restore(db))
            try #expect(Shop.fetchCount(db) == 2 && Item.fetchCount(db) == 3)
            try db.execute(sql: "BEGIN IMMEDIATE")
            expectError("database is locked") { try two.write { db in _ = try Shop.deleteAll(db) } }
            try db.execute(sql: "COMMIT")
            try two.write { db in _ = try Item.filter(Column("shopID") == 1).destroyAll(db) }
            try #expect(Item.ignoringDefaultFilter(.deleted).fetchCount(db) == 1)
        }
    }

    @Test("A row whose key is taken by one that is deleted is not inserted, and the deleted one stays")
    func taken() throws {
        try database().inDatabase { db in
            try Item.deleteOne(db, key: 1)
            let item = Item()
            item.id = 1
            let error = #expect(throws: DatabaseError.self) { try item.insert(db) }
            #expect(error?.constraint?.kind == .unique)
            // To save is to update the row, which stays deleted.
            try item.save(db)
            try #expect(Item.filter(key: 1).isEmpty(db))
            try #expect(item.restore(db) && Item.fetchCount(db) == 3)
        }
    }
}

private class Shop: Record {
    static let items = hasMany(Item.self, using: "shopID")

    var id: Int64?
    var name = ""
    var updatedAt: Date?
    var deletedAt: Date?

    override class var databaseTableName: String { "shop" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Shop.items) }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

private class Item: Record {
    var id: Int64?
    var shopID: Int64?
    var name: String?

    override class var databaseTableName: String { "item" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("shopID", shopID) { shopID = $0 }
        try column("name", name) { name = $0 }
    }
}

extension DefaultFilter.Name {
    fileprivate static let hidden: Self = "hidden"
}

private class FilteredShop: Shop {
    static let seenItems = hasMany(FilteredItem.self, using: "shopID")

    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: seenItems) }
}

private class FilteredItem: Item {
    override class var databaseDefaultFilter: DefaultFilter { [.hidden: Column("name") != "hidden"] }
}

private class LoudItem: Item {
    class func fetchFirst(_ db: Database) throws { _ = try fetchOne(db, key: 1) }
    override func willDelete(_ db: Database) throws {}
    override func validate(_ db: Database) throws {}
}

private class LouderItem: LoudItem {
    override class func fetchFirst(_ db: Database) throws { _ = try fetchOne(db, key: 1) }
}

/// An item that encodes some columns, in some order, and no date of a deletion.
private struct LooseItem: PersistableRecord {
    let names: [String]
    let name: String

    static var databaseTableName: String { "item" }
    static var databaseSoftDelete: SoftDelete? { "deletedAt" }

    func encode(to container: inout PersistenceContainer) {
        for column in names {
            switch column {
            case "id": container[column] = 1
            case "name": container[column] = name
            default: container[column] = String?.none
            }
        }
    }
}

private struct SecondsItem: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var deletedAt: Date?

    static var databaseTableName: String { "item" }
    static var databaseSoftDelete: SoftDelete? { "deletedAt" }
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .secondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
}

private struct MixedShop: Codable, FetchableRecord, PersistableRecord {
    static let items = hasMany(SecondsItem.self, using: "shopID")

    var id: Int64

    static var databaseTableName: String { "shop" }
    static var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: items) }
}
