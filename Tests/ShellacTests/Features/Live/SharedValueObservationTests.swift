import TestSupport
import Testing

@testable import Shellac

@Suite("Shared observations", .behaviour(74, 75))
struct SharedValueObservationTests {
    private func makeShared(
        _ queue: any DatabaseWriter, _ fetches: Recorder<Int>,
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<[String]> {
        playerNames.handleEvents(willFetch: { fetches.record(1) }).shared(
            in: queue, scheduling: .task, extent: extent)
    }

    @Test(
        "fetch once for all readers; a later one has the newest value at once", arguments: LiveKind.allCases)
    func sharing(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let fetches = Recorder<Int>()
        let shared = makeShared(queue, fetches)
        var first = shared.values().makeAsyncIterator()
        var second = shared.values().makeAsyncIterator()
        try #expect(await first.next() == ["a"])
        try #expect(await second.next() == ["a"])
        let seen = Recorder<[String]>()
        let third = shared.start(onError: { _ in }, onChange: { seen.record($0) })
        try await waitUntil { seen.elements == [["a"]] }
        #expect(fetches.elements.count == 1)
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try #expect(await first.next() == ["b"])
        try #expect(await second.next() == ["b"])
        try await waitUntil { seen.elements == [["a"], ["b"]] }
        #expect(fetches.elements.count == 2)
        third.cancel()
        try await queue.run("UPDATE livePlayer SET name = 'c'")
        try #expect(await first.next() == ["c"])
        #expect(seen.elements.count == 2)
    }

    @Test(
        "end with the last reader, or with the shared observation",
        arguments: [SharedValueObservationExtent.whileObserved, .observationLifetime])
    func extent(_ extent: SharedValueObservationExtent) async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let fetches = Recorder<Int>()
        var shared: SharedValueObservation<[String]>? = makeShared(queue, fetches, extent: extent)
        for try await _ in try #require(shared).values() { break }
        #expect(fetches.elements.count == 1)
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try await queue.settle()
        #expect(fetches.elements.count == (extent == .whileObserved ? 1 : 2))
        for try await names in try #require(shared).values() {
            #expect(names == ["b"])
            break
        }
        #expect(fetches.elements.count == 2)
        shared = nil
        try await queue.run("UPDATE livePlayer SET name = 'c'")
        try await queue.settle()
        #expect(fetches.elements.count == 2)
    }

    @Test("an error ends all readers, and the next one begins anew", arguments: LiveKind.allCases)
    func errors(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let shared = ValueObservation.tracking { db -> Int in
            let count = try PlayerValue.fetchCount(db)
            if count == 2 { throw Boom(2) }
            return count
        }.shared(in: queue, scheduling: .task)
        var first = shared.values().makeAsyncIterator()
        try #expect(await first.next() == 1)
        let told = Recorder<String>()
        let second = shared.start(onError: { told.record("\($0)") }, onChange: { told.record("\($0)") })
        try await waitUntil { told.elements == ["1"] }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        await #expect(throws: Boom(2)) { try await first.next() }
        try await waitUntil { told.elements.count == 2 }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('c')")
        var third = shared.values().makeAsyncIterator()
        try #expect(await third.next() == 3)
        #expect(told.elements.count == 2)
        withExtendedLifetime(second) {}
        // (A pool is not closed as long as it has an observer.)
        guard kind == .queue else { return }
        try await queue.close()
        try #expect(await third.next() == nil)
    }

    @Test(
        "readers that come and go at once find the newest value, and leave nothing behind",
        arguments: LiveKind.allCases)
    func crowd(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let fetches = Recorder<Int>()
        let shared = makeShared(queue, fetches)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    if number % 10 == 0 { try await queue.run("UPDATE livePlayer SET name = 'n\(number)'") }
                    for try await _ in shared.values() { if number % 3 != 0 { break } else { return } }
                }
            }
            try await group.waitForAll()
        }
        try await queue.run("UPDATE livePlayer SET name = 'last'")
        for try await names in shared.values() where names == ["last"] { break }
        try await queue.run("UPDATE livePlayer SET name = 'x'")
        try await queue.run("UPDATE livePlayer SET name = 'y'")
        // (A pool may be reading for an observer that has left. The next commit finds out which
        // one.)
        try await waitUntil {
            try queue.inDatabase { db in try db.execute(sql: "UPDATE livePlayer SET name = name || 'z'") }
            return try queue.inDatabase { db in db.broker?.observers.isEmpty ?? true }
        }
    }

    @Test("what gives way to a newer value may come back when it is freed")
    func freedValues() async throws {
        /// A value that reads the observation once more when it is freed.
        final class Witness: Sendable {
            let onDeinit: @Sendable () -> Void
            init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
            deinit { onDeinit() }
        }
        let queue = try DatabaseQueue.withLivePlayers("a")
        let reading = Shared<SharedValueObservation<Witness>?>(nil)
        let freed = Recorder<Int>()
        let shared = ValueObservation<Witness>.tracking { db in
            let count = try PlayerValue.fetchCount(db)
            return Witness {
                reading.value?.start(onError: { _ in }, onChange: { _ in }).cancel()
                freed.record(count)
            }
        }.shared(in: queue, scheduling: .task)
        reading.withLock { $0 = shared }
        // The first one reads nothing, and so each value is replaced in its mailbox, too.
        let idle = shared.values().makeAsyncIterator()
        let told = Recorder<Int>()
        let running = shared.start(onError: { _ in }, onChange: { _ in told.record(1) })
        for count in 1...4 {
            try await waitFor(count) { told.elements.count }
            try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        }
        try await waitUntil { freed.elements == [1, 2, 3, 4] }
        reading.withLock { $0 = nil }
        withExtendedLifetime((idle, running)) {}
    }

    @Test("an immediate start has its first value at once, also where that of other readers is on its way")
    func immediate() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let fetches = Recorder<Int>()
        let shared = playerNames.handleEvents(willFetch: { fetches.record(1) }).shared(
            in: queue, scheduling: .immediate)
        let seen = Recorder<[String]>()
        let (isHeld, mayGo) = (Gate(), Gate())
        async let held: Void = onThread {
            try queue.inDatabase { _ in
                isHeld.open()
                try mayGo.wait()
            }
        }
        try await waitUntil { isHeld.isOpen }
        var values = shared.values().makeAsyncIterator()
        async let release: Void = {
            try await Task.sleep(for: .milliseconds(20))
            mayGo.open()
        }()
        let running = await MainActor.run {
            let running = shared.start(onError: { _ in }, onChange: { seen.record($0) })
            #expect(seen.elements == [["a"]])
            let late = shared.start(onError: { _ in }, onChange: { seen.record($0) })
            #expect(seen.elements == [["a"], ["a"]])
            late.cancel()
            return running
        }
        _ = try await (held, release)
        try #expect(await values.next() == ["a"])
        seen.removeAll()
        try await queue.run("UPDATE livePlayer SET name = 'b'")
        try #expect(await values.next() == ["b"])
        try await waitUntil { seen.elements == [["b"]] }
        fetches.removeAll()
        try await queue.run("UPDATE livePlayer SET name = 'c'")
        try #expect(await values.next() == ["c"])
        // There is one observation, and not two.
        #expect(fetches.elements.count == 1)
        withExtendedLifetime(running) {}
    }
}
