import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("No lock of observations is held while code of the user runs", .behaviour(74))
struct LiveLockTests {
    @Test(
        "a reader of a shared observation who is woken may leave at once, also by the executor of their task",
        .timeLimit(.minutes(10)))
    func wokenReader() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let shared = playerNames.shared(in: queue, scheduling: .task)
        let other = shared.start(onError: { _ in }, onChange: { _ in })
        let seen = Recorder<[String]>()
        let executor = TellingExecutor()
        let task = Task(executorPreference: executor) {
            for try await names in shared.values() { seen.record(names) }
        }
        try await waitUntil { seen.elements == [["a"]] }
        // Let the reader wait for the next value.
        try await queue.settle()
        let isLeaving = Gate()
        executor.onEnqueue.withLock {
            $0 = {
                isLeaving.open()
                other.cancel()
            }
        }
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try await waitUntil { seen.elements == [["a"], ["b"]] }
        #expect(isLeaving.isOpen)
        task.cancel()
        try await task.value
    }

    @Test(
        "a class of followed records may have loops ended when it is asked for its table",
        .timeLimit(.minutes(10)))
    func tableName() async throws {
        let queue = try DatabaseQueue()
        let count = 24
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE moving (id INTEGER PRIMARY KEY, name TEXT)")
            for id in 1...24 {
                try db.execute(sql: "INSERT INTO moving VALUES (?, 'a')", arguments: [id])
            }
        }
        let loops = try await queue.read { db in
            try MovingRecord.fetchAll(db).map { Following($0.follow(in: queue)) }
        }
        try #require(loops.count == count)
        for loop in loops { _ = try await loop.first() }
        let rest = Shared(loops)
        MovingRecord.onName.withLock {
            $0 = { rest.withLock { $0.popLast() }?.cancel() }
        }
        defer { MovingRecord.onName.withLock { $0 = nil } }
        // The records have no key any more.
        try await queue.run("DROP TABLE moving; CREATE TABLE moving (code TEXT PRIMARY KEY, name TEXT)")
        try await waitUntil { loops.allSatisfy { !$0.states.elements.isEmpty } }
        #expect(loops.allSatisfy { ["end", "erro"].contains($0.states.elements.last?.prefix(4)) })
    }

    @Test(
        "an observation that is interrupted while the writer learns what it tracks is not kept as one that is tracked",
        .timeLimit(.minutes(10)))
    func interruptedWatching() async throws {
        let live = try LiveDatabase(.pool, "a")
        let pool = try #require(live.writer as? DatabasePool)
        defer { withExtendedLifetime(live) {} }
        let failed = Gate()
        let running = ValueObservation<Int>.tracking { db in try PlayerValue.fetchCount(db) }
            .handleEvents(willTrackRegion: { _ in pool.writer.database.cancel() })
            .start(in: pool, scheduling: .task) { _ in
                failed.open()
            } onChange: { _ in
            }
        try await waitUntil { failed.isOpen }
        for name in ["b", "c"] { try await pool.run("UPDATE livePlayer SET name = '\(name)'") }
        try await pool.writeWithoutTransaction { db in #expect(db.broker?.observers.isEmpty ?? true) }
        withExtendedLifetime(running) {}
    }

    @Test(
        "what hears of an observation, and tells its region, is let go of with it, outside of all accesses",
        .timeLimit(.minutes(10)), arguments: LiveKind.allCases)
    func listeners(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let freed = Recorder<Int>()
        let told = Recorder<[String]>()
        var running: AnyDatabaseCancellable?
        do {
            let tokens = (0..<2).map { _ in Token() }
            for (number, token) in tokens.enumerated() {
                token.onDeinit = {
                    try? queue.write { db in try db.addPlayer("of a deinit") }
                    freed.record(number)
                }
            }
            running =
                ValueObservation.tracking(regions: [TokenRegion(token: tokens[0])]) { db in
                    try String.fetchAll(db, sql: "SELECT name FROM livePlayer ORDER BY id")
                }
                .handleEvents(willFetch: { [token = tokens[1]] in withExtendedLifetime(token) {} })
                .start(in: queue, scheduling: .task) { _ in
                } onChange: {
                    told.record($0)
                }
        }
        try await waitUntil { told.elements.count == 1 }
        try await queue.settle()
        #expect(freed.elements.isEmpty)
        running?.cancel()
        running = nil
        // Nothing is written meanwhile, which would have the connection look for what has ended.
        try await waitUntil { freed.elements.count == 2 }
        try #expect(await queue.read { db in try PlayerValue.fetchCount(db) } == 3)
    }
}

/// Calls a function, once, when a job comes.
private final class TellingExecutor: TaskExecutor {
    let onEnqueue = Shared<(@Sendable () -> Void)?>(nil)
    private let queue = DispatchQueue(label: "telling")

    func enqueue(_ job: consuming ExecutorJob) {
        let body = onEnqueue.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

private final class MovingRecord: Record {
    var id: Int64?
    var name = ""

    static let onName = Shared<(@Sendable () -> Void)?>(nil)

    override class var databaseTableName: String {
        onName.withLock { $0 }?()
        return "moving"
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private struct TokenRegion: DatabaseRegionConvertible {
    let token: Token

    func databaseRegion(_ db: Database) throws -> DatabaseRegion { DatabaseRegion(table: "livePlayer") }
}
