// Draws the rows of `shellac watch` on the screen of a terminal, with marks at the last changes.

import Shellac

/// The rows of a table, as lines of the screen. It knows nothing of a terminal.
struct WatchDrawing {
    private struct Line {
        let sign: String
        let cells: [TextTable.Cell]
        let style: ScreenSpan.Style
    }

    private let table: String
    private var rows: Watching.Rows
    private var lines: [Line] = []
    private var widths: [Int] = []
    private var lastChange = ""
    /// The first line that the user has scrolled to.
    private var offset = 0

    init(_ table: String, _ rows: Watching.Rows) {
        (self.table, self.rows) = (table, rows)
        layOut(rows, [])
    }

    /// Shows new rows, and marks those that differ from the ones before. Rows that were deleted
    /// stay, marked, until the next change.
    mutating func show(_ new: Watching.Rows) {
        let changes = new.changes(since: rows)
        let old = rows
        rows = new
        if changes.isEmpty { return }
        let counts = [
            (changes.count { $0.change == .inserted }, "inserted"),
            (changes.count { $0.change == .updated }, "updated"),
            (changes.count { $0.change == .deleted }, "deleted"),
        ]
        lastChange = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        layOut(old, changes)
    }

    private mutating func layOut(
        _ old: Watching.Rows, _ changes: [(key: [DatabaseValue], change: Watching.Rows.Change)]
    ) {
        let marks = Dictionary(changes.map { ($0.key, $0.change) }, uniquingKeysWith: { first, _ in first })
        func line(_ values: [DatabaseValue]?, _ change: Watching.Rows.Change?) -> Line {
            let cells = (values ?? []).map { Showing.cell($0) }
            return switch change {
            case .deleted: Line(sign: "-", cells: cells, style: .bad)
            case .inserted: Line(sign: "+", cells: cells, style: .good)
            case .updated: Line(sign: "~", cells: cells, style: .changed)
            case nil: Line(sign: " ", cells: cells, style: .plain)
            }
        }
        lines = rows.keys.map { line(rows.values[$0], marks[$0]) }
        lines += changes.filter { $0.change == .deleted }.map { line(old.values[$0.key], .deleted) }
        widths = rows.names.map { TextWidth.of(TextWidth.visible($0)) }
        for line in lines {
            for (index, cell) in line.cells.enumerated() where widths.indices.contains(index) {
                widths[index] = min(max(widths[index], TextWidth.of(cell.text)), 40)
            }
        }
    }

    /// The number of rows that fit on a screen.
    private func height(_ size: ScreenSize) -> Int { max(1, size.lines - 3) }

    /// The first line that is shown on a screen of a size.
    private func first(_ size: ScreenSize) -> Int { max(0, min(offset, lines.count - height(size))) }

    mutating func scroll(_ key: Key, _ size: ScreenSize) {
        switch key {
        case .up: offset -= 1
        case .down: offset += 1
        case .pageUp: offset -= height(size)
        case .pageDown: offset += height(size)
        case .home: offset = 0
        case .end: offset = lines.count
        default: break
        }
        offset = first(size)
    }

    /// Returns the lines of the screen: a title, the names of the columns, rows, and a status.
    func lines(_ size: ScreenSize) -> [[ScreenSpan]] {
        func span(_ text: String, _ style: ScreenSpan.Style) -> [ScreenSpan] {
            [ScreenSpan(start: 0, text: TextWidth.cut(text, to: max(1, size.columns)), style: style)]
        }
        let names = rows.names.map { TextTable.Cell($0) }
        let count = String.count(rows.keys.count, "row")
        let first = first(size)
        let shown = lines[first..<min(first + height(size), lines.count)]
        var screen = [
            span(
                "\(TextWidth.visible(table))  \(count)" + (lastChange.isEmpty ? "" : "  \(lastChange)"),
                .heading),
            span("  " + text(names), .heading),
        ]
        screen += shown.map { span("\($0.sign) \(text($0.cells))", $0.style) }
        while screen.count < size.lines - 1 { screen.append([]) }
        let more = lines.count > shown.count ? "↑ ↓ scroll  " : ""
        screen.append(span("\(more)q quit", .faint))
        return Array(screen.prefix(max(1, size.lines)))
    }

    private func text(_ cells: [TextTable.Cell]) -> String {
        zip(cells, widths).map { cell, width in
            let text = TextWidth.cut(cell.text, to: width)
            let padding = String(repeating: " ", count: max(0, width - TextWidth.of(text)))
            return cell.isNumber ? padding + text : text + padding
        }.joined(separator: "  ")
    }
}
