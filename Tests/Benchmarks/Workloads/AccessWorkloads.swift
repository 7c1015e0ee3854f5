import Shellac

/// The way into a database: what an access costs, whatever is done in it.
enum AccessWorkloads {
    static let all = [
        Workload("access.sync", .nanoseconds, gate: 60, goal: 25, sides: empty),
        Workload("access.read", gate: 1.5, goal: 1.1, sides: tinyRead),
        Workload("report.idle", gate: 1.02, goal: 1.0, sides: unheardRead),
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

    /// A transaction for each value, as nobody hears of it, beside the same by an access that asks nobody whether they listen.
    private static func unheardRead(_ fixture: Fixture) throws -> Sides {
        let scale = fixture.scale
        let queue = try fixture.queue()
        func score(_ db: Database, _ query: Int) throws -> UInt64 {
            let statement = try db.cachedStatement(sql: Player.scoreByID)
            let score = try Int.fetchOne(statement, arguments: [scale.hotID(query)])
            return UInt64(truncatingIfNeeded: score ?? 0)
        }
        let bare = Side {
            var sum: UInt64 = 0
            for query in 0..<scale.queries { sum &+= try queue.readUnheard { db in try score(db, query) } }
            return sum
        }
        let shellac = Side {
            var sum: UInt64 = 0
            for query in 0..<scale.queries { sum &+= try queue.read { db in try score(db, query) } }
            return sum
        }
        return Sides(operations: scale.queries, c: bare, shellac: shellac)
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
