import Shellac

/// Records that are fetched, beside structs and final classes that are filled by hand.
enum RecordWorkloads {
    static let all = [
        Workload("records.struct.item", gate: 1.15, goal: 1.05, sides: structItems),
        Workload("records.struct.player", gate: 1.25, goal: 1.15, sides: structPlayers),
        Workload("records.codable.item", gate: 2.6, goal: 2.0, sides: codableItems),
        Workload("records.codable.player", gate: 2.5, goal: 1.8, sides: codablePlayers),
        Workload("records.class.item", gate: 1.35, goal: 1.10, sides: classItems),
        Workload("records.class.player", gate: 1.35, goal: 1.10, sides: classPlayers),
        Workload("records.class.player.init", gate: 1.35, goal: 1.10, sides: initializedPlayers),
        Workload("records.class.player.columns", gate: 1.35, goal: 1.10, sides: listedPlayers),
        Workload("records.class.player.codable", gate: 2.5, goal: 1.8, sides: codableClassPlayers),
        Workload("records.kinds", gate: 1.05, goal: 1.02, sides: kinds),
        Workload("records.find", gate: 1.4, goal: 1.2, sides: find),
        Workload("memory.class.player", .memory, gate: 1.6, goal: 1.45, sides: classPlayers),
        Workload("memory.class.item", .memory, gate: 1.8, goal: 1.6, sides: classItems),
    ]

    // MARK: - Arrays

    private static func structItems(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Item.selection)
        return try arrays(
            fixture, c: { try statement.array { Item($0) } }, shellac: { try StructItem.fetchAll($0) })
    }

    private static func codableItems(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Item.selection)
        return try arrays(
            fixture, c: { try statement.array { Item($0) } }, shellac: { try CodableItem.fetchAll($0) })
    }

    private static func codablePlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try Player($0) } },
            shellac: { try CodablePlayer.fetchAll($0) }
        )
    }

    private static func classItems(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Item.selection)
        return try arrays(
            fixture, c: { try statement.array { PlainItem($0) } }, shellac: { try ClassItem.fetchAll($0) })
    }

    private static func structPlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try Player($0) } }, shellac: { try StructPlayer.fetchAll($0) }
        )
    }

    private static func classPlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try PlainPlayer($0) } },
            shellac: { try ClassPlayer.fetchAll($0) })
    }

    private static func initializedPlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try PlainPlayer($0) } },
            shellac: { try InitializedPlayer.fetchAll($0) })
    }

    private static func listedPlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try PlainPlayer($0) } },
            shellac: { try ListedPlayer.fetchAll($0) })
    }

    private static func codableClassPlayers(_ fixture: Fixture) throws -> Sides {
        let statement = try fixture.connection().prepare(Player.selection)
        return try arrays(
            fixture, c: { try statement.array { try PlainPlayer($0) } },
            shellac: { try CodableClassPlayer.fetchAll($0) })
    }

    /// Rows of four classes, one after the other, beside the same rows as records of one class.
    private static func kinds(_ fixture: Fixture) throws -> Sides {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: Player.table)
            for row in 0..<fixture.scale.rows { try ListedPlayer.make(Player(row: row)).insert(db) }
            try db.execute(
                sql: """
                    CREATE TABLE kindPlayer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,
                        score INTEGER NOT NULL, rating REAL NOT NULL, createdAt TEXT NOT NULL, bio TEXT, kind TEXT);
                    INSERT INTO kindPlayer SELECT *, CASE (id * 7919) % 17 % 4
                        WHEN 0 THEN 'goalkeeper' WHEN 1 THEN 'defender' WHEN 2 THEN 'striker' END FROM player;
                    DROP TABLE player;
                    """)
        }
        return Sides(
            operations: fixture.scale.rows,
            c: Side(keeping: { try queue.read { try OneKindPlayer.fetchAll($0) } }, checksum: \.checksum),
            shellac: Side(keeping: { try queue.read { try KindPlayer.fetchAll($0) } }, checksum: \.checksum))
    }

    private static func arrays(
        _ fixture: Fixture, c: @escaping () throws -> [some Summable],
        shellac fetch: @escaping (Database) throws -> [some Summable]
    ) throws -> Sides {
        let queue = try fixture.queue()
        return Sides(
            operations: fixture.scale.rows, c: Side(keeping: c, checksum: \.checksum),
            shellac: Side(keeping: { try queue.read(fetch) }, checksum: \.checksum))
    }

    // MARK: - By key

    /// One record by its key, again and again in one transaction.
    private static func find(_ fixture: Fixture) throws -> Sides {
        let scale = fixture.scale
        let connection = try fixture.connection()
        let statement = try connection.prepare(Player.selectionByID)
        let c = Side {
            try connection.execute("BEGIN")
            var sum: UInt64 = 0
            for query in 0..<scale.queries {
                statement.bind(Int(scale.hotID(query)), 1)
                guard try statement.step() else { throw BenchmarkError("a player is missing") }
                let player = try PlainPlayer(statement)
                statement.reset()
                sum &+= UInt64(truncatingIfNeeded: player.score &+ player.name.utf8.count)
            }
            try connection.execute("COMMIT")
            return sum
        }
        let queue = try fixture.queue()
        let shellac = Side {
            try queue.read { db in
                var sum: UInt64 = 0
                for query in 0..<scale.queries {
                    let player = try ClassPlayer.find(db, key: scale.hotID(query))
                    sum &+= UInt64(truncatingIfNeeded: player.score &+ player.name.utf8.count)
                }
                return sum
            }
        }
        return Sides(operations: scale.queries, c: c, shellac: shellac)
    }
}
