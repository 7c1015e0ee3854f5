import Shellac

extension GrowthSeries {
    /// Insertions beside more and more observers of another table.
    static let observers = GrowthSeries(
        name: "growth.observers", subject: "insertions beside so many observers of another table, per row",
        sizes: [1, 100, 10_000]
    ) { size in
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: Item.table) }
        let observers = (0..<size).map { _ in OtherTableObserver() }
        for observer in observers { queue.add(transactionObserver: observer) }
        let rows = 50_000
        return try .median(units: rows) {
            try queue.write { db in
                let statement = try db.cachedStatement(sql: "INSERT INTO item (i0) VALUES (?)")
                for row in 0..<rows { try statement.execute(arguments: [row]) }
            }
        }
    }

    /// Transactions of more and more saves.
    static let saves = GrowthSeries(
        name: "growth.saves",
        subject:
            "class records inserted by transactions of so many saves, per save; memory while one is open",
        sizes: [1, 100, 10_000, 1_000_000]
    ) { size in
        let fixture = try Fixture.make(scale: Scale(rows: 1))
        defer { fixture.remove() }
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let queue = try DatabaseQueue(path: fixture.path(of: "saves"), configuration: configuration)
        try queue.write { db in try db.execute(sql: Player.table) }
        let transactions = max(1, 20_000 / size)
        let records = (0..<size * transactions).map { ListedPlayer.make(Player(row: $0)) }
        var growth = 0
        let time = try ContinuousClock().measure {
            for transaction in 0..<transactions {
                try queue.write { db in
                    let before = try size < 1_000 ? 0 : Machine.residentBytes()
                    for record in records[transaction * size..<(transaction + 1) * size] {
                        try record.insert(db)
                    }
                    if size >= 1_000 { growth = try max(growth, Machine.residentBytes() - before) }
                }
            }
        }
        return Cost(
            nanoseconds: time / .nanoseconds(1) / Double(records.count),
            bytes: size < 1_000 ? nil : Double(growth) / Double(size))
    }

    /// One cursor over more and more rows.
    static let stream = GrowthSeries(
        name: "growth.stream", subject: "class records of one cursor, per record; memory behind the last",
        sizes: [10_000, 100_000, 1_000_000]
    ) { size in
        let fixture = try Fixture.make(scale: Scale(rows: size))
        defer { fixture.remove() }
        let queue = try fixture.queue()
        // The first run fills the connection's caches.
        try queue.read { db in _ = try ListedPlayer.fetchAll(db, sql: Player.selection + " LIMIT 1000") }
        let bytes = try Machine.residentBytes()
        var count = 0
        let time = try ContinuousClock().measure {
            try queue.read { db in
                let players = try ListedPlayer.fetchCursor(db, sql: Player.selection)
                while try players.next() != nil { count += 1 }
            }
        }
        guard count == size else { throw BenchmarkError("\(count) records of \(size)") }
        let growth = try Machine.residentBytes() - bytes
        return Cost(
            nanoseconds: time / .nanoseconds(1) / Double(size), bytes: Double(growth) / Double(size))
    }
}

private final class OtherTableObserver: TransactionObserver {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
    func databaseDidChange(with event: DatabaseEvent) {}
}
