import Shellac

/// Insertions that are observed, over the same that are not.
enum ObservationWorkloads {
    static let all = [
        Workload("observe.idle", gate: 1.06, goal: 1.02) { try insert($0, observer: IdleObserver()) },
        Workload("observe.count", gate: 1.15, goal: 1.08) { try insert($0, observer: CountingObserver()) },
    ]

    /// Wants no changes.
    private final class IdleObserver: TransactionObserver {
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    }

    /// Counts the changes.
    private final class CountingObserver: TransactionObserver {
        private var count = 0

        func databaseDidChange(with event: DatabaseEvent) { count += 1 }
    }

    /// Items inserted with a prepared statement, in one transaction, in memory. Each run begins
    /// with an empty table.
    private static func insert(_ fixture: Fixture, observer: any TransactionObserver) throws -> Sides {
        let insertions = fixture.scale.insertions
        func side(_ observer: (any TransactionObserver)?) throws -> Side {
            let queue = try DatabaseQueue()
            try queue.write { try $0.execute(sql: Item.table) }
            return Side(
                setUp: {
                    if let observer { queue.remove(transactionObserver: observer) }
                    try queue.write { try $0.execute(sql: "DELETE FROM item") }
                    if let observer { queue.add(transactionObserver: observer) }
                },
                keeping: {
                    try queue.write { db in
                        let statement = try db.cachedStatement(sql: Item.insertion)
                        for row in 0..<insertions {
                            try statement.execute(arguments: [
                                row, row + 1, row + 2, row + 3, row + 4, row + 5, row + 6, row + 7, row + 8,
                                row + 9,
                            ])
                        }
                    }
                },
                checksum: {
                    UInt64(try queue.read { try Int.fetchOne($0, sql: Item.sum) } ?? 0)
                })
        }
        return Sides(operations: insertions, c: try side(nil), shellac: try side(observer))
    }
}
