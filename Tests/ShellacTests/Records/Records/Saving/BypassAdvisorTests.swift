// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Heroes that override callbacks, and some of these whose class turns the advice off.
private class Guarded: TabledHero {
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
    override func didDelete(deleted: Bool) {}
}

private class Silent: Guarded {
    override class var warnsOfBypassedCallbacks: Bool { false }
}

private final class PairGuarded: Guarded, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedGuarded: Guarded, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedGuarded: Guarded, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairSilent: Silent, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedSilent: Silent, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedSilent: Silent, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

extension RecordStyle {
    fileprivate var guarded: any HeroRecord.Type {
        choose(PairGuarded.self, ListedGuarded.self, CodedGuarded.self)
    }
    fileprivate var silent: any HeroRecord.Type {
        choose(PairSilent.self, ListedSilent.self, CodedSilent.self)
    }
}

@Suite("The bypass advisor")
struct BypassAdvisorTests {
    @Test(
        "It knows the callbacks that a class overrides, its superclasses included, and those that a save calls",
        arguments: RecordStyle.allCases
    )
    func overrides(style: RecordStyle) {
        #expect(Overrides.callbacks(style.hero, around: .update) == [])
        #expect(Overrides.callbacks(style.guarded, around: .update) == ["willUpdate"])
        #expect(Overrides.callbacks(style.silent, around: .delete) == ["didDelete"])
        #expect(Overrides.callbacks(style.guarded, around: .insert) == [])
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
    @Test(
        "SQL and bulk updates are told of once each, with the class and the callbacks that do not run",
        arguments: RecordStyle.allCases)
    func once(style: RecordStyle) async throws {
        await #expect(processExitsWith: .success) { [style = style as RecordStyle] in
            try BypassAdvisorTests.once(of: style)
        }
    }

    private static func once(of style: RecordStyle) throws { try once(style.guarded) }

    private static func once<Guarded: HeroRecord>(_: Guarded.Type) throws {
        let log = Recorder<String>()
        Database.logError = { _, message in log.record(message) }
        let queue = try DatabaseQueue.withHeroes()
        try queue.write { db in
            // No class is known that could be bypassed.
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
        let start =
            "SQL updates rows of hero without running these callbacks of \(Guarded.self): willUpdate. "
        #expect(log.elements[0].hasPrefix(start))
        #expect(log.elements[0].hasSuffix("The SQL: UPDATE hero SET name = 'y' WHERE id = 1"))
        #expect(log.elements[1].contains("\"score\" = \"score\" + ?"))
        #expect(
            log.elements[2].hasPrefix(
                "SQL deletes rows of hero without running these callbacks of \(Guarded.self): didDelete"))
    }

    @Test(
        "It is silent for classes that opt out, for other tables, and for what stamps and undo write",
        arguments: RecordStyle.allCases)
    func silence(style: RecordStyle) async throws {
        await #expect(processExitsWith: .success) { [style = style as RecordStyle] in
            try BypassAdvisorTests.silence(of: style)
        }
    }

    private static func silence(of style: RecordStyle) throws { try silence(style.guarded, style.silent) }

    private static func silence<Guarded: HeroRecord, Silent: HeroRecord>(_: Guarded.Type, _: Silent.Type)
        throws
    {
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
    #endif
}
