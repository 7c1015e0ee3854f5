//: # Opening a database
//: A database is a file, and a queue is one connection to it, for all threads and tasks of a
//: program.

import Foundation
import Shellac

//: A configuration says how the database is opened and used.

var configuration = Configuration()
configuration.label = "tour"
configuration.journalMode = .wal
configuration.busyMode = .timeout(5)
configuration.prepareDatabase { db in
    try db.execute(sql: "PRAGMA synchronous = NORMAL")
}

let folder = FileManager.default.temporaryDirectory.appending(path: "ShellacTour-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let path = folder.appending(path: "tour.sqlite").path
let dbQueue = try DatabaseQueue(path: path, configuration: configuration)

//: `write` runs in a transaction; `read` runs in one that cannot write.

try dbQueue.write { db in
    try db.execute(
        sql: """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL);
            INSERT INTO player (name, score) VALUES ('Arthur', 1000), ('Barbara', 750), ('Craig', 500);
            """)
}

let count = try dbQueue.read { db in
    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
}
print("The database has \(count) players.")

do {
    try dbQueue.read { db in try db.execute(sql: "DELETE FROM player") }
} catch {
    print(error)
}

//: Errors say what is wrong, and where.

do {
    _ = try DatabaseQueue(path: folder.appending(path: "missing/tour.sqlite").path)
} catch let error as DatabaseError {
    print("\(error)".replacingOccurrences(of: folder.path, with: "…"))
}

//: A backup copies a database while others use it.

let copy = try DatabaseQueue()
try dbQueue.backup(to: copy, pagesPerStep: 1) { progress in
    print("copied \(progress.completedPageCount) of \(progress.totalPageCount) pages")
}
print(try copy.read { db in try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name") })
