import Shellac

/// Records that know what has changed, and are saved.
enum SavingWorkloads {
    static let all = [
        Workload("update.changes", gate: 1.6, goal: 1.3, sides: changed),
        Workload("update.checking", gate: 1.15, goal: 1.1, sides: changedIfUnchanged),
        Workload("changes.none.item", .nanoseconds, gate: 60, goal: 35, sides: unchangedItems),
        Workload("changes.none.player", .nanoseconds, gate: 150, goal: 100, sides: unchangedPlayers),
        Workload(
            "changes.none.player.columns", .nanoseconds, gate: 150, goal: 100, sides: unchangedListedPlayers),
        Workload(
            "changes.none.player.codable", .nanoseconds, gate: 1000, goal: 600, sides: unchangedCodablePlayers
        ),
        Workload("update.unchanged", .nanoseconds, gate: 180, goal: 100, sides: unchanged),
        Workload("write.tiny", gate: 1.2, goal: 1.05, sides: tinyWrites),
    ]

    /// Records of which one column of seven has changed, updated in one transaction, in memory. By
    /// hand, one knows which it is.
    private static func changed(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.insertions
        let connection = try CConnection()
        try connection.execute(Player.table)
        let insertion = try connection.prepare(Player.insertion)
        let plain = (0..<count).map { PlainPlayer(Player(row: $0)) }
        for player in plain { try player.insert(insertion, connection) }
        let statement = try connection.prepare(Player.update)
        let c = Side(
            setUp: { for player in plain { player.score += 1 } },
            keeping: {
                try connection.execute("BEGIN IMMEDIATE")
                for player in plain {
                    statement.bind(player.score, 1)
                    statement.bind(Int(player.id), 2)
                    try statement.run()
                }
                try connection.execute("COMMIT")
            },
            checksum: { try connection.integer(Player.sum) })

        return Sides(operations: count, c: c, shellac: try saving(count) { try $0.updateChanges($1) })
    }

    /// The same, with updates that check whether another connection has changed the column. The
    /// other side's updates do not check.
    private static func changedIfUnchanged(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.insertions
        return Sides(
            operations: count, c: try saving(count) { try $0.updateChanges($1) },
            shellac: try saving(count) { try $0.update($1, checking: .changedColumns) })
    }

    /// Records of which one column of seven has changed, updated in one transaction.
    @inline(__always)
    private static func saving(
        _ count: Int, _ save: @escaping (ClassPlayer, Database) throws -> Void
    ) throws -> Side {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: Player.table)
            for row in 0..<count { try ClassPlayer.make(Player(row: row)).insert(db) }
        }
        let records = try queue.read { try ClassPlayer.fetchAll($0) }
        return Side(
            setUp: { for player in records { player.score += 1 } },
            keeping: {
                try queue.write { db in
                    for player in records { try save(player, db) }
                }
            },
            checksum: {
                UInt64(truncatingIfNeeded: try queue.read { try Int.fetchOne($0, sql: Player.sum) } ?? 0)
            })
    }

    // MARK: - Nothing to do

    private static func unchangedItems(_ fixture: Fixture) throws -> Sides {
        let items = try fixture.queue().read {
            try ClassItem.fetchAll($0, sql: Item.selection + " LIMIT 1000")
        }
        return try clean(fixture, items.count) { items[$0].hasDatabaseChanges }
    }

    private static func unchangedPlayers(_ fixture: Fixture) throws -> Sides {
        let players = try fixture.queue().read {
            try ClassPlayer.fetchAll($0, sql: Player.selection + " LIMIT 1000")
        }
        return try clean(fixture, players.count) { players[$0].hasDatabaseChanges }
    }

    private static func unchangedListedPlayers(_ fixture: Fixture) throws -> Sides {
        let players = try fixture.queue().read {
            try ListedPlayer.fetchAll($0, sql: Player.selection + " LIMIT 1000")
        }
        return try clean(fixture, players.count) { players[$0].hasDatabaseChanges }
    }

    private static func unchangedCodablePlayers(_ fixture: Fixture) throws -> Sides {
        let players = try fixture.queue().read {
            try CodableClassPlayer.fetchAll($0, sql: Player.selection + " LIMIT 1000")
        }
        return try clean(fixture, players.count) { players[$0].hasDatabaseChanges }
    }

    /// A thousand records asked in turn whether they have changes.
    @inline(__always)
    private static func clean(
        _ fixture: Fixture, _ count: Int, hasChanges: @escaping (Int) -> Bool
    ) throws -> Sides {
        let passes = max(1, fixture.scale.queries / count)
        let shellac = Side {
            var clean: UInt64 = 0
            for _ in 0..<passes {
                for record in 0..<count where !hasChanges(record) { clean += 1 }
            }
            return clean
        }
        return Sides(operations: passes * count, checksum: UInt64(passes * count), shellac: shellac)
    }

    /// A thousand records saved in turn, in one transaction, without a change.
    private static func unchanged(_ fixture: Fixture) throws -> Sides {
        let queue = try fixture.queue()
        let players = try queue.read { try ClassPlayer.fetchAll($0, sql: Player.selection + " LIMIT 1000") }
        let passes = max(1, fixture.scale.queries / players.count)
        let shellac = Side {
            try queue.write { db in
                var clean: UInt64 = 0
                for _ in 0..<passes {
                    for player in players where try !player.updateChanges(db) { clean += 1 }
                }
                return clean
            }
        }
        let count = passes * players.count
        return Sides(operations: count, checksum: UInt64(count), shellac: shellac)
    }

    // MARK: - Small transactions

    /// One new record in each transaction, in a file. Each run begins with an empty table and an
    /// empty log.
    private static func tinyWrites(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.transactions
        let connection = try CConnection(fixture.path(of: "tiny-c"))
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \(Player.table)")
        let begin = try connection.prepare("BEGIN IMMEDIATE TRANSACTION")
        let statement = try connection.prepare(Player.insertion)
        let commit = try connection.prepare("COMMIT TRANSACTION")
        var plain: [PlainPlayer] = []
        let c = Side(
            setUp: {
                try connection.execute("DELETE FROM player; PRAGMA wal_checkpoint(TRUNCATE)")
                plain = (0..<count).map { PlainPlayer(Player(row: $0)) }
            },
            keeping: {
                for player in plain {
                    try begin.run()
                    try player.insert(statement, connection)
                    try commit.run()
                }
            },
            checksum: { try connection.integer(Player.sum) &+ plain.checksum })

        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        let queue = try DatabaseQueue(path: fixture.path(of: "tiny-shellac"), configuration: configuration)
        try queue.write { try $0.execute(sql: Player.table) }
        var records: [ClassPlayer] = []
        let shellac = Side(
            setUp: {
                try queue.writeWithoutTransaction {
                    try $0.execute(sql: "DELETE FROM player; PRAGMA wal_checkpoint(TRUNCATE)")
                }
                records = (0..<count).map { ClassPlayer.make(Player(row: $0)) }
            },
            keeping: {
                for player in records {
                    try queue.write { try player.save($0) }
                }
            },
            checksum: {
                let sum = try queue.read { try Int.fetchOne($0, sql: Player.sum) }
                return UInt64(truncatingIfNeeded: sum ?? 0) &+ records.checksum
            })
        return Sides(operations: count, c: c, shellac: shellac)
    }
}
