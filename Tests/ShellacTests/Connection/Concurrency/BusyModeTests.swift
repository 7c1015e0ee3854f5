import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Busy modes, and a second process that holds the lock")
struct BusyModeTests {
    /// Something that meets the lock of another process.
    enum Operation: String, CaseIterable, Codable {
        case read, write, statement, commit, upgrade

        /// The lock that it meets.
        var lock: SecondProcess.Lock {
            switch self {
            case .read: .exclusive
            case .write, .statement, .upgrade: .immediate
            case .commit: .read
            }
        }

        var sql: String {
            switch self {
            case .read: "SELECT name FROM player ORDER BY id"
            case .write: "BEGIN IMMEDIATE TRANSACTION"
            case .statement, .upgrade: "INSERT INTO player (name) VALUES (?)"
            case .commit: "COMMIT TRANSACTION"
            }
        }

        /// - Parameter willMeet: Called right before the statement that meets the lock.
        func run(_ queue: DatabaseQueue, willMeet: () throws -> Void = {}) throws {
            switch self {
            case .read:
                try queue.read { db in
                    try willMeet()
                    _ = try db.names()
                }
            case .write:
                try willMeet()
                try queue.write { db in try db.insert("Arthur") }
            case .statement:
                try queue.inDatabase { db in
                    try willMeet()
                    try db.insert("Arthur")
                }
            case .commit:
                try queue.write { db in
                    try db.insert("Arthur")
                    try willMeet()
                }
            case .upgrade:
                try queue.inTransaction(.deferred) { db in
                    try willMeet()
                    try db.insert("Arthur")
                    return .commit
                }
            }
        }

        var names: [String] { self == .read ? [] : ["Arthur"] }

