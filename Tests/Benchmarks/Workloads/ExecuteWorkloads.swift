import Shellac

/// Statements that write, without records.
enum ExecuteWorkloads {
    static let all = [
        Workload("execute.insert", gate: 2.0, goal: 1.3) { fixture in
            try insert(fixture) { statement, row in
                try statement.execute(arguments: [
                    row, row + 1, row + 2, row + 3, row + 4, row + 5, row + 6, row + 7, row + 8, row + 9,
                ])
            }
        },
        Workload("execute.insert.values", gate: 1.85, goal: 1.3) { fixture in
            try insert(fixture) { statement, row in
                try statement.execute(
                    arguments: .values(
                        row, row + 1, row + 2, row + 3, row + 4, row + 5, row + 6, row + 7, row + 8, row + 9))
            }
        },
    ]

    /// Items inserted with a prepared statement, in one transaction, in memory. Each run begins
    /// with an empty table.
    @inline(__always)
    private static func insert(
        _ fixture: Fixture, _ execute: @escaping (Statement, _ row: Int) throws -> Void
    ) throws -> Sides {
        let insertions = fixture.scale.insertions
        let connection = try CConnection()
        try connection.execute(Item.table)
        let statement = try connection.prepare(Item.insertion)
        let c = Side(
            setUp: {
                try connection.execute("DELETE FROM item")
            },
            keeping: {
                try connection.execute("BEGIN IMMEDIATE")
                for row in 0..<insertions { try Item.bind(row, to: statement) }
                try connection.execute("COMMIT")
            },
            checksum: {
                try connection.integer(Item.sum)
            })
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: Item.table) }
        let shellac = Side(
            setUp: {
                try queue.write { try $0.execute(sql: "DELETE FROM item") }
            },
            keeping: {
                try queue.write { db in
                    let statement = try db.cachedStatement(sql: Item.insertion)
                    for row in 0..<insertions { try execute(statement, row) }
                }
            },
            checksum: {
                UInt64(try queue.read { try Int.fetchOne($0, sql: Item.sum) } ?? 0)
            })
        return Sides(operations: insertions, c: c, shellac: shellac)
    }
}
