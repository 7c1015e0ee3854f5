import Foundation
import Shellac
import ShellacTesting
import TestSupport
import Testing

@testable import ShellacCommand

/// The files that released versions have written, one of each in `Tests/Files`.
///
/// Before a version is tagged, write its file, and commit it:
///
/// ```
/// SHELLAC_RECORD_FILE=0.1.0 swift test --filter ReleasedFilesTests
/// ```
@Suite("Files of released versions")
struct ReleasedFilesTests {
    private typealias File = ReleasedFile

    /// A connection of each kind.
    enum Access: CaseIterable { case queue, pool }

    @Test("The file of a version is written once")
    func record() throws {
        guard let version = ProcessInfo.processInfo.environment["SHELLAC_RECORD_FILE"] else { return }
        let template = DatabaseTemplate { queue in try File.fill(queue) }
        try File.images.record(version, of: template)
    }

    @Test("The present version has its file, with the schema that it makes today")
    func schema() throws {
        let version = try #require(File.images.versions.last)
        #expect(version == Help.version)

        let sql = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        func schema(_ db: Database) throws -> [[String]] {
            try Row.fetchAll(db, sql: sql).map { [try $0["name"], try $0["sql"]] }
        }
        let folder = try TemporaryFolder()
        let (old, new) = try (copy(of: version, .queue, in: folder), DatabaseQueue())
        try File.fill(new)
        try #expect(old.read(schema) == new.read(schema))
    }

    @Test(
        "The values, counts, texts and entries of a file are read as they were written",
        arguments: File.images.versions, Access.allCases)
    func read(version: String, access: Access) throws {
        let folder = try TemporaryFolder()
        let file = try copy(of: version, access, in: folder)
        try #expect(file.read { db in try File.migrator().hasCompletedMigrations(db) })
        try file.read { db in
            try File.Team.checkSchema(db)
            try File.Player.checkSchema(db)
            try File.Note.checkSchema(db)

            let players = try File.Player.order(Column("id")).fetchAll(db)
            try #require(players.count == 2)
            let arthur = players[0]
            #expect(type(of: arthur) == File.Player.self && arthur.name == "Arthur" && arthur.teamID == 1)
            #expect(arthur.score == 0.1 && !arthur.isActive)
            #expect(arthur.born == Date(timeIntervalSince1970: 981_173_106.75))
            #expect(arthur.token == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
            #expect(arthur.picture == Data([0, 1, 255]))
            #expect(arthur.embedding == DatabaseVector([1, -0.5]))
            let barbara = try #require(players[1] as? File.Keeper)
            #expect(barbara.saves == 12 && barbara.score == -3 && barbara.isActive && barbara.born == nil)
            let stored = "SELECT born, hex(token), hex(embedding), typeof(score) FROM player WHERE id = 1"
            let row = try Row.fetchOne(db, sql: stored)
            #expect(
                row == [
                    "born": "2001-02-03 04:05:06.750",
                    "hex(token)": "E621E1F8C36C495A93FC0C247A3E6E5F",
                    "hex(embedding)": "0000803F000000BF", "typeof(score)": "real",
                ])

            let teams = try File.Team.order(Column("id")).fetchAll(db)
            #expect(teams.map(\.name) == ["Reds", "Whites"] && teams.map(\.playersCount) == [2, 0])
            let counts = try Int.fetchAll(db, sql: "SELECT townsCount FROM country ORDER BY code")
            #expect(counts == [2, 1])
            try #expect(String.fetchAll(db, sql: "SELECT what FROM log") == ["Blues"])

            let notes = try File.Note.matching("arthur", in: File.Note.search).fetchAll(db)
            #expect(notes.map(\.tags) == [["Table", "note"]])
            let weather = File.Note.matching("天気", in: File.Note.search)
            try #expect(weather.fetchAll(db).map(\.id) == [1])

            let entries = try db.journalEntries()
            let authors = entries.map { $0.note["author"] ?? "nobody" }
            #expect(authors == ["nobody", "ann", "nobody", "ben", "nobody", "cora", "nobody"])
            try #expect(JournalUndo().nextToRedo(db)?.note["author"] == "cora")
            let history = try File.Player.databaseHistory(db, key: 1)
            #expect(history.map(\.operation) == [.insert, .update])
        }
        try file.verifyJournal()
        let past = try file.asOf(3)
        try past.read { db in
            try #expect(File.Player.find(db, key: 1).score == nil)
            try #expect(File.Team.fetchAll(db).map(\.name) == ["Reds", "Blues", "Greens"])
        }
    }

    @Test("A file goes on with all that it has", arguments: File.images.versions, Access.allCases)
    func goOn(version: String, access: Access) throws {
        let folder = try TemporaryFolder()
        let file = try copy(of: version, access, in: folder)
        try file.keepJournal(of: File.Team.self, File.Player.self, File.Note.self)
        try file.register(File.Player.self)

        // An undone transaction can be redone, and undone again.
        let undo = JournalUndo()
        try file.write { db in _ = try undo.redo(db) }
        try #expect(file.read { db in try File.Note.find(db, key: 2).text } == "Nothing")
        try #expect(matches("table", file) == [2] && matches("nothing", file) == [2])
        try file.write { db in _ = try undo.undo(db) }
        try #expect(matches("nothing", file) == [])

        // The triggers count, index and log.
        try file.write { db in
            try db.execute(sql: "UPDATE player SET teamID = 2 WHERE id = 2")
            try db.execute(sql: "INSERT INTO town VALUES (4, 'IT')")
            try db.execute(sql: "UPDATE team SET name = 'Blacks' WHERE id = 2")
            let all = File.Team.ignoringDefaultFilter(.deleted)
            let greens = try #require(try all.filter(key: 3).fetchOne(db))
            try greens.restore(db)
        }
        try file.read { db in
            let teams = try File.Team.order(Column("id")).fetchAll(db)
            #expect(teams.map(\.name) == ["Reds", "Blacks", "Greens"])
            #expect(teams.map(\.playersCount) == [1, 1, 0])
            try #expect(Int.fetchAll(db, sql: "SELECT townsCount FROM country ORDER BY code") == [2, 2])
            try #expect(String.fetchAll(db, sql: "SELECT what FROM log") == ["Blues", "Whites"])
        }
        try file.verifyJournal()

        // Later migrations change it.
        try File.migrator(steps: 3).migrate(file)
        let note = File.Note()
        (note.title, note.text) = ("Later", "Lancelot")
        try file.write { db in
            try note.insert(db)
            _ = try File.Player.deleteOne(db, key: 2)
        }
        try #expect(matches("lancelot", file) == [3])
        try file.read { db in
            let teams = try File.Team.order(Column("id")).fetchAll(db)
            #expect(teams.map(\.playersCount) == [1, 0, 0])
            try db.checkForeignKeys()
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
        try file.verifyJournal()
    }

    /// Opens a copy of the file of a version.
    private func copy(of version: String, _ access: Access, in folder: TemporaryFolder) throws
        -> any DatabaseWriter
    {
        let path = folder.path("\(version).sqlite")
        try FileManager.default.copyItem(atPath: File.path(version), toPath: path)
        return switch access {
        case .queue: try DatabaseQueue(path: path)
        case .pool: try DatabasePool(path: path)
        }
    }

    /// The identifiers of the notes that have a word.
    private func matches(_ word: String, _ file: any DatabaseWriter) throws -> [Int64?] {
        try file.read { db in
            try File.Note.matching(SearchQuery.words(word), in: File.Note.search).fetchAll(db).map(\.id)
        }
    }
}
