import TestSupport
import Testing

@testable import Shellac

@Suite("Definitions in attached databases")
struct AttachedDefinitionTests {
    private func inArchive(_ body: (Database) throws -> Void) throws {
        try inDatabase { db in
            try db.execute(sql: "ATTACH ':memory:' AS \"ar\"\"chive\"")
            try body(db)
        }
    }
    private let archive = "ar\"chive"

    @Test("tables, indexes, views, triggers and virtual tables are created, altered and dropped there")
    func statements() throws {
        try inArchive { db throws in
            // A table of the same name hides this one from SQL that does not name the schema.
            try db.execute(sql: "CREATE TABLE main.player (a)")
            #expect(
                try db.executedSQL {
                    try db.create(table: "team", in: archive) { $0.autoIncrementedPrimaryKey("id") }
                    try db.create(table: "player", in: archive, options: .ifNotExists) { t in
                        t.column("name", .text).indexed()
                        t.belongsTo("team", indexed: false)
                    }
                    try db.create(index: "i", in: archive, on: "player", columns: ["name"], options: .unique)
                    try db.create(index: "j", in: archive, on: "player", expressions: ["name || \(1)"])
                    try db.create(indexOn: "player", in: archive, columns: ["teamId"])
                    try db.create(view: "v", in: archive, as: "SELECT name FROM player")
                    try db.alter(table: "player", in: archive) { t in
                        t.add(column: "score", .integer).indexed()
                        t.belongsTo("captain", inTable: "team")
                        t.rename(column: "score", to: "points")
                    }
                    try db.rename(table: "player", in: archive, to: "hero")
                    try db.drop(indexOn: "hero", in: archive, columns: ["teamId"])
                    try db.drop(index: "j", in: archive)
                    try db.drop(view: "v", in: archive)
                }.filter { !$0.contains("TRANSACTION") && !$0.contains("SAVEPOINT") } == [
                    #"CREATE TABLE "ar""chive"."team" ("id" INTEGER PRIMARY KEY AUTOINCREMENT)"#,
                    #"CREATE TABLE IF NOT EXISTS "ar""chive"."player" ("name" TEXT, "teamId" INTEGER REFERENCES "team"("id"))"#,
                    #"CREATE INDEX IF NOT EXISTS "ar""chive"."player_on_name" ON "player"("name")"#,
                    #"CREATE UNIQUE INDEX "ar""chive"."i" ON "player"("name")"#,
                    #"CREATE INDEX "ar""chive"."j" ON "player"(name || 1)"#,
                    #"CREATE INDEX "ar""chive"."index_player_on_teamId" ON "player"("teamId")"#,
                    #"CREATE VIEW "ar""chive"."v" AS SELECT name FROM player"#,
                    #"ALTER TABLE "ar""chive"."player" ADD COLUMN "score" INTEGER"#,
                    #"CREATE INDEX "ar""chive"."player_on_score" ON "player"("score")"#,
                    #"ALTER TABLE "ar""chive"."player" ADD COLUMN "captainId" INTEGER REFERENCES "team"("id")"#,
                    #"CREATE INDEX "ar""chive"."player_on_captainId" ON "player"("captainId")"#,
                    #"ALTER TABLE "ar""chive"."player" RENAME COLUMN "score" TO "points""#,
                    #"ALTER TABLE "ar""chive"."player" RENAME TO "hero""#,
                    #"DROP INDEX "ar""chive"."index_player_on_teamId""#, #"DROP INDEX "ar""chive"."j""#,
                    #"DROP VIEW "ar""chive"."v""#,
                ])
            #expect(try db.tableNames(in: archive) == ["team", "hero"])
            #expect(
                try db.columns(in: "hero", in: archive).map(\.name) == [
                    "name", "teamId", "points", "captainId",
                ])
            #expect(
                try db.indexes(on: "hero", in: archive).map(\.name) == [
                    "player_on_name", "i", "player_on_score", "player_on_captainId",
                ])
            #expect(try db.foreignKeys(on: "hero", in: archive).map(\.destinationTable) == ["team", "team"])

            try db.create(virtualTable: "text", in: archive, options: .ifNotExists, using: "fts5") { t in
                t.column("body")
            }
            try db.execute(
                sql: "CREATE TRIGGER \"ar\"\"chive\".tr AFTER INSERT ON hero BEGIN SELECT 1; END")
            #expect(try db.tableExists("text", in: archive))
            try db.drop(trigger: "tr", in: archive)
            try db.drop(table: "hero", in: archive)
            try db.drop(table: "text", in: archive)
            #expect(try db.tableNames(in: archive) == ["team"])
            #expect(try db.tableNames() == ["player"])
        }
    }

    @Test("`main` and `temp` can be said as well, and an unknown database is SQLite's error")
    func others() throws {
        try inArchive { db throws in
            try db.create(table: "t", in: "temp") { $0.column("a") }
            try db.create(table: "t", in: "main") { $0.column("b").indexed() }
            #expect(try db.columns(in: "t").map(\.name) == ["a"])
            #expect(try db.indexes(on: "t", in: "main").count == 1)
            #expect(
                message { try db.create(table: "t", in: "nowhere") { $0.column("a") } }
                    == "unknown database \"nowhere\"")
            #expect(message { try db.drop(table: "t", in: "nowhere") } == "no such table: nowhere.t")
            // See "CREATE TABLE": a temporary table is in temp, whichever schema is named.
            #expect(
                message { try db.create(table: "u", in: archive, options: .temporary) { $0.column("a") } }
                    == "temporary table name must be unqualified")
        }
    }
}
