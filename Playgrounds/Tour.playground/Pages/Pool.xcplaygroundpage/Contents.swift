//: # Pool
//: Readers that never wait for the writer, snapshots, and a log that says which connection keeps it
//: from becoming smaller.

import Foundation
import Shellac

let folder = FileManager.default.temporaryDirectory.appending(path: "Shellac-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

var configuration = Configuration()
configuration.label = "shop"
let dbPool = try DatabasePool(path: folder.appending(path: "shop.sqlite").path, configuration: configuration)

try dbPool.write { db in
    try db.create(table: "account") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("balance", .integer).notNull()
    }
    for _ in 1...10 { try db.execute(sql: "INSERT INTO account (balance) VALUES (100)") }
}

func total(_ db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "SELECT SUM(balance) FROM account") ?? 0
}

//: Money goes from one account to another, all the time, while three tasks read: each of them sees
//: the same total.

func trade() async throws {
    let totals = try await withThrowingTaskGroup(of: Set<Int>.self) { group in
        group.addTask {
            for number in 1...200 {
                try await dbPool.write { db in
                    let (from, to) = (number % 10 + 1, (number * 7) % 10 + 1)
                    try db.execute(
                        sql: "UPDATE account SET balance = balance - 5 WHERE id = ?", arguments: [from])
                    try db.execute(
                        sql: "UPDATE account SET balance = balance + 5 WHERE id = ?", arguments: [to])
                }
            }
            return []
        }
        for _ in 1...3 {
            group.addTask {
                var seen: Set<Int> = []
                for _ in 1...200 { seen.insert(try await dbPool.read { db in try total(db) }) }
                return seen
            }
        }
        return try await group.reduce(into: Set<Int>()) { $0.formUnion($1) }
    }
    print("200 transfers beside 600 reads, which have seen these totals:", totals.sorted())
}
try await trade()

//: A snapshot goes on seeing what it saw.

func compare() throws {
    let snapshot = try dbPool.makeSnapshot()
    try dbPool.write { db in try db.execute(sql: "UPDATE account SET balance = balance + 1") }
    print("now:", try dbPool.read { db in try total(db) })
    print("in the snapshot:", try snapshot.read { db in try total(db) })

    //: It keeps the log from being begun anew. The pool says so, and is not closed meanwhile.

    let status = try dbPool.walStatus
    print("\(status.readers.count) reader keeps the log:", status.oldestReader?.label ?? "nobody")
    do { try dbPool.close() } catch { print("the pool stays open as long as the snapshot is there") }
    try snapshot.close()
}
try compare()

//: Inside of a write, others may read what is committed so far, and the writer goes on.

let end = DispatchSemaphore(value: 0)
try dbPool.writeWithoutTransaction { db in
    dbPool.spawnConcurrentRead { result in
        do { print("beside the writer:", try total(result.get())) } catch { print("cannot read: \(error)") }
        end.signal()
    }
    try db.execute(sql: "DELETE FROM account")
}
end.wait()
print("after it:", try dbPool.read { db in try total(db) })

//: No SQL makes a reader write.

do {
    try dbPool.unsafeRead { db in
        try db.execute(sql: "PRAGMA query_only = 0; INSERT INTO account (balance) VALUES (1000000)")
    }
} catch let error as DatabaseError { print("a reader cannot write:", error.message ?? "") }

//: A report handler is called at the end of each operation. Here, it prints the code that asked for
//: an access, and the number of rows of each statement.

var watched = Configuration()
watched.label = "bank"
watched.reportHandler = { report in
    switch report.event {
    case .statement(let run): print("\(report.connection): \(run.rowCount) rows of \(run.sql)")
    case .access(let access): print("\(report.connection): \(access.site.operation), \(access.occupancy)")
    default: break
    }
}
let watchedPool = try DatabasePool(path: dbPool.path, configuration: watched)
_ = try watchedPool.read { db in try Int.fetchOne(db, sql: "SELECT SUM(balance) FROM account") }
try watchedPool.close()

//: If there can be one connection alone, as over a database in a cluster, a pool says so, and a
//: queue confirms each commit.

var alone = Configuration()
alone.label = "till"
alone.lockingMode = .exclusive
alone.journalMode = .wal
alone.verifiesCommits = true
let till = folder.appending(path: "till.sqlite").path
do {
    _ = try DatabasePool(path: till, configuration: alone)
} catch let error as DatabaseError { print("no pool:", error.message ?? "") }
let tillQueue = try DatabaseQueue(path: till, configuration: alone)
try tillQueue.write { db in try db.execute(sql: "CREATE TABLE sale (amount INTEGER NOT NULL)") }
try tillQueue.close()
try FileManager.default.removeItem(atPath: till)

//: As a service, it runs until it is cancelled, and ends in order: what runs goes on, what comes
//: throws, and one file is left.

let service = Task { try await dbPool.run() }
service.cancel()
try await service.value
do { try dbPool.read { _ in } } catch { print("after the end:", error) }
print(try FileManager.default.contentsOfDirectory(atPath: folder.path))
try FileManager.default.removeItem(at: folder)
