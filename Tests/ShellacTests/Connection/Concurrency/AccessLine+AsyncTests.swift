import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A class that is not Sendable.
private final class Team {
    var names: [String]
    init(_ names: [String]) { self.names = names }
}

/// An actor that uses a database.
private actor Roster {
    let queue: any DatabaseWriter
    private(set) var names: [String] = []

    init(_ queue: any DatabaseWriter) { self.queue = queue }

    func add(_ name: String) async throws {
        let before = names
        names = try await queue.write { db in
            try db.insert(name)
            return try db.names()
        }
        #expect(names.count > before.count)
    }
}

@MainActor private final class Screen {
    var team = Team([])

    func load(_ queue: any DatabaseWriter) async throws {
        team = try await queue.read { db in Team(try db.names()) }
        MainActor.assertIsolated()
    }
}

@Suite("Asynchronous accesses")
struct AccessLineAsyncTests {
    @Test("Results and arguments that are not Sendable cross over", arguments: Writer.allCases)
    func notSendable(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let team = Team(["Arthur", "Barbara"])
        let written = try await queue.write { db in
            for name in team.names { try db.insert(name) }
            return Team(try db.names() + ["written"])
        }
        written.names.append("changed")
        #expect(written.names == ["Arthur", "Barbara", "written", "changed"])
        let read = try await queue.read { db in Team(try db.names()) }
        #expect(read.names == ["Arthur", "Barbara"])
        let row = try await queue.writeWithoutTransaction { db in
            try Row.fetchOne(db, sql: "SELECT * FROM player")
        }
        #expect(try row?["name"] as String? == "Arthur")
    }

    @Test("Actors and the main actor read and write", arguments: Writer.allCases)
    func isolated(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let roster = Roster(queue)
        for name in ["Arthur", "Barbara"] { try await roster.add(name) }
        #expect(await roster.names == ["Arthur", "Barbara"])
        try await Task { @MainActor in
            let screen = Screen()
            try await screen.load(queue)
            #expect(screen.team.names == ["Arthur", "Barbara"])
        }.value
    }

    @Test("An access runs in its transaction", arguments: Access.allCases, Writer.allCases)
    func transactions(access: Access, writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let state = try await access.run(queue) { db in [db.isInsideTransaction, db.isReadOnlyScope] }
        #expect(state == [access != .writeWithoutTransaction, access == .read])
    }

    @Test(
        "An error is thrown, undoes the write, and leaves the queue as good as before",
        arguments: Access.allCases, Writer.allCases)
    func errors(access: Access, writer: Writer) async throws {
        let queue = try writer.withPlayers()
        await #expect(throws: TestError(5)) { try await access.run(queue) { _ in throw TestError(5) } }
        await #expect(throws: TestError(6)) {
            try await queue.write { db in
                try db.insert("Arthur")
                throw TestError(6)
            }
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await access.run(queue) { db in try db.execute(sql: "INSERT INTO nowhere VALUES (1)") }
        }
        #expect(error?.message == "no such table: nowhere")
        #expect(try queue.names() == [])
    }

    @Test("A read that writes throws SQLITE_READONLY", arguments: Writer.allCases)
    func readOnly(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let error = await #expect(throws: DatabaseError.self) {
            try await queue.read { db in try db.insert("Arthur") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test("A transaction left open throws the sentence", arguments: Writer.allCases)
    func leftOpen(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let error = await #expect(throws: DatabaseError.self) {
            try await queue.writeWithoutTransaction { db in try db.beginTransaction() }
        }
        #expect(error?.message?.hasPrefix("a transaction was still open") == true)
        try await queue.write { db in try db.insert("Arthur") }
    }

    @Test(
        "A waiting task blocks no thread: many more may wait than there are threads",
        arguments: Writer.allCases)
    func noThreads(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let hold = try await Hold(queue)
        let tasks = (0..<2_000).map { number in
            Task { try await queue.write { db in try db.insert("\(number)") } }
        }
        try await waitUntil { queue.waitingWriterCount == tasks.count }
        // The pool of threads is free for others.
        #expect(await Task { 7 }.value == 7)
        try await hold.release()
        for task in tasks { try await task.value }
        #expect(try queue.names().count == tasks.count)
    }

    @Test("A queue that only its waiting tasks hold serves them, and is freed then")
    func freed() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        weak var weakQueue: DatabaseQueue?
        var tasks: [Task<[String], any Error>] = []
        do {
            let queue = try file.queue()
            weakQueue = queue
            let hold = try await Hold(queue)
            for number in 0..<20 {
                tasks.append(
                    Task {
                        try await queue.write { db in
                            try db.insert("\(number)")
                            return try db.names()
                        }
                    })
            }
            try await waitUntil { queue.line.waitingCount == 20 }
            for task in tasks[10...] { task.cancel() }
            try await hold.release()
        }
        for task in tasks[..<10] { #expect(try await !task.value.isEmpty) }
        for task in tasks[10...] { await #expect(throws: CancellationError.self) { try await task.value } }
        tasks = []
        try await waitUntil { weakQueue == nil }
        try await waitUntil { !FileManager.default.fileExists(atPath: file.path + "-wal") }
        let names = try await onThread { try file.queue().names() }
        #expect(names.count == 10)
    }

    @Test("A function that holds the last reference to its queue runs to its end")
    func lastReference() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        for _ in 1...20 {
            let name = UUID().uuidString
            // The queue of the round before may still be closing: its task lets go of it after its
            // end.
            var queue: DatabaseQueue? = try file.queue { $0.busyMode = .timeout(10) }
            let task = Task { [queue] in
                try await queue?.write { db in
                    withExtendedLifetime(queue) {}
                    try db.insert(name)
                }
            }
            queue = nil
            try await task.value
        }
        try await waitUntil { !FileManager.default.fileExists(atPath: file.path + "-wal") }
    }
}
