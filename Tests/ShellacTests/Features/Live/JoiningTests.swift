import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A tag, whose row has a text as its key, and may have no row id.
private class JoinTag: Record {
    var name = ""
    var score = 0

    override class var databaseTableName: String { "joinTag" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

/// Observations that begin in a pool while a write transaction is open, beside others that began
/// before it.
///
/// Each transaction has changed its rows before the newcomer begins, and is committed after the
/// newcomer's first value.
@Suite("Observations that begin during a transaction", .behaviour(111))
struct JoiningTests {
    /// A transaction that has run its SQL, and stays open until it is let go.
    private final class OpenTransaction: Sendable {
        private let (hasRun, mayEnd) = (Gate(), Gate())
        private let task: Task<Void, any Error>

        init(
            _ writer: any DatabaseWriter, _ sql: String,
            then completion: Database.TransactionCompletion = .commit
        ) async throws {
            task = Task { [hasRun, mayEnd] in
                try await onThread {
                    try writer.inTransaction { db in
                        try db.execute(sql: sql)
                        hasRun.open()
                        try mayEnd.wait()
                        return completion
                    }
                }
            }
            try await waitUntil { hasRun.isOpen }
        }

        func end() async throws {
            mayEnd.open()
            try await task.value
        }
    }

    @Test("a record that begins to follow is told of the commit, whatever other records follow already")
    func records() async throws {
        let live = try LiveDatabase(.pool, "a", "b")
        let pool = live.writer
        let players = try await pool.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: pool) } }
        let first = Following(players[0])
        try #expect(await first.first() == ["1 a 0 NULL"])
        try await pool.settle()

