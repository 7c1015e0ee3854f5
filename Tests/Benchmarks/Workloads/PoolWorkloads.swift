import Foundation
import Shellac

/// A pool, beside connections by hand: one for each thread, to a copy of the file that has a
/// write-ahead log.
enum PoolWorkloads {
    static let all = [
        Workload("pool.read.1", gate: 1.5, goal: 1.1) { try tinyReads($0, threadCount: 1) },
        Workload("pool.read.2", gate: 1.5, goal: 1.1) { try tinyReads($0, threadCount: 2) },
        Workload("pool.scan.2", gate: 1.2, goal: 1.05) { try scans($0, threadCount: 2) },
        Workload("pool.write", gate: 1.5, goal: 1.1, sides: smallWrites),
        Workload("pool.tail", gate: 0.5, goal: 0.2) { try tail($0, .background) },
        Workload("pool.tail.commit", gate: 1.5, goal: 1.1) { try tail($0, .atCommit) },
    ]

    // MARK: - Reading

    /// A transaction for each value, on each thread.
    ///
    /// SQLite has a mutex around the index of a log, for each process and file, and calls the
    /// system for each lock. Two threads sleep at this mutex. They do so more or less often,
    /// depending on what each does in between. Our connection takes 1 to 1.5 µs for itself in each
    /// read. Connections by hand that do anything else for as long take 6.3 to 6.8 µs, and so do
    /// ours.
    private static func tinyReads(_ fixture: Fixture, threadCount: Int) throws -> Sides {
        let scale = fixture.scale
        let file = try LoggedCopy(fixture)
        let readers = try (0..<threadCount).map { _ in try Reader(file.connection(), Player.scoreByID) }
        let c = Side {
            try Threads.sum(threadCount) { thread in
                let reader = readers[thread]
                var sum: UInt64 = 0
                for query in 0..<scale.queries {
                    try reader.begin.run()
                    reader.statement.bind(Int(scale.hotID(query)), 1)
                    if try reader.statement.step() {
                        sum &+= UInt64(truncatingIfNeeded: reader.statement.int(0))
                    }
                    reader.statement.reset()
                    try reader.commit.run()
                }
                return sum
            }
        }
        let pool = try file.pool()
        let shellac = Side {
            try Threads.sum(threadCount) { _ in
                var sum: UInt64 = 0
                for query in 0..<scale.queries {
                    let score = try pool.read { db in
                        let statement = try db.cachedStatement(sql: Player.scoreByID)
                        return try Int.fetchOne(statement, arguments: [scale.hotID(query)])
                    }
                    if let score { sum &+= UInt64(truncatingIfNeeded: score) }
                }
                return sum
            }
        }
        return Sides(operations: scale.queries * threadCount, c: c, shellac: shellac)
    }

    /// Two columns of all items, on each thread.
    private static func scans(_ fixture: Fixture, threadCount: Int) throws -> Sides {
        let file = try LoggedCopy(fixture)
        let readers = try (0..<threadCount).map { _ in try Reader(file.connection(), Item.selection) }
        let c = Side {
            try Threads.sum(threadCount) { thread in
                let reader = readers[thread]
                var sum: UInt64 = 0
                try reader.begin.run()
                while try reader.statement.step() {
                    sum &+= UInt64(truncatingIfNeeded: reader.statement.int(0) &+ reader.statement.int(9))
                }
                try reader.commit.run()
                return sum
            }
        }
        let pool = try file.pool()
        let shellac = Side {
            try Threads.sum(threadCount) { _ in
                try pool.read { db in
                    var sum: UInt64 = 0
                    let cursor = try Row.fetchCursor(db, sql: Item.selection)
                    while let row = try cursor.next() {
                        let first: Int = try row[0]
                        let last: Int = try row[9]
                        sum &+= UInt64(truncatingIfNeeded: first &+ last)
                    }
                    return sum
                }
            }
        }
        return Sides(operations: fixture.scale.rows * threadCount, c: c, shellac: shellac)
    }

    /// A connection by hand that reads, and its statements.
    private struct Reader {
        let begin: CStatement
        let statement: CStatement
        let commit: CStatement

        init(_ connection: CConnection, _ sql: String) throws {
            begin = try connection.prepare("BEGIN DEFERRED TRANSACTION")
            statement = try connection.prepare(sql)
            commit = try connection.prepare("COMMIT TRANSACTION")
        }
    }

    // MARK: - Writing

