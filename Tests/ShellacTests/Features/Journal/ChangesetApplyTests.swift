import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Changesets that are applied to a database, and their conflicts.
@Suite("Changesets that are applied", .behaviour(129))
struct ChangesetApplyTests {
    final class Player: Record {
        var id: Int64?
        var name: String?
        var score: Int?

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }
    }

    /// Two databases with the same rows, and the changes of a function in the first one.
    private static func changes(
        _ write: (Database) throws -> Void
    ) throws -> (changeset: Changeset, source: DatabaseQueue, target: DatabaseQueue) {
        func queue() throws -> DatabaseQueue {
            let queue = try JournalCaptureTests.journaled()
            try queue.write { db in
                try db.execute(
                    sql: "INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20), (3, 'Craig', 30)")
            }
            return queue
        }
        let (source, target) = (try queue(), try queue())
        try source.write(write)
        let entry = try source.read { db in try db.journalEntries().last }
        return (try #require(entry).changeset, source, target)
    }

    private static func rows(_ queue: DatabaseQueue) throws -> [Row] {
        try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY id") }
    }

    private static let write: @Sendable (Database) throws -> Void = { db in
        try db.execute(
            sql: """
                INSERT INTO player VALUES (4, 'David', NULL); DELETE FROM player WHERE id = 2;
                UPDATE player SET score = 11 WHERE id = 1; UPDATE player SET id = 5 WHERE id = 3;
                """)
    }

    @Test("Applied changes are observed, kept by the journal, and undone by a rollback")
    func applies() throws {
        let (changeset, source, target) = try Self.changes(Self.write)
        let before = try Self.rows(target)
        let spy = ObserverSpy()
        target.add(transactionObserver: spy)
        try? target.write { db in
            try changeset.apply(db)
            throw TestError()
        }
        #expect(try Self.rows(target) == before)
        try target.write { db in try changeset.apply(db) }
        #expect(try Self.rows(target) == Self.rows(source))
        let entry = try target.read { db in try db.journalEntries().last }
        #expect(try Set(#require(entry).changeset) == Set(changeset))
        try target.write { db in try changeset.apply(db) }
        #expect(try target.read { db in try db.journalEntries().last } == entry)
        try target.write { db in try changeset.inverted().apply(db) }
        #expect(try Self.rows(target) == before)
    }

    @Test("Values that change places in a unique column are applied in an order that fits")
    func swaps() throws {
        let (changeset, source, target) = try Self.changes { db in
            try db.execute(
                sql: """
                    UPDATE player SET name = 'x' WHERE id = 1; UPDATE player SET name = 'Arthur' WHERE id = 2;
                    UPDATE player SET name = 'Barbara' WHERE id = 3; INSERT INTO player VALUES (9, 'Craig', 1);
                    """)
        }
        try target.write { db in try changeset.inverted().inverted().apply(db) }
        #expect(try Self.rows(target) == Self.rows(source))
        try target.write { db in try changeset.inverted().apply(db) }
        #expect(try target.names() == ["Arthur", "Barbara", "Craig"])
    }

    @Test("A conflict has three rows, as records, and a resolution")
    func conflicts() throws {
        let (changeset, _, target) = try Self.changes(Self.write)
        try target.write { db in
            try db.execute(
                sql: """
                    UPDATE player SET score = 15 WHERE id = 1; UPDATE player SET name = 'B' WHERE id = 2;
                    INSERT INTO player VALUES (4, 'Else', 4); DELETE FROM player WHERE id = 3;
                    """)
        }
        let before = try Self.rows(target)
        let error = #expect(throws: ChangesetError.self) {
            try target.write { db in try changeset.apply(db) }
        }
        guard case .conflict(table: "player", _, _) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(try Self.rows(target) == before)

        var reasons: [Int64: ChangesetConflict.Reason] = [:]
        try target.write { db in
            try changeset.apply(db) { conflict in
                guard case .int64(let id) = conflict.change.key[0].storage else { return .fail }
                reasons[id] = conflict.reason
                let (base, mine, theirs) = try conflict.records(of: Player.self)
                switch id {
                case 1:
                    #expect(base?.score == 10 && mine?.score == 15 && theirs?.score == 11)
                    #expect(base?.name == "Arthur" && theirs?.name == "Arthur")
                    let sum =
                        try #require(mine?.score) + (try #require(theirs?.score))
                        - (try #require(base?.score))
                    return .write(["SCORE": sum.databaseValue])
                case 2:
                    #expect(base?.name == "Barbara" && mine?.name == "B" && theirs == nil)
                    return .takeTheirs
                default:
                    #expect(id == 4 && base == nil && mine?.name == "Else" && theirs?.name == "David")
                    return .keepMine
                }
            }
        }
        #expect(reasons == [1: .changed, 2: .changed, 4: .exists])
        #expect(
            try Self.rows(target) == [
                ["id": 1, "name": "Arthur", "score": 16], ["id": 4, "name": "Else", "score": 4],
                ["id": 5, "name": "Craig", "score": 30],
            ])
        try target.write { db in
            try db.execute(sql: "DELETE FROM player WHERE id IN (1, 5); UPDATE player SET name = 'Craig'")
            try changeset.apply(db) { conflict in
                switch conflict.reason {
                case .missing: .write(["name": "new".databaseValue])
                case .exists: .takeTheirs
                case .constraint: .keepMine
                case .changed: .fail
                }
            }
        }
        #expect(
            try Self.rows(target) == [
                ["id": 1, "name": "new", "score": nil], ["id": 4, "name": "David", "score": nil],
                ["id": 5, "name": "Craig", "score": 30],
            ])
    }

    @Test("A constraint is a conflict after all other changes, and its error can be thrown")
    func constraints() throws {
        let (changeset, _, target) = try Self.changes { db in
            try db.execute(sql: "INSERT INTO player VALUES (4, 'David', 1), (5, 'Eve', 2)")
        }
        try target.write { db in try db.execute(sql: "UPDATE player SET name = 'David' WHERE id = 1") }
        let before = try Self.rows(target)
        #expect(throws: ChangesetError.conflict(table: "player", key: [4.databaseValue], reason: .constraint))
        {
            try target.write { db in try changeset.apply(db) }
        }
        let error = #expect(throws: DatabaseError.self) {
            try target.write { db in try changeset.apply(db) { _ in .takeTheirs } }
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        #expect(throws: TestError.self) {
            try target.write { db in try changeset.apply(db) { _ in throw TestError() } }
        }
        #expect(throws: DatabaseError.self) {
            try target.write { db in try changeset.apply(db) { _ in .write(["nothing": 1.databaseValue]) } }
        }
        #expect(try Self.rows(target) == before)
        try target.write { db in
            try changeset.apply(db) { conflict in
                #expect(conflict.error?.resultCode == .SQLITE_CONSTRAINT && conflict.mine == nil)
                return .keepMine
            }
        }
        #expect(try Self.rows(target).count == 4)
    }

    @Test(
        "Tables that are missing or have other columns are refused by name, and later columns have their defaults"
    )
    func schemas() throws {
        let (changeset, _, target) = try Self.changes(Self.write)
        func apply(_ schema: String) throws -> DatabaseQueue {
            let queue = try DatabaseQueue()
            try queue.inDatabase { db in try db.execute(sql: schema) }
            try queue.write { db in try changeset.apply(db) { _ in .keepMine } }
            return queue
        }
        #expect(throws: ChangesetError.noTable("player")) { try apply("CREATE TABLE other (id)") }
        #expect(throws: ChangesetError.noTable("player")) { try apply("CREATE VIEW player AS SELECT 1") }
        #expect(throws: ChangesetError.missingColumns(table: "player", count: 1)) {
            try apply("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        }
        #expect(throws: ChangesetError.differentColumns(table: "player")) {
            try apply("CREATE TABLE player (id INTEGER, name TEXT PRIMARY KEY, score)")
        }
        try target.write { db in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN more TEXT DEFAULT 'more'")
            try changeset.apply(db)
        }
        #expect(
            try String.fetchAll(target, sql: "SELECT more FROM player ORDER BY id") == [
                "more", "more", "more",
            ])
        for error in [
            ChangesetError.noTable("t"), .missingColumns(table: "t", count: 2), .tooLarge,
            .conflict(table: "t", key: [1.databaseValue], reason: .missing),
        ] { #expect("\(error)".contains("changeset")) }
    }

    @Test("Rows that foreign keys and triggers change along with others are no conflicts")
    func cascades() throws {
        let schema = """
            CREATE TABLE team (id INTEGER PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamID INTEGER REFERENCES team ON DELETE CASCADE);
            CREATE TRIGGER t AFTER INSERT ON team BEGIN INSERT INTO player (name, teamID) VALUES ('captain', NEW.id); END;
            """
        let (source, target) = (
            try JournalCaptureTests.journaled(schema), try JournalCaptureTests.journaled(schema)
        )
        try source.write { db in try db.execute(sql: "INSERT INTO team VALUES (1), (2)") }
        try source.write { db in try db.execute(sql: "DELETE FROM team WHERE id = 1") }
        for entry in try source.read({ db in try db.journalEntries() }) {
            try target.write { db in try entry.changeset.apply(db) }
        }
        #expect(try Self.rows(target) == Self.rows(source))
        // Foreign keys are checked at the end: children may come before their parents.
        let last = try #require(try source.read { db in try db.journalEntries().last })
        try target.write { db in
            try db.execute(sql: "DROP TRIGGER t")
            try last.changeset.inverted().apply(db)
        }
        #expect(try Int.fetchAll(target, sql: "SELECT id FROM team") == [1, 2])
        #expect(try Self.rows(target).count == 2)
    }

    @Test("A text that is no UTF-8 stays what it is")
    func bytes() throws {
        let (changeset, source, target) = try Self.changes { db in
            try db.execute(sql: "INSERT INTO player VALUES (4, CAST(x'61ff62' AS TEXT), 1)")
        }
        try target.write { db in try changeset.apply(db) }
        let sql = "SELECT hex(name) || typeof(name) FROM player WHERE id = 4"
        #expect(try String.fetchOne(target, sql: sql) == "61FF62text")
        #expect(try String.fetchOne(source, sql: sql) == "61FF62text")
        try target.write { db in try changeset.apply(db) { _ in .keepMine } }
    }
}

extension DatabaseValueConvertible {
    fileprivate static func fetchOne(_ queue: DatabaseQueue, sql: String) throws -> Self? {
        try queue.read { db in try fetchOne(db, sql: sql) }
    }

    fileprivate static func fetchAll(_ queue: DatabaseQueue, sql: String) throws -> [Self] {
        try queue.read { db in try fetchAll(db, sql: sql) }
    }
}
