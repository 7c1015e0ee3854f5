import TestSupport
import Testing

@testable import Shellac

@Suite("belongsTo")
struct BelongsToTests {
    private func sql(
        before: String, name: String = "player", _ body: @escaping (TableDefinition) throws -> Void
    ) throws -> [String] {
        var executed: [String] = []
        try inDatabase { db in
            try db.execute(sql: before)
            executed = try db.executedSQL { try db.create(table: name, body: body) }
                .filter { $0.hasPrefix("CREATE") }
        }
        return executed
    }

    @Test("a column is named after the singular and the other table's key, with its type, and indexed")
    func simple() throws {
        let team = "CREATE TABLE team (id INTEGER PRIMARY KEY);"
        #expect(
            try sql(before: team) { $0.belongsTo("team") } == [
                #"CREATE TABLE "player" ("teamId" INTEGER REFERENCES "team"("id"))"#,
                #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
            ])
        #expect(
            try sql(before: team) { $0.belongsTo("formerTeam", inTable: "team", indexed: false).notNull() }
                == [
                    #"CREATE TABLE "player" ("formerTeamId" INTEGER NOT NULL REFERENCES "team"("id"))"#
                ])
        #expect(
            try sql(before: team) { t in
                t.belongsTo("team", onDelete: .cascade, onUpdate: .setNull, deferred: true).unique()
            } == [
                #"CREATE TABLE "player" ("teamId" INTEGER UNIQUE REFERENCES "team"("id") "#
                    + "ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED)"
            ])
        #expect(
            try sql(before: "CREATE TABLE countries (code VARCHAR(2) PRIMARY KEY)") {
                $0.belongsTo("country", indexed: false)
            } == [#"CREATE TABLE "player" ("countryCode" VARCHAR(2) REFERENCES "countries"("code"))"#])
        #expect(
            try sql(before: "CREATE TABLE teams (id PRIMARY KEY)") { $0.belongsTo("teams", indexed: false) }
                == [
                    #"CREATE TABLE "player" ("teamId" REFERENCES "teams"("id"))"#
                ])
    }

    @Test("a composite key gives a column for each of its own")
    func composite() throws {
        let passport = "CREATE TABLE passport (number TEXT, country TEXT, PRIMARY KEY (country, number));"
        #expect(
            try sql(before: passport) { t in
                t.belongsTo("passport").notNull()
                t.column("x")
                t.check(sql: "x")
            } == [
                #"CREATE TABLE "player" ("passportCountry" TEXT NOT NULL, "passportNumber" TEXT NOT NULL, "x", "#
                    + #"FOREIGN KEY ("passportCountry", "passportNumber") REFERENCES "passport"("country", "number"), CHECK (x))"#,
                #"CREATE INDEX "player_on_passportCountry_passportNumber" ON "player"("passportCountry", "passportNumber")"#,
            ])
        #expect(
            try sql(before: passport) { $0.belongsTo("passport").unique() }[0].contains(
                #"UNIQUE ("passportCountry", "passportNumber"), FOREIGN KEY"#))
    }

    @Test("a table belongs to itself, and a primary key to other tables")
    func keys() throws {
        #expect(
            try sql(before: "", name: "employee") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("manager", inTable: "Employee", indexed: false)
                t.belongsTo("employee", indexed: false)
            } == [
                #"CREATE TABLE "employee" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "#
                    + #""managerId" INTEGER REFERENCES "Employee"("id"), "employeeId" INTEGER REFERENCES "employee"("id"))"#
            ])
        #expect(
            try sql(
                before:
                    "CREATE TABLE team (id INTEGER PRIMARY KEY); CREATE TABLE city (name TEXT PRIMARY KEY)"
            ) { t in
                t.primaryKey {
                    t.belongsTo("team", indexed: false)
                    t.belongsTo("city", indexed: false)
                }
                t.belongsTo("leader", inTable: "player", indexed: false)
            } == [
                #"CREATE TABLE "player" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "#
                    + #""cityName" TEXT NOT NULL REFERENCES "city"("name"), "leaderTeamId" INTEGER, "leaderCityName" TEXT, "#
                    + #"PRIMARY KEY ("teamId", "cityName"), "#
                    + #"FOREIGN KEY ("leaderTeamId", "leaderCityName") REFERENCES "player"("teamId", "cityName"))"#
            ])
        #expect(
            try sql(before: "") { t in
                t.column("a", .text)
                t.column("b", .integer)
                t.primaryKey(["B", "a"])
                t.belongsTo("leader", inTable: "player", indexed: false)
            }[0].contains(#""leaderB" INTEGER, "leaderA" TEXT"#))
    }

    @Test("a table without a key, and a table that is not there, are refused")
    func errors() throws {
        #expect(message { _ = try sql(before: "") { $0.belongsTo("team") } } == "no such table: team")
        #expect(
            message { _ = try sql(before: "") { $0.belongsTo("x", inTable: "teams") } }
                == "no such table: main.teams")
        let noKey = "team cannot belong to the table team, which has no primary key to refer to"
        #expect(message { _ = try sql(before: "CREATE TABLE team (a)") { $0.belongsTo("team") } } == noKey)
        #expect(
            message {
                _ = try sql(before: "CREATE VIEW team AS SELECT 1") { $0.belongsTo("x", inTable: "team") }
            }
                == "x cannot belong to the table team, which has no primary key to refer to")
        let circle = message {
            _ = try sql(before: "") { t in t.primaryKey { t.belongsTo("leader", inTable: "player") } }
        }
        #expect(circle == "leader belongs to a primary key that contains it")
        // A temporary table cannot be referred to by another.
        #expect(
            message {
                _ = try sql(before: "CREATE TEMP TABLE team (id INTEGER PRIMARY KEY)") {
                    $0.belongsTo("team")
                }
            }
                == "no such table: team")
    }

    @Test("a column is added to a table that is there, and indexed")
    func alteration() throws {
        try inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE countries (code VARCHAR(2) PRIMARY KEY);
                    CREATE TABLE passport (a, b, PRIMARY KEY (a, b));
                    CREATE TABLE player (id INTEGER PRIMARY KEY);
                    INSERT INTO countries VALUES ('fr');
                    INSERT INTO player VALUES (1);
                    """)
            let executed = try db.executedSQL {
                try db.alter(table: "player") { t in
                    t.belongsTo("country", onDelete: .cascade)
                    t.rename(to: "hero")
                    t.rename(column: "id", to: "number")
                    t.belongsTo(
                        "captain", inTable: "hero", onUpdate: .setNull, deferred: true, indexed: false)
                    t.belongsTo("hero")
                }
                try db.alter(table: "hero") { $0.belongsTo("origin", inTable: "countries", indexed: false) }
            }
            #expect(
                executed == [
                    "BEGIN IMMEDIATE TRANSACTION",
                    #"ALTER TABLE "player" ADD COLUMN "countryCode" VARCHAR(2) REFERENCES "countries"("code") ON DELETE CASCADE"#,
                    #"CREATE INDEX "player_on_countryCode" ON "player"("countryCode")"#,
                    #"ALTER TABLE "player" RENAME TO "hero""#,
                    #"ALTER TABLE "hero" RENAME COLUMN "id" TO "number""#,
                    #"ALTER TABLE "hero" ADD COLUMN "captainNumber" INTEGER REFERENCES "hero"("number") ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED"#,
                    #"ALTER TABLE "hero" ADD COLUMN "heroNumber" INTEGER REFERENCES "hero"("number")"#,
                    #"CREATE INDEX "hero_on_heroNumber" ON "hero"("heroNumber")"#,
                    "COMMIT TRANSACTION",
                    #"ALTER TABLE "hero" ADD COLUMN "originCode" VARCHAR(2) REFERENCES "countries"("code")"#,
                ])
            try db.execute(sql: "UPDATE hero SET countryCode = 'fr'; DELETE FROM countries")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0)
            try db.execute(sql: "INSERT INTO hero (number) VALUES (1)")

            // "ALTER TABLE" in the SQLite documentation says what a column that is added must be.
            let refused: [(String, (TableAlteration) -> Void)] = [
                (
                    "ALTER TABLE cannot add a foreign key of several columns, here passportA, passportB, "
                        + "to the table hero: use rebuild(table:)", { t in t.belongsTo("passport") }
                ),
                (
                    "Cannot add a NOT NULL column with default value NULL",
                    { t in t.belongsTo("birth", inTable: "countries").notNull() }
                ),
                ("Cannot add a UNIQUE column", { t in t.belongsTo("birth", inTable: "countries").unique() }),
                ("no such table: team", { t in t.belongsTo("team") }),
            ]
            for (sentence, change) in refused {
                #expect(message { try db.alter(table: "hero", body: change) } == sentence)
                #expect(
                    message {
                        try db.alter(table: "hero") { t in
                            t.add(column: "x")
                            change(t)
                        }
                    } == sentence)
            }
            #expect(try db.columns(in: "hero").count == 5)
            #expect(
                message { try db.alter(table: "nobody") { $0.belongsTo("hero") } } == "no such table: nobody")
        }
    }

    @Test("foreign keys have their effect")
    func effect() throws {
        try inDatabase { db in
            try db.create(table: "team") { $0.autoIncrementedPrimaryKey("id") }
            try db.create(table: "player") { t in
                t.belongsTo("team", onDelete: .cascade).notNull()
                t.belongsTo("nextTeam", inTable: "team", deferred: true)
            }
            #expect(
                message { try db.execute(sql: "INSERT INTO player VALUES (1, NULL)") }
                    == "FOREIGN KEY constraint failed")
            try db.execute(sql: "INSERT INTO team VALUES (1)")
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO player VALUES (1, 2); INSERT INTO team VALUES (2)")
                return .commit
            }
            try db.execute(sql: "DELETE FROM team WHERE id = 1")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 0)
        }
    }

    @Test("names have a singular and a plural")
    func inflections() {
        let pairs = [
            ("team", "teams"), ("country", "countries"), ("day", "days"), ("bus", "buses"), ("box", "boxes"),
            ("class", "classes"), ("address", "addresses"), ("person", "people"), ("child", "children"),
            ("status", "statuses"),
            ("analysis", "analyses"), ("match", "matches"), ("dish", "dishes"), ("house", "houses"),
            ("index", "indices"),
            ("formerCountry", "formerCountries"), ("FormerPerson", "FormerPeople"),
            ("old_child", "old_children"),
            ("movie", "movies"), ("series", "series"), ("equipment", "equipment"), ("Person", "People"),
            ("hero", "heroes"), ("x", "xes"), ("e", "es"), ("case", "cases"), ("base", "bases"),
            ("gas", "gases"),
        ]
        for (singular, plural) in pairs {
            #expect(Inflection.plural(singular) == plural)
            #expect(Inflection.plural(plural) == plural)
            #expect(Inflection.singular(singular) == singular)
            if singular != "x", singular != "e" { #expect(Inflection.singular(plural) == singular) }
        }
        for name in ["", "_", "é", "1", "😀", " "] {
            #expect(Inflection.singular(name) == name)
            _ = Inflection.plural(name)
        }
    }
}
