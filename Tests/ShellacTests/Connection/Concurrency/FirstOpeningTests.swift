import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Opening a new file at the same time", .behaviour(134))
struct FirstOpeningTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ writer: Writer, _ path: String, _ busyMode: BusyMode = .timeout(20)
    ) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = busyMode
        switch writer {
        case .pool: return try DatabasePool(path: path, configuration: configuration)
        case .queue: return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    @Test("Threads that open it at once all open it, and write", arguments: Writer.allCases)
    func threads(writer: Writer) async throws {
        for round in 0..<100 {
            let path = folder.path("\(round).sqlite")
            try await onThread {
                let start = Gate()
                let threads = (0..<4).map { _ in
                    RunningThread {
                        try start.wait()
                        try open(writer, path).write { db in
                            try db.execute(
                                sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
                        }
                    }
                }
                start.open()
                for thread in threads { try thread.join() }
                let count = try DatabaseQueue(path: path).read { db in
                    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
                }
                #expect(count == 4)
            }
        }
    }

    @Test("Processes that open it at once all open it, and write", arguments: WritingProcess.Way.allCases)
    func processes(way: WritingProcess.Way) async throws {
        for round in 0..<5 {
            let path = folder.path("\(round).sqlite")
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 { group.addTask { try await SecondProcess.open(way, path: path) } }
                try await group.waitForAll()
            }
            let count = try await DatabaseQueue(path: path).read { db in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM opening")
            }
            #expect(count == 3)
        }
    }

    // MARK: - One that keeps the lock

    /// Holds a lock that a change of the journal mode has to wait for, although SQLite itself never
    /// waits for it.
    private func holdLock(_ path: String) throws -> DatabaseQueue {
        let holder = try DatabaseQueue(path: path) { $0.allowsUnsafeTransactions = true }
        try holder.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        }
        return holder
    }

    @Test(
        "The journal mode waits as long as the busy mode says, and the error says how long",
        arguments: Writer.allCases)
    func patience(writer: Writer) throws {
        let path = folder.path("test.sqlite")
        let holder = try holdLock(path)
        let start = ContinuousClock.now
        let error = databaseError { _ = try open(writer, path, .timeout(0.2)) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(
            error?.message?.contains("(another connection has kept its lock for 20") == true,
            "\(error?.message ?? "")")
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        try holder.inDatabase { db in try db.execute(sql: "COMMIT") }
        try open(writer, path).write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
    }

    @Test("One that does not wait tries it once, and a function of the user is asked as by SQLite")
    func otherModes() throws {
        let path = folder.path("test.sqlite")
        let holder = try holdLock(path)
        let error = databaseError { _ = try open(.queue, path, .immediateError) }
        #expect(error?.message?.hasSuffix("database is locked") == true)
        let counts = Recorder<Int>()
        let refused = databaseError {
            _ = try open(
                .queue, path,
                .callback { count in
                    counts.record(count)
                    return count < 3
                })
        }
        #expect(refused?.resultCode == .SQLITE_BUSY)
        #expect(counts.elements == [0, 1, 2, 3])
        try holder.inDatabase { db in try db.execute(sql: "COMMIT") }
    }

    @Test("A journal mode that a program sets by itself is waited for as well")
    func pragma() throws {
        let path = folder.path("test.sqlite")
        let holder = try holdLock(path)
        var configuration = Configuration()
        configuration.busyMode = .callback { count in
            if count == 2 { try? holder.inDatabase { db in try db.execute(sql: "COMMIT") } }
            return true
        }
        configuration.prepareDatabase { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = wal")
            #expect(mode == "wal")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let count = try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        #expect(count == 1)
    }
}

extension DatabaseQueue {
    fileprivate convenience init(path: String, configure: (inout Configuration) -> Void) throws {
        var configuration = Configuration()
        configure(&configuration)
        try self.init(path: path, configuration: configuration)
    }
}
