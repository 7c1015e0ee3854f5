// A small database of each kind that a file may hold, as the present version writes it.

import Foundation
import Shellac
import ShellacTesting
import TestSupport

/// The files that released versions have written, in `Tests/Files`.
enum ReleasedFile {
    /// The folder of the files. Each has the name of its version.
    static let images = SchemaImages("Files", file: Repository.root.path + "/Tests/Files.swift")

    static func path(_ version: String) -> String {
        Repository.root.path + "/Tests/Files/\(version).sqlite"
    }

    // MARK: - What is in a file

    /// A team, which is kept when it is deleted, with the number of its players.
    final class Team: Record {
        var id: Int64?
        var name = ""
        var playersCount = 0

        override class var databaseTableName: String { "team" }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column.reading("playersCount") { playersCount = $0 }
        }
    }

    /// A player, with a value of each type.
    class Player: Record {
        var id: Int64?
        var teamID: Int64?
        var name = ""
        var score: Double?
        var born: Date?
        var token: UUID?
        var picture: Data?
        var embedding: DatabaseVector?
        var isActive = true

        override class var databaseTableName: String { "player" }
        override class var databaseKinds: DatabaseKinds { .column("kind", ["keeper": Keeper.self]) }
        override class var databaseStamps: DatabaseStamps {
            DatabaseStamps(created: "createdAt", updated: "updatedAt")
        }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("teamID", teamID) { teamID = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
            try column("born", born) { born = $0 }
            try column("token", token) { token = $0 }
            try column("picture", picture) { picture = $0 }
            try column("embedding", embedding) { embedding = $0 }
            try column("isActive", isActive) { isActive = $0 }
        }
    }

    /// A player of another class, with a column of its own.
    final class Keeper: Player {
        var saves = 0

        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("saves", saves) { saves = $0 }
        }
    }

    /// A note whose list is stored as JSON, and whose text is found.
    final class Note: Record, Codable {
        static let search = fullText("title", "text")

        var id: Int64?
        var title = ""
        var text = ""
        var tags: [String] = []

        override class var databaseTableName: String { "note" }
    }

    /// The migrations of the program, of which a file has the first two.
    static func migrator(steps: Int = 2) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("deletedAt", .datetime)
                t.counter("playersCount", of: "player")
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("kind", .text)
                t.column("teamID", .integer).references("team", onDelete: .cascade).indexed()
                t.column("name", .text).notNull().unique()
                t.column("score", .double)
                t.column("born", .datetime)
                t.column("token", .blob)
                t.column("picture", .blob)
                t.column("embedding", .blob)
                t.column("isActive", .boolean).notNull()
                t.column("saves", .integer)
                t.timestamps()
            }
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("text", .text).notNull()
                t.column("tags", .jsonText).notNull()
            }
            // The triggers of this counter compare keys without regard to case.
            try db.create(table: "country", options: .withoutRowID) { t in
                t.column("code", .text).notNull().collate(.nocase)
                t.primaryKey(["code"])
                t.counter("townsCount", of: "town")
            }
            try db.create(table: "town") { t in
                t.column("id", .integer).primaryKey()
                t.column("code", .text).references("country", column: "code").indexed()
            }
            try db.create(table: "log") { t in
                t.column("id", .integer).primaryKey()
                t.column("what", .text)
            }
            try db.create(trigger: "teamLog", .after, .update(of: "name"), on: "team") { t in
                t.when { old, new in "\(old["name"]) IS NOT \(new["name"])" }
                t.execute(literal: "INSERT INTO log (what) VALUES (\(t.old["name"]))")
            }
            try db.create(fullText: Note.search)
        }
        migrator.registerMigration("colors") { db in
            try db.alter(table: "team") { t in
                t.add(column: "color", .text).notNull().defaults(to: "white")
            }
        }
        if steps > 2 {
            migrator.registerMigration("later") { db in
                try db.rebuild(table: "team") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull().check { length($0) > 0 }
                    t.column("deletedAt", .datetime)
                    t.column("motto", .text)
                    t.counter("playersCount", of: "player")
                }
                try db.alter(table: "note") { t in t.add(column: "isPinned", .boolean) }
            }
        }
        return migrator
    }

    // MARK: - How a file is written

    /// Runs work whose transactions have the name of an author in the journal.
    static func by<Result>(_ author: String, _ work: () throws -> Result) rethrows -> Result {
        try JournalNote.current.withValue(["author": author], operation: work)
    }

    /// Fills an empty database.
    static func fill(_ queue: DatabaseQueue) throws {
        try migrator().migrate(queue, upTo: "tables")
        try queue.keepJournal(of: Team.self, Player.self, Note.self)
        try queue.register(Player.self)
        let (reds, blues, greens) = (Team(name: "Reds"), Team(name: "Blues"), Team(name: "Greens"))
        try by("ann") {
            try queue.write { db in
                for team in [reds, blues, greens] { try team.insert(db) }
                for name in ["Arthur", "Barbara"] {
                    let player = name == "Arthur" ? Player() : Keeper()
                    (player.name, player.teamID) = (name, reds.id)
                    try player.insert(db)
                }
                for (title, text) in [("京都の天気", "Rain, then sun."), ("Table", "King Arthur's table")] {
                    let note = Note()
                    (note.title, note.text, note.tags) = (title, text, [title, "note"])
                    try note.insert(db)
                }
                try db.execute(
                    sql: """
                        INSERT INTO country (code) VALUES ('fr'), ('IT');
                        INSERT INTO town VALUES (1, 'FR'), (2, 'fr'), (3, 'it');
                        """)
            }
        }
        // A change of columns, which the journal notes.
        try migrator().migrate(queue)
        try by("ben") {
            try queue.write { db in
                let arthur = try Player.find(db, key: 1)
                arthur.score = 0.1
                arthur.born = Date(timeIntervalSince1970: 981_173_106.75)
                arthur.token = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
                arthur.picture = Data([0, 1, 255])
                arthur.embedding = DatabaseVector([1, -0.5])
                arthur.isActive = false
                try arthur.updateChanges(db)
                try db.execute(sql: "UPDATE player SET saves = 12, score = -3 WHERE name = 'Barbara'")
                try db.execute(sql: "UPDATE team SET name = 'Whites' WHERE name = 'Blues'")
            }
        }
        try queue.write { db in _ = try greens.delete(db) }
        try by("cora") {
            try queue.write { db in
                let note = try Note.find(db, key: 2)
                try note.updateChanges(db) { $0.text = "Nothing" }
            }
        }
        // The transaction of cora is undone, and can be redone.
        try queue.write { db in _ = try JournalUndo().undo(db) }
        // The index of keys is filled.
        _ = try queue.write { db in try Player.databaseHistory(db, key: 1) }
    }
}

extension ReleasedFile.Team {
    convenience init(name: String) {
        self.init()
        self.name = name
    }
}
