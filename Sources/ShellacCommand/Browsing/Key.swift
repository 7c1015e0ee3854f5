// The keys of a terminal, decoded from the bytes that it sends.

/// A key that the user has pressed.
enum Key: Equatable {
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, backspace, tab, escape, interrupt, suspend, redraw
    case character(Character)

    /// Decodes the first key of some bytes, and removes its bytes.
    ///
    /// Sequences without a meaning here are skipped.
    ///
    /// - Parameter isComplete: Whether no more bytes will come soon. Then an escape byte alone is
    ///   the Escape key, and not the start of a sequence.
    /// - Returns: Nil if the bytes end before the key does.
    static func next(in bytes: inout [UInt8], isComplete: Bool) -> Key? {
        while let first = bytes.first {
            if first == 0x1B {
                guard let length = sequenceLength(bytes) else {
                    guard isComplete else { return nil }
                    bytes.removeAll()
                    return .escape
                }
                let sequence = Array(bytes[1..<length])
                bytes.removeFirst(length)
                if length == 1 { return .escape }
                if let key = named(sequence) { return key }
                continue
            }
            if first < 0x20 || first == 0x7F {
                bytes.removeFirst()
                if let key = control(first) { return key }
                continue
            }
            let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
            guard bytes.count >= length else {
                guard isComplete else { return nil }
                bytes.removeAll()
                return nil
            }
            let text = String(decoding: bytes[..<length], as: UTF8.self)
            bytes.removeFirst(length)
            if let character = text.first, character != "\u{FFFD}" { return .character(character) }
        }
        return nil
    }

    /// Returns the length of an escape sequence, or nil if it is incomplete. An escape byte before
    /// something else has the length 1.
    private static func sequenceLength(_ bytes: [UInt8]) -> Int? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "["):
            return bytes.dropFirst(2).firstIndex { 0x40...0x7E ~= $0 }.map { $0 + 1 }
        case UInt8(ascii: "O"): return bytes.count > 2 ? 3 : nil
        default: return 1
        }
    }

    private static func control(_ byte: UInt8) -> Key? {
        switch byte {
        case 3: .interrupt
        case 8, 0x7F: .backspace
        case 9: .tab
        case 10, 13: .enter
        case 12: .redraw
        case 26: .suspend
        default: nil
        }
    }

    private static func named(_ sequence: [UInt8]) -> Key? {
        // Modifiers come behind a semicolon, and are ignored.
        let number = sequence.dropFirst().prefix { 0x30...0x39 ~= $0 }
        switch sequence.last.map({ Character(Unicode.Scalar($0)) }) {
        case "A": return .up
        case "B": return .down
        case "C": return .right
        case "D": return .left
        case "H": return .home
        case "F": return .end
        case "M" where sequence.count == 2: return .enter
        case "~":
            switch String(decoding: number, as: UTF8.self) {
            case "1", "7": return .home
            case "4", "8": return .end
            case "5": return .pageUp
            case "6": return .pageDown
            default: return nil
            }
        default: return nil
        }
    }
}

/// The keys with their meanings, for the help line, the page of `?` and the article.
enum KeyHelp {
    /// The short forms for the bottom line, most important first.
    static let short = [
        "Enter open", "Backspace back", "r relations", "s sort", "/ search", "Tab tables", "? keys", "q quit",
    ]

    static let all: [(keys: String, meaning: String)] = [
        ("↑ ↓ k j", "the row before or after"),
        ("← → h l", "the column before or after; ← in the first column goes back"),
        ("PgUp PgDn", "a page of rows before or after (also b and Space)"),
        ("Home End g G", "the first or the last row"),
        ("Enter", "opens a table, the row that a foreign key refers to, or the record"),
        ("Backspace ←", "goes back to the rows or the record before"),
        ("r", "the record: all its columns, and the rows that refer to it"),
        ("s", "sorts by the column: ascending, descending, not at all"),
        ("/", "searches the rows of the table, or the list of tables"),
        ("Esc", "ends a search"),
        ("Tab", "goes from the tables to the rows, and back"),
        ("Ctrl-L", "draws the screen anew"),
        ("Ctrl-Z", "suspends the program"),
        ("?", "this page"),
        ("q Ctrl-C", "quits"),
    ]
}
