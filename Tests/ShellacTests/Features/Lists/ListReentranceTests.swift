import Foundation
import TestSupport
import Testing

@testable import Shellac

private let byName = ListPlayer.order(Column("name"))

/// Calls in the midst of a change, or while one is on its way.
@Suite("A list that is asked while it changes", .behaviour(77))
struct ListReentranceTests {
    @Test("may be fetched where it is about to change: its functions are told nothing of what it has then")
    @MainActor
    func fetchBeforeChange() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        let told = Shared<[String]>([])
        controller.trackChanges(
            willChange: { controller in
                told.withLock { $0.append("will") }
                try? queue.write { try $0.execute(sql: "DELETE FROM listPlayer") }
                #expect(throws: Never.self) { try controller.performFetch() }
            },
            onChange: { _, player, _ in told.withLock { $0.append(player.name) } },
            didChange: { controller in told.withLock { $0.append("did \(controller.fetchedRecords.count)") } }
        )
        try await queue.change("UPDATE listPlayer SET score = 1 WHERE name = 'a'")
        try await eventually { told.value.count >= 2 }
        #expect(told.value == ["will", "did 0"])
        #expect(controller.fetchedRecords.isEmpty)
    }

    @Test(
        "tells a change to its end, with the records that it is of, also where it is fetched or stopped meanwhile"
    )
    @MainActor
    func fetchWithinChange() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        let told = Shared<[String]>([])
        controller.trackChanges(
            onChange: { controller, player, _ in
                told.withLock { $0.append(player.name) }
                try? queue.write { try $0.execute(sql: "DELETE FROM listPlayer") }
                #expect(throws: Never.self) { try controller.performFetch() }
                controller.stopTracking()
            },
            didChange: { controller in told.withLock { $0.append("did \(controller.fetchedRecords.count)") } }
        )
        try await queue.change(
            "DELETE FROM listPlayer WHERE name = 'b'; UPDATE listPlayer SET score = 1; INSERT INTO listPlayer (name) VALUES ('d')"
        )
        try await eventually { told.value.last?.hasPrefix("did") == true }
        #expect(told.value == ["b", "a", "c", "d", "did 0"])
    }

    @Test("does not go back to what was on its way when it was fetched") @MainActor
    func staleFetch() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        let counts = Shared<[Int]>([])
        controller.trackChanges(didChange: { controller in
            counts.withLock { $0.append(controller.fetchedRecords.count) }
        })
        // The tracking waits.
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('b')")
        try await eventually { counts.value == [2] }
        for number in 3..<8 {
            try queue.inDatabase { try $0.execute(sql: "INSERT INTO listPlayer (name) VALUES ('n')") }
            // Meanwhile it is handed to the task, which waits for this actor.
            Self.sleep()
            try queue.inDatabase { try $0.execute(sql: "INSERT INTO listPlayer (name) VALUES ('m')") }
            try controller.performFetch()
            #expect(controller.fetchedRecords.count == 2 * number - 2)
            for _ in 0..<20 { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(counts.value == [2])
    }

    @Test("is told no errors of a request that was replaced, and goes on with the other one") @MainActor
    func staleError() async throws {
        struct NoName: Error {}
        let queue = try DatabaseQueue.withListPlayers("a")
        let isFailing = Shared(false)
        let controller = FetchedRecordsController(queue, request: byName) { _ in
            if isFailing.value { throw NoName() }
            return "all"
        }
        try controller.performFetch()
        let errors = Shared<[String]>([])
        controller.trackErrors { _, error in errors.withLock { $0.append("\(error)") } }
        controller.trackChanges()
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('b')")
        try await eventually { controller.fetchedRecords.count == 2 }
        // A row that does not convert.
        try queue.inDatabase { try $0.execute(sql: "UPDATE listPlayer SET score = 'many' WHERE name = 'a'") }
        Self.sleep()
        controller.setRequest(byName.filter(Column("name") == "b"))
        try await eventually { controller.fetchedRecords.map(\.name) == ["b"] || !errors.value.isEmpty }
        #expect(errors.value == [])
        try await queue.change(
            "UPDATE listPlayer SET name = 'c', score = 1; INSERT INTO listPlayer (name) VALUES ('b')")
        try await eventually { controller.fetchedRecords.map(\.id) == [3] || !errors.value.isEmpty }
        #expect(errors.value == [])
    }

    @Test(
        "has one section before the first fetch, where sections have no names, so that changes can be applied to it"
    )
    func firstChanges() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let controller = FetchedRecordsController(queue, request: byName)
        #expect(controller.outline == [":0"] && controller.records(inSection: 0).isEmpty)
        var names: [[String]] = controller.sections.map { _ in [] }
        var iterator = controller.changes.makeAsyncIterator()
        names = try #require(await iterator.next()).applied(to: names) { controller.record(at: $0).name }
        #expect(names == [["a", "b"]])
    }

    @Test("is not followed any more where its loop has ended")
    func brokenLoop() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let count = Shared(0)
        let request = SQLRequest<ListPlayer>(sql: "SELECT *, fetched() FROM listPlayer")
        try await queue.write { db in
            try db.add(
                function: DatabaseFunction("fetched", argumentCount: 0) { _ in
                    count.withLock { $0 += 1 }
                    return 1
                })
        }
        let controller = FetchedRecordsController(queue, request: request)
        for try await _ in controller.changes { break }
        let before = count.value
        for number in 0..<5 { try await queue.change("INSERT INTO listPlayer (name) VALUES ('x\(number)')") }
        try await Task.sleep(for: .milliseconds(50))
        #expect(count.value == before)
        withExtendedLifetime(controller) {}
    }

    @Test("does not keep the actor that owns it")
    func freedActor() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        weak var freed: Owner?
        do {
            let owner = Owner(queue)
            freed = owner
            try await owner.track()
            try await queue.change("INSERT INTO listPlayer (name) VALUES ('b')")
            try await eventually { await owner.told == 1 }
        }
        for _ in 0..<2_000 where freed != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(freed == nil)
    }

    @Test("is no list that other changes are applied to: they trap") func unfitChanges() async {
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            let place = RecordIndexPath(row: 1, section: 0)
            _ = FetchedRecordsChanges(changes: [.deletion(indexPath: place)]).applied(to: [[1]]) { _ in 0 }
        }
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            _ = FetchedRecordsChanges(deletedSections: [1]).applied(to: [[1]]) { _ in 0 }
        }
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            _ = FetchedRecordsChanges(insertedSections: [2]).applied(to: [[1]]) { _ in 0 }
        }
    }

    private actor Owner {
        let controller: FetchedRecordsController<ListPlayer>
        private(set) var told = 0

        init(_ queue: DatabaseQueue) { controller = FetchedRecordsController(queue, request: byName) }

        func track() throws {
            try controller.performFetch()
            controller.trackChanges(onChange: { [weak self] _, _, _ in self?.assumeIsolated { $0.told += 1 } }
            )
        }
    }

    private static func sleep() { Thread.sleep(forTimeInterval: 0.05) }
}
