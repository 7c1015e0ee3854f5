import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The end of an observation", .behaviour(74))
struct ObservationEndTests {
    @Test("an error of the fetch ends it, and is told once", arguments: LiveKind.allCases)
    func errors(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let observation = ValueObservation.tracking { db -> Int in
            let count = try PlayerValue.fetchCount(db)
            if count == 2 { throw Boom(2) }
            return count
        }
        let told = Recorder<String>()
        let running = observation.start(in: queue, scheduling: .task) {
            told.record("\($0)")
        } onChange: {
            told.record("\($0)")
        }
        var values = observation.values(in: queue).makeAsyncIterator()
        try #expect(await values.next() == 1)
        try await waitUntil { told.elements.count == 1 }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        await #expect(throws: Boom(2)) { try await values.next() }
        try #expect(await values.next() == nil)
        try await waitUntil { told.elements.count == 2 }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('c')")
        try await queue.settle()
        #expect(told.elements == ["1", "\(Boom(2))"])
        withExtendedLifetime(running) {}
    }

    @Test(
        "a fetch that writes, commits or rolls back is refused, and harms no other one",
        arguments: LiveKind.allCases)
    func writes(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var healthy = playerNames.values(in: queue).makeAsyncIterator()
        try #expect(await healthy.next() == ["a"])
        for sql in ["DELETE FROM livePlayer", "CREATE TABLE t (a)"] {
            let error = await #expect(throws: DatabaseError.self) {
                for try await _ in queue.values(tracking: { db in try db.execute(sql: sql) }) {}
            }
            #expect(error?.resultCode == .SQLITE_READONLY)
        }
        for sql in ["COMMIT", "ROLLBACK"] {
            for try await _ in queue.values(tracking: { db in try db.execute(sql: sql) }) { break }
        }
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try #expect(await healthy.next() == ["b"])
        try await queue.writeWithoutTransaction { db in try #expect(db.isUsable()) }
    }

    @Test("a table that is dropped ends it, one that is made anew does not", arguments: LiveKind.allCases)
    func drop(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var values = playerNames.values(in: queue).makeAsyncIterator()
        try #expect(await values.next() == ["a"])
        try await queue.run(
            "DROP TABLE livePlayer; CREATE TABLE livePlayer (id INTEGER PRIMARY KEY, name TEXT, score)")
        try #expect(await values.next() == [])
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        try #expect(await values.next() == ["b"])
        try await queue.run("DROP TABLE livePlayer")
        await expectError("no such table: livePlayer") { try await values.next() }
    }

    @Test("cancelling is heard while waiting, and frees everything")
    func cancelWhileWaiting() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let token = Shared<Token?>(Token())
        let isFreed = Gate()
        token.withLock { $0?.onDeinit = { isFreed.open() } }
        let inside = Gate()
        let task = Task {
            let held = token.withLock { $0 }
            token.withLock { $0 = nil }
            let values = queue.values(tracking: { db -> Int in
                withExtendedLifetime(held) {}
                return try PlayerValue.fetchCount(db)
            })
            var count = 0
            for try await _ in values {
                count += 1
                inside.open()
            }
            return count
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        try #expect(await task.value == 1)
        try await waitUntil { isFreed.isOpen }
    }

    @Test("cancelling interrupts the fetch, and the queue goes on")
    func cancelInFetch() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let inside = Gate()
        let task = Task {
            let values = queue.values(tracking: { db -> Int in
                try db.add(function: .pause)
                inside.open()
                return try Int.fetchOne(
                    db,
                    sql:
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + pause() FROM n) SELECT COUNT(*) FROM n"
                )
                    ?? 0
            })
            for try await _ in values { Issue.record("an endless fetch has ended") }
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        try await task.value
        try await queue.write { db in try #expect(PlayerValue.fetchCount(db) == 1) }
        try await queue.writeWithoutTransaction { db in try #expect(db.isUsable()) }
    }

    @Test("leaving the loop, and freeing the cancellable, end it", arguments: LiveKind.allCases)
    func leaving(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let log = Recorder<String>()
        for try await _ in playerNames.print("loop", to: { log.record($0) }).values(in: queue) { break }
        // (In a pool, the writer may be just learning what was tracked, which is printed, too.)
        try await waitUntil { log.elements.contains("loop: cancel") }
        do {
            let running = playerNames.print("start") { log.record($0) }
                .start(in: queue, scheduling: .task) { _ in
                } onChange: { _ in
                }
            // (In a pool, the value comes before the writer knows what is tracked.)
            try await waitUntil {
                ["start: value", "start: tracked"].allSatisfy { event in
                    log.elements.contains { $0.hasPrefix(event) }
                }
            }
            withExtendedLifetime(running) {}
        }
        try await waitUntil { log.elements.contains("start: cancel") }
        // The last one takes the observer along. (The writer of a pool may be about to know what
        // was tracked.)
        try await waitUntil {
            try queue.inDatabase { db in try db.execute(sql: "UPDATE livePlayer SET name = name || 'x'") }
            return try queue.inDatabase { db in
                (db.broker?.observers.isEmpty ?? true) && db.broker?.isInstalled != true
            }
        }
    }

    @Test("closing the database ends it, without an error; starting on a closed one throws")
    func closing() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        var values = playerNames.values(in: queue).makeAsyncIterator()
        try #expect(await values.next() == ["a"])
        let told = Recorder<String>()
        let running = playerNames.start(in: queue, scheduling: .task) {
            told.record("\($0)")
        } onChange: {
            told.record("\($0)")
        }
        try await waitUntil { told.elements.count == 1 }
        try await queue.close()
        try #expect(await values.next() == nil)
        #expect(told.elements.count == 1)
        let error = await #expect(throws: DatabaseError.self) {
            for try await _ in playerNames.values(in: queue) {}
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        withExtendedLifetime(running) {}
    }

