// The `shellac browse` verb: the loop between the keys, the file and the screen.

import CSQLite
import Shellac

/// `shellac browse`: tables and rows on the whole screen.
///
/// ``FullScreen`` decodes a key. ``Browser`` changes its state, and reads the rows that this needs.
/// ``BrowserDrawing`` makes lines of the state, and ``FullScreen`` writes the lines that have
/// changed. Between two keys, the first bytes of the file are checked, as `watch` does.
struct Browsing {
    private let path: String
    private let output: Output
    private let arguments: Arguments

    init(_ output: Output, _ arguments: Arguments) {
        (path, self.output, self.arguments) = (arguments.words[0], output, arguments)
    }

    /// The time between two checks of the file.
    private static var pause: UInt64 { 200_000_000 }

    func run() throws -> ExitCode {
        guard isatty(0) == 1, output.isTerminal else {
            throw Failure(.usage, "browse needs a terminal: in a pipe, use show")
        }
        guard FullScreen.takesCodes else {
            let name = FullScreen.terminalName
            throw Failure(.usage, "this terminal shows lines alone (TERM is \"\(name)\"): use show")
        }
        let screen = FullScreen(hasColours: output.hasColours)
        let patience = Patience(
            hasKey: { FullScreen.hasKey },
            notice: { screen.notice("SQLite looks for rows. Any key stops it.") })
        let browser = try Browser(BrowsedFile(path, patience: patience), size: screen.size)
        try screen.enter()
        defer { screen.leave() }
        try loop(browser, screen)
        return .done
    }

    private func loop(_ browser: Browser, _ screen: FullScreen) throws {
        var nextCheck = shellac_time() + Self.pause
        while true {
            let size = screen.size
            if size != browser.state.size { browser.resize(size) }
            try screen.draw(BrowserDrawing.lines(browser.state), size)
            if let key = try screen.key(within: Int32(Self.pause / 1_000_000)) {
                switch key {
                case .suspend: try screen.suspend()
                case .redraw: screen.redraw()
                default: guard browser.handle(key) else { return }
                }
            }
            let now = shellac_time()
            guard now >= nextCheck else { continue }
            _ = browser.refreshIfNeeded()
            // A reading that takes long leaves time for keys.
            let end = shellac_time()
            nextCheck = end + max(Self.pause, 3 * (end - now))
        }
    }
}
