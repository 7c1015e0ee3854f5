import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Rows that are deleted, and stay.
@Suite("Soft delete", .behaviour(72))
struct SoftDeleteTests {
    private let queue: DatabaseQueue

    init() throws {
        var configuration = Configuration()
        configuration.transactionClock = Clock()
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, deletedAt TEXT);
                    CREATE TABLE squad (id INTEGER PRIMARY KEY, name TEXT NOT NULL, clubID INTEGER REFERENCES club(id), deletedAt TEXT);
                    CREATE TABLE member (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL, squadID INTEGER REFERENCES squad(id), removed TEXT,
                        boss INTEGER REFERENCES member(id));
                    CREATE INDEX squadClub ON squad(clubID);
                    CREATE INDEX memberSquad ON member(squadID);
                    CREATE INDEX memberBoss ON member(boss);
                    INSERT INTO club VALUES (1, 'A', NULL), (2, 'B', NULL);
                    INSERT INTO squad VALUES (1, 'A1', 1, NULL), (2, 'A2', 1, NULL), (3, 'B1', 2, NULL);
                    INSERT INTO member VALUES
                        (1, 'a', 1, NULL, NULL), (2, 'b', 1, NULL, 1), (3, 'c', 2, NULL, 2), (4, 'd', 3, NULL, NULL), (5, 'e', NULL, NULL, 3);
                    """)
        }
    }

    /// Each transaction is a second later.
    private struct Clock: TransactionClock {
        private static let count = Lock(0)

        func now(_ db: Database) throws -> Date {
            Date(
                timeIntervalSince1970: Double(
                    Self.count.withLock {
                        $0 += 1
                        return $0
                    }))
        }
    }

    private func rows(_ sql: String) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: sql) }
    }

    /// The names of the rows that are deleted.
    private func deleted() throws -> [String] {
        try rows(
            """
            SELECT name FROM club WHERE deletedAt IS NOT NULL UNION ALL SELECT name FROM squad WHERE deletedAt IS NOT NULL
            UNION ALL SELECT name FROM member WHERE removed IS NOT NULL ORDER BY 1
            """)
    }

    // MARK: - One record

    @Test("A record is stamped, is not seen any more, and comes back")
    func deleting() throws {
        try queue.inDatabase { db in
            let member = try Member.find(db, key: 4)
            try #expect(member.delete(db))
            #expect(
                member.removed != nil && !member.hasDatabaseChanges && member.heard == ["will", "did true"])
            try #expect(member.removed == Date.fetchOne(db, sql: "SELECT removed FROM member WHERE id = 4"))
            try #expect(Member.fetchOne(db, key: 4) == nil && Member.fetchCount(db) == 4)
            try #expect(Member.ignoringDefaultFilter(.deleted).fetchCount(db) == 5)
            // It is deleted already.
            let date = member.removed
            try #expect(!member.delete(db))
            #expect(member.removed == date && member.heard.last == "did false")
            // Its row is its own.
            member.name = "dd"
            try member.updateChanges(db)
            try member.reload(db)
            #expect(member.name == "dd" && member.removed == date)
            try #expect(member.restore(db))
            #expect(member.removed == nil && !member.hasDatabaseChanges)
            try #expect(!member.restore(db))
            try #expect(Member.find(db, key: 4).name == "dd")
            try #expect(member.destroy(db))
            #expect(member.heard.suffix(2) == ["will", "did true"] && member.hasDatabaseChanges)
            try #expect(Member.ignoringDefaultFilter(.deleted).fetchCount(db) == 4)
            try #expect(!member.destroy(db) && !member.delete(db))
            #expect(throws: RecordError.recordNotFound(databaseTableName: "member", key: ["id": 4])) {
                try member.restore(db)
            }
            #expect(throws: RecordError.recordNotFound(databaseTableName: "member", key: ["id": 4])) {
                try member.update(db)
            }
        }
    }

    @Test("A rollback takes the deletion away, and the property's date with it")
    func rollback() throws {
        try queue.inDatabase { db in
            let member = try Member.find(db, key: 4)
            try db.inTransaction {
                try member.delete(db)
                #expect(member.removed != nil)
                return .rollback
            }
            #expect(member.removed == nil && !member.hasDatabaseChanges)
            try member.delete(db)
            try db.inTransaction {
                try member.restore(db)
                #expect(member.removed == nil)
                return .rollback
            }
            #expect(member.removed != nil && !member.hasDatabaseChanges)
            try db.inTransaction {
                try member.destroy(db)
                return .rollback
            }
            #expect(!member.hasDatabaseChanges)
            try #expect(member.restore(db))
        }
    }

    @Test(
        "A record that does not list the column, a struct, and one that stays with its owner, are deleted so as well"
    )
    func others() async throws {
        try await queue.write { db in
            let club = try PlainClub.find(db, key: 2)
            try #expect(club.delete(db))
            try #expect(!club.delete(db) && PlainClub.fetchOne(db, key: 2) == nil)
            try #expect(club.restore(db) && club.exists(db))
            let squad = try Squad.find(db, key: 3)
            try squad.delete(db)
            #expect(!squad.hasDatabaseChanges)
            try squad.restore(db)
        }
        let member = try await queue.read { db in try Member.find(db, key: 4) }
        try #expect(await member.delete(in: queue))
        #expect(member.removed != nil && !member.hasDatabaseChanges && member.heard == ["did true"])
        try #expect(await !member.delete(in: queue))
        try #expect(await member.restore(in: queue))
        #expect(member.removed == nil && !member.hasDatabaseChanges)
        try #expect(await member.destroy(in: queue))
        #expect(member.hasDatabaseChanges)
        try await #expect(queue.read { db in try Member.ignoringDefaultFilter(.deleted).fetchCount(db) } == 4)
    }

    @Test("An overriding method deletes, and is told nothing of what was asked")
    func overriding() throws {
        try queue.inDatabase { db in
            let member = try GuardedMember.find(db, key: 5)
            try member.destroy(db)
            #expect(member.heard.first == "override")
            try #expect(Member.ignoringDefaultFilter(.deleted).filter(key: 5).isEmpty(db))
            let other = try GuardedMember.find(db, key: 4)
            _ = try other.delete(db)
            try #expect(!Member.ignoringDefaultFilter(.deleted).filter(key: 4).isEmpty(db))
        }
    }

    // MARK: - Requests

    @Test("Requests stamp their rows, and keep the dates of those that are deleted already")
    func requests() throws {
        func dates() throws -> [String] {
            try rows("SELECT id || ' ' || ifnull(removed, '-') FROM member ORDER BY id")
        }
        try queue.write { db in try #expect(LoneMember.filter(Column("id") >= 4).deleteAll(db) == 2) }
        let first = try dates()
        try queue.write { db in
            try #expect(LoneMember.filter(Column("id") >= 3).deleteAll(db) == 1)
            try #expect(LoneMember.ignoringDefaultFilter(.deleted).deleteAll(db) == 2)
            try #expect(LoneMember.deleteAll(db) == 0 && LoneMember.deleteOne(db, key: 1) == false)
        }
        try #expect(dates().suffix(2) == first.suffix(2))
        #expect(try Set(dates().map { $0.dropFirst(2) }).count == 2)
        try queue.write { db in
            try #expect(LoneMember.filter(keys: [1, 2]).restoreAll(db) == 2)
            try #expect(LoneMember.restoreAll(db) == 3)
            try #expect(LoneMember.restoreAll(db) == 0)
            try #expect(LoneMember.deleteOne(db, key: 1) && LoneMember.deleteAll(db, keys: [1, 2]) == 1)
            let gone = try LoneMember.filter(Column("id") == 3).deleteAndFetchAll(db)
            #expect(gone.map(\.id) == [3] && gone[0].removed != nil)
            try #expect(LoneMember.order(Column("id").desc).limit(1).deleteAll(db) == 1)
            try #expect(LoneMember.fetchAll(db).map(\.id) == [4])
            try #expect(LoneMember.order(Column("id")).limit(1).destroyAll(db) == 1)
            try #expect(
                LoneMember.ignoringDefaultFilter(.deleted).filter(Column("id") == 5).destroyAll(db) == 1)
            try #expect(LoneMember.destroyAll(db) == 0)
        }
        try #expect(rows("SELECT name FROM member ORDER BY 1") == ["a", "b", "c"])
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) { try Plain.restoreAll(db) }
            #expect(error?.message?.contains("Declare databaseSoftDelete") == true)
            expectError("only rows of a type that declares databaseSoftDelete can be restored") {
                try Table("member").restoreAll(db)
            }
        }
    }

    // MARK: - Cascades

    @Test("What belongs to a record goes along with one date, and comes back with it")
    func cascades() throws {
        try queue.write { db in try Member.find(db, key: 2).delete(db) }
        try queue.write { db in try Club.find(db, key: 1).delete(db) }
        // The members by their bosses, too.
        try #expect(deleted() == ["A", "A1", "A2", "a", "b", "c", "e"])
        #expect(try Set(rows("SELECT removed FROM member WHERE removed IS NOT NULL")).count == 2)
        #expect(
            try Set(
                rows(
                    "SELECT deletedAt FROM club WHERE id = 1 UNION ALL SELECT deletedAt FROM squad WHERE clubID = 1 UNION ALL SELECT removed FROM member WHERE id = 1"
                )
            ).count == 1)
        try queue.write { db in
            let club = try #require(try Club.ignoringDefaultFilter(.deleted).filter(key: 1).fetchOne(db))
            try #expect(club.restore(db))
        }
        // Rows that were deleted before stay so, with their dependent rows.
        try #expect(deleted() == ["b", "c", "e"])
        try queue.write { db in try #expect(Member.filter(key: 2).restoreAll(db) == 1) }
        try #expect(deleted() == [])
    }

    @Test("Bulk deletions and restorations cascade as well, and undone they leave nothing")
    func bulkCascades() throws {
        try queue.write { db in try #expect(Club.deleteAll(db) == 2) }
        try #expect(deleted() == ["A", "A1", "A2", "B", "B1", "a", "b", "c", "d", "e"])
        try queue.write { db in try #expect(Squad.filter(key: 3).restoreAll(db) == 1) }
        try #expect(deleted() == ["A", "A1", "A2", "B", "a", "b", "c", "e"])
        try queue.write { db in try #expect(Club.restoreAll(db) == 2) }
        try #expect(deleted() == [])
        try queue.write { db in
            let clubs = try Club.filter(key: 1).deleteAndFetchAll(db)
            #expect(clubs.map(\.name) == ["A"])
        }
        try #expect(deleted() == ["A", "A1", "A2", "a", "b", "c", "e"])
        #expect(throws: CancellationError.self) {
            try queue.write { db in
                try Club.restoreAll(db)
                throw CancellationError()
            }
        }
        try #expect(deleted() == ["A", "A1", "A2", "a", "b", "c", "e"])
    }

    @Test("Where a row that goes along cannot be stamped, nothing is")
    func failing() throws {
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TRIGGER no BEFORE UPDATE OF removed ON member WHEN NEW.id = 3 BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        }
        try queue.inDatabase { db in
            let club = try Club.find(db, key: 1)
            expectError("no") { try club.delete(db) }
            #expect(club.deletedAt == nil && !club.hasDatabaseChanges)
            expectError("no") { try Club.deleteAll(db) }
        }
        try #expect(deleted() == [])
    }

    @Test("A cascade to rows that are not deleted so, or that no foreign key leads to, is refused")
    func unsound() throws {
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) { try HardClub.find(db, key: 1).delete(db) }
            #expect(error?.message?.contains("Plain deletes its rows permanently") == true)
            #expect(throws: RelationError.self) { try UpwardSquad.deleteAll(db) }
            try #expect(Club.fetchCount(db) == 2 && Squad.fetchCount(db) == 3)
        }
    }

    @Test("A parent that is gone does not keep its child from coming back")
    func orphans() throws {
        try queue.write { db in
            let squad = try Squad.find(db, key: 3)
            try squad.delete(db)
            try Club.find(db, key: 2).delete(db)
            try #expect(squad.restore(db))
            try #expect(
                Squad.order(Column("id")).including(Squad.club).fetchAll(db).map { try $0[Squad.club]?.name }
                    == ["A", "A", nil])
        }
    }

    // MARK: - The drift check

    @Test("The drift check finds unique indexes that count deleted rows, and a column that is not there")
    func drift() throws {
        try queue.inDatabase { db in
            try Member.checkSchema(db)
            let error = #expect(throws: SchemaDriftError.self) { try Club.checkSchema(db) }
            #expect(
                error?.description
                    == "The unique index sqlite_autoindex_club_1 (name) of the table club includes deleted "
                    + "rows of Club, and so the name of a deleted row cannot be used again. Make it "
                    + "partial: WHERE deletedAt IS NULL.",
                "\(error?.description ?? "")")
            try db.execute(sql: "CREATE UNIQUE INDEX memberName ON member(name) WHERE removed IS NULL")
            try Member.checkSchema(db)
            let lost = #expect(throws: SchemaDriftError.self) { try LostMember.checkSchema(db) }
            #expect(lost?.description.contains("gone") == true)
        }
    }
}

// MARK: - Classes

private class Club: Record {
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

private class Squad: Record {
    static let club = belongsTo(Club.self)
    static let members = hasMany(Member.self)

    var id: Int64?
    var name = ""
    var clubID: Int64?

    override class var databaseTableName: String { "squad" }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Squad.members) }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("clubID", clubID) { clubID = $0 }
    }
}

private class Member: Record {
    static let servants = hasMany(Member.self, using: "boss")

    var id: Int64?
    var name = ""
    var squadID: Int64?
    var removed: Date?
    var heard: [String] = []

    override class var databaseTableName: String { "member" }
    override class var databaseSoftDelete: SoftDelete? { .column("removed", cascading: Member.servants) }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("squadID", squadID) { squadID = $0 }
        try column("removed", removed) { removed = $0 }
    }

    override func willDelete(_ db: Database) throws { heard.append("will") }
    override func didDelete(deleted: Bool) { heard.append("did \(deleted)") }
}

/// A member without cascades: its deletion takes no other row along.
private class LoneMember: Member {
    override class var databaseSoftDelete: SoftDelete? { "removed" }
}

private class GuardedMember: Member {
    override func delete(_ db: Database) throws -> Bool {
        heard.append("override")
        return try super.delete(db)
    }
}

private class LostMember: Member {
    override class var databaseSoftDelete: SoftDelete? { "gone" }
}

private class Plain: Record {
    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "squad" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class HardClub: Club {
    static let plains = hasMany(Plain.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: HardClub.plains) }
}

private class UpwardSquad: Squad {
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: UpwardSquad.club) }
}

private struct PlainClub: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String

    static var databaseTableName: String { "club" }
    static var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
