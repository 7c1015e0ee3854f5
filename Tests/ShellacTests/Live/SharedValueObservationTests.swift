import TestSupport
import Testing

@testable import Shellac

@Suite("Shared observations", .behaviour(74, 75))
struct SharedValueObservationTests {
    private func makeShared(
        _ queue: DatabaseQueue, _ fetches: Recorder<Int>,
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<[String]> {
        playerNames.handleEvents(willFetch: { fetches.record(1) }).shared(
            in: queue, scheduling: .task, extent: extent)
    }

    @Test("fetch once for all readers; a later one has the newest value at once")
    func sharing() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
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

    @Test("an error ends all readers, and the next one begins anew")
    func errors() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
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
        try queue.close()
        try #expect(await third.next() == nil)
    }

    @Test("readers that come and go at once find the newest value, and leave nothing behind")
    func crowd() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
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
        try queue.inDatabase { db in #expect(db.broker?.observers.isEmpty ?? true) }
    }
}
