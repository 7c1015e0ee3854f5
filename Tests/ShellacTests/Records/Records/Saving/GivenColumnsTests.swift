import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The columns that a record writes when it is saved. One table has each verb, for each state of a
/// record and each kind of column.
@Suite("What a save gives", .behaviour(110), .behaviour(93), .behaviour(38))
struct GivenColumnsTests {
    /// The history of a record. Another statement deletes the row 1 in all states but `fetched`.
    enum State: String, CaseIterable, CustomTestStringConvertible {
        case madeWithKey, fetched, fetchedInPart, savedOnce, updatedOnce, deletedBySomebody, flagged,
            ofAnotherKey
        var testDescription: String { rawValue }
    }

    enum Verb: String, CaseIterable, CustomTestStringConvertible {
        case update, save, upsert, upsertAndFetch, updateAndFetch, saveAndFetch, updateChanges
        case updateChangesModifying, updateChangesAndFetch, retrying, graph, saveIn, updateIn, updateChangesIn
        var testDescription: String { rawValue }

        /// Whether it writes what a closure changes alone.
        var isModifying: Bool { [.updateChangesModifying, .updateChangesAndFetch, .retrying].contains(self) }
    }

    /// The record's value in the column of its soft deletion.
    enum Deletion: String, CaseIterable, CustomTestStringConvertible {
        case untouched, dated, datedAndTakenBack
        var testDescription: String { rawValue }
    }

    private static let day = Date(timeIntervalSince1970: 86_400)

