//: # Breaking
//: A migration that is killed at each of its writes, and one that does not survive it.

import Shellac
import ShellacTesting

//: The database that users have, and the migration of the next release.

let released = DatabaseTemplate { dbQueue in
    try dbQueue.write { db in
        try db.execute(
            sql: """
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                INSERT INTO player (name) VALUES ('Arthur King'), ('Barbara Smith');
                """)
    }
}

func split(_ db: Database) throws {
    try db.alter(table: "player") { t in t.add(column: "surname", .text) }
}
func fill(_ db: Database) throws {
    try db.execute(
        sql: """
            UPDATE player SET surname = substr(name, instr(name, ' ') + 1),
            name = substr(name, 1, instr(name, ' ') - 1)
            """)
}

//: Each run migrates a copy, and the program ends after one more of its writes to the file. The
//: next program finds the old database or the new one. The migration then runs to its end.

func state(_ db: Database) throws -> String {
    guard try db.columns(in: "player").contains(where: { $0.name == "surname" }) else { return "old" }
    let missing = try Int.fetchOne(db, sql: "SELECT count(*) FROM player WHERE surname IS NULL") ?? 0
    return missing == 0 ? "new" : "\(missing) players without a surname"
}

func migrate(_ dbQueue: DatabaseQueue) throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("surnames") { db in
        try split(db)
        try fill(db)
    }
    try migrator.migrate(dbQueue)
}

var found: [String] = []
try released.survives(.kill, work: migrate) { db in found.append(try state(db)) }
for (count, state) in found.enumerated() { print("killed after \(count) writes:", state) }

//: A power loss is worse: any part of what was not synced may be lost. Here are all cases.

found = []
let count = try released.survives(.interruption, .failingWrites, .powerLoss, work: migrate) { db in
    found.append(try state(db))
}
print(count, "other breakages:", Set(found).sorted())

//: This migration has two transactions. So a database may be found between them.

struct Halfway: Error, CustomStringConvertible { let description: String }

do {
    try released.survives(.kill) { dbQueue in
        try dbQueue.write { db in try split(db) }
        try dbQueue.write { db in try fill(db) }
    } check: { db in
        let state = try state(db)
        guard ["old", "new"].contains(state) else { throw Halfway(description: state) }
    }
} catch {
    print(error)
}
