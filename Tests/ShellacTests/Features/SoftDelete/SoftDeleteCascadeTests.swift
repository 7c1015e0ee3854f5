import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Rows that are deleted along with others: which of them a restoration brings back.
@Suite("What a restoration brings back", .behaviour(72))
struct SoftDeleteCascadeTests {
    private static let schema = """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, deletedAt TEXT);
        CREATE TABLE pet (
            id INTEGER PRIMARY KEY, kind TEXT, ownerID INTEGER REFERENCES owner(id), deletedAt TEXT);
        CREATE INDEX petOwner ON pet(ownerID);
        INSERT INTO owner VALUES (1, NULL);
        INSERT INTO pet VALUES (1, 'cat', 1, NULL), (2, 'dog', 1, NULL), (3, 'cat', 1, NULL);
        """

    private func deleted(_ db: Database) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT id FROM pet WHERE deletedAt IS NOT NULL ORDER BY id")
    }

    @Test("A cascade to one kind brings no other kind back, which the same transaction has deleted")
    func kinds() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Self.schema)
            try db.inTransaction {
                try Dog.deleteOne(db, key: 2)
                try Owner.deleteOne(db, key: 1)
                return .commit
            }
            try #expect(deleted(db) == [1, 2, 3])
            try #expect(Owner.filter(key: 1).restoreAll(db) == 1)
            try #expect(deleted(db) == [2])
            let owner = try Owner.find(db, key: 1)
            try db.inTransaction {
                try owner.delete(db)
                return .commit
            }
            try #expect(deleted(db) == [1, 2, 3])
            try owner.restore(db)
            try #expect(deleted(db) == [2])
        }
    }

    @Test(
        "Two programs, or a clock that is set back, may give one date to two deletions: these come back together"
    )
    func sharedDates() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        let date = Date(timeIntervalSince1970: 1_772_000_000)
        configuration.transactionClock = .custom { _ in date }
        // As if they were of two programs: what one queue has had, the other one does not know.
        let one = try DatabaseQueue(path: folder.path("shared.sqlite"), configuration: configuration)
        let two = try DatabaseQueue(path: folder.path("shared.sqlite"), configuration: configuration)
        try one.write { db in
            try db.execute(sql: Self.schema)
            try Cat.deleteOne(db, key: 1)
        }
        try two.write { db in
            _ = try Owner.deleteOne(db, key: 1)
            try Owner.restoreAll(db)
            try #expect(deleted(db) == [], "the cat with the same date has come back, too")
        }
        // Within one queue or pool, no date is had twice.
        try two.write { db in _ = try Cat.deleteOne(db, key: 1) }
        try two.write { db in _ = try Owner.deleteOne(db, key: 1) }
        try two.write { db in
            try Owner.restoreAll(db)
            try #expect(deleted(db) == [1])
        }
    }
}

private final class Owner: Record {
    static let cats = hasMany(Cat.self)
    var id: Int64?
    override class var databaseTableName: String { "owner" }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Owner.cats) }
    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private class Pet: Record {
    var id: Int64?
    var ownerID: Int64?
    override class var databaseTableName: String { "pet" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": Cat.self, "dog": Dog.self]) }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("ownerID", ownerID) { ownerID = $0 }
    }
}
private final class Cat: Pet {}
private final class Dog: Pet {}
