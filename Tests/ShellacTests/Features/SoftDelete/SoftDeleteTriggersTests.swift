import Shellac
import TestSupport
import Testing

/// Triggers of the program's that write the date of a deletion.
@Suite("Soft delete, and triggers that write its date", .behaviour(72))
struct SoftDeleteTriggersTests {
    class Club: Record {
        static let members = hasMany(Member.self)

        var id: Int64?
        var deletedAt: String?

        override class var databaseTableName: String { "club" }
        override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Club.members) }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("deletedAt", deletedAt) { deletedAt = $0 }
        }
    }

    class Member: Record {
        var id: Int64?
        var clubID: Int64?

        override class var databaseTableName: String { "member" }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("clubID", clubID) { clubID = $0 }
        }
    }

    /// - Parameter triggers: The values that triggers of tables write into the column, if it was
    ///   NULL.
    private func database(_ triggers: [(table: String, value: String)]) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY, deletedAt TEXT);
                    CREATE TABLE member (id INTEGER PRIMARY KEY, clubID INTEGER REFERENCES club, deletedAt TEXT);
                    INSERT INTO club VALUES (1, NULL), (2, NULL);
                    INSERT INTO member VALUES (1, 1, NULL), (2, 1, NULL), (3, 1, '1999-01-01'), (4, 2, NULL);
                    """)
            for (table, value) in triggers {
                try db.execute(
                    sql: """
                        CREATE TRIGGER date_\(table) AFTER UPDATE OF deletedAt ON \(table)
                        WHEN OLD.deletedAt IS NULL AND NEW.deletedAt IS NOT NULL
                        BEGIN UPDATE \(table) SET deletedAt = \(value) WHERE id = NEW.id; END
                        """)
            }
        }
        return queue
    }

    private static func dates(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT ifnull(deletedAt, '-') FROM
                    (SELECT 1 AS place, id, deletedAt FROM club UNION ALL SELECT 2, id, deletedAt FROM member)
                ORDER BY place, id
                """)
    }

    @Test(
        "The date that a trigger writes is taken by the record, and by all that goes along, and brings them back",
        arguments: [["club"], ["club", "member"]])
    func followed(tables: [String]) throws {
        try database(tables.map { ($0, "substr(NEW.deletedAt, 1, 4) || '!'") }).write { db in
            let club = try Club.find(db, key: 1)
            try #expect(club.delete(db))
            let date = try #require(club.deletedAt)
            #expect(date.hasSuffix("!") && date.count == 5 && !club.hasDatabaseChanges)
            let after = try Self.dates(db)
            // A trigger that writes what it is given in another form does so once.
            #expect(after == [date, "-", date, date, "1999-01-01", "-"])
            try #expect(club.restore(db))
            #expect(club.deletedAt == nil)
            try #expect(Self.dates(db) == ["-", "-", "-", "-", "1999-01-01", "-"])
            // Without anything that goes along, too.
            let member = try Member.find(db, key: 4)
            try #expect(member.delete(db))
            try #expect(member.restore(db))
        }
    }

    @Test(
        "Rows that a trigger gives another date than those that they go along with are not deleted: it throws"
    )
    func refused() throws {
        let queue = try database([("member", "'other'")])
        let error = databaseError { try queue.write { _ = try Club.find($0, key: 1).delete($0) } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(
            error?.message?.hasPrefix("rows of Member were deleted together with others, but a trigger")
                == true)
        #expect(error?.message?.contains("write the date of the rows that these are deleted with") == true)
        try queue.write { db in
            try #expect(Self.dates(db) == ["-", "-", "-", "-", "1999-01-01", "-"])
            // By themselves, they have the date that they have.
            try #expect(Member.filter(key: 1).deleteAll(db) == 1)
            try #expect(Self.dates(db) == ["-", "-", "other", "-", "1999-01-01", "-"])
            try #expect(Member.filter(key: 1).restoreAll(db) == 1)
        }
    }

    @Test("Many rows whose dates nobody knows are not deleted together with others: it throws, and says how")
    func bulk() throws {
        let queue = try database([("club", "'other'")])
        for delete in [
            { _ = try Club.deleteAll($0) }, { _ = try Club.all().deleteAndFetchAll($0) },
        ] as [@Sendable (Database) throws -> Void] {
            let error = databaseError { try queue.write { try delete($0) } }
            #expect(error?.message?.contains("Delete the records one by one") == true)
        }
        try queue.write { db in
            try #expect(Self.dates(db) == ["-", "-", "-", "-", "1999-01-01", "-"])
            for club in try Club.fetchAll(db) { try club.delete(db) }
            try #expect(Self.dates(db) == ["other", "other", "other", "other", "1999-01-01", "other"])
            try Club.restoreAll(db)
            try #expect(Self.dates(db) == ["-", "-", "-", "-", "1999-01-01", "-"])
        }
    }

    @Test("A trigger that does something else, and one that brings the row back, are what they are")
    func others() throws {
        try database([("club", "NULL")]).write { db in
            let club = try Club.find(db, key: 1)
            try #expect(!club.delete(db))
            #expect(club.deletedAt == nil)
            try #expect(Self.dates(db) == ["-", "-", "-", "-", "1999-01-01", "-"])
            try db.execute(
                sql: """
                    DROP TRIGGER date_club; CREATE TABLE log (id INTEGER);
                    CREATE TRIGGER logged AFTER UPDATE ON member BEGIN INSERT INTO log VALUES (NEW.id); END;
                    """)
            try #expect(Club.deleteAll(db) == 2)
            try #expect(Int.fetchAll(db, sql: "SELECT id FROM log ORDER BY id") == [1, 2, 4])
            try #expect(Club.restoreAll(db) == 2)
            try #expect(Member.fetchCount(db) == 3)
        }
    }
}
