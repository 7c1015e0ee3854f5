import Shellac

/// Requests, which are built anew each time.
enum RequestWorkloads {
    static let all = [
        Workload("requests.filter", gate: 2.0, goal: 1.5, sides: filter)
    ]

    /// A filter that finds one row, so that next to nothing hides what the request costs.
    private static func filter(_ fixture: Fixture) throws -> Sides {
        let scale = fixture.scale
        let count = max(1, scale.rows / 20)
        let connection = try fixture.connection()
        let statement = try connection.prepare(Player.selectionByID)
        let c = Side {
            try connection.execute("BEGIN")
            var sum: UInt64 = 0
            for query in 0..<count {
                statement.bind(Int(scale.hotID(query)), 1)
                for player in try statement.array({ try Player($0) }) {
                    sum &+= sample(player.score, player.name)
                }
                statement.reset()
            }
            try connection.execute("COMMIT")
            return sum
        }
        let queue = try fixture.queue()
        let shellac = Side {
            try queue.read { db in
                var sum: UInt64 = 0
                for query in 0..<count {
                    let players = try StructPlayer.filter(Column("id") == scale.hotID(query)).fetchAll(db)
                    for player in players { sum &+= sample(player.score, player.name) }
                }
                return sum
            }
        }
        return Sides(operations: count, c: c, shellac: shellac)
    }

    private static func sample(_ score: Int, _ name: String) -> UInt64 {
        UInt64(truncatingIfNeeded: score &+ name.utf8.count)
    }
}
