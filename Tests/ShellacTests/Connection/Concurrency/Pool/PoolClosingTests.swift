import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: waiting and closing", .behaviour(83))
struct PoolClosingTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool {
            $0.maximumReaderCount = 2
            // No access of Shellac's own waits in the writer's line, in which the test counts.
            $0.checkpoints = .atCommit
        }
        try pool.write { db in try db.insert("Arthur") }
    }

    /// An access of a task.
    enum Waiting: String, CaseIterable, Codable, Sendable {
        case read, unsafeRead, write, writeWithoutTransaction, barrierWrite

        var isReading: Bool { [.read, .unsafeRead].contains(self) }

        func run(_ pool: DatabasePool, _ body: @escaping @Sendable (Database) throws -> Void) async throws {
            switch self {
            case .read: try await pool.read { db in try body(db) }
            case .unsafeRead: try await pool.unsafeRead { db in try body(db) }
            case .write: try await pool.write { db in try body(db) }
            case .writeWithoutTransaction: try await pool.writeWithoutTransaction { db in try body(db) }
            case .barrierWrite: try await pool.barrierWriteWithoutTransaction { db in try body(db) }
            }
        }
    }

    private func waitingCount(_ waiting: Waiting) -> Int {
        waiting.isReading ? pool.readers.line.waitingCount : pool.writer.line.waitingCount
    }

    // MARK: - Cancellation

    @Test("A task that is cancelled while it waits leaves its line", arguments: Waiting.allCases)
    func cancelledWaiting(waiting: Waiting) async throws {
        let (reads, write) = (try await HeldReads(pool), try await Hold(pool))
        let pool = pool
        let tasks = (0..<10).map { _ in
            Task { try await waiting.run(pool) { _ in Issue.record("It ran after the cancellation.") } }
        }
        try await waitUntil { waitingCount(waiting) == 10 }
        for task in tasks { task.cancel() }
        #expect(waitingCount(waiting) == 0)
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await write.release()
        try await reads.release()
        try await expectAllPlaces(of: pool)
    }

    @Test("A task that was cancelled before it comes throws", arguments: Waiting.allCases)
    func cancelledBefore(waiting: Waiting) async throws {
        let pool = pool
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await waiting.run(pool) { _ in Issue.record("It ran after the cancellation.") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectAllPlaces(of: pool)
    }

    @Test("A barrier whose task is cancelled does not wait for those who read, and lets others read")
    func cancelledBarrier() async throws {
        let reads = try await HeldReads(pool, count: 1)
        let pool = pool
        let barrier = Task { try await pool.barrierWriteWithoutTransaction { _ in Issue.record("It ran.") } }
        // It keeps the others out.
        try await waitUntil { pool.readers.line.isClaimed }
        let read = Task { try await pool.read { db in try db.names() } }
        try await waitUntil { pool.readers.line.waitingCount == 1 }
        barrier.cancel()
        await #expect(throws: CancellationError.self) { try await barrier.value }
        #expect(try await read.value == ["Arthur"])
        try await pool.write { db in try db.insert("Barbara") }
        try await reads.release()
        try await expectAllPlaces(of: pool)
    }

    @Test("A barrier waits for those who read, and keeps out those who come", arguments: [false, true])
    func barrier(isAsynchronous: Bool) async throws {
        let reads = try await HeldReads(pool)
        let pool = pool
        let (inside, end, order) = (Gate(), Gate(), Recorder<String>())
        let barrier = Task {
            if isAsynchronous {
                pool.asyncBarrierWriteWithoutTransaction { result in
                    order.record("barrier")
                    try? result.get().insert("Barbara")
                    inside.open()
                    try? end.wait()
                }
            } else {
                try await onThread {
                    try pool.barrierWriteWithoutTransaction { db in
                        order.record("barrier")
                        try db.insert("Barbara")
                        inside.open()
                        try end.wait()
                    }
                }
            }
        }
        try await waitUntil { pool.readers.line.isClaimed }
        let read = Task {
            try await pool.read { db in
                order.record("read")
                return try db.names()
            }
        }
        try await waitUntil { pool.readers.line.waitingCount == 1 }
        #expect(order.elements == [])
        try await reads.release()
        try await waitUntil { inside.isOpen }
        #expect(order.elements == ["barrier"])
        end.open()
        try await barrier.value
        #expect(try await read.value == ["Arthur", "Barbara"])
        #expect(order.elements == ["barrier", "read"])
        try await expectAllPlaces(of: pool)
    }

    // MARK: - Closing

    @Test("A closed pool says so, in each form, and is closed once more without harm")
    func closed() async throws {
        let pool = pool
        try await pool.close()
        try await pool.close()
        let sentence = "the database test is closed"
        for waiting in Waiting.allCases {
            let error = await #expect(throws: DatabaseError.self) { try await waiting.run(pool) { _ in } }
            #expect(error?.message == sentence && error?.resultCode == .SQLITE_MISUSE, "\(waiting)")
        }
        for method in PoolReentranceTests.Method.allCases where method != .close && method != .releaseMemory {
            let error = databaseError { try method.run(pool) }
            #expect(error?.message == sentence, "\(method)")
        }
        pool.releaseMemory()
        pool.invalidateReadOnlyConnections()
        pool.interrupt()
        let heard = Recorder<String?>()
        @Sendable func hear(_ result: Result<Database, any Error>) {
            heard.record(databaseError { _ = try result.get() }?.message)
        }
        pool.asyncRead(hear)
        pool.asyncUnsafeRead(hear)
        pool.asyncBarrierWriteWithoutTransaction(hear)
        pool.asyncWriteWithoutTransaction { _ in Issue.record("The database is closed.") }
        try await waitUntil { heard.elements.count == 3 }
        #expect(heard.elements == [sentence, sentence, sentence])
    }

    @Test("Closing waits for those who read and write, and those who wait behind it hear the sentence")
    func closingWaits() async throws {
        let (reads, write) = (try await HeldReads(pool), try await Hold(pool))
        let pool = pool
        let closing = Task { try await onThread { try pool.close() } }
        try await waitUntil { pool.writer.line.waitingCount == 1 }
        let late = Task { try await pool.write { _ in } }
        try await waitUntil { pool.writer.line.waitingCount == 2 }
        let lateRead = Task { try await onThread { try pool.read { _ in } } }
        try await waitUntil { pool.readers.line.waitingCount == 1 }
        try await write.release()
        try await waitUntil { pool.readers.line.isClaimed }
        try await reads.release()
        try await closing.value
        for error in [
            await #expect(throws: DatabaseError.self) { try await late.value },
            await #expect(throws: DatabaseError.self) { try await lateRead.value },
        ] { #expect(error?.message == "the database test is closed") }
    }

    @Test("A pool is not closed as long as a snapshot is alive, which the error names, and stays as it is")
    func snapshots() async throws {
        var snapshot: DatabaseSnapshot? = try pool.makeSnapshot()
        let error = databaseError { try pool.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        let message = error?.message ?? ""
        #expect(
            message.contains(
                #/^the pool test cannot be closed: a snapshot, test\.snapshot\.1, made [0-9.]+ m?s ago is still alive$/#
            ), "\(message)")
        var snapshots: DatabaseSnapshotPool? = try pool.makeSnapshotPool(readerCount: 2)
        let both = databaseError { try pool.close() }?.message ?? ""
        #expect(both.hasSuffix("is still alive (and 1 more)"), "\(both)")
        try await expectAllPlaces(of: pool)
        try #expect(pool.walStatus.readers.contains { $0.label == "test.snapshot.1" })
        try await snapshot?.close()
        let last = databaseError { try pool.close() }?.message ?? ""
        #expect(
            last.hasPrefix("the pool test cannot be closed: a snapshot pool, test.snapshots.2.1, made"),
            "\(last)")
        snapshots = nil
        withExtendedLifetime((snapshot, snapshots)) {}
        snapshot = nil
        try await pool.close()
    }

    /// Closes a pool when it is freed.
    private final class Closing: TransactionObserver {
        private let pool: DatabasePool
        private let told: Recorder<String>

        init(_ pool: DatabasePool, _ told: Recorder<String>) { (self.pool, self.told) = (pool, told) }
        deinit { told.record(databaseError { try pool.close() }?.message ?? "closed") }

        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    @Test("A snapshot that goes keeps its pool open until its connections are closed", arguments: [1, 3])
    func leavingSnapshot(connectionCount: Int) throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("test.sqlite"))
        let told = Recorder<String>()
        var snapshot: DatabaseSnapshotReader? =
            connectionCount == 1 ? try pool.makeSnapshot() : try pool.makeSnapshotPool(readerCount: 3)
        try snapshot?.read { db in
            db.add(transactionObserver: Closing(pool, told), extent: .databaseLifetime)
        }
        withExtendedLifetime(snapshot) {}
        snapshot = nil
        #expect(told.elements.count == 1)
        #expect(told.elements.first?.contains("is still alive") == true, "\(told.elements)")
        try pool.close()
        #expect(try folder.openFiles() == [])
    }

    @Test(
        "A pool is not closed while a statement is in use, of a reader or of the writer, and stays as it is",
        arguments: [false, true])
    func statements(isReading: Bool) async throws {
        let kept = Shared<Statement?>(nil)
        func keep(_ db: Database) throws {
            let statement = try db.makeStatement(sql: "SELECT 1")
            kept.withLock { $0 = statement }
        }
        try databaseErrorFree { if isReading { try pool.read(keep) } else { try pool.inDatabase(keep) } }
        let error = databaseError { try pool.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message == "the database test cannot be closed: a statement is still in use")
        try await expectAllPlaces(of: pool)
        try await pool.write { db in try db.insert("Barbara") }
        kept.withLock { $0 = nil }
        try await pool.close()
    }

    private func databaseErrorFree(_ body: () throws -> Void) throws { try body() }

    @Test(
        "Everything is closed in the end: no file of it stays open", arguments: ["closed", "freed", "in use"])
    func files(end: String) async throws {
        let folder = try TemporaryFolder()
        let kept = Shared<[AnyObject]>([])
        try await onThread {
            let pool = try DatabasePool(path: folder.path("test.sqlite"))
            try pool.write { db in try db.createPlayers() }
            _ = try pool.walStatus
            let snapshot = try pool.makeSnapshot()
            _ = try snapshot.read { db in try db.names() }
            try pool.read { db in
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                if end == "in use" { kept.withLock { $0 = [cursor] } }
            }
            #expect(try folder.openFiles().count > 5)
            if end == "closed" {
                try snapshot.close()
                try pool.close()
            }
        }
        kept.withLock { $0 = [] }
        #expect(try folder.openFiles() == [])
    }

    @Test("Many threads may close a pool beside those who use it: all of them end", arguments: 1...10)
    func closedByMany(round: Int) async throws {
        let file = try TemporaryDatabase()
        let pool = try file.pool { $0.maximumReaderCount = 2 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do {
                        switch number % 8 {
                        case 0: _ = try await pool.read { db in try db.names() }
                        case 1: try await onThread { _ = try pool.read { db in try db.names() } }
                        case 2: try await pool.write { db in try db.insert("\(number)") }
                        case 3: try await onThread { try pool.write { db in try db.insert("\(number)") } }
                        case 4:
                            try await pool.barrierWriteWithoutTransaction { db in try db.insert("\(number)") }
                        case 5:
                            _ = try await onThread {
                                try pool.makeSnapshotPool(readerCount: 2).read { db in try db.names() }
                            }
                        case 6:
                            pool.releaseMemory()
                            pool.invalidateReadOnlyConnections()
                        default: if number > 20 { try await onThread { try pool.close() } }
                        }
                    } catch let error as DatabaseError {
                        #expect([.SQLITE_MISUSE, .SQLITE_BUSY].contains(error.resultCode), "\(error)")
                        #expect(error.message?.contains("closed") == true, "\(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try await pool.close()
        #expect(pool.readers.line.waitingCount == 0 && pool.writer.line.waitingCount == 0)
    }
}
