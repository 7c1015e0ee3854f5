import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: cancellation", .behaviour(83))
struct PoolCancellationTests {
    private let file: TemporaryDatabase
    private let started = Recorder<Int>()

    init() throws { file = try TemporaryDatabase() }

    private func makePool() throws -> DatabasePool {
        try file.pool { [started] configuration in
            configuration.maximumReaderCount = 3
            configuration.prepareDatabase { db in
                try db.add(
                    function: DatabaseFunction("started", argumentCount: 0) { _ in
                        started.record(1)
                        return 1
                    })
                try db.add(function: .pause)
            }
        }
    }

    /// SQL that only an interrupt ends in time.
    private static let long =
        "WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 300000000) SELECT COUNT(*) FROM n"

    @Test(
        "Cancelling a task interrupts its statement, and none of those that run beside it",
        arguments: PoolClosingTests.Waiting.allCases)
    func running(access: PoolClosingTests.Waiting) async throws {
        let pool = try makePool()
        let end = Gate()
        // A barrier has no access beside it.
        let beside =
            access == .barrierWrite
            ? []
            : (0..<2).map { _ in
                Task {
                    try await pool.read { db in
                        try db.add(function: DatabaseFunction("ended", argumentCount: 0) { _ in end.isOpen })
                        return try Int.fetchOne(
                            db,
                            sql: """
                                WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n WHERE NOT ended())
                                SELECT COUNT(*) FROM n
                                """)
                    }
                }
            }
        try await waitUntil { started.elements.count == beside.count }
        for round in 1...20 {
            let task = Task {
                try await access.run(pool) { db in
                    if !access.isReading { try db.execute(sql: "UPDATE player SET name = 'nobody'") }
                    try db.execute(sql: Self.long)
                }
            }
            try await waitUntil { started.elements.count == beside.count + round }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // The next access on the connection is not interrupted.
            let names = try await pool.read { db in try db.names() }
            #expect(names == [])
        }
        end.open()
        for task in beside {
            let count = try await task.value
            #expect(count != nil)
        }
        try await expectAllPlaces(of: pool)
    }

    @Test("A cancelled write is rolled back, and a reader never sees anything of it")
    func rollback() async throws {
        let pool = try makePool()
        let task = Task {
            try await pool.write { db in
                try db.insert("nobody")
                try db.execute(sql: Self.long)
            }
        }
        try await waitUntil { started.elements.count == 1 }
        let before = try await pool.read { db in try db.names() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let after = try await pool.read { db in try db.names() }
        #expect(before == [] && after == [])
        try await expectAllPlaces(of: pool)
    }

    @Test("A cancellation ends the wait for another connection's lock")
    func busy() async throws {
        let pool = try file.pool { $0.busyMode = .timeout(300) }
        let other = try file.queue()
        let (isHeld, hold) = (Gate(), Gate())
        let holding = Task {
            try await onThread {
                try other.inTransaction(.immediate) { _ in
                    isHeld.open()
                    try hold.wait()
                    return .commit
                }
            }
        }
        try await waitUntil { isHeld.isOpen }
        let task = Task { try await pool.write { db in try db.insert("nobody") } }
        // Sooner or later it waits; it throws the same before.
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hold.open()
        try await holding.value
        try await expectAllPlaces(of: pool)
    }
}
