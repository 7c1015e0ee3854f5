// Operators of assignments make values here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Shellac
import TestSupport
import Testing

@Suite("What is written and fetched at once")
struct BulkNamesTests {
    private struct Kept: Codable, Identifiable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        static var databaseTableName: String { "kept" }
        static var databaseSoftDelete: SoftDelete? { "deletedAt" }
    }

    @Test("Updated rows come as cursors, sets, lists and statements")
    func updates() throws {
        try withMovers { db in
            let first = Mover.filter(key: 1)
            try #expect(first.updateAndFetchCursor(db, [Column("score") += 1]).next()?.score == 11)
            try #expect(first.updateAndFetchCursor(db, Column("score") += 1).next()?.score == 12)
            try #expect(first.updateAndFetchCursor(db) { $0.score += 1 }.next()?.score == 13)
            try #expect(first.updateAndFetchSet(db, [Column("score") += 1]).map(\.score) == [14])
            try #expect(first.updateAndFetchSet(db, Column("score") += 1).map(\.score) == [15])
            try #expect(first.updateAndFetchSet(db) { [$0.score += 1] }.map(\.score) == [16])
            try #expect(first.updateAndFetchAll(db, Column("score") += 1).map(\.score) == [17])
            let statement = try Mover.all().updateAndFetchStatement(
                db, [Column("score").set(to: 5)], selection: [Column("id"), Column("score")])
            try #expect(Row.fetchAll(statement).map(\.databaseValues) == [[1, 5], [2, 5], [3, 5]])
            let names = try Mover.all().updateAndFetchStatement(db, [Column("score").set(to: 6)]) { $0.name }
            try #expect(String.fetchSet(names) == ["Arthur", "Barbara", "Craig"])
        }
    }

    @Test("All rows are written, also where the cursor is let go of")
    func cursorsWrite() throws {
        try withMovers { db in
            _ = try Mover.all().updateAndFetchCursor(db, [Column("score").set(to: 1)])
            try #expect(Int.fetchAll(db, sql: "SELECT score FROM mover") == [1, 1, 1])
            _ = try Mover.all().deleteAndFetchCursor(db)
            try #expect(Mover.fetchCount(db) == 0)
        }
    }

    @Test("Deleted rows come as cursors, sets, ids and statements")
    func deletions() throws {
        try withMovers { db in
            try #expect(Mover.filter(key: 1).deleteAndFetchSet(db).map(\.name) == ["Arthur"])
            try #expect(Mover.filter(key: 2).deleteAndFetchIds(db) == [2])
            let statement = try Mover.all().deleteAndFetchStatement(db) { [$0.id, $0.name] }
            try #expect(Row.fetchOne(statement)?.databaseValues == [3, "Craig"])
            try #expect(Mover.fetchCount(db) == 0)
        }
    }

    @Test("What cannot be one statement says so")
    func refusals() throws {
        try withMovers { db in
            try db.execute(
                sql:
                    "CREATE TABLE kept (id INTEGER PRIMARY KEY, name, deletedAt); INSERT INTO kept VALUES (1, 'a', NULL)"
            )
            let error = #expect(throws: DatabaseError.self) {
                try Kept.all().deleteAndFetchStatement(db, selection: [Column("id")])
            }
            #expect(error?.message?.contains("deleteAndFetchAll(db)") == true)
            try #expect(Kept.all().deleteAndFetchIds(db) == [1])
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM kept WHERE deletedAt IS NOT NULL") == 1)
            expectError("an update that fetches rows needs assignments and a selection") {
                try Mover.all().updateAndFetchStatement(db, [], selection: [Column("id")])
            }
            expectError("a deletion that fetches rows needs a selection") {
                try Mover.all().deleteAndFetchStatement(db, selection: [])
            }
        }
    }

    @Test("A saved record gives a selection of its row, by a statement")
    func selections() throws {
        try withMovers { db in
            var mover = Mover(id: nil, name: "Diane", score: 1)
            let id = try mover.insertAndFetch(db, selection: [Column("id")]) { try Int64.fetchOne($0) }
            #expect(id == 4)
            #expect(mover.id == 4)
            mover.score = 7
            let row = try mover.updateAndFetch(db, selection: { [$0.score, ($0.score + 1).forKey("next")] }) {
                statement in
                try Row.fetchOne(statement)
            }
            #expect(row == ["score": 7, "next": 8])
            for all in [true, false] {
                let row = try mover.updateAndFetch(
                    db,
                    selection: {
                        $0.score
                        if all { [$0.id, $0.name] }
                        if all { $0.score.forKey("first") } else { $0.score.forKey("second") }
                    }
                ) { try Row.fetchOne($0) }
                #expect(
                    row.map { Array($0.columnNames) }
                        == (all ? ["score", "id", "name", "first"] : ["score", "second"]))
            }
            mover.score = 8
            mover.name = "Nobody"
            let name = try mover.updateAndFetch(db, columns: ["score"], selection: [Column("name")]) {
                try String.fetchAll($0)
            }
            #expect(name == ["Diane"])
            let saved = try mover.saveAndFetch(db, selection: { $0.name }) { try String.fetchOne($0) }
            #expect(saved == "Nobody")
            let changed = try mover.updateChangesAndFetch(
                db, selection: [Column("score")], fetch: { try Int.fetchOne($0) }, modify: { $0.score = 9 })
            #expect(changed == 9)
            let unchanged = try mover.updateChangesAndFetch(
                db, selection: [Column("score")], fetch: { try Int.fetchOne($0) }, modify: { $0.score = 9 })
            #expect(unchanged == nil)
        }
    }

    @Test("A record that was ignored gives no row, and columns all the same")
    func ignored() throws {
        try withMovers { db in
            var mover = Mover(id: nil, name: "Arthur", score: 1)
            let (rows, names) = try mover.insertAndFetch(db, onConflict: .ignore, selection: [.allColumns]) {
                try (Row.fetchAll($0), $0.columnNames)
            }
            #expect(rows.isEmpty)
            #expect(names == ["id", "name", "score", "teamId"])
            #expect(mover.id == nil)
        }
    }

    @Test("Errors of the save, and of the function, come out; what was written stays")
    func errors() throws {
        try withMovers { db in
            var mover = Mover(id: 9, name: "Diane", score: 1)
            #expect(throws: RecordError.self) {
                try mover.updateAndFetch(db, selection: [Column("id")]) { _ in }
            }
            #expect(throws: Boom()) {
                try mover.insertAndFetch(db, selection: [Column("id")]) { _ in throw Boom() }
            }
            try #expect(Mover.exists(db, key: 9))
            expectError("a save that fetches the row needs a selection") {
                try mover.insertAndFetch(db, selection: []) { _ in }
            }
            expectError("no such column: nope") {
                try mover.saveAndFetch(db, selection: [Column("nope")]) { _ in }
            }
        }
    }

    @Test("Columns to update are told by closures, and by any collection of names")
    func columns() throws {
        try withMovers { db in
            let mover = try Mover.find(db, key: 1)
            let changed = Mover(id: mover.id, name: "Nobody", score: 99)
            try changed.update(db) { [$0.score] }
            try #expect(
                Row.fetchOne(db, sql: "SELECT name, score FROM mover WHERE id = 1") == [
                    "name": "Arthur", "score": 99,
                ])
            let names = ["name"]
            try changed.update(db, columns: names)
            try changed.update(db, columns: ["score"])
            try changed.update(db, columns: [Column("score")])
            try #expect(Mover.find(db, key: 1) == Mover(id: 1, name: "Nobody", score: 99, teamId: 1))
            expectError("only columns can be updated") { try changed.update(db) { $0.score + 1 } }
            #expect(throws: RecordError.self) {
                try Mover(id: 77, name: "", score: 0).update(db) { $0.score }
            }
            let hero = try MovedHero.find(db, key: 2)
            (hero.name, hero.score) = ("Bea", 5)
            try hero.update(db, columns: names)
            try #expect(
                Row.fetchOne(db, sql: "SELECT name, score FROM mover WHERE id = 2") == [
                    "name": "Bea", "score": 30,
                ])
            #expect(hero.hasDatabaseChanges)
            try hero.update(db) { $0.score }
            #expect(!hero.hasDatabaseChanges)
        }
    }
}
