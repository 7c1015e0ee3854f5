import Shellac
import Synchronization

/// The way into a database: what an access costs, whatever is done in it.
enum AccessWorkloads {
    static let all = [
        Workload("access.sync", .nanoseconds, gate: 60, goal: 25, sides: empty),
        Workload("access.read", gate: 1.5, goal: 1.1, sides: tinyRead),
        Workload("report.idle", gate: 1.02, goal: 1.0, sides: unheardRead),
        Workload("report.heard", gate: 2.5, goal: 1.5, sides: heardRead),
    ]

    /// Accesses with nothing in them.
    private static func empty(_ fixture: Fixture) throws -> Sides {
        let queue = try fixture.queue()
        let accesses = fixture.scale.accesses
        let shellac = Side {
            var count: UInt64 = 0
            for _ in 0..<accesses {
                try queue.inDatabase { _ in count &+= 1 }
            }
            return count
        }
        return Sides(operations: accesses, checksum: UInt64(accesses), shellac: shellac)
    }

    /// Reads a value in memory, each in a transaction of its own, without a report handler. The
    /// other side reads by an access that does not look for one.
    private static func unheardRead(_ fixture: Fixture) throws -> Sides {
        let queue = try memory(Configuration())
        return smallReads(fixture, { try queue.querySilently($0) }, { try queue.read($0) })
    }

    /// The same, while a report counts each statement, transaction and access.
    private static func heardRead(_ fixture: Fixture) throws -> Sides {
        let count = Atomic<UInt64>(0)
        var configuration = Configuration()
        configuration.reportHandler = { _ in count.add(1, ordering: .relaxed) }
        let (plain, heard) = (try memory(Configuration()), try memory(configuration))
        return smallReads(fixture, { try plain.read($0) }, { try heard.read($0) })
    }

    private static func memory(_ configuration: Configuration) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE score (id INTEGER PRIMARY KEY, value INTEGER);
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
                    INSERT INTO score SELECT i, i * 7 FROM n
                    """)
        }
        return queue
    }

    private typealias Reading = ((Database) throws -> UInt64) throws -> UInt64

    private static func smallReads(
        _ fixture: Fixture, _ reference: @escaping Reading, _ shellac: @escaping Reading
    ) -> Sides {
        let queries = fixture.scale.queries
        func score(_ db: Database, _ query: Int) throws -> UInt64 {
            let statement = try db.cachedStatement(sql: "SELECT value FROM score WHERE id = ?")
            return UInt64(truncatingIfNeeded: try Int.fetchOne(statement, arguments: [query % 100]) ?? 0)
        }
        func side(_ read: @escaping Reading) -> Side {
            Side {
                var sum: UInt64 = 0
                for query in 0..<queries { sum &+= try read { db in try score(db, query) } }
                return sum
            }
        }
        return Sides(operations: queries, c: side(reference), shellac: side(shellac))
    }

    /// A transaction for each value.
    private static func tinyRead(_ fixture: Fixture) throws -> Sides {
        let scale = fixture.scale
        let connection = try fixture.connection()
        let begin = try connection.prepare("BEGIN DEFERRED TRANSACTION")
        let statement = try connection.prepare(Player.scoreByID)
        let commit = try connection.prepare("COMMIT TRANSACTION")
        let c = Side {
            var sum: UInt64 = 0
            for query in 0..<scale.queries {
                try begin.run()
                statement.bind(Int(scale.hotID(query)), 1)
                if try statement.step() { sum &+= UInt64(truncatingIfNeeded: statement.int(0)) }
                statement.reset()
                try commit.run()
            }
            return sum
        }
        let queue = try fixture.queue()
        let shellac = Side {
            var sum: UInt64 = 0
            for query in 0..<scale.queries {
                let score = try queue.read { db in
                    let statement = try db.cachedStatement(sql: Player.scoreByID)
                    return try Int.fetchOne(statement, arguments: [scale.hotID(query)])
                }
                if let score { sum &+= UInt64(truncatingIfNeeded: score) }
            }
            return sum
        }
        return Sides(operations: scale.queries, c: c, shellac: shellac)
    }
}
