import TestSupport
import Testing

@testable import Shellac

@Suite("Columns that a record never read")
struct UnreadColumnsTests {
    enum Way: CaseIterable { case straight, overridden }
    enum Save: CaseIterable { case update, save, updateChanges, upsert }

    private static let row: [String: DatabaseValue] = [
        "id": 1, "title": "Plan", "text": "keep me", "stars": 3,
    ]

    private static func note(_ style: RecordStyle, _ way: Way) -> any NoteRecord.Type {
        way == .straight ? style.note : style.watchedNote
    }

    private func withNote<Note: NoteRecord>(
        _: Note.Type, columns: String = "id, title", _ body: (Database, Note) throws -> Void
    ) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (
                        id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, text TEXT, stars INTEGER DEFAULT 5);
                    INSERT INTO note VALUES (1, 'Plan', 'keep me', 3), (2, 'Other', 'keep me too', 4)
                    """)
            let sql = "SELECT \(columns) FROM note WHERE id = 1"
            try body(db, #require(try Note.fetchOne(db, sql: sql)))
        }
    }

    private func row(_ db: Database, _ id: Int64 = 1) throws -> [String: DatabaseValue] {
        try #require(try Row.fetchOne(db, sql: "SELECT * FROM note WHERE id = ?", arguments: [id])).dictionary
    }

    private func run(_ save: Save, of note: some NoteRecord, in db: Database) throws {
        switch save {
        case .update: try note.update(db)
        case .save: try note.save(db)
        case .updateChanges: try note.updateChanges(db)
        case .upsert: try note.upsert(db)
        }
    }

    @Test(
        "a save of a record that was fetched without some columns leaves these alone", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases), Save.allCases)
    func untouched(_ first: (style: RecordStyle, way: Way), _ save: Save) throws {
        try untouched(Self.note(first.style, first.way), save)
    }

    private func untouched<Note: NoteRecord>(_: Note.Type, _ save: Save) throws {
        try withNote(Note.self) { db, note in
            #expect(try note.databaseChanges == ["text": nil, "stars": nil], "they are unknown, as before")
            note.title = "New"
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.row.merging(["title": "New"]) { $1 })
            #expect(try note.databaseChanges == ["text": nil, "stars": nil])
            // And so does the next one.
            note.title = "Newer"
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.row.merging(["title": "Newer"]) { $1 })
        }
    }

    @Test(
        "a column that was never read is written once it has changed, and is known then", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases), Save.allCases)
    func touched(_ first: (style: RecordStyle, way: Way), _ save: Save) throws {
        try touched(Self.note(first.style, first.way), save)
    }

    private func touched<Note: NoteRecord>(_: Note.Type, _ save: Save) throws {
        try withNote(Note.self) { db, note in
            note.text = "given"
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.row.merging(["text": "given"]) { $1 })
            #expect(try note.databaseChanges == ["stars": nil])
            note.text = nil
            try run(save, of: note, in: db)
            #expect(try row(db)["text"] == .null, "it was known, and so it is written")
        }
    }

    @Test(
        "updateChanges says that there is nothing to write where only such columns are left", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func nothing(_ first: (style: RecordStyle, way: Way)) throws {
        try nothing(Self.note(first.style, first.way))
    }

    private func nothing<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { (db: Database, note: Note) throws in
            #expect(note.hasDatabaseChanges)
            let isUpdated = try note.updateChanges(db)
            #expect(!isUpdated)
            #expect(try row(db) == Self.row)
        }
    }

    @Test(
        "columns stay unread where the flag was set to false, whatever is saved then", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases), Save.allCases)
    func unreadWithoutChanges(_ first: (style: RecordStyle, way: Way), _ save: Save) throws {
        try unreadWithoutChanges(Self.note(first.style, first.way), save)
    }

    private func unreadWithoutChanges<Note: NoteRecord>(_: Note.Type, _ save: Save) throws {
        try withNote(Note.self) { db, note in
            note.hasDatabaseChanges = false
            note.title = "New"
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.row.merging(["title": "New"]) { $1 })
            for save in Save.allCases {
                note.title += "er"
                try run(save, of: note, in: db)
                #expect(
                    try row(db) == Self.row.merging(["title": note.title.databaseValue]) { $1 }, "\(save)")
            }
        }
    }

    @Test(
        "update(columns:) writes what it names, also where it names all columns", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases)
    )
    func allNamed(_ first: (style: RecordStyle, way: Way)) throws {
        try allNamed(Self.note(first.style, first.way))
    }

    private func allNamed<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, note in
            // From now on, the columns of the class are known.
            try note.update(db)
            try note.update(db, columns: ["id", "title", "text", "stars"])
            #expect(try row(db) == Self.row.merging(["text": .null, "stars": 0]) { $1 })
            #expect(!note.hasDatabaseChanges)
        }
    }

    @Test("update(columns:) writes what it names", .behaviour(93), arguments: RecordStyle.each(Way.allCases))
    func named(_ first: (style: RecordStyle, way: Way)) throws {
        try named(Self.note(first.style, first.way))
    }

    private func named<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, note in
            try note.update(db, columns: ["text"])
            #expect(try row(db) == Self.row.merging(["text": .null]) { $1 })
            #expect(try note.databaseChanges == ["stars": nil])
            try note.update(db)
            #expect(try row(db)["stars"] == 3)
        }
    }

    @Test("a column that a will-callback sets is written", .behaviour(93), arguments: RecordStyle.allCases)
    func callback(style: RecordStyle) throws { try callback(style.watchedNote) }

    private func callback<Note: WatchedNote & NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { (db: Database, note: Note) throws in
            note.change = { $0.stars = 9 }
            try note.update(db)
            let held = try row(db)
            let expected = Self.row.merging(["stars": 9]) { $1 }
            let changes = try note.databaseChanges
            #expect(held == expected)
            #expect(changes == ["text": nil])
        }
    }

    @Test(
        "a record that is inserted is its own truth, also by a save that finds no row, and by REPLACE",
        .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func inserted(_ first: (style: RecordStyle, way: Way)) throws {
        try inserted(Self.note(first.style, first.way))
    }

    private func inserted<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, note in
            try db.execute(sql: "DELETE FROM note WHERE id = 1")
            try note.save(db)
            #expect(try row(db) == ["id": 1, "title": "Plan", "text": .null, "stars": 0])
            #expect(!note.hasDatabaseChanges)
        }
        try withNote(Note.self) { db, note in
            try note.insert(db, onConflict: .replace)
            #expect(try row(db) == ["id": 1, "title": "Plan", "text": .null, "stars": 0])
        }
    }

    @Test(
        "setting the flag to true makes the record its own truth, and setting it to false does not",
        .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func flag(_ first: (style: RecordStyle, way: Way)) throws {
        try flag(Self.note(first.style, first.way))
    }

    private func flag<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, note in
            note.stars = 8
            note.hasDatabaseChanges = false
            #expect(try note.databaseChanges == [:])
            try note.update(db)
            #expect(try row(db) == Self.row.merging(["stars": 8]) { $1 })
            note.hasDatabaseChanges = true
            try note.updateChanges(db)
            #expect(try row(db)["text"] == .null)
            #expect(!note.hasDatabaseChanges)
        }
    }

    @Test(
        "a copy, a rollback and another save remember what was never read", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func remembered(_ first: (style: RecordStyle, way: Way)) throws {
        try remembered(Self.note(first.style, first.way))
    }

    private func remembered<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, note in
            let copy = try note.copy()
            copy.title = "Copied"
            try copy.update(db)
            #expect(try row(db)["text"] == "keep me")
            try db.inTransaction {
                note.text = "undone"
                try note.update(db)
                return .rollback
            }
            note.text = nil
            try note.update(db)
            #expect(try row(db)["text"] == "keep me", "the save that wrote it was undone")
            try note.delete(db)
            try note.insert(db)
            #expect(try row(db)["text"] == .null)
        }
    }

    @Test(
        "what reload reads is known, and what it does not read stays as it was", .behaviour(93),
        arguments: RecordStyle.allCases)
    func reloaded(style: RecordStyle) throws { try reloaded(style.note, style.briefNote) }

    private func reloaded<Note: NoteRecord, Brief: NoteRecord>(_: Note.Type, _: Brief.Type) throws {
        try withNote(Note.self) { db, note in
            try note.reload(db)
            #expect(!note.hasDatabaseChanges)
            note.text = nil
            try note.update(db)
            #expect(try row(db)["text"] == .null)
            let brief = try #require(try Brief.fetchOne(db, key: 2))
            try brief.reload(db)
            try brief.update(db)
            #expect(try row(db, 2)["text"] == "keep me too")
            brief.text = "given"
            try brief.reload(db)
            try brief.update(db)
            #expect(try row(db, 2)["text"] == "given", "a change outlives the reading of other columns")
            try brief.reload(db)
            #expect(try brief.databaseChanges == ["stars": nil], "what was written is known")
        }
    }

    @Test("a class that reads after super.init(row:) wipes nothing that it never read", .behaviour(93))
    func readingLate() throws {
        final class Late: Record {
            var id: Int64?
            var title = ""
            var stars = -1
            override class var databaseTableName: String { "note" }
            required init(row: Row) throws {
                try super.init(row: row)
                id = try row["id"]
                title = try row["title"]
                stars = try row["stars"] ?? 0
            }
            override func encode(to container: inout PersistenceContainer) throws {
                container["id"] = id
                container["title"] = title
                container["stars"] = stars
            }
        }
        try withNote(PairNote.self) { db, _ in
            for late in try Late.fetchAll(db, sql: "SELECT id, title FROM note") {
                late.title += "!"
                try late.updateChanges(db)
                late.title += "?"
                try late.update(db)
            }
            #expect(try row(db)["stars"] == 3.databaseValue)
            #expect(try row(db)["title"] == "Plan!?".databaseValue)
        }
    }

    @Test("a row that was kept makes a partial record, too", .behaviour(93), arguments: RecordStyle.allCases)
    func ownedRows(style: RecordStyle) throws { try ownedRows(style.note) }

    private func ownedRows<Note: NoteRecord>(_: Note.Type) throws {
        try withNote(Note.self) { db, _ in
            for row in try Row.fetchAll(db, sql: "SELECT title, id FROM note") {
                let note = try Note(row: row)
                note.title += "!"
                try note.update(db)
            }
            #expect(try row(db) == Self.row.merging(["title": "Plan!"]) { $1 })
            #expect(try row(db, 2)["text"] == "keep me too")
        }
    }

    @Test(
        "elements of a fetch are encoded once they are complete, and others that are made of its rows at once",
        .serialized, .behaviour(93), arguments: RecordStyle.allCases)
    func encodedOnce(style: RecordStyle) throws { try encodedOnce(style.note, style.countedNote) }

    private func encodedOnce<Note: NoteRecord, Counted: CountedNote & NoteRecord>(
        _: Note.Type, _: Counted.Type
    ) throws {
        try withNote(Note.self) { db, _ in
            let statement = try db.makeStatement(sql: "SELECT id, title FROM note ORDER BY id")
            func encodings(_ body: () throws -> Void) rethrows -> Int {
                Counted.encodings = 0
                try body()
                return Counted.encodings
            }
            let cursor = try Counted.fetchCursor(statement)
            let first = try encodings { _ = try cursor.next() }
            let second = try encodings { _ = try cursor.next() }
            #expect(first - second == 2, "the first one was asked twice")
            #expect(try cursor.next() == nil)
            // The same statement returns rows, from which a program makes records.
            let rows = try Row.fetchCursor(statement)
            while let row = try rows.next() {
                let note = try Counted(row: row)
                note.title += "!"
                try note.update(db)
            }
            var others: [Note] = []
            Counted.maker = { others.append(try Note(row: $0)) }
            defer { Counted.maker = nil }
            let notes = try Counted.fetchAll(statement)
            for note in notes {
                note.title += "?"
                try note.update(db)
            }
            for note in others {
                note.title += "?"
                try note.update(db)
            }
            #expect(try row(db) == Self.row.merging(["title": "Plan!?"]) { $1 })
            #expect(try row(db, 2)["text"] == "keep me too")
        }
    }

    @Test(
        "records of one fetch that had different values in such columns are told apart", .serialized,
        .behaviour(93), arguments: RecordStyle.allCases)
    func different(style: RecordStyle) throws {
        // A Codable record is made by another one, whose properties it takes.
        try different(style.note, style.numberedNote, style.choose([1, 2], [1, 2], [1, 3]))
    }

    private func different<Note: NoteRecord, Numbered: NumberedNote & NoteRecord>(
        _: Note.Type, _: Numbered.Type, _ stars: [Int]
    ) throws {
        try withNote(Note.self) { db, _ in
            _ = try Numbered.fetchOne(db)  // it is learnt from one
            Numbered.count = 0
            let notes = try Numbered.fetchAll(db, sql: "SELECT id, title FROM note ORDER BY id")
            #expect(notes.map(\.stars) == stars)
            // A change of one is no change of the other.
            notes[0].stars = stars[1]
            for note in notes { try note.update(db) }
            #expect(try row(db)["stars"] == stars[1].databaseValue)
            #expect(try row(db, 2)["stars"] == 4)
        }
    }

    @Test(
        "stamps are bound in columns that were never read, and their defaults are not", .behaviour(93),
        arguments: RecordStyle.allCases)
    func stamps(style: RecordStyle) throws { try stamps(style.stampedRecord) }

    private func stamps<Stamped: StampedRecord>(_: Stamped.Type) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE stamped (id INTEGER PRIMARY KEY, name TEXT, created TEXT, updated TEXT);
                    INSERT INTO stamped VALUES (1, 'a', '2001', '2002')
                    """)
            let record = try #require(try Stamped.fetchOne(db, sql: "SELECT id, name FROM stamped"))
            record.name = "b"
            try record.update(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM stamped"))
            #expect(try row["created"] == "2001")
            #expect(try row["updated"] == db.transactionDate.databaseValue)
        }
    }

    // MARK: - Columns that were added since

    enum Adder: CaseIterable { case same, other }

    /// Runs a function with a note that was fetched before its table was given the column of stars,
    /// which is 7.
    private func withOldNote<Note: NoteRecord>(
        _: Note.Type, _ adder: Adder = .other, _ body: (Database, Note) throws -> Void
    ) throws {
        let file = try TemporaryDatabase()
        defer { withExtendedLifetime(file) {} }
        let queue = try file.queue()
        let note = try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, text TEXT);
                    INSERT INTO note VALUES (1, 'Plan', 'keep me')
                    """)
            return try #require(try Note.fetchOne(db, key: 1))
        }
        let other = adder == .same ? queue : try file.queue()
        try other.write { db in try db.execute(sql: "ALTER TABLE note ADD COLUMN stars INTEGER DEFAULT 7") }
        try queue.write { db in try body(db, note) }
    }

    private static let oldRow: [String: DatabaseValue] = [
        "id": 1, "title": "New", "text": "keep me", "stars": 7,
    ]

    /// Hands over a record that was saved before its table was given a column.
    private func withSavedNote<Note: NoteRecord>(_: Note.Type, _ body: (Database, Note) throws -> Void) throws
    {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, text TEXT);
                    INSERT INTO note VALUES (1, 'Plan', 'keep me')
                    """)
            let note = try #require(try Note.fetchOne(db, key: 1))
            note.title = "New"
            try note.update(db, columns: ["title"])
            try note.reload(db)
            #expect(note.savedDatabaseChanges == ["title": "Plan"])
            try db.execute(sql: "ALTER TABLE note ADD COLUMN stars INTEGER DEFAULT 7")
            try body(db, note)
        }
    }

    @Test(
        "a column that a table was given leaves what the last save of a record has changed", .behaviour(93),
        arguments: RecordStyle.allCases)
    func savedChangesBeforeAddedColumn(style: RecordStyle) throws {
        try savedChangesBeforeAddedColumn(style.note)
    }

    private func savedChangesBeforeAddedColumn<Note: NoteRecord>(_: Note.Type) throws {
        try withSavedNote(Note.self) { db, note in
            try #expect(!note.updateChanges(db))
            #expect(note.savedDatabaseChanges == ["title": "Plan"])
        }
    }

    @Test(
        "a class that comes to store a column which its table was given leaves what the last save has changed",
        .serialized, .behaviour(17, 93), arguments: RecordStyle.allCases)
    func savedChangesBeforeStoredColumn(style: RecordStyle) throws {
        try savedChangesBeforeStoredColumn(style.lateNote)
    }

    private func savedChangesBeforeStoredColumn<Note: LateNote & NoteRecord>(_: Note.Type) throws {
        defer { Note.storesStars = false }
        try withSavedNote(Note.self) { db, note in
            Note.storesStars = true
            try #expect(!note.updateChanges(db))
            #expect(note.savedDatabaseChanges == ["title": "Plan"])
            try #expect(Int.fetchOne(db, sql: "SELECT stars FROM note") == 7)
        }
    }

    @Test(
        "a save of a record that was fetched before its table was given a column leaves that alone",
        .behaviour(93),
        arguments: RecordStyle.each([(Way.straight, Adder.same), (.straight, .other), (.overridden, .other)]
        ),
        Save.allCases)
    func columnAddedSince(_ first: (style: RecordStyle, setup: (Way, Adder)), _ save: Save) throws {
        try columnAddedSince(Self.note(first.style, first.setup.0), first.setup.1, save)
    }

    private func columnAddedSince<Note: NoteRecord>(_: Note.Type, _ adder: Adder, _ save: Save) throws {
        try withOldNote(Note.self, adder) { db, note in
            note.title = "New"
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.oldRow)
            #expect(try note.databaseChanges == ["stars": nil])
            for save in Save.allCases { try run(save, of: note, in: db) }
            #expect(try row(db) == Self.oldRow)
            #expect(try !note.updateChanges(db))
            note.stars = 9
            try run(save, of: note, in: db)
            #expect(try row(db)["stars"] == 9)
            #expect(!note.hasDatabaseChanges)
            note.stars = 0
            try run(save, of: note, in: db)
            #expect(try row(db)["stars"] == 0, "it was known, and so it is written")
        }
    }

    @Test(
        "a column that was added since is written where the record was given a value for it before it was saved",
        .behaviour(93),
        arguments: RecordStyle.each(Way.allCases), Save.allCases)
    func columnAddedSinceAndGiven(_ first: (style: RecordStyle, way: Way), _ save: Save) throws {
        try columnAddedSinceAndGiven(Self.note(first.style, first.way), save)
    }

    private func columnAddedSinceAndGiven<Note: NoteRecord>(_: Note.Type, _ save: Save) throws {
        try withOldNote(Note.self) { db, note in
            note.title = "New"
            note.stars = 9
            try run(save, of: note, in: db)
            #expect(try row(db) == Self.oldRow.merging(["stars": 9]) { $1 })
            #expect(!note.hasDatabaseChanges)
        }
    }

    @Test(
        "a column that was added since is written by what names it, and by an insertion", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func columnAddedSinceAndNamed(_ first: (style: RecordStyle, way: Way)) throws {
        try columnAddedSinceAndNamed(Self.note(first.style, first.way))
    }

    private func columnAddedSinceAndNamed<Note: NoteRecord>(_: Note.Type) throws {
        try withOldNote(Note.self) { db, note in
            try note.update(db, columns: ["stars"])
            #expect(try row(db)["stars"] == 0)
            #expect(!note.hasDatabaseChanges)
        }
        try withOldNote(Note.self) { db, note in
            note.id = nil
            note.title = "New"
            try note.save(db)
            #expect(try row(db, 2)["stars"] == 0)
            let old = try #require(try Note.fetchOne(db, key: 1))
            #expect(old.stars == 7)
        }
    }

    @Test(
        "a copy, a rollback and a changed key keep away from a column that was added since", .behaviour(93),
        arguments: RecordStyle.each(Way.allCases))
    func columnAddedSinceAndCopied(_ first: (style: RecordStyle, way: Way)) throws {
        try columnAddedSinceAndCopied(Self.note(first.style, first.way))
    }

    private func columnAddedSinceAndCopied<Note: NoteRecord>(_: Note.Type) throws {
        try withOldNote(Note.self) { db, note in
            let copy = try note.copy()
            copy.title = "New"
            try copy.update(db)
            #expect(try row(db) == Self.oldRow)
            try db.inSavepoint {
                note.title = "undone"
                try note.update(db)
                return .rollback
            }
            note.title = "New"
            try note.update(db)
            #expect(try row(db) == Self.oldRow)
            try db.execute(sql: "INSERT INTO note VALUES (2, 'two', 'x', 8)")
            try db.execute(sql: "DELETE FROM note WHERE id = 1")
            note.id = 2
            #expect(try note.updateChanges(db))
            #expect(try row(db, 2) == Self.oldRow.merging(["id": 2, "stars": 8]) { $1 })
        }
    }

    @Test(
        "A record that encodes a column which its table lacks is told so by its update, as before",
        arguments: RecordStyle.allCases)
    func columnThatIsNowhere(style: RecordStyle) throws { try columnThatIsNowhere(style.note) }

    private func columnThatIsNowhere<Note: NoteRecord>(_: Note.Type) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, text TEXT)")
            try db.execute(sql: "INSERT INTO note VALUES (1, 'Plan', 'keep me')")
            let note = try #require(try Note.fetchOne(db, key: 1))
            let error = #expect(throws: (any Error).self) { try note.update(db) }
            #expect("\(try #require(error))".contains("stars"))
        }
    }
}
