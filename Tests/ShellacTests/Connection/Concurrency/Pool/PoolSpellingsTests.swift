import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: its accesses", .behaviour(81))
struct PoolSpellingsTests {
    private let file: TemporaryDatabase
    init() throws { file = try TemporaryDatabase() }

    @Test(
        "A concurrent read sees what is committed when it is asked for, and nothing of what comes",
        arguments: [false, true])
    func concurrentRead(isNewest: Bool) async throws {
        let pool = try file.pool { $0.maximumReaderCount = 2 }
        let (seen, go) = (Recorder<[String]>(), Gate())
        try pool.inDatabase { db in
            for number in 1...2 {
                try db.insert("\(number)")
                let read: @Sendable (Result<Database, any Error>) -> Void = { result in
                    try? go.wait()
                    seen.record((try? result.get().names()) ?? [])
                }
                if isNewest { pool.spawnConcurrentRead(read) } else { pool.asyncConcurrentRead(read) }
            }
            try db.insert("unseen")
        }
        try await pool.write { db in try db.insert("later") }
        go.open()
        try await waitUntil { seen.elements.count == 2 }
        #expect(Set(seen.elements) == [["1"], ["1", "2"]])
        try await expectAllPlaces(of: pool)
    }

    @Test("More concurrent reads than there are readers wait for each other, and all of them come")
    func manyConcurrentReads() async throws {
        let pool = try file.pool { $0.maximumReaderCount = 2 }
        let seen = Recorder<Int>()
        try pool.inDatabase { db in
            for number in 1...30 {
                try db.insert("\(number)")
                pool.spawnConcurrentRead { result in
                    let count = try? result.get().names().count
                    // It is in a transaction that only reads, whose end is no harm.
                    expectError("attempt to write in a read-only access") {
                        try result.get().insert("nobody")
                    }
                    if number % 3 == 0 { try? result.get().execute(sql: "COMMIT") }
                    seen.record((count ?? 0) - number)
                }
            }
        }
        try await waitUntil { seen.elements.count == 30 }
        #expect(seen.elements.allSatisfy { $0 == 0 })
        try await expectAllPlaces(of: pool)
    }

    @Test("A queue reads at once, where a pool reads beside")
    func queue() throws {
        let queue = try file.queue()
        let seen = Recorder<[String]>()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            queue.spawnConcurrentRead { result in seen.record((try? result.get().names()) ?? []) }
            #expect(seen.elements == [["Arthur"]])
        }
    }

    @Test("Each form of access has its transaction, and reads only or writes", arguments: Writer.allCases)
    func states(writer: Writer) async throws {
        let database = try writer.open(file)
        let states = Recorder<String>()
        @Sendable func note(_ name: String, _ db: Database) {
            states.record(
                "\(name) \(db.isInsideTransaction ? "transaction" : "none") \(db.isReadOnlyScope ? "reads" : "writes")"
            )
        }
        try await database.read { db in note("read", db) }
        try await database.unsafeRead { db in note("unsafeRead", db) }
        try await database.write { db in note("write", db) }
        try await database.writeWithoutTransaction { db in note("without", db) }
        try await database.barrierWriteWithoutTransaction { db in note("barrier", db) }
        try database.writeInTransaction { db in
            note("inTransaction", db)
            return .rollback
        }
        try database.unsafeReentrantWrite { db in note("reentrantWrite", db) }
        try database.unsafeReentrantRead { db in note("reentrantRead", db) }
        let expected = [
            "read transaction reads", "unsafeRead none reads", "write transaction writes",
            "without none writes",
            "barrier none writes", "inTransaction transaction writes", "reentrantWrite none writes",
            "reentrantRead none reads",
        ]
        #expect(states.removeAll() == expected)
        database.asyncRead { result in (try? result.get()).map { note("read", $0) } }
        try await waitUntil { states.elements.count == 1 }
        database.asyncUnsafeRead { result in (try? result.get()).map { note("unsafeRead", $0) } }
        try await waitUntil { states.elements.count == 2 }
        database.asyncWrite { db in
            note("write", db)
        } completion: { db, _ in
            note("completion", db)
        }
        try await waitUntil { states.elements.count == 4 }
        database.asyncWriteWithoutTransaction { db in note("without", db) }
        try await waitUntil { states.elements.count == 5 }
        database.asyncBarrierWriteWithoutTransaction { result in
            (try? result.get()).map { note("barrier", $0) }
        }
        try await waitUntil { states.elements.count == 6 }
        #expect(
            states.elements == [
                "read transaction reads", "unsafeRead none reads", "write transaction writes",
                "completion none writes",
                "without none writes", "barrier none writes",
            ])
    }

    @Test("asyncWrite tells its result, and what fails is undone", arguments: Writer.allCases)
    func asyncWrite(writer: Writer) async throws {
        let database = try writer.open(file)
        let results = Recorder<String>()
        for number in 0..<4 {
            database.asyncWrite { db in
                try db.insert("\(number)")
                if number % 2 == 1 { throw TestError(number) }
                return number
            } completion: { _, result in
                results.record("\(result.map { "\($0)" }.mapError { $0 as? TestError ?? TestError(-1) })")
            }
        }
        try await waitUntil { results.elements.count == 4 }
        // They came in the order of the calls.
        #expect(results.elements.map { $0.contains("success") } == [true, false, true, false])
        #expect(try database.names() == ["0", "2"])
    }

    @Test("A transaction that a concurrent or an asynchronous read leaves open is of no harm")
    func leftOpen() async throws {
        let pool = try file.pool { $0.maximumReaderCount = 1 }
        let done = Recorder<Int>()
        pool.asyncUnsafeRead { result in
            try? result.get().beginTransaction()
            done.record(1)
        }
        try await waitUntil { done.elements.count == 1 }
        let error = databaseError { try pool.unsafeRead { db in try db.beginTransaction() } }
        #expect(error?.message?.hasPrefix("a transaction was still open") == true)
        let state = try await pool.unsafeRead { db in db.isInsideTransaction }
        #expect(!state)
        try await expectAllPlaces(of: pool)
    }

    @Test("Interrupting a pool ends the statements of readers and of the writer")
    func interrupt() async throws {
        let started = Recorder<Int>()
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = 2
            configuration.prepareDatabase { db in
                try db.add(
                    function: DatabaseFunction("started", argumentCount: 0) { _ in
                        started.record(1)
                        return 1
                    })
                try db.add(function: .pause)
            }
        }
        let sql =
            "WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 300000000) SELECT COUNT(*) FROM n"
        let tasks = (0..<3).map { number in
            Task {
                try await onThread {
                    if number == 0 {
                        try pool.inDatabase { db in try db.execute(sql: sql) }
                    } else {
                        try pool.read { db in try db.execute(sql: sql) }
                    }
                }
            }
        }
        try await waitUntil { started.elements.count == 3 }
        pool.interrupt()
        for task in tasks {
            let error = await #expect(throws: DatabaseError.self) { try await task.value }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
        }
        try await expectAllPlaces(of: pool)
    }
}
