import Foundation
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("shellac diagram")
struct DiagramTests {
    private static let mermaid = """
        erDiagram
            team {
                INTEGER id PK
                TEXT name
                DATE founded
            }
            player {
                INTEGER id PK
                INTEGER teamId FK
                TEXT name
                INTEGER score
                BLOB photo
            }
            "odd \'t\'" {
                INTEGER a_b PK, FK "a b"
                ANY c1st "1st"
                VARCHAR_10_ ___ "é->"
            }
            player }o--o| team : teamId
            "odd \'t\'" }o--|| player : "a b"

        """.replacing("VARCHAR_10_", with: "VARCHAR(10)").replacing("___ \"é->\"", with: "c_-_ \"é->\"")

    private static let odd =
        #"CREATE TABLE "odd ""t""" ("a b" INTEGER PRIMARY KEY REFERENCES player, "1st", "é->" VARCHAR(10));"#

    @Test("Mermaid has tables, columns and foreign keys, whatever their names")
    func mermaid() async throws {
        let folder = try gameFolder(Self.odd)
        let drawn = try await ShellacCommand.run("diagram", "game.sqlite", in: folder)
        #expect(drawn.did(0, Self.mermaid), "\(drawn.output)")
        let terminal = try await ShellacCommand.terminal("diagram game.sqlite --mermaid", in: folder)
        #expect(terminal.output == drawn.output)
    }

    @Test("Mermaid has no quote in a name, even if an accent is behind it")
    func accentedQuote() async throws {
        let folder = try gameFolder(#"CREATE TABLE "a""\#u{301}b" (x);"#)
        let drawn = try await ShellacCommand.run("diagram", "game.sqlite", in: folder)
        #expect(drawn.status == 0)
        #expect(drawn.output.utf8.count { $0 == UInt8(ascii: "\"") } == 2)
    }

    @Test("SVG is XML with a box for each table and a line for each foreign key")
    func svg() async throws {
        let folder = try gameFolder(
            #"CREATE TABLE "a<b>&""c" (x REFERENCES player, y REFERENCES "a<b>&""c", "<\#u{301}");"#)
        let drawn = try await ShellacCommand.run("diagram", "game.sqlite", "--svg", in: folder)
        #expect(
            drawn.status == 0 && drawn.output.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""))
        #expect(drawn.output.matches(of: /<rect [^>]*rx="5"/).count == 3)
        #expect(drawn.output.matches(of: /<path\s/).count == 3)
        #expect(drawn.output.contains(">a&lt;b&gt;&amp;&quot;c</text>"))
        #expect(drawn.output.contains(">&lt;\u{301}</text>"))
        let path = try folder.write(drawn.output.utf8, to: "d.svg")
        let parser = XMLParser(data: try Data(contentsOf: URL(filePath: path)))
        #expect(parser.parse())
        // A table that refers to another one is at its right, and no boxes overlap.
        let boxes = drawn.output.matches(of: /<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx/).map
        { match in
            [match.1, match.2, match.3, match.4].compactMap { Int($0) }
        }
        #expect(
            boxes.count == 3 && boxes[0][0] + boxes[0][2] < boxes[1][0]
                && boxes[1][0] + boxes[1][2] < boxes[2][0])
        let terminal = try await ShellacCommand.terminal("diagram game.sqlite --svg", in: folder)
        #expect(terminal.output == drawn.output)
    }

    @Test("--check tells an old diagram from a new one, in a file of its own and in Markdown")
    func check() async throws {
        let folder = try gameFolder()
        let made = try await ShellacCommand.shell(
            """
            shellac diagram game.sqlite > d.mmd; shellac diagram game.sqlite --svg > d.svg
            (echo '# Schema'; echo '```mermaid'; shellac diagram game.sqlite; echo '```'; echo 'More.') > README.md
            for file in d.mmd d.svg README.md; do shellac diagram game.sqlite --check $file; echo $?; done
            """, in: folder)
        #expect(made.output == "0\n0\n0\n", "\(made.output)")
        try await DatabaseQueue(path: folder.path("game.sqlite")).write { db in
            try db.execute(
                sql:
                    "ALTER TABLE team ADD COLUMN colour TEXT; ALTER TABLE player RENAME COLUMN score TO points"
            )
        }
        let lines = "-         INTEGER score\n+         TEXT colour\n+         INTEGER points\n1\n"
        let checked = try await ShellacCommand.shell(
            "for file in d.mmd d.svg README.md; do shellac diagram game.sqlite --check $file; echo $?; done",
            in: folder)
        #expect(
            checked.output == lines + "d.svg is not the diagram of game.sqlite\n1\n" + lines,
            "\(checked.output)")
    }

    @Test("tables that refer to each other in a ring are drawn, and none at all, too")
    func rings() async throws {
        let folder = try gameFolder(
            "CREATE TABLE a (x REFERENCES b); CREATE TABLE b (y REFERENCES a, z REFERENCES nowhere);")
        let drawn = try await ShellacCommand.run("diagram", "game.sqlite", "--svg", in: folder)
        #expect(drawn.status == 0 && drawn.output.matches(of: /<path\s/).count == 3)
        _ = try folder.write([], to: "empty")
        let empty = try await ShellacCommand.run("diagram", "empty", in: folder)
        #expect(empty.did(0, "erDiagram\n"))
    }
}
