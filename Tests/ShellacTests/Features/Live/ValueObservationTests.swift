import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Value observation", .behaviour(74))
struct ValueObservationTests {
    @Test(
        "the first value comes first, and one after each commit that may have changed it",
        arguments: LiveKind.allCases)
    func values(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "Arthur")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var values = playerNames.values(in: queue).makeAsyncIterator()
        try #expect(await values.next() == ["Arthur"])
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('Barbara')")
        try #expect(await values.next() == ["Arthur", "Barbara"])
        try await queue.run("UPDATE livePlayer SET name = 'Craig' WHERE id = 1")
        try #expect(await values.next() == ["Craig", "Barbara"])
        try await queue.run("DELETE FROM livePlayer")
        try #expect(await values.next() == [])
        try await queue.run("REPLACE INTO livePlayer (id, name) VALUES (7, 'Diane')")
        try #expect(await values.next() == ["Diane"])
    }

    @Test("the short way is a loop", arguments: LiveKind.allCases)
    func shortWay(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "Arthur")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var counts: [Int] = []
        for try await count in queue.values(tracking: { db in try PlayerValue.fetchCount(db) }) {
            counts.append(count)
            if counts.count == 3 { break }
            try await queue.run("INSERT INTO livePlayer (name) VALUES ('x')")
        }
        #expect(counts == [1, 2, 3])
    }

    @Test(
        "changes of other tables, other columns, other rows by id, and what is rolled back, fetch nothing",
        .behaviour(76), arguments: LiveKind.allCases)
    func idle(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "Arthur", "Barbara")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let fetches = Recorder<String>()
        let observations: [(String, ValueObservation<Int>)] = [
            ("names", .tracking { db in try String.fetchAll(db, sql: "SELECT name FROM livePlayer").count }),
            ("first", .tracking { db in try PlayerValue.fetchOne(db, key: 1)?.score ?? 0 }),
            ("request", .tracking { db in try PlayerValue.filter(key: 1).fetchOne(db)?.score ?? 0 }),
            ("class", .tracking { db in try LivePlayer.fetchOne(db, key: 1)?.score ?? 0 }),
            ("nothing", .tracking { _ in 3 }),
        ]
        let running = observations.map { name, observation in
            observation.handleEvents(willFetch: { fetches.record(name) })
                .start(in: queue, scheduling: .task) { _ in
                } onChange: { _ in
                }
        }
        try await waitUntil { fetches.elements.count == 5 }
        try await queue.settle()
        fetches.removeAll()
        try await queue.run("INSERT INTO other (note) VALUES ('x')")
        try await queue.run("UPDATE livePlayer SET score = 5 WHERE id = 2")
        try await queue.run("SAVEPOINT a; DELETE FROM livePlayer; ROLLBACK TO a; RELEASE a")
        _ = try? await queue.write { db in
            try db.execute(sql: "DELETE FROM livePlayer")
            throw Boom()
        }
        try await queue.run("UPDATE livePlayer SET name = 'x' WHERE id = 100")
        try await queue.settle()
        #expect(fetches.elements == [])
        try await queue.run("UPDATE livePlayer SET score = 5 WHERE id = 1")
        try await queue.settle()
        #expect(fetches.elements.sorted() == ["class", "first", "request"])
        fetches.removeAll()
        try await queue.run("UPDATE livePlayer SET id = 10 WHERE id = 1")
        try await queue.settle()
        #expect(fetches.elements.sorted() == ["class", "first", "names", "request"])
        withExtendedLifetime(running) {}
    }

    @Test(
        "what is read may differ from one fetch to the next, unless its region is constant",
        arguments: LiveKind.allCases)
    func regions(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind)
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        try await queue.run("INSERT INTO other (note) VALUES ('a')")
        @Sendable func fetch(_ db: Database) throws -> Int {
            let note = try String.fetchOne(db, sql: "SELECT note FROM other")
            return note == "a" ? 0 : try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM livePlayer") ?? 0
        }
        var varying = ValueObservation.tracking(fetch).values(in: queue).makeAsyncIterator()
        let seen = Recorder<Int>()
        let constant = ValueObservation.trackingConstantRegion(fetch)
            .start(in: queue, scheduling: .task) { _ in
            } onChange: {
                seen.record($0)
            }
        let explicit = ValueObservation.tracking(
            region: DatabaseRegion(table: "livePlayer"), SQLRequest<Row>(sql: "SELECT note FROM other"),
            fetch: fetch
        ).values(in: queue)
        var explicitValues = explicit.makeAsyncIterator()
        try #expect(await varying.next() == 0)
        try #expect(await explicitValues.next() == 0)
        try await waitUntil { seen.elements == [0] }
        try await queue.run("UPDATE other SET note = 'b'; INSERT INTO livePlayer (name) VALUES ('x')")
        try #expect(await varying.next() == 1)
        try #expect(await explicitValues.next() == 1)
        try await waitUntil { seen.elements == [0, 1] }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('y')")
        try #expect(await varying.next() == 2)
        try #expect(await explicitValues.next() == 2)
        try await queue.settle()
        #expect(seen.elements == [0, 1])
        // A change of the schema has it looked at again.
        try await queue.run("CREATE TABLE third (a)")
        try await waitUntil { seen.elements == [0, 1, 2] }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('z')")
        try await waitUntil { seen.elements == [0, 1, 2, 3] }
        withExtendedLifetime(constant) {}
    }

    @Test(
        "operators transform, filter and listen, each reader with a memory of its own",
        arguments: LiveKind.allCases)
    func operators(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let log = Recorder<String>()
        let observation = ValueObservation.tracking { db in try PlayerValue.fetchCount(db) }
            .map { $0 / 2 }.removeDuplicates().map { "half \($0)" }
            .print("o") { log.record($0) }
        var first = observation.values(in: queue).makeAsyncIterator()
        try #expect(await first.next() == "half 0")
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        try #expect(await first.next() == "half 1")
        var second = observation.values(in: queue).makeAsyncIterator()
        try #expect(await second.next() == "half 1")
        log.removeAll()
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('c')")
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('d')")
        try #expect(await first.next() == "half 2")
        try #expect(await second.next() == "half 2")
        #expect(log.elements.filter { $0 == "o: value: half 2" }.count == 2)
        #expect(log.elements.contains("o: fetch") && log.elements.contains("o: database did change"))
    }

    @Test("print tells the life of an observation, and handleEvents what its functions hear")
    func events() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let log = Recorder<String>()
        do {
            var values = playerNames.print { log.record($0) }.values(in: queue).makeAsyncIterator()
            _ = try await values.next()
        }
        try await waitUntil { log.elements.last == "cancel" }
        #expect(
            log.elements == [
                "start", "fetch", "tracked region: livePlayer(id,name)", "value: [\"a\"]", "cancel",
            ])
        log.removeAll()
        let failing = ValueObservation<Int>.tracking { _ in throw Boom(3) }
            .handleEvents(didFail: { log.record("\($0)") }, didCancel: { log.record("cancelled") })
        await #expect(throws: Boom(3)) { for try await _ in failing.values(in: queue) {} }
        #expect(log.elements.count == 1)
    }

    @Test(
        "a throttled observation reads no more often than it may, and ends with the newest value",
        arguments: LiveKind.allCases)
    func throttle(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind)
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let fetches = Recorder<Int>()
        let observation = ValueObservation.tracking { db in try PlayerValue.fetchCount(db) }
            .handleEvents(willFetch: { fetches.record(1) })
        let seen = Recorder<Int>()
        let rare = observation.throttle(.seconds(3600))
            .start(in: queue, scheduling: .task) { _ in
            } onChange: {
                seen.record($0)
            }
        try await waitUntil { seen.elements == [0] }
        for _ in 0..<20 { try await queue.run("INSERT INTO livePlayer (name) VALUES ('x')") }
        try await queue.settle()
        #expect(fetches.elements.count == 1)
        rare.cancel()
        let often = observation.throttle(.milliseconds(5))
            .start(in: queue, scheduling: .task) { _ in
            } onChange: {
                seen.record($0)
            }
        for _ in 0..<20 { try await queue.run("INSERT INTO livePlayer (name) VALUES ('x')") }
        try await waitUntil { seen.elements.last == 40 }
        withExtendedLifetime(often) {}
    }

    @Test("the buffering policy says which values a slow reader finds")
    func buffering() async throws {
        let queue = try DatabaseQueue.withLivePlayers()
        let counts = ValueObservation.tracking { db in try PlayerValue.fetchCount(db) }
        let posted = Recorder<Int>()
        let watched = counts.handleEvents(didReceiveValue: { posted.record($0) })
        var newest = watched.values(in: queue).makeAsyncIterator()
        try await waitUntil { posted.elements.count == 1 }
        var all = counts.values(in: queue, bufferingPolicy: .unbounded).makeAsyncIterator()
        var oldest = counts.values(in: queue, bufferingPolicy: .bufferingOldest(2)).makeAsyncIterator()
        try #expect(await all.next() == 0)
        for number in 1...5 {
            try await queue.run("INSERT INTO livePlayer (name) VALUES ('x')")
            try await waitUntil { posted.elements.last == number }
            try await queue.settle()
        }
        try #expect(await newest.next() == 5)
        var found: [Int] = []
        for _ in 0..<5 { try await all.next().map { found.append($0) } }
        #expect(found == [1, 2, 3, 4, 5])
        try #expect(await oldest.next() == 0)
        try #expect(await oldest.next() == 1)
    }

    @Test("start calls its functions where the scheduler says", arguments: ["task", "queue", "main"])
    func scheduling(_ name: String) async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let seen = Recorder<[String]>()
        let dispatchQueue = DispatchQueue(label: "test")
        dispatchQueue.setSpecific(key: queueKey, value: 7)
        let running: AnyDatabaseCancellable
        switch name {
        case "task":
            running = playerNames.start(in: queue, scheduling: .task) { _ in
            } onChange: {
                seen.record($0)
            }
        case "queue":
            running = playerNames.start(in: queue, scheduling: .async(onQueue: dispatchQueue)) { _ in
            } onChange: { names in
                seen.record(DispatchQueue.getSpecific(key: queueKey) == 7 ? names : ["elsewhere"])
            }
        default:
            running = playerNames.start(in: queue) { _ in
            } onChange: { names in
                MainActor.preconditionIsolated()
                seen.record(names)
            }
        }
        try await waitUntil { seen.elements.count == 1 }
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try await waitUntil { seen.elements.count == 2 }
        running.cancel()
        try await queue.run("UPDATE livePlayer SET name = 'c'")
        try await queue.settle()
        #expect(seen.elements == [["a"], ["b"]])
    }

    @Test("an immediate start hands over the first value before it returns")
    func immediate() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let names = Recorder<[String]>()
        let running = await MainActor.run {
            let running = playerNames.start(in: queue, scheduling: .immediate) { _ in
            } onChange: {
                names.record($0)
            }
            #expect(names.elements == [["a"]])
            var errors = 0
            let failing = ValueObservation<Int>.tracking { _ in throw Boom() }
                .start(in: queue, scheduling: .immediate) { _ in
                    errors += 1
                } onChange: { _ in
                }
            #expect(errors == 1)
            withExtendedLifetime(failing) {}
            return running
        }
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try await waitUntil { names.elements == [["a"], ["b"]] }
        withExtendedLifetime(running) {}
    }

    @Test("an immediate start on another thread stops the program, with a sentence")
    func immediateElsewhere() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let queue = try DatabaseQueue.withLivePlayers("a")
            try await onThread {
                _ = playerNames.start(in: queue, scheduling: .immediate) { _ in
                } onChange: { _ in
                }
            }
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("an observation was started with .immediate outside of the main thread"))
    }
}

private let queueKey = DispatchSpecificKey<Int>()
