import Shellac
import ShellacTesting
import TestSupport
import Testing

/// A template with teams and players.
private let league = DatabaseTemplate { dbQueue in
    try dbQueue.write { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, teamID INTEGER REFERENCES team (id));
                INSERT INTO team VALUES (1, 'Reds');
                INSERT INTO player (name, teamID) VALUES ('Arthur', 1), ('Barbara', 1), ('Craig', 1);
                """)
    }
}

private func moveAll(_ dbQueue: DatabaseQueue) throws {
    try dbQueue.write { db in
        try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')")
        try db.execute(sql: "UPDATE player SET teamID = 2")
    }
}

/// The same in two transactions.
private func moveStepByStep(_ dbQueue: DatabaseQueue) throws {
    try dbQueue.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
    try dbQueue.write { db in try db.execute(sql: "UPDATE player SET teamID = 2") }
}

@Suite("Work that is broken at each of its operations")
struct SurvivalTests {
    struct Wrong: Error {}

    @Test("survives in one transaction and in two", .behaviour(87), arguments: Breakage.allCases)
    func sound(_ breakage: Breakage) throws {
        #expect(try league.survives(breakage, moments: 60, work: moveAll) > 10)
        #expect(try league.survives(breakage, moments: 60, work: moveStepByStep) > 10)
    }

    @Test("survives as a migration, with all breakages", .behaviour(87))
    func migration() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("scores") { db in
            try db.alter(table: "player") { t in t.add(column: "score", .integer).notNull().defaults(to: 0) }
        }
        migrator.registerMigration("first scores") { db in try db.execute(sql: "UPDATE player SET score = id")
        }
        let ready = migrator
        #expect(try league.survives(moments: 40) { dbQueue in try ready.migrate(dbQueue) } > 40)
    }

    @Test(
        "does not survive if it keeps its errors to itself", .behaviour(87),
        arguments: [Breakage.interruption, .failingWrites])
    func swallowedErrors(_ breakage: Breakage) {
        let sentence = thrownText {
            try league.survives(breakage) { dbQueue in try? moveAll(dbQueue) }
        }
        #expect(sentence.hasPrefix("\(breakage.rawValue) after 0 "))
        #expect(
            sentence.hasSuffix(
                "the work has thrown no error, but the database does not hold all of its changes"))
    }

    @Test(
        "does not survive if a check finds what lies between two transactions", .behaviour(87),
        arguments: Breakage.allCases)
    func check(_ breakage: Breakage) {
        let sentence = thrownText {
            try league.survives(breakage, work: moveStepByStep) { db in
                let blues = try Int.fetchOne(db, sql: "SELECT count(*) FROM team WHERE id = 2")
                let movedPlayers = try Int.fetchOne(db, sql: "SELECT count(*) FROM player WHERE teamID = 2")
                if blues == 1, movedPlayers == 0 { throw Wrong() }
            }
        }
        #expect(sentence.hasPrefix(breakage.rawValue))
        #expect(sentence.hasSuffix(": the check has failed: Wrong()"))
    }

    @Test("fails with its own error if nothing else is wrong", .behaviour(87))
    func ownError() {
        #expect(throws: Wrong.self) { try league.survives { _ in throw Wrong() } }
    }

    @Test("does not survive if its second run ends elsewhere", .behaviour(87))
    func unsteady() {
        var runs = 0
        let sentence = thrownText {
            try league.survives(.interruption) { dbQueue in
                runs += 1
                try dbQueue.write { [runs] db in
                    try db.execute(sql: "INSERT INTO team VALUES (2, ?)", arguments: ["\(runs)"])
                }
            }
        }
        #expect(sentence.hasSuffix("the work ran again without an error, but its result is another one"))
    }
}
