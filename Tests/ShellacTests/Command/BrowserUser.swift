// A user of `shellac browse`, or of another verb on the whole screen.

import Foundation
import TestSupport

@testable import Shellac

/// A user of `shellac browse`, at a terminal of some size.
final class BrowserUser {
    let folder: TemporaryFolder
    private let terminal: Terminal
    private(set) var columns: Int
    private(set) var lines: Int

    /// The screen did not show something in time.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts the command, and waits for its first screen unless it will fail.
    init(
        _ file: String = "game.sqlite", verb: String = "browse", columns: Int = 80, lines: Int = 24,
        environment: String = "TERM=xterm",
        in folder: TemporaryFolder, fails: Bool = false
    ) async throws {
        (self.folder, self.columns, self.lines) = (folder, columns, lines)
        // The shell has the terminal for its own, so that it sends signals to the command.
        let script = """
            stty cols \(columns) rows \(lines); stty -a > before; export SHELLAC="$0"
            (echo $BASHPID > pid; exec env -u NO_COLOR \(environment) "$SHELLAC" \(verb) \(file))
            echo $? > status; stty -a > after; echo over
            """
        terminal = try Terminal(
            executable: URL(filePath: "/usr/bin/env"),
            ["setsid", "--ctty", "--wait", "bash", "-c", script, ShellacCommand.executable()], in: folder.url)
        guard !fails else { return }
        try await wait { $0.isAlternate && $0.texts.contains { $0.contains("quit") || $0.contains(">") } }
    }

    /// The output of the terminal so far.
    var output: String { terminal.shown }

    var screen: ScreenGrid {
        var grid = ScreenGrid(columns: columns, lines: lines)
        grid.apply(output)
        return grid
    }

    /// Presses a key, or several.
    func press(_ keys: String...) { terminal.press(keys.joined()) }

    /// Waits until the screen is as asked.
    @discardableResult
    func wait(until condition: (ScreenGrid) -> Bool) async throws -> ScreenGrid {
        for _ in 0..<3_000 {
            let screen = screen
            if condition(screen) { return screen }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Missing(description: "the screen is:\n\(screen.texts.joined(separator: "\n"))")
    }

    /// Waits until a line of the screen contains a text.
    @discardableResult
    func wait(for text: String) async throws -> ScreenGrid {
        try await wait { $0.texts.contains { $0.contains(text) } }
    }

    /// Waits until the title is a text, behind the name of the file.
    @discardableResult
    func waitForTitle(_ title: String) async throws -> ScreenGrid {
        try await wait { $0.texts[0] == "game.sqlite  \(title)" }
    }

    /// Waits until a text is selected.
    @discardableResult
    func waitForSelection(_ text: String) async throws -> ScreenGrid {
        try await wait { $0.selection == text }
    }

    func resize(columns: Int, lines: Int) {
        (self.columns, self.lines) = (columns, lines)
        terminal.resize(columns: columns, lines: lines)
    }

    /// The number of the command's process.
    func process() throws -> String { try contents("pid") }

    func contents(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8).trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    /// Waits for the end of the command.
    ///
    /// - Returns: Its exit code.
    func end() async throws -> Int? {
        _ = try await terminal.end()
        // The last output may not have been read yet.
        try await wait { _ in output.contains("over\n") }
        return Int(try contents("status"))
    }
}

/// The bytes that a terminal sends for keys.
enum TerminalKey {
    static let (up, down, right, left) = ("\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D")
    static let (pageUp, pageDown, home, end) = ("\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H", "\u{1B}OF")
    static let (enter, backspace, tab, escape, interrupt) = ("\r", "\u{7F}", "\t", "\u{1B}", "\u{3}")
}
