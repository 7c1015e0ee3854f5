// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The trigger builder, in requests")
struct TriggerRequestsTests {
    private let spy = SQLSpy()
    private let queue: DatabaseQueue

    private struct Team: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var score: Int
        static let databaseTableName = "team"
    }

    init() throws {
        queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, team INTEGER);
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER DEFAULT 0);
                    CREATE TABLE log (id INTEGER PRIMARY KEY, value);
                    CREATE VIEW glance AS SELECT * FROM hero;
                    INSERT INTO team VALUES (1, 'a', 0), (2, 'b', 0);
                    """)
        }
        spy.removeAll()
    }

    @Test("Updates, deletions and insertions are written as requests write them")
    func text() throws {
        try queue.inDatabase { db in
            try db.create(trigger: "t", .after, .update(of: "score"), on: PairHero.self) { t in
                try t.when { old, new in new[Column("score")] > old[Column("score")] * 2 }
                try t.when { old, new in new[Column("name")] != nil || old[Column("id")] == -1 }
                let team = Team.filter(Column("id") == t.new[Column("team")])
                try t.updateAll(team, Column("score") += t.new[Column("score")])
                try t.updateAll(Team.self, onConflict: .ignore, Column("name").set(to: "it's"))
                try t.deleteAll(Team.filter(Column("score") < -5).limit(1))
                try t.deleteAll(PairHero.self)
                try t.insert(into: "log", Column("value").set(to: t.old[Column("name")]))
                try t.insert(into: Team.self, onConflict: .replace, Column("name").set(to: nil))
                try t.select(t.new[Column("id")] + 1, SQL("random()"))
            }
        }
        #expect(
            spy.removeAll().last == """
                CREATE TRIGGER "t" AFTER UPDATE OF "score" ON "hero" \
                WHEN ("NEW"."score" > "OLD"."score" * 2) AND ("NEW"."name" IS NOT NULL OR "OLD"."id" = (-1)) BEGIN \
                UPDATE "team" SET "score" = "score" + "NEW"."score" WHERE "id" = "NEW"."team"; \
                UPDATE OR IGNORE "team" SET "name" = 'it''s'; \
                DELETE FROM "team" WHERE ("id") IN (SELECT "id" FROM "team" WHERE "score" < (-5) LIMIT 1); \
                DELETE FROM "hero"; \
                INSERT INTO "log" ("value") VALUES ("OLD"."name"); \
                INSERT OR REPLACE INTO "team" ("name") VALUES (NULL); \
                SELECT "NEW"."id" + 1, random(); END
                """)
    }

    enum Event: CaseIterable, Sendable {
        case insert, delete, update
        var event: TriggerEvent {
            switch self {
            case .insert: .insert
            case .delete: .delete
            case .update: .update
            }
        }
    }

    @Test(
        "Each timing, event and WHEN, with each kind of statement, by its effect",
        arguments: TriggerTiming.allCases, Event.allCases)
    func effects(timing: TriggerTiming, event: Event) throws {
        let table = timing == .insteadOf ? "glance" : "hero"
        for hasCondition in [false, true] {
            try queue.inTransaction { db in
                try db.execute(sql: "INSERT INTO hero VALUES (1, 'x', 1, 1), (2, 'y', 10, 2)")
                try db.execute(sql: "INSERT INTO log VALUES (100, 'x'), (101, 'y'), (102, 'other')")
                try db.create(trigger: "t", timing, event.event, on: table) { t in
                    let row = event == .delete ? t.old : t.new
                    if hasCondition {
                        try t.when { old, new in (event == .insert ? new : old)[Column("score")] > 5 }
                    }
                    let team = Team.filter(Column("id") == row[Column("team")])
                    try t.updateAll(team, Column("score") += row[Column("score")])
                    try t.insert(into: "log", Column("value").set(to: row[Column("score")] * 100))
                    try t.deleteAll(Table("log").filter(Column("value") == row[Column("name")]))
                }
                switch event {
                case .insert:
                    try db.execute(sql: "INSERT INTO \(table) VALUES (3, 'x', 1, 1), (4, 'y', 10, 2)")
                case .delete: try db.execute(sql: "DELETE FROM \(table) WHERE id > 0")
                case .update: try db.execute(sql: "UPDATE \(table) SET score = score + 0")
                }
                let scores = try Int.fetchAll(db, sql: "SELECT score FROM team ORDER BY id")
                #expect(scores == [hasCondition ? 0 : 1, 10])
                let log = try String.fetchAll(db, sql: "SELECT CAST(value AS TEXT) FROM log ORDER BY id")
                #expect(log == (hasCondition ? ["x", "other", "1000"] : ["other", "100", "1000"]))
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero")
                let changed = [Event.insert: 4, .delete: 0, .update: 2][event]
                #expect(count == (timing == .insteadOf ? 2 : changed))
                return .rollback
            }
        }
    }

    @Test("Every value is a literal that stores what it is")
    func literals() throws {
        let values: [DatabaseValue] = [
            .null, 0.databaseValue, Int64.min.databaseValue, Int64.max.databaseValue, (-1).databaseValue,
            1.0.databaseValue, (-0.1).databaseValue, 1e300.databaseValue,
            Double.leastNonzeroMagnitude.databaseValue,
            Double.pi.databaseValue, Double.infinity.databaseValue, (-Double.infinity).databaseValue,
            Double.greatestFiniteMagnitude.databaseValue, 9_007_199_254_740_993.databaseValue,
            "".databaseValue, "it's; END -- \" ? :x".databaseValue, "a\0b".databaseValue, "\0".databaseValue,
            "é\u{301}'\u{301}".databaseValue, Data().databaseValue, Data([0, 39, 255]).databaseValue,
            Double.nan.databaseValue,
        ]
        try queue.inDatabase { db in
            for value in values {
                try db.create(trigger: "t", .after, .insert, on: "hero") { t in
                    try t.when { _, new in new[Column("id")] == 1 && new[Column("name")] != value }
                    try t.insert(into: "log", Column("id").set(to: 1), Column("value").set(to: value))
                }
                try db.execute(sql: "INSERT INTO hero (id, name) VALUES (1, 'another one')")
                let stored = try DatabaseValue.fetchOne(db, sql: "SELECT value FROM log")
                #expect((stored ?? .null) == value, "\(value)")
                let isSame = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT typeof(value) = typeof(:v) AND quote(value) = quote(:v) AND hex(value) = hex(:v) FROM log
                        """, arguments: ["v": value])
                #expect(isSame == true, "\(value)")
                try db.execute(sql: "DROP TRIGGER t; DELETE FROM hero; DELETE FROM log")
            }
        }
    }

    @Test("What no trigger can do is thrown, and creates nothing")
    func errors() throws {
        try queue.inDatabase { db in
            let groups = Team.all().group(Column("name"))
            let refusals: [(reason: String, body: (TriggerDefinition) throws -> Void)] = [
                ("updates no column: give it an assignment", { try $0.updateAll(Team.self) }),
                ("updates no column: give it an assignment", { try $0.updateAll(Team.all()) }),
                ("a grouped request", { try $0.updateAll(groups, Column("name").set(to: "a")) }),
                ("without values: give it an assignment", { try $0.insert(into: "log") }),
                ("a grouped request", { try $0.deleteAll(groups) }),
                ("executes nothing", { t in try t.when { _, new in new[Column("id")] > 1 } }),
            ]
            for (index, (reason, body)) in refusals.enumerated() {
                let error = databaseError {
                    try db.create(trigger: "t", .after, .insert, on: "hero", body: body)
                }
                #expect(error?.message?.contains(reason) == true, "\(index): \(error as Any)")
            }
            let count = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'")
            #expect(count == 0)
        }
    }
}
