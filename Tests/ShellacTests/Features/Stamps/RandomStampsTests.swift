import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Stamps and callbacks in random histories")
struct RandomStampsTests {
    @Test(
        "Each write of the table is stamped and heard, whatever hides it, fails, is rolled back or altered",
        .behaviour(37),
        arguments: 1...16)
    func walk(seed: Int) throws {
        let file = try TemporaryDatabase()
        let clock = StampClock()
        let queue = try DatabaseQueue(path: file.path, configuration: clock.configuration())
        let other = try file.queue()
        let heard = Recorder<Int64>()
        var random = SeededGenerator(seed: UInt64(seed))
        func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
        func pick<T>(_ items: [T]) -> T { items[number(0...items.count - 1)] }
        var log: [String] = []
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, n, extra, created,
                        updated CHECK (n <> 13 OR updated IS NULL));
                    INSERT INTO a (id, n) VALUES (1, 1), (2, 2), (3, 3)
                    """)
            try db.add(
                function: DatabaseFunction("swallow", argumentCount: 0) { [unowned db] _ in
                    try? db.withoutStamps {
                        try db.execute(sql: "UPDATE main.a SET updated = NULL WHERE id = 1")
                    }
                    try? db.execute(sql: "UPDATE main.a SET n = 13, updated = NULL WHERE id = 1")
                    return nil
                })
        }
        // The state that the operations request. It does not follow transactions.
        var isStamped = false
        var callback: TableCallback?
        func change(_ db: Database) throws {
            let isHidden = try db.schema.table("a", in: "temp") != nil
            switch number(0...3) {
            // (Where the table is hidden, that would be refused.)
            case 0 where !isHidden:
                log.append("stamp")
                try db.register(DatabaseStamps(created: "created", updated: "updated"), on: "a")
                isStamped = true
            case 1:
                log.append("stamp no more")
                try db.register(DatabaseStamps(), on: "a")
                isStamped = false
            case 2 where callback == nil && !isHidden:
                log.append("hear")
                callback = try db.after(.insert, .update, on: "a") { _, change in
                    heard.record(try #require(change.new)["id"])
                }
            case 0, 2: break
            default:
                log.append("hear no more")
                if let callback { try db.remove(callback) }
                callback = nil
            }
        }
        func hide(_ db: Database) throws {
            let sql = pick([
                "CREATE TEMP TABLE a AS SELECT * FROM main.a", "CREATE TEMP TABLE a (x)",
                "CREATE TEMP VIEW a AS SELECT 1 AS n", "DROP TABLE IF EXISTS temp.a",
                "DROP VIEW IF EXISTS temp.a",
                "ALTER TABLE temp.a RENAME TO b", "DROP TABLE IF EXISTS temp.b",
            ])
            log.append(sql)
            try? db.execute(sql: sql)
        }
        func write(_ db: Database) throws {
            let isHidden = try db.integers("SELECT COUNT(*) FROM temp.sqlite_master WHERE name = 'a'") != [0]
            let id = Int64(number(1...3))
            let sql = pick([
                "UPDATE main.a SET n = coalesce(n, 0) + 20 WHERE id = \(id)",
                "UPDATE main.a SET extra = random() WHERE id = \(id)",
                "INSERT INTO main.a (id, n) VALUES (\(id), 40) ON CONFLICT DO UPDATE SET n = n + 1",
                "DELETE FROM main.a WHERE id = \(id); INSERT INTO main.a (id, n) VALUES (\(id), 30)",
            ])
            log.append(sql)
            clock.advance()
            heard.removeAll()
            let before = try String.fetchOne(db, sql: "SELECT updated FROM main.a WHERE id = \(id)")
            try db.execute(sql: sql)
            let after = try String.fetchOne(db, sql: "SELECT updated FROM main.a WHERE id = \(id)")
            let date = try db.transactionDate.databaseValue
            if isStamped, !isHidden {
                try #require(after?.databaseValue == date, "seed \(seed): \(log)")
            } else if !sql.contains("DELETE") {
                try #require(after == before, "seed \(seed): \(log)")
            }
            try #require(heard.removeAll() == (callback == nil ? [] : [id]), "seed \(seed): \(log)")
        }
        for _ in 0..<80 {
            log = log.suffix(12)
            switch number(0...7) {
            case 0: try queue.inDatabase(change)
            case 1: try queue.inDatabase(hide)
            case 2:
                log.append("swallow")
                try queue.inDatabase { db in
                    _ = try String.fetchOne(db, sql: "SELECT swallow()")
                    try db.execute(sql: "UPDATE main.a SET n = 1 WHERE n = 13")
                }
            case 3:
                // Unneeded columns come and go, also under triggers that name them.
                let sql = pick([
                    "ALTER TABLE a RENAME COLUMN extra TO extra2; ALTER TABLE a RENAME COLUMN extra2 TO extra",
                    "ALTER TABLE a ADD COLUMN more", "ALTER TABLE a DROP COLUMN more",
                    "ALTER TABLE a RENAME COLUMN more TO less", "ALTER TABLE a DROP COLUMN less",
                ])
                log.append("other: \(sql)")
                try? other.inDatabase { try $0.execute(sql: sql) }
            case 4:
                let completion = pick([TransactionCompletion.commit, .rollback])
                log.append("BEGIN")
                try queue.inTransaction { db in
                    for _ in 0...2 {
                        if number(0...1) == 0 {
                            try db.inSavepoint {
                                try number(0...1) == 0 ? change(db) : hide(db)
                                return pick([.commit, .rollback])
                            }
                        } else {
                            try number(0...1) == 0 ? change(db) : write(db)
                        }
                    }
                    return completion
                }
                log.append("\(completion)")
            default: try queue.inDatabase(write)
            }
        }
        #expect(try queue.inDatabase { try $0.isUsable() }, "seed \(seed)")
    }
}
