import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A database that runs as a service, and its end.
@Suite("Services", .behaviour(83))
struct ServiceTests {
    private let file: TemporaryDatabase
    private static let refusal =
        "the database test has ended: its run() was cancelled, and no new access can begin"

    init() throws { file = try TemporaryDatabase(journalMode: .wal) }

    private func open(
        _ kind: Writer, deadline: Duration = .seconds(300),
        configure: (inout Configuration) -> Void = { _ in }
    ) throws -> any DatabaseWriter {
        try kind.open(file) { configuration in
            configuration.shutdownTimeout = deadline
            configuration.prepareDatabase { db in try db.add(function: .pause) }
            configure(&configuration)
        }
    }

    /// Runs a database as a service.
    private func start(_ writer: any DatabaseWriter) -> Task<Void, any Error> {
        Task { try await writer.run() }
    }

    /// Asks for the end, and waits until it has begun.
    private func end(_ service: Task<Void, any Error>, _ writer: any DatabaseWriter) async throws {
        service.cancel()
        let connection = (writer as? DatabaseQueue)?.connection ?? (writer as? DatabasePool)?.writer
        try await waitUntil { connection?.database.group.serviceEnd.hasBegun == true }
        #expect(databaseError { try writer.read { _ in } }?.message == Self.refusal)
    }

