import Foundation
import Shellac
import TestSupport
import Testing

// The limit only ends what hangs: other tests may keep the machine busy for minutes.
@Suite("External changes", .timeLimit(.minutes(10)))
struct ExternalChangesTests {
    private let interval = Duration.milliseconds(5)

    @Test("The commit of another process is told", arguments: [JournalMode.default, .wal])
    func otherProcess(mode: JournalMode) async throws {
        let file = try TemporaryDatabase(journalMode: mode)
        let queue = try file.queue()
        let changes = queue.externalChanges(pollingEvery: interval)
        try await SecondProcess.execute("INSERT INTO player (name) VALUES ('Arthur')", path: file.path)
        var iterator = changes.makeAsyncIterator()
        try await #require(iterator.next() != nil)
        #expect(try queue.names() == ["Arthur"])
        try await SecondProcess.execute("INSERT INTO player (name) VALUES ('Barbara')", path: file.path)
        try await #require(iterator.next() != nil)
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    @Test("The commit of another connection is told, and the queue's own commits are not")
    func ownCommits() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue()
        let other = try file.queue()
        var iterator = queue.externalChanges(pollingEvery: interval).makeAsyncIterator()
        try await other.write { db in try db.insert("0") }
        try await #require(iterator.next() != nil)
        // The queue's own commits are not notified, and the change after them is.
        let told = Gate()
        let changes = queue.externalChanges(pollingEvery: interval)
        let task = Task { if try await changes.first(where: { _ in true }) != nil { told.open() } }
        for number in 1...20 {
            try await queue.write { db in try db.insert("\(number)") }
            try await Task.sleep(for: interval)
        }
        #expect(!told.isOpen)
        try await other.write { db in try db.insert("21") }
        try await task.value
        #expect(told.isOpen)
    }

    @Test("A rollback of another connection, and its reading, are no change")
    func rollback() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue()
        let other = try file.queue()
        let changes = queue.externalChanges(pollingEvery: interval)
        try other.inTransaction { db in
            try db.insert("Arthur")
            return .rollback
        }
        _ = try other.names()
        let isTold = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await changes.first { _ in true } != nil }
            group.addTask {
                try await Task.sleep(for: .milliseconds(100))
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        #expect(!isTold)
    }

    @Test("It ends when its task is cancelled")
    func cancellation() async throws {
        let queue = try DatabaseQueue.withPlayers()
        let changes = queue.externalChanges
        let task = Task {
            for try await _ in changes {}
            return "ended"
        }
        try await Task.sleep(for: interval)
        task.cancel()
        #expect(try await task.value == "ended")
    }

    @Test("It does not keep the queue alive, and ends with it", arguments: [true, false])
    func lifetime(isClosed: Bool) async throws {
        let file = try TemporaryDatabase()
        var queue: DatabaseQueue? = try file.queue()
        weak let observed = queue
        let changes = try #require(queue).externalChanges(pollingEvery: interval)
        let task = Task {
            for try await _ in changes {}
            return "ended"
        }
        if isClosed { try await queue?.close() } else { queue = nil }
        #expect(try await task.value == "ended")
        if !isClosed { #expect(observed == nil) }
        _ = queue
    }

    @Test("While the file is locked it is asked again, without waiting for the lock")
    func locked() async throws {
        let file = try TemporaryDatabase()
        let tries = Recorder<Int>()
        let queue = try file.queue { configuration in
            configuration.busyMode = .callback { count in
                tries.record(count)
                return false
            }
        }
        let other = try SecondProcess(path: file.path, lock: .exclusive)
        let changes = queue.externalChanges(pollingEvery: interval)
        let told = Gate()
        let task = Task { if try await changes.first(where: { _ in true }) != nil { told.open() } }
        try await Task.sleep(for: interval * 10)
        #expect(tries.elements == [])
        // The busy mode is as it was.
        expectError("database is locked") { try queue.names() }
        #expect(tries.elements == [0])
        #expect(!told.isOpen)
        other.release()
        let writer = try file.queue { $0.busyMode = .timeout(60) }
        // Commits before the first answer are not notified.
        try await waitUntil {
            try? writer.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES (random())") }
            return told.isOpen
        }
        try await task.value
    }

    @Test("An error of the file is thrown")
    func error() async throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue()
        let changes = queue.externalChanges(pollingEvery: interval)
        try await SecondProcess.execute("INSERT INTO player (name) VALUES ('Arthur')", path: file.path)
        // A file that is no database any more.
        try Data(repeating: 7, count: 4096).write(to: URL(filePath: file.path))
        await expectError("file is not a database") { for try await _ in changes {} }
    }

    @Test(
        "Who waits for a lock waits as before, once external changes have been asked for",
        arguments: [true, false])
    func busyTimeout(isSQLites: Bool) throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue { configuration in
            if isSQLites {
                configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA busy_timeout = 3000") }
            } else {
                configuration.busyMode = .timeout(3)
            }
        }
        func timeout() throws -> Int? {
            try queue.inDatabase { db in try Int.fetchOne(db, sql: "PRAGMA busy_timeout") }
        }
        let before = try timeout()
        #expect(before == (isSQLites ? 3000 : 0))
        _ = queue.externalChanges
        #expect(try timeout() == before)
        // Also where the question meets a lock, which it does not wait for.
        let other = try SecondProcess(path: file.path, lock: .exclusive)
        _ = queue.externalChanges
        #expect(try timeout() == before)
        other.release()
        try queue.write { db in try db.insert("Arthur") }
    }
}
