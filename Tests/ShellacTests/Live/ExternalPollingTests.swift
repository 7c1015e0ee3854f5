import TestSupport
import Testing

@testable import Shellac

@Suite("Commits of other connections", .behaviour(74))
struct ExternalPollingTests {
    @Test("are followed by observations that ask for them, of functions and of requests")
    func external() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue { $0.busyMode = .timeout(10) })
        let plain = Recorder<[String]>()
        let names = ValueObservation.tracking { db in try db.names() }
        let running = names.start(in: queue, scheduling: .task) { _ in
        } onChange: {
            plain.record($0)
        }
        var values = names.observingExternalChanges(every: .milliseconds(1)).values(in: queue)
            .makeAsyncIterator()
        let request = SQLRequest<String>(sql: "SELECT name FROM player ORDER BY id")
        var requested = queue.values(of: request).observingExternalChanges(every: .milliseconds(1))
            .makeAsyncIterator()
        try #expect(await values.next() == [])
        try #expect(await requested.next() == [])
        try await waitUntil { plain.elements == [[]] }
        for round in 1...10 {
            try await other.write { db in try db.insert("n\(round)") }
            while let found = try await values.next(), found.count < round {}
            while let found = try await requested.next(), found.count < round {}
        }
        // Another connection's change of the schema.
        try await other.write { db in
            try db.execute(
                sql:
                    "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY, name); INSERT INTO player VALUES (1, 'z')"
            )
        }
        while let found = try await values.next(), found != ["z"] {}
        while let found = try await requested.next(), found != ["z"] {}
        #expect(plain.elements == [[]])
        withExtendedLifetime(running) {}
    }

    @Test("are asked for as long as somebody wants to know")
    func end() async throws {
        let file = try TemporaryDatabase()
        let spy = SQLSpy()
        let queue = try file.queue { $0.trace = spy.trace }
        func questions() -> Int { spy.sql.filter { $0.contains("data_version") }.count }
        do {
            let observation = ValueObservation.tracking { db in try db.names() }
            var slow = observation.observingExternalChanges(every: .seconds(60)).values(in: queue)
                .makeAsyncIterator()
            try #expect(await slow.next() == [])
            var quick = observation.values(in: queue).observingExternalChanges(every: .milliseconds(1))
                .makeAsyncIterator()
            try #expect(await quick.next() == [])
            let count = questions()
            try await waitUntil { questions() > count + 5 }
        }
        try await queue.settle()
        try await queue.settle()
        let count = questions()
        try await queue.settle()
        #expect(questions() == count)
        var again = queue.values(tracking: { db in try db.names() }).observingExternalChanges(
            every: .milliseconds(1)
        )
        .makeAsyncIterator()
        try #expect(await again.next() == [])
        try await waitUntil { questions() > count + 5 }
        try queue.close()
        try #expect(await again.next() == nil)
    }

    @Test("are waited for while another connection holds the file locked")
    func locked() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        var values = queue.values(tracking: { db in try db.names() }).observingExternalChanges(
            every: .milliseconds(1)
        )
        .makeAsyncIterator()
        try #expect(await values.next() == [])
        try await other.insertWhileLocked("a")
        try #expect(await values.next() == ["a"])
    }
}

extension DatabaseQueue {
    /// Inserts a player, and holds the file locked for a while.
    fileprivate func insertWhileLocked(_ name: String) async throws {
        let (isLocked, mayUnlock) = (Gate(), Gate())
        async let locked: Void = onThread {
            try self.inTransaction(.exclusive) { db in
                try db.insert(name)
                isLocked.open()
                try mayUnlock.wait()
                return .commit
            }
        }
        try await waitUntil { isLocked.isOpen }
        try await Task.sleep(for: .milliseconds(30))
        mayUnlock.open()
        try await locked
    }
}
