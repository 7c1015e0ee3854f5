import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Faults that an attack has found in default filters and soft delete.
@Suite("Soft delete, attacked", .behaviour(72))
struct SoftDeleteFaultsTests {
    private func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT UNIQUE, parent INTEGER REFERENCES node(id), deletedAt DATETIME);
                    CREATE INDEX nodeParent ON node(parent);
                    INSERT INTO node (id, name, parent) VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2);
                    CREATE VIEW living AS SELECT * FROM node;
                    CREATE TRIGGER livingUpdate INSTEAD OF UPDATE ON living
                        BEGIN UPDATE node SET deletedAt = NEW.deletedAt WHERE id = NEW.id; END;
                    """)
        }
        return queue
    }

    @Test(
        "A record that was made with the key of a deleted row leaves it deleted, by each way of saving and merging",
        .behaviour(110), arguments: ["updateChanges", "retrying", "merge and save", "save, merge and save"])
    func madeWithKey(way: String) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, deletedAt TEXT);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team(id), deletedAt TEXT);
                    CREATE INDEX playerTeam ON player(teamID);
                    INSERT INTO team VALUES (1, 'Reds', NULL); INSERT INTO player VALUES (1, 1, NULL)
                    """)
            try SyncedTeam.deleteOne(db, key: 1)
            let team = SyncedTeam()
            (team.id, team.name) = (1, "Blues")
            func row() throws -> Row { try #require(try Row.fetchOne(db, sql: "SELECT * FROM team")) }
            switch way {
            case "updateChanges": try team.updateChanges(db)
            case "retrying": try team.updateChanges(db, retrying: 1)
            case "merge and save":
                try team.merge(row())
                team.name = "Greens"
                try team.save(db)
            default:
                try team.save(db)
                try team.merge(row())
                team.name = "Greens"
                try team.save(db)
            }
            for table in ["team", "player"] {
                try #expect(
                    Bool.fetchOne(db, sql: "SELECT deletedAt IS NULL FROM \(table)") == false, "\(table)")
            }
            try #expect(String.fetchOne(db, sql: "SELECT name FROM team") != "Reds")
        }
    }

    @Test("A method that saves, and deletes on the way, still hears what was asked of the save")
    func options() throws {
        try database().inDatabase { db in
            let node = Restless()
            node.name = "a"
            try node.insert(db, onConflict: .ignore)
            node.name = "d"
            try #expect(node.insertAndFetch(db).name == "d")
            node.id = nil
            node.name = "e"
            try node.save(db)
            #expect(node.willSaveCount == 3)
        }
    }

    @Test("A method that deletes, and saves on the way, still deletes for good")
    func destruction() throws {
        try database().inDatabase { db in
            let node = try Noting.find(db, key: 3)
            try #expect(node.destroy(db))
            try #expect(Node.ignoringDefaultFilter(.deleted).fetchCount(db) == 2)
            try #expect(Noting.find(db, key: 2).delete(db))
            try #expect(Node.ignoringDefaultFilter(.deleted).fetchCount(db) == 2 && Node.fetchCount(db) == 1)
        }
    }

    @Test("A filter that leads to its own type again throws a sentence")
    func endlessFilter() throws {
        try database().inDatabase { db in
            let error = #expect(throws: DatabaseError.self) { try Endless.fetchCount(db) }
            #expect(
                error?.message?.contains("are nested more than 100 levels deep") == true,
                "\(error?.message ?? "")")
            expectError(
                "queries of Endless are nested more than 100 levels deep. If a default filter asks for "
                    + "rows of another type, and the filter of that type asks for these, leave out one of the "
                    + "two with ignoringDefaultFilter(_:)"
            ) { try Endless.fetchOne(db, key: 1) }
            try #expect(Endless.ignoringDefaultFilter(.leaf).fetchCount(db) == 3)
            try #expect(Leaf.fetchAll(db).map(\.id) == [3])
        }
    }

    @Test("A tree goes along however deep it is")
    func depth() throws {
        try database().inDatabase { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE deep(id) AS (VALUES (4) UNION ALL SELECT id + 1 FROM deep WHERE id < 2500)
                    INSERT INTO node (id, parent) SELECT id, id - 1 FROM deep
                    """)
            let root = try Node.find(db, key: 1)
            try #expect(root.delete(db))
            try #expect(Node.fetchCount(db) == 0)
            try #expect(root.restore(db))
            try #expect(Node.fetchCount(db) == 2500)
        }
    }

    @Test("What was deleted before stays so, also where both have happened in one instant")
    func instants() throws {
        struct Stopped: TransactionClock {
            func now(_ db: Database) throws -> Date { Date(timeIntervalSince1970: 1_000_000_000) }
        }
        var configuration = Configuration()
        configuration.transactionClock = Stopped()
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES node(id), deletedAt DATETIME);
                    INSERT INTO node (id, parent) VALUES (1, NULL), (2, 1), (3, 2), (4, 1);
                    """)
        }
        for _ in 1...20 {
            try queue.write { db in _ = try Node.find(db, key: 2).delete(db) }
            try queue.write { db in _ = try Node.find(db, key: 1).delete(db) }
            try queue.write { db in try #expect(Node.filter(key: 1).restoreAll(db) == 1) }
            try queue.read { db in try #expect(Node.fetchAll(db).map(\.id) == [1, 4]) }
            try queue.write { db in try #expect(Node.restoreAll(db) == 2) }
        }
        // One transaction has one date.
        try queue.write { db in
            try Node.deleteOne(db, key: 4)
            try Node.deleteOne(db, key: 1)
            try #expect(Int.fetchOne(db, sql: "SELECT count(DISTINCT deletedAt) FROM node") == 1)
        }
    }

    @Test("A clock that moves on, or is set back by more than a second, gives its own dates")
    func distinctDates() {
        let dates = DistinctDates()
        func next(_ seconds: Double) -> Double {
            (dates.next(after: Date(timeIntervalSince1970: seconds)).timeIntervalSince1970 * 1000).rounded()
        }
        #expect(
            [10, 10, 10.0004, 10.5, 10.4, 5, 5].map(next) == [
                10_000, 10_001, 10_002, 10_500, 10_501, 5_000, 5_001,
            ])
        #expect(next(1e20) == 1e23 && next(-3) == -3000 && next(-3) == -2999)
    }

    @Test("A record that is older than its row brings no deleted row back by being saved, and hides none")
    func staleRecords() throws {
        try database().inDatabase { db in
            let nodes = try Node.order(Column("id")).fetchAll(db)
            try nodes[0].delete(db)
            for save in [{ try $0.update(db) }, { try $0.save(db) }, { try $0.upsert(db) }]
                as [(Node) throws -> Void]
            {
                nodes[1].name = (nodes[1].name ?? "") + "b"
                try save(nodes[1])
                try #expect(Node.fetchCount(db) == 0)
            }
            try #expect(String.fetchOne(db, sql: "SELECT name FROM node WHERE id = 2") == "bbbb")
            // A new object of the same key, a struct, and one that has not read the column.
            let other = Node()
            (other.id, other.name) = (2, "other")
            try other.save(db)
            var plain = PlainNode(id: 2, name: "plain", deletedAt: nil)
            try plain.update(db)
            try plain.upsert(db)
            let partial = try #require(
                try Node.ignoringDefaultFilter(.deleted).select(Column("id"), Column("name")).filter(key: 2)
                    .fetchOne(db))
            try partial.save(db)
            try #expect(Node.fetchCount(db) == 0 && PlainNode.fetchCount(db) == 0)
            // A value that the program sets is written.
            try db.execute(sql: "UPDATE node SET deletedAt = NULL WHERE id = 1")
            try nodes[0].update(db)
            try #expect(Node.fetchCount(db) == 1)
            let known = try #require(try Node.ignoringDefaultFilter(.deleted).filter(key: 2).fetchOne(db))
            known.deletedAt = nil
            try known.update(db)
            try #expect(Node.fetchCount(db) == 2)
            plain.deletedAt = Date()
            try plain.update(db, columns: ["deletedAt"])
            try #expect(Node.fetchCount(db) == 1)
        }
    }

    @Test("A row by its key is read again where what its filter asks elsewhere has changed")
    func regions() async throws {
        let queue = try database()
        try await queue.read { db in
            let region = try Leaf.filter(key: 3).region(db)
            #expect("\(region)".contains("[3]") == false, "\(region)")
            try #expect("\(Node.filter(key: 3).region(db))".contains("[3]"))
        }
        var found = ValueObservation.tracking { db in try Leaf.fetchOne(db, key: 3) != nil }.values(in: queue)
            .makeAsyncIterator()
        try #expect(await found.next() == true)
        try await queue.write { db in try db.execute(sql: "INSERT INTO node (id, parent) VALUES (9, 3)") }
        try #expect(await found.next() == false)
    }

    @Test("A class that does not take the date writes nothing over it")
    func byHand() throws {
        try database().inDatabase { db in
            let node = try HandNode.find(db, key: 3)
            try #expect(node.delete(db))
            #expect(!node.hasDatabaseChanges)
            node.name = "new"
            try node.updateChanges(db)
            try #expect(
                Node.ignoringDefaultFilter(.deleted).filter(key: 3).fetchOne(db)?.name == "new"
                    && Node.fetchCount(db) == 2)
        }
    }

    @Test("Rows of a join are deleted and restored, where both tables have such a column")
    func joins() throws {
        try database().inDatabase { db in
            let parent = TableAlias("parentNode")
            func children() -> QueryInterfaceRequest<Node> {
                Node.all().join(
                    Node.all(), aliased: parent,
                    on: TableAlias("node")[Column("parent")] == parent[Column("id")])
            }
            try #expect(children().fetchCount(db) == 2)
            try #expect(children().filter(parent[Column("name")] == "a").deleteAll(db) == 1)
            try #expect(Node.fetchAll(db).map(\.id) == [1])
            try #expect(
                children().ignoringDefaultFilter(.deleted).filter(parent[Column("name")] == "a").restoreAll(
                    db) == 1)
            try #expect(Node.fetchCount(db) == 3)
            try #expect(
                children().filter(parent[Column("name")] == "b").deleteAndFetchAll(db).map(\.id) == [3])
        }
    }

    @Test("A removed record that is given back to its list comes back")
    func givingBack() throws {
        try database().inDatabase { db in
            let root = try #require(try Node.including(Node.kids).filter(key: 1).fetchOne(db))
            let kids = try root[Node.kids]
            root.set(Node.kids, to: [])
            try root.save(db, with: Node.kids, removed: .delete)
            try #expect(Node.fetchAll(db).map(\.id) == [1])
            root.set(Node.kids, to: kids)
            try root.save(db, with: Node.kids, removed: .delete)
            // And so does what went along with it.
            try #expect(Node.fetchAll(db).map(\.id) == [1, 2, 3])
            // In a list of all rows, the deleted ones stay so.
            try kids[0].delete(db)
            try root.load(Node.allKids, db)
            try root.save(db, with: Node.allKids)
            try #expect(Node.fetchAll(db).map(\.id) == [1])
        }
    }

    @Test("A row of a view is deleted once, and a row that is not there is not")
    func views() throws {
        try database().inDatabase { db in
            let living = try Living.find(db, key: 3)
            try #expect(living.delete(db))
            try #expect(!living.delete(db))
            try #expect(living.restore(db) && !living.restore(db))
            living.id = 77
            try #expect(!living.delete(db))
        }
    }

    @Test("A record whose row is gone knows of none after its deletion")
    func missing() throws {
        try database().inDatabase { db in
            let node = try Node.find(db, key: 3)
            try db.execute(sql: "DELETE FROM node WHERE id = 3")
            try #expect(!node.delete(db))
            #expect(node.hasDatabaseChanges && node.deletedAt == nil)
            try node.save(db)
            try #expect(Node.find(db, key: 3).name == "c")
        }
    }

    @Test("A row is found by its key among those of its type, by one statement that is kept")
    func finding() throws {
        try database().inDatabase { db in
            for _ in 1...3 {
                try #expect(Node.find(db, key: 2).name == "b")
                try #expect(Leaf.fetchOne(db, key: 2) == nil && Leaf.find(db, key: 3).name == "c")
            }
            try db.execute(sql: "UPDATE node SET deletedAt = '2020-01-01' WHERE id = 3")
            #expect(throws: RecordError.self) { try Node.find(db, key: 3) }
            try #expect(Leaf.ignoringDefaultFilter(.deleted).filter(key: 3).fetchOne(db)?.name == "c")
        }
    }

    @Test(
        "A record that was made with its key remembers the letters that its row has in the key",
        .behaviour(109))
    func lettersOfKey() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (name TEXT COLLATE NOCASE PRIMARY KEY, deletedAt TEXT);
                    INSERT INTO word VALUES ('swift', NULL)
                    """)
            let word = Word()
            word.name = "Swift"
            try #expect(word.delete(db))
            #expect(word.deletedAt != nil)
            try #expect(word.databaseChanges == ["name": "swift".databaseValue])
            try word.restore(db)
            try #expect(word.databaseChanges == ["name": "swift".databaseValue])
            try #expect(word.updateChanges(db))
            try #expect(String.fetchOne(db, sql: "SELECT name FROM word") == "Swift")
            #expect(!word.hasDatabaseChanges)
        }
    }
}

extension DefaultFilter.Name {
    fileprivate static let leaf: Self = "leaf"
}

private class Node: Record {
    static let kids = hasMany(Node.self, using: "parent")
    static let allKids = kids.ignoringDefaultFilter(.deleted).forKey("allKids")

    var id: Int64?
    var name: String?
    var parent: Int64?
    var deletedAt: Date?

    override class var databaseTableName: String { "node" }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Node.kids) }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("parent", parent) { parent = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

private class Restless: Node {
    var willSaveCount = 0

    override func willSave(_ db: Database) throws { willSaveCount += 1 }
    override func insert(_ db: Database) throws {
        _ = try delete(db)
        try super.insert(db)
    }
}

private class Noting: Node {
    override func delete(_ db: Database) throws -> Bool {
        name = (name ?? "") + "!"
        try update(db)
        return try super.delete(db)
    }
}

private class Endless: Node {
    static let inner = hasMany(Endless.self, using: "parent")

    override class var databaseDefaultFilter: DefaultFilter { [.leaf: Endless.inner.isEmpty] }
}

private class Leaf: Node {
    override class var databaseDefaultFilter: DefaultFilter { [.leaf: Node.kids.isEmpty] }
}

private class Living: Node {
    override class var databaseTableName: String { "living" }
    override class var databasePrimaryKey: [String]? { ["id"] }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private struct PlainNode: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String?
    var deletedAt: Date?

    static var databaseTableName: String { "node" }
    static var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private class HandNode: Record {
    var id: Int64?
    var name: String?
    let deletedAt: Date?

    override class var databaseTableName: String { "node" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

    override init() {
        deletedAt = nil
        super.init()
    }

    required init(row: Row) throws {
        deletedAt = try row["deletedAt"]
        id = try row["id"]
        name = try row["name"]
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["deletedAt"] = deletedAt
    }
}

private final class SyncedTeam: Record {
    var id: Int64?
    var name = ""
    var deletedAt: Date?
    static let players = hasMany(SyncedPlayer.self)

    override class var databaseTableName: String { "team" }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: SyncedTeam.players) }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

private final class SyncedPlayer: Record {
    var id: Int64?
    var teamID: Int64?
    var deletedAt: Date?

    override class var databaseTableName: String { "player" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("teamID", teamID) { teamID = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

private final class Word: Record {
    var name = ""
    var deletedAt: Date?

    override class var databaseTableName: String { "word" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}
