import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The outputs of the command `shellac` in README.md and the articles.
@Suite("What shellac prints, as it is shown") struct OutputsTests {
    /// Runs `.ci/outputs` of a copy of the repository's script, beside some files.
    private func outputs(_ words: String..., in folder: TemporaryFolder) async throws -> Command {
        let game = folder.path("game.sqlite")
        if !FileManager.default.fileExists(atPath: game) {
            let sql = try String(contentsOf: Repository.root.appending(path: ".ci/game.sql"), encoding: .utf8)
            try await DatabaseQueue(path: game).write { db in try db.execute(sql: sql) }
        }
        return try await Command.run(
            [
                "env", "SHELLAC=\(ShellacCommand.executable())", "SHELLAC_GAME=\(game)", "bash",
                folder.path(".ci/outputs"),
            ] + words)
    }

    private func folder(_ readme: String, _ article: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in [".ci", "Sources/Shellac/Shellac.docc"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            at: Repository.root.appending(path: ".ci/outputs"), to: folder.url.appending(path: ".ci/outputs"))
        _ = try folder.write(readme.utf8, to: "README.md")
        _ = try folder.write(article.utf8, to: "Sources/Shellac/Shellac.docc/Some.md")
        return folder
    }

    @Test("README.md and the articles show what the command prints")
    func shown() async throws {
        let root = Repository.root
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let article = try String(
            contentsOf: root.appending(path: "Sources/Shellac/Shellac.docc/ShellacCommand.md"),
            encoding: .utf8)
        #expect(article.split(separator: "\n<!-- output: shellac ").count == 11)
        let checked = try await outputs("--check", in: folder(readme, article))
        #expect(checked.succeeded, "\(checked.output)")
    }

    @Test("a block that shows something else fails, and is written anew")
    func old() async throws {
        let marker = "<!-- output: shellac show game.sqlite team -->"
        let folder = try folder("Text.\n\n\(marker)\n```text\nold\n```\nMore.\n", "\(marker)\n```text\n```\n")
        let checked = try await outputs("--check", in: folder)
        #expect(
            checked.status == 1
                && checked.output.contains("outputs: README.md shows what shellac does not print any more"))
        let written = try await outputs(in: folder)
        #expect(
            written.succeeded && written.output.contains("wrote Sources/Shellac/Shellac.docc/Some.md"),
            "\(written.output)")
        try #expect(
            String(contentsOfFile: folder.path("README.md"), encoding: .utf8)
                == "Text.\n\n\(marker)\n```text\n$ shellac show game.sqlite team\nid  name\n 1  Reds\n 2  Blues\n```\nMore.\n"
        )
        let again = try await outputs("--check", in: folder)
        #expect(again.did(0, ""))
    }

    @Test("a command that fails, and one without a block, are no output")
    func wrong() async throws {
        for text in [
            "<!-- output: shellac dance -->\n```text\n```\n", "<!-- output: shellac --help -->\n\nText.\n",
        ] {
            let folder = try folder(text, "")
            let written = try await outputs(in: folder)
            #expect(!written.succeeded)
            try #expect(String(contentsOfFile: folder.path("README.md"), encoding: .utf8) == text)
        }
    }
}
