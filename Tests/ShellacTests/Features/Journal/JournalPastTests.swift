import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Earlier states of a database, the versions of a row, and what is taken out of the journal.
@Suite("The past in the journal")
struct JournalPastTests {
    final class Player: Record {
        var id: Int64?
        var name: String?
        var score: Int?

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }
    }

    // MARK: - As of

    @Test(
        "A copy as of each entry equals one that was saved then", .behaviour(131),
        arguments: SeededGenerator.seeds("ASOF", count: 3))
    func asOfEachEntry(seed: UInt64) throws {
        var statements = JournalRandomTests.Statements(generator: SeededGenerator(seed: seed))
        let queue = try JournalCaptureTests.journaled(JournalRandomTests.schema, of: .all(except: ["other"]))
        var saved: [Int64: [[DatabaseValue]]] = [:]
        let count = environmentNumber("SHELLAC_ASOF_TRANSACTIONS") ?? 150
        for round in 0..<count {
            if round == count / 2 {
                try queue.write { db in
                    try db.execute(
                        sql: "DELETE FROM log WHERE id % 2; ALTER TABLE log ADD COLUMN more DEFAULT 7")
                    try db.execute(sql: "INSERT INTO log (text, more) VALUES ('x', 8)")
                }
            }
            try? queue.write { db in
                for _ in 0..<statements.number(1..<5) { try? db.execute(sql: statements.statement()) }
            }
            try queue.inDatabase { db in
                let last = try #require(try Int64.fetchOne(db, sql: "SELECT max(seq) FROM shellac_journal"))
                saved[last] = JournalRandomTests.contents(db.sqliteConnection)
            }
        }
        #expect(saved.count > count / 3)
        for (number, contents) in saved {
            let past = try queue.asOf(number)
            let found = try past.inDatabase { db in JournalRandomTests.contents(db.sqliteConnection) }
            // A column that was added later is in the copy, with its default.
            func withoutMore(_ rows: [[DatabaseValue]]) -> [[DatabaseValue]] {
                rows.map { $0.first == "log".databaseValue ? Array($0.prefix(3)) : $0 }
            }
            #expect(withoutMore(found) == withoutMore(contents), "\(seed) \(number)")
            #expect(try past.read { db in try db.journalEntries().last?.number } == number)
        }
        #expect(try queue.verifyJournal() == 1)
    }

    @Test("The past is a read-only database, by number and by date", .behaviour(131))
    func asOf() throws {
        var configuration = Configuration()
        let now = Shared(100.0)
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: now.withLock { $0 }) }
        let file = try TemporaryDatabase(journalMode: .wal)
        let pool = try DatabasePool(path: file.path, configuration: configuration)
        #expect(throws: JournalError.noEntry(0)) { try pool.asOf(1) }
        try pool.keepJournal(of: .all)
        now.withLock { $0 = 200 }
        try pool.write { db in try db.insert("Arthur") }
        now.withLock { $0 = 300 }
        try pool.write { db in try db.execute(sql: "UPDATE player SET name = 'King Arthur'") }
        let past = try pool.asOf(Date(timeIntervalSince1970: 250))
        #expect(try past.names() == ["Arthur"])
        #expect(throws: DatabaseError.self) { try past.write { db in try db.insert("Barbara") } }
        #expect(try pool.asOf(Date(timeIntervalSince1970: 200)).names() == ["Arthur"])
        #expect(try pool.asOf(Date(timeIntervalSince1970: 199)).names() == [])
        #expect(try pool.asOf(Date(timeIntervalSince1970: 999)).names() == ["King Arthur"])
        #expect(throws: JournalError.noEntry(0)) { try pool.asOf(Date(timeIntervalSince1970: 99)) }
        #expect(throws: JournalError.noEntry(9)) { try pool.asOf(9) }
        #expect(try pool.asOf(2).names() == ["Arthur"])
        #expect {
            try pool.asOf(1, limit: 4096)
        } throws: {
            if case .tooLarge = $0 as? JournalError { true } else { false }
        }
        #expect(try pool.names() == ["King Arthur"])
    }

    @Test("What cannot be crossed is named, with the migration", .behaviour(131))
    func obstacles() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("players") { db in try db.createPlayers() }
        try migrator.migrate(queue)
        try queue.keepJournal(of: .all)
        try queue.write { db in try db.insert("a") }
        migrator.registerMigration("titles") { db in
            try db.execute(sql: "ALTER TABLE player RENAME COLUMN name TO title")
        }
        try migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "UPDATE player SET title = 'b'") }
        let entries = try queue.read { db in try db.journalEntries() }
        let changed = try #require(entries.first { !$0.columnChanges.isEmpty && $0.number > 1 }).number
        #expect(throws: JournalError.schemaChanged(entry: changed, table: "player", migration: "titles")) {
            try queue.asOf(changed - 1)
        }
        let titles = try queue.asOf(changed).read { db in
            try String.fetchAll(db, sql: "SELECT title FROM player")
        }
        #expect(titles == ["a"], "\(entries.map { "\($0.number) \($0.columnChanges) \($0.changeset)" })")
        #expect(try queue.verifyJournal() == changed)
        // Another table is kept from now on: its earlier rows are not known.
        try queue.inDatabase { db in try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY)") }
        #expect(try queue.asOf(changed).read { db in try db.tableExists("other") })
        try queue.stopJournal()
        try queue.keepJournal(of: .tables(["player"]))
        try queue.keepJournal(of: .all)
        #expect {
            try queue.asOf(changed)
        } throws: {
            if case .schemaChanged(_, "other", _) = $0 as? JournalError { true } else { false }
        }
        try queue.inDatabase { db in
            sqlite3_exec(db.sqliteConnection, "DELETE FROM player", nil, nil, nil)
            try db.execute(sql: "INSERT INTO player VALUES (5, 'x')")
        }
        let last = try #require(try queue.read { db in try db.journalEntries().last }).number
        #expect(throws: JournalError.gap(entry: last)) { try queue.asOf(last - 1) }
        #expect(
            "\(JournalError.gap(entry: 3)) \(JournalError.schemaChanged(entry: 1, table: "t", migration: "m"))"
                .contains("by the migration m"))
    }

    @Test("Verification finds rows that were written without the journal", .behaviour(131))
    func verification() throws {
        let queue = try JournalCaptureTests.journaled()
        #expect(throws: JournalError.self) { try DatabaseQueue().verifyJournal() }
        for name in ["a", "b", "c"] { try queue.write { db in try db.insert(name) } }
        #expect(try queue.verifyJournal() == 1)
        for (sql, back) in [
            ("UPDATE player SET score = 1 WHERE id = 2", "UPDATE player SET score = NULL"),
            ("DELETE FROM player WHERE id = 2", "INSERT INTO player VALUES (2, 'b', NULL)"),
        ] {
            try queue.inDatabase { db in sqlite3_exec(db.sqliteConnection, sql, nil, nil, nil) }
            #expect(throws: JournalError.disagreement(entry: 3, table: "player")) {
                try queue.verifyJournal()
            }
            try queue.inDatabase { db in sqlite3_exec(db.sqliteConnection, back, nil, nil, nil) }
            #expect(try queue.verifyJournal() == 1)
        }
    }

    // MARK: - Versions

    @Test(
        "The versions of a record have their dates, notes and changes, and are restored as new changes",
        .behaviour(130))
    func history() throws {
        let queue = try JournalCaptureTests.journaled()
        let player = Player()
        (player.name, player.score) = ("Arthur", 1)
        try queue.write { db in try player.insert(db) }
        try JournalNote.current.withValue(["author": "ann"]) {
            try queue.write { db in
                try db.insert("other")
                try db.execute(
                    sql: "UPDATE player SET score = 2 WHERE id = 1; UPDATE player SET score = 3 WHERE id = 1")
            }
        }
        try queue.write { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN more DEFAULT 5") }
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = 'King' WHERE id = 1") }
        for access in [false, true, true] {
            // A reading access has no index, and a writing one fills it.
            let versions =
                try access
                ? queue.write { db in try player.databaseHistory(db) }
                : queue.read { db in try Player.databaseHistory(db, key: 1) }
            #expect(versions.map(\.operation) == [.insert, .update, .update])
            #expect(versions[1].note["author"] == "ann" && versions[0].note == [:])
            #expect(versions[1].changes == ["score": .init(old: 1.databaseValue, new: 3.databaseValue)])
            #expect("\(versions[2].changes)".contains(#""Arthur" → "King""#))
            let records = try queue.read { db in try versions.map { try $0.record(db, of: Player.self) } }
            #expect(records.map { $0?.score } == [1, 3, 3])
            #expect(records.map { $0?.name } == ["Arthur", "Arthur", "King"])
            #expect(versions.map(\.number) == [2, 3, 5])
        }
        try queue.write { db in
            let versions = try player.databaseHistory(db)
            try player.delete(db)
            try db.restore(versions[1])
        }
        #expect(
            try Row.fetchAll(queue, sql: "SELECT * FROM player WHERE id = 1") == [
                ["id": 1, "name": "Arthur", "score": 3, "more": 5]
            ])
        try queue.write { db in try player.delete(db) }
        try queue.write { db in
            let versions = try player.databaseHistory(db)
            #expect(versions.map(\.operation) == [.insert, .update, .update, .update, .delete])
            #expect(versions.last?.values == nil)
            #expect(try versions[4].record(db, of: Player.self) == nil)
            try db.restore(versions[0])
            #expect(try Player.fetchOne(db, key: 1)?.score == 1)
            try db.restore(versions[4])
            #expect(try Player.fetchOne(db, key: 1) == nil)
        }
        #expect(try queue.read { db in try Player.databaseHistory(db, key: 99) } == [])
        let other = try DatabaseQueue.withPlayers()
        #expect(try other.read { db in try Player.databaseHistory(db, key: 1) } == [])
    }

    @Test("What is forgotten is in no entry, and the rest is as it was", .behaviour(133))
    func forgetting() throws {
        let queue = try JournalCaptureTests.journaled()
        let player = Player()
        player.name = "secret"
        try queue.write { db in
            try player.insert(db)
            try db.insert("b")
        }
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 7") }
        try queue.write { db in
            _ = try player.databaseHistory(db)
            try player.delete(db)
        }
        try queue.write { db in try db.forget(player) }
        let entries = try queue.read { db in try db.journalEntries() }
        #expect(entries.map(\.changeset.count) == [0, 1, 1, 0])
        #expect(entries.allSatisfy { $0.changeset.data.range(of: Data("secret".utf8)) == nil })
        let history = try queue.write { db in try player.databaseHistory(db) }
        #expect(history.isEmpty)
        #expect(try queue.asOf(2).names() == ["b"])
        #expect(try queue.verifyJournal() == 1)
        #expect(try queue.write { db in try Player.databaseHistory(db, key: 2).count } == 2)
    }

    @Test("A row that has had another key is forgotten by that one, too", .behaviour(133))
    func forgettingEarlierKeys() throws {
        let queue = try JournalCaptureTests.journaled()
        try queue.write { db in try db.execute(sql: "INSERT INTO player VALUES (1, 'secret', 1)") }
        try queue.write { db in try db.execute(sql: "UPDATE player SET id = 2") }
        let player = try queue.read { db in try Player.find(db, key: 2) }
        func isThere() throws -> Bool {
            try queue.read { db in try db.journalEntries() }.contains {
                $0.changeset.data.range(of: Data("secret".utf8)) != nil
            }
        }
        try queue.write { db in try db.forget(player) }
        #expect(try isThere())
        try queue.write { db in try db.forget(Player.self, key: 1) }
        #expect(try !isThere())
    }

    @Test("The index of keys loses those of deleted entries", .behaviour(130))
    func oldKeys() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.createPlayers() }
        try queue.keepJournal(of: .all, for: .entries(10))
        func keys() throws -> Int {
            try queue.write { db in
                _ = try Player.databaseHistory(db, key: 1)
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM shellac_journal_key") ?? 0
            }
        }
        var counts: [Int] = []
        for number in 0..<1000 {
            try queue.write { db in try db.insert("\(number)") }
            if number % 50 == 0 { counts.append(try keys()) }
        }
        #expect(try keys() < 500, "\(counts)")
        #expect(counts.contains { $0 > 100 })
        let last = try queue.write { db in try Player.databaseHistory(db, key: 1000).map(\.operation) }
        #expect(last == [.insert])
    }
}

extension Row {
    fileprivate static func fetchAll(_ queue: DatabaseQueue, sql: String) throws -> [Row] {
        try queue.read { db in try fetchAll(db, sql: sql) }
    }
}
