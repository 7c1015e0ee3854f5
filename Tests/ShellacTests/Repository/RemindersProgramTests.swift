import Foundation
import Shellac
import TestSupport
import Testing

/// The sample program, as its users use it: at a terminal, and by one command after the other.
@Suite("The sample program")
struct RemindersProgramTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("reminders.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// Runs one command, and returns what it prints.
    private func run(_ words: String...) async throws -> String {
        let command = try await Command.run([Terminal.executable("Reminders").path, path] + words)
        #expect(command.succeeded)
        return command.output
    }

    /// A user at a terminal, who enters lines and reads what comes of them.
    private struct User {
        let terminal: Terminal
        var offset = 0

        init(_ path: String) async throws {
            terminal = try Terminal("Reminders", [path])
            try await terminal.wait(for: "> ", after: &offset)
        }

        /// Enters a line, and returns what is shown until the next prompt.
        mutating func enter(_ line: String) async throws -> String {
            terminal.enter(line)
            try await terminal.wait(for: "\(line)\n", after: &offset)
            return try await terminal.wait(for: "> ", after: &offset)
        }
    }

    @Test("commands add, show and change reminders, which the next run finds")
    func commands() async throws {
        #expect(try await run("add", "Get", "milk", "#food", "!!", "due:2026-03-01") == "Added 1.\n")
        #expect(try await run("list", "add", "Home") == "")
        #expect(try await run("add", "Mow the lawn", "in:home", "#garden", "#food") == "Added 2.\n")
        #expect(
            try await run("show")
                == "1 [ ] !! Get milk due 2026-03-01 (Reminders) #food\n2 [ ] Mow the lawn (Home) #food #garden\n"
        )
        #expect(try await run("show", "in", "Home") == "2 [ ] Mow the lawn (Home) #food #garden\n")
        #expect(
            try await run("show", "tag", "GARDEN").hasPrefix("2 [ ] Mow the lawn"))
        #expect(try await run("show", "find", "MILK").hasPrefix("1 [ ]"))
        #expect(try await run("lists") == "Home: 1\nReminders: 1\n")
        #expect(try await run("tags") == "#food: 2\n#garden: 1\n")
        #expect(try await run("done", "1") == "")
        #expect(try await run("show", "done").hasPrefix("1 [x] !! Get milk"))
        #expect(try await run("clear") == "1 deleted.\n")
        #expect(try await run("show", "done") == "Nothing.\n")
        #expect(try await run("edit", "2", "Mow", "it") == "")
        #expect(try await run("flag", "all", "in", "Home") == "1 flagged.\n")
        #expect(try await run("show", "flagged") == "2 [ ] * Mow it (Home) #food #garden\n")
        // A list takes its reminders along, and there is always one.
        #expect(try await run("list", "delete", "Home") == "")
        #expect(try await run("list", "delete", "Reminders") == "")
        #expect(try await run("lists") == "Reminders: 0\n")
    }

    @Test("what cannot be done is told in a sentence, and changes nothing")
    func complaints() async throws {
        #expect(try await run("add", "#food") == "A reminder needs a title.\n")
        #expect(try await run("add", "Get milk", "in:Nowhere") == "There is no list Nowhere.\n")
        #expect(try await run("add", "Get milk", "due:soon") == "soon is no date: write it as 2026-03-01.\n")
        #expect(try await run("list", "add", "reminders") == "There is a list reminders already.\n")
        #expect(try await run("done", "7") == "There is no reminder 7.\n")
        #expect(try await run("delete", "7") == "There is no reminder 7.\n")
        #expect(try await run("edit", "seven", "x") == "Say the number of a reminder.\n")
        #expect(try await run("dance") == "What is dance? Enter help.\n")
        #expect(try await run("show") == "Nothing.\n")
        #expect(try await run("tags") == "")
        try Data("This is no database, but a long letter to a friend.".utf8).write(
            to: URL(filePath: folder.path("letter")))
        let letter = try await Command.run([
            Terminal.executable("Reminders").path, folder.path("letter"), "show",
        ])
        #expect(letter.status == 1)
        #expect(letter.output.hasPrefix("The reminders cannot be opened: SQLite error 26"))
    }

    @Test("a session at a terminal takes changes back, and makes them again")
    func session() async throws {
        var user = try await User(path)
        #expect(user.terminal.shown.hasPrefix("Reminders in \(path)"))
        #expect(try await user.enter("add Get milk #food") == "Added 1.\n")
        #expect(try await user.enter("add Get bread") == "Added 2.\n")
        #expect(try await user.enter("flag all") == "2 flagged.\n")
        // Flagged titles are bold, at a terminal.
        #expect(
            try await user.enter("show")
                == "1 [ ] * \u{1B}[1mGet milk\u{1B}[0m (Reminders) #food\n2 [ ] * \u{1B}[1mGet bread\u{1B}[0m (Reminders)\n"
        )
        #expect(try await user.enter("undo") == "Undone: flag all.\n")
        #expect(try await user.enter("undo") == "Undone: add Get bread.\n")
        #expect(try await user.enter("undo") == "Undone: add Get milk.\n")
        #expect(try await user.enter("tags") == "")
        #expect(try await user.enter("undo") == "There is nothing to undo.\n")
        #expect(try await user.enter("redo") == "Redone: add Get milk.\n")
        #expect(try await user.enter("show") == "1 [ ] Get milk (Reminders) #food\n")
        // An edit that changes nothing makes no group: the next undo is that of the group before.
        #expect(try await user.enter("edit 1 Get milk") == "")
        #expect(try await user.enter("add") == "A reminder needs a title.\n")
        #expect(try await user.enter("undo") == "Undone: add Get milk.\n")
        user.terminal.enter("quit")
        #expect(try await user.terminal.end() == 0)
    }

    @Test("bulk updates are stamped")
    func stamps() async throws {
        _ = try await run("add", "Get milk")
        let before = try await run("info", "1").split(separator: "\n")
        #expect(before.count == 3)
        #expect(before[1].dropFirst("created".count) == before[2].dropFirst("updated".count))
        try await Task.sleep(for: .milliseconds(5))
        _ = try await run("flag", "all")
        let after = try await run("info", "1").split(separator: "\n")
        #expect(after[1] == before[1])
        #expect(after[2] > before[2])
    }

    @Test("a list that is watched follows what another process writes, until Return is pressed")
    func watching() async throws {
        var user = try await User(path)
        user.terminal.enter("watch")
        try await user.terminal.wait(for: "— 0 —\nNothing.\n", after: &user.offset)
        _ = try await run("add", "Get milk", "#food")
        try await user.terminal.wait(for: "— 1 —\n1 [ ] Get milk (Reminders) #food\n", after: &user.offset)
        _ = try await run("done", "1")
        try await user.terminal.wait(for: "— 0 —\n", after: &user.offset)
        user.terminal.enter("")
        try await user.terminal.wait(for: "> ", after: &user.offset)
        _ = try await run("add", "Get bread")
        #expect(try await user.enter("show") == "2 [ ] Get bread (Reminders)\n")
        user.terminal.enter("quit")
        #expect(try await user.terminal.end() == 0)
    }

    @Test("a file of the first version gets what later versions have, and its reminders have no dates")
    func migrations() async throws {
        let dbQueue = try DatabaseQueue(path: path)
        try await dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE remindersList (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL UNIQUE COLLATE NOCASE);
                    INSERT INTO remindersList (title) VALUES ('Reminders');
                    CREATE TABLE reminder (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        remindersListID INTEGER NOT NULL REFERENCES remindersList(id) ON DELETE CASCADE,
                        title TEXT NOT NULL CHECK (title <> ''), dueDate DATETIME, priority INTEGER,
                        isCompleted BOOLEAN NOT NULL DEFAULT 0, isFlagged BOOLEAN NOT NULL DEFAULT 0);
                    CREATE INDEX index_reminder_on_remindersListID ON reminder (remindersListID);
                    INSERT INTO reminder (remindersListID, title) VALUES (1, 'Get milk');
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('Create tables');
                    """)
        }
        try await dbQueue.close()
        #expect(try await run("info", "1") == "1 [ ] Get milk (Reminders)\ncreated long ago\nupdated never\n")
        #expect(try await run("add", "Get bread", "#food") == "Added 2.\n")
    }

    @Test("the sample has some hundreds of lines, and each feature that it shows")
    func size() throws {
        let sources = Repository.root.appending(path: "Playgrounds/Reminders")
        let text = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
            .map { try String(contentsOf: sources.appending(path: $0), encoding: .utf8) }.joined()
        #expect((200...600).contains(text.split(separator: "\n").count))
        for word in [
            "registerMigration", "hasMany", "through:", "databaseStamps", "updateAll", "DatabaseUndo",
            "values(of:",
            "observingExternalChanges", "constraint?.kind", "validate", "after(.delete",
        ] {
            #expect(text.contains(word), "\(word)")
        }
    }
}
