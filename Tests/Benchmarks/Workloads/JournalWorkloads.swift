import Foundation
import Shellac

/// Transactions of which a journal is kept, over the same without one.
enum JournalWorkloads {
    static let all = [
        Workload("journal.insert.1", gate: 1.6, goal: 1.5) {
            try write($0, perTransaction: 1, updates: false)
        },
        Workload("journal.update.1", gate: 1.7, goal: 1.6) {
            try write($0, perTransaction: 1, updates: true)
        },
        // The same beside a program that inserts a row as large into a table of its own. (Most of
        // the cost is the second page that SQLite writes to the log.)
        Workload("journal.insert.row", gate: 1.2, goal: 1.1) {
            try write($0, perTransaction: 1, updates: false, beside: .row)
        },
        Workload("journal.update.row", gate: 1.2, goal: 1.1) {
            try write($0, perTransaction: 1, updates: true, beside: .row)
        },
        Workload("journal.insert.100", gate: 2.0, goal: 1.9) {
            try write($0, perTransaction: 100, updates: false)
        },
        Workload("journal.update.100", gate: 1.3, goal: 1.2) {
            try write($0, perTransaction: 100, updates: true)
        },
        Workload("journal.asof", .nanoseconds, gate: 60_000_000, goal: 45_000_000, sides: asOf),
        Workload("journal.history", .nanoseconds, gate: 1_000_000, goal: 100_000, sides: history),
    ]

    /// A copy of a file of 22 MB that is taken back by 10,000 changes.
    private static func asOf(_ fixture: Fixture) throws -> Sides {
        let rows = fixture.scale.insertions
        let changes = min(10_000, rows)
        let queue = try DatabaseQueue(path: fixture.path(of: "journal-asof"))
        try queue.write { db in
            try db.execute(sql: table)
            let statement = try db.makeStatement(sql: "INSERT INTO player VALUES (?, ?, ?, ?, ?, ?)")
            let bio = String(repeating: "A short biography of a player. ", count: 12)
            for id in 0..<rows {
                try statement.execute(arguments: [id, "Player", "player@example.org", id, id % 50, bio])
            }
        }
        try queue.keepJournal(of: .tables(["player"]))
        let sum = try queue.read { db in try Int.fetchOne(db, sql: "SELECT sum(score) FROM player") ?? 0 }
        for first in stride(from: 0, to: changes, by: 10) {
            try queue.write { db in
                let statement = try db.cachedStatement(
                    sql: "UPDATE player SET score = score + 1 WHERE id = ?")
                for number in first..<min(first + 10, changes) {
                    try statement.execute(arguments: [number * 7919 % rows])
                }
            }
        }
        let shellac = Side(
            keeping: { try queue.asOf(1) },
            checksum: { past in
                UInt64(try past.read { try Int.fetchOne($0, sql: "SELECT sum(score) FROM player") } ?? 0)
            })
        return Sides(operations: 1, checksum: UInt64(sum), shellac: shellac)
    }

    /// The versions of one row among a million entries, or five for each row of the budget.
    private static func history(_ fixture: Fixture) throws -> Sides {
        struct Player: Codable, FetchableRecord, TableRecord {}
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: table)
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (0, 'Player')")
        }
        try queue.keepJournal(of: .tables(["player"]))
        let entries = fixture.scale.rows * 5
        try queue.inDatabase { db in
            let statement = try db.makeStatement(sql: "INSERT INTO player (id, name) VALUES (?, 'Player')")
            let update = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = 0")
            for number in 1..<entries {
                if number % max(1, entries / 10) == 0 { try update.execute(arguments: [number]) }
                try statement.execute(arguments: [number])
            }
            _ = try Player.databaseHistory(db, key: 0)
        }
        let count = 20
        let shellac = Side(
            keeping: {
                try queue.inDatabase { db in
                    try (0..<count).map { _ in try Player.databaseHistory(db, key: 0) }
                }
            },
            checksum: { UInt64(Set($0.map(\.count)).count) })
        return Sides(operations: count, checksum: 1, shellac: shellac)
    }

    private static let table = """
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, score INTEGER, teamID INTEGER, bio TEXT)
        """

    /// The entry that a transaction writes.
    private enum Entry {
        case none
        /// A row that the program inserts by itself.
        case row
        /// An entry of the journal.
        case journal
    }

    /// The program's own table of entries.
    private static let entries = "CREATE TABLE entry (id INTEGER PRIMARY KEY, date REAL, changes BLOB)"

    /// Rows in a file with a write-ahead log. The updated rows are not those of neighbouring keys.
    private static func write(
        _ fixture: Fixture, perTransaction: Int, updates: Bool, beside other: Entry = .none
    ) throws -> Sides {
        let count = min(fixture.scale.insertions, perTransaction == 1 ? 4_000 : 40_000)
        let changes = Data(repeating: 1, count: updates ? 50 : 120)
        func side(_ entry: Entry) throws -> Side {
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000")
            }
            let name = "journal-\(perTransaction)-\(updates)-\(other)-\(entry)"
            let queue = try DatabaseQueue(path: fixture.path(of: name), configuration: configuration)
            try queue.inDatabase { db in try db.execute(sql: "\(table); \(entries)") }
            if entry == .journal { try queue.keepJournal(of: .tables(["player"])) }
            func addRow(_ db: Database) throws {
                guard entry == .row else { return }
                try db.cachedStatement(sql: "INSERT INTO entry (date, changes) VALUES (?, ?)")
                    .execute(arguments: [0.5, changes])
            }
            func insert() throws {
                for first in stride(from: 0, to: count, by: perTransaction) {
                    try queue.write { db in
                        let statement = try db.cachedStatement(
                            sql: "INSERT INTO player VALUES (?, ?, ?, ?, ?, ?)")
                        for id in first..<min(first + perTransaction, count) {
                            try statement.execute(arguments: [
                                id, "Player number", "player@example.org", id, id % 50,
                                "A short biography of a player.",
                            ])
                        }
                        try addRow(db)
                    }
                }
            }
            return Side(
                setUp: {
                    try queue.write { db in
                        try db.execute(sql: "DELETE FROM player")
                        try db.execute(sql: "DELETE FROM entry")
                        if entry == .journal {
                            try db.execute(sql: "DELETE FROM shellac_journal WHERE seq > 1")
                        }
                    }
                    if updates { try insert() }
                    try queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA wal_checkpoint") }
                },
                keeping: {
                    guard updates else { return try insert() }
                    for first in stride(from: 0, to: count, by: perTransaction) {
                        try queue.write { db in
                            let statement = try db.cachedStatement(
                                sql: "UPDATE player SET score = score + 1 WHERE id = ?")
                            for number in first..<min(first + perTransaction, count) {
                                try statement.execute(arguments: [number * 7919 % count])
                            }
                            try addRow(db)
                        }
                    }
                },
                checksum: {
                    UInt64(try queue.read { try Int.fetchOne($0, sql: "SELECT sum(score) FROM player") } ?? 0)
                })
        }
        return Sides(operations: count, c: try side(other), shellac: try side(.journal))
    }
}
