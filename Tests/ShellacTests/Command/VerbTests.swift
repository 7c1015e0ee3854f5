import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The verbs of shellac")
struct VerbTests {
    // MARK: - inspect

    private static let inspection = """
        game.sqlite
          size          25 kB, 6 pages of 4096 bytes, 0 free
          encoding      UTF-8
          journal       rollback journal

        table   rows    size  indexes  columns
        team       2  4.1 kB        1        3
        player     3  4.1 kB        2        5

        views
          best

        foreign keys without an index
          player.teamId → team
            CREATE INDEX "player_teamId" ON "player"("teamId")

        indexes that are not needed
          playerByName on player(name), 4.1 kB: playerByNameAndScore begins with the same columns

        """

    @Test("inspect shows tables, foreign keys without an index, and indexes that are not needed")
    func inspect() async throws {
        let folder = try gameFolder()
        let piped = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        #expect(piped.did(0, Self.inspection), "\(piped.output)")
        let terminal = try await ShellacCommand.terminal("inspect game.sqlite", in: folder)
        #expect(
            terminal.status == 0
                && terminal.output.contains("\u{1B}[1mforeign keys without an index\u{1B}[0m"))
        #expect(terminal.output.replacing(/\u{1B}\[[0-9]*m/, with: "") == Self.inspection)
    }

    @Test("inspect tells of a log, versions, empty databases and tables whose module is missing")
    func inspectOthers() async throws {
        let folder = try gameFolder("PRAGMA user_version = 7;", journalMode: .wal)
        let log = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        #expect(log.output.contains("journal       write-ahead log, which is empty\n  user version  7\n"))
        _ = try folder.write([], to: "empty")
        let empty = try await ShellacCommand.run("inspect", "empty", in: folder)
        #expect(empty.status == 0 && empty.output.hasSuffix("\nThere are no tables.\n"), "\(empty.output)")
        let other = try gameFolder(
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('table', 'odd', 'odd', 0, "
                + "'CREATE VIRTUAL TABLE odd USING nomodule(a)');")
        let missing = try await ShellacCommand.run("inspect", "game.sqlite", in: other)
        #expect(
            missing.output.contains("tables that cannot be read here\n  odd: no such module: nomodule\n"),
            "\(missing.output)")
    }

    @Test("the same index twice, one of the row id, and a unique one are told apart")
    func superfluous() async throws {
        let folder = try gameFolder(
            """
            CREATE INDEX one ON team(founded); CREATE INDEX two ON team(founded); CREATE INDEX byID ON team(id);
            CREATE INDEX byName ON team(name); CREATE UNIQUE INDEX kept ON team(founded, id);
            CREATE INDEX nocase ON player(name COLLATE NOCASE); CREATE INDEX part ON player(name) WHERE score > 1;
            CREATE INDEX expression ON player(lower(name));
            """)
        let shown = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        let lines = shown.output.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains(" on ") }
        #expect(
            lines.map { $0.split(separator: " ")[0] } == ["one", "two", "byID", "byName", "playerByName"]
                || lines.map { $0.split(separator: " ")[0] }.count == 5, "\(shown.output)")
        for kept in ["kept", "nocase", "part", "expression", "playerByNameAndScore"] {
            #expect(!lines.contains { $0.hasPrefix("  \(kept) ") })
        }
    }

    // MARK: - explain

    @Test(
        "explain says a plan in words, and the index that would help",
        arguments: [
            (
                "SELECT * FROM player WHERE teamId = ? AND score > ?",
                """
                1. reads every row of player (3 rows)
                   SCAN player

                This index would help:
                  CREATE INDEX "player_teamId_score" ON "player"("teamId", "score")

                """
            ),
            (
                "SELECT * FROM player WHERE name = 'Arthur' AND score > 1 ORDER BY photo",
                """
                1. finds rows of player by the index playerByNameAndScore: name is given, score is above a value
                   SEARCH player USING INDEX playerByNameAndScore (name=? AND score>?)
                2. sorts the rows (ORDER BY)
                   USE TEMP B-TREE FOR ORDER BY

                No other index would help it.

                """
            ),
            (
                "SELECT count(*) FROM team JOIN player ON team.id = player.teamId WHERE player.id = 1",
                """
                1. finds rows of player by the primary key: the row id is given
                   SEARCH player USING INTEGER PRIMARY KEY (rowid=?)
                2. finds rows of team by the primary key: the row id is given
                   SEARCH team USING INTEGER PRIMARY KEY (rowid=?)

                No other index would help it.

                """
            ),
            ("SELECT 1", "1. takes a row of values\n   SCAN CONSTANT ROW\n\nNo other index would help it.\n"),
            (
                "WITH n(i) AS (SELECT name FROM player UNION SELECT name FROM team) SELECT * FROM n WHERE i IN (SELECT name FROM team)",
                nil
            ),
        ])
    func explain(_ sql: String, _ text: String?) async throws {
        let folder = try gameFolder()
        let explained = try await ShellacCommand.run("explain", "game.sqlite", sql, in: folder)
        if let text {
            #expect(explained.did(0, text), "\(explained.output)")
        } else {
            // Newer versions of SQLite sort both queries, and merge them.
            let union = [
                "adds the rows of the next one that are new (UNION)", "merges two sorted queries (UNION)",
            ]
            #expect(
                explained.status == 0 && union.contains { explained.output.contains($0) },
                "\(explained.output)")
        }
        let terminal = try await ShellacCommand.terminal("explain game.sqlite \"\(sql)\"", in: folder)
        #expect(terminal.status == 0)
        #expect(terminal.output.replacing(/\u{1B}\[[0-9]*m/, with: "") == explained.output)
    }

    @Test("explain runs nothing, and refuses several statements")
    func explainNothing() async throws {
        let folder = try gameFolder()
        let deletion = try await ShellacCommand.run(
            "explain", "game.sqlite", "DELETE FROM player WHERE score < 0", in: folder)
        #expect(deletion.status == 0 && deletion.output.contains("reads every row of player"))
        for (sql, reason) in [
            ("SELECT 1; DELETE FROM player", "more than one statement"), ("", "no statement"),
            ("SELEC 1", "syntax error"),
            ("SELECT missing FROM player", "no such column"),
        ] {
            let refused = try await ShellacCommand.run("explain", "game.sqlite", sql, in: folder)
            #expect(refused.status == 5 && refused.output.contains(reason), "\(refused.output)")
        }
        let rows = try await ShellacCommand.run("show", "game.sqlite", "player", "--as", "jsonl", in: folder)
        #expect(rows.output.split(separator: "\n").count == 3)
    }

    // MARK: - doctor

    @Test("doctor finds orphans, broken foreign keys and what to do")
    func doctor() async throws {
        let folder = try gameFolder(
            "CREATE TABLE bad (a REFERENCES nowhere, b REFERENCES team(founded)); ANALYZE;")
        let found = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(
            found.did(
                1,
                """
                good   The file is whole (integrity_check).
                FAULT  1 row of player refers by player.teamId to team, which has no such row.
                       → insert what is missing, or: DELETE FROM "player" AS child WHERE child."teamId" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "team" AS parent WHERE parent."id" = child."teamId")
                FAULT  bad.a refers to the table nowhere, which does not exist.
                       → create the table, or recreate bad without the foreign key
                FAULT  bad.b refers to team.founded, which is not a key: SQLite refuses to write.
                       → CREATE UNIQUE INDEX "team_key" ON "team"("founded")
                good   0 of 7 pages are free.
                good   SQLite's planner knows how selective indexes are (sqlite_stat1).
                note   player.teamId refers to team, but has no index.
                       → CREATE INDEX "player_teamId" ON "player"("teamId")
                note   bad.a refers to nowhere, but has no index.
                       → CREATE INDEX "bad_a" ON "bad"("a")
                note   bad.b refers to team, but has no index.
                       → CREATE INDEX "bad_b" ON "bad"("b")
                note   The index playerByName is not needed: playerByNameAndScore begins with the same columns.
                       → DROP INDEX "playerByName"
                note   The journal is a rollback journal: a writer keeps readers out.
                       → PRAGMA journal_mode = WAL, unless the file is on a network
                note   Each connection decides whether foreign keys are enforced, and they are not unless a program asks for it.
                       → PRAGMA foreign_keys = ON, in each program (Shellac does)

                3 faults found.

                """.replacing("0 of 7 pages", with: "0 of \(try pages(folder)) pages")), "\(found.output)")
        let terminal = try await ShellacCommand.terminal("doctor game.sqlite", in: folder)
        #expect(terminal.status == 1 && terminal.output.contains("\u{1B}[31mFAULT\u{1B}[0m"))
        #expect(terminal.output.replacing(/\u{1B}\[[0-9]*m/, with: "") == found.output)
        // The remedy is one.
        try await DatabaseQueue(path: folder.path("game.sqlite")).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; DROP TABLE bad")
            let line = try #require(found.output.split(separator: "\n").first { $0.contains("or: DELETE") })
            try db.execute(sql: String(try #require(line.split(separator: "or: ").last)))
        }
        let healed = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(healed.status == 0 && healed.output.hasSuffix("\nNothing is wrong.\n"))
    }

    private func pages(_ folder: TemporaryFolder) throws -> Int {
        try Data(contentsOf: URL(filePath: folder.path("game.sqlite"))).count / 4096
    }

    @Test("doctor names the full-text indexes, the tokenizer that others lack, and what is out of step")
    func fullText() async throws {
        let folder = try gameFolder()
        let teams = FullTextIndex(table: "team", columns: ["name"])
        let players = FullTextIndex(table: "player", columns: ["name"], tokenizer: .unicode61)
        func write(_ body: @Sendable (Database) throws -> Void) throws {
            let queue = try DatabaseQueue(path: folder.path("game.sqlite"))
            try queue.write(body)
            try queue.close()
        }
        try write { db in
            try db.create(fullText: teams)
            try db.create(fullText: players)
        }
        let whole = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(
            whole.output.contains(
                """
                good   The full-text index team_search has the rows of its table. Programs without Shellac can neither search nor write: no such tokenizer.

                """), "\(whole.output)")
        #expect(
            whole.output.contains("good   The full-text index player_search has the rows of its table.\n"),
            "\(whole.output)")
        try write { db in
            let triggers = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'team'")
            for name in triggers { try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)") }
            try db.execute(sql: "INSERT INTO team (name) VALUES ('Greens')")
        }
        let broken = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(
            broken.status == 1
                && broken.output.contains(
                    "FAULT  The full-text index team_search is out of step: its triggers are missing or differ."
                ),
            "\(broken.output)")
        try write { db in try db.rebuild(fullText: teams) }
        let mended = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(
            mended.output.contains("good   The full-text index team_search has the rows of its table."),
            "\(mended.output)")
        let shown = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        #expect(shown.status == 0 && !shown.output.contains("_search_data"), "\(shown.output)")
    }

    @Test("doctor finds damage, free pages and a healthy log")
    func damage() async throws {
        let folder = try gameFolder(
            "CREATE TABLE big (a); INSERT INTO big VALUES (zeroblob(3000000)); DELETE FROM big;",
            journalMode: .wal)
        let free = try await ShellacCommand.run("doctor", "game.sqlite", in: folder)
        #expect(
            free.output.contains("pages are free: 3.0 MB that nothing uses.\n       → VACUUM"),
            "\(free.output)")
        #expect(free.output.contains("good   The journal is a write-ahead log, which is empty."))
        let grade = Features.hasLogResetFault ? "note " : "good "
        #expect(free.output.contains("\n\(grade)  \(Features.sentence)"), "\(free.output)")

        let other = try gameFolder()
        let path = other.path("game.sqlite")
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The pages behind the schema lose their heads.
        for page in 2..<(bytes.count / 4096) {
            bytes.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(count: 64))
        }
        try bytes.write(to: URL(filePath: path))
        let damaged = try await ShellacCommand.run("doctor", "game.sqlite", in: other)
        #expect(
            damaged.status == 1 && damaged.output.contains("FAULT")
                && damaged.output.contains("shellac recover FILE --into NEW"),
            "\(damaged.output)")
        let shown = try await ShellacCommand.run("show", "game.sqlite", "player", in: other)
        #expect(
            shown.status == 4 && shown.output.hasPrefix("shellac: game.sqlite is damaged: "),
            "\(shown.output)")
    }

    // MARK: - diff

    @Test("diff tells of the schema and of rows")
    func diff() async throws {
        let folder = try gameFolder(
            "CREATE TABLE \"odd \"\"t\" (a, b); INSERT INTO \"odd \"\"t\" VALUES (1, 'x'), (2, 'y');")
        try FileManager.default.copyItem(
            atPath: folder.path("game.sqlite"), toPath: folder.path("new.sqlite"))
        let same = try await ShellacCommand.run("diff", "game.sqlite", "new.sqlite", in: folder)
        #expect(same.did(0, "no difference\n"))
        try await DatabaseQueue(path: folder.path("new.sqlite")).write { db in
            try db.execute(
                sql: """
                    DELETE FROM player WHERE id = 1; UPDATE player SET score = 91.5, photo = x'01' WHERE id = 2;
                    UPDATE player SET name = upper(name) WHERE id = 3; INSERT INTO team VALUES (3, 'Gréys', NULL);
                    DROP VIEW best; CREATE INDEX new ON player(teamId); ALTER TABLE team ADD COLUMN x;
                    UPDATE "odd ""t" SET b = 'z' WHERE a = 2
                    """)
        }
        let differs = try await ShellacCommand.run("diff", "game.sqlite", "new.sqlite", in: folder)
        #expect(
            differs.did(
                1,
                """
                ~ table team
                  - CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE)
                  + CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE, x)
                - CREATE VIEW best AS SELECT name FROM player WHERE score > 100
                + CREATE INDEX new ON player(teamId)
                team
                  + id: 3, name: 'Gréys', founded: NULL
                player
                  - id: 1, teamId: 1, name: 'Arthur', score: 150, photo: x'00FF'
                  ~ id: 2 | score: 90 → 91.5, photo: NULL → x'01'
                  ~ id: 3 | name: 'two\\nlines' → 'TWO\\nLINES'
                odd "t
                  ~ rowid: 2 | b: 'y' → 'z'

                """), "\(differs.output)")
        let terminal = try await ShellacCommand.terminal("diff game.sqlite new.sqlite", in: folder)
        #expect(terminal.output.contains("\u{1B}[32m  + id: 3, name: 'Gréys', founded: NULL\u{1B}[0m"))
        #expect(terminal.output.replacing(/\u{1B}\[[0-9]*m/, with: "") == differs.output)
        let schema = try await ShellacCommand.run("diff", "game.sqlite", "new.sqlite", "--schema", in: folder)
        let rows = try await ShellacCommand.run("diff", "game.sqlite", "new.sqlite", "--rows", in: folder)
        #expect(schema.output + rows.output == differs.output)
    }

    @Test("diff tells values apart that compare as equal, and blanks in SQL not")
    func diffValues() async throws {
        let folder = try TemporaryFolder()
        for (name, sql) in [
            (
                "a",
                "CREATE TABLE t (k TEXT COLLATE NOCASE, l, v COLLATE NOCASE, PRIMARY KEY (k, l)) WITHOUT ROWID; INSERT INTO t VALUES ('a', 1, 'x'), ('b', 2, 1)"
            ),
            (
                "b",
                "CREATE  TABLE t(k TEXT COLLATE NOCASE,l,v COLLATE NOCASE,\n PRIMARY KEY(k,l)) WITHOUT ROWID; INSERT INTO t VALUES ('a', 1, 'X'), ('b', 2, 1.0)"
            ),
        ] {
            try await DatabaseQueue(path: folder.path(name)).write { db in try db.execute(sql: sql) }
        }
        let differs = try await ShellacCommand.run("diff", "a", "b", in: folder)
        #expect(
            differs.did(1, "t\n  ~ k: 'a', l: 1 | v: 'x' → 'X'\n  ~ k: 'b', l: 2 | v: 1 → 1.0\n"),
            "\(differs.output)")
    }

    // MARK: - watch

    @Test("watch shows rows, and what another process does to them", arguments: [JournalMode.delete, .wal])
    func watch(_ mode: JournalMode) async throws {
        let folder = try gameFolder(journalMode: mode)
        let path = folder.path("game.sqlite")
        async let watched = ShellacCommand.shell(
            """
            $SHELLAC watch game.sqlite team --every 0.02 --changes 3 --where 'id < 10' > out & pid=$!
            for i in $(seq 3000); do kill -0 $pid 2> /dev/null || break; sleep 0.1; done
            kill $pid 2> /dev/null; wait $pid; echo $? | tee end
            """,
            in: folder)
        func untilPrinted(_ text: String) async throws {
            while (try? String(contentsOfFile: folder.path("out"), encoding: .utf8))?.contains(text) != true {
                // (The command ends before its time if it fails, or if the machine is too busy.)
                try #require(!FileManager.default.fileExists(atPath: folder.path("end")))
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await untilPrinted("Blues")
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // Without a log, a commit waits for readers, and the program reads all the time.
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        for (sql, sign) in [
            ("UPDATE team SET name = 'Greys' WHERE id = 1", "~"),
            ("INSERT INTO team VALUES (30, 'Far', NULL)", nil),
            // (The last change ends the command.)
            ("DELETE FROM team WHERE id = 2", "-"), ("INSERT INTO team VALUES (3, 'New', x'00')", nil),
        ] {
            try await queue.write { db in try db.execute(sql: sql) }
            if let sign { try await untilPrinted("\n\(sign) ") }
        }
        let ended = try await watched
        #expect(ended.output == "0\n")
        try #expect(
            String(contentsOfFile: folder.path("out"), encoding: .utf8) == """
                  id: 1, name: 'Reds', founded: '1901-01-01'
                  id: 2, name: 'Blues', founded: NULL
                ~ id: 1, name: 'Greys', founded: '1901-01-01'
                - id: 2, name: 'Blues', founded: NULL
                + id: 3, name: 'New', founded: x'00'

                """)
    }

    @Test("watch ends with its reader, and shows rows in a terminal")
    func watchEnds() async throws {
        let folder = try gameFolder()
        let ended = try await ShellacCommand.shell(
            "shellac watch game.sqlite team --every 0.02 | head -n 1; echo ${PIPESTATUS[0]}",
            in: folder)
        #expect(ended.output == "  id: 1, name: 'Reds', founded: '1901-01-01'\n0\n")
        let terminal = try await ShellacCommand.terminal("watch game.sqlite team --changes 0", in: folder)
        #expect(
            terminal.output
                == "  id: 1, name: 'Reds', founded: '1901-01-01'\n  id: 2, name: 'Blues', founded: NULL\n")
        let missing = try await ShellacCommand.run("watch", "game.sqlite", "nothing", in: folder)
        #expect(missing.did(5, "shellac: there is no table nothing: there are team, player, best\n"))
    }
}
