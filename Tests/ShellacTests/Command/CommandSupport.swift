import Foundation
import TestSupport

@testable import Shellac

/// The command `shellac`, run in a process of its own.
enum ShellacCommand {
    static func executable() throws -> String {
        try Repository.modules().deletingLastPathComponent().appending(path: "shellac").path
    }

    /// Runs it with its output in a file, which is as a pipe is: plain text.
    static func run(_ words: String..., in folder: TemporaryFolder? = nil) async throws -> Command {
        try await Command.run([executable()] + words, in: folder?.url)
    }

    /// Runs a line of the shell, in which `shellac` is the command.
    static func shell(_ line: String, in folder: TemporaryFolder) async throws -> Command {
        try await Command.run(
            [
                "bash", "-c",
                "export SHELLAC=\"\(executable())\"; shellac() { \"$SHELLAC\" \"$@\"; }; \(line)",
            ],
            in: folder.url)
    }

    /// Runs it in a terminal of its own, of some columns: 0 is a terminal that says no width.
    static func terminal(
        _ line: String, columns: Int = 80, environment: String = "", in folder: TemporaryFolder
    ) async throws -> TerminalRun {
        let inner = "stty cols \(columns); \(environment) exec \"\(try executable())\" \(line)"
        let command = try await Command.run(
            ["env", "-u", "NO_COLOR", "TERM=xterm", "script", "-qec", inner, "/dev/null"], in: folder.url)
        return TerminalRun(status: command.status, output: command.output.replacing("\r\n", with: "\n"))
    }
}

/// A folder with a database `game.sqlite`, which has odd names, foreign keys and values of each
/// kind.
func gameFolder(_ more: String = "", journalMode: JournalMode = .default) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.journalMode = journalMode
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: folder.path("game.sqlite"), configuration: configuration)
    try queue.writeWithoutTransaction { db in try db.execute(sql: gameSQL + more) }
    try queue.close()
    return folder
}

private let gameSQL = #"""
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE);
    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id), name TEXT NOT NULL DEFAULT 'O''Brien',
        score INTEGER NOT NULL DEFAULT 0, photo BLOB);
    CREATE INDEX playerByName ON player(name);
    CREATE INDEX playerByNameAndScore ON player(name, score);
    CREATE VIEW best AS SELECT name FROM player WHERE score > 100;
    INSERT INTO team VALUES (1, 'Reds', '1901-01-01'), (2, 'Blues', NULL);
    INSERT INTO player VALUES (1, 1, 'Arthur', 150, x'00FF'), (2, 2, 'Bärbel 😀', 90, NULL),
        (3, 7, 'two' || char(10) || 'lines', 1000, zeroblob(100));

    """#

/// The output that a program has written to a terminal.
struct TerminalRun {
    let status: Int32
    let output: String

    func did(_ status: Int32, _ text: String) -> Bool { self.status == status && output == text }
}

extension Command {
    /// Whether it ended with a code, having written a text.
    func did(_ status: Int32, _ text: String) -> Bool { self.status == status && output == text }
}
