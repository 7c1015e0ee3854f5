// An operator of columns is no assignment of Swift's.
// swift-format-ignore-file: NoAssignmentInExpressions

import Shellac
import TestSupport
import Testing

@Suite("Many rows")
struct BulkTests {
    typealias Player = League.Player

    private static let score = Column("score")

    /// An update or a deletion, its SQL, the rows that it counts, and what is left of the scores.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        let scores: [Int?]
        let run: @Sendable (Database) throws -> Int
        init(
            _ sql: String, _ count: Int, _ scores: [Int?], _ run: @escaping @Sendable (Database) throws -> Int
        ) {
            (testDescription, self.count, self.scores, self.run) = (sql, count, scores, run)
        }
    }

    static let updates: [Case] = [
        Case(#"UPDATE "player" SET "score" = "score" + ?"#, 5, [110, 260, 60, 260, nil]) {
            try Player.updateAll($0, [Column("score") += 10])
        },
        Case(#"UPDATE "player" SET "score" = "score" - ? WHERE "score" > ?"#, 2, [100, 249, 50, 249, nil]) {
            try Player.filter(score > 100).updateAll($0) { $0.score -= 1 }
        },
        Case(
            #"UPDATE "player" SET "score" = "score" * ?, "isFlagged" = NOT "isFlagged""#, 5,
            [200, 500, 100, 500, nil]
        ) {
            try Player.updateAll($0) {
                $0.score *= 2
                $0.isFlagged.toggle()
            }
        },
        Case(#"UPDATE "player" SET "score" = "score" / ?"#, 5, [50, 125, 25, 125, nil]) {
            try Player.updateAll($0) { $0.score /= 2 }
        },
        Case(#"UPDATE "player" SET "score" = ?"#, 5, [nil, nil, nil, nil, nil]) {
            try Player.updateAll($0, score.set(to: nil))
        },
        Case(#"UPDATE "player" SET "score" = "id" + ? WHERE "id" = ?"#, 1, [100, 12, 50, 250, nil]) {
            try Player.filter(key: 2).updateAll($0, [score.set(to: Column("id") + 10)])
        },
        Case(#"UPDATE "player" SET "score" = "score" & ?"#, 5, [4, 2, 2, 2, nil]) {
            try Player.updateAll($0) { $0.score &= 6 }
        },
        Case(#"UPDATE "player" SET "score" = "score" | ?"#, 5, [101, 251, 51, 251, nil]) {
            try Player.updateAll($0) { $0.score |= 1 }
        },
        Case(
            #"UPDATE "player" SET "score" = ? WHERE ("id") IN (SELECT "id" FROM "player" ORDER BY "id" DESC LIMIT ?)"#,
            2,
            [100, 250, 50, 1, 1]
        ) { try Player.order(Column("id").desc).limit(2).updateAll($0, score.set(to: 1)) },
        Case(#"UPDATE "player" SET "score" = "score" + ?"#, 5, [101, 251, 51, 251, nil]) {
            try League.Member.updateAll($0) { $0.score += 1 }
        },
        Case(#"UPDATE OR IGNORE "player" SET "name" = ? WHERE "id" < ?"#, 1, [100, 250, 50, 250, nil]) {
            try Player.filter(Column("id") < 3).updateAll(
                $0, onConflict: .ignore, Column("name").set(to: "Diane Two"))
        },
        Case("", 0, [100, 250, 50, 250, nil]) { try Player.updateAll($0, []) },
    ]

    static let deletions: [Case] = [
        Case(#"DELETE FROM "player" WHERE "score" > ?"#, 2, [100, 50, nil]) {
            try Player.filter(score > 100).deleteAll($0)
        },
        Case(#"DELETE FROM "player""#, 5, []) { try Player.all().deleteAll($0) },
        Case(#"DELETE FROM "player" WHERE 0"#, 0, [100, 250, 50, 250, nil]) {
            try Player.none().deleteAll($0)
        },
        Case(
            #"DELETE FROM "player" WHERE ("id") IN (SELECT "id" FROM "player" ORDER BY "score" DESC, "id" LIMIT ? OFFSET ?)"#,
            1, [100, 250, 50, nil]
        ) { try Player.order(score.desc, Column("id")).limit(1, offset: 1).deleteAll($0) },
        Case(#"DELETE FROM "player" WHERE "id" IN (?, ?)"#, 2, [250, 250, nil]) {
            try Table("player").filter(keys: [1, 3]).deleteAll($0)
        },
    ]

    @Test("are updated by one statement, and counted", arguments: updates)
    func update(_ test: Case) throws { try check(test) }

    @Test("are deleted by one statement, and counted", arguments: deletions)
    func delete(_ test: Case) throws { try check(test) }

    private func check(_ test: Case) throws {
        let spy = SQLSpy()
        try League.database(spy).write { db in
            spy.removeAll()
            let count = try test.run(db)
            let executed = spy.sql.filter { $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") }
            let scores = try Int?.fetchAll(db, sql: "SELECT score FROM player ORDER BY id")
            #expect(executed == (test.testDescription.isEmpty ? [] : [test.testDescription]))
            #expect(count == test.count)
            #expect(scores == test.scores)
        }
    }

    @Test("with composite keys are found by their row ids, and without these by all columns of the key")
    func compositeKeys() throws {
        var count = 0
        let sql = try League.sql {
            count = try Table("visit").order(Column("year").desc).limit(2).deleteAll($0)
        }
        #expect(
            sql.last { $0.hasPrefix("DELETE") }
                == #"DELETE FROM "visit" WHERE ("rowid") IN (SELECT "rowid" FROM "visit" ORDER BY "year" DESC LIMIT ?)"#
        )
        #expect(count == 2)
        try DatabaseQueue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE w (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO w VALUES (1, 1), (1, 2), (2, 1)"
            )
            let deleted = try Table("w").order(Column("b").desc).limit(1).deleteAndFetchAll(db)
            #expect(deleted == [["a": 1, "b": 2]])
        }
    }

    @Test("are updated and deleted, and fetched, by one statement")
    func fetching() throws {
        try League.database().write { db in
            let players = try Player.filter(Self.score > 100).updateAndFetchAll(db) { $0.score += 1 }
            #expect(players.map(\.score) == [251, 251])
            let members = try League.Member.filter(key: 1).updateAndFetchAll(db, [Self.score.set(to: 7)])
            #expect(members.map(\.score) == [7])
            #expect(members.first?.hasDatabaseChanges == false)
            let gone = try Player.order(Column("id")).limit(2).deleteAndFetchAll(db)
            #expect(gone.map(\.id) == [1, 2])
            let none = try Player.all().updateAndFetchAll(db, [])
            #expect(none.isEmpty)
            let left = try Player.fetchCount(db)
            #expect(left == 3)
        }
    }

    @Test("are updated by the policy of their record, unless another one is given")
    func policies() throws {
        struct Unique: TableRecord, MutablePersistableRecord {
            static let databaseTableName = "player"
            static let persistenceConflictPolicy = PersistenceConflictPolicy(update: .ignore)
            func encode(to container: inout PersistenceContainer) {}
        }
        let assignment = Column("name").set(to: "Craig")
        try League.database().write { db in
            let ignored = try Unique.filter(Column("id") == 1).updateAll(db, assignment)
            #expect(ignored == 0)
            let error = databaseError {
                try Unique.filter(Column("id") == 1).updateAll(db, onConflict: .abort, assignment)
            }
            #expect(error?.sql == #"UPDATE "player" SET "name" = ? WHERE "id" = ?"#)
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            let replaced = try Unique.filter(Column("id") == 1).updateAll(
                db, onConflict: .replace, assignment)
            #expect(replaced == 1)
            let names = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id")
            #expect(names == ["Craig", "Barbara", "Diane", "O'Brien"])
        }
    }

    @Test("of groups, or of other queries, are neither updated nor deleted")
    func wrongRequests() throws {
        try League.database().write { db in
            let error = databaseError { try Player.group(Self.score).deleteAll(db) }
            #expect(error?.message?.contains("a grouped request") == true)
            let unknown = databaseError { try Player.updateAll(db, Column("nope").set(to: 1)) }
            #expect(unknown?.message == "no such column: nope, in the table player")
            #expect(unknown?.sql == #"UPDATE "player" SET "nope" = ?"#)
            let keyless = databaseError { try Table("names").limit(1).deleteAll(db) }
            #expect(keyless?.message == "no such table: names")
            let count = try Player.fetchCount(db)
            #expect(count == 5)
        }
    }
}
