import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("What live values cost")
struct LiveCostTests {
    #if os(Linux)
    @Test("an observation takes 2 KB at most, without its result", .behaviour(76))
    func memory() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            crashWithoutBacktrace()
            let queue = try DatabaseQueue.withLivePlayers()
            func follow(_ numbers: Range<Int>) async throws -> [DatabaseValues<[PlayerValue]>.Iterator] {
                var iterators: [DatabaseValues<[PlayerValue]>.Iterator] = []
                iterators.reserveCapacity(numbers.count)
                for number in numbers {
                    var iterator = queue.values(of: PlayerValue.filter(Column("teamID") == number))
                        .makeAsyncIterator()
                    _ = try await iterator.next()
                    iterators.append(iterator)
                }
                try await queue.settle()
                return iterators
            }
            // Memory that is allocated once, and the spare capacity of arrays.
            let first = try await follow(0..<5_000)
            let before = try heapBytes()
            let others = try await follow(5_000..<10_000)
            let bytes = try heapBytes() - before
            print("bytes:", bytes / 5_000)
            withExtendedLifetime((first, others)) {}
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let bytes = try #require(output.firstMatch(of: /bytes: (\d+)/).flatMap { Int($0.1) }, "\(output)")
        #expect(bytes > 200 && bytes <= 2_048, "\(bytes)")
    }
    #endif

    @Test(
        "of 1,000 observations of rows by a value, a change has those fetched that look for it",
        .behaviour(76))
    func thousand() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in
            try db.createLivePlayers()
            for team in 1...1_000 { try db.addPlayer("p\(team)", teamID: Int64(team)) }
        }
        let arrived = Recorder<Int>()
        let tasks = (1...1_000).map { team in
            Task {
                for try await _ in queue.values(of: PlayerValue.filter(Column("teamID") == team)) {
                    arrived.record(team)
                }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await waitUntil { arrived.elements.count == 1_000 }
        try await queue.settle()
        func fetches(_ sql: String) async throws -> (Int, [Int]) {
            spy.removeAll()
            arrived.removeAll()
            try await queue.run(sql)
            try await queue.settle()
            return (
                spy.sql.filter { $0.hasPrefix("SELECT * FROM \"livePlayer\"") }.count,
                arrived.elements.sorted()
            )
        }
        try #expect(await fetches("UPDATE livePlayer SET score = 1 WHERE id = 7") == (1, [7]))
        try #expect(await fetches("UPDATE livePlayer SET teamID = 8 WHERE id = 7") == (2, [7, 8]))
        try #expect(await fetches("INSERT INTO livePlayer (name, teamID) VALUES ('x', 2000)") == (0, []))
        try #expect(await fetches("UPDATE livePlayer SET id = id") == (0, []))
    }

    @Test("a commit that wakes a thousand does not have a writer wait for all of them", .behaviour(74))
    func fairness() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in try db.createLivePlayers() }
        let seen = Recorder<Int>()
        let running = (0..<1_000).map { number in
            ValueObservation.tracking { db in try PlayerValue.fetchCount(db) + number * 0 }
                .start(in: queue, scheduling: .task) { _ in
                } onChange: {
                    seen.record($0)
                }
        }
        try await waitUntil { seen.elements.count == 1_000 }
        try await queue.settle()
        spy.removeAll()
        // While the queue is held, all of them wake up, and then a writer comes.
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('a')")
        let hold = try await Hold(queue)
        try await Task.sleep(for: .milliseconds(50))
        async let written: Void = queue.run("INSERT INTO other (note) VALUES ('b')")
        try await Task.sleep(for: .milliseconds(50))
        let before = spy.sql.filter { $0.contains("COUNT") }.count
        try await hold.release()
        try await written
        let position = try #require(spy.sql.firstIndex { $0.contains("INTO other") })
        let fetched = spy.sql[..<position].filter { $0.contains("COUNT") }.count
        #expect(fetched - before <= 8)
        try await waitUntil { seen.elements.count == 2_000 }
        withExtendedLifetime(running) {}
    }

    @Test("a hundred thousand changes beside a thousand observations are held up by none", .behaviour(76))
    func manyChanges() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let arrived = Recorder<Int>()
        let tasks = (0..<1_000).map { number in
            Task {
                let request = PlayerValue.filter(Column("score") > 1_000_000 + number).select(
                    Column("id"), as: Int64.self)
                for try await ids in queue.values(of: request) { arrived.record(ids.count) }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await waitUntil { arrived.elements.count == 1_000 }
        try await queue.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO livePlayer (name, score) SELECT 'x', i FROM n"
        )
        try await queue.settle()
        #expect(arrived.elements.count == 1_000)
        try await queue.run("UPDATE livePlayer SET score = 1000500 WHERE id = 5")
        try await waitUntil { arrived.elements.count == 1_500 }
        try await queue.settle()
        #expect(arrived.elements.count == 1_500)
    }
}

