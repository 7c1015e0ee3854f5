import TestSupport
import Testing

@testable import Shellac

@Suite("What several tasks deliver to a reader", .behaviour(74, 75))
struct LiveDeliveryTests {
    /// A reader whose query is fetched by hand.
    private struct Reader {
        let mailbox = LiveMailbox<[PlayerValue]>(.unbounded)
        let query: LiveRows

        init(_ queue: DatabaseQueue, _ events: LiveEvents...) {
            let reader = ElementsReader(PlayerValue.order(Column("id")), to: mailbox)
            var settings = LiveSettings()
            settings.events = events
            query = LiveRows(reader, in: queue, settings)
            reader.move(to: query)
        }

        /// Ends, and returns what has arrived.
        func arrivals() async throws -> [Int] {
            mailbox.finish()
            var counts: [Int] = []
            while let parcel = try await mailbox.next() { counts.append(parcel.take().count) }
            return counts
        }
    }

    @Test("what is fetched for a later reader may overtake what was fetched before, which is dropped")
    func overtaking() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let (reader, late) = (Reader(queue), Reader(queue))
        let first = try await queue.writeWithoutTransaction { db in try reader.query.fetchInAccess(db) }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        let second = try await queue.writeWithoutTransaction { db in try late.query.fetchInAccess(db) }
        try second.deliver()
        try first.deliver()
        try #expect(await reader.arrivals() == [2])
        try #expect(await late.arrivals() == [2])
    }

    @Test("and so is the error of an older state, whose rows did not convert")
    func overtakingError() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let (reader, late) = (Reader(queue), Reader(queue))
        try await queue.run("UPDATE livePlayer SET score = 'many'")
        let first = try await queue.writeWithoutTransaction { db in try reader.query.fetchInAccess(db) }
        try await queue.run("UPDATE livePlayer SET score = 1")
        let second = try await queue.writeWithoutTransaction { db in try late.query.fetchInAccess(db) }
        try second.deliver()
        try first.deliver()
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        try await queue.settle()
        try #expect(await reader.arrivals() == [1, 2])
    }

    @Test("what was fetched in an access that is cancelled before its end is fetched once more, for all")
    func lostFetch() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try await other.write { db in try db.createLivePlayers() }
        let cancel = Shared<(@Sendable () -> Void)?>(nil)
        // `willTrackRegion` is called between the fetch and the end of the access, and when
        // something else is tracked than before.
        let reader = Reader(queue, LiveEvents(willTrackRegion: { _ in cancel.value?() }))
        try await queue.writeWithoutTransaction { db in try reader.query.fetchInAccess(db) }.deliver()
        try await other.run("ALTER TABLE livePlayer ADD late; INSERT INTO livePlayer (name) VALUES ('b')")
        let late = Reader(queue)
        let delivery = try await queue.writeWithoutTransaction { db in
            cancel.withLock { $0 = { db.cancel() } }
            let delivery = try late.query.fetchInAccess(db)
            cancel.withLock { $0 = nil }
            return delivery
        }
        // The query of the first reader tries again.
        try delivery.deliver()
        try await waitUntil { reader.query.watched?.region.description.contains("late") == true }
        try await queue.settle()
        try #expect(await reader.arrivals() == [0, 1])
        try #expect(await late.arrivals() == [1])
    }

    @Test("a reader that comes has what another connection has committed meanwhile, and so has who was there")
    func otherCommits() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        let request = SQLRequest<String>(sql: "SELECT name FROM player ORDER BY id")
        var first = queue.values(of: request).makeAsyncIterator()
        try #expect(await first.next() == [])
        try await other.write { db in try db.insert("x") }
        var second = queue.values(of: request).makeAsyncIterator()
        try #expect(await second.next() == ["x"])
        try #expect(await first.next() == ["x"])
    }

    @Test("also in an attached database")
    func attachedCommits() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try DatabaseQueue(), try file.queue())
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS x", arguments: [file.path])
        }
        let request = SQLRequest<String>(sql: "SELECT name FROM x.player ORDER BY id")
        var first = queue.values(of: request).makeAsyncIterator()
        try #expect(await first.next() == [])
        try await other.write { db in try db.insert("x") }
        var second = queue.values(of: request).makeAsyncIterator()
        try #expect(await second.next() == ["x"])
    }

    @Test("a later reader of rows that are known has no fetch run, and the rows go with the last one")
    func knownRows() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.writeWithoutTransaction { db in
            try db.createLivePlayers()
            try db.addPlayer("a")
        }
        let reader = Reader(queue)
        try await queue.writeWithoutTransaction { db in try reader.query.fetchInAccess(db) }.deliver()
        spy.removeAll()
        let late = Reader(queue)
        try await queue.writeWithoutTransaction { db in try late.query.fetchInAccess(db) }.deliver()
        #expect(!spy.sql.contains { $0.contains("FROM \"livePlayer\"") })
        try #expect(await late.arrivals() == [1])
        #expect(reader.query.hasRows)
        reader.query.end()
        #expect(!reader.query.hasRows)
    }
}
