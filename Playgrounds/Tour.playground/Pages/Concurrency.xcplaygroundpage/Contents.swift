//: # Threads and tasks
//: A queue serves one access at a time, in the order of arrival. Tasks wait without blocking a
//: thread.

import Foundation
import Shellac

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in try db.execute(sql: "CREATE TABLE visit (id INTEGER PRIMARY KEY, at TEXT)") }

//: Many tasks share a queue.

func visit(_ dbQueue: DatabaseQueue) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...100 {
            group.addTask {
                try await dbQueue.write { db in
                    try db.execute(literal: "INSERT INTO visit (at) VALUES (\(db.transactionDate))")
                }
            }
        }
        try await group.waitForAll()
    }
}
try await visit(dbQueue)
print(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visit") ?? 0 }, "visits")

//: The result of an access may be of any type: the compiler checks that it is not shared.

final class Report {
    var lines: [String] = []
}

func report(_ dbQueue: DatabaseQueue) async throws -> Report {
    try await dbQueue.read { db in
        let report = Report()
        report.lines = try String.fetchAll(
            db, sql: "SELECT 'visit ' || id FROM visit ORDER BY id DESC LIMIT 3")
        return report
    }
}
print(try await report(dbQueue).lines)

//: Cancelling a task interrupts its own statement, and no other.

let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
let task = Task {
    try await dbQueue.read { db in try Int.fetchOne(db, sql: endless) }
}
try await Task.sleep(for: .milliseconds(50))
task.cancel()
do {
    print(try await task.value ?? 0)
} catch {
    print("The task has thrown", error)
}
print(try dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visit") ?? 0 }, "visits")
