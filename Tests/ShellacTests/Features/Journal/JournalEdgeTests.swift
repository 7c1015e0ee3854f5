import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The journal beside other features, and at the edges of statements and transactions.
@Suite("The journal beside others", .behaviour(128))
struct JournalEdgeTests {
    @Test("A rebuilt table is an obstacle on the way back, and its copied rows are in no entry")
    func rebuild() throws {
        let queue = try JournalCaptureTests.journaled()
        try queue.write { db in try db.insert("a") }
        try queue.write { db in
            try db.rebuild(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
            try db.insert("b")
        }
        let entry = try #require(try queue.read { db in try db.journalEntries().last })
        #expect(entry.columnChanges.rebuilt == ["player"])
        #expect(entry.changeset.map(\.key) == [[2.databaseValue]])
        #expect {
            try queue.asOf(entry.number - 1)
        } throws: {
            if case .schemaChanged(entry.number, "player", nil) = $0 as? JournalError { true } else { false }
        }
        #expect(try queue.verifyJournal() == entry.number)
    }

    @Test("A table of the program whose name is like one of Shellac's is kept")
    func similarNames() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE shellacs (id INTEGER PRIMARY KEY)")
            try db.execute(sql: "CREATE TABLE shellac_journals (id INTEGER PRIMARY KEY)")
        }
        try queue.keepJournal(of: .all)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO shellacs VALUES (1); INSERT INTO shellac_journals VALUES (1)")
        }
        let entry = try #require(try queue.read { db in try db.journalEntries().last })
        #expect(entry.changeset.map(\.table) == ["shellacs", "shellac_journals"])
    }

    @Test("An entry says that another connection has written without the journal", arguments: [false, true])
    func otherCommits(isLogged: Bool) throws {
        let file = try TemporaryDatabase(journalMode: isLogged ? .wal : .delete)
        let queue = try file.queue()
        try queue.keepJournal(of: .all)
        let other = try file.queue()
        let kept = try file.queue()
        try kept.keepJournal(of: .all)
        var count = 0
        func insert(_ queue: DatabaseQueue) throws -> Bool {
            count += 1
            try queue.write { db in try db.insert("\(count)") }
            return try queue.read { db in try db.journalEntries().last?.followsOtherCommit ?? true }
        }
        for queue in [queue, queue, kept, queue] { #expect(try insert(queue) == false) }
        // Statements that the recorder does not follow are those of this connection, all the same.
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE INDEX more ON player (name, id); PRAGMA user_version = 3")
            try db.execute(sql: "DROP INDEX more; BEGIN; ROLLBACK")
        }
        #expect(try insert(queue) == false)
        _ = try other.write { db in try db.insert("other") }
        // A transaction that is rolled back has no entry, so the next one says it.
        try queue.inDatabase { db in
            try db.inTransaction {
                try db.insert("b")
                return .rollback
            }
        }
        #expect(try [insert(queue), insert(queue)] == [true, false])
        let entries = try queue.read { db in try db.journalEntries() }
        #expect(entries.allSatisfy { !$0.followsGap })
        #expect(try queue.verifyJournal() == 1)
        // It is no obstacle on the way back.
        #expect(try queue.asOf(2).read { db in try db.names().count } == 2)
    }

    @Test("A database is not erased while its journal is kept")
    func erased() throws {
        let queue = try JournalCaptureTests.journaled()
        try queue.write { db in try db.insert("a") }
        #expect(throws: JournalError.isGone) { try queue.erase() }
        #expect(try queue.names() == ["a"] && queue.verifyJournal() == 1)
        try queue.stopJournal()
        try queue.erase()
        #expect(try queue.read { db in try db.journalEntries() } == [])
        try queue.inDatabase { db in try db.createPlayers() }
        try queue.keepJournal(of: .all)
        try queue.write { db in try db.insert("c") }
        #expect(try queue.names() == ["c"] && queue.verifyJournal() == 1)
    }

    @Test("The rows that a statement returns may be left unread, and its transaction is committed")
    func unreadRows() throws {
        let queue = try JournalCaptureTests.journaled()
        let sql = "INSERT INTO player (name) VALUES (?), (?) RETURNING id"
        try queue.inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: sql, arguments: ["a", "b"])
            #expect(try cursor.next() == 1)
            // Another statement of the same transaction.
            try db.insert("c")
            #expect(throws: DatabaseError.self) { try db.beginTransaction() }
        }
        try queue.inDatabase { db in
            #expect(!db.isInsideTransaction)
            let first = try Int.fetchOne(db, sql: sql, arguments: ["e", "f"])
            #expect(first == 4)
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.names() == ["a", "b", "c", "e", "f"])
        #expect(try queue.read { db in try db.journalEntries().map(\.changeset.count) } == [0, 3, 2])
        #expect(try queue.verifyJournal() == 1)
    }

    @Test("Functions after the next transaction run after a single statement, and once")
    func afterTransaction() throws {
        let queue = try JournalCaptureTests.journaled()
        try queue.inDatabase { db in
            var ends: [String] = []
            db.afterNextTransaction { _ in ends.append("commit") }
            try db.insert("a")
            #expect(ends == ["commit"])
            db.afterNextTransaction(onCommit: { _ in ends.append("late") })
            #expect(throws: DatabaseError.self) { try db.insert("a") }
            try db.insert("b")
            #expect(ends.last == "late" && ends.filter { $0 == "late" }.count == 1)
        }
    }

    @Test("A table without a key cannot be created while all tables are kept, unless it is excepted")
    func tableWithoutKey() throws {
        let queue = try JournalCaptureTests.journaled(of: .all(except: ["Log"]))
        for sql in ["CREATE TABLE other (x)", "CREATE TABLE other AS SELECT 1 AS x"] {
            #expect(throws: JournalError.self) { try queue.inDatabase { db in try db.execute(sql: sql) } }
        }
        try queue.inDatabase { db in
            #expect(!db.isInsideTransaction)
            #expect(try !db.tableExists("other"))
            try db.execute(sql: "CREATE TABLE log (x); INSERT INTO log VALUES (1)")
            try db.execute(sql: "CREATE VIRTUAL TABLE words USING fts5(x); INSERT INTO words VALUES ('a')")
            try db.insert("a")
        }
        #expect(try JournalCaptureTests.entries(queue).count == 1)
    }

    @Test("Attached and temporary tables of the same name are not kept, and not locked")
    func otherDatabases() throws {
        let (file, other) = (try TemporaryDatabase(), try TemporaryDatabase())
        let queue = try file.queue()
        try queue.keepJournal(of: .tables(["player"]))
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [other.path])
            try db.execute(sql: "INSERT INTO other.player VALUES (1, 'attached')")
            try db.execute(sql: "INSERT INTO main.player VALUES (2, 'main')")
            try db.execute(sql: "CREATE TEMP TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO player VALUES (3, 'temporary')")
            try other.queue().inDatabase { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                try? db.rollback()
            }
        }
        let entries = try queue.read { db in try db.journalEntries().flatMap { Array($0.changeset) } }
        #expect(entries.map(\.key) == [[2.databaseValue]])
    }

    @Test("A million changes in one transaction are one entry")
    func manyChanges() throws {
        let queue = try JournalCaptureTests.journaled("CREATE TABLE n (id INTEGER PRIMARY KEY, v INTEGER)")
        let count = environmentNumber("SHELLAC_JOURNAL_CHANGES") ?? 20_000
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO n SELECT i, 0 FROM n;
                    """, arguments: [count])
            try db.execute(sql: "UPDATE n SET v = id")
        }
        let entry = try #require(try queue.read { db in try db.journalEntries().last })
        #expect(entry.changeset.count == count)
        #expect(
            entry.changeset.allSatisfy { $0.operation == .insert && $0.finalValues[0] == $0.finalValues[1] })
        #expect(try queue.asOf(1).read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM n") } == 0)
    }
}
