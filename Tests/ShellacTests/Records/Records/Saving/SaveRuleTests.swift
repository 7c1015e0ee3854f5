import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Types to which several features add rules: in which order they are asked, and what becomes of a
/// save that one refuses.
@Suite("Rules of saves")
struct SaveRuleTests {
    private let queue: DatabaseQueue
    private let statements = Recorder<String>()

    init() throws {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1) }
        configuration.prepareDatabase { [statements] db in
            db.trace { event in
                let sql = "\(event)"
                if ["INSERT", "UPDATE", "DELETE"].contains(where: sql.hasPrefix) { statements.record(sql) }
            }
        }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.create(table: "plant") { t in
                t.primaryKey("id", .integer)
                t.column("kind", .text)
                t.column("name", .text).unique()
                t.counter("seeds", of: "seed")
                t.column("gone", .text)
                t.column("created", .text)
                t.column("updated", .text)
            }
            try db.create(table: "seed") { t in
                t.primaryKey("id", .integer)
                t.belongsTo("plant", onDelete: .cascade)
            }
        }
        _ = statements.removeAll()
    }

    /// The statements of a write, without the values.
    private func sql(_ write: (Database) throws -> Void) throws -> [String] {
        _ = statements.removeAll()
        try queue.write(write)
        return statements.elements
    }

    // MARK: - The order

    @Test("The rules of a type come in the order of the list, whatever it declares first")
    func order() throws {
        try queue.read { db in
            let rules = try SaveRules(of: Shrub.self, in: Shrub.tableSchema(on: db))
            #expect(
                rules.map(\.declaration) == [
                    "databaseKinds", "a counter of the table", "databaseSoftDelete", "databaseStamps",
                ])
            #expect(try SaveRules(of: Seed.self, in: Seed.tableSchema(on: db)).isEmpty)
        }
    }

    @Test("An insertion writes the values of a record, its kind, and its stamps, in this order")
    func insertion() throws {
        let sql = try sql { try Shrub(name: "oak").insert($0) }
        #expect(
            sql == [
                """
                INSERT INTO "plant" ("id", "name", "seeds", "kind", "created", "updated") \
                VALUES (?, ?, coalesce(0, ?), 'tree', stamp(), stamp())
                """
            ])
        try queue.read { db in
            let row = try Row.fetchOne(db, sql: "SELECT kind, name, seeds, gone, created, updated FROM plant")
            let date = "1970-01-01 00:00:01.000"
            #expect(
                row == [
                    "kind": "tree", "name": "oak", "seeds": 0, "gone": nil, "created": date, "updated": date,
                ])
        }
    }

    @Test("An update leaves the counter alone, is stamped, and finds only rows of the kind")
    func update() throws {
        let tree = Shrub(name: "oak")
        try queue.write { try tree.insert($0) }
        tree.name = "elm"
        tree.seeds = 100
        let sql = try sql { try tree.update($0) }
        #expect(
            sql == [
                "UPDATE \"plant\" SET \"name\" = ?, \"updated\" = stamp() WHERE \"id\" = ? AND \"kind\" IN ('tree')"
            ])
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT seeds FROM plant") } == 0)
    }

    @Test("A deletion dates the row, stamps it, and leaves rows of other kinds alone")
    func deletion() throws {
        let tree = Shrub(name: "oak")
        try queue.write { try tree.insert($0) }
        let sql = try sql { db in try #expect(tree.delete(db)) }
        #expect(sql.count == 1)
        #expect(sql.first?.hasPrefix("UPDATE \"plant\" SET \"gone\" = ?") == true)
        #expect(sql.first?.contains("\"kind\" IN ('tree')") == true)
        try queue.write { db in
            try #expect(Shrub.fetchCount(db) == 0)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM plant WHERE gone IS NOT NULL") == 1)
            try #expect(tree.destroy(db))
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM plant") == 0)
        }
    }

    @Test("Batches and upserts follow the same rules as single insertions")
    func batches() throws {
        let sql = try sql { try Shrub.insertAll($0, [Shrub(name: "oak"), Shrub(name: "elm")]) }
        #expect(sql.count == 1)
        #expect(sql.first?.hasSuffix(", (?, ?, coalesce(0, ?), 'tree', stamp(), stamp())") == true)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO seed (plantID) VALUES (1), (1)")
            let tree = Shrub(name: "oak")
            try tree.upsert(db)
            #expect(tree.id == 1)
            try #expect(Int.fetchOne(db, sql: "SELECT seeds FROM plant WHERE id = 1") == 2)
            let flower = Flower(name: "elm")
            #expect(throws: RecordError.self) { try flower.upsert(db) }
            #expect(flower.id == nil)
        }
    }

    // MARK: - Refusals

    @Test("Two rules cannot write one column, whichever they are", arguments: [0, 1, 2])
    func oneColumn(_ index: Int) throws {
        let records: [(Weed, String)] = [
            (
                DatedTwice(),
                "two rules write the column gone of DatedTwice, databaseSoftDelete and databaseStamps"
            ),
            (
                CountedStamp(),
                "two rules write the column seeds of CountedStamp, a counter of the table and databaseStamps"
            ),
            (
                KindOfDeletion(),
                "two rules write the column KIND of KindOfDeletion, databaseKinds and databaseSoftDelete"
            ),
        ]
        let (record, sentence) = records[index]
        try queue.write { db in
            let error = databaseError { try record.insert(db) }
            #expect(error?.message == sentence + ": give each a column of its own")
            #expect(databaseError { _ = try type(of: record).fetchAll(db) }?.message == error?.message)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM plant") == 0)
            // The connection goes on.
            try Shrub(name: "oak").insert(db)
        }
    }

    @Test(
        "A rule that throws before the statement leaves the row, the record and the connection as they were")
    func throwingRule() throws {
        let tree = Shrub(name: "oak")
        try queue.write { try tree.insert($0) }
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in throw Broken() }
        let broken = try DatabaseQueue(configuration: configuration)
        try queue.backup(to: broken)
        try broken.write { db in
            let copy = try #require(try Shrub.fetchOne(db, sql: "SELECT * FROM plant"))
            copy.name = "elm"
            // The date is only asked for by stamps.
            #expect(throws: Broken.self) { try copy.update(db) }
            #expect(throws: Broken.self) { try Shrub(name: "ash").insert(db) }
            #expect(throws: Broken.self) { try Shrub(name: "ash").upsert(db) }
            #expect(throws: Broken.self) {
                try Shrub.insertAll(db, [Shrub(name: "ash"), Shrub(name: "fir")])
            }
            #expect(try copy.databaseChanges.keys.sorted() == ["name"])
            try #expect(String.fetchAll(db, sql: "SELECT name FROM plant") == ["oak"])
            try db.withoutStamps { try copy.update(db) }
            try #expect(String.fetchAll(db, sql: "SELECT name FROM plant") == ["elm"])
        }
    }

    @Test("A table without row ids, and a view, follow the rules of their types")
    func otherTables() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE herb (code TEXT PRIMARY KEY, name TEXT, gone TEXT, updated TEXT) WITHOUT ROWID;
                    CREATE VIEW spice AS SELECT * FROM herb;
                    CREATE TRIGGER spiceUpdate INSTEAD OF UPDATE ON spice BEGIN
                        UPDATE herb SET name = NEW.name, gone = NEW.gone, updated = NEW.updated WHERE code = OLD.code;
                    END;
                    """)
            let herb = Herb(code: "b", name: "basil")
            try herb.insert(db)
            try #expect(String.fetchOne(db, sql: "SELECT updated FROM herb") == "1970-01-01 00:00:01.000")
            let spice = try #require(try Spice.fetchOne(db, sql: "SELECT * FROM spice"))
            spice.name = "thyme"
            try spice.update(db)
            try #expect(String.fetchOne(db, sql: "SELECT name FROM herb") == "thyme")
            try #expect(spice.delete(db))
            try #expect(Herb.fetchCount(db) == 0)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM herb") == 1)
        }
    }

    private struct Broken: Error {}
}

// MARK: - Types

private class Plant: Record {
    var id: Int64?
    var name = ""
    var seeds = 9

    convenience init(name: String) {
        self.init()
        self.name = name
    }

    override class var databaseTableName: String { "plant" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "created", updated: "updated")
    }
    override class var databaseSoftDelete: SoftDelete? { "gone" }
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["tree": Shrub.self, "flower": Flower.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("seeds", seeds) { seeds = $0 }
    }
}

private final class Shrub: Plant {}
private final class Flower: Plant {}

private class Weed: Record {
    var id: Int64?

    override class var databaseTableName: String { "plant" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private final class DatedTwice: Weed {
    override class var databaseSoftDelete: SoftDelete? { "gone" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "gone") }
}

private final class CountedStamp: Weed {
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(created: "seeds") }
}

private final class KindOfDeletion: Weed {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["weed": KindOfDeletion.self]) }
    override class var databaseSoftDelete: SoftDelete? { "KIND" }
}

private final class Seed: Record {
    var id: Int64?

    override class var databaseTableName: String { "seed" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private class Herb: Record {
    var code = ""
    var name = ""

    convenience init(code: String, name: String) {
        self.init()
        (self.code, self.name) = (code, name)
    }

    override class var databaseTableName: String { "herb" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updated") }
    override class var databaseSoftDelete: SoftDelete? { "gone" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("code", code) { code = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class Spice: Herb {
    override class var databaseTableName: String { "spice" }
    override class var databasePrimaryKey: [String]? { ["code"] }
}
