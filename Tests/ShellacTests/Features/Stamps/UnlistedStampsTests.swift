import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Stamps whose columns the record's type does not store itself.
@Suite("Stamps without a property", .behaviour(113), .behaviour(38))
struct UnlistedStampsTests {
    private let queue: DatabaseQueue
    private let clock = StampClock()

    init() throws {
        queue = try DatabaseQueue(configuration: clock.configuration())
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE leaf (
                        id INTEGER PRIMARY KEY, title TEXT UNIQUE, createdAt DATETIME NOT NULL, updatedAt DATETIME NOT NULL);
                    CREATE TABLE history (what TEXT);
                    CREATE TRIGGER leafHistory AFTER UPDATE ON leaf BEGIN
                        INSERT INTO history VALUES (OLD.title || ' ' || OLD.updatedAt || ' → ' || NEW.title || ' ' || NEW.updatedAt);
                    END;
                    """)
        }
        clock.advance()
    }

    private func stamps(_ db: Database) throws -> [[Date]] {
        try Row.fetchAll(db, sql: "SELECT createdAt, updatedAt FROM leaf ORDER BY id").map {
            [try $0["createdAt"], try $0["updatedAt"]]
        }
    }

    private func traced(_ db: Database, _ body: () throws -> Void) throws -> [String] {
        let statements = Recorder<String>()
        db.trace { statements.record($0.description) }
        defer { db.trace(nil) }
        try body()
        return statements.elements.filter { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") }
    }

    private func check<T: Leaf>(_ type: T.Type, isRegistered: Bool) throws {
        if isRegistered { try queue.register(T.self) }
        try queue.inDatabase { db in
            let leaf = T()
            leaf.title = "one"
            var now = [clock.now]
            let insertion = try traced(db) { try leaf.insert(db) }
            #expect(insertion.count == 1, "\(insertion)")
            try #expect(stamps(db) == [[now[0], now[0]]])
            let verbs: [() throws -> Void] = [
                { try leaf.update(db) }, { try leaf.save(db) }, { _ = try leaf.updateChanges(db) },
                { _ = try leaf.updateChanges(db) { $0.title += "!" } }, { try leaf.upsert(db) },
                { _ = try leaf.updateAndFetch(db) }, { try leaf.update(db, columns: ["title"]) },
                { try leaf.touch(db) }, { try leaf.update(db, checking: .all) },
            ]
            for (index, verb) in verbs.enumerated() {
                clock.advance()
                now.append(clock.now)
                leaf.title = "title \(index)"
                try db.execute(sql: "DELETE FROM history")
                let run = try traced(db, verb)
                #expect(run.count == 1, "\(type), \(isRegistered), \(index): \(run)")
                try #expect(
                    stamps(db) == [[now[0], now[index + 1]]], "\(type), \(isRegistered), \(index): \(run)")
                // A trigger of the program runs for one update.
                try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM history") == 1, "\(index)")
            }
        }
    }

    @Test(
        "A save writes them in its own statement, and a trigger hears one update", arguments: [false, true])
    func saves(isRegistered: Bool) throws {
        try check(Leaf.self, isRegistered: isRegistered)
    }

    @Test(
        "So does one of a class that is called around its saves, and of one that is Codable",
        arguments: [false, true])
    func others(isRegistered: Bool) throws {
        try check(CalledLeaf.self, isRegistered: isRegistered)
    }

    @Test("The SQL has the function among the columns")
    func sql() throws {
        try queue.inDatabase { db in
            let leaf = Leaf()
            leaf.title = "one"
            let run = try traced(db) {
                try leaf.insert(db)
                try leaf.updateChanges(db) { $0.title = "two" }
                try leaf.touch(db)
                try leaf.upsert(db)
            }
            #expect(
                run == [
                    #"INSERT INTO "leaf" ("id", "title", "createdAt", "updatedAt") VALUES (?, ?, stamp(), stamp())"#,
                    #"UPDATE "leaf" SET "title" = ?, "updatedAt" = stamp() WHERE "id" = ?"#,
                    #"UPDATE "leaf" SET "updatedAt" = stamp() WHERE "id" = ?"#,
                    #"INSERT INTO "leaf" ("id", "title", "createdAt", "updatedAt") VALUES (?, ?, stamp(), stamp()) ON CONFLICT DO UPDATE SET "title" = excluded."title", "updatedAt" = stamp() RETURNING "id""#,
                ], "\(run)")
        }
    }

    @Test("Codable classes and structs have them, too, and batches")
    func codables() throws {
        try queue.inDatabase { db in
            let coded = CodedLeaf()
            coded.title = "coded"
            try coded.save(db)
            let first = clock.now
            clock.advance()
            try coded.updateChanges(db) { $0.title = "coded!" }
            var value = LeafValue(title: "value")
            try value.insert(db)
            let second = clock.now
            clock.advance()
            value.title = "value!"
            try value.update(db)
            try value.updateChanges(db) { $0.title = "value?" }
            let third = clock.now
            var values = (0..<3).map { LeafValue(title: "batch \($0)") }
            try LeafValue.insertAll(db, &values)
            let leaves = (0..<3).map { number in
                let leaf = Leaf()
                leaf.title = "leaf \(number)"
                return leaf
            }
            try Leaf.insertAll(db, leaves)
            try #expect(
                stamps(db) == [[first, second], [second, third]]
                    + Array(repeating: [third, third], count: 6))
        }
    }

    @Test("What is remembered of a stamp that the record does not store is what was written")
    func remembered() throws {
        try queue.inDatabase { db in
            let leaf = Leaf()
            leaf.title = "a"
            try leaf.insert(db)
            let fetched = try Leaf.find(db, key: 1)
            for title in ["b", "c"] {
                clock.advance()
                fetched.title = title
                try fetched.update(db, checking: .columns(["title", "updatedAt"]))
            }
            clock.advance()
            try db.execute(sql: "UPDATE leaf SET updatedAt = 'somebody'")
            fetched.title = "d"
            #expect(throws: RecordError.self) {
                try fetched.update(db, checking: .columns(["title", "updatedAt"]))
            }
            // A rollback takes the date back from what is remembered.
            let other = try Leaf.find(db, key: 1)
            try db.inTransaction {
                other.title = "e"
                try other.update(db)
                return .rollback
            }
            try other.update(db, checking: .columns(["updatedAt"]))
        }
    }

    @Test("Suspended stamps are left alone, but for a touch, which asks for one")
    func suspended() throws {
        try queue.inDatabase { db in
            let leaf = Leaf()
            leaf.title = "a"
            try leaf.insert(db)
            let first = clock.now
            clock.advance()
            try db.withoutStamps {
                try leaf.updateChanges(db) { $0.title = "b" }
                try leaf.update(db)
                expectError("NOT NULL constraint failed: leaf.createdAt") { try Leaf().insert(db) }
            }
            try #expect(stamps(db) == [[first, first]])
            try db.withoutStamps { try leaf.touch(db) }
            try #expect(stamps(db) == [[first, clock.now]])
        }
    }

    @Test("Plain SQL is stamped by a second update, of which a trigger hears first")
    func plainSQL() throws {
        try queue.register(Leaf.self)
        try queue.inDatabase { db in
            let leaf = Leaf()
            leaf.title = "one"
            try leaf.insert(db)
            clock.advance()
            try db.execute(sql: "UPDATE leaf SET title = 'two'")
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM history") == 2)
            try #expect(stamps(db)[0][1] == clock.now)
        }
    }

    @Test("checkSchema asks for no property, and finds a stamp whose column is not there")
    func drift() throws {
        try queue.inDatabase { db in
            try Leaf.checkSchema(db)
            let error = #expect(throws: SchemaDriftError.self) { try AstrayLeaf.checkSchema(db) }
            // The others are NOT NULL, and are no stamps there.
            #expect(error?.faults.map(\.columns) == [["changedAt"], ["createdAt"], ["updatedAt"]])
            let leaf = AstrayLeaf()
            leaf.title = "astray"
            expectError("NOT NULL constraint failed: leaf.createdAt") { try leaf.insert(db) }
            #expect(throws: RecordError.columnNotEncoded(databaseTableName: "leaf", column: "changedAt")) {
                try leaf.touch(db)
            }
        }
    }
}

// MARK: - Records

private class Leaf: Record {
    var id: Int64?
    var title = ""
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }
    override class var databaseTableName: String { "leaf" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
    }
}

private final class CalledLeaf: Leaf {
    override func willSave(_ db: Database) throws {}
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

private final class AstrayLeaf: Leaf {
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "changedAt") }
}

private final class CodedLeaf: Record, Codable {
    var id: Int64?
    var title = ""
    override class var databaseTableName: String { "leaf" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
}

private struct LeafValue: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var title: String
    static var databaseTableName: String { "leaf" }
    static var databaseStamps: DatabaseStamps { DatabaseStamps(created: "createdAt", updated: "updatedAt") }
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}
