// Buffered standard output, with colors and a width on a terminal, and error messages.

import CSQLite

/// The standard output: a terminal, with colours and a width, or a pipe or a file, which gets plain
/// text.
final class Output {
    /// The role of a text, which a terminal shows by a colour.
    enum Style: String {
        case heading = "1"
        case faint = "2"
        case bad = "31"
        case good = "32"
        case changed = "33"
    }

    let isTerminal: Bool
    /// Whether colours are shown: see no-color.org.
    let hasColours: Bool
    /// The number of columns of a terminal. Nil for a pipe, for which nothing is cut.
    let width: Int?

    private var bytes: [UInt8] = []

    init() {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        isTerminal = isatty(1) == 1
        let isPlain = variable("NO_COLOR").map { !$0.isEmpty } ?? false || variable("TERM") == "dumb"
        hasColours = isTerminal && !isPlain
        // Some terminals, as in a test or in an editor, report no width. They get the traditional
        // one.
        let columns = Int(shellac_terminal_width(1))
        width = isTerminal ? (columns > 0 ? columns : 80) : nil
    }

    /// Returns a text in a style, if colours are shown.
    func styled(_ text: String, _ style: Style?) -> String {
        guard hasColours, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    func write(_ text: String) throws {
        bytes.append(contentsOf: text.utf8)
        if bytes.count >= 1 << 15 { try flush() }
    }

    func write(_ more: [UInt8]) throws {
        bytes.append(contentsOf: more)
        if bytes.count >= 1 << 15 { try flush() }
    }

    func line(_ text: String = "") throws { try write(text + "\n") }

    /// Writes a text that begins with a sign. In a terminal, it is wrapped between words.
    func wrapped(_ text: String, _ style: Style?) throws {
        guard let width else { return try line(styled(text, style)) }
        for (index, part) in TextWidth.wrapped(text, to: width, indentation: 4).enumerated() {
            try line(styled((index == 0 ? "" : "    ") + part, style))
        }
    }

    /// Writes a value as JSON, over several lines.
    func json(_ value: JSON) throws { try line(value.lines()) }

    func line(_ text: String, _ style: Style) throws { try line(styled(text, style)) }

    /// Writes the buffer.
    func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        try Self.write(bytes, to: 1)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                shellac_write(descriptor, buffer.baseAddress.map { $0 + start }, bytes.count - start)
            }
            if count >= 0 {
                start += count
            } else if shellac_errno() == EPIPE {
                throw OutputClosed()
            } else if shellac_errno() != EINTR {
                throw Failure(.unreadable, "could not write: \(String(cString: shellac_error_text()))")
            }
        }
    }

    /// Writes a sentence to the standard error, and lines of the command's own behind it.
    static func complain(_ sentence: String, _ lines: String = "") {
        try? write(Array("shellac: \(TextWidth.visible(sentence))\n\(lines)".utf8), to: 2)
    }
}
