import Foundation
import Shellac
import TestSupport
import Testing

/// Relations that cannot be, and the sentences that say so.
@Suite("Relations that cannot be") struct RelationErrorsTests {
    class Match: Record {
        static let team = belongsTo(Club.self)
        static let home = belongsTo(Club.self, using: "homeID")
        static let misspelled = belongsTo(Club.self, using: "hoemID")
        static let stadium = belongsTo(Stadium.self)
        static let referee = belongsTo(Referee.self)
        var id: Int64?
        var homeID: Int64?
        override class var databaseTableName: String { "match" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("homeID", homeID) { homeID = $0 }
        }
    }

    class Club: Record {
        static let matches = hasMany(Match.self, using: "homeID")
        static let limited = matches.refined { $0.limit(3) }
        static let grouped = matches.refined { $0.group(Column("homeID")) }
        static let united = matches.refined { $0.union($0) }
        var id: Int64?
        override class var databaseTableName: String { "club" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    class Stadium: Record {}

    class Referee: Record { override class var databaseTableName: String { "referee" } }

    /// A class that does not list the foreign key.
    class Part: Record {
        static let home = belongsTo(Club.self, using: "homeID")
        var id: Int64?
        override class var databaseTableName: String { "match" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    /// A class that encodes its foreign key, and never reads it.
    class Deaf: Record {
        static let home = belongsTo(Club.self, using: "homeID")
        var id: Int64?
        var homeID: Int64?
        override class var databaseTableName: String { "match" }
        override func updateFromRow(_ row: Row) throws {
            if row.hasColumn("id") { id = try row["id"] }
        }
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["homeID"] = homeID
        }
    }

    struct Note: TableRecord { static let databaseTableName = "match" }

    private func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY);
                    CREATE TABLE referee (id INTEGER PRIMARY KEY);
                    CREATE TABLE match (
                        id INTEGER PRIMARY KEY, homeID INTEGER REFERENCES club, guestID INTEGER REFERENCES club);
                    INSERT INTO club VALUES (1), (2);
                    INSERT INTO match VALUES (1, 1, 2), (2, 2, 1), (3, 1, NULL);
                    """)
        }
        return queue
    }

    @Test("say which foreign keys there are, or that there is none", .behaviour(61))
    func keys() throws {
        try database().read { db in
            func sentence(_ relation: any Relation) throws -> String {
                "\(try #require(throws: (any Error).self) { try Match.all().including(relation).fetchAll(db) })"
            }
            let ambiguous = try sentence(Match.team)
            #expect(ambiguous.contains(#"using: "homeID", or using: "guestID""#))
            try #expect(sentence(Match.misspelled).contains("did you mean homeID?"))
            try #expect(sentence(Match.referee).contains("no foreign key that refers to referee"))
            try #expect(sentence(Match.stadium).contains("stadium"))
            let matches = try Match.including(Match.home).order { $0.id }.fetchAll(db)
            try #expect(matches.map { try $0[Match.home]?.id } == [1, 2, 1])
        }
    }

    @Test("say what to write in place of limits, groups and unions", .behaviour(67))
    func unsound() throws {
        try database().read { db in
            for (relation, words) in [
                (Club.limited, "limitPerParent(3)"), (Club.grouped, "grouped"),
                (Club.united, "union"),
            ] {
                let error = #expect(throws: RelationError.self) { try Club.including(relation).fetchAll(db) }
                #expect(error?.description.contains(words) == true)
            }
            let twice = #expect(throws: RelationError.self) {
                try Club.including(Club.matches, Club.matches.filter { $0.id == 1 }).fetchAll(db)
            }
            #expect(twice?.description.contains("names it twice") == true)
        }
    }

    @Test("say where to begin a request whose rows come from other requests", .behaviour(67))
    func rowsOfRequests() throws {
        try database().read { db in
            let united = Match.filter(key: 1).union(Match.filter(key: 2))
            let error = #expect(throws: RelationError.self) {
                try united.including(required: Match.home).fetchAll(db)
            }
            #expect(
                error?.description.contains(
                    "the rows of the request are not those of a table: begin with Match.all()") == true)
        }
    }

    @Test("say how to name both sides of a key with other columns than the table has", .behaviour(61))
    func otherColumnCount() throws {
        try database().read { db in
            let both = Match.belongsTo(Club.self, using: ["homeID", "guestID"])
            let error = #expect(throws: RelationError.self) { try Match.all().including(both).fetchAll(db) }
            #expect(
                error?.description.contains(
                    "the columns (homeID, guestID) of match refer to club, whose key is (id). Name both: "
                        + "using: ForeignKey([\"homeID\", \"guestID\"], to: […])") == true,
                "\(String(describing: error))")
        }
    }

    @Test("say what to write where they are joined with joins of their own, or distinct", .behaviour(67))
    func unsoundJoins() throws {
        try database().read { db in
            let distinct = Club.matches.refined { $0.distinct() }
            var error = #expect(throws: RelationError.self) {
                try Club.joining(required: distinct).fetchAll(db)
            }
            #expect(error?.description.contains("or is distinct, and joins support neither") == true)
            error = #expect(throws: RelationError.self) {
                try Club.annotated(with: distinct.count).fetchAll(db)
            }
            #expect(error?.description.contains("or is distinct, and joins support neither") == true)
            // The limit of a join that is merged into another one counts, too.
            error = #expect(throws: RelationError.self) {
                try Club.joining(required: Club.matches).joining(required: Club.limited).fetchAll(db)
            }
            #expect(error?.description.contains("limitPerParent(3)") == true)
            // The rows of a union are no table's.
            error = #expect(throws: RelationError.self) {
                try Club.all().union(Club.all()).annotated(with: Club.matches.count).fetchAll(db)
            }
            #expect(
                error?.description.contains("in a request whose rows are not those of Club") == true,
                "\(String(describing: error))")
        }
    }

    @Test("say which column a record lacks that a request for its related records needs", .behaviour(67))
    func requestWithoutColumn() throws {
        try database().read { db in
            let part = try #require(try Part.fetchOne(db))
            let error = #expect(throws: RelationError.self) { try part.request(for: Part.home).fetchOne(db) }
            #expect(
                error?.description.contains("does not encode its column homeID") == true,
                "\(String(describing: error))")
        }
    }

    @Test("say which key a record has not taken from the one that it refers to", .behaviour(61, 66))
    func keyNotTaken() throws {
        try database().inDatabase { db in
            let deaf = Deaf()
            deaf.set(Deaf.home, to: Club())
            let error = #expect(throws: RelationError.self) { try deaf.save(db, with: Deaf.home) }
            let reason = "Deaf has not taken its key: list the column homeID in columns(_:)"
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
            try #expect(Club.fetchCount(db) == 2)
            try #expect(Match.fetchCount(db) == 3)
            try #expect(db.isUsable())
        }
    }

    @Test("say which relation of a fetched record must be loaded before it is saved", .behaviour(66))
    func savingNotLoaded() throws {
        try database().write { db in
            let match = try #require(try Match.fetchOne(db))
            #expect(throws: RelationError.notLoaded(relation: "Match.club", recordType: "Match")) {
                try match.save(db, with: Match.home)
            }
            let club = try #require(try Club.fetchOne(db))
            #expect(throws: RelationError.notLoaded(relation: "Club.matches", recordType: "Club")) {
                try club.save(db, with: Club.matches)
            }
            // A new record refers to none.
            try Match().save(db, with: Match.home)
            try #expect(Match.fetchCount(db) == 4)
        }
    }

    @Test("follow a key that a migration has renamed", .behaviour(61))
    func renamed() throws {
        try database().inDatabase { db in
            let club = try #require(try Club.including(Club.matches).fetchOne(db))
            try #expect(club[Club.matches].count == 2)
            try db.execute(sql: "ALTER TABLE match RENAME COLUMN homeID TO hostID")
            #expect(throws: RelationError.self) { try Club.including(Club.matches).fetchOne(db) }
            try db.execute(sql: "ALTER TABLE match RENAME COLUMN hostID TO homeID")
            try #expect(Club.including(Club.matches).fetchOne(db) != nil)
        }
    }

    @Test("are refused where rows come one by one, and where they are no records", .behaviour(63))
    func cursors() throws {
        try database().read { db in
            let request = Club.including(Club.matches)
            let cursor = #expect(throws: DatabaseError.self) { _ = try request.fetchCursor(db) }
            #expect(cursor?.message?.contains("db.load") == true)
            #expect(throws: RelationError.self) {
                try request.select(Column("id"), as: Int.self).fetchAll(db)
            }
            try #expect(request.fetchCount(db) == 2)
            let structs = Club.hasMany(Note.self, using: "homeID")
            #expect(throws: RelationError.self) { try Club.all().including(structs).fetchAll(db) }
        }
    }

    @Test(
        "whose rows lack a column of the record throw its name, and leave the connection usable",
        .behaviour(67))
    func missingColumn() throws {
        try database().inDatabase { db in
            expectError("no such column: nonsense, in the table match") {
                try Club.including(Club.matches.filter(sql: "nonsense = 1")).fetchAll(db)
            }
            // The foreign key need not be selected.
            let club = try #require(try Club.including(Club.matches.select(Column("id"))).fetchOne(db))
            try #expect(club[Club.matches].map(\.id) == [1, 3])
            // The owner's key must be known.
            let matches = Match.select(Column("id"))
            let error = #expect(throws: RelationError.self) { try matches.including(Match.home).fetchAll(db) }
            #expect(error?.description.contains("without its column homeID") == true)
            let match = try #require(try matches.fetchOne(db))
            #expect(throws: RelationError.self) { try match.load(Match.home, db) }
            match.homeID = 2
            try match.load(Match.home, db)
            try #expect(match[Match.home]?.id == 2)
            try #expect(db.isUsable())
        }
    }

    @Test("are loaded for very many records", .behaviour(67))
    func many() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY);
                    CREATE TABLE match (id INTEGER PRIMARY KEY, homeID INTEGER REFERENCES club);
                    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
                        INSERT INTO club SELECT i FROM n;
                    INSERT INTO match SELECT id, id FROM club WHERE id % 1000 = 0;
                    """)
            let clubs = try Club.including(Club.matches).fetchAll(db)
            #expect(clubs.count == 100_000)
            try #expect(clubs.count { try !$0[Club.matches].isEmpty } == 100)
        }
    }

    @Test("A relation that is read of a record of another class is told so", .behaviour(62, 63))
    func otherClass() throws {
        let weapon = Guild.Weapon()
        let error = RelationError.wrongOwner(relation: "Team.players", recordType: "Weapon")
        #expect(throws: error) { try weapon[Guild.Team.players] }
        #expect(throws: RelationError.wrongOwner(relation: "Player.team", recordType: "Weapon")) {
            try weapon[Guild.Player.team]
        }
        // In code outside of any function, the property is the module.
        #expect(throws: RelationError.notLoaded(relation: "Team.players", recordType: "Team")) {
            try Guild.Team()[Guild.Team.players, "ShellacTests"]
        }
    }
}