    /// A transaction for each of the small changes. Commits do not wait for the disk.
    private static func smallWrites(_ fixture: Fixture) throws -> Sides {
        let transactions = fixture.scale.transactions
        let (file, other) = (try LoggedCopy(fixture), try LoggedCopy(fixture))
        let writer = try Writer(other.connection())
        let pool = try file.pool()
        return Sides(
            operations: transactions,
            c: Side(
                keeping: { for number in 0..<transactions { try writer.write(number) } },
                checksum: { try writer.connection.integer(Writer.sum) }),
            shellac: Side(
                keeping: { for number in 0..<transactions { try Writer.write(number, pool) } },
                checksum: { UInt64(try pool.read { db in try Int.fetchOne(db, sql: Writer.sum) } ?? 0) }))
    }

    /// The time that all small commits take but one of a thousand. The time of an operation is
    /// that.
    ///
    /// By hand, the commit that finds a large log copies it.
    private static func tail(_ fixture: Fixture, _ checkpoints: Checkpoints) throws -> Sides {
        let transactions = fixture.scale.transactions * 10
        let (file, other) = (try LoggedCopy(fixture), try LoggedCopy(fixture))
        let writer = try Writer(other.connection())
        let pool = try file.pool { $0.checkpoints = checkpoints }
        func side(_ write: @escaping (_ number: Int) throws -> Void) -> Side {
            Side(measuring: {
                let clock = ContinuousClock()
                var times: [Double] = []
                for number in 0..<transactions {
                    let start = clock.now
                    try write(number)
                    times.append((clock.now - start) / .nanoseconds(1))
                }
                times.sort()
                return Side.Sample(
                    nanoseconds: times[times.count * 999 / 1_000], checksum: UInt64(transactions))
            })
        }
        return Sides(
            operations: 1, c: side { try writer.write($0) }, shellac: side { try Writer.write($0, pool) })
    }

    /// A connection by hand that writes, and its statements.
    private struct Writer {
        let connection: CConnection
        let begin: CStatement
        let statement: CStatement
        let commit: CStatement

        static let sql = "UPDATE item SET i1 = i1 + 1, i2 = ? WHERE rowid = ?"
        static let sum = "SELECT sum(i1) + sum(i2) FROM item"

        init(_ connection: CConnection) throws {
            self.connection = connection
            begin = try connection.prepare("BEGIN IMMEDIATE TRANSACTION")
            statement = try connection.prepare(Self.sql)
            commit = try connection.prepare("COMMIT TRANSACTION")
        }

        /// The row that the change of a number is made in: they are spread over the pages.
        static func row(_ number: Int) -> Int { 1 + number &* 7919 % 2_000 }

        func write(_ number: Int) throws {
            try begin.run()
            statement.bind(number, 1)
            statement.bind(Self.row(number), 2)
            try statement.run()
            try commit.run()
        }

        static func write(_ number: Int, _ pool: DatabasePool) throws {
            try pool.write { db in
                try db.cachedStatement(sql: sql).execute(arguments: [number, row(number)])
            }
        }
    }
}

/// A copy of the fixture's file, which has a write-ahead log. Its commits do not wait for the disk.
private struct LoggedCopy {
    private let path: String
    private static let settings = "PRAGMA synchronous = NORMAL"

    init(_ fixture: Fixture) throws {
        path = fixture.path(of: "pool-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
        _ = try connection()
    }

    func connection() throws -> CConnection {
        let connection = try CConnection(path)
        try connection.execute("PRAGMA journal_mode = wal; \(Self.settings)")
        return connection
    }

    func pool(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: Self.settings) }
        configure(&configuration)
        return try DatabasePool(path: path, configuration: configuration)
    }
}

/// Threads that run at the same time.
private enum Threads {
    /// Runs a function on some threads, and returns the sum of its results. Its argument is the
    /// number of the thread.
    ///
    /// One thread is the caller's own.
    static func sum(_ count: Int, _ body: @escaping (_ thread: Int) throws -> UInt64) throws -> UInt64 {
        // The caller waits, and each thread has a place of its own.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) let results = UnsafeMutablePointer<Result<UInt64, any Error>>
            .allocate(capacity: count)
        results.initialize(repeating: .success(0), count: count)
        defer {
            results.deinitialize(count: count)
            results.deallocate()
        }
        let end = DispatchSemaphore(value: 0)
        for thread in 1..<max(count, 1) {
            Thread {
                results[thread] = Result { try body(thread) }
                end.signal()
            }.start()
        }
        results[0] = Result { try body(0) }
        for _ in 1..<max(count, 1) { end.wait() }
        return try (0..<count).reduce(0) { sum, thread in try sum &+ results[thread].get() }
    }
}
