import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Undo by the journal, across runs of a program.
@Suite("Undo by the journal", .behaviour(132))
struct JournalUndoTests {
    private let undo = JournalUndo()

    private func journaled(_ schema: String, _ rows: String = "") throws -> DatabaseQueue {
        let queue = try JournalCaptureTests.journaled(schema)
        if !rows.isEmpty { try queue.write { db in try db.execute(sql: rows) } }
        return queue
    }

    private func contents(_ queue: DatabaseQueue, _ table: String) throws -> [[DatabaseValue]] {
        try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { Array($0).map(\.1) }
        }
    }

    // MARK: - What comes next

    @Test("Transactions are undone and redone in a later run of the program, by their names")
    func laterRun() throws {
        let file = try TemporaryDatabase()
        func open() throws -> DatabaseQueue {
            let queue = try file.queue()
            try queue.inDatabase { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
            }
            try queue.keepJournal(of: .all)
            return queue
        }
        func named(_ name: String, _ queue: DatabaseQueue, _ sql: String) throws {
            try JournalNote.current.withValue(["action": name]) {
                try queue.write { db in try db.execute(sql: sql) }
            }
        }
        func next(_ queue: DatabaseQueue) throws -> [String?] {
            try queue.read { db in
                [try undo.nextToUndo(db)?.note["action"], try undo.nextToRedo(db)?.note["action"]]
            }
        }
        do {
            let queue = try open()
            #expect(try next(queue) == [nil, nil])
            try named("Add", queue, "INSERT INTO player VALUES (1, 'Arthur'), (2, 'Barbara')")
            try named("Rename", queue, "UPDATE player SET name = upper(name)")
            try named("Delete", queue, "DELETE FROM player WHERE id = 1")
            #expect(try next(queue) == ["Delete", nil])
        }
        do {
            let queue = try open()
            #expect(try queue.write { db in try undo.undo(db) }?.note["action"] == "Delete")
            #expect(try queue.names() == ["ARTHUR", "BARBARA"])
            #expect(try next(queue) == ["Rename", "Delete"])
        }
        do {
            let queue = try open()
            #expect(try queue.write { db in try undo.undo(db) }?.note["action"] == "Rename")
            #expect(try queue.names() == ["Arthur", "Barbara"])
            #expect(try next(queue) == ["Add", "Rename"])
            // Outside of a transaction, too.
            #expect(try queue.inDatabase { db in try undo.redo(db) }?.note["action"] == "Rename")
            #expect(try next(queue) == ["Rename", "Delete"])
            #expect(try queue.write { db in try undo.undo(db) } != nil)
            #expect(try queue.write { db in try undo.undo(db) } != nil)
            #expect(try queue.write { db in try undo.undo(db) } == nil)
            #expect(try queue.names() == [])
            #expect(try next(queue) == [nil, "Add"])
        }
        let queue = try open()
        for _ in 0..<3 { #expect(try queue.write { db in try undo.redo(db) } != nil) }
        #expect(try queue.write { db in try undo.redo(db) } == nil)
        #expect(try queue.names() == ["BARBARA"])
        // The note of the task, and the number of the undone entry.
        let entry = try JournalNote.current.withValue(["author": "ann"]) {
            try queue.write { db in try undo.undo(db) }
        }
        let last = try queue.read { db in try db.journalEntries().last }
        #expect(last?.note.values == ["author": "ann", "undoes": "\(entry?.number ?? 0)"])
        #expect(try queue.verifyJournal() == 1)
    }

    @Test("A new transaction ends the redoing, and what was undone before it stays undone")
    func newTransaction() throws {
        let queue = try journaled("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        for name in ["a", "b", "c"] { try queue.write { db in try db.insert(name) } }
        try queue.write { db in try undo.undo(db) }
        try queue.write { db in try db.insert("d") }
        #expect(try queue.write { db in try undo.redo(db) } == nil)
        #expect(try queue.names() == ["a", "b", "d"])
        try queue.write { db in try undo.undo(db) }
        #expect(try queue.names() == ["a", "b"])
        try queue.write { db in try undo.undo(db) }
        #expect(try queue.names() == ["a"])
        try queue.write { db in try undo.redo(db) }
        try queue.write { db in try undo.redo(db) }
        #expect(try queue.write { db in try undo.redo(db) } == nil)
        #expect(try queue.names() == ["a", "b", "d"])
    }

    @Test("A transaction that was rolled back undoes nothing")
    func rolledBack() throws {
        let queue = try journaled("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        try queue.write { db in try db.insert("a") }
        try queue.inDatabase { db in
            try db.inTransaction {
                try #expect(undo.undo(db) != nil)
                return .rollback
            }
        }
        #expect(try queue.names() == ["a"])
        #expect(try queue.write { db in try undo.undo(db) } != nil)
        #expect(try queue.names() == [])
    }

    @Test("All connections that keep the journal agree")
    func severalConnections() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let pool = try file.pool()
        let other = try file.queue { $0.busyMode = .timeout(60) }
        try pool.keepJournal(of: .all)
        try other.keepJournal(of: .all)
        try await pool.write { db in try db.insert("a") }
        try await other.write { db in try db.insert("b") }
        let undo = undo
        #expect(try await pool.write { db in try undo.undo(db)?.number } == 3)
        #expect(try await other.write { db in try undo.undo(db)?.number } == 2)
        #expect(try await pool.read { db in try undo.nextToRedo(db)?.number } == 2)
        #expect(try await pool.write { db in try undo.redo(db)?.number } == 2)
        #expect(try await other.read { db in try db.names() } == ["a"])
    }

    @Test("Changes of other tables stay")
    func someTables() throws {
        let queue = try journaled(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE log (id INTEGER PRIMARY KEY, text);
            CREATE TRIGGER logging AFTER INSERT ON player BEGIN INSERT INTO log (text) VALUES (NEW.name); END;
            CREATE TRIGGER deleting AFTER DELETE ON player BEGIN INSERT INTO log (text) VALUES ('gone'); END;
            """)
        let undo = JournalUndo(tables: ["PLAYER"])
        try queue.write { db in try db.insert("a") }
        try queue.write { db in try db.execute(sql: "INSERT INTO log (text) VALUES ('other')") }
        #expect(try queue.write { db in try undo.undo(db)?.number } == 2)
        #expect(try queue.names() == [])
        #expect(try contents(queue, "log").map { $0[1] } == ["a", "other", "gone"].map(\.databaseValue))
        #expect(try queue.write { db in try undo.undo(db) } == nil)
        #expect(try queue.write { db in try undo.redo(db)?.number } == 2)
        #expect(try queue.names() == ["a"])
        final class Log: Record { override class var databaseTableName: String { "log" } }
        #expect(try queue.read { db in try JournalUndo(of: Log.self).nextToUndo(db)?.number } == 3)
    }

    // MARK: - What acts beside

    @Test("What triggers and cascades have changed is restored, and what they change again is reset")
    func triggers() throws {
        let queue = try journaled(
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, count INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE player (
                id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team ON DELETE CASCADE, name TEXT, changes INTEGER);
            CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, text);
            CREATE TRIGGER a AFTER INSERT ON player BEGIN UPDATE team SET count = count + 1 WHERE id = NEW.teamID; END;
            CREATE TRIGGER b AFTER DELETE ON player BEGIN
                UPDATE team SET count = count - 1 WHERE id = OLD.teamID;
                INSERT INTO log (text) VALUES (OLD.name);
            END;
            CREATE TRIGGER c AFTER UPDATE OF name ON player BEGIN
                UPDATE player SET changes = ifnull(changes, 0) + 1 WHERE id = NEW.id;
                INSERT INTO log (text) VALUES (NEW.name);
            END;
            """,
            """
            INSERT INTO team (id, name) VALUES (1, 'Reds'), (2, 'Blues');
            INSERT INTO player VALUES (1, 1, 'a', 0), (2, 1, 'b', 0), (3, 2, 'c', 0);
            """)
        func all() throws -> [[[DatabaseValue]]] {
            try ["team", "player", "log"].map { try contents(queue, $0) }
        }
        var states = [try all()]
        for sql in [
            "UPDATE player SET name = upper(name)", "DELETE FROM team WHERE id = 1",
            "INSERT INTO player (teamID, name) VALUES (2, 'd')",
            "UPDATE player SET teamID = NULL; DELETE FROM team", "DELETE FROM log WHERE id % 2",
        ] {
            try queue.write { db in try db.execute(sql: sql) }
            states.append(try all())
        }
        for state in states.dropLast().reversed() {
            try queue.write { db in try #require(try undo.undo(db) != nil) }
            #expect(try all() == state)
        }
        for state in states.dropFirst() {
            try queue.write { db in try #require(try undo.redo(db) != nil) }
            #expect(try all() == state)
        }
        #expect(try queue.verifyJournal() == 1)
    }

    /// A database of two teams, of which the first one has two notes, which are counted.
    private func queueOfCountedNotes() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.counter("notesCount", of: "note")
            }
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team").indexed()
            }
            try db.execute(
                sql: "INSERT INTO team (name) VALUES ('a'), ('b'); INSERT INTO note (teamID) VALUES (1), (1)")
        }
        return queue
    }

    @Test("Counters are right where rows are undone without the triggers of the program")
    func countersWithoutTriggers() throws {
        let queue = try queueOfCountedNotes()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shift (id INTEGER PRIMARY KEY, n INTEGER);
                    INSERT INTO shift (n) VALUES (0);
                    -- Each update of a note moves it to the other team.
                    CREATE TRIGGER restless AFTER UPDATE ON note WHEN (SELECT n FROM shift) BEGIN
                        UPDATE note SET teamID = CASE NEW.teamID WHEN 1 THEN 2 ELSE 1 END WHERE id = NEW.id;
                    END;
                    """)
        }
        try queue.keepJournal(of: .all)
        let undo = JournalUndo(tables: ["team", "note"])
        try queue.write { try $0.execute(sql: "UPDATE note SET teamID = 2 WHERE id = 1") }
        try queue.write { try $0.execute(sql: "UPDATE shift SET n = 1") }
        let entry = try queue.write { try undo.undo($0) }
        #expect(entry != nil)
        try queue.read { db in
            try #expect(Int.fetchAll(db, sql: "SELECT teamID FROM note ORDER BY id") == [1, 1])
            try #expect(Int.fetchAll(db, sql: "SELECT notesCount FROM team ORDER BY id") == [2, 0])
        }
    }

    @Test("Counters are left to the rows that are there, whichever transaction wrote them")
    func counters() throws {
        let queue = try queueOfCountedNotes()
        try queue.keepJournal(of: .all)
        func counts() throws -> [String] {
            try queue.read { db in
                try #expect(db.inaccurateCounters("team", "notesCount") == 0)
                return try String.fetchAll(db, sql: "SELECT name || notesCount FROM team ORDER BY id")
            }
        }
        let undo = JournalUndo(tables: ["team"])
        func write(_ sql: String) throws { try queue.write { try $0.execute(sql: sql) } }
        try write("UPDATE team SET name = 'c' WHERE id = 1; DELETE FROM note WHERE id = 2")
        let moved = try #require(try queue.read { try self.undo.nextToUndo($0) })
        // These change nothing of a team but its counter, so there is nothing to undo of teams.
        try write("INSERT INTO note (teamID) VALUES (1), (1), (2)")
        try #expect(counts() == ["c3", "b1"])
        try #expect(queue.read { try undo.nextToUndo($0) }?.number == moved.number)
        try #expect(queue.write { try undo.undo($0) }?.number == moved.number)
        try #expect(counts() == ["a3", "b1"])
        try #expect(queue.write { try undo.redo($0) }?.number == moved.number)
        try #expect(counts() == ["c3", "b1"])

        // A changeset that is applied elsewhere neither conflicts over a counter nor writes one.
        try queue.write { try moved.changeset.inverted().apply($0) }
        try #expect(counts() == ["a4", "b1"])
        try write("DELETE FROM note WHERE teamID = 2; DELETE FROM team WHERE id = 2")
        try queue.write { _ = try self.undo.undo($0) }
        try #expect(counts() == ["a4", "b1"])
    }

    @Test("Stamps and counters have their earlier values, and an index of words follows")
    func features() throws {
        final class Note: Record {
            var id: Int64?
            var teamID: Int64?
            var text = ""
            var createdAt: Date?
            var updatedAt: Date?

            override class var databaseStamps: DatabaseStamps {
                DatabaseStamps(created: "createdAt", updated: "updatedAt")
            }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("teamID", teamID) { teamID = $0 }
                try column("text", text) { text = $0 }
                try column("createdAt", createdAt) { createdAt = $0 }
                try column("updatedAt", updatedAt) { updatedAt = $0 }
            }
        }
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("notesCount", of: "note")
            }
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team", onDelete: .cascade).indexed()
                t.column("text", .text).notNull()
                t.timestamps()
            }
            try db.create(fullText: FullTextIndex(table: "note", columns: ["text"]))
            try db.execute(sql: "INSERT INTO team (id) VALUES (1), (2)")
        }
        try queue.keepJournal(of: .all)
        func all() throws -> [[[DatabaseValue]]] {
            try queue.write { db in
                for index in try db.fullTextIndexes() { #expect(index.fault == nil) }
            }
            return try ["team", "note"].map { try contents(queue, $0) }
        }
        let note = Note()
        (note.teamID, note.text) = (1, "the first words")
        var states = [try all()]
        try queue.write { db in try note.insert(db) }
        states.append(try all())
        try queue.write { db in try note.updateChanges(db) { ($0.teamID, $0.text) = (2, "other words") } }
        states.append(try all())
        try queue.write { db in try db.execute(sql: "UPDATE note SET text = 'words of SQL'") }
        states.append(try all())
        try queue.write { db in try db.execute(sql: "DELETE FROM team WHERE id = 2") }
        states.append(try all())
        #expect(Set(states).count == 5)
        for state in states.dropLast().reversed() {
            try queue.write { db in try #require(try undo.undo(db) != nil) }
            #expect(try all() == state)
        }
        for state in states.dropFirst() {
            try queue.write { db in try #require(try undo.redo(db) != nil) }
            #expect(try all() == state)
        }
    }

    @Test("A row that a trigger dates at each update gets its earlier date")
    func dates() throws {
        let queue = try journaled(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, date INTEGER);
            CREATE TRIGGER dating AFTER UPDATE ON player BEGIN
                UPDATE player SET date = ifnull(date, 0) + 1 WHERE id = NEW.id;
            END;
            """, "INSERT INTO player VALUES (1, 'a', 0)")
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = 'b'") }
        #expect(try contents(queue, "player") == [[1.databaseValue, "b".databaseValue, 1.databaseValue]])
        try queue.write { db in try undo.undo(db) }
        #expect(try contents(queue, "player") == [[1.databaseValue, "a".databaseValue, 0.databaseValue]])
        // Triggers are as they were.
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = 'c'") }
        #expect(try contents(queue, "player") == [[1.databaseValue, "c".databaseValue, 1.databaseValue]])
    }

    @Test("What a trigger changes in another column of a restored row is reset, too")
    func otherColumns() throws {
        let queue = try journaled(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY, score INTEGER, note TEXT, more BLOB);
            CREATE TRIGGER t AFTER UPDATE OF score ON player WHEN NEW.score = 0 BEGIN
                UPDATE player SET note = 'nothing', more = x'ff' WHERE id < 3;
            END;
            """, "INSERT INTO player VALUES (1, 0, 'a', NULL), (2, 0, CAST(x'62ff' AS TEXT), 1.5)")
        let before = try contents(queue, "player")
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 5 WHERE id = 1") }
        let after = try contents(queue, "player")
        try queue.write { db in try undo.undo(db) }
        #expect(try contents(queue, "player") == before)
        try queue.read { db in
            try #expect(String.fetchAll(db, sql: "SELECT hex(note) FROM player") == ["61", "62FF"])
        }
        try queue.write { db in try undo.redo(db) }
        #expect(try contents(queue, "player") == after)
    }

    @Test("Undo and redo lead to the earlier states", arguments: SeededGenerator.seeds("UNDO", count: 4))
    func random(seed: UInt64) throws {
        var statements = JournalRandomTests.Statements(generator: SeededGenerator(seed: seed))
        let file = try TemporaryDatabase()
        var queue = try file.queue()
        try queue.inDatabase { db in try db.execute(sql: "DROP TABLE player; " + JournalRandomTests.schema) }
        try queue.keepJournal(of: .all(except: ["other"]))
        func contents() throws -> [[DatabaseValue]] {
            try queue.inDatabase { db in JournalRandomTests.contents(db.sqliteConnection) }
        }
        func last() throws -> Int64 {
            try queue.read { db in try Int64.fetchOne(db, sql: "SELECT max(seq) FROM shellac_journal") ?? 0 }
        }
        typealias Step = (number: Int64, before: [[DatabaseValue]], after: [[DatabaseValue]])
        var (done, undone): ([Step], [Step]) = ([], [])
        var (played, conflicts) = (0, 0)
        for round in 0..<(environmentNumber("SHELLAC_UNDO_ROUNDS") ?? 300) {
            let before = try contents()
            switch statements.number(0..<9) {
            case 0...2:
                let number = try last()
                try? queue.write { db in
                    for _ in 0..<statements.number(1..<4) { try? db.execute(sql: statements.statement()) }
                }
                guard try last() > number else { break }
                done.append((number + 1, before, try contents()))
                undone = []
            case 3...7:
                let isUndo = statements.number(0..<5) < 3
                let step = isUndo ? done.last : undone.last
                do {
                    let entry = try queue.write { db in isUndo ? try undo.undo(db) : try undo.redo(db) }
                    try #require(entry?.number == step?.number, "\(seed) \(round)")
                    guard let step else { break }
                    try #require(try contents() == (isUndo ? step.before : step.after), "\(seed) \(round)")
                    if isUndo { undone.append(done.removeLast()) } else { done.append(undone.removeLast()) }
                    played += 1
                } catch is DatabaseUndoConflict {
                    try #require(try contents() == before)
                    conflicts += 1
                    // The next transactions must not wait for it.
                    done = []
                    undone = []
                    let sql = "DELETE FROM shellac_journal WHERE seq < (SELECT max(seq) FROM shellac_journal)"
                    try queue.inDatabase { db in try db.execute(sql: sql) }
                    try queue.write { db in try db.execute(sql: "INSERT INTO log (text) VALUES ('next')") }
                    done.append((try last(), before, try contents()))
                }
            default:
                queue = try file.queue()
                try queue.keepJournal(of: .all(except: ["other"]))
            }
        }
        #expect(played > 30 && conflicts < played / 4, "\(played) played, \(conflicts) conflicts")
    }

    // MARK: - Obstacles

    private func expectConflict(_ queue: DatabaseQueue, table: String?, key: [String: DatabaseValue]) throws {
        let before = try queue.read { db in try db.journalEntries().count }
        #expect {
            try queue.write { db in try undo.undo(db) }
        } throws: { error in
            guard let conflict = error as? DatabaseUndoConflict else { return false }
            return conflict.tableName == table && conflict.key == key
        }
        #expect(try queue.read { db in try db.journalEntries().count } == before)
    }

    @Test("A row that something else has changed is a conflict, and nothing is undone")
    func conflicts() throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE player;
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE CHECK (name IS NOT 'x'));
                    """)
        }
        try queue.keepJournal(of: .all)
        try queue.write { db in try db.execute(sql: "INSERT INTO player VALUES (1, 'a'), (2, 'b')") }
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = name || '!'") }
        let other = try file.queue()
        let key = ["id": 2.databaseValue]
        // Changed, deleted, and a row that has taken the place.
        try other.inDatabase { db in try db.execute(sql: "UPDATE player SET name = 'c' WHERE id = 2") }
        try expectConflict(queue, table: "player", key: key)
        #expect(try queue.names() == ["a!", "c"])
        try other.inDatabase { db in try db.execute(sql: "DELETE FROM player WHERE id = 2") }
        try expectConflict(queue, table: "player", key: key)
        try other.inDatabase { db in try db.execute(sql: "INSERT INTO player VALUES (2, 'b!'), (3, 'b')") }
        try expectConflict(queue, table: "player", key: key)
        #expect(try queue.names() == ["a!", "b!", "b"])
        try other.inDatabase { db in try db.execute(sql: "DELETE FROM player WHERE id = 3") }
        #expect(try queue.write { db in try undo.undo(db) } != nil)
        // All of it has been made already.
        try other.inDatabase { db in try db.execute(sql: "DELETE FROM player") }
        try expectConflict(queue, table: "player", key: key)
    }

    @Test("Columns that were added are crossed, and others are refused by name")
    func schema() throws {
        let queue = try journaled("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
        try queue.write { db in try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1), (2, 'b', 2)") }
        try queue.write { db in
            try db.execute(sql: "DELETE FROM player WHERE id = 1; UPDATE player SET score = 3")
        }
        try queue.write { db in
            try db.execute(
                sql: "ALTER TABLE player ADD COLUMN rank INTEGER DEFAULT 7; UPDATE player SET rank = 8")
        }
        #expect(try queue.write { db in try undo.undo(db) } != nil)
        #expect(try queue.write { db in try undo.undo(db) } != nil)
        #expect(
            try contents(queue, "player") == [
                [1.databaseValue, "a".databaseValue, 1.databaseValue, 7.databaseValue],
                [2.databaseValue, "b".databaseValue, 2.databaseValue, 7.databaseValue],
            ])
        #expect(try queue.write { db in try undo.redo(db) } != nil)
        #expect(try contents(queue, "player").count == 1)
        try queue.write { db in try db.execute(sql: "ALTER TABLE player RENAME COLUMN score TO points") }
        let number = try queue.read { db in try db.journalEntries().last?.number ?? 0 }
        #expect(throws: JournalError.schemaChanged(entry: number, table: "player", migration: nil)) {
            try queue.write { db in try undo.undo(db) }
        }
        #expect(try contents(queue, "player").count == 1)
    }

    @Test("Misuse throws a sentence")
    func misuse() throws {
        let queue = try journaled(
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, teamID REFERENCES team ON DELETE SET NULL);
            """)
        try queue.write { db in try db.execute(sql: "INSERT INTO team VALUES (1, 'Reds')") }
        func message(_ body: (Database) throws -> Void) throws -> String {
            var message = ""
            do { try queue.write(body) } catch let error as DatabaseError { message = error.message ?? "" }
            return message
        }
        #expect(
            try message { db in
                try db.insert("a")
                try undo.undo(db)
            }.contains("in a transaction that has changed rows before"))
        #expect(try queue.names() == [])
        #expect(
            try message { db in try JournalUndo(tables: ["team"]).undo(db) }.contains(
                "name player among the tables"))
        try queue.write { db in
            try undo.undo(db)
            #expect(throws: DatabaseError.self) { try undo.redo(db) }
        }
        try queue.stopJournal()
        #expect(try message { db in try undo.redo(db) }.contains("call keepJournal(of:) after opening"))
        #expect(try queue.read { db in try undo.nextToRedo(db)?.number } == 2)
        // A database without any journal.
        #expect(try DatabaseQueue().read { db in try undo.nextToUndo(db) } == nil)
    }

    @Test("Entries that are gone, and notes of the program, do no harm")
    func strangeNotes() throws {
        let queue = try journaled("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        try JournalNote.current.withValue(["undoes": "the last one"]) {
            try queue.write { db in try db.insert("a") }
        }
        #expect(try queue.read { db in try undo.nextToUndo(db)?.number } == 2)
        try queue.write { db in try undo.undo(db) }
        try queue.inDatabase { db in try db.execute(sql: "DELETE FROM shellac_journal WHERE seq < 3") }
        #expect(try queue.write { db in try undo.redo(db) } == nil)
        #expect(try queue.write { db in try undo.undo(db) } == nil)
        try queue.write { db in try db.insert("b") }
        try queue.inDatabase { db in
            try db.execute(sql: "UPDATE shellac_journal SET changeset = x'ff' WHERE seq = 4")
        }
        #expect(throws: JournalError.self) { try queue.write { db in try undo.undo(db) } }
        #expect(try queue.names() == ["b"])
    }
}