        let transaction = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 7 WHERE id = 2")
        let second = Following(players[1])
        try #expect(await second.first() == ["2 b 0 NULL"])
        try await transaction.end()
        try #expect(await second.first() == ["2 b 7 NULL"])
        try await pool.settle()
        #expect(first.states.elements.isEmpty && second.states.elements.isEmpty)
    }

    @Test(
        "so is one whose key is a text, and one whose row is deleted or inserted",
        arguments: [
            ("UPDATE joinTag SET score = 7 WHERE name = 'b'", "b 7"),
            ("DELETE FROM joinTag WHERE name = 'b'", "deleted"),
            ("UPDATE joinTag SET name = 'c' WHERE name = 'b'", "deleted"),
            ("REPLACE INTO joinTag VALUES ('b', 7)", "b 7"),
            ("DELETE FROM joinTag; INSERT INTO joinTag VALUES ('b', 7)", "b 7"),
        ], ["", "WITHOUT ROWID"])
    func keys(change: (sql: String, state: String), options: String) async throws {
        let live = try LiveDatabase(.pool, "a")
        let pool = live.writer
        try await pool.run(
            """
            CREATE TABLE joinTag (name TEXT PRIMARY KEY NOT NULL, score INTEGER NOT NULL) \(options);
            INSERT INTO joinTag VALUES ('a', 0), ('b', 0);
            """)
        let tags = try await pool.read { db in
            try JoinTag.order(Column("name")).fetchAll(db).map { $0.follow(in: pool) }
        }
        let first = Following(tags[0])
        _ = try await first.first()
        try await pool.settle()

        let transaction = try await OpenTransaction(pool, change.sql)
        let second = Following(tags[1])
        try #expect(await second.first() == ["b 0"])
        try await transaction.end()
        try #expect(await second.first() == [change.state])
    }

    @Test("one that leaves, and comes back during the transaction, is told of the commit")
    func back() async throws {
        let live = try LiveDatabase(.pool, "a", "b")
        let pool = live.writer
        let players = try await pool.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: pool) } }
        let (first, leaving) = (Following(players[0]), Following(players[1]))
        _ = try await (first.first(), leaving.first())
        try await pool.settle()

        leaving.cancel()
        let rows = try #require(
            await pool.writeWithoutTransaction { db in LiveHosts.of(db).followed.first })
        try await waitUntil { rows.count == 1 }
        let transaction = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 7")
        let back = Following(players[1])
        try #expect(await back.first() == ["2 b 0 NULL"])
        try await transaction.end()
        try #expect(await back.first() == ["2 b 7 NULL"])
        try #expect(await first.first() == ["1 a 7 NULL"])
    }

    @Test(
        "a newcomer whose row the transaction has not changed, or that was rolled back, is told nothing more")
    func others() async throws {
        let live = try LiveDatabase(.pool, "a", "b", "c")
        let pool = live.writer
        let players = try await pool.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: pool) } }
        let first = Following(players[0])
        _ = try await first.first()
        try await pool.settle()

        let transaction = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 7 WHERE id = 2")
        let third = Following(players[2])
        try #expect(await third.first() == ["3 c 0 NULL"])
        try await transaction.end()
        try await pool.settle()
        #expect(third.states.elements.isEmpty)

        let undone = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 8", then: .rollback)
        let second = Following(players[1])
        try #expect(await second.first() == ["2 b 7 NULL"])
        try await undone.end()
        try await pool.settle()
        #expect(second.states.elements.isEmpty && third.states.elements.isEmpty)
    }

    @Test("so are a request that others read, a list, and observations of functions, shared or not")
    func fetches() async throws {
        let live = try LiveDatabase(.pool, "a", "b")
        let pool = live.writer
        let request = PlayerValue.filter(Column("id") == 2)
        let score = ValueObservation<Int>.tracking { db in
            try Int.fetchOne(db, sql: "SELECT score FROM livePlayer WHERE id = 2") ?? -1
        }
        let shared = score.shared(in: pool, scheduling: .task)
        let controller = FetchedRecordsController(pool, request: request)
        try controller.performFetch()
        var early = pool.values(of: request).makeAsyncIterator()
        var earlyShared = shared.values().makeAsyncIterator()
        var earlyChanges = controller.changes.makeAsyncIterator()
        _ = try await (early.next(), earlyShared.next())
        try await pool.settle()

        let transaction = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 7 WHERE id = 2")
        var late = pool.values(of: request).makeAsyncIterator()
        var lateShared = shared.values().makeAsyncIterator()
        var lateScore = score.values(in: pool).makeAsyncIterator()
        let list = FetchedRecordsController(pool, request: request)
        try list.performFetch()
        var lateChanges = list.changes.makeAsyncIterator()
        try #expect(await late.next()?.map(\.score) == [0])
        try #expect(await lateShared.next() == 0)
        try #expect(await lateScore.next() == 0)
        try await transaction.end()
        try #expect(await early.next()?.map(\.score) == [7])
        try #expect(await late.next()?.map(\.score) == [7])
        try #expect(await earlyShared.next() == 7)
        try #expect(await lateShared.next() == 7)
        try #expect(await lateScore.next() == 7)
        _ = try await (earlyChanges.next(), lateChanges.next())
        #expect(controller.fetchedRecords.map(\.score) == [7])
        #expect(list.fetchedRecords.map(\.score) == [7])
    }

    @Test(
        "no first value waits for a write that is running, however many observations begin, of whatever kinds"
    )
    func firstValues() async throws {
        let live = try LiveDatabase(.pool, "a", "b", "c", "d", "e", "f")
        let pool = live.writer
        let players = try await pool.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: pool) } }
        let transaction = try await OpenTransaction(pool, "UPDATE livePlayer SET score = 7")
        var followings: [Following] = []
        for (index, player) in players.enumerated() {
            let following = Following(player)
            try #expect(
                await following.first() == ["\(index + 1) \("abcdef".map(String.init)[index]) 0 NULL"])
            followings.append(following)
        }
        var requests: [DatabaseValues<[PlayerValue]>.Iterator] = []
        for id in [1, 1, 2, 3, 4, 5] {
            var values = pool.values(of: PlayerValue.filter(Column("id") == id)).makeAsyncIterator()
            try #expect(await values.next()?.map(\.score) == [0])
            requests.append(values)
        }
        let names = playerNames.shared(in: pool, scheduling: .async(onQueue: .global()))
        for _ in 0..<2 {
            var values = names.values().makeAsyncIterator()
            try #expect(await values.next()?.count == 6)
        }
        try await transaction.end()
        for following in followings { try #expect(await following.first().count == 1) }
        for index in requests.indices { try #expect(await requests[index].next()?.map(\.score) == [7]) }
    }

    @Test(
        "a commit that comes before the writer knows the first record is told, also where a second one has come behind it"
    )
    func unwatched() async throws {
        let live = try LiveDatabase(.pool, "a", "b")
        let pool = live.writer
        let players = try await pool.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: pool) } }
        let (isHeld, mayWrite, hasWritten, mayGo) = (Gate(), Gate(), Gate(), Gate())
        let writing = Task {
            try await onThread {
                try pool.inDatabase { db in
                    isHeld.open()
                    try mayWrite.wait()
                    try db.execute(sql: "UPDATE livePlayer SET score = 7 WHERE id = 1")
                    hasWritten.open()
                    try mayGo.wait()
                }
            }
        }
        try await waitUntil { isHeld.isOpen }
        let first = Following(players[0])
        try #expect(await first.first() == ["1 a 0 NULL"])
        mayWrite.open()
        try await waitUntil { hasWritten.isOpen }
        let second = Following(players[1])
        try #expect(await second.first() == ["2 b 0 NULL"])
        mayGo.open()
        try await writing.value
        try #expect(await first.first() == ["1 a 7 NULL"])
    }

    @Test(
        "where an access has left its transaction open, who begins to observe is told of its end",
        arguments: LiveKind.allCases, ["COMMIT", "ROLLBACK"])
    func unsafe(kind: LiveKind, end: String) async throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let live = try LiveDatabase(kind, configuration: configuration)
        let writer = live.writer
        try await writer.write { db in
            try db.createLivePlayers()
            try db.addPlayer("a")
            try db.addPlayer("b")
        }
        let players = try await writer.read { db in try LivePlayer.fetchAll(db).map { $0.follow(in: writer) }
        }
        let first = Following(players[0])
        _ = try await first.first()
        try await writer.settle()

        try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE livePlayer SET score = 7 WHERE id = 2")
        }
        let names = Recorder<[Int]>()
        let values = Task { [values = writer.values(of: PlayerValue.filter(Column("id") == 2))] in
            for try await rows in values { names.record(rows.map(\.score)) }
        }
        defer { values.cancel() }
        let second = Following(players[1])
        _ = try await second.first()
        try await waitUntil { !names.elements.isEmpty }
        try await writer.settle()
        try await writer.writeWithoutTransaction { db in try db.execute(sql: end) }
        let score = end == "COMMIT" ? 7 : 0
        try await writer.settle()
        #expect(names.elements.last == [score])
        // In a queue, what was seen of the transaction may be what was committed.
        let isSeen = kind == .queue && end == "COMMIT" || kind == .pool && end == "ROLLBACK"
        #expect(second.states.elements == (isSeen ? [] : ["2 b \(score) NULL"]))
    }
}
