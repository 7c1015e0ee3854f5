import TestSupport
import Testing

@testable import Shellac

/// An id that is encoded as a text, and as a real number.
private protocol OddID: DatabaseValueConvertible, Equatable {}

private struct TextID: OddID {
    var text: String
    var databaseValue: DatabaseValue { text.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> TextID? {
        (Int64.fromDatabaseValue(value).map { "\($0)" } ?? String.fromDatabaseValue(value)).map(Self.init)
    }
}

private struct RealID: OddID {
    var number: Double
    var databaseValue: DatabaseValue { number.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> RealID? {
        Double.fromDatabaseValue(value).map(Self.init)
    }
}

/// A class whose id is of a type, read by `updateFromRow`.
private class Odd<ID: OddID>: Record {
    var id: ID?
    var name = "A"
    var fails = false

    override class var databaseTableName: String { "odd" }
    override func updateFromRow(_ row: Row) throws {
        id = try row["id"]
        name = try row["name"]
    }
    override func encode(to container: inout PersistenceContainer) throws {
        if fails { throw TestError(1) }
        container["id"] = id
        container["name"] = name
    }
}

/// The same, read where it was inserted.
private final class OddInserted<ID: OddID>: Record {
    var id: ID?
    override class var databaseTableName: String { "odd" }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["id"], container["name"]) = (id, "A")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        id = ID.fromDatabaseValue(inserted.rowID.databaseValue)
    }
}

@Suite("What an insertion leaves in a record")
struct RecordOutcomeTests {
    private func withOdd(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE odd (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
            try body(db)
        }
    }

    // MARK: - Row ids

    @Test("Each record has its id, whatever that is encoded as, and loses it in a rollback", .behaviour(19))
    func oddIDs() throws {
        func check<ID: OddID>(_ ids: [ID]) throws {
            try withOdd { db in
                for id in ids {
                    let record = Odd<ID>()
                    try record.insert(db)
                    #expect(record.id == id && !record.hasDatabaseChanges)
                }
                let last = Odd<ID>()
                try db.inTransaction {
                    try last.insert(db)
                    #expect(last.id != nil)
                    return .rollback
                }
                #expect(last.id == nil && last.hasDatabaseChanges)
                let many = [Odd<ID>(), Odd<ID>(), Odd<ID>()]
                try Odd<ID>.insertAll(db, many)
                #expect(many.allSatisfy { $0.id != nil && !$0.hasDatabaseChanges })
            }
            try withOdd { db in
                for id in ids {
                    let record = OddInserted<ID>()
                    try record.insert(db)
                    #expect(record.id == id && !record.hasDatabaseChanges)
                }
            }
        }
        try check((1...3).map { TextID(text: "\($0)") })
        try check((1...3).map { RealID(number: Double($0)) })
    }

    @Test(
        "A first record that cannot be encoded again, or does not take its id, takes no ids away from the others",
        .behaviour(19)
    )
    func badFirst() throws {
        final class Fickle: Odd<TextID> {
            var failsAfterwards = false
            var takes = true
            override func updateFromRow(_ row: Row) throws {
                if takes { try super.updateFromRow(row) }
                fails = failsAfterwards
            }
        }
        try withOdd { db in
            let first = Fickle()
            first.failsAfterwards = true
            try first.insert(db)
            let second = Fickle()
            second.takes = false
            try second.insert(db)
            #expect(second.id == nil && second.hasDatabaseChanges)
            for id in 3...4 {
                let record = Fickle()
                try record.insert(db)
                #expect(record.id == TextID(text: "\(id)") && !record.hasDatabaseChanges)
            }
        }
    }

    @Test(
        "A rolled-back insertion is undone by the name of the row id, in whatever order the record encodes by now",
        .behaviour(15)
    )
    func otherOrder() throws {
        final class Wild: Record {
            var values: [String: DatabaseValue] = ["id": .null, "name": "A".databaseValue, "score": .null]
            var order = ["id", "name", "score"]
            override class var databaseTableName: String { "odd" }
            override func updateFromRow(_ row: Row) throws {
                for (name, value) in row { values[name] = value }
            }
            override func encode(to container: inout PersistenceContainer) throws {
                for name in order { container[name] = values[name] }
            }
        }
        try withOdd { db in
            for score in [5, 1] {
                for order in [["name", "score", "id"], ["score", "name", "id"], ["id", "score"], ["id"]] {
                    let wild = Wild()
                    wild.values["score"] = score.databaseValue
                    try db.inTransaction {
                        try wild.insert(db)
                        #expect(wild.values["id"] == 1.databaseValue)
                        wild.order = order
                        return .rollback
                    }
                    #expect(wild.values["id"] == .null && wild.values["score"] == score.databaseValue)
                    #expect(wild.hasDatabaseChanges)
                }
            }
        }
    }

