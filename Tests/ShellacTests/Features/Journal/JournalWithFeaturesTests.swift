import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The journal of tables whose records are of several classes, or stay when they are deleted.
@Suite("The journal beside kinds and soft delete", .behaviour(129, 130, 131, 132))
struct JournalWithFeaturesTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE animal (id INTEGER PRIMARY KEY, kind TEXT, name TEXT NOT NULL, lives INTEGER, tricks INTEGER);
                    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, deletedAt TEXT);
                    CREATE TABLE squad (id INTEGER PRIMARY KEY, clubID INTEGER REFERENCES club(id), deletedAt TEXT);
                    CREATE INDEX squadClub ON squad(clubID);
                    """)
        }
        try queue.keepJournal(of: .all)
    }

    // MARK: - Kinds

    @Test("A version, the past and the rows of a conflict have the classes that they had")
    func kinds() throws {
        let tom = Cat()
        tom.name = "Tom"
        tom.lives = 9
        try queue.write { db in try tom.insert(db) }
        try queue.write { db in try tom.updateChanges(db) { $0.lives = 8 } }
        // Another program makes a dog of it.
        try queue.write { db in
            try db.execute(sql: "UPDATE animal SET kind = 'dog', lives = NULL, tricks = 3")
        }
        let versions = try queue.read { db in try Animal.databaseHistory(db, key: 1) }
        let words = try queue.read { db in
            try versions.map { try $0.record(db, of: Animal.self)?.word }
        }
        #expect(words == ["Cat Tom 9", "Cat Tom 8", "Dog Tom 3"])
        #expect(versions.map(\.changes.keys.count) == [0, 1, 3])
        // A version of another kind is no record of the class, as for rows.
        try queue.read { db in
            #expect(throws: RecordError.self) { try versions[0].record(db, of: Dog.self) }
            try #expect(versions[1].record(db, of: Cat.self)?.lives == 8)
        }
        let past = try queue.asOf(versions[1].number)
        try #expect(past.read { db in try Animal.fetchAll(db).map(\.word) } == ["Cat Tom 8"])
        try #expect(past.read { db in try Dog.fetchCount(db) } == 0)

        // Columns that the change leaves alone, such as the kind, are those of the present row.
        let entries = try queue.read { db in try db.journalEntries() }
        var met: [String] = []
        try queue.write { db in
            try entries[entries.count - 2].changeset.inverted().apply(db) { conflict in
                let (base, mine, theirs) = try conflict.records(of: Animal.self)
                met = [base, mine, theirs].map { $0?.word ?? "none" }
                return .keepMine
            }
        }
        #expect(met == ["Dog Tom 3", "Dog Tom 3", "Dog Tom 3"])

        try queue.write { db in try JournalUndo().undo(db) }
        try #expect(queue.read { db in try Animal.fetchAll(db).map(\.word) } == ["Cat Tom 8"])
        try queue.write { db in try db.restore(versions[2]) }
        try #expect(queue.read { db in try Animal.fetchAll(db).map(\.word) } == ["Dog Tom 3"])
        try queue.write { db in try db.restore(versions[0]) }
        try #expect(queue.read { db in try Cat.fetchAll(db).map(\.word) } == ["Cat Tom 9"])
    }

    // MARK: - Soft delete

    @Test("A soft deletion is an update that is undone with its cascade, and forgotten like a row")
    func softDelete() throws {
        let club = Club()
        club.name = "A"
        let squads = [Squad(), Squad()]
        try queue.write { db in
            try club.insert(db)
            for squad in squads {
                squad.clubID = club.id
                try squad.insert(db)
            }
        }
        try queue.write { db in _ = try club.delete(db) }
        func counts() throws -> [Int] {
            try queue.read { db in
                try [
                    Club.fetchCount(db), Squad.fetchCount(db),
                    Int.fetchOne(db, sql: "SELECT COUNT(deletedAt) FROM squad") ?? -1,
                ]
            }
        }
        try #expect(counts() == [0, 0, 2])
        let deletion = try #require(try queue.read { db in try db.journalEntries().last })
        #expect(deletion.changeset.map(\.operation) == [.update, .update, .update])
        let versions = try queue.read { db in try club.databaseHistory(db) }
        #expect(versions.map(\.operation) == [.insert, .update])
        #expect(versions.last?.changes.keys.sorted() == ["deletedAt"])
        #expect(versions.last?.values != nil)

        // The past has the rows, and its requests leave out those that were deleted by then.
        let (before, after) = try (queue.asOf(deletion.number - 1), queue.asOf(deletion.number))
        try #expect(before.read { db in try [Club.fetchCount(db), Squad.fetchCount(db)] } == [1, 2])
        try #expect(after.read { db in try [Club.fetchCount(db), Squad.fetchCount(db)] } == [0, 0])

        try queue.write { db in try JournalUndo().undo(db) }
        try #expect(counts() == [1, 2, 0])
        try queue.write { db in try JournalUndo().redo(db) }
        try #expect(counts() == [0, 0, 2])
        try queue.write { db in try db.restore(versions[0]) }
        try #expect(counts() == [1, 0, 2])
        try queue.write { db in try db.forget(club) }
        try #expect(queue.read { db in try club.databaseHistory(db) } == [])
        #expect(try queue.verifyJournal() == 1)
    }

    // MARK: - Records

    class Animal: Record {
        var id: Int64?
        var name = ""
        var word: String { "\(type(of: self)) \(name)" }

        override class var databaseTableName: String { "animal" }
        override class var databaseKinds: DatabaseKinds {
            .column("kind", ["cat": Cat.self, "dog": Dog.self])
        }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }
    final class Cat: Animal {
        var lives: Int?
        override var word: String { "\(super.word) \(lives ?? 0)" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("lives", lives) { lives = $0 }
        }
    }
    final class Dog: Animal {
        var tricks: Int?
        override var word: String { "\(super.word) \(tricks ?? 0)" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("tricks", tricks) { tricks = $0 }
        }
    }
    final class Club: Record {
        static let squads = hasMany(Squad.self)
        var id: Int64?
        var name = ""
        var deletedAt: Date?

        override class var databaseTableName: String { "club" }
        override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Club.squads) }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("deletedAt", deletedAt) { deletedAt = $0 }
        }
    }
    final class Squad: Record {
        var id: Int64?
        var clubID: Int64?
        var deletedAt: Date?

        override class var databaseTableName: String { "squad" }
        override class var databaseSoftDelete: SoftDelete? { .column("deletedAt") }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("clubID", clubID) { clubID = $0 }
            try column("deletedAt", deletedAt) { deletedAt = $0 }
        }
    }
}
