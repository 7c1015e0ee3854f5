// The screen of a terminal: a grid of characters to which the output of a program is applied.

import Foundation

/// The screen of a terminal, as far as `shellac browse` uses one.
///
/// Its codes place the cursor, erase, mark text and change between the two screens.
public struct ScreenGrid: Sendable {
    private struct Cell {
        var text = " "
        var isMarked = false
    }

    public let columns: Int
    public let lines: Int
    /// Whether the alternate screen is shown.
    public private(set) var isAlternate = false
    public private(set) var isCursorVisible = true
    /// Whether a line that is too long goes on in the next one.
    public private(set) var wraps = true
    /// Codes that a program has no business to send.
    public private(set) var unknownCodes: [String] = []
    /// The numbers of the styles that were used.
    public private(set) var styles: Set<Int> = []

    private var cells: [[Cell]]
    private var mainCells: [[Cell]] = []
    private var (line, column) = (0, 0)
    private var mainCursor = (line: 0, column: 0)
    private var isMarked = false

    public init(columns: Int, lines: Int) {
        (self.columns, self.lines) = (columns, lines)
        cells = Self.blank(columns, lines)
    }

    private static func blank(_ columns: Int, _ lines: Int) -> [[Cell]] {
        Array(repeating: Array(repeating: Cell(), count: columns), count: lines)
    }

    /// The lines of the screen, without the blanks at their ends.
    public var texts: [String] {
        cells.map { line in
            var text = line.map(\.text).joined()
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    /// The text in reverse video, without the blanks at its ends.
    public var selection: String {
        cells.joined().filter(\.isMarked).map(\.text).joined().trimmingCharacters(in: .whitespaces)
    }

    /// Applies the output of a program.
    public mutating func apply(_ output: String) {
        var rest = Substring(output)
        while let character = rest.popFirst() {
            switch character {
            case "\u{1B}":
                guard rest.first == "[" else {
                    unknownCodes.append(String(rest.prefix(1)))
                    rest = rest.dropFirst()
                    continue
                }
                rest.removeFirst()
                let parameters = rest.prefix { !$0.isLetter }
                rest = rest.dropFirst(parameters.count)
                // (The rest of a code may not have come yet.)
                guard let code = rest.popFirst() else { return }
                apply(code, String(parameters))
            case "\r": column = 0
            case "\n", "\r\n": (line, column) = (line + 1, 0)
            default: put(character)
            }
        }
    }

    private mutating func put(_ character: Character) {
        let isWide = character.unicodeScalars.contains {
            0x1100...0x115F ~= $0.value || 0x2E80...0xD7A3 ~= $0.value || 0xFF00...0xFF60 ~= $0.value
                || 0x1F300...0x1FAFF ~= $0.value
        }
        if column < columns, line < lines {
            cells[line][column] = Cell(text: String(character), isMarked: isMarked)
            if isWide, column + 1 < columns { cells[line][column + 1] = Cell(text: "", isMarked: isMarked) }
        }
        column += isWide ? 2 : 1
    }

    private mutating func apply(_ code: Character, _ parameters: String) {
        let numbers = parameters.split(separator: ";").compactMap { Int($0) }
        switch (code, parameters) {
        case ("H", _): (line, column) = ((numbers.first ?? 1) - 1, (numbers.dropFirst().first ?? 1) - 1)
        case ("G", _): column = (numbers.first ?? 1) - 1
        case ("J", "2"): cells = Self.blank(columns, lines)
        case ("K", ""):
            guard line < lines else { return }
            for place in min(column, columns)..<columns { cells[line][place] = Cell() }
        case ("m", _):
            for number in numbers.isEmpty ? [0] : numbers {
                styles.insert(number)
                if number == 0 { isMarked = false }
                if number == 7 { isMarked = true }
            }
        case ("h", "?1049") where !isAlternate:
            isAlternate = true
            (mainCells, cells) = (cells, Self.blank(columns, lines))
            mainCursor = (line, column)
        case ("l", "?1049") where isAlternate:
            isAlternate = false
            cells = mainCells
            (line, column) = mainCursor
        case ("h", "?25"): isCursorVisible = true
        case ("l", "?25"): isCursorVisible = false
        case ("h", "?7"): wraps = true
        case ("l", "?7"): wraps = false
        default: unknownCodes.append("\(parameters)\(code)")
        }
    }
}