    private func database() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_772_000_000) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelf (id INTEGER PRIMARY KEY);
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY, kind TEXT, shelfID INTEGER REFERENCES shelf(id), name TEXT NOT NULL,
                        note TEXT NOT NULL DEFAULT '', createdAt TEXT, updatedAt TEXT, deletedAt TEXT);
                    INSERT INTO shelf VALUES (1);
                    """)
        }
        return queue
    }

    /// Makes the row, and a record of it.
    private func make<T: Item>(_ type: T.Type, _ state: State, _ db: Database) throws -> T {
        let kind = "\(type)"
        try db.execute(
            sql: """
                INSERT INTO item (id, kind, shelfID, name, note, createdAt, updatedAt, deletedAt)
                VALUES (1, ?, 1, 'old', 'kept', '2001-01-01 00:00:00.000', '2001-01-01 00:00:00.000', ?)
                """,
            arguments: [kind, state == .fetched || state == .flagged ? nil : "2002-02-02 00:00:00.000"])
        let rows = T.ignoringDefaultFilter(.deleted).filter(key: 1)
        func new() -> T {
            let item = T()
            (item.id, item.shelfID, item.name) = (1, 1, "made")
            return item
        }
        switch state {
        case .madeWithKey: return new()
        case .fetched: return try #require(try rows.fetchOne(db))
        case .fetchedInPart:
            return try #require(
                try rows.select(Column("id"), Column("kind"), Column("shelfID"), Column("name")).fetchOne(db))
        case .savedOnce:
            let item = new()
            try item.save(db)
            return item
        case .updatedOnce:
            let item = new()
            try item.update(db)
            return item
        case .deletedBySomebody, .flagged:
            try db.execute(sql: "UPDATE item SET deletedAt = NULL")
            let item = try #require(try rows.fetchOne(db))
            try db.execute(sql: "UPDATE item SET deletedAt = '2002-02-02 00:00:00.000'")
            if state == .flagged { item.hasDatabaseChanges = true }
            return item
        case .ofAnotherKey:
            let item = new()
            item.id = nil
            try item.insert(db)
            item.id = 1
            return item
        }
    }

    /// Saves a record whose name is changed, and maybe its deletion.
    private func run<T: Item>(
        _ verb: Verb, _ item: T, _ change: (T) -> Void, _ queue: DatabaseQueue,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        if !verb.isModifying { change(item) }
        switch verb {
        case .saveIn: return try await item.save(in: queue)
        case .updateIn: return try await item.update(in: queue)
        case .updateChangesIn: _ = try await item.updateChanges(in: queue)
        default: try queue.inDatabase { db in try run(verb, item, change, db) }
        }
    }

    private func run<T: Item>(_ verb: Verb, _ item: T, _ change: (T) -> Void, _ db: Database) throws {
        switch verb {
        case .update: try item.update(db)
        case .save: try item.save(db)
        case .upsert: try item.upsert(db)
        case .upsertAndFetch: _ = try item.upsertAndFetch(db)
        case .updateAndFetch: _ = try item.updateAndFetch(db)
        case .saveAndFetch: _ = try item.saveAndFetch(db)
        case .updateChanges: try #expect(item.updateChanges(db))
        case .updateChangesModifying: try #expect(item.updateChanges(db) { change($0) })
        case .updateChangesAndFetch:
            var item = item
            _ = try item.updateChangesAndFetch(db, as: T.self) { change($0) }
        case .retrying: try #expect(item.updateChanges(db, retrying: 1) { change($0) })
        case .graph:
            let shelf = try Shelf.find(db, key: 1)
            shelf.set(Shelf.allItems, to: [item])
            try shelf.save(db, with: Shelf.allItems)
        case .saveIn, .updateIn, .updateChangesIn: break
        }
    }

    private func check<T: Item>(
        _ type: T.Type, _ state: State, _ verb: Verb, _ deletion: Deletion
    ) async throws {
        let cell = "\(type), \(state), \(verb), \(deletion)"
        // A retried update compares with what is known: of nothing, it writes nothing.
        let knowsNothing = [.madeWithKey, .flagged, .ofAnotherKey].contains(state)
        let knowsLittle = knowsNothing || [.fetchedInPart, .savedOnce, .updatedOnce].contains(state)
        if verb == .retrying, knowsNothing || knowsLittle && deletion != .untouched { return }
        let queue = try database()
        let item = try queue.inDatabase { db in try make(type, state, db) }
        let before = try await queue.read { db in try Row.find(db, id: 1) }
        try await run(
            verb, item,
            { item in
                item.name = "new"
                if deletion != .untouched { item.deletedAt = Self.day }
            }, queue)
        if deletion == .datedAndTakenBack {
            try await run(
                verb, item,
                { item in
                    item.name = "newer"
                    item.deletedAt = nil
                }, queue)
        }
        let row = try await queue.read { db in try Row.find(db, id: 1) }
        func value(_ name: String, _ row: [String: DatabaseValue]) -> DatabaseValue? { row[name] }
        let given: DatabaseValue? =
            switch deletion {
            case .untouched: before["deletedAt"]
            case .dated: Self.day.databaseValue
            case .datedAndTakenBack: .null
            }
        #expect(row["deletedAt"] == given, "deletedAt: \(cell)")
        let name = deletion == .datedAndTakenBack ? "newer" : "new"
        #expect(row["name"] == name.databaseValue, "name: \(cell)")
        // A record that knows nothing writes the note that it has. One that has never read the note
        // does not. One whose flag was set has read all, and its date of an update is explicit.
        let givesNote = knowsNothing && state != .flagged && !verb.isModifying
        #expect(row["note"] == (givesNote ? "".databaseValue : before["note"]), "note: \(cell)")
        #expect(row["createdAt"] == before["createdAt"], "createdAt: \(cell)")
        let updated = Date(timeIntervalSince1970: 1_772_000_000).databaseValue
        let isExplicit = state == .flagged && deletion != .datedAndTakenBack
        #expect(
            row["updatedAt"] == (isExplicit ? before["updatedAt"] : updated), "updatedAt: \(cell)")
        #expect(row["kind"] == before["kind"] && row["shelfID"] == 1.databaseValue, "kind: \(cell)")
    }

    @Test("Each verb gives the same columns", arguments: State.allCases, Verb.allCases)
    func columns(of state: State, by verb: Verb) async throws {
        for deletion in Deletion.allCases {
            try await check(Item.self, state, verb, deletion)
            try await check(CalledItem.self, state, verb, deletion)
            try await check(MethodItem.self, state, verb, deletion)
        }
    }

    @Test("NULL is written where the program names the column", arguments: State.allCases)
    func naming(of state: State) throws {
        do {
            func check<T: Item>(_ type: T.Type) throws {
                try database().inDatabase { db in
                    let item = try make(type, state, db)
                    item.deletedAt = nil
                    try item.update(db, columns: ["deletedAt"])
                    try #expect(Row.find(db, id: 1)["deletedAt"] == .null, "\(type)")
                    try db.execute(sql: "UPDATE item SET deletedAt = '2002-02-02 00:00:00.000'")
                    try item.update(
                        db, columns: ["id", "shelfID", "name", "note", "createdAt", "updatedAt", "deletedAt"])
                    try #expect(Row.find(db, id: 1)["deletedAt"] == .null, "all of \(type)")
                }
            }
            try check(Item.self)
            try check(CalledItem.self)
            try check(MethodItem.self)
        }
    }

    @Test("A fresh record gives all by its insertion, and a row that comes back is the record's")
    func insertions() throws {
        try database().inDatabase { db in
            let item = Item()
            (item.id, item.name, item.deletedAt) = (7, "gone", Self.day)
            try item.save(db)
            try #expect(Row.find(db, id: 7)["deletedAt"] == Self.day.databaseValue)
            item.deletedAt = nil
            try item.save(db)
            try #expect(Row.find(db, id: 7)["deletedAt"] == .null)
        }
    }

    @Test("Where a column alone is left that is not given, there is nothing to write")
    func nothing() throws {
        try database().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE bottle (id INTEGER PRIMARY KEY, crateID INTEGER, deletedAt TEXT);
                    INSERT INTO bottle VALUES (1, 7, '2002-02-02 00:00:00.000');
                    """)
            let bottle = DatedBottle()
            (bottle.id, bottle.crateID) = (1, 8)
            try bottle.save(db)
            // The flag says that the column is unknown.
            try #expect(!bottle.updateChanges(db) && bottle.hasDatabaseChanges)
            try #expect(
                Row.fetchOne(db, sql: "SELECT crateID, deletedAt FROM bottle")?.databaseValues
                    == [8.databaseValue, "2002-02-02 00:00:00.000".databaseValue])
        }
    }

    @Test("A record that has deleted its row knows the date, whatever it knew before")
    func ownDeletions() throws {
        try database().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE bottle (id INTEGER PRIMARY KEY, crateID INTEGER, deletedAt TEXT);
                    INSERT INTO bottle VALUES (1, 7, NULL), (2, 7, NULL), (3, 7, NULL);
                    """)
            let made = DatedBottle()
            made.id = 1
            let flagged = try DatedBottle.find(db, key: 2)
            flagged.hasDatabaseChanges = true
            let moved = try DatedBottle.find(db, key: 2)
            moved.id = 3
            for bottle in [made, flagged, moved] {
                try db.inSavepoint {
                    try bottle.delete(db)
                    return .rollback
                }
                #expect(bottle.deletedAt == nil)
                try bottle.delete(db)
                #expect(bottle.deletedAt != nil)
                bottle.deletedAt = nil
                try bottle.save(db)
                try #expect(
                    Bool.fetchOne(
                        db, sql: "SELECT deletedAt IS NULL FROM bottle WHERE id = ?", arguments: [bottle.id])
                        == true)
            }
        }
    }

    @Test("The group of a deleted row stays together: its second save by key is no restoration")
    func groups() throws {
        try database().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE crate (id INTEGER PRIMARY KEY, name TEXT, deletedAt TEXT);
                    CREATE TABLE bottle (id INTEGER PRIMARY KEY, crateID INTEGER REFERENCES crate(id), deletedAt TEXT);
                    CREATE INDEX bottleCrate ON bottle(crateID);
                    INSERT INTO crate VALUES (1, 'a', NULL);
                    INSERT INTO bottle VALUES (1, 1, NULL);
                    """)
            try Crate.deleteOne(db, key: 1)
            let crate = Crate()
            (crate.id, crate.name) = (1, "b")
            try crate.save(db)
            crate.name = "c"
            try crate.save(db)
            try #expect(Crate.fetchCount(db) == 0 && Bottle.fetchCount(db) == 0)
            try #expect(crate.restore(db))
            try #expect(Crate.fetchAll(db).map(\.name) == ["c"] && Bottle.fetchCount(db) == 1)
        }
    }

    @Test("A record that knows nothing of its row comes back when it is put into a list, however it is made")
    func lists() throws {
        for state in [State.madeWithKey, .savedOnce, .fetchedInPart, .flagged, .ofAnotherKey] {
            try database().inDatabase { db in
                let item = try make(Item.self, state, db)
                let shelf = try Shelf.find(db, key: 1)
                shelf.set(Shelf.items, to: [item])
                try shelf.save(db, with: Shelf.items)
                try #expect(Row.find(db, id: 1)["deletedAt"] == .null, "\(state)")
            }
        }
        // One that knows better than its row is older than it.
        try database().inDatabase { db in
            let item = try make(Item.self, .deletedBySomebody, db)
            let shelf = try Shelf.find(db, key: 1)
            shelf.set(Shelf.items, to: [item])
            try shelf.save(db, with: Shelf.items)
            try #expect(Row.find(db, id: 1)["deletedAt"] != .null)
        }
    }
}

