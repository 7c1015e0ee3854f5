import Shellac
import TestSupport
import Testing

@Suite("The replica")
struct ReplicaTests {
    /// Keeps a mirror of the tables from its notifications alone. The events say which rows there
    /// are, and only the values of the rows that they name are read.
    private final class Mirror: TransactionObserver {
        private(set) var tables: [String: [Int64: String]] = ["a": [:], "b": [:]]
        private var pending: [DatabaseEvent] = []
        /// The impossible events, such as the update of a row that is not there.
        private(set) var contradictions: [String] = []
        private(set) var commitCount = 0
        private(set) var rollbackCount = 0

        func databaseDidChange(with event: DatabaseEvent) { pending.append(event) }

        func databaseDidCommit(_ db: Database) {
            commitCount += 1
            var changed: [String: Set<Int64>] = [:]
            for event in pending {
                let isThere = tables[event.tableName]?[event.rowID] != nil
                switch event.kind {
                case .insert: tables[event.tableName]?[event.rowID] = "new"  // it may replace a row
                case .update where !isThere, .delete where !isThere: contradictions.append("\(event)")
                case .update: break
                case .delete: tables[event.tableName]?[event.rowID] = nil
                }
                changed[event.tableName, default: []].insert(event.rowID)
            }
            pending = []
            for (table, ids) in changed {
                for id in ids where tables[table]?[id] != nil {
                    let sql = "SELECT v || '' FROM \(table) WHERE id = ?"
                    tables[table]?[id] = (try? String.fetchOne(db, sql: sql, arguments: [id])) ?? "missing"
                }
            }
        }

        func databaseDidRollback(_ db: Database) {
            rollbackCount += 1
            pending = []
        }
    }

    @Test(
        "A mirror kept from events equals the tables after each of ten thousand transactions",
        arguments: 1...10)
    func replica(seed: Int) throws {
        let queue = try ReplicaWorkload.queue(seed: seed)
        let mirror = Mirror()
        queue.add(transactionObserver: mirror)
        var workload = ReplicaWorkload(random: SeededGenerator(seed: UInt64(seed)))
        for number in 0..<1000 {
            try queue.inDatabase { db in
                let statements = try workload.transaction(db)
                for table in ["a", "b"] {
                    let rows = try Row.fetchAll(db, sql: "SELECT id, v || '' FROM \(table)")
                    let content = try Dictionary(
                        uniqueKeysWithValues: rows.map { row in
                            try (row[0] as Int64, row[1] as String? ?? "missing")
                        })
                    try #require(
                        mirror.tables[table] == content,
                        "seed \(seed), transaction \(number), table \(table): \(statements)")
                }
                try #require(
                    mirror.contradictions.isEmpty, "seed \(seed), transaction \(number): \(statements)")
            }
        }
        #expect(mirror.commitCount > 500)
        #expect(mirror.rollbackCount > 50)
    }

    /// Keeps a mirror of the tables from the values of the events, and reads nothing.
    private final class ValueMirror: TransactionObserver {
        /// The rows, by the values of their primary key.
        private(set) var tables: [String: [[DatabaseValue]: [DatabaseValue]]] = [
            "a": [:], "b": [:], "w": [:],
        ]
        private var pending: [DatabasePreUpdateEvent] = []
        private var changeCount = 0
        /// The impossible events: an old value that is not the mirror's, the insertion of a row
        /// that is there.
        private(set) var contradictions: [String] = []
        private(set) var commitCount = 0

        func databaseWillChange(with event: DatabasePreUpdateEvent) { pending.append(event.copy()) }

        func databaseDidChange(with event: DatabaseEvent) {
            changeCount += 1
            guard let last = pending.last, pending.count == changeCount, last.kind == event.kind,
                last.tableName == event.tableName,
                event.rowID == (event.kind == .delete ? last.initialRowID : last.finalRowID) ?? 0
            else {
                contradictions.append("\(event) after \(pending.last as Any)")
                return
            }
        }

        private func key(_ row: [DatabaseValue], _ event: DatabasePreUpdateEvent) -> [DatabaseValue] {
            event.tableName == "w" ? [row[1], row[0]] : [row[0]]
        }

        func databaseDidCommit(_ db: Database) {
            commitCount += 1
            for event in pending {
                if let old = event.initialDatabaseValues,
                    tables[event.tableName]?.removeValue(forKey: key(old, event)) != old
                {
                    contradictions.append("\(event)")
                }
                if let new = event.finalDatabaseValues,
                    tables[event.tableName]?.updateValue(new, forKey: key(new, event)) != nil
                {
                    contradictions.append("\(event)")
                }
            }
            (pending, changeCount) = ([], 0)
        }

        func databaseDidRollback(_ db: Database) { (pending, changeCount) = ([], 0) }
    }

    @Test(
        "A mirror kept from old and new values equals the tables, also WITHOUT ROWID and after REPLACE",
        .behaviour(53),
        arguments: 1...10)
    func values(seed: Int) throws {
        let queue = try ReplicaWorkload.queue(seed: seed)
        let mirror = ValueMirror()
        try queue.add(transactionObserver: mirror, options: [.rowValues, .hiddenChanges])
        var workload = ReplicaWorkload(random: SeededGenerator(seed: UInt64(seed)), hasHiddenChanges: true)
        for number in 0..<1000 {
            try queue.inDatabase { db in
                let statements = try workload.transaction(db)
                for (table, columns) in [("a", "id, v, u"), ("b", "id, a, v"), ("w", "k, v, u, r, b")] {
                    let rows = try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table)")
                        .map { row in row.databaseValues }
                    try #require(
                        mirror.tables[table].map { Set($0.values) } == Set(rows),
                        "seed \(seed), transaction \(number), table \(table): \(statements)")
                }
                try #require(
                    mirror.contradictions.isEmpty, "seed \(seed), transaction \(number): \(statements)")
            }
        }
        #expect(mirror.commitCount > 500)
    }
}
