//: # Search
//: Words in every script, with the records as results.

import Shellac

class Note: Record {
    static let search = fullText("title", "body", weights: ["title": 4])

    var id: Int64?
    var title = ""
    var body = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("body", body) { body = $0 }
    }
}

//: The index is created in a migration. Triggers keep it in step under every write.

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "note") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("title", .text).notNull()
        t.column("body", .text).notNull()
    }
    try db.create(fullText: Note.search)
    try db.execute(
        sql: """
            INSERT INTO note (title, body) VALUES
            ('The round table', 'King Arthur and his knights met here.'),
            ('京都の旅', '東京から京都まで、新幹線で行きました。'),
            ('Größe und Straße', 'Eine Notiz auf Deutsch.')
            """)
}

//: A search is a request. Case, diacritics and ß do not matter, and languages without blanks
//: between words are searched, too.

try dbQueue.read { db in
    for text in ["arthur", "東京", "都", "STRASSE", "AND \"(*"] {
        print(text, "→", try Note.matching(text, in: Note.search).fetchAll(db).map(\.title))
    }
}

//: Ranked matches come with the part of the text that matches.

try dbQueue.read { db in
    let hits = try Note.matching(.typed("king art"), in: Note.search).ranked()
        .snippet("body", around: ("[", "]"), words: 4)
        .fetchAll(db)
    for note in hits { print(note.title, "→", try note.databaseSnippet("body")) }
}

//: A word with a typing error has suggestions.

try dbQueue.read { db in
    print(try Note.suggestions(for: "knigths", in: Note.search, db))
}

//: A change of a record, or of a row by SQL, changes what is found.

try dbQueue.write { db in
    try db.execute(sql: "UPDATE note SET body = 'Lancelot has left.' WHERE id = 1")
    print(try Note.matching("arthur", in: Note.search).fetchCount(db), "notes with arthur")
    print(try Note.matching("lancelot", in: Note.search).fetchCount(db), "notes with lancelot")
}
