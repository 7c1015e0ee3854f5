import Foundation
import Shellac

/// Values of one column, and single values.
enum ValueWorkloads {
    static let all = [
        Workload("values.int", gate: 1.15, goal: 1.03, sides: integers),
        Workload("values.one", gate: 1.6, goal: 1.2, sides: single),
        Workload("values.dates", gate: 1.6, goal: 1.2, sides: dates),
    ]

    private static func integers(_ fixture: Fixture) throws -> Sides {
        let sql = "SELECT i0 FROM item"
        let statement = try fixture.connection().prepare(sql)
        let queue = try fixture.queue()
        func checksum(_ numbers: [Int]) -> UInt64 { numbers.checksum { $1.add($0) } }
        let c = Side(
            keeping: {
                var numbers: [Int] = []
                while try statement.step() { numbers.append(statement.int(0)) }
                return numbers
            }, checksum: checksum)
        let shellac = Side(
            keeping: {
                try queue.read { try Int.fetchAll($0, sql: sql) }
            }, checksum: checksum)
        return Sides(operations: fixture.scale.rows, c: c, shellac: shellac)
    }

    /// One score by key, again and again in one transaction. The cached statement is asked for each
    /// time.
    private static func single(_ fixture: Fixture) throws -> Sides {
        let scale = fixture.scale
        let connection = try fixture.connection()
        let statement = try connection.prepare(Player.scoreByID)
        let c = Side {
            try connection.execute("BEGIN")
            var sum: UInt64 = 0
            for query in 0..<scale.queries {
                statement.bind(Int(scale.hotID(query)), 1)
                if try statement.step() { sum &+= UInt64(truncatingIfNeeded: statement.int(0)) }
                statement.reset()
            }
            try connection.execute("COMMIT")
            return sum
        }
        let queue = try fixture.queue()
        let shellac = Side {
            try queue.read { db in
                var sum: UInt64 = 0
                for query in 0..<scale.queries {
                    let statement = try db.cachedStatement(sql: Player.scoreByID)
                    if let score = try Int.fetchOne(statement, arguments: [scale.hotID(query)]) {
                        sum &+= UInt64(truncatingIfNeeded: score)
                    }
                }
                return sum
            }
        }
        return Sides(operations: scale.queries, c: c, shellac: shellac)
    }

    private static func dates(_ fixture: Fixture) throws -> Sides {
        let sql = "SELECT createdAt FROM player"
        let statement = try fixture.connection().prepare(sql)
        let queue = try fixture.queue()
        func checksum(_ dates: [Date]) -> UInt64 { dates.checksum { $1.add($0) } }
        let c = Side(
            keeping: {
                var dates: [Date] = []
                while try statement.step() { dates.append(try statement.date(0)) }
                return dates
            }, checksum: checksum)
        let shellac = Side(
            keeping: {
                try queue.read { try Date.fetchAll($0, sql: sql) }
            }, checksum: checksum)
        return Sides(operations: fixture.scale.rows, c: c, shellac: shellac)
    }
}
