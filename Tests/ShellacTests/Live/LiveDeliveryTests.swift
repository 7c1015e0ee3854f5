import TestSupport
import Testing

@testable import Shellac

@Suite("What several tasks deliver to a reader", .behaviour(74, 75))
struct LiveDeliveryTests {
    /// A reader whose query is fetched by hand.
    private struct Reader {
        let mailbox = LiveMailbox<[PlayerValue]>(.unbounded)
        let query: LiveRows

        init(_ queue: DatabaseQueue) {
            let reader = ElementsReader(PlayerValue.order(Column("id")), to: mailbox)
            query = LiveRows(reader, in: queue, LiveSettings())
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
}
