import Foundation
import TestSupport
import Testing

@testable import Shellac

extension DatabaseWriter {
    /// The number of waiters for the access to write.
    var waitingWriterCount: Int {
        switch self {
        case let queue as DatabaseQueue: queue.line.waitingCount
        case let pool as DatabasePool: pool.writer.line.waitingCount
        default: 0
        }
    }
}

/// Reads of a pool that last until the test ends them, each on a thread of its own.
final class HeldReads: Sendable {
    private let end = Gate()
    private let tasks: [Task<Void, any Error>]

    /// Returns once all of them have begun: as many as the pool has readers, unless it is said.
    init(_ pool: DatabasePool, count: Int? = nil) async throws {
        let inside = Recorder<Int>()
        let count = count ?? pool.configuration.maximumReaderCount
        let end = end
        tasks = (0..<count).map { number in
            Task {
                try await onThread {
                    // A reader that cannot read does not keep the test waiting.
                    defer { inside.record(number) }
                    try pool.read { db in
                        _ = try db.names()
                        inside.record(number)
                        try end.wait()
                    }
                }
            }
        }
        try await waitUntil { Set(inside.elements).count == count }
    }

    /// Ends them. Returns when that is done.
    func release() async throws {
        end.open()
        for task in tasks { try await task.value }
    }
}

/// Expects that no access waits for a pool, that as many reads as are allowed run at the same time,
/// and that writes work.
func expectAllPlaces(of pool: DatabasePool, location: SourceLocation = #_sourceLocation) async throws {
    #expect(pool.readers.line.waitingCount == 0, sourceLocation: location)
    #expect(pool.writer.line.waitingCount == 0, sourceLocation: location)
    try await HeldReads(pool).release()
    // No access keeps the barrier out, either.
    let isUsable = try await pool.barrierWriteWithoutTransaction { db in try db.isUsable() }
    #expect(isUsable, sourceLocation: location)
}
