import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The trigger builder")
struct TriggerDefinitionTests {
    private let spy = SQLSpy()
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, score INTEGER);
                    CREATE VIEW glance AS SELECT id, name, score FROM hero;
                    CREATE TABLE log (id INTEGER PRIMARY KEY, text);
                    """)
        }
        spy.removeAll()
    }

    private func log(_ db: Database) throws -> [String] {
        defer { try? db.execute(sql: "DELETE FROM log") }
        return try String.fetchAll(db, sql: "SELECT text FROM log ORDER BY id")
    }

    enum Event: CaseIterable, Sendable {
        case insert, delete, update, updateOf
        var event: TriggerEvent {
            switch self {
            case .insert: .insert
            case .delete: .delete
            case .update: .update
            case .updateOf: .update(of: "score", "name")
            }
        }
    }

    @Test(
        "Each timing, event and WHEN, temporary or not: the text and the effect",
        arguments: TriggerTiming.allCases, Event.allCases)
    func combinations(timing: TriggerTiming, event: Event) throws {
        let table = timing == .insteadOf ? "glance" : "hero"
        for (hasCondition, isTemporary) in [(false, false), (true, false), (false, true), (true, true)] {
            try queue.inDatabase { db in
                try db.execute(sql: "DELETE FROM hero")
                try db.execute(sql: "INSERT INTO hero VALUES (1, 'a', 1), (2, 'b', 10)")
                spy.removeAll()
                let options: TriggerOptions = isTemporary ? .temporary : []
                try db.create(trigger: "t x", options: options, timing, event.event, on: table) { t in
                    let row = event == .delete ? t.old : t.new
                    if hasCondition {
                        t.when { old, new in "\(event == .delete ? old["score"] : new["score"]) > \(5)" }
                    }
                    t.execute(literal: "INSERT INTO log (text) VALUES (\("it's ") || \(row["name"]))")
                    t.execute(sql: "DELETE FROM log WHERE text = ?", arguments: ["nothing"])
                }
                let verb =
                    [Event.insert: "INSERT", .delete: "DELETE", .update: "UPDATE"][event]
                    ?? "UPDATE OF \"score\", \"name\""
                let row = event == .delete ? "OLD" : "NEW"
                #expect(
                    spy.removeAll().last == """
                        CREATE \(isTemporary ? "TEMPORARY " : "")TRIGGER "t x" \(timing.rawValue) \(verb) ON "\(table)" \
                        \(hasCondition ? "WHEN \(row).\"score\" > 5 " : "")BEGIN \
                        INSERT INTO log (text) VALUES ('it''s ' || \(row)."name"); \
                        DELETE FROM log WHERE text = 'nothing'; END
                        """)
                #expect(try db.triggers(on: table).first?.isTemporary == isTemporary)
                switch event {
                case .insert:
                    try db.execute(
                        sql: "INSERT INTO \(table) (id, name, score) VALUES (3, 'c', 2), (4, 'd', 9)")
                case .delete: try db.execute(sql: "DELETE FROM \(table) WHERE id > 0")
                case .update, .updateOf: try db.execute(sql: "UPDATE \(table) SET score = score + 0")
                }
                let names = event == .insert ? ["it's c", "it's d"] : ["it's a", "it's b"]
                #expect(try log(db) == (hasCondition ? [names[1]] : names))
                let isChanged = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") != 2
                #expect(isChanged == (timing != .insteadOf && event != .update && event != .updateOf))
                if event == .updateOf, timing != .insteadOf {
                    try db.execute(sql: "UPDATE \(table) SET id = id")
                    #expect(try log(db) == [])
                }
                try db.drop(trigger: "t x")
                try #expect(!db.triggerExists("t x"))
            }
        }
    }

    @Test("Several conditions must all hold, over old and new")
    func conditions() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'a', 1)")
            try db.create(trigger: "t", .after, .update, on: PairHero.self) { t in
                t.when { old, new in "\(new[Column("score")]) > \(old["score"]) OR \(-1) > \(0)" }
                t.when { _, new in "\(new["name"]) IS NOT \(nil as String?)" }
                t.execute(
                    literal: "INSERT INTO log (text) VALUES (\(t.old["score"]) || '>' || \(t.new["score"]))")
            }
            #expect(
                spy.removeAll().last == """
                    CREATE TRIGGER "t" AFTER UPDATE ON "hero" WHEN ("NEW"."score" > OLD."score" OR (-1) > 0) \
                    AND (NEW."name" IS NOT NULL) BEGIN \
                    INSERT INTO log (text) VALUES (OLD."score" || '>' || NEW."score"); END
                    """)
            try db.execute(sql: "UPDATE hero SET score = 2")
            try db.execute(sql: "UPDATE hero SET score = 1")
            try db.execute(sql: "UPDATE hero SET score = 5, name = NULL")
            #expect(try log(db) == ["1>2"])
        }
    }

    @Test("If not exists, and in the database of a name")
    func options() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH ':memory:' AS other; CREATE TABLE other.hero (id, score)")
            func create(_ options: TriggerOptions, in schemaName: String? = nil) throws {
                try db.create(trigger: "t", in: schemaName, options: options, .after, .insert, on: "hero") {
                    t in
                    t.execute(sql: "SELECT 1")
                }
            }
            try create([])
            #expect(
                databaseError { try create([]) }?.message?.contains("trigger \"t\" already exists") == true)
            try create(.ifNotExists)
            #expect(
                spy.removeAll().last?.hasPrefix(
                    "CREATE TRIGGER IF NOT EXISTS \"t\" AFTER INSERT ON \"hero\" BEGIN") == true)
            try create([], in: "other")
            #expect(
                spy.removeAll().last
                    == "CREATE TRIGGER \"other\".\"t\" AFTER INSERT ON \"hero\" BEGIN SELECT 1; END")
            #expect(try db.triggerExists("t", in: "other"))
            try db.drop(trigger: "t", in: "other")
            try create(.temporary, in: "other")
            #expect(
                spy.removeAll().last
                    == "CREATE TEMPORARY TRIGGER \"t\" AFTER INSERT ON \"other\".\"hero\" BEGIN SELECT 1; END"
            )
            #expect(try db.triggerExists("t", in: "temp"))
        }
    }

    @Test("What is wrong throws, and creates nothing")
    func errors() throws {
        struct Stop: Error {}
        try queue.inDatabase { db in
            func error(
                _ timing: TriggerTiming, _ event: TriggerEvent, on table: String,
                _ body: (TriggerDefinition) -> Void
            ) -> String {
                databaseError { try db.create(trigger: "t", timing, event, on: table, body: body) }?.message
                    ?? "none"
            }
            let one: (TriggerDefinition) -> Void = { $0.execute(sql: "SELECT 1") }
            #expect(
                error(.insteadOf, .insert, on: "hero", one).contains(
                    "cannot create INSTEAD OF trigger on table"))
            #expect(error(.after, .insert, on: "glance", one).contains("cannot create AFTER trigger on view"))
            #expect(
                error(.before, .delete, on: "glance", one).contains("cannot create BEFORE trigger on view"))
            #expect(error(.after, .insert, on: "nobody", one).contains("no such table"))
            #expect(error(.after, .update(of: "nope"), on: "hero", one).contains("no such column: hero.nope"))
            #expect(error(.after, .insert, on: "hero") { _ in }.contains("the trigger t executes nothing"))
            #expect(
                error(.after, .insert, on: "hero") { $0.execute(sql: "SELECT ?") }.contains(
                    "wrong number of arguments"))
            #expect(
                error(.after, .insert, on: "hero") { $0.execute(sql: "SELEC 1") }.contains("syntax error"))
            #expect(throws: Stop.self) {
                try db.create(trigger: "t", .after, .insert, on: "hero") { _ in throw Stop() }
            }
            #expect(databaseError { try db.drop(trigger: "t") } != nil)
            try #expect(!db.triggerExists("t"))
        }
    }
}
