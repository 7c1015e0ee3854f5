import Foundation
import Shellac

/// A row that a machine has written.
final class Entry: Record {
    var id: Int64?
    var who = ""
    var number = 0

    convenience init(_ who: String, _ number: Int) {
        self.init()
        (self.who, self.number) = (who, number)
    }

    override class var databaseTableName: String { "entry" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("who", who) { who = $0 }
        try column("number", number) { number = $0 }
    }
}

/// Writes rows, one in each transaction, and says which of them are committed.
struct Writer {
    private let place: Place
    private let who: String

    init(_ place: Place, _ who: String) { (self.place, self.who) = (place, who) }

    func run(_ count: Int) throws -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        let queue = try place.open()
        try queue.write { db in
            try db.create(table: "entry", options: .ifNotExists) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("who", .text).notNull()
                t.column("number", .integer).notNull()
                t.uniqueKey(["who", "number"])
            }
        }
        say("in after \(clock.now - start)")
        var longest = Duration.zero
        for number in 1...max(1, count) {
            let entry = Entry(who, number)
            let begin = clock.now
            do {
                try queue.write { db in try entry.insert(db) }
            } catch let error as DatabaseError where error.message?.contains("could not be confirmed") == true
            {
                try expect(error.leavesOutcomeUnknown, "the error does not say that the outcome is unknown")
                return try refused(entry, error, queue)
            } catch {
                say("failed \(number): \(error)")
                try expect(
                    entry.id == nil && entry.hasDatabaseChanges, "the record is not what it was before")
                _exit(4)
            }
            longest = max(longest, clock.now - begin)
            say("ack \(number)")
        }
        say("longest \(longest)")
        try queue.close()
        return 0
    }

    /// A commit was refused: looks whether all that is promised is so.
    private func refused(_ entry: Entry, _ error: DatabaseError, _ queue: DatabaseQueue) throws -> Int32 {
        say("refused \(entry.number): \(error)")
        try expect(entry.id == nil && entry.hasDatabaseChanges, "the record is not what it was before")
        for _ in 1...2 {
            for access in [{ try queue.read { _ in } }, { try queue.write { _ in } }] {
                do {
                    try access()
                    throw Failure(description: "an access went well after the refusal")
                } catch let later as DatabaseError {
                    try expect(later == error, "a later access throws \(later)")
                }
            }
        }
        say("later accesses throw the same")
        try queue.close()
        // The client of the cluster may stop the process while it ends: all has been said.
        _exit(3)
    }
}

/// Looks whether the rows of each writer are there.
func check(_ place: Place, _ writers: ArraySlice<String>) throws {
    let clock = ContinuousClock()
    let start = clock.now
    let queue = try place.open()
    let seconds = (clock.now - start) / .seconds(1)
    say("in after \(Int(seconds * 10)) tenths of a second")
    for writer in writers {
        let parts = writer.split(separator: "=")
        guard parts.count == 2, let last = Int(parts[1]) else { throw Failure(description: writer) }
        let numbers = try queue.read { db in
            try Entry.filter(Column("who") == String(parts[0])).order(Column("number")).fetchAll(db).map(
                \.number)
        }
        let lost = Set(1...max(1, last)).subtracting(numbers).count
        try expect(
            last == 0 || lost == 0, "\(lost) rows of \(parts[0]) are lost, of \(last) that were acknowledged")
        say("\(parts[0]): \(last) acknowledged, 0 lost, \(numbers.count - last) more")
    }
    let integrity = try queue.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check") }
    try expect(integrity == "ok", "the file is damaged: \(integrity ?? "")")
    try queue.close()
}

/// Opens the database in a task that is cancelled meanwhile.
func standBy(_ place: Place) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let opening = Task.detached { try place.open() }
    let reading = Task {
        let queue = try await opening.value
        do {
            _ = try await queue.read { db in try Entry.fetchCount(db) }
            throw Failure(description: "a task that was cancelled has read")
        } catch is CancellationError {
            say(
                "cancelled: nothing was read, \(Int((clock.now - start) / .seconds(1))) s after the beginning"
            )
        }
        // A machine that has opened the database can go on, or close it: the next one waits for it.
        let count = try await Task.detached { try queue.read { db in try Entry.fetchCount(db) } }.value
        say("in, and \(count) rows are there")
        try await queue.close()
    }
    try await Task.sleep(for: .seconds(1))
    opening.cancel()
    reading.cancel()
    say("cancelled after 1 s")
    try await reading.value
}