    @Test("the observation does not keep the database alive, and ends with it")
    func freeing() async throws {
        var queue: DatabaseQueue? = try DatabaseQueue.withLivePlayers("a")
        weak let weakQueue = queue
        let sequence = try playerNames.values(in: #require(queue))
        var values = sequence.makeAsyncIterator()
        try #expect(await values.next() == ["a"])
        queue = nil
        try await waitUntil { weakQueue == nil }
        try #expect(await values.next() == nil)
        var count = 0
        for try await _ in sequence { count += 1 }
        #expect(count == 0)
    }

    @Test("what is freed may use the database: on the connection's side, nothing of the user is freed")
    func reentrance() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let freed = Recorder<Int>()
        func makeToken() -> Token {
            let token = Token()
            token.onDeinit = {
                freed.record((try? queue.read { db in try PlayerValue.fetchCount(db) }) ?? -1)
            }
            return token
        }
        // Cancelled while it fetches: the fetch is the last that holds it.
        for _ in 0..<50 {
            let token = makeToken()
            let running = ValueObservation<Int>.tracking { db in
                withExtendedLifetime(token) {}
                return try PlayerValue.fetchCount(db)
            }.start(in: queue, scheduling: .task) { _ in
            } onChange: { _ in
            }
            try await queue.run("UPDATE livePlayer SET score = score + 1")
            running.cancel()
        }
        // It ends with an error.
        do {
            let token = makeToken()
            let failing = ValueObservation<Int>.tracking { _ in
                withExtendedLifetime(token) {}
                throw Boom()
            }
            await #expect(throws: Boom()) { for try await _ in failing.values(in: queue) {} }
        }
        try await waitUntil { freed.elements.count == 51 }
        #expect(freed.elements.allSatisfy { $0 == 1 })
        // It ends with the database.
        let token = makeToken()
        let last = ValueObservation<Int>.tracking { db in
            withExtendedLifetime(token) {}
            return try PlayerValue.fetchCount(db)
        }.start(in: queue, scheduling: .task) { _ in
        } onChange: { _ in
        }
        try await queue.settle()
        try await queue.close()
        last.cancel()
    }

    @Test("an observation may be started and cancelled inside of an access, and by another one")
    func nesting() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let seen = Recorder<[String]>()
        let held = Shared<[AnyDatabaseCancellable]>([])
        try await queue.write { db in
            try db.addPlayer("b")
            let running = playerNames.start(in: queue, scheduling: .task) { _ in
            } onChange: { names in
                seen.record(names)
                held.withLock { $0.removeAll() }
            }
            held.withLock { $0.append(running) }
            try db.addPlayer("c")
        }
        try await waitUntil { !seen.elements.isEmpty && held.withLock { $0.isEmpty } }
        #expect(seen.elements == [["a", "b", "c"]])
    }

    @Test("a lock of another connection is waited for")
    func busy() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        let isLocked = Gate()
        let fetches = Recorder<Int>()
        // The thread lets go by itself: an observation waits for seconds, and this task for its
        // turn among all tests.
        async let locked: Void = onThread {
            try other.inTransaction(.exclusive) { _ in
                isLocked.open()
                try sleepUntil { fetches.elements.count > 1 }
                return .commit
            }
        }
        try await waitUntil { isLocked.isOpen }
        let names = ValueObservation.tracking { db in
            fetches.record(1)
            return try db.names()
        }
        var values = names.values(in: queue).makeAsyncIterator()
        try await locked
        try #expect(await values.next() == [])
    }
}

/// An object that reports when it is freed.
final class Token: @unchecked Sendable {  // set before it is shared
    var onDeinit: (@Sendable () -> Void)?
    deinit { onDeinit?() }
}
