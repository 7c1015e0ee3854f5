import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The entries of transactions, beside what SQLite's own session records.
@Suite("What the journal keeps", .behaviour(128))
struct JournalCaptureTests {
    static func journaled(
        _ schema: String = "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)",
        of selection: JournalSelection = .all
    ) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: schema) }
        try queue.keepJournal(of: selection)
        return queue
    }

    /// The entries with changes, as texts.
    static func entries(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            try db.journalEntries().filter { !$0.changeset.isEmpty }.map { try $0.changeset.described(db) }
        }
    }

    @Test("Values and tables whose size needs another byte are kept")
    func sizes() throws {
        let columns = (1...127).map { "c\($0)" }.joined(separator: ", ")
        let queue = try Self.journaled(
            """
            CREATE TABLE picture (id INTEGER PRIMARY KEY, data BLOB);
            CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns));
            """)
        let sizes = [0, 1, 127, 128, 129, 16_383, 16_384]
        for (id, size) in sizes.enumerated() {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO picture VALUES (?, zeroblob(?))", arguments: [id, size])
            }
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO wide (id, c127) VALUES (7, 'last')") }
        let changesets = try queue.read { db in try db.journalEntries() }.map(\.changeset)
            .filter { !$0.isEmpty }
        let changes = changesets.flatMap { Array($0) }
        #expect(changes.dropLast().map { $0.finalValues[1] } == sizes.map { Data(count: $0).databaseValue })
        #expect(changes.last?.finalValues.count == 128)
        #expect(changes.last?.finalValues.last == "last".databaseValue)
        if SQLiteSession.isThere {
            for changeset in changesets {
                #expect(try SQLiteSession.changes(in: changeset.data) == changeset.asSQLiteReads)
            }
        }
    }

    // MARK: - Entries

    @Test("A transaction has one entry with its changes, whoever writes them")
    func transactions() throws {
        let queue = try Self.journaled()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 0), (2, 'Barbara', 5)")
            try db.execute(sql: "UPDATE player SET score = 10 WHERE id = 1")
            try db.execute(sql: "DELETE FROM player WHERE id = 2")
        }
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = score + 1, name = name") }
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = score") }
        try queue.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        #expect(
            try Self.entries(queue) == [
                "insert player 1: name \"Arthur\", score 10", "update player 1: score 10 → 11",
            ])
        let all = try queue.read { db in try db.journalEntries() }
        #expect(all.map(\.number) == [1, 2, 3])
        #expect(all[0].changeset.isEmpty && all[0].columnChanges.tables["player"]?.after?.key == ["id"])
        #expect(Set(all.map(\.origin)).count == 1)
        #expect(try queue.read { db in try db.journalEntries(after: 1, limit: 1) } == [all[1]])
    }

    @Test("A statement outside of a transaction has an entry, and its counters stay those of the program")
    func loneStatements() throws {
        let queue = try Self.journaled()
        try queue.inDatabase { db in
            let earlier = db.totalChangesCount
            try db.execute(
                sql: "INSERT INTO player VALUES (7, 'Arthur', 0), (9, 'Barbara', 0), (8, 'Craig', 0)")
            #expect(db.lastInsertedRowID == 8)
            #expect(db.changesCount == 3)
            #expect(db.totalChangesCount - earlier == 3)
            #expect(!db.isInsideTransaction)
            try db.execute(sql: "UPDATE player SET score = 1 WHERE id > 7")
            #expect(db.changesCount == 2)
            #expect(try Int.fetchOne(db, sql: "SELECT changes()") == 2)
            #expect(db.lastInsertedRowID == 8)
            try db.execute(sql: "UPDATE player SET score = 2 WHERE id > 99")
            #expect(db.changesCount == 0)
            try db.execute(sql: "DELETE FROM player WHERE id = 7")
            #expect(db.changesCount == 1)
            #expect(db.totalChangesCount - earlier == 6)
            try db.execute(sql: "DELETE FROM player")
            #expect(db.changesCount == 2)
            let ids = try Int.fetchAll(
                db, sql: "INSERT INTO player (name) VALUES ('x'), ('y') RETURNING id")
            #expect(ids == [1, 2])
        }
        #expect(
            try Self.entries(queue) == [
                """
                insert player 7: name "Arthur", score 0
                insert player 9: name "Barbara", score 0
                insert player 8: name "Craig", score 0
                """, "update player 8: score 0 → 1\nupdate player 9: score 0 → 1",
                "delete player 7: name \"Arthur\", score 0",
                "delete player 8: name \"Craig\", score 1\ndelete player 9: name \"Barbara\", score 1",
                "insert player 1: name \"x\", score NULL\ninsert player 2: name \"y\", score NULL",
            ])
    }

    @Test("What is undone by a rollback, a savepoint or a failed statement is in no entry")
    func undone() throws {
        let queue = try Self.journaled()
        try? queue.write { db in
            try db.insert("lost")
            throw TestError()
        }
        try queue.write { db in
            try db.insert("a")
            try db.inSavepoint {
                try db.insert("b")
                try db.inSavepoint {
                    try db.insert("c")
                    return .commit
                }
                return .rollback
            }
            try db.execute(sql: "SAVEPOINT s; INSERT INTO player (name) VALUES ('d')")
            try db.execute(sql: "ROLLBACK TO s; INSERT INTO player (name) VALUES ('e'); RELEASE s")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (name) VALUES ('f'), ('g'), ('a'), ('h')")
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR FAIL INTO player (name) VALUES ('i'), ('a'), ('j')")
            }
            try db.execute(sql: "INSERT OR IGNORE INTO player (name) VALUES ('k'), ('a')")
        }
        try queue.inDatabase { db in
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (name) VALUES ('l'), ('a')")
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR FAIL INTO player (name) VALUES ('m'), ('a')")
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('n'), ('a')")
            }
            #expect(!db.isInsideTransaction)
            try db.insert("o")
        }
        func inserted(_ entry: String) -> [String] {
            entry.split(separator: "\n").compactMap {
                $0.split(separator: "\"").dropFirst().first.map(String.init)
            }
        }
        #expect(try Self.entries(queue).map(inserted) == [["a", "e", "i", "k"], ["m"], ["o"]])
        #expect(try queue.names() == ["a", "e", "i", "k", "m", "o"])
    }

    @Test("A statement that fails after a trigger has written is compared with the rows")
    func unreportedRemainders() throws {
        let queue = try Self.journaled(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER);
            CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER t BEFORE INSERT ON player BEGIN INSERT INTO log (name) VALUES (NEW.name); END;
            """)
        try queue.write { db in
            try db.insert("a")
            // SQLite counts no change here, and keeps the row that the trigger wrote.
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT OR FAIL INTO player (name) VALUES ('a')")
            }
            #expect(db.changesCount == 0)
        }
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") } == 2)
        #expect(
            try Self.entries(queue) == [
                """
                insert log 1: name "a"
                insert log 2: name "a"
                insert player 1: name "a", score NULL
                """
            ])
        let entry = try queue.read { db in try db.journalEntries().last }
        #expect(try #require(entry).changeset.map(\.isIndirect) == [true, true, false])
    }

    @Test("Functions that write inside of a statement are kept or undone with it")
    func functions() throws {
        let queue = try Self.journaled()
        try queue.inDatabase { db in
            let write = DatabaseFunction("write_player", argumentCount: 1) { [unowned db] values in
                try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [values[0]])
                return values[0]
            }
            try db.add(function: write)
            // Inside of a reading statement, each is alone.
            _ = try Row.fetchAll(db, sql: "SELECT write_player('r1'), write_player('r2')")
            // Inside of a writing one, they are a part of it.
            try db.execute(sql: "INSERT INTO player (name) SELECT 'w' || write_player('w')")
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (name) SELECT write_player('x') UNION ALL SELECT 'w'")
            }
            try db.inTransaction {
                #expect(throws: DatabaseError.self) {
                    try db.execute(
                        sql:
                            "UPDATE player SET name = CASE id WHEN 1 THEN write_player('y') || 1 ELSE 'ww' END"
                    )
                }
                return .commit
            }
            #expect(!db.isInsideTransaction)
        }
        let present = try queue.names()
        let entries = try queue.read { db in try db.journalEntries() }
        var names: [DatabaseValue: DatabaseValue] = [:]
        for change in entries.flatMap({ Array($0.changeset) }) {
            names[change.key[0]] = change.finalValues.isEmpty ? nil : change.finalValues[1]
        }
        #expect(Set(names.values) == Set(present.map(\.databaseValue)))
        #expect(entries.filter { !$0.changeset.isEmpty }.count == 3 + (present.contains("y") ? 1 : 0))
    }

    @Test("Writes by the C interface are kept, also if it undoes them")
    func foreignStatements() throws {
        let queue = try Self.journaled()
        try queue.write { db in
            let connection = db.sqliteConnection
            func run(_ sql: String) -> Int32 { sqlite3_exec(connection, sql, nil, nil, nil) & 0xFF }
            #expect(run("INSERT INTO player (name) VALUES ('a')") == SQLITE_OK)
            #expect(
                run("SAVEPOINT x; INSERT INTO player (name) VALUES ('b'); ROLLBACK TO x; RELEASE x")
                    == SQLITE_OK)
            #expect(run("INSERT INTO player (name) VALUES ('c'), ('a')") == SQLITE_CONSTRAINT)
            try db.insert("d")
            #expect(run("UPDATE player SET score = 3 WHERE name = 'a'") == SQLITE_OK)
            #expect(
                run("UPDATE player SET score = 4 + (id = 2), name = CASE id WHEN 2 THEN 'a' ELSE name END")
                    == SQLITE_CONSTRAINT)
        }
        #expect(
            try Self.entries(queue) == [
                "insert player 1: name \"a\", score 3\ninsert player 2: name \"d\", score NULL"
            ])
        // Outside of a transaction, nothing can be written along with it, and the next entry says
        // so.
        try queue.inDatabase { db in
            sqlite3_exec(db.sqliteConnection, "INSERT INTO player (name) VALUES ('e')", nil, nil, nil)
            try db.insert("f")
        }
        let last = try #require(try queue.read { db in try db.journalEntries().last })
        #expect(last.followsGap)
        #expect(last.changeset.count == 1)
        try queue.write { db in try db.insert("g") }
        #expect(try queue.read { db in try db.journalEntries().last?.followsGap } == false)
    }

    @Test("A refused commit leaves its entry to the next one")
    func refusedCommits() throws {
        let queue = try Self.journaled(
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, teamID INTEGER
                REFERENCES team DEFERRABLE INITIALLY DEFERRED);
            """)
        try queue.inDatabase { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 5)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            #expect(throws: DatabaseError.self) { try db.commit() }
            try db.execute(sql: "INSERT INTO team VALUES (5)")
            try db.commit()
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO player VALUES (2, 'b', 6)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            try db.execute(sql: "DELETE FROM player WHERE id = 2")
            try db.commit()
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO team VALUES (7); SAVEPOINT s")
            try db.execute(sql: "INSERT INTO player VALUES (3, 'c', 8)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            try db.execute(sql: "ROLLBACK TO s")
            try db.commit()
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player VALUES (4, 'd', 9)")
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT && error?.sql?.contains("'d'") == true)
            #expect(!db.isInsideTransaction)
        }
        #expect(
            try Self.entries(queue) == [
                "insert player 1: name \"a\", teamID 5\ninsert team 5", "insert team 7",
            ])
        #expect(try queue.read { db in try db.journalEntries().map(\.number) } == [1, 2, 3])
    }

    @Test("An observer's veto undoes the entry, and observers see single statements as before")
    func observers() throws {
        let queue = try Self.journaled()
        final class Observer: TransactionObserver {
            var events: [String] = []
            var veto = false
            func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == "player" }
            func databaseDidChange(with event: DatabaseEvent) {
                events.append("\(event.kind) \(event.rowID)")
            }
            func databaseWillCommit() throws {
                events.append("will")
                if veto { throw TestError() }
            }
            func databaseDidCommit(_ db: Database) { events.append("did") }
            func databaseDidRollback(_ db: Database) { events.append("rollback") }
        }
        let observer = Observer()
        try queue.inDatabase { db in
            db.add(transactionObserver: observer)
            try db.insert("a")
            #expect(observer.events == ["insert 1", "will", "did"])
            observer.veto = true
            #expect(throws: TestError.self) { try db.insert("b") }
            #expect(!db.isInsideTransaction)
            observer.veto = false
            try db.insert("c")
        }
        #expect(try queue.names() == ["a", "c"])
        #expect(try Self.entries(queue).count == 2)
        #expect(try queue.read { db in try db.journalEntries().map(\.number) } == [1, 2, 3])
    }

    @Test("Notes and dates are those of the transaction, and dates never go back")
    func notesAndDates() async throws {
        var configuration = Configuration()
        let dates = Shared([100.0, 50, 50, 200])
        configuration.transactionClock = .custom { _ in
            Date(timeIntervalSince1970: dates.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.createPlayers() }
        try queue.keepJournal(of: .tables(["player"]))
        try await JournalNote.current.withValue(["author": "ann", "reason": "\"quotes\""]) {
            try await queue.write { db in try db.insert("a") }
        }
        try await queue.write { db in try db.insert("b") }
        try await queue.write { db in try db.insert("c") }
        let entries = try await queue.read { db in try db.journalEntries(after: 1) }
        #expect(entries[0].note == ["author": "ann", "reason": "\"quotes\""])
        #expect(entries[0].note["author"] == "ann")
        #expect(entries[1].note == [:])
        let seconds = entries.map { $0.date.timeIntervalSince1970 }
        #expect(seconds == seconds.sorted() && seconds.last == 200)
    }

    @Test("Records, batches and undo count the same rows as without a journal", arguments: Writer.allCases)
    func records(writer kind: Writer) throws {
        final class Player: Record {
            var id: Int64?
            var name = ""
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
            }
            convenience init(_ name: String) {
                self.init()
                self.name = name
            }
        }
        let writer = try kind.withPlayers()
        try writer.keepJournal(of: Player.self)
        let undo = try DatabaseUndo(writer, tables: ["player"])
        try writer.writeWithoutTransaction { db in
            let players = ["a", "b", "c"].map { Player($0) }
            for player in players { try player.insert(db) }
            #expect(players.map(\.id) == [1, 2, 3])
            players[1].name = "B"
            #expect(try players[1].updateChanges(db))
            #expect(try players[0].delete(db))
            #expect(try !players[0].delete(db))
            #expect(throws: RecordError.self) { try players[0].update(db) }
            #expect(try Player.filter(Column("id") > 2).updateAll(db, Column("name").set(to: "C")) == 1)
            try db.execute(sql: "UPDATE player SET name = name || '!'")
            #expect(db.changesCount == 2)
            #expect(try Player.deleteAll(db) == 2)
        }
        try undo.undo()
        #expect(try writer.names() == ["B!", "C!"])
        let entries = try writer.read { db in try db.journalEntries(after: 1).map(\.changeset.count) }
        #expect(entries == [1, 1, 1, 1, 1, 1, 2, 2, 2])
    }

    @Test("Two connections that keep the journal share its numbers, its origin and its columns")
    func twoConnections() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let (first, second) = (try file.pool(), try file.queue { $0.busyMode = .timeout(5) })
        try first.keepJournal(of: .all)
        try second.keepJournal(of: .all)
        try first.write { db in try db.insert("a") }
        try second.write { db in try db.insert("b") }
        try first.write { db in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN score")
            try db.insert("c")
        }
        try second.inDatabase { db in try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1") }
        try second.inDatabase { db in
            try db.execute(sql: "BEGIN DEFERRED; UPDATE player SET score = 2 WHERE id = 1; COMMIT")
        }
        let entries = try second.read { db in try db.journalEntries() }
        #expect(entries.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(entries.map { $0.changeset.map(\.columnCount) } == [[], [2], [2], [3], [3], [3]])
        #expect(entries.map(\.columnChanges.tables.count) == [1, 0, 0, 1, 0, 0])
        #expect(Set(entries.map(\.origin)).count == 1)
        #expect(entries.allSatisfy { !$0.followsGap })
    }

    @Test(
        "Columns that another connection changes before the first write are followed, or the commit refused")
    func changedUnderneath() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue()
        let other = try file.queue()
        try queue.inDatabase { db in try db.execute(sql: "CREATE TABLE note (text)") }
        try queue.keepJournal(of: .tables(["player"]))
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN DEFERRED")
            try other.inDatabase { db in
                try db.execute(sql: "ALTER TABLE player RENAME COLUMN name TO title")
            }
            try db.execute(sql: "INSERT INTO player VALUES (1, 'a'); COMMIT")
            try other.inDatabase { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN score") }
            try db.execute(sql: "UPDATE player SET score = 2 WHERE id = 1")
            // The trigger is new, too: the connection does not know that the statement writes
            // players.
            try db.execute(sql: "INSERT INTO note VALUES ('a')")
            try other.inDatabase { db in
                try db.execute(
                    sql: """
                        ALTER TABLE player ADD COLUMN more;
                        CREATE TRIGGER t AFTER INSERT ON note BEGIN UPDATE player SET more = NEW.text; END;
                        """)
            }
            #expect(throws: JournalError.schemaWasChanged(table: "player")) {
                try db.execute(sql: "INSERT INTO note VALUES ('b')")
            }
            try db.execute(sql: "INSERT INTO note VALUES ('c')")
        }
        #expect(
            try Self.entries(queue) == [
                "insert player 1: title \"a\"", "update player 1: score NULL → 2",
                "update player 1: more NULL → \"c\"",
            ])
    }

    @Test("A dropped journal refuses transactions until it begins anew")
    func dropped() throws {
        let queue = try Self.journaled()
        try queue.inDatabase { db in
            #expect(throws: JournalError.isGone) {
                try db.inTransaction {
                    try db.execute(sql: "DROP TABLE shellac_journal")
                    try db.insert("a")
                    return .commit
                }
            }
            try db.insert("b")
            try db.execute(sql: "DROP TABLE shellac_journal")
            #expect(throws: JournalError.isGone) { try db.insert("c") }
        }
        try queue.keepJournal(of: .all)
        try queue.write { db in try db.insert("d") }
        #expect(try Self.entries(queue).count == 1)
        #expect(try queue.names() == ["b", "d"])
    }

    @Test("An entry of damaged bytes is reported with its number")
    func damage() throws {
        let queue = try Self.journaled()
        try queue.write { db in try db.insert("a") }
        try queue.inDatabase { db in
            try db.execute(
                sql: "UPDATE shellac_journal SET changeset = substr(changeset, 1, 20) WHERE seq = 2")
        }
        #expect {
            try queue.read { db in try db.journalEntries() }
        } throws: {
            guard case .damagedEntry(2, _) = $0 as? JournalError else { return false }
            return true
        }
    }

    // MARK: - Refusals

    @Test(
        "Tables without a key are refused with the reason",
        arguments: [
            ("CREATE TABLE a (x)", "primary key"), ("CREATE VIEW a AS SELECT 1", "view"),
            ("CREATE VIRTUAL TABLE a USING fts5(x)", "virtual"), ("SELECT 1", "no such table"),
        ])
    func unfit(sql: String, reason: String) throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: sql) }
        #expect {
            try queue.keepJournal(of: .tables(["a"]))
        } throws: {
            "\($0)".contains(reason)
        }
        #expect(try queue.read { db in try !db.tableExists("shellac_journal") })
    }

    @Test("NULL in a key is refused, at the beginning and later")
    func nullKeys() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE a (k TEXT PRIMARY KEY, v); INSERT INTO a VALUES (NULL, 1)")
        }
        #expect(throws: JournalError.keyIsNull(table: "a")) { try queue.keepJournal(of: .all) }
        try queue.inDatabase { db in try db.execute(sql: "DELETE FROM a") }
        try queue.keepJournal(of: .all)
        for sql in ["INSERT INTO a VALUES (NULL, 2)", "INSERT INTO a VALUES ('x', 1); UPDATE a SET k = NULL"]
        {
            #expect(throws: JournalError.keyIsNull(table: "a")) {
                try queue.write { db in try db.execute(sql: sql) }
            }
        }
        #expect(throws: JournalError.keyIsNull(table: "a")) {
            try queue.inDatabase { db in try db.execute(sql: "INSERT INTO a VALUES (NULL, 2)") }
        }
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") } == 0)
        try queue.write { db in try db.execute(sql: "INSERT INTO a VALUES ('x', 1)") }
        #expect(try Self.entries(queue) == ["insert a \"x\": v 1"])
    }

    @Test("A journal begins and ends outside of transactions, and again")
    func beginsAndEnds() throws {
        let queue = try Self.journaled()
        try queue.write { db in
            #expect(throws: DatabaseError.self) { try db.keepJournal(of: .all) }
        }
        try queue.keepJournal(of: .all)
        try queue.write { db in try db.insert("a") }
        try queue.stopJournal()
        try queue.write { db in try db.insert("b") }
        try queue.inDatabase { db in
            #expect(db.broker?.isInstalled == false)
            try db.insert("c")
        }
        try queue.keepJournal(of: .all)
        try queue.inDatabase { db in try db.insert("d") }
        #expect(try Self.entries(queue).count == 2)
        try queue.close()
    }

    @Test("An entry that cannot be written fails its transaction")
    func unwritableEntries() throws {
        let queue = try Self.journaled()
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TRIGGER x BEFORE INSERT ON shellac_journal BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        }
        #expect(throws: DatabaseError.self) { try queue.write { db in try db.insert("a") } }
        try queue.inDatabase { db in
            #expect(throws: DatabaseError.self) { try db.insert("a") }
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.names() == [])
        try queue.inDatabase { db in try db.execute(sql: "DROP TRIGGER x") }
        try queue.write { db in try db.insert("a") }
        #expect(try Self.entries(queue).count == 1)
    }

    @Test("A full disk fails the transaction whole")
    func fullDisk() throws {
        let queue = try Self.journaled()
        try queue.inDatabase { db in
            let pages = try #require(try Int.fetchOne(db, sql: "PRAGMA page_count"))
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 12)")
            for round in 0..<100 {
                let before = try db.names()
                let entries = try db.journalEntries().count
                do {
                    try db.inTransaction {
                        try db.execute(
                            sql: "INSERT INTO player (name) VALUES (? || hex(randomblob(500)))",
                            arguments: [round])
                        return .commit
                    }
                } catch {
                    #expect(!db.isInsideTransaction)
                    #expect(try db.names() == before)
                    #expect(try db.journalEntries().count == entries)
                    return
                }
            }
            Issue.record("the disk was not full")
        }
    }

    // MARK: - The schema

    @Test("Entries say how columns change, and their changes have the columns of the time")
    func schemaChanges() throws {
        let queue = try Self.journaled()
        try queue.write { db in
            try db.insert("a")
            try db.execute(sql: "ALTER TABLE player ADD COLUMN note TEXT DEFAULT 'none'")
            try db.execute(sql: "INSERT INTO player VALUES (2, 'b', 1, 'x')")
            try db.execute(sql: "UPDATE player SET score = 9 WHERE id = 1")
        }
        try queue.inDatabase { db in
            try db.execute(sql: "ALTER TABLE player RENAME COLUMN note TO remark")
            try db.execute(sql: "CREATE TABLE other (k TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID")
            try db.execute(sql: "INSERT INTO other VALUES ('o')")
            try db.execute(sql: "DROP TABLE other")
            try db.execute(sql: "DELETE FROM player WHERE id = 1")
        }
        try? queue.write { db in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN lost; UPDATE player SET lost = 1")
            throw TestError()
        }
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 10") }
        let entries = try queue.read { db in try db.journalEntries() }
        let first = try #require(entries.dropFirst().first)
        #expect(first.changeset.map(\.columnCount) == [3, 4, 4])
        #expect(first.columnChanges.tables["player"]?.before?.columns == ["id", "name", "score"])
        #expect(first.columnChanges.tables["player"]?.after?.columns == ["id", "name", "score", "note"])
        #expect(entries.contains { $0.columnChanges.tables["player"]?.after?.columns.last == "remark" })
        #expect(
            entries.contains {
                $0.columnChanges.tables["other"]?.before == nil && $0.columnChanges.tables["other"] != nil
            })
        let deletion = try #require(entries.dropLast().last?.changeset)
        // The row is older than the column, and has its default.
        #expect(
            deletion.map(\.initialValues) == [
                [1.databaseValue, "a".databaseValue, 9.databaseValue, "none".databaseValue]
            ])
        #expect(try #require(entries.last).changeset.description == "update player 2: 3 1 → 10")
    }

    @Test("Generated columns, REAL columns and keys behind virtual columns are kept as they are stored")
    func columns() throws {
        let queue = try Self.journaled(
            """
            CREATE TABLE a (x REAL, v AS (x * 2), y NUMERIC, s INTEGER AS (y) STORED, k TEXT, l INTEGER, PRIMARY KEY (l, k)) WITHOUT ROWID;
            CREATE TABLE b (id INTEGER PRIMARY KEY, v AS (id + 1), x REAL, s AS (x) STORED, y);
            """)
        try queue.write { db in
            try db.execute(
                sql:
                    "INSERT INTO a (x, y, k, l) VALUES (1, '2.0', 'k', 3); INSERT INTO b (id, x, y) VALUES (1, 2, 3)"
            )
        }
        try queue.write { db in
            try db.execute(sql: "UPDATE a SET x = 5, y = 2.5; UPDATE b SET x = 4, y = x'01'")
        }
        try queue.write { db in try db.execute(sql: "UPDATE a SET k = 'm'; UPDATE b SET id = 7") }
        try queue.write { db in try db.execute(sql: "DELETE FROM a; DELETE FROM b") }
        #expect(
            try Self.entries(queue) == [
                "insert a 3, \"k\": x 1.0, y 2\ninsert b 1: x 2.0, y 3",
                "update a 3, \"k\": x 1.0 → 5.0, y 2 → 2.5\nupdate b 1: x 2.0 → 4.0, y 3 → \(Data([1]).databaseValue)",
                """
                delete a 3, "k": x 5.0, y 2.5
                insert a 3, "m": x 5.0, y 2.5
                delete b 1: x 4.0, y \(Data([1]).databaseValue)
                insert b 7: x 4.0, y \(Data([1]).databaseValue)
                """,
                "delete a 3, \"m\": x 5.0, y 2.5\ndelete b 7: x 4.0, y \(Data([1]).databaseValue)",
            ])
    }
}
