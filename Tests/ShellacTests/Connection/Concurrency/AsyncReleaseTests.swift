import TestSupport
import Testing

@testable import Shellac

@Suite("What an asynchronous access is given and gives")
struct AsyncReleaseTests {
    /// An object that waits for the access when it is freed.
    private final class Visitor: Sendable {
        let queue: any DatabaseWriter
        let visits: Recorder<Int>

        init(_ queue: any DatabaseWriter, _ visits: Recorder<Int>) {
            (self.queue, self.visits) = (queue, visits)
        }

        deinit { visits.record((try? queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") ?? 0 }) ?? -1) }
    }

    @Test(
        "is let go of by the task, so that its deinit may wait for the access", arguments: Access.allCases,
        Writer.allCases)
    func release(_ access: Access, _ writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let visits = Recorder<Int>()
        for _ in 0..<300 {
            let captured = Visitor(queue, visits)
            _ = try await access.run(queue) { _ in
                withExtendedLifetime(captured) {}
                return Visitor(queue, visits)
            }
        }
        try await waitUntil { visits.elements.count == 600 }
        #expect(visits.elements.allSatisfy { $0 == 1 })
    }
}