    // MARK: - Batches

    /// One that tells its children, when it was inserted.
    private class Node: Record {
        var id: Int64?
        var name = "A"
        var score: Int64?
        var children: [Node] = []
        override class var databaseTableName: String { "odd" }
        override func updateFromRow(_ row: Row) throws {
            (id, name, score) = (try row["id"], try row["name"], try row["score"])
        }
        override func encode(to container: inout PersistenceContainer) throws {
            (container["id"], container["name"], container["score"]) = (id, name, score)
        }
        override func didInsert(_ inserted: InsertionSuccess) {
            for child in children { child.score = inserted.rowID }
        }
    }

    @Test(
        "What a didInsert changes in a later record of the same statement is kept, and dirty",
        .behaviour(101),
        arguments: [nil, 100])
    func laterChanges(id: Int64?) throws {
        try withOdd { db in
            for round in 0..<2 {
                let (root, child, other) = (Node(), Node(), Node())
                root.children = [child]
                child.id = id.map { $0 * Int64(round + 1) }
                try Node.insertAll(db, [root, child, other])
                #expect(child.id != nil && root.id != nil && child.score == root.id)
                #expect(try child.databaseChanges == ["score": .null])
                #expect(!root.hasDatabaseChanges && !other.hasDatabaseChanges)
                try child.updateChanges(db)
                let stored = try Int64.fetchOne(
                    db, sql: "SELECT score FROM odd WHERE id = ?", arguments: [child.id])
                #expect(stored == root.id)
            }
        }
    }

    @Test(
        "A later record of a batch that was changed has its stamps and its id, and keeps the change",
        .behaviour(38, 101))
    func laterStamped() throws {
        final class Chained: Record {
            var id: Int64?
            var title = ""
            var createdAt: String?
            var updatedAt: String?
            var next: Chained?
            override class var databaseTableName: String { "memo" }
            override class var databaseStamps: DatabaseStamps {
                DatabaseStamps(created: "createdAt", updated: "updatedAt")
            }
            override func updateFromRow(_ row: Row) throws {
                (id, title) = (try row["id"], try row["title"])
                (createdAt, updatedAt) = (try row["createdAt"], try row["updatedAt"])
            }
            override func encode(to container: inout PersistenceContainer) throws {
                (container["id"], container["title"]) = (id, title)
                (container["createdAt"], container["updatedAt"]) = (createdAt, updatedAt)
            }
            override func didInsert(_ inserted: InsertionSuccess) {
                next?.title = "changed"
                next?.createdAt = minute(5)
            }
        }
        let memos = try MemoDatabase(registers: false)
        try memos.queue.inDatabase { db in
            let (first, second) = (Chained(), Chained())
            first.next = second
            try Chained.insertAll(db, [first, second])
            #expect(first.createdAt == minute(0) && !first.hasDatabaseChanges)
            #expect(second.id == 2 && second.title == "changed" && second.updatedAt == minute(0))
            #expect(second.createdAt == minute(5))
            #expect(
                try second.databaseChanges == [
                    "title": "".databaseValue, "createdAt": minute(0).databaseValue,
                ])
        }
    }

    // MARK: - Reloading

    @Test(
        "A record that saves itself while it is encoded to be reloaded tells the truth afterwards",
        .behaviour(22))
    func savingReload() throws {
        final class Meddler: PairHero {
            weak var db: Database?
            var saves = 0
            override func encode(to container: inout PersistenceContainer) throws {
                try super.encode(to: &container)
                guard saves > 0, let db else { return }
                saves -= 1
                if saves == 0 { try update(db) }
            }
        }
        try DatabaseQueue.withHeroes().inDatabase { db in
            for saves in 1...6 {
                let hero = Meddler("\(saves)")
                try hero.insert(db)
                try db.execute(sql: "UPDATE hero SET score = 5 WHERE id = ?", arguments: [hero.id])
                (hero.db, hero.saves) = (db, saves)
                try hero.reload(db)
                hero.saves = 0
                #expect(try hero.tellsTheTruth(on: db), "at encoding \(saves)")
            }
        }
    }
}
