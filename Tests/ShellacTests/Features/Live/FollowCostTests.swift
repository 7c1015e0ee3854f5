import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("What records that follow their rows cost", .behaviour(78))
struct FollowCostTests {
    @Test(
        "of 10,000 followed records, a commit has those fetched whose rows it has changed, a hundred by one statement"
    )
    func tenThousand() async throws {
        let spy = SQLSpy()
        let fetched = Recorder<DatabaseValue>()
        let isFetch = Shared(false)
        var configuration = spy.configuration()
        configuration.trace = { event in
            spy.trace(event)
            if event.kind == .statement { isFetch.withLock { $0 = event.sql.isFetchOfFollowed } }
        }
        // Each row that is fetched is counted: a generated column of the table calls this, also
        // where a row is written.
        configuration.prepareDatabase { db in
            try db.add(
                function: DatabaseFunction("seen", argumentCount: 1, pure: true) { values in
                    if isFetch.value { fetched.record(values[0]) }
                    return values[0]
                })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        let count = 10_000
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE livePlayer (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
                        score INTEGER NOT NULL DEFAULT 0, teamID INTEGER, echo AS (seen(id)));
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                        INSERT INTO livePlayer (id, name) SELECT i, 'p' || i FROM n
                    """)
        }
        var iterators: [RecordStates.Iterator] = []
        for player in try await queue.read({ db in
            try LivePlayer.fetchAll(
                db, sql: "SELECT id, name, score, teamID FROM livePlayer WHERE id <= ?", arguments: [count])
        }) {
            iterators.append(player.follow(in: queue).makeAsyncIterator())
        }
        for index in iterators.indices { _ = try await iterators[index].next() }
        try await queue.settle()
        /// The statements that fetch, and the rows that they read.
        func fetches(_ sql: String) async throws -> (statements: Int, rows: Int) {
            spy.removeAll()
            fetched.removeAll()
            try await queue.run(sql)
            try await queue.settle()
            return (spy.takeFetches().count, fetched.removeAll().count)
        }
        try #expect(await fetches("UPDATE livePlayer SET score = 1 WHERE id = 77") == (1, 1))
        guard case .changed(let row)? = try await iterators[76].next() else {
            Issue.record("the row is there")
            return
        }
        try #expect(row["id"] == 77 && row["score"] == 1)
        try #expect(await fetches("UPDATE livePlayer SET score = 1 WHERE id > 10000") == (0, 0))
        try #expect(await fetches("UPDATE livePlayer SET score = 2 WHERE id BETWEEN 101 AND 350") == (3, 250))
        try #expect(await fetches("DELETE FROM livePlayer WHERE id IN (1, 2, 15000)") == (1, 0))
        try #expect(await fetches("UPDATE livePlayer SET score = 3") == (100, 9_998))
        for (index, score) in [(0, nil), (76, 3), (9_999, 3)] as [(Int, Int?)] {
            switch try await iterators[index].next() {
            case .changed(let row)?: try #expect(row["score"] == score)
            case .deleted?: #expect(score == nil)
            case nil: Issue.record("it goes on")
            }
        }
        withExtendedLifetime(iterators) {}
    }

    @Test("10,000 new followers are fetched by their keys alone, and those who leave are forgotten")
    func comingAndGoing() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.write { db in
            try db.createLivePlayers()
            for number in 1...300 { try db.addPlayer("p\(number)") }
        }
        let players = try await queue.read { db in try LivePlayer.fetchAll(db) }
        var iterators = players.map { $0.follow(in: queue).makeAsyncIterator() }
        spy.removeAll()
        for index in iterators.indices { _ = try await iterators[index].next() }
        try await queue.settle()
        let rows = try await queue.inDatabaseOfTests { db in LiveHosts.of(db).followed.first }
        #expect(rows?.count == 300)
        iterators.removeLast(100)
        try await waitUntil { rows?.count == 200 }
        iterators = []
        try await waitUntil { rows?.isEnded == true }
        #expect(rows?.count == 0)
        spy.removeAll()
        try await queue.run("UPDATE livePlayer SET score = 5")
        try await queue.settle()
        #expect(spy.takeFetches() == [])
    }

    #if os(Linux)
    @Test("a followed row takes 1 KB at most, with the loop that waits for it")
    func memory() async throws {
        await #expect(processExitsWith: .success) {
            crashWithoutBacktrace()
            let queue = try DatabaseQueue.withLivePlayers()
            try queue.inDatabase { db in for number in 1...10_000 { try db.addPlayer("player \(number)") } }
            let players = try await queue.read { db in try LivePlayer.fetchAll(db) }
            func follow(_ players: ArraySlice<LivePlayer>) async throws -> [RecordStates.Iterator] {
                var iterators: [RecordStates.Iterator] = []
                iterators.reserveCapacity(players.count)
                for player in players {
                    var iterator = player.follow(in: queue).makeAsyncIterator()
                    _ = try await iterator.next()
                    iterators.append(iterator)
                }
                try await queue.settle()
                return iterators
            }
            let first = try await follow(players[..<5_000])
            let before = try heapBytes()
            let others = try await follow(players[5_000...])
            let bytes = try heapBytes() - before
            print("a followed row takes \(bytes / 5_000) bytes")
            precondition(bytes / 5_000 <= 1_024, "a followed row takes \(bytes / 5_000) bytes")
            withExtendedLifetime((first, others)) {}
        }
    }
    #endif
}

extension DatabaseQueue {
    /// Returns an object that has a lock, from the connection's side.
    fileprivate func inDatabaseOfTests(_ body: @escaping @Sendable (Database) throws -> FollowedRows?)
        async throws
        -> FollowedRows?
    { try await writeWithoutTransaction { db in try body(db) } }
}
