import Shellac
import TestSupport
import Testing

/// The first record of a type that is inserted teaches whether its callbacks do something: what is
/// learnt must hold for those that come later.
@Suite struct LearntCallbackTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
                    CREATE TABLE log (entry TEXT);
                    """)
        }
        return queue
    }

    /// Inserts notes, one of which fails, and returns what the callbacks have logged.
    private func log<Note: LoggedNote>(of type: Note.Type) throws -> [String] {
        try makeQueue().write { db in
            for text in ["a", "b", "b", "c"] {
                var note = Note(text: text)
                try? note.insert(db)
            }
            var note = Note(text: "d")
            try note.save(db)
            #expect(
                try String.fetchAll(db, sql: "SELECT text FROM note ORDER BY id") == ["a", "b", "c", "d"])
            #expect(note.id == 4)
            return try String.fetchAll(db, sql: "SELECT entry FROM log ORDER BY rowid")
        }
    }

    @Test(
        "A callback that a struct implements is called at each insertion, be it the only one", .behaviour(35))
    func eachCallback() throws {
        #expect(try log(of: WillSaveNote.self) == ["a", "b", "b", "c", "d"])
        #expect(try log(of: WillInsertNote.self) == ["a", "b", "b", "c", "d"])
        #expect(try log(of: AroundSaveNote.self) == ["a", "b", "b", "c", "d"])
        #expect(try log(of: AroundInsertNote.self) == ["a", "b", "b", "c", "d"])
        #expect(try log(of: PlainNote.self) == [])
    }

    @Test("An insertion that fails first teaches nothing, and one that was ignored neither")
    func failureFirst() throws {
        try makeQueue().write { db in
            try db.execute(sql: "INSERT INTO note (text) VALUES ('a')")
            var note = AroundInsertNote(text: "a")
            expectError("UNIQUE constraint failed: note.text") { try note.insert(db) }
            try note.insert(db, onConflict: .ignore)
            note.text = "b"
            try note.insert(db)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM log") == 3)
            var plain = PlainNote(text: "a")
            expectError("UNIQUE constraint failed: note.text") { try plain.insert(db) }
            try plain.insert(db, onConflict: .ignore)
            #expect(plain.id == nil && plain.insertionCount == 0)
            plain.text = "c"
            try plain.insert(db)
            plain = PlainNote(text: "d")
            try plain.insert(db)
            #expect(plain.id == 4 && plain.insertionCount == 1)
            try plain.insert(db, onConflict: .ignore)
            #expect(plain.id == 4 && plain.insertionCount == 1)
            expectError("UNIQUE constraint failed: note.id") { try plain.insert(db) }
        }
    }

    @Test("What insertions have taught is good for insertAll, and for another state of the schema")
    func insertAll() throws {
        try makeQueue().write { db in
            var note = WillInsertNote(text: "a")
            try note.insert(db)
            var notes = ["b", "c"].map { WillInsertNote(text: $0) }
            try WillInsertNote.insertAll(db, &notes)
            try db.execute(sql: "ALTER TABLE note ADD COLUMN more")
            note = WillInsertNote(text: "d")
            try note.insert(db)
            #expect(try String.fetchAll(db, sql: "SELECT entry FROM log") == ["a", "b", "c", "d"])
            var plain = ["e", "f", "g"].map { PlainNote(text: $0) }
            try PlainNote.insertAll(db, &plain)
            var last = PlainNote(text: "h")
            try last.insert(db)
            #expect(plain.map(\.id) == [5, 6, 7] && last.id == 8)
        }
    }

    @Test("A class that is no Record calls the callbacks of its subclasses")
    func subclasses() throws {
        try makeQueue().write { db in
            try ObjectNote(text: "a").insert(db)
            try ObjectNote(text: "b").insert(db)
            try LoggedObjectNote(text: "c").insert(db)
            try LoggedObjectNote(text: "d").insert(db)
            #expect(try String.fetchAll(db, sql: "SELECT entry FROM log") == ["c", "d"])
        }
    }
}

private protocol LoggedNote: MutablePersistableRecord {
    init(text: String)
    var id: Int64? { get set }
    var text: String { get set }
}

extension LoggedNote {
    static var databaseTableName: String { "note" }

    func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["text"] = text
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    func log(_ db: Database) throws {
        try db.execute(sql: "INSERT OR FAIL INTO log VALUES (?)", arguments: [text])
    }
}

private struct PlainNote: LoggedNote {
    var id: Int64?
    var text: String
    var insertionCount = 0
    init(text: String) { self.text = text }
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        insertionCount += 1
    }
}

private struct WillSaveNote: LoggedNote {
    var id: Int64?
    var text: String
    init(text: String) { self.text = text }
    func willSave(_ db: Database) throws { try log(db) }
}

private struct WillInsertNote: LoggedNote {
    var id: Int64?
    var text: String
    init(text: String) { self.text = text }
    func willInsert(_ db: Database) throws { try log(db) }
}

private struct AroundSaveNote: LoggedNote {
    var id: Int64?
    var text: String
    init(text: String) { self.text = text }
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try log(db)
        _ = try save()
    }
}

private struct AroundInsertNote: LoggedNote {
    var id: Int64?
    var text: String
    init(text: String) { self.text = text }
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try log(db)
        _ = try insert()
    }
}

private class ObjectNote: PersistableRecord {
    class var databaseTableName: String { "note" }
    let text: String
    init(text: String) { self.text = text }
    func encode(to container: inout PersistenceContainer) throws { container["text"] = text }
    func willInsert(_ db: Database) throws {}
}

private final class LoggedObjectNote: ObjectNote {
    override func willInsert(_ db: Database) throws {
        try db.execute(sql: "INSERT INTO log VALUES (?)", arguments: [text])
    }
}
