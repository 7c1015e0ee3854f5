// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport
import Testing

@testable import Shellac

private class Guarded: PairHero {
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
    override func didDelete(deleted: Bool) {}
}

private final class Silent: Guarded {
    override class var warnsOfBypassedCallbacks: Bool { false }
}

@Suite("The bypass advisor")
struct BypassAdvisorTests {
    @Test(
        "It knows the callbacks that a class overrides, its superclasses included, and those that a save calls"
    )
    func overrides() {
        #expect(Overrides.callbacks(PairHero.self, around: .update) == [])
        #expect(Overrides.callbacks(Guarded.self, around: .update) == ["willUpdate"])
        #expect(Overrides.callbacks(Silent.self, around: .delete) == ["didDelete"])
        #expect(Overrides.callbacks(Guarded.self, around: .insert) == [])
        class All: Record {
            override func willSave(_ db: Database) throws {}
            override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
                _ = try save()
            }
            override func didSave(_ saved: PersistenceSuccess) {}
            override func willInsert(_ db: Database) throws {}
            override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                _ = try insert()
            }
            override func didInsert(_ inserted: InsertionSuccess) {}
            override func willDelete(_ db: Database) throws {}
            override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
        }
        #expect(
            Overrides.callbacks(All.self, around: .insert) == [
                "willSave", "aroundSave", "didSave", "willInsert", "aroundInsert", "didInsert",
            ])
        #expect(Overrides.callbacks(All.self, around: .update) == ["willSave", "aroundSave", "didSave"])
        #expect(Overrides.callbacks(All.self, around: .delete) == ["willDelete", "aroundDelete"])
    }

    #if DEBUG
    @Test("SQL and bulk updates are told of once each, with the class and the callbacks that do not run")
    func once() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try DatabaseQueue.withHeroes()
            try queue.write { db in
                // Nobody is known who could be bypassed.
                try db.execute(sql: "UPDATE hero SET name = 'x' WHERE id = 1")
                let hero = Guarded("a")
                try hero.save(db)
                hero.name = "b"
                try hero.updateChanges(db)
                try hero.delete(db)
                try hero.insert(db)
            }
            #expect(log.elements == [])
            for _ in 1...3 {
                try queue.write { db in
                    try db.execute(sql: "UPDATE hero SET name = 'y' WHERE id = 1")
                    try Guarded.updateAll(db, Column("score") += 1)
                    try db.execute(sql: "INSERT INTO hero (name, score) VALUES ('z', 1)")
                    try db.execute(sql: "DELETE FROM hero")
                }
            }
            #expect(log.elements.count == 3, "\(log.elements)")
            let start = "SQL updates rows of hero, and these callbacks of Guarded do not run: willUpdate. "
            #expect(log.elements[0].hasPrefix(start))
            #expect(log.elements[0].hasSuffix("The SQL: UPDATE hero SET name = 'y' WHERE id = 1"))
            #expect(log.elements[1].contains("\"score\" = \"score\" + ?"))
            #expect(
                log.elements[2].hasPrefix(
                    "SQL deletes rows of hero, and these callbacks of Guarded do not run: didDelete"))
        }
    }

    @Test("It is silent for classes that opt out, for other tables, and for what stamps and undo write")
    func silence() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try DatabaseQueue.withHeroes()
            let undo = try DatabaseUndo(queue, tables: ["hero"])
            try queue.write { db in
                try Silent("a").insert(db)
                try db.execute(sql: "UPDATE hero SET name = 'y'")
                try Silent.updateAll(db, Column("score") += 1)
                try db.execute(sql: "CREATE TABLE other (a); INSERT INTO other VALUES (1); DELETE FROM other")
            }
            #expect(log.elements == [])
            try queue.write { db in try Guarded("b").insert(db) }
            #expect(try undo.undo())
            #expect(try undo.redo())
            #expect(log.elements == [])
        }
    }
    #endif
}
