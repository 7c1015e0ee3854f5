import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("What shellac says of a mistake")
struct CommandErrorTests {
    private static let verbs = [
        "inspect", "show", "class", "diagram", "diff", "explain", "doctor", "recover", "browse", "journal",
        "watch",
    ]

    @Test(
        "each error is one sentence, and has its exit code",
        arguments: [
            ("dance game.sqlite", 2, "there is no verb dance: see shellac --help"),
            ("inspect", 2, "inspect needs FILE [--all] [--as text|json]: see shellac inspect --help"),
            ("inspect game.sqlite more", 2, "more is one word too many: see shellac inspect --help"),
            ("show game.sqlite team --colour", 2, "show has no option --colour: see shellac show --help"),
            ("show game.sqlite team --where", 2, "--where needs a value: see shellac show --help"),
            (
                "show game.sqlite team --as xml", 2,
                "--as must be one of table, lines, json, jsonl, csv, not xml: see shellac show --help"
            ),
            (
                "show game.sqlite team --columns name,nope", 5,
                "team has no column nope: there are id, name, founded"
            ),
            (
                "diff game.sqlite game.sqlite --as json", 2,
                "--as must be one of text, jsonl, not json: see shellac diff --help"
            ),
            (
                "inspect game.sqlite --as csv", 2,
                "--as must be one of text, json, not csv: see shellac inspect --help"
            ),
            (
                "show game.sqlite team --limit -1", 2,
                "--limit must be a number, not -1: see shellac show --help"
            ),
            (
                "show game.sqlite team --limit many", 2,
                "--limit must be a number, not many: see shellac show --help"
            ),
            (
                "show game.sqlite team --as json --null x", 2,
                "JSON has its own null: --null is for tables and CSV: see shellac show --help"
            ),
            (
                "show game.sqlite team --as csv --null ,", 2,
                "--null needs a word without a comma, a quote or a line break: see shellac show --help"
            ),
            ("diagram game.sqlite --svg=1", 2, "--svg takes no value: see shellac diagram --help"),
            (
                "diagram game.sqlite --svg --mermaid", 2,
                "a diagram is either for Mermaid or an SVG: see shellac diagram --help"
            ),
            ("inspect nowhere.sqlite", 3, "there is no file nowhere.sqlite"),
            ("inspect .", 3, ". is a folder"),
            ("diagram game.sqlite --check nowhere", 3, "nowhere cannot be read: No such file or directory"),
            ("diff game.sqlite nowhere", 3, "there is no file nowhere"),
            ("inspect text", 4, "text is not an SQLite database, or it is encrypted"),
            ("inspect short", 4, "short is damaged: it is too short"),
            ("show game.sqlite nothing", 5, "there is no table nothing: there are team, player, best"),
            ("show empty nothing", 5, "there is no table nothing: there are none"),
            ("class game.sqlite best", 5, "best is a view, but a record needs a table"),
            ("class game.sqlite nothing", 5, "there is no table nothing: there are team, player, best"),
        ])
    func sentences(_ line: String, _ code: Int32, _ sentence: String) async throws {
        let folder = try gameFolder()
        _ = try folder.write(
            "This is a text, and no database, as long as it is, since it goes on and on and on.".utf8,
            to: "text")
        _ = try folder.write("SQLite format 3\0 and".utf8, to: "short")
        _ = try folder.write([], to: "empty")
        let said = try await ShellacCommand.shell("shellac \(line)", in: folder)
        #expect(said.did(code, "shellac: \(sentence)\n"), "\(said)")
    }

    @Test("without a verb, all of them are listed")
    func withoutVerb() async throws {
        let folder = try gameFolder()
        let said = try await ShellacCommand.shell("shellac", in: folder)
        let lines = said.output.split(separator: "\n")
        #expect(said.status == 2 && lines.first == "shellac: no verb was given: see shellac --help")
        let help = try await ShellacCommand.run("--help")
        for verb in Self.verbs {
            let line = try #require(lines.first { $0.hasPrefix("  \(verb) ") })
            #expect(help.output.contains("\n\(line)\n"))
        }
    }

    @Test("SQL that does not compile is told with its SQL, and one that would write is refused")
    func sql() async throws {
        let folder = try gameFolder()
        let wrong = try await ShellacCommand.run(
            "show", "game.sqlite", "team", "--where", "missing = 1", in: folder)
        #expect(
            wrong.status == 5
                && wrong.output.hasPrefix("shellac: no such column: missing, in: SELECT * FROM"),
            "\(wrong.output)")
        let sneaky = try await ShellacCommand.run(
            "show", "game.sqlite", "team", "--where", "1); DELETE FROM team; --", in: folder)
        #expect(sneaky.status == 5, "\(sneaky.output)")
        let encrypted = try folder.write(
            (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }, to: "encrypted")
        let refused = try await ShellacCommand.run("show", encrypted, "t", in: folder)
        #expect(refused.did(4, "shellac: \(encrypted) is not an SQLite database, or it is encrypted\n"))
    }

    @Test("a database that somebody holds for itself is told of")
    func busy() async throws {
        let folder = try gameFolder()
        let holder = try SecondProcess(path: folder.path("game.sqlite"), lock: .exclusive)
        let busy = try await ShellacCommand.run("inspect", "game.sqlite", in: folder)
        holder.release()
        #expect(
            busy.status == 6 && busy.output.hasPrefix("shellac: game.sqlite is locked by another program"),
            "\(busy.output)")
    }

    @Test("the help has each verb with an example, and the table of exit codes")
    func help() async throws {
        let folder = try gameFolder()
        let general = try await ShellacCommand.run("--help", in: folder)
        #expect(general.status == 0)
        for verb in Self.verbs {
            #expect(
                general.output.contains("\n  \(verb) ") && general.output.contains("\n  shellac \(verb) "))
            for words in [["\(verb)", "--help"], ["help", verb]] {
                let help = try await Command.run([ShellacCommand.executable()] + words, in: folder.url)
                #expect(
                    help.status == 0 && help.output.hasPrefix("USAGE: shellac \(verb) ")
                        && help.output.contains("\nEXAMPLES:\n  shellac \(verb) "))
            }
        }
        #expect(general.output.contains("\nEXIT CODES:\n  0  success"))
        for code in 0...6 { #expect(general.output.contains("\n  \(code)  ")) }
        let terminal = try await ShellacCommand.terminal("--help", in: folder)
        #expect(terminal.output == general.output)
    }

    @Test("a full disk is told of")
    func fullDisk() async throws {
        let folder = try gameFolder()
        let full = try await ShellacCommand.shell("shellac show game.sqlite team > /dev/full", in: folder)
        #expect(full.did(3, "shellac: could not write: No space left on device\n"), "\(full)")
    }
}
