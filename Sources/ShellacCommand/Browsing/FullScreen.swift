// The terminal: its settings, its size, its keys, and the codes that draw on it.

import CSQLite

/// A terminal whose whole screen the program uses, until it leaves it as it was.
final class FullScreen {
    // Written before the signal handlers are installed, and read by them.
    nonisolated(unsafe) private static let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    nonisolated(unsafe) private static var isEntered = false
    /// Ends styles, lines break again, shows the cursor, and leaves the alternate screen.
    nonisolated(unsafe) private static let leavingCodes: UnsafeMutableBufferPointer<UInt8> = {
        let codes = Array("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l".utf8)
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: codes.count)
        _ = buffer.initialize(from: codes)
        return buffer
    }()
    private static let enteringCodes = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J"

    private let hasColours: Bool
    private var shown: [String] = []
    private var shownSize = ScreenSize(columns: 0, lines: 0)
    private var pending: [UInt8] = []

    static var terminalName: String { getenv("TERM").map { String(cString: $0) } ?? "" }

    /// Whether the terminal understands the codes that draw on it.
    static var takesCodes: Bool { !["", "dumb"].contains(terminalName) }

    init(hasColours: Bool) { self.hasColours = hasColours }

    deinit { leave() }

    // MARK: - Entering and leaving

    /// Takes the screen. A signal that ends the program leaves it, too.
    func enter() throws {
        guard tcgetattr(0, Self.before) == 0 else {
            throw Failure(
                .unreadable, "the terminal has no settings: \(String(cString: shellac_error_text()))")
        }
        _ = Self.leavingCodes
        var settings = Self.before.pointee
        shellac_read_keys(&settings)
        Self.isEntered = true
        Interruption.restoreTerminal(by: { FullScreen.restore() })
        // A handler ends the wait for a key. The size is asked for after each wait.
        signal(SIGWINCH) { _ in }
        guard tcsetattr(0, TCSANOW, &settings) == 0 else {
            throw Failure(
                .unreadable, "the terminal cannot be set up: \(String(cString: shellac_error_text()))")
        }
        try write(Self.enteringCodes)
        shown = []
    }

    func leave() { Self.restore() }

    /// Leaves the screen as it was. It is also called by the handler of a signal.
    private static func restore() {
        guard isEntered else { return }
        isEntered = false
        _ = shellac_write(1, leavingCodes.baseAddress, leavingCodes.count)
        tcsetattr(0, TCSANOW, before)
    }

    /// Stops the program until the shell continues it.
    func suspend() throws {
        leave()
        raise(SIGSTOP)
        try enter()
    }

    // MARK: - Size and keys

    /// The size of the terminal. If it reports none, it is the traditional one.
    var size: ScreenSize {
        var (columns, lines): (Int32, Int32) = (0, 0)
        shellac_terminal_size(1, &columns, &lines)
        return ScreenSize(columns: columns > 0 ? Int(columns) : 80, lines: lines > 0 ? Int(lines) : 24)
    }

    /// Whether a key has been pressed that was not read yet.
    static var hasKey: Bool {
        var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// Waits for a key.
    ///
    /// - Parameter milliseconds: The longest time to wait.
    /// - Returns: Nil if no key was pressed, or if the size of the terminal may have changed.
    /// - Throws: ``OutputClosed`` if the terminal is gone.
    func key(within milliseconds: Int32) throws -> Key? {
        if let key = Key.next(in: &pending, isComplete: false) { return key }
        // The rest of a sequence comes at once.
        let wait = pending.isEmpty ? milliseconds : 50
        var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, wait) > 0 else {
            return pending.isEmpty ? nil : Key.next(in: &pending, isComplete: true)
        }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(0, &buffer, buffer.count)
        if count > 0 {
            pending += buffer[..<count]
        } else if count == 0 || shellac_errno() != EINTR {
            throw OutputClosed()
        }
        return Key.next(in: &pending, isComplete: false)
    }

    // MARK: - Drawing

    /// Draws the lines that differ from those on the screen.
    func draw(_ lines: [[ScreenSpan]], _ size: ScreenSize) throws {
        let texts = lines.map(text)
        var output = ""
        if size != shownSize || shown.count != texts.count {
            output += "\u{1B}[0m\u{1B}[2J"
            shown = Array(repeating: "", count: texts.count)
            shownSize = size
        }
        for (index, text) in texts.enumerated() where text != shown[index] {
            // The line is erased first: behind its last column, the code would erase that column.
            output += "\u{1B}[\(index + 1);1H\u{1B}[K\(text)"
        }
        shown = texts
        if !output.isEmpty { try write(output) }
    }

    /// Forgets what is on the screen, so that all of it is drawn next time.
    func redraw() { shownSize = ScreenSize(columns: 0, lines: 0) }

    /// Writes a sentence over the last line.
    func notice(_ sentence: String) {
        let line = max(1, shown.count)
        try? write("\u{1B}[\(line);1H\u{1B}[K\(TextWidth.cut(sentence, to: size.columns))")
        if !shown.isEmpty { shown[shown.count - 1] = "\u{0}" }
    }

    private func text(_ spans: [ScreenSpan]) -> String {
        var (text, column) = ("", 0)
        for span in spans {
            // A terminal may draw a character of other scripts wider or narrower than expected, so
            // each piece begins at its column by a code.
            if span.start != column || !text.utf8.allSatisfy({ $0 < 0x80 }) {
                text += "\u{1B}[\(span.start + 1)G"
            }
            text += styled(span)
            column = span.start + TextWidth.of(span.text)
        }
        return text
    }

    private func styled(_ span: ScreenSpan) -> String {
        let code: String
        switch span.style {
        case .plain: return span.text
        // Without colours, only the selection is shown by the screen's own means.
        case .selected: code = "7"
        case .heading where hasColours: code = "1"
        case .faint where hasColours: code = "2"
        case .marked where hasColours: code = "1"
        case .bad where hasColours: code = "31"
        case .good where hasColours: code = "32"
        case .changed where hasColours: code = "33"
        case .heading, .faint, .marked, .bad, .good, .changed: return span.text
        }
        return "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
    }

    private func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                shellac_write(1, buffer.baseAddress.map { $0 + start }, bytes.count - start)
            }
            if count >= 0 {
                start += count
            } else if shellac_errno() == EAGAIN {
                var descriptor = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptor, 1, 100)
            } else if shellac_errno() != EINTR {
                throw OutputClosed()
            }
        }
    }
}
