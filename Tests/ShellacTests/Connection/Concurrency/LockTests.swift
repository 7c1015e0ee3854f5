import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("No lock is held while code of the user runs")
struct LockTests {
    @Test(
        "what prepares connections, and what hears of statements, may ask a pool for its log: also while that is done",
        .timeLimit(.minutes(10)), arguments: [false, true])
    func logIndex(isReport: Bool) async throws {
        let file = try LoggedFile()
        let asked = Shared<DatabasePool?>(nil)
        let answers = Recorder<Bool>()
        let ask: @Sendable () -> Void = {
            guard let pool = asked.value else { return }
            answers.record((try? pool.walStatus) != nil)
        }
        let pool = try file.pool { configuration in
            if isReport {
                configuration.reportHandler = { report in
                    if case .statement = report.event { ask() }
                }
            } else {
                configuration.prepareDatabase { _ in ask() }
            }
        }
        asked.withLock { $0 = pool }
        defer { asked.withLock { $0 = nil } }
        let isDone = Gate()
        Thread {
            if (try? pool.walStatus) != nil { isDone.open() }
        }.start()
        try await waitUntil { isDone.isOpen }
        // The code that opens the connection cannot have its answer yet.
        #expect(answers.elements.first == false)
        #expect(try pool.walStatus.frameCount >= 0)
    }

    @Test(
        "a type that is asked for its table may look at the row that is decoded", .timeLimit(.minutes(10)))
    func tableName() async throws {
        let columns = (1...20).map { "\($0) AS column\($0)" }.joined(separator: ", ")
        let decoded = Shared<Int?>(nil)
        Thread {
            let row = try? DatabaseQueue().inDatabase { db in
                try Row.fetchOne(db, sql: "SELECT \(columns) FROM (SELECT 1) AS lockPart")
            }
            guard let row else { return }
            nonisolated(unsafe) let looked = row
            LockPart.onName.withLock { $0 = { _ = looked.hasColumn("COLUMN19") } }
            defer { LockPart.onName.withLock { $0 = nil } }
            let whole = try? LockWhole(row: row)
            decoded.withLock { $0 = whole?.part.column7 ?? -1 }
        }.start()
        try await waitUntil { decoded.value != nil }
        #expect(decoded.value == 7)
    }

    @Test(
        "contexts of functions depart on any thread: each object is freed, and once",
        .timeLimit(.minutes(10)))
    func departures() async throws {
        /// Counts those that are freed.
        final class Departing: Sendable {
            let freed: Shared<Int>
            init(_ freed: Shared<Int>) { self.freed = freed }
            deinit { freed.withLock { $0 += 1 } }
        }
        let freed = Shared(0)
        let departures = Departures()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onThread {
                        for _ in 0..<5_000 {
                            departures.hold { departures.depart(Departing(freed)) }
                            departures.depart(Departing(freed))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(freed.value == 40_000)
    }

    @Test(
        "who closes a pool while it hears of a checkpoint is told to do it elsewhere",
        .timeLimit(.minutes(10))
    )
    func closingInCheckpoint() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let file = try LoggedFile()
            let closing = Shared<DatabasePool?>(nil)
            let pool = try file.pool { configuration in
                configuration.prepareDatabase { _ in
                    let pool = closing.withLock { pool in
                        defer { pool = nil }
                        return pool
                    }
                    try pool?.close()
                }
            }
            closing.withLock { $0 = pool }
            try pool.write { db in try db.addFrames(1_500) }
            usleep(30_000_000)
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(text.contains("was closed inside of the report of one of its checkpoints"))
    }

    @Test("what is freed with a reader may interrupt the readers", .timeLimit(.minutes(10)))
    func freedReader() async throws {
        /// Calls a function when it is freed.
        final class Farewell: Sendable {
            let say: @Sendable () -> Void
            init(_ say: @escaping @Sendable () -> Void) { self.say = say }
            deinit { say() }
        }
        let file = try LoggedFile()
        let pool = try file.pool()
        let (isFreed, isClosed) = (Gate(), Gate())
        do {
            let farewell = Farewell {
                pool.interrupt()
                isFreed.open()
            }
            try await pool.read { db in db.trace { _ in withExtendedLifetime(farewell) {} } }
        }
        Thread {
            try? pool.close()
            isClosed.open()
        }.start()
        try await waitUntil { isFreed.isOpen && isClosed.isOpen }
    }

    @Test("a pool that is freed has its log copied, as one that is closed")
    func freedPool() throws {
        let file = try LoggedFile()
        do {
            let pool = try file.pool()
            try pool.write { db in try db.addFrames(10) }
            _ = try pool.read { db in try db.itemCount() }
        }
        #expect(file.logSize == 0)
    }
}

private struct LockPart: Codable, FetchableRecord, TableRecord {
    static let onName = Shared<(@Sendable () -> Void)?>(nil)
    static var databaseTableName: String {
        onName.withLock { $0 }?()
        return "lockPart"
    }
    var column7: Int
}

private struct LockWhole: Codable, FetchableRecord {
    var part: LockPart
}
