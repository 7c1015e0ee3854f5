import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("shellac show")
struct ShowTests {
    @Test("a pipe gets all of a table, without colours")
    func pipe() async throws {
        let folder = try gameFolder()
        let shown = try await ShellacCommand.run("show", "game.sqlite", "PLAYER", in: folder)
        #expect(shown.status == 0)
        #expect(
            shown.output == #"""
                id  teamId  name        score  photo
                 1       1  Arthur        150  x'00FF'
                 2       2  Bärbel 😀      90  NULL
                 3       7  two\nlines   1000  blob of 100 bytes

                """#)
    }

    @Test("a terminal has colours, and what is too wide is cut")
    func terminal() async throws {
        let folder = try gameFolder()
        let shown = try await ShellacCommand.terminal(
            "show game.sqlite player --as table", columns: 36, in: folder)
        #expect(
            shown.did(
                0,
                """
                \u{1B}[1mid\u{1B}[0m  \u{1B}[1mteamId\u{1B}[0m  \u{1B}[1mname\u{1B}[0m     \u{1B}[1mscore\u{1B}[0m  \u{1B}[1mphoto\u{1B}[0m
                 1       1  Arthur     150  x'00FF'
                 2       2  Bärbel…     90  \u{1B}[2mNULL\u{1B}[0m
                 3       7  two\\nl…   1000  \u{1B}[2mblob o…\u{1B}[0m

                """), "\(shown.output)")
    }

    @Test("NO_COLOR and a dumb terminal have no colours", arguments: ["NO_COLOR=1", "TERM=dumb"])
    func withoutColours(_ environment: String) async throws {
        let folder = try gameFolder()
        let shown = try await ShellacCommand.terminal(
            "show game.sqlite team", environment: environment, in: folder)
        #expect(
            shown.did(0, "id  name   founded\n 1  Reds   1901-01-01\n 2  Blues  NULL\n"), "\(shown.output)")
    }

    @Test("a terminal that says no width has 80 columns, and in the narrowest one all columns are there")
    func widths() async throws {
        let folder = try gameFolder(
            "CREATE TABLE wide (a, b); INSERT INTO wide VALUES (printf('%.*c', 200, 'x'), 'end');")
        let none = try await ShellacCommand.terminal(
            "show game.sqlite wide", columns: 0, environment: "NO_COLOR=1", in: folder)
        #expect(none.output.hasSuffix("\(String(repeating: "x", count: 74))…  end\n"), "\(none.output)")
        let narrow = try await ShellacCommand.terminal(
            "show game.sqlite wide --as table", columns: 3, environment: "NO_COLOR=1", in: folder)
        #expect(narrow.output.hasSuffix("\nxxx…  end\n"), "\(narrow.output)")
    }

    @Test("rows go as CSV, JSON and JSON lines to other programs")
    func formats() async throws {
        let folder = try gameFolder()
        let csv = try await ShellacCommand.run(
            "show", "game.sqlite", "team", "--as", "csv", "--null", "NULL", in: folder)
        #expect(csv.did(0, "id,name,founded\n1,Reds,1901-01-01\n2,Blues,NULL\n"))
        let lines = try await ShellacCommand.run(
            "show", "game.sqlite", "player", "--as=jsonl", "--limit", "2", in: folder)
        #expect(
            lines.did(
                0,
                #"""
                {"id":1,"teamId":1,"name":"Arthur","score":150,"photo":{"$base64":"AP8="}}
                {"id":2,"teamId":2,"name":"Bärbel 😀","score":90,"photo":null}

                """#))
        let json = try await ShellacCommand.run(
            "show", "game.sqlite", "team", "--as", "json", "--where", "id = 1", in: folder)
        #expect(json.did(0, "[\n{\"id\":1,\"name\":\"Reds\",\"founded\":\"1901-01-01\"}\n]\n"))
        let array = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [Any]
        #expect(array?.count == 1)
    }

    @Test("conditions, orders and limits are SQL, and views are shown, too")
    func conditions() async throws {
        let folder = try gameFolder()
        let some = try await ShellacCommand.run(
            "show", "game.sqlite", "player", "--where", "score < 500 -- of all", "--order", "name DESC",
            "--limit", "1",
            in: folder)
        #expect(some.output.contains("Bärbel") && !some.output.contains("Arthur"))
        let view = try await ShellacCommand.run("show", "game.sqlite", "best", in: folder)
        #expect(view.did(0, "name\nArthur\ntwo\\nlines\n"))
    }

    @Test(
        "names with quotes, spaces and words of SQL are names, and control characters never reach the terminal"
    )
    func oddNames() async throws {
        let folder = try gameFolder(
            #"CREATE TABLE "select ""from"" 'x' 😀" ("group by" INTEGER PRIMARY KEY, "a""b"); INSERT INTO "select ""from"" 'x' 😀" "#
                + "VALUES (1, char(27) || '[31mred' || char(7, 0x202E));")
        let shown = try await ShellacCommand.run("show", "game.sqlite", "select \"from\" 'x' 😀", in: folder)
        #expect(shown.did(0, "group by  a\"b\n       1  \\u{1B}[31mred\\u{7}\\u{202E}\n"), "\(shown.output)")
    }

    @Test("a reader that wants no more is no error, with a table of any size")
    func head() async throws {
        let folder = try gameFolder(
            "CREATE TABLE n (i INTEGER PRIMARY KEY, t TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                + "WHERE i < 200000) INSERT INTO n SELECT i, 'some text' FROM n;")
        for form in ["table", "csv", "json"] {
            let shown = try await ShellacCommand.shell(
                "shellac show game.sqlite n --as \(form) | head -n 1; echo ${PIPESTATUS[0]}", in: folder)
            #expect(
                shown.output.split(separator: "\n").last == "0"
                    && shown.output.split(separator: "\n").count == 2, "\(shown.output)")
        }
    }

    @Test("ten times the rows need no more memory", arguments: ["table", "csv", "jsonl"])
    func memory(_ form: String) async throws {
        // Rows of a thousand letters, which a view makes.
        let folder = try gameFolder(
            "CREATE VIEW n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                + "SELECT i, printf('%.*c', 1000, 'x') AS t FROM n;")
        var peaks: [Int] = []
        for count in [2_000, 20_000] {
            let shown = try await ShellacCommand.shell(
                """
                $SHELLAC show game.sqlite n --as \(form) --limit \(count) > out & pid=$!
                while memory=$(grep VmHWM /proc/$pid/status 2> /dev/null); do most=$memory; sleep 0.01; done
                wait $pid; echo $?; echo $most; wc -l < out
                """, in: folder)
            let lines = shown.output.split(separator: "\n").map(String.init)
            try #require(lines.count == 3, "\(shown.output)")
            #expect(lines[0] == "0" && lines[2] == "\(form == "jsonl" ? count : count + 1)")
            peaks.append(try #require(lines[1].split(separator: " ").compactMap { Int($0) }.first))
        }
        // In kilobytes: the rows that there are more take 18,000.
        #expect(peaks[1] < peaks[0] + 6_000, "\(peaks)")
    }
}
