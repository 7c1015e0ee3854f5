import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The forms of what the verbs print: lines, tables that are left out, and JSON for programs.
@Suite("The forms of what shellac prints")
struct FormsTests {
    private static let more = """
        CREATE TABLE wide (id INTEGER PRIMARY KEY, title TEXT, createdAt TEXT, amount REAL, note TEXT);
        INSERT INTO wide VALUES (1, 'Buy milk and bread', '2026-11-27 10:00', 12.5, NULL),
            (22, 'two' || char(10) || 'lines', '2026-11-28', 3, 'x');
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        CREATE TABLE "shellac undo" (a);
        CREATE VIRTUAL TABLE search USING fts5(note);
        """

    // MARK: - Lines

    @Test("each value of a row is in a line of its own")
    func lines() async throws {
        let folder = try gameFolder(Self.more)
        let shown = try await ShellacCommand.run("show", "game.sqlite", "wide", "--as", "lines", in: folder)
        #expect(
            shown.did(
                0,
                #"""
                id         1
                title      Buy milk and bread
                createdAt  2026-11-27 10:00
                amount     12.5
                note       NULL

                id         22
                title      two\nlines
                createdAt  2026-11-28
                amount     3.0
                note       x

                """#), "\(shown.output)")
    }

    @Test("a terminal that is too narrow for columns gets lines, wrapped between words")
    func narrow() async throws {
        let folder = try gameFolder(Self.more)
        func show(_ options: String, _ columns: Int) async throws -> String {
            try await ShellacCommand.terminal(
                "show game.sqlite wide --limit 1 \(options)", columns: columns, environment: "NO_COLOR=1",
                in: folder
            ).output
        }
        let wide = try await show("", 80)
        #expect(wide.hasPrefix("id  title               createdAt         amount  note\n"), "\(wide)")
        let narrow = try await show("", 30)
        #expect(
            narrow == """
                id         1
                title      Buy milk and bread
                createdAt  2026-11-27 10:00
                amount     12.5
                note       NULL

                """, "\(narrow)")
        let narrower = try await show("", 22)
        #expect(
            narrower == """
                id         1
                title      Buy milk
                           and bread
                createdAt  2026-11-27
                           10:00
                amount     12.5
                note       NULL

                """, "\(narrower)")
        // Beside the names there is no room.
        let narrowest = try await show("", 12)
        #expect(narrowest.hasPrefix("id\n  1\ntitle\n  Buy milk\n  and bread\n"), "\(narrowest)")
        let one = try await show("", 1)
        #expect(one.hasPrefix("id\n  1\ntitle\n"), "\(one)")
        // The option decides.
        let table = try await show("--as table", 30)
        #expect(table.hasPrefix("id  "), "\(table)")
    }

    @Test("columns are chosen, by names in any case, and the row id too")
    func columns() async throws {
        let folder = try gameFolder(
            #"CREATE TABLE odd ("a b" TEXT, "c""d" INT); INSERT INTO odd VALUES ('x', 7);"#)
        let some = try await ShellacCommand.run(
            "show", "game.sqlite", "player", "--columns", "score, NAME", "--limit", "1", in: folder)
        #expect(some.did(0, "score  name\n  150  Arthur\n"), "\(some.output)")
        let odd = try await ShellacCommand.run(
            "show", "game.sqlite", "odd", "--columns", "c\"d,rowid,a b", "--as", "json", in: folder)
        #expect(odd.did(0, "[\n{\"c\\\"d\":7,\"rowid\":1,\"a b\":\"x\"}\n]\n"), "\(odd.output)")
        let view = try await ShellacCommand.run(
            "show", "game.sqlite", "best", "--columns", "name", in: folder)
        #expect(view.did(0, "name\nArthur\ntwo\\nlines\n"), "\(view.output)")
        let none = try await ShellacCommand.run("show", "game.sqlite", "player", "--columns", ",", in: folder)
        #expect(none.status == 2, "\(none.output)")
        let table = try await ShellacCommand.run("show", "game.sqlite", "t", "--columns", "a", in: folder)
        #expect(
            table.status == 5 && table.output.hasPrefix("shellac: there is no table t: "), "\(table.output)")
        let key = try await ShellacCommand.run(
            "show", "game.sqlite", "team", "--columns", "rowid", in: folder)
        #expect(key.status == 5, "\(key.output)")
    }

    @Test("watch wraps what is wider than the terminal")
    func watch() async throws {
        let folder = try gameFolder(Self.more)
        let watched = try await ShellacCommand.terminal(
            "watch game.sqlite wide --changes 0 --limit 1", columns: 40, environment: "NO_COLOR=1", in: folder
        )
        #expect(
            watched.did(
                0,
                """
                  id: 1, title: 'Buy milk and bread',
                    createdAt: '2026-11-27 10:00',
                    amount: 12.5, note: NULL

                """), "\(watched.output)")
    }

    // MARK: - Tables that are left out

    @Test("tables of SQLite and Shellac are left out, unless all are wanted")
    func ownTables() async throws {
        let folder = try gameFolder(Self.more)
        let own = ["grdb_migrations", "shellac undo", "search_data", "search_config"]
        func names(_ output: String) -> [String] { own.filter { output.contains($0) } }
        let inspected = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        #expect(names(inspected.output) == [], "\(inspected.output)")
        #expect(inspected.output.contains("\n7 tables of SQLite and Shellac are left out: see --all\n"))
        #expect(inspected.output.contains("\nsearch "))
        let all = try await ShellacCommand.run("inspect", "game.sqlite", "--all", in: folder)
        #expect(names(all.output) == own && !all.output.contains("left out"), "\(all.output)")
        let diagram = try await ShellacCommand.run("diagram", "game.sqlite", in: folder)
        #expect(names(diagram.output) == [], "\(diagram.output)")
        let whole = try await ShellacCommand.run("diagram", "game.sqlite", "--all", in: folder)
        #expect(names(whole.output).count == 4, "\(whole.output)")
        // A table that is left out may still be shown.
        let shown = try await ShellacCommand.run("show", "game.sqlite", "shellac undo", in: folder)
        #expect(shown.did(0, "a\n"), "\(shown.output)")
    }

    @Test("diff compares which migrations have run, and no other table of SQLite and Shellac")
    func ownDifferences() async throws {
        let (folder, other) = (try gameFolder(Self.more), try gameFolder(Self.more))
        let queue = try DatabaseQueue(path: other.path("game.sqlite"))
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO "shellac undo" VALUES (1);
                    INSERT INTO search_config VALUES ('x', 1);
                    CREATE TABLE "shellac other" (a);
                    """)
        }
        let none = try await ShellacCommand.run(
            "diff", "game.sqlite", other.path("game.sqlite"), in: folder)
        #expect(none.did(0, "no difference\n"), "\(none.output)")
        let all = try await ShellacCommand.run(
            "diff", "game.sqlite", other.path("game.sqlite"), "--all", in: folder)
        #expect(
            all.status == 1 && all.output.contains("+ CREATE TABLE \"shellac other\"")
                && all.output.contains("search_config\n  + k: 'x'"), "\(all.output)")
        try await queue.write { db in try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('v1')") }
        let migrated = try await ShellacCommand.run(
            "diff", "game.sqlite", other.path("game.sqlite"), in: folder)
        #expect(migrated.did(1, "grdb_migrations\n  + identifier: 'v1'\n"), "\(migrated.output)")
    }

    // MARK: - JSON

    private func json(_ words: String..., in folder: TemporaryFolder, status: Int32 = 0) async throws
        -> [String: Any]
    {
        let command = try await Command.run([ShellacCommand.executable()] + words, in: folder.url)
        #expect(command.status == status, "\(command.output)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(command.output.utf8)) as? [String: Any])
    }

    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("inspect, explain and doctor are objects for programs")
    func verbs() async throws {
        let folder = try gameFolder(Self.more + "CREATE TABLE \"quoted \"\"name\" (\"a\\b\" TEXT);")
        let inspected = try await json("inspect", "game.sqlite", "--as", "json", in: folder)
        let tables = try #require(inspected["tables"] as? [[String: Any]])
        let player = try #require(tables.first { $0["name"] as? String == "player" })
        #expect(player["rows"] as? Int == 3 && (player["columns"] as? [String])?.first == "id")
        #expect(
            tables.contains {
                $0["name"] as? String == "quoted \"name" && $0["columns"] as? [String] == ["a\\b"]
            })
        #expect(inspected["tablesLeftOut"] as? Int == 7 && inspected["views"] as? [String] == ["best"])
        let keys = try #require(inspected["foreignKeysWithoutIndex"] as? [[String: Any]])
        #expect(keys.map { $0["table"] as? String } == ["player"])
        let unneeded = try #require(inspected["indexesNotNeeded"] as? [[String: Any]])
        #expect(unneeded.map { $0["name"] as? String } == ["playerByName"])

        let explained = try await json(
            "explain", "game.sqlite", "SELECT * FROM player WHERE teamId = ? ORDER BY score", "--as", "json",
            in: folder)
        let steps = try #require(explained["steps"] as? [[String: Any]])
        #expect(steps.first?["reads"] as? String == "player" && steps.first?["rows"] as? Int == 3)
        #expect((explained["indexes"] as? [String])?.count == 1)

        // A player belongs to a team that does not exist.
        let diagnosed = try await json("doctor", "game.sqlite", "--as", "json", in: folder, status: 1)
        let findings = try #require(diagnosed["findings"] as? [[String: Any]])
        let faults = findings.filter { $0["grade"] as? String == "fault" }
        #expect(diagnosed["faults"] as? Int == 1 && faults.count == 1)
        #expect((faults.first?["remedy"] as? String)?.contains("DELETE FROM") ?? false)
    }

    @Test("diff and watch have an object in each line")
    func lineVerbs() async throws {
        let (folder, other) = (try gameFolder(), try gameFolder("CREATE TABLE added (a);"))
        let queue = try DatabaseQueue(path: other.path("game.sqlite"))
        try await queue.write { db in
            try db.execute(
                sql: "UPDATE team SET name = 'a\"b' WHERE id = 1; DELETE FROM player WHERE id = 1")
        }
        let differences = try await ShellacCommand.run(
            "diff", "game.sqlite", other.path("game.sqlite"), "--as", "jsonl", in: folder)
        let changes = try objects(differences.output)
        #expect(differences.status == 1)
        #expect(changes.map { $0["change"] as? String } == ["added", "updated", "deleted"])
        #expect(changes[0]["new"] as? String == "CREATE TABLE added (a)" && changes[0]["old"] is NSNull)
        let names = try #require((changes[1]["changes"] as? [String: [String: Any]])?["name"])
        #expect(names["old"] as? String == "Reds" && names["new"] as? String == "a\"b")
        let row = try #require(changes[2]["row"] as? [String: Any])
        #expect((row["photo"] as? [String: String])?["$base64"] == "AP8=" && row["score"] as? Int == 150)
        let same = try await ShellacCommand.run(
            "diff", "game.sqlite", "game.sqlite", "--as", "jsonl", in: folder)
        #expect(same.did(0, ""))

        let watched = try await ShellacCommand.run(
            "watch", "game.sqlite", "team", "--changes", "0", "--as", "jsonl", in: folder)
        let rows = try objects(watched.output)
        #expect(rows.map { $0["change"] as? String } == ["is", "is"])
        #expect(rows.compactMap { ($0["row"] as? [String: Any])?["name"] as? String } == ["Reds", "Blues"])
    }

    // MARK: - The version

    @Test("the version is the newest one of the changelog, or the next one")
    func version() async throws {
        let shown = try await ShellacCommand.run("--version")
        let words = shown.output.split(separator: " ")
        #expect(shown.status == 0 && words.count == 4 && words[0] == "shellac" && words[2] == "SQLite")
        let version = words[1].dropLast()
        let changelog = try String(
            contentsOf: Repository.root.appending(path: ".github/CHANGELOG.md"), encoding: .utf8)
        let named =
            changelog.firstRange(of: "tagged ").map { changelog[$0.upperBound...].prefix(version.count) }
            ?? changelog.firstRange(of: "## [0").map { changelog[$0.upperBound...].prefix(version.count) }
        #expect(named == version)
    }
}
