import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: accesses inside of accesses", .behaviour(79))
struct PoolReentranceTests {
    /// An access, or what waits for accesses.
    enum Method: String, CaseIterable, Codable, Sendable {
        case read, unsafeRead
        case write, urgentWrite, writeWithoutTransaction, barrierWrite, unsafeReentrantWrite, inTransaction
        case releaseMemory, snapshotPool, close, backup

        static let reading: [Method] = [.read, .unsafeRead]
        static let notReading = allCases.filter { !reading.contains($0) }

        func run(_ pool: DatabasePool, _ body: (Database) throws -> Void = { _ in }) throws {
            switch self {
            case .read: try pool.read(body)
            case .unsafeRead: try pool.unsafeRead(body)
            case .write: try pool.write(body)
            case .urgentWrite: try pool.write(priority: .urgent, body)
            case .writeWithoutTransaction: try pool.writeWithoutTransaction(body)
            case .barrierWrite: try pool.barrierWriteWithoutTransaction(body)
            case .unsafeReentrantWrite: try pool.unsafeReentrantWrite(body)
            case .inTransaction:
                try pool.inTransaction { db in
                    try body(db)
                    return .commit
                }
            case .releaseMemory: pool.releaseMemory()
            case .snapshotPool: _ = try pool.makeSnapshotPool()
            case .close: try pool.close()
            case .backup: try pool.backup(to: DatabaseQueue())
            }
        }
    }

    @Test(
        "A write inside of a read stops the program, with a sentence", arguments: Method.reading,
        Method.notReading.filter { $0 != .backup })
    func writeInsideOfRead(outer: Method, inner: Method) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [outer, inner] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try outer.run(pool) { _ in try inner.run(pool) }
        }
        result.expectSentence(
            "the pool test was \(inner == .close ? "closed" : "written to") inside of a read of it: a "
                + "writer may wait for all readers, and so each would wait for the other. Write after the "
                + "read, or read inside of the write.")
    }

    @Test(
        "A read inside of a read stops the program, with a sentence, however many readers are free",
        arguments: Method.reading, Method.reading + [.backup])
    func readInsideOfRead(outer: Method, inner: Method) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [outer, inner] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try outer.run(pool) { _ in try inner.run(pool) }
        }
        result.expectSentence(
            "the database test was read from inside a read of it. As soon as all readers do so, each read "
                + "waits for its own end. Pass the Database on to the functions that need it, or use "
                + "unsafeReentrantRead.")
    }

    @Test(
        "A synchronous access inside of an asynchronous read stops the program, too",
        arguments: [false, true])
    func insideOfAsynchronousRead(writes: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [writes] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try await pool.read { _ in
                if writes { try pool.inDatabase { _ in } } else { _ = try pool.read { _ in } }
            }
        }
        result.expectSentence("inside" + (writes ? " of a read of it" : " a read of it"))
    }

    @Test("A read inside of a barrier stops the program, with a sentence", arguments: Method.reading)
    func readInsideOfBarrier(method: Method) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [method] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try pool.barrierWriteWithoutTransaction { _ in try method.run(pool) }
        }
        result.expectSentence(
            "a pool was read from inside a barrierWriteWithoutTransaction of it, which keeps all readers "
                + "out. Read with the Database of the write.")
    }

    @Test(
        "A write inside of a write stops the program, with a sentence",
        arguments: Method.notReading.filter { ![.unsafeReentrantWrite, .snapshotPool, .backup].contains($0) })
    func writeInsideOfWrite(method: Method) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [method] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try pool.write { _ in try method.run(pool) }
        }
        result.expectSentence(
            "the database test was accessed from inside an access to it, and the access would wait for itself."
        )
    }

    @Test("Closing inside of a write stops the program, also while a checkpoint waits for the writer")
    func closeInsideOfWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE big (a);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
                        INSERT INTO big SELECT zeroblob(4000) FROM n
                        """)
            }
            try pool.inDatabase { db in
                // Meanwhile, the work in the background asks for the writer.
                let limit = Date(timeIntervalSinceNow: 5)
                while pool.writer.line.waitingCount == 0, Date() < limit {
                    Thread.sleep(forTimeInterval: 0.01)
                }
                try pool.close()
            }
        }
        result.expectSentence(
            "the database test was accessed from inside an access to it, and the access would wait for itself."
        )
    }

    @Test("spawnConcurrentRead stops the program inside of a transaction, and outside of a write")
    func concurrentRead() async {
        let inside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try pool.inTransaction { _ in
                pool.spawnConcurrentRead { _ in }
                return .commit
            }
        }
        inside.expectSentence(
            "spawnConcurrentRead was called inside of a transaction: no other connection can read what is "
                + "not committed yet. Call it in writeWithoutTransaction, before the transaction or after it."
        )
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            pool.spawnConcurrentRead { _ in }
        }
        outside.expectSentence("was used outside of its access")
    }

    @Test("makeSnapshotPool stops the program inside of a transaction, with a sentence")
    func snapshotPool() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try pool.write { _ in _ = try pool.makeSnapshotPool() }
        }
        result.expectSentence(
            "makeSnapshotPool was called inside of a transaction, which no other connection can see. Call "
                + "it outside, or inside of writeWithoutTransaction, before the transaction or after it.")
    }

    @Test("A reader's Database stops the program outside of its access", arguments: [false, true])
    func escape(isConcurrent: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isConcurrent] in
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            let kept = Shared<Database?>(nil)
            if isConcurrent {
                let done = Gate()
                try pool.inDatabase { _ in
                    pool.spawnConcurrentRead { result in
                        kept.withLock { $0 = try? result.get() }
                        done.open()
                    }
                }
                try done.wait()
                try pool.barrierWriteWithoutTransaction { _ in }
            } else {
                try pool.read { db in kept.withLock { $0 = db } }
            }
            try kept.withLock { $0 }?.execute(sql: "SELECT 1")
        }
        result.expectSentence("the Database of test was used outside of its access, or on another thread.")
    }

    @Test("Snapshots and reentrant writes work inside of other accesses, and a pool inside of another one's")
    func allowed() throws {
        let (file, otherFile) = (try TemporaryDatabase(), try TemporaryDatabase())
        let (pool, other) = (try file.pool(), try otherFile.pool())
        try pool.write { db in
            try db.insert("Arthur")
            let snapshot = try pool.makeSnapshot()
            let names = try snapshot.read { db in try db.names() }
            #expect(names == [])
            try pool.unsafeReentrantWrite { inner in #expect(inner === db) }
        }
        try pool.read { db in
            let names = try db.names()
            let snapshot = try pool.makeSnapshot()
            let kept = try snapshot.read { db in try db.names() }
            #expect(kept == names)
            try other.write { otherDB in
                for name in names { try otherDB.insert(name) }
                try #expect(snapshot.read { db in try db.names() } == names)
            }
        }
        try pool.inDatabase { db in
            let snapshots = try pool.makeSnapshotPool(readerCount: 2)
            let names = try snapshots.read { db in try db.names() }
            #expect(try names == db.names())
        }
        let copied = try other.read { db in try db.names() }
        #expect(copied == ["Arthur"])
    }
}
