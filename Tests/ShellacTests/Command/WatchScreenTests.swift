import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("shellac watch on the screen of a terminal")
struct WatchScreenTests {
    private typealias Key = TerminalKey

    private func change(_ folder: TemporaryFolder, _ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // (The screen reads at the same time.)
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: folder.path("game.sqlite"), configuration: configuration)
        try queue.write { db in try db.execute(sql: sql) }
        try queue.close()
    }

    @Test("draws the rows, and marks the ones that another program has changed last")
    func redraws() async throws {
        let folder = try gameFolder()
        let user = try await BrowserUser(
            "game.sqlite team --every 0.02", verb: "watch", lines: 8, in: folder)
        let first = try await user.wait { $0.texts[0] == "team  2 rows" }
        #expect(
            first.texts == [
                "team  2 rows", "  id  name   founded", "   1  Reds   1901-01-01", "   2  Blues  NULL", "",
                "",
                "", "q quit",
            ])
        try change(
            folder, "INSERT INTO team VALUES (3, 'Greens', NULL); UPDATE team SET name = 'Reds!' WHERE id = 1"
        )
        let second = try await user.wait { $0.texts[0] == "team  3 rows  1 inserted, 1 updated" }
        #expect(
            second.texts[1...5] == [
                "  id  name    founded", "~  1  Reds!   1901-01-01", "   2  Blues   NULL",
                "+  3  Greens  NULL", "",
            ])
        #expect(second.styles.isSuperset(of: [32, 33]))
        try change(folder, "DELETE FROM team WHERE id = 2")
        let third = try await user.wait { $0.texts[0] == "team  2 rows  1 deleted" }
        #expect(
            third.texts[2...4] == ["   1  Reds!   1901-01-01", "   3  Greens  NULL", "-  2  Blues   NULL"])
        #expect(third.styles.contains(31))
        user.press("q")
        #expect(try await user.end() == 0)
        #expect(!user.screen.isAlternate)
        try #expect(user.contents("after") == user.contents("before"))
    }

    @Test("scrolls, follows the size of the terminal, and draws control characters as text")
    func scrolls() async throws {
        let folder = try gameFolder(
            """
            CREATE TABLE many (id INTEGER PRIMARY KEY, text TEXT);
            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                INSERT INTO many SELECT i, char(27) || '[31m' || i FROM n;
            """)
        let user = try await BrowserUser(
            "game.sqlite many --every 0.02", verb: "watch", lines: 8, environment: "TERM=xterm NO_COLOR=1",
            in: folder)
        let first = try await user.wait { $0.texts[0] == "many  50 rows" }
        #expect(first.texts[2] == "   1  \\u{1B}[31m1" && first.texts[7] == "↑ ↓ scroll  q quit")
        #expect(!first.styles.contains(31))
        user.press(Key.down, Key.pageDown)
        try await user.wait { $0.texts[2] == "   7  \\u{1B}[31m7" }
        user.press(Key.end)
        try await user.wait { $0.texts[6] == "  50  \\u{1B}[31m50" }
        user.press(Key.home)
        try await user.wait { $0.texts[2] == first.texts[2] }
        user.resize(columns: 10, lines: 5)
        try await user.wait {
            $0.texts.count == 5 && $0.texts[4] == "↑ ↓ scrol…" && $0.texts[0] == "many  50 …"
        }
        user.resize(columns: 1, lines: 1)
        try await user.wait { $0.texts == ["…"] }
        user.press(Key.escape)
        #expect(try await user.end() == 0)
    }

    @Test("ends with a sentence if the table is gone, and leaves the screen as it was")
    func tableIsGone() async throws {
        let folder = try gameFolder()
        let user = try await BrowserUser("game.sqlite team --every 0.02", verb: "watch", in: folder)
        try await user.wait { $0.texts[0] == "team  2 rows" }
        try change(folder, "DROP TABLE team")
        #expect(try await user.end() != 0)
        #expect(!user.screen.isAlternate && user.output.contains("team"))
        try #expect(user.contents("after") == user.contents("before"))
    }

    @Test("writes lines with --as text, with --changes, and to a terminal without codes")
    func lines() async throws {
        let folder = try gameFolder()
        for (options, environment) in [
            ("--changes 0", "TERM=xterm"), ("--as text --changes 0", "TERM=xterm"),
            ("--changes 0", "TERM=dumb"),
        ] {
            let run = try await ShellacCommand.terminal(
                "watch game.sqlite team \(options)", environment: environment, in: folder)
            #expect(run.status == 0 && run.output.contains("id: 1, name: 'Reds'"), "\(run.output)")
        }
    }
}