    /// Expects the names that the file has on disk, when no connection has it open.
    private func expectClosed(_ names: [String]) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: file.folder.path)
        #expect(files == ["test.sqlite"])
        #expect(try file.queue().names() == names)
    }

    // MARK: - In order

    @Test(
        "It runs until it is cancelled, then it is closed, without a log, and every access throws a sentence",
        arguments: Writer.allCases)
    func ends(kind: Writer) async throws {
        let writer = try open(kind)
        let service = start(writer)
        for number in 1...20 { try await writer.write { db in try db.insert("\(number)") } }
        let snapshots = try (writer as? DatabasePool).map { [try $0.makeSnapshot()] } ?? []
        for snapshot in snapshots { try await snapshot.close() }
        service.cancel()
        try await service.value
        try expectClosed((1...20).map(String.init))

        for access in Access.allCases {
            let error = await #expect(throws: DatabaseError.self) { try await access.run(writer) { _ in } }
            #expect(error?.resultCode == .SQLITE_MISUSE && error?.message == Self.refusal)
            #expect(error?.isDatabaseClosed == true)
        }
        for access in [
            { try writer.read { _ in } }, { try writer.unsafeRead { _ in } },
            { try writer.inDatabase { _ in } },
            { try writer.unsafeReentrantRead { _ in } }, { try writer.unsafeReentrantWrite { _ in } },
            { try writer.barrierWriteWithoutTransaction { _ in } },
        ] as [() throws -> Void] {
            #expect(databaseError(access)?.message == Self.refusal)
        }
        let told = Recorder<String>()
        writer.asyncRead { result in told.record(Self.sentence(result)) }
        writer.asyncBarrierWriteWithoutTransaction { result in told.record(Self.sentence(result)) }
        writer.asyncWriteWithoutTransaction { _ in told.record("accessed") }
        try await waitUntil { told.elements.count == 2 }
        #expect(told.elements == [Self.refusal, Self.refusal])
        // Closed, it is no service any more.
        await expectError(Self.refusal) { try await writer.run() }
        try await writer.close()
    }

    private static func sentence(_ result: Result<Database, any Error>) -> String {
        do { return try "\(result.get())" } catch { return (error as? DatabaseError)?.message ?? "\(error)" }
    }

    @Test(
        "A closed database does not run, and one that is closed while it runs ends",
        arguments: Writer.allCases)
    func closed(kind: Writer) async throws {
        let writer = try open(kind)
        let service = start(writer)
        try await writer.write { db in try db.insert("Arthur") }
        try await writer.close()
        let error = await #expect(throws: DatabaseError.self) { try await writer.run() }
        #expect(error?.message == "the database test is closed")
        service.cancel()
        try await service.value
        #expect(try file.queue().names() == ["Arthur"])
    }

    @Test("One that runs twice ends twice, in order", arguments: Writer.allCases)
    func twice(kind: Writer) async throws {
        let writer = try open(kind)
        let services = [start(writer), start(writer), start(writer)]
        try await writer.write { db in try db.insert("Arthur") }
        for service in services { service.cancel() }
        for service in services { try? await service.value }
        try expectClosed(["Arthur"])
    }

    @Test(
        "Those that run, and those that stand in line, go on; those that come throw",
        arguments: Writer.allCases)
    func running(kind: Writer) async throws {
        let writer = try open(kind)
        let service = start(writer)
        let hold = try await LongAccess { inside in
            try writer.write { db in
                try db.insert("0")
                try inside()
                try db.insert("1")
                // The holder of an access may have others.
                _ = try writer.unsafeReentrantWrite { db in try db.names() }
                if let pool = writer as? DatabasePool {
                    _ = try pool.unsafeReentrantRead { db in try db.names() }
                }
            }
        }
        let inLine = (2...6).map { number in
            Task { try await writer.write { db in try db.insert("\(number)") } }
        }
        let line = (writer as? DatabaseQueue)?.line ?? (writer as? DatabasePool)?.writer.line
        try await waitUntil { line?.waitingCount == 5 }
        let later = Gate()
        writer.asyncWriteWithoutTransaction { db in
            #expect(throws: Never.self) { try db.insert("7") }
            later.open()
        }
        try await end(service, writer)
        await expectError(Self.refusal) { try await writer.write { db in try db.insert("late") } }
        try await hold.release()
        for task in inLine { try await task.value }
        try await service.value
        #expect(later.isOpen)
        #expect(try Set(file.queue().names()) == Set((0...7).map(String.init)))
    }

    @Test("Reads of a pool go on beside its end, and a snapshot that goes is waited for")
    func readers() async throws {
        let pool = try #require(open(.pool) as? DatabasePool)
        try await pool.write { db in try db.insert("Arthur") }
        let service = start(pool)
        let names = Shared<[String]>([])
        let read = try await LongAccess { inside in
            try pool.read { db in
                try inside()
                let found = try db.names()
                names.withLock { $0 = found }
            }
        }
        let snapshot = Shared<DatabaseSnapshot?>(try pool.makeSnapshot())
        try await end(service, pool)
        #expect(databaseError { try snapshot.value?.read { _ in } }?.message == Self.refusal)
        try await read.release()
        #expect(names.value == ["Arthur"])
        snapshot.withLock { $0 = nil }
        try await service.value
        try expectClosed(["Arthur"])
    }

    @Test("Live values end with it", arguments: Writer.allCases)
    func live(kind: Writer) async throws {
        let writer = try open(kind)
        let service = start(writer)
        let told = Recorder<Int>()
        let following = Task {
            let values = ValueObservation.tracking { db in try db.names().count }.values(in: writer)
            for try await count in values { told.record(count) }
        }
        try await waitUntil { told.elements == [0] }
        try await writer.write { db in try db.insert("Arthur") }
        try await waitUntil { told.elements == [0, 1] }
        service.cancel()
        try await service.value
        try await following.value
        try expectClosed(["Arthur"])
    }

    @Test(
        "What is freed with it may want an access, and is told that there is none", arguments: Writer.allCases
    )
    func freed(kind: Writer) async throws {
        let writer = try open(kind)
        let told = Recorder<String>()
        writer.add(transactionObserver: CuriousObserver(writer, told), extent: .databaseLifetime)
        let service = start(writer)
        try await writer.write { db in try db.insert("Arthur") }
        service.cancel()
        try await service.value
        #expect(told.elements == [Self.refusal])
        try expectClosed(["Arthur"])
    }

    // MARK: - Beyond the deadline

    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + pause() FROM n LIMIT 300000000) SELECT COUNT(*) FROM n"

    @Test(
        "What runs for too long is interrupted, rolled back and told; what stood in line behind it, too",
        arguments: Writer.allCases, [true, false])
    func interrupted(kind: Writer, isThread: Bool) async throws {
        let writer = try open(kind, deadline: .milliseconds(100))
        try await writer.write { db in try db.insert("Arthur") }
        let service = start(writer)
        let started = Gate()
        let work: @Sendable (Database) throws -> Void = { db in
            try db.insert("nobody")
            started.open()
            _ = try? db.execute(sql: Self.endless)
            try db.insert("nobody else")
        }
        let long = Task {
            if isThread {
                try await onThread { try writer.write(work) }
            } else {
                try await writer.write { db in try work(db) }
            }
        }
        try await waitUntil { started.isOpen }
        let behind = Task { try await writer.write { db in try db.insert("behind") } }
        let line = (writer as? DatabaseQueue)?.line ?? (writer as? DatabasePool)?.writer.line
        try await waitUntil { line?.waitingCount == 1 }
        service.cancel()
        for task in [long, behind] {
            let error = await #expect(throws: DatabaseError.self) { try await task.value }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            #expect(error?.isDatabaseClosed == true)
            #expect(
                error?.message?.hasPrefix(
                    "the database test has ended: its run() was cancelled, and the access had not ended after 100 ms"
                )
                    == true)
        }
        let error = await #expect(throws: DatabaseError.self) { try await service.value }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        let what = kind == .pool ? "test.writer" : "an access"
        #expect(
            error?.message
                == "the database test is closed. After 100 ms, these accesses still ran, and were "
                + "interrupted and rolled back: \(what)"
        )
        try expectClosed(["Arthur"])
    }

    @Test("An interruption that comes when nothing runs leaves no log behind", arguments: Writer.allCases)
    func interruptedAtRest(kind: Writer) async throws {
        let writer = try open(kind) { $0.optimizesWhenClosing = false }
        try await writer.write { db in try db.insert("Arthur") }
        writer.interrupt()
        try await writer.close()
        if kind == .queue { return try expectClosed(["Arthur"]) }
        // A pool leaves an empty one.
        let log = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    @Test("A read of a pool that runs for too long is interrupted, and named")
    func interruptedRead() async throws {
        let pool = try #require(open(.pool, deadline: .zero) as? DatabasePool)
        let service = start(pool)
        let started = Gate()
        let read = Task {
            try await onThread {
                try pool.read { db in
                    started.open()
                    try db.execute(sql: Self.endless)
                }
            }
        }
        try await waitUntil { started.isOpen }
        service.cancel()
        let told = await #expect(throws: DatabaseError.self) { try await read.value }
        #expect(told?.resultCode == .SQLITE_INTERRUPT)
        let error = await #expect(throws: DatabaseError.self) { try await service.value }
        #expect(error?.message?.contains("test.reader.1") == true)
        try expectClosed([])
    }

    @Test(
        "A function that does not return is told, and commits nothing afterwards", arguments: Writer.allCases)
    func stubborn(kind: Writer) async throws {
        let writer = try open(kind, deadline: .milliseconds(1))
        let service = start(writer)
        let hold = Gate()
        let inside = Gate()
        let stubborn = RunningThread {
            databaseError {
                try writer.write { db in
                    try db.insert("nobody")
                    inside.open()
                    try hold.wait()
                }
            }?.resultCode
        }
        try await waitUntil { inside.isOpen }
        service.cancel()
        let error = await #expect(throws: DatabaseError.self) { try await service.value }
        #expect(error?.resultCode == .SQLITE_BUSY)
        let what = kind == .pool ? "test.writer" : "an access"
        #expect(
            error?.message
                == "the database test could not be closed: \(what) did not return within 1.0 s after being interrupted"
        )
        hold.open()
        #expect(try stubborn.join() == .SQLITE_INTERRUPT)
        // It is closed when it can be.
        try await waitUntil { (try? expectedFiles()) == ["test.sqlite"] }
        try expectClosed([])
    }

    private func expectedFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.folder.path)
    }

    @Test("A snapshot that stays is named, and the pool can be closed later")
    func snapshotStays() async throws {
        let pool = try #require(open(.pool, deadline: .milliseconds(1)) as? DatabasePool)
        try await pool.write { db in try db.insert("Arthur") }
        let service = start(pool)
        let snapshot = try pool.makeSnapshot()
        service.cancel()
        let error = await #expect(throws: DatabaseError.self) { try await service.value }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("a snapshot, test.snapshot.1") == true, "\(error?.message ?? "")")
        try await snapshot.close()
        try await pool.close()
        try expectClosed(["Arthur"])
    }

    // MARK: - Settings

    @Test(
        "The configuration for servers says what its documentation says, of all connections",
        arguments: Writer.allCases)
    func server(kind: Writer) async throws {
        let writer = try kind.open(file) { $0 = .server }
        func pragma(_ name: String, _ db: Database) throws -> String? {
            try DatabaseValue.fetchOne(db, sql: "SELECT * FROM pragma_\(name)").map { "\($0)" }
        }
        let read = try await writer.read { db in
            [try pragma("cache_size", db), try pragma("foreign_keys", db), try pragma("journal_mode", db)]
        }
        #expect(read == ["-16000", "1", "wal"])
        let written = try await writer.write { db in
            [
                try pragma("cache_size", db), try pragma("synchronous", db),
            ]
        }
        #expect(written == ["-16000", "2"])
        #expect(writer.configuration.maximumReaderCount >= 4)
        guard case .timeout(5) = writer.configuration.busyMode else {
            Issue.record("\(writer.configuration.busyMode)")
            return
        }
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); CREATE INDEX i ON t (a)")
            for number in 1...500 { try db.execute(sql: "INSERT INTO t VALUES (?, 1)", arguments: [number]) }
            _ = try Row.fetchAll(db, sql: "SELECT * FROM t WHERE a = 3")
        }
        try await writer.close()
        let learnt = try await file.queue().read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_stat1")
        }
        #expect(learnt == 1)
    }
}

/// An observer that reads when it is freed.
private final class CuriousObserver: TransactionObserver {
    private weak var writer: (any DatabaseWriter)?
    private let told: Recorder<String>

    init(_ writer: any DatabaseWriter, _ told: Recorder<String>) { (self.writer, self.told) = (writer, told) }
    deinit { told.record(databaseError { try writer?.read { _ in } }?.message ?? "read") }

    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
