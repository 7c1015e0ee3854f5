//: # Observation
//: Every committed change, in order, and never one that was rolled back.

import Shellac

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)")
}

//: The connection notifies an observer of changes when they are certain, and of the end of the
//: transaction.

final class Reporter: TransactionObserver {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }

    func databaseWillChange(with event: DatabasePreUpdateEvent) {
        guard event.kind == .update else { return }
        let scores = [event.initialDatabaseValue(named: "score"), event.finalDatabaseValue(named: "score")]
        print("  score:", scores.map { $0?.description ?? "none" }.joined(separator: " → "))
    }

    func databaseDidChange(with event: DatabaseEvent) { print("  \(event.kind) \(event.rowID)") }
    func databaseDidCommit(_ db: Database) { print("  committed") }
    func databaseDidRollback(_ db: Database) { print("  rolled back") }
}

//: With options, it also gets old and new values, and the rows that REPLACE deletes. If SQLite
//: cannot report them, this throws.

let reporter = Reporter()
try dbQueue.add(transactionObserver: reporter, options: [.rowValues, .hiddenChanges])

print("A transaction:")
try dbQueue.write { db in
    try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 100), ('Barbara', 200)")
    try db.execute(sql: "UPDATE player SET score = score + 1 WHERE name = 'Arthur'")
}

print("A statement that fails in its second row, and a savepoint that is rolled back, tell nothing:")
try dbQueue.inTransaction { db in
    try? db.execute(sql: "INSERT INTO player (name) VALUES ('Craig'), ('Arthur')")
    try db.inSavepoint {
        try db.execute(sql: "DELETE FROM player")
        return .rollback
    }
    return .commit
}

print("REPLACE:")
try dbQueue.write { db in try db.execute(sql: "REPLACE INTO player (name) VALUES ('Barbara')") }
dbQueue.remove(transactionObserver: reporter)

//: A region is what a query reads.

let names = SQL("SELECT name FROM player")
print(try dbQueue.read { db in try names.databaseRegion(db) })
let cancellable = DatabaseRegionObservation(tracking: names).start(in: dbQueue) { error in
    print(error)
} onChange: { db in
    print("Names:", (try? String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name")) ?? [])
}
try dbQueue.write { db in try db.execute(sql: "UPDATE player SET score = 0") }  // no name
try dbQueue.write { db in try db.execute(sql: "UPDATE player SET name = 'Diane' WHERE name = 'Arthur'") }
cancellable.cancel()

//: Code that runs once, when the transaction is committed.

try dbQueue.write { db in
    db.afterNextTransaction { _ in print("Now it is safe to tell others.") }
    try db.execute(sql: "DELETE FROM player")
}
