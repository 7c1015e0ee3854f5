import Foundation
import TestSupport
import Testing

@testable import Shellac

private enum Request { @TaskLocal static var id = "none" }

/// A value that belongs to a thread, as the context of a tracer does.
private enum Context {
    static var current: String? {
        get { Thread.current.threadDictionary["shellac.test"] as? String }
        set { Thread.current.threadDictionary["shellac.test"] = newValue }
    }
}

@Suite("What surrounds an asynchronous access", .behaviour(85))
struct CarriedValuesTests {
    private let file: TemporaryDatabase
    init() throws { file = try TemporaryDatabase() }

    @Test(
        "Task-local values reach the accesses of a task, whether it waits or not", arguments: Writer.allCases,
        [false, true])
    func tasks(writer: Writer, waits: Bool) async throws {
        let database = try writer.open(file) { $0.checkpoints = .atCommit }
        let hold = waits ? try await Hold(database) : nil
        let heard = Recorder<String>()
        let task = Task {
            try await Request.$id.withValue("seven") {
                try await database.write { _ in heard.record(Request.id) }
                try await database.write(priority: .urgent) { _ in heard.record(Request.id) }
                try await database.writeWithoutTransaction { _ in heard.record(Request.id) }
                try await database.barrierWriteWithoutTransaction { _ in heard.record(Request.id) }
                try await database.read { _ in heard.record(Request.id) }
                try await database.unsafeRead { _ in heard.record(Request.id) }
            }
        }
        if let hold {
            try await waitUntil { database.waitingWriterCount == 1 }
            try await hold.release()
        }
        try await task.value
        #expect(heard.elements == Array(repeating: "seven", count: 6))
    }

    @Test(
        "Task-local values reach the reads of a pool and of its snapshots, whether they wait or not",
        arguments: [false, true])
    func readers(waits: Bool) async throws {
        let pool = try file.pool { $0.maximumReaderCount = 1 }
        let readers: [any DatabaseReader] = [
            pool, try pool.makeSnapshot(), try pool.makeSnapshotPool(readerCount: 2),
        ]
        for reader in readers {
            let held = waits && reader === pool ? try await HeldReads(pool) : nil
            let task = Task {
                try await Request.$id.withValue("seven") {
                    let first = try await reader.read { _ in Request.id }
                    return [first, try await reader.unsafeRead { _ in Request.id }]
                }
            }
            if let held {
                try await waitUntil { pool.readers.line.waitingCount == 1 }
                try await held.release()
            }
            #expect(try await task.value == ["seven", "seven"])
        }
    }

    /// Asks for all accesses whose callers do not wait.
    private func askForAll(_ database: any DatabaseWriter, _ body: @escaping @Sendable () -> Void)
        async throws
    {
        try await Self.inAccess(database) {
            database.spawnConcurrentRead { _ in body() }
            database.asyncConcurrentRead { _ in body() }
        }
        database.asyncRead { _ in body() }
        database.asyncUnsafeRead { _ in body() }
        database.asyncWrite { _ in
            body()
        } completion: { _, _ in
            body()
        }
        database.asyncWriteWithoutTransaction { _ in body() }
        database.asyncBarrierWriteWithoutTransaction { _ in body() }
    }

    private static func inAccess(_ database: any DatabaseWriter, _ body: @escaping @Sendable () -> Void)
        async throws
    {
        try await database.writeWithoutTransaction { _ in body() }
    }

    @Test("Task-local values reach the accesses that nobody waits for", arguments: Writer.allCases)
    func later(writer: Writer) async throws {
        let database = try writer.open(file)
        let heard = Recorder<String>()
        try await Request.$id.withValue("seven") {
            try await askForAll(database) { heard.record(Request.id) }
        }
        try await waitUntil { heard.elements.count == 8 }
        #expect(Set(heard.elements) == ["seven"])
        if let pool = database as? DatabasePool {
            let snapshot = try pool.makeSnapshot()
            Request.$id.withValue("eight") {
                snapshot.asyncRead { _ in heard.record(Request.id) }
                snapshot.asyncUnsafeRead { _ in heard.record(Request.id) }
            }
            try await waitUntil { heard.elements.count == 10 }
            #expect(heard.elements.suffix(2) == ["eight", "eight"])
        }
    }

    @Test(
        "The configuration carries what belongs to a thread, from where the access is asked for",
        arguments: Writer.allCases)
    func carry(writer: Writer) async throws {
        let database = try writer.open(file) { configuration in
            configuration.taskContext = {
                let context = Context.current
                return { access in
                    let outer = Context.current
                    Context.current = context
                    access()
                    Context.current = outer
                }
            }
        }
        let heard = Recorder<String?>()
        try await onThread {
            Context.current = "seven"
            database.asyncRead { _ in heard.record(Context.current) }
            database.asyncUnsafeRead { _ in heard.record(Context.current) }
            database.asyncWriteWithoutTransaction { _ in heard.record(Context.current) }
            database.asyncWrite { _ in
                heard.record(Context.current)
            } completion: { _, _ in
            }
            database.asyncBarrierWriteWithoutTransaction { _ in heard.record(Context.current) }
            try database.inDatabase { _ in database.spawnConcurrentRead { _ in heard.record(Context.current) }
            }
            Context.current = nil
        }
        try await waitUntil { heard.elements.count == 6 }
        #expect(heard.elements == Array(repeating: "seven", count: 6))
    }
}