extension Row {
    fileprivate static func find(_ db: Database, id: Int) throws -> [String: DatabaseValue] {
        let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM item WHERE id = ?", arguments: [id]))
        return Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
    }
}

// MARK: - Records

private final class Shelf: Record {
    static let items = hasMany(Item.self)
    static let allItems = hasMany(Item.self).ignoringDefaultFilter(.deleted).forKey("allItems")
    var id: Int64?
    override class var databaseTableName: String { "shelf" }
    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private class Item: Record {
    var id: Int64?
    var shelfID: Int64?
    var name = ""
    var note = ""
    var createdAt: Date?
    var updatedAt: Date?
    var deletedAt: Date?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "item" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override class var databaseKinds: DatabaseKinds {
        .column(
            "kind", ["Item": Item.self, "CalledItem": CalledItem.self, "MethodItem": MethodItem.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("shelfID", shelfID) { shelfID = $0 }
        try column("name", name) { name = $0 }
        try column("note", note) { note = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

/// One that is called around its updates.
private final class CalledItem: Item {
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
}

/// One that overrides what saves it.
private final class MethodItem: Item {
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

private final class Crate: Record {
    static let bottles = hasMany(Bottle.self)
    var id: Int64?
    var name = ""
    var deletedAt: Date?
    override class var databaseTableName: String { "crate" }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Crate.bottles) }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

private final class Bottle: Record {
    var id: Int64?
    var crateID: Int64?
    override class var databaseTableName: String { "bottle" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("crateID", crateID) { crateID = $0 }
    }
}

private final class DatedBottle: Record {
    var id: Int64?
    var crateID: Int64?
    var deletedAt: Date?
    override class var databaseTableName: String { "bottle" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("crateID", crateID) { crateID = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}
