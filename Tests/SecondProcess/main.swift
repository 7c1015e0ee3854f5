// Another process that uses a database, for the tests.
//
//     SecondProcess PATH execute SQL
//     SecondProcess PATH read|immediate|exclusive
//     SecondProcess PATH pool|queue NUMBER
//     SecondProcess PATH pool|queue read|write|both|later COUNT
//     SecondProcess PATH checkpoints
//     SecondProcess PATH open pool|queue
//     SecondProcess FOLDER keeper COUNT
//     SecondProcess PATH jobs NUMBER
//     SecondProcess PATH steps save|migrate|rebuild|vacuum|backup|import
//
// The first executes SQL in a transaction, and commits. The second holds a lock. It prints `locked`
// once it has the lock, and releases it when its standard input has a line, or closes. The third
// writes without a pause, by a pool or a queue, and prints the number of each transaction that is
// committed. It ends as the second does. The fourth has very many tasks access the database at
// once, and prints the number of its threads before them, and the highest one meanwhile. The fifth
// copies the write-ahead log without a pause, as a program without Shellac does. It prints
// `copying` at its beginning, and the number of copies at its end. The sixth opens the file, which
// may be new, with a log, and inserts a row into the table `opening`. The seventh uses databases of
// a folder by a keeper, first at the same time, and then one after the other. The eighth does the
// jobs of the table `job`, prints `working` at its beginning, and ends as the second does. The last
// one works in steps without an end, and prints the number of each.
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
if arguments.count == 4, arguments[2] == "open", let way = Writing.Way(rawValue: arguments[3]) {
    try Writing.open(path: arguments[1], way)
    exit(0)
}
if arguments.count == 4, arguments[2] == "jobs", let number = Int(arguments[3]) {
    try await Working(path: arguments[1], process: number).run()
    exit(0)
}
if arguments.count == 4, arguments[2] == "keeper", let count = Int(arguments[3]) {
    try Keeping(folder: arguments[1]).run(count: count)
    exit(0)
}
if arguments.count == 4, arguments[2] == "steps", let work = Steps.Work(rawValue: arguments[3]) {
    try Steps(path: arguments[1], work).run()
    exit(0)
}
if arguments.count == 4, let way = Writing.Way(rawValue: arguments[2]), let number = Int(arguments[3]) {
    try Writing(path: arguments[1], way, process: number).run()
    exit(0)
}
if arguments.count == 5, let way = Writing.Way(rawValue: arguments[2]),
    let work = Crowd.Work(rawValue: arguments[3]), let count = Int(arguments[4])
{
    try await Crowd(path: arguments[1], way, work, count: count).run()
    exit(0)
}
if arguments.count == 3, arguments[2] == "checkpoints" {
    try Copying(path: arguments[1]).run()
    exit(0)
}
guard arguments.count == 3, let lock = Lock(rawValue: arguments[2]) else {
    FileHandle.standardError.write(
        Data(
            """
            usage: SecondProcess PATH execute SQL, or PATH read|immediate|exclusive, or PATH pool|queue NUMBER, \
            or PATH pool|queue read|write|both|later COUNT, or PATH checkpoints, or PATH open pool|queue

            """.utf8))
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