        /// Expects the error that a held lock causes.
        ///
        /// - Parameter hasWaited: Whether the error says for how long.
        func expect(
            _ error: DatabaseError?, hasWaited: Bool = false, location: SourceLocation = #_sourceLocation
        ) {
            #expect(error?.extendedResultCode == .SQLITE_BUSY, sourceLocation: location)
            let description = error?.description ?? ""
            let wait = description.firstRange(of: /another connection has kept its lock for \d+ ms/)
            #expect((wait != nil) == hasWaited, "\(description)", sourceLocation: location)
            let told = wait.map { description.replacingOccurrences(of: " (\(description[$0]))", with: "") }
            #expect(
                (told ?? description)
                    == "SQLite error 5: database is locked - while executing `\(sql)`",
                sourceLocation: location)
        }
    }

    /// Runs a body while another process holds the lock that an operation meets. Then the operation
    /// succeeds.
    private func whileLocked(
        _ operation: Operation, _ mode: BusyMode, _ body: (DatabaseQueue, SecondProcess) throws -> Void
    ) throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue { $0.busyMode = mode }
        let other = try SecondProcess(path: file.path, lock: operation.lock)
        try body(queue, other)
        other.release()
        #expect(try queue.names() == [])
        try operation.run(queue)
        #expect(try queue.names() == operation.names)
    }

    @Test(
        "With .immediateError a lock throws at once, and the access leaves nothing",
        arguments: Operation.allCases)
    func immediateError(operation: Operation) throws {
        try whileLocked(operation, .immediateError) { queue, _ in
            for _ in 1...2 { operation.expect(databaseError { try operation.run(queue) }) }
            let isInside = try queue.inDatabase { db in db.isInsideTransaction }
            #expect(!isInside)
        }
    }

    @Test(
        "With .timeout a lock that is not released in time throws", arguments: Operation.allCases,
        [0.02, 0.0001, 0, -1])
    func timeoutExpires(operation: Operation, seconds: TimeInterval) throws {
        try whileLocked(operation, .timeout(seconds)) { queue, _ in
            operation.expect(databaseError { try operation.run(queue) }, hasWaited: seconds > 0)
        }
    }

    @Test("With .timeout a lock is tried at a constant interval, until the time is over")
    func timeoutInterval() throws {
        let queue = try DatabaseQueue()
        var time = ContinuousClock.now
        var pauses: [Duration] = []
        try queue.inDatabase { db in
            let handler = BusyHandler(
                .timeout(0.0105), database: db, now: { time },
                sleep: { pause in
                    pauses.append(pause)
                    time += pause
                })
            for _ in 1...2 {
                pauses = []
                var count = 0
                while handler.tryAgain(after: count) { count += 1 }
                #expect(pauses.dropLast() == Array(repeating: .milliseconds(1), count: 10)[...])
                #expect(count == 11 && pauses.reduce(.zero, +) >= .microseconds(10_499))
                // Another lock has all of the time again, however long the program did something
                // else.
                time += .seconds(5)
            }
            // A thread that is woken late does not wait longer than it said.
            var tries = 0
            let late = BusyHandler(
                .timeout(1), database: db, now: { time }, sleep: { _ in time += .milliseconds(400) })
            while late.tryAgain(after: tries) { tries += 1 }
            #expect(tries == 3)
        }
    }

    @Test("With .timeout an access waits until the lock is released", arguments: Operation.allCases)
    func timeoutWaits(operation: Operation) async throws {
        // The access must not wait for the tasks of other tests, which may keep the machine busy
        // for minutes.
        try await onThread {
            let file = try TemporaryDatabase()
            let queue = try file.queue { $0.busyMode = .timeout(60) }
            let other = try SecondProcess(path: file.path, lock: operation.lock)
            let isMeeting = Gate()
            let waiting = RunningThread { try operation.run(queue) { isMeeting.open() } }
            try isMeeting.wait()
            // Sooner or later, the other process lets go: the access should have met the lock by
            // then.
            Thread.sleep(forTimeInterval: 0.03)
            other.release()
            try waiting.join()
            #expect(try queue.names() == operation.names)
        }
    }

    @Test(
        "With .callback the function hears growing numbers, and false throws", arguments: Operation.allCases)
    func callbackGivesUp(operation: Operation) throws {
        let counts = Shared<[Int]>([])
        let mode = BusyMode.callback { count in
            counts.append(count)
            return count < 4
        }
        try whileLocked(operation, mode) { queue, _ in
            for _ in 1...2 {
                counts.withLock { $0 = [] }
                operation.expect(databaseError { try operation.run(queue) })
                #expect(counts.value == [0, 1, 2, 3, 4])
            }
        }
    }

    @Test(
        "With .callback an access goes on when the lock was released meanwhile", arguments: Operation.allCases
    )
    func callbackWaits(operation: Operation) throws {
        let file = try TemporaryDatabase()
        let counts = Shared<[Int]>([])
        let other = Shared<SecondProcess?>(nil)
        let queue = try file.queue {
            $0.busyMode = .callback { count in
                counts.append(count)
                if count == 3 { other.withLock { $0?.release() } }
                return count < 100
            }
        }
        other.withLock { $0 = try? SecondProcess(path: file.path, lock: operation.lock) }
        try operation.run(queue)
        #expect(counts.value == [0, 1, 2, 3])
        #expect(try queue.names() == operation.names)
    }

    @Test(
        "In WAL mode nobody waits for readers, and readers for nobody", arguments: SecondProcess.Lock.allCases
    )
    func wal(lock: SecondProcess.Lock) throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue()
        let other = try SecondProcess(path: file.path, lock: lock)
        #expect(try queue.read { db in try db.names() } == [])
        if lock == .read {
            try queue.write { db in try db.insert("Arthur") }
        } else {
            Operation.write.expect(databaseError { try queue.write { _ in } })
        }
        other.release()
    }

    @Test("In WAL mode a read that has become old cannot write, and says so")
    func snapshot() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let (queue, other) = (try file.queue { $0.busyMode = .timeout(60) }, try file.queue())
        let error = databaseError {
            try queue.inTransaction(.deferred) { db in
                _ = try db.names()
                try other.write { db in try db.insert("Arthur") }
                try db.insert("Barbara")
                return .commit
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_BUSY_SNAPSHOT)
        #expect(try queue.names() == ["Arthur"])
    }

    // MARK: - Opening

    @Test(
        "A locked file opens, and its lock is for the first access to meet",
        arguments: SecondProcess.Lock.allCases)
    func opening(lock: SecondProcess.Lock) throws {
        let file = try TemporaryDatabase()
        let other = try SecondProcess(path: file.path, lock: lock)
        let queue = try file.queue()
        let error = databaseError { try queue.read { db in _ = try db.names() } }
        if lock == .exclusive { Operation.read.expect(error) } else { #expect(error == nil) }
        other.release()
        #expect(try queue.names() == [])
    }

    @Test("A locked file whose journal mode is to change throws at opening, and names the path")
    func openingWithJournalMode() throws {
        let file = try TemporaryDatabase()
        let other = try SecondProcess(path: file.path, lock: .exclusive)
        let error = databaseError { _ = try file.queue { $0.journalMode = .wal } }
        #expect(error?.extendedResultCode == .SQLITE_BUSY)
        #expect(
            error?.description
                == "SQLite error 5: could not open the database at \(file.path): database is locked")
        other.release()
        #expect(try file.queue { $0.journalMode = .wal }.names() == [])
    }
}
