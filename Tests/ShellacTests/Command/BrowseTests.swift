// `shellac browse` as a user sees it: the screens of the built command in a terminal.

import Foundation
import TestSupport
import Testing

@testable import Shellac

/// `shellac browse`, at a terminal.
@Suite("shellac browse shows tables and rows on the whole screen")
struct BrowseTests {
    private typealias Key = TerminalKey

    private func write(_ sql: String, in folder: TemporaryFolder) async throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // Without a log, a commit waits for readers.
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: folder.path("game.sqlite"), configuration: configuration)
        try await queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try await queue.close()
    }

    @Test("the first screen has the tables, and the rows of the first one", arguments: [(80, 24), (200, 60)])
    func firstScreen(_ columns: Int, _ lines: Int) async throws {
        let user = try await BrowserUser(columns: columns, lines: lines, in: gameFolder())
        let screen = try await user.wait(for: "2 rows")
        let texts = screen.texts
        #expect(
            texts.prefix(6) == [
                "game.sqlite  team", "  tables │   id  name   founded", "> team   │ >  1  Reds   1901-01-01",
                "  player │    2  Blues  NULL", "  best   │", "         │",
            ])
        #expect(texts[lines - 3] == "         │")
        #expect(texts[lines - 2] == String(repeating: " ", count: columns - 6) + "2 rows")
        #expect(texts[lines - 1].hasPrefix("Enter open  Backspace back  r relations  s sort  / search"))
        #expect(texts[lines - 1].hasSuffix("? keys  q quit"))
        #expect(screen.selection == "> team")
        #expect(!screen.isCursorVisible && screen.unknownCodes == [])
        // The number of rows ends in the last column, which is not erased again.
        user.press("?")
        try await user.wait(for: "Any key closes this page.")
        user.press("x")
        try await user.wait { $0.texts == texts }
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("Enter follows a foreign key, and Backspace or Left comes back")
    func foreignKey() async throws {
        let user = try await BrowserUser(in: gameFolder())
        user.press(Key.down)
        try await user.waitForTitle("player")
        user.press(Key.enter, Key.right, Key.down)
        let before = try await user.wait(for: "teamId: 2 → team")
        #expect(before.selection == "2")
        user.press(Key.enter)
        try await user.waitForTitle("team")
        try await user.wait { $0.texts[3] == "  player │ >  2  Blues  NULL" }
        user.press(Key.backspace)
        try await user.wait { $0.texts == before.texts }
        user.press(Key.enter)
        try await user.waitForTitle("team")
        user.press(Key.left)
        try await user.wait { $0.texts == before.texts }
        // This one refers to no row.
        user.press(Key.down, Key.enter)
        try await user.wait(for: "player.teamId is 7, and team has no such row")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("a search shows the rows with a text, and ends at the selected one")
    func search() async throws {
        let user = try await BrowserUser(
            in: gameFolder("INSERT INTO player (name) VALUES ('100%'), ('ar_');"))
        user.press(Key.down)
        try await user.waitForTitle("player")
        user.press(Key.tab, "/", "LiNes", Key.enter)
        let found = try await user.waitForTitle("player, with \"LiNes\"")
        #expect(found.texts[2].contains("two\\nlines") && found.texts[3] == "> player │")
        user.press(Key.escape)
        try await user.waitForTitle("player")
        try await user.wait { $0.texts.contains { $0.contains(">  3") } }
        user.press("/", "%", Key.enter)
        try await user.wait { $0.texts[2].contains("100%") && $0.texts[3] == "> player │" }
        user.press("/", Key.backspace, "nothing", Key.enter)
        try await user.wait(for: "(no rows)")
        user.press("/", "x", Key.escape, Key.escape)
        try await user.waitForTitle("player")
        // In the list of tables, a search finds a table.
        user.press(Key.tab, "/", "BES", Key.enter)
        try await user.waitForTitle("best")
        user.press("/", "nowhere", Key.enter)
        try await user.wait(for: "no table has nowhere in its name")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("s sorts by a column: ascending, descending, not at all")
    func sort() async throws {
        let user = try await BrowserUser(in: gameFolder())
        user.press(Key.down, Key.enter, Key.right, Key.right, Key.right, "s")
        try await user.waitForTitle("player, by score")
        func first(_ screen: ScreenGrid) -> [String] {
            ["Arthur", "Bärbel 😀", "two\\nlines"].sorted { a, b in
                func line(_ name: String) -> Int { screen.texts.firstIndex { $0.contains(name) } ?? 0 }
                return line(a) < line(b)
            }
        }
        try await user.wait {
            $0.texts[1].contains("score ↑") && first($0) == ["Bärbel 😀", "Arthur", "two\\nlines"]
        }
        user.press("s")
        try await user.waitForTitle("player, by score descending")
        try await user.wait {
            $0.texts[1].contains("score ↓") && first($0) == ["two\\nlines", "Arthur", "Bärbel 😀"]
        }
        user.press("s")
        try await user.waitForTitle("player")
        try await user.wait { first($0) == ["Arthur", "Bärbel 😀", "two\\nlines"] }
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("the relations of a record are counted by an index alone, and opened")
    func relations() async throws {
        let user = try await BrowserUser(
            in: gameFolder(
                """
                CREATE INDEX playerByTeam ON player(teamId);
                CREATE TABLE cup (id INTEGER PRIMARY KEY, winner TEXT REFERENCES team(name));
                INSERT INTO cup (winner) VALUES ('Reds'), ('Blues'), ('Blues');
                """))
        user.press(Key.enter, Key.down, "r")
        let record = try await user.waitForTitle("team id = 2")
        #expect(
            record.texts[1...8] == [
                "  tables │   record of team", "> team   │   id       2", "  player │   name     Blues",
                "  cup    │   founded  NULL", "  best   │", "         │   rows that refer to this record",
                "         │ > player.teamId: 1 row",
                "         │   cup.winner: not counted, as there is no index",
            ])
        user.press(Key.down, Key.enter)
        let cups = try await user.waitForTitle("cup where winner = 'Blues'")
        #expect(
            cups.texts[2...4].map { $0.split(separator: "│").last ?? "" } == [
                " >  2  Blues", "    3  Blues", "> cup    ",
            ])
        user.press(Key.right, Key.enter)
        try await user.waitForTitle("team")
        user.press(Key.backspace, Key.backspace, Key.backspace)
        try await user.wait(for: "id: 2")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("the screen follows another connection that writes", arguments: [JournalMode.delete, .wal])
    func live(_ mode: JournalMode) async throws {
        let folder = try gameFolder(journalMode: mode)
        let user = try await BrowserUser(in: folder)
        user.press(Key.enter, Key.down)
        try await user.wait(for: "id: 2")
        try await write(
            "UPDATE team SET name = 'Greys' WHERE id = 2; INSERT INTO team VALUES (0, 'New', NULL)",
            in: folder)
        // The selection stays at its row, which has moved.
        let screen = try await user.wait(for: "Greys")
        #expect(screen.texts[4] == "  best   │ >  2  Greys  NULL", "\(screen.texts)")
        try await write(
            "CREATE TABLE fresh (a, b); DELETE FROM team; ALTER TABLE team ADD COLUMN x", in: folder)
        try await user.wait(for: "(no rows)")
        try await user.wait {
            $0.texts[1] == "  tables │   id  name  founded  x" && $0.texts[4] == "  fresh  │"
        }
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("a file may be deleted, and replaced by something else and by another database")
    func replaced() async throws {
        let folder = try gameFolder()
        let user = try await BrowserUser(in: folder)
        user.press(Key.enter)
        try FileManager.default.removeItem(atPath: folder.path("game.sqlite"))
        let gone = try await user.wait(for: "there is no file game.sqlite")
        #expect(gone.texts[2] == "> team   │ >  1  Reds   1901-01-01")
        _ = try folder.write("This is no database, but a long letter to a friend.".utf8, to: "game.sqlite")
        try await user.wait(for: "game.sqlite is not an SQLite database")
        let other = try TemporaryFolder()
        try await write("CREATE TABLE other (x, y); INSERT INTO other VALUES (1, 'new')", in: other)
        let isReplaced = rename(other.path("game.sqlite"), folder.path("game.sqlite")) == 0
        #expect(isReplaced)
        let new = try await user.waitForTitle("other")
        #expect(new.texts[2] == "> other  │ > 1  new")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("the screen has the size of the window, down to a few columns")
    func resize() async throws {
        let user = try await BrowserUser(in: gameFolder())
        try await user.wait(for: "2 rows")
        user.resize(columns: 100, lines: 30)
        try await user.wait { $0.texts[28].hasSuffix("2 rows") && $0.texts[28].count == 100 }
        // On a narrow screen, the tables and the rows are shown one at a time.
        user.resize(columns: 20, lines: 8)
        let tables = try await user.wait { $0.texts[7] == "? keys  q quit" }
        #expect(tables.texts[0...4] == ["game.sqlite  team", "  tables", "> team", "  player", "  best"])
        user.press(Key.enter)
        let rows = try await user.wait(for: "id: 1")
        #expect(rows.texts[1...3] == ["  id  name   founded", ">  1  Reds   1901-0…", "   2  Blues  NULL"])
        user.press(Key.right, Key.right)
        try await user.wait(for: "founded: 1901-01-01")
        user.resize(columns: 3, lines: 1)
        try await user.wait { $0.texts[0].hasPrefix(">") }
        user.resize(columns: 80, lines: 24)
        let last = try await user.wait(for: "2 rows")
        #expect(last.texts[2] == "> team   │ >  1  Reds   1901-01-01")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("a terminal that reports no size has 80 columns and 24 lines")
    func noSize() async throws {
        let user = try await BrowserUser(columns: 0, lines: 0, in: gameFolder(), fails: true)
        // (The bytes are applied to a screen of the size that is expected.)
        func screen() -> ScreenGrid {
            var grid = ScreenGrid(columns: 80, lines: 24)
            grid.apply(user.output)
            return grid
        }
        try await user.wait { _ in screen().texts[22].hasSuffix("2 rows") }
        #expect(screen().texts[22].count == 80)
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test(
        "the end leaves the screen and the settings of the terminal as they were",
        arguments: [
            ("q", nil, 0), ("\u{3}", nil, 130), ("", "TERM", 143), ("", "HUP", 129), ("", "INT", 130),
        ])
    func end(_ key: String, _ signal: String?, _ status: Int) async throws {
        let folder = try gameFolder()
        let user = try await BrowserUser(in: folder)
        try await user.wait(for: "2 rows")
        #expect(!user.screen.wraps && !user.screen.isCursorVisible && user.screen.isAlternate)
        if let signal {
            _ = try await Command.run(["kill", "-\(signal)", user.process()])
        } else {
            user.press(key)
        }
        #expect(try await user.end() == status)
        let output = user.output
        #expect(output.hasSuffix("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049lover\n"), "\(output.suffix(80))")
        let screen = user.screen
        #expect(screen.wraps && screen.isCursorVisible && !screen.isAlternate && screen.texts[0] == "over")
        try #expect(user.contents("after") == user.contents("before"))
        try #expect(
            folder.fileNames() == ["after", "before", "game.sqlite", "pid", "status"])
    }

    @Test("a private copy is gone after a signal, and the screen is as it was")
    func copies() async throws {
        let running = try gameFolder(journalMode: .wal)
        let queue = try DatabaseQueue(path: running.path("game.sqlite"))
        try await queue.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('of the log')") }
        let folder = try TemporaryFolder()
        for name in ["game.sqlite", "game.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: running.path(name), toPath: folder.path(name))
        }
        let place = try TemporaryFolder()
        let user = try await BrowserUser(environment: "TERM=xterm TMPDIR=\(place.path)", in: folder)
        try await user.wait(for: "of the log")
        try #expect(place.fileNames().count == 1)
        _ = try await Command.run(["kill", "-TERM", user.process()])
        #expect(try await user.end() == 143)
        #expect(!user.screen.isAlternate)
        try #expect(place.fileNames() == [])
        withExtendedLifetime(queue) {}
    }

    @Test(
        "control characters and wide ones are shown safely, and without colours only the selection is marked")
    func values() async throws {
        let user = try await BrowserUser(
            environment: "TERM=xterm NO_COLOR=1",
            in: gameFolder(
                """
                CREATE TABLE "odd \(Key.escape)[2J" ("漢字" TEXT, b);
                INSERT INTO "odd \(Key.escape)[2J" VALUES ('漢字かな', char(27) || '[31mred' || char(7)), ('é', x'00FF');
                """))
        user.press(Key.down, Key.down, Key.enter, Key.right)
        let screen = try await user.wait(for: "b: \\u{1B}[31mred\\u{7}")
        #expect(screen.texts[0] == "game.sqlite  odd \\u{1B}[2J")
        #expect(
            screen.texts[2...3].map { String($0.drop { $0 != "│" }) } == [
                "│ > 漢字かな  \\u{1B}[31mred\\u{7}", "│   é         x'00FF'",
            ])
        #expect(screen.styles.isSubset(of: [0, 7]) && screen.unknownCodes == [])
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("views have rows, and a view that cannot be read has a reason")
    func views() async throws {
        let user = try await BrowserUser(
            in: gameFolder("CREATE VIEW broken AS SELECT * FROM nowhere;"))
        user.press(Key.down, Key.down)
        try await user.waitForTitle("best")
        user.press(Key.enter, Key.end)
        try await user.wait(for: "these rows have no key by which the last one could be found")
        user.press(Key.enter)
        try await user.wait(for: "record of best")
        user.press(Key.backspace, Key.tab, Key.down)
        try await user.wait(for: "no such table: main.nowhere")
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("a large table is read page by page, from either end")
    func largeTable() async throws {
        let user = try await BrowserUser(
            in: gameFolder(
                """
                CREATE TABLE large (id INTEGER PRIMARY KEY, n INTEGER, name TEXT); CREATE INDEX largeByN ON large(n);
                WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000)
                INSERT INTO large SELECT i, i % 10, 'row ' || i FROM c;
                """))
        user.press(Key.down, Key.down, Key.enter)
        try await user.wait(for: "more than 1000 rows")
        user.press(Key.end)
        try await user.wait(for: "id: 100000")
        user.press(Key.pageUp, Key.up)
        try await user.wait(for: "id: 99979")
        user.press(Key.home, Key.pageDown, Key.pageDown)
        try await user.wait(for: "id: 41")
        user.press(Key.right, Key.right, "s")
        try await user.wait(for: "no index begins with name, so each page reads all rows")
        user.press(Key.left, "s")
        try await user.waitForTitle("large, by n")
        user.press(Key.end)
        try await user.wait { $0.texts[21].contains("99999") && $0.selection == "9" }
        user.press("q")
        #expect(try await user.end() == 0)
    }

    @Test("without a terminal, a file or a verb that is understood, there is a sentence and a code")
    func errors() async throws {
        let folder = try gameFolder()
        let piped = try await ShellacCommand.run("browse", "game.sqlite", in: folder)
        #expect(piped.did(2, "shellac: browse needs a terminal: in a pipe, use show\n"))
        let input = try await ShellacCommand.terminal("browse game.sqlite < /dev/null", in: folder)
        #expect(input.did(2, "shellac: browse needs a terminal: in a pipe, use show\n"))
        let dumb = try await ShellacCommand.terminal(
            "browse game.sqlite", environment: "TERM=dumb", in: folder)
        #expect(dumb.did(2, "shellac: this terminal shows lines alone (TERM is \"dumb\"): use show\n"))
        let missing = try await ShellacCommand.terminal("browse nothing.sqlite", in: folder)
        #expect(missing.did(3, "shellac: there is no file nothing.sqlite\n"))
        let words = try await ShellacCommand.terminal("browse game.sqlite team", in: folder)
        #expect(words.did(2, "shellac: team is one word too many: see shellac browse --help\n"))
    }
}
