// Another process that uses a database, for the tests.
//
//     SecondProcess PATH execute SQL
//     SecondProcess PATH read|immediate|exclusive
//     SecondProcess PATH pool|queue NUMBER
//
// The first executes SQL in a transaction, and commits. The second holds a lock.
// It prints `locked` once it has the lock, and releases it when its standard input gives a line, or closes.
// The third writes without a pause, by a pool or a queue, and prints the number of each transaction that is committed. It ends as
// the second does.
import Foundation
import Shellac

enum Lock: String {
    case read, immediate, exclusive
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[2] == "execute" {
    try DatabaseQueue(path: arguments[1]).write { db in try db.execute(sql: arguments[3]) }
    exit(0)
}
if arguments.count == 4, let way = Writing.Way(rawValue: arguments[2]), let number = Int(arguments[3]) {
    try Writing(path: arguments[1], way, process: number).run()
    exit(0)
}
guard arguments.count == 3, let lock = Lock(rawValue: arguments[2]) else {
    FileHandle.standardError.write(
        Data(
            "usage: SecondProcess PATH execute SQL, or PATH read|immediate|exclusive, or PATH pool|queue NUMBER\n"
                .utf8))
    exit(2)
}
let dbQueue = try DatabaseQueue(path: arguments[1])
let kind: TransactionKind =
    switch lock {
    case .read: .deferred
    case .immediate: .immediate
    case .exclusive: .exclusive
    }
try dbQueue.inTransaction(kind) { db in
    if lock == .read { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }
    FileHandle.standardOutput.write(Data("locked\n".utf8))
    _ = readLine()
    return .rollback
}
