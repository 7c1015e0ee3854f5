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
        try await queue.close()
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

    @Test("are not missed by an observation because another one begins to ask")
    func anotherQuestion() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        let counts = ValueObservation.tracking { db in try db.names().count }
        var slow = counts.observingExternalChanges(every: .milliseconds(400)).values(in: queue)
            .makeAsyncIterator()
        try #expect(await slow.next() == 0)
        try await other.write { db in try db.insert("a") }
        var late = counts.observingExternalChanges(every: .seconds(60)).values(in: queue).makeAsyncIterator()
        try #expect(await late.next() == 1)
        try #expect(await slow.next() == 1)
    }

    @Test("are followed by those readers of a request that ask for them, beside readers that do not")
    func readersOfOneRequest() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        let request = SQLRequest<String>(sql: "SELECT name FROM player ORDER BY id")
        var plain = queue.values(of: request).makeAsyncIterator()
        try #expect(await plain.next() == [])
        var asking = queue.values(of: request).observingExternalChanges(every: .milliseconds(1))
            .makeAsyncIterator()
        try #expect(await asking.next() == [])
        try await other.write { db in try db.insert("a") }
        try #expect(await asking.next() == ["a"])
    }

    @Test("of the schema, which one observation has seen, harm no other one")
    func schema() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try await other.write { db in try db.createLivePlayers() }
        var first = queue.values(of: PlayerValue.filter(Column("teamID") == 1)).makeAsyncIterator()
        try #expect(await first.next() == [])
        try await other.run("CREATE INDEX i ON livePlayer(score)")
        var second = queue.values(of: PlayerValue.filter(Column("score") > 5)).makeAsyncIterator()
        try #expect(await second.next() == [])
        try await queue.write { db in try db.addPlayer("a", score: 7, teamID: 1) }
        try #expect(await first.next()?.count == 1)
        try #expect(await second.next()?.count == 1)
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