#if os(Linux)
/// The bytes of the heap that are in use, as the C library counts them: "malloc_info" in the Linux
/// manual.
func heapBytes() throws -> Int {
    typealias Function = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    let symbol = try #require(dlsym(nil, "malloc_info"))
    let folder = try TemporaryFolder()
    let file = try #require(fopen(folder.path("heap.xml"), "w"))
    _ = unsafeBitCast(symbol, to: Function.self)(0, file)
    fclose(file)
    let text = try String(contentsOfFile: folder.path("heap.xml"), encoding: .utf8)
    // The totals of all heaps come after the last one.
    let total = text.components(separatedBy: "</heap>").last ?? ""
    func number(_ expression: Regex<(Substring, Substring)>) -> Int {
        total.firstMatch(of: expression).flatMap { Int($0.1) } ?? 0
    }
    return number(/type="current" size="(\d+)"/) + number(/type="mmap" count="\d+" size="(\d+)"/)
        - number(/type="fast" count="\d+" size="(\d+)"/) - number(/type="rest" count="\d+" size="(\d+)"/)
}
#endif

/// Callers of all kinds, none of which says more than it needs.
@Suite("Callers of live values", .behaviour(75))
struct LiveCallersTests {
    actor Keeper {
        var players: [LivePlayer] = []
        func follow(_ queue: DatabaseQueue) async throws {
            for try await players in queue.values(of: LivePlayer.all()) {
                self.players = players
                if !players.isEmpty { return }
            }
        }
        func count() -> Int { players.count }
    }

    @MainActor final class Model {
        var players: [LivePlayer] = []
        var running: AnyDatabaseCancellable?
        var count: Int { players.count }
        func follow(_ queue: DatabaseQueue) {
            running = ValueObservation.tracking { db in try LivePlayer.fetchAll(db) }
                .start(in: queue) { error in
                    Issue.record(error)
                } onChange: { players in
                    self.players = players
                }
        }
        func loop(_ queue: DatabaseQueue) async throws {
            for try await players in queue.values(tracking: { db in try LivePlayer.fetchAll(db) }) {
                self.players += players
                return
            }
        }
    }

    nonisolated func first(_ queue: DatabaseQueue) async throws -> [LivePlayer]? {
        var iterator = queue.values(of: LivePlayer.all()).makeAsyncIterator()
        return try await iterator.next()
    }

    @Test("actors, the main actor, tasks and functions take class records")
    func callers() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let keeper = Keeper()
        try await keeper.follow(queue)
        #expect(await keeper.count() == 1)
        let model = await Model()
        await model.follow(queue)
        for _ in 0..<10_000 where await model.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
        try await model.loop(queue)
        #expect(await model.count == 2)
        try #expect(await first(queue)?.first?.name == "a")
        let task = Task {
            for try await players in queue.values(of: LivePlayer.all()) { return players.count }
            return 0
        }
        try #expect(await task.value == 1)
        let observation = ValueObservation.tracking(PlayerValue.fetchAll).map { $0.map(\.name) }
        for try await names in observation.values(in: queue) {
            #expect(names == ["a"])
            break
        }
    }
}
