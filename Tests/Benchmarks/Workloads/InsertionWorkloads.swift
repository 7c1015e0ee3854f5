import Shellac

/// Records that are inserted. They exist before the time begins, and know their row ids when it
/// ends.
enum InsertionWorkloads {
    static let all = [
        Workload("insert.class.item", gate: 1.6, goal: 1.45, sides: classItems),
        // The class takes its row id in `didInsert`, as its kind does elsewhere.
        Workload("insert.class.player", gate: 1.3, goal: 1.1, sides: initializedPlayers),
        // A class that inherits `didInsert`, too, reads its whole row again by `updateFromRow`,
        // which makes its texts anew. The side in C does not. Reading these seven columns takes
        // some 370 ns, as for a fetched record: half of the insertion in C.
        Workload("insert.class.player.reading", gate: 1.85, goal: 1.6, sides: readingPlayers),
        Workload("insert.class.player.columns", gate: 1.3, goal: 1.1, sides: listedPlayers),
        Workload("insert.struct.player", gate: 1.3, goal: 1.1, sides: structPlayers),
        Workload("insert.codable.player", gate: 2.5, goal: 1.8, sides: codablePlayers),
        Workload("insert.multi.item", gate: 1.0, goal: 0.7, sides: manyItems),
        Workload("insert.multi.class.item", gate: 1.3, goal: 1.0, sides: manyClassItems),
        Workload("insert.multi.struct.player", gate: 1.2, goal: 1.0, sides: manyPlayers),
    ]

    private static func classItems(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Item.self, c: { PlainItem(row: $0) }, { ClassItem.make(row: $0) },
            insertPlain: { items, statement, _ in
                for item in items { try item.insert(statement) }
            },
            insert: { items, db in
                for item in items { try item.insert(db) }
            })
    }

    /// Many rows a statement, against one.
    private static func manyItems(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Item.self, c: { PlainItem(row: $0) }, { StructItem(number: $0) },
            insertPlain: { items, statement, _ in
                for item in items { try item.insert(statement) }
            },
            insert: { items, db in try StructItem.insertAll(db, &items) })
    }

    private static func manyClassItems(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Item.self, c: { PlainItem(row: $0) }, { ClassItem.make(row: $0) },
            insertPlain: { items, statement, _ in
                for item in items { try item.insert(statement) }
            },
            insert: { items, db in try ClassItem.insertAll(db, items) })
    }

    private static func manyPlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { Player(row: $0) }, { StructPlayer(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for index in players.indices { try players[index].insert(statement, connection) }
            },
            insert: { players, db in try StructPlayer.insertAll(db, &players) })
    }

    private static func readingPlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { PlainPlayer(Player(row: $0)) }, { ClassPlayer.make(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for player in players { try player.insert(statement, connection) }
            },
            insert: { players, db in
                for player in players { try player.insert(db) }
            })
    }

    private static func listedPlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { PlainPlayer(Player(row: $0)) }, { ListedPlayer.make(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for player in players { try player.insert(statement, connection) }
            },
            insert: { players, db in
                for player in players { try player.insert(db) }
            })
    }

    private static func initializedPlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { PlainPlayer(Player(row: $0)) }, { InitializedPlayer(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for player in players { try player.insert(statement, connection) }
            },
            insert: { players, db in
                for player in players { try player.insert(db) }
            })
    }

    private static func structPlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { Player(row: $0) }, { StructPlayer(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for index in players.indices { try players[index].insert(statement, connection) }
            },
            insert: { players, db in
                for index in players.indices { try players[index].insert(db) }
            })
    }

    private static func codablePlayers(_ fixture: Fixture) throws -> Sides {
        try insertions(
            fixture, Player.self, c: { Player(row: $0) }, { CodablePlayer(Player(row: $0)) },
            insertPlain: { players, statement, connection in
                for index in players.indices { try players[index].insert(statement, connection) }
            },
            insert: { players, db in
                for index in players.indices { try players[index].insert(db) }
            })
    }

    /// Records inserted in one transaction, in memory. Each run begins with an empty table.
    private static func insertions<Plain: Summable, Inserted: Summable>(
        _ fixture: Fixture, _ type: any FixtureTable.Type,
        c makePlain: @escaping (Int) -> Plain, _ make: @escaping (Int) -> Inserted,
        insertPlain: @escaping (inout [Plain], CStatement, CConnection) throws -> Void,
        insert: @escaping (inout [Inserted], Database) throws -> Void
    ) throws -> Sides {
        let count = fixture.scale.insertions
        let connection = try CConnection()
        try connection.execute(type.table)
        let statement = try connection.prepare(type.insertion)
        let plain = Prepared(makePlain)
        let c = Side(
            setUp: {
                try connection.execute("DELETE FROM \(type.name)")
                plain.prepare(count)
            },
            keeping: {
                try connection.execute("BEGIN IMMEDIATE")
                try plain.withRecords { try insertPlain(&$0, statement, connection) }
                try connection.execute("COMMIT")
            },
            checksum: { try connection.integer(type.sum) &+ plain.records.checksum })
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: type.table) }
        let records = Prepared(make)
        let shellac = Side(
            setUp: {
                try queue.write { try $0.execute(sql: "DELETE FROM \(type.name)") }
                records.prepare(count)
            },
            keeping: {
                try queue.write { db in try records.withRecords { try insert(&$0, db) } }
            },
            checksum: {
                let sum = try queue.read { try Int.fetchOne($0, sql: type.sum) }
                return UInt64(truncatingIfNeeded: sum ?? 0) &+ records.records.checksum
            })
        return Sides(operations: count, c: c, shellac: shellac)
    }
}

/// Records that are made anew for each run.
private final class Prepared<Record> {
    private let make: (Int) -> Record
    private(set) var records: [Record] = []

    init(_ make: @escaping (Int) -> Record) { self.make = make }

    func prepare(_ count: Int) { records = (0..<count).map(make) }

    /// Runs a function with the records, to which it has the only reference.
    @inline(__always)
    func withRecords(_ body: (inout [Record]) throws -> Void) rethrows {
        var taken: [Record] = []
        swap(&taken, &records)
        defer { swap(&taken, &records) }
        try body(&taken)
    }
}
