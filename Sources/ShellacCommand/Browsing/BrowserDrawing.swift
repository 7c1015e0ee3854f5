// Draws the browser's state as lines of styled text.

import Shellac

/// A piece of a line that begins at a column.
struct ScreenSpan: Equatable {
    enum Style: Equatable {
        case plain, heading, faint, selected, marked, bad, good, changed
    }

    let start: Int
    let text: String
    var style = Style.plain
}

/// Draws the browser's state. It knows nothing of a terminal.
struct BrowserDrawing {
    private let state: BrowserState
    private let layout: ScreenLayout
    private let width: Int
    private var lines: [[ScreenSpan]]

    private init(_ state: BrowserState) {
        self.state = state
        layout = state.layout
        width = max(1, state.size.columns)
        lines = Array(repeating: [], count: max(1, state.size.lines))
    }

    /// Returns the lines of the screen.
    static func lines(_ state: BrowserState) -> [[ScreenSpan]] {
        var drawing = BrowserDrawing(state)
        if state.mode == .help {
            drawing.drawHelp()
        } else {
            drawing.drawTitle()
            drawing.drawTables()
            drawing.drawRows()
            drawing.drawStatus()
        }
        return drawing.lines
    }

    /// Adds a text to a line, cut and padded to a width.
    private mutating func add(
        _ text: String, _ style: ScreenSpan.Style = .plain, line: Int, start: Int = 0, width: Int,
        isRight: Bool = false
    ) {
        let width = min(width, self.width - start)
        guard lines.indices.contains(line), width > 0 else { return }
        let text = TextWidth.cut(text, to: width)
        let padding = String(repeating: " ", count: max(0, width - TextWidth.of(text)))
        lines[line].append(
            ScreenSpan(start: start, text: isRight ? padding + text : text + padding, style: style))
    }

    // MARK: - The tables

    private mutating func drawTables() {
        guard layout.tablesWidth > 0 else { return }
        let width = layout.tablesWidth
        let top = layout.hasTitle ? 1 : 0
        if layout.hasHeading { add("  tables", .heading, line: top, width: width) }
        if state.tables.isEmpty { add("  (none)", .faint, line: layout.firstLine, width: width) }
        let first = max(0, min(state.selectedTable - layout.height / 2, state.tables.count - layout.height))
        for (line, index) in (first..<min(first + layout.height, state.tables.count)).enumerated() {
            let isSelected = index == state.selectedTable
            let hasFocus = isSelected && state.focus == .tables
            let name = TextWidth.visible(state.tables[index].name)
            add(
                (isSelected ? "> " : "  ") + name, hasFocus ? .selected : isSelected ? .marked : .plain,
                line: layout.firstLine + line, width: width)
        }
        guard layout.rowsWidth > 0 else { return }
        for line in top..<layout.firstLine + layout.height {
            add("│", .faint, line: line, start: width, width: 1)
        }
    }

    // MARK: - The rows

    private mutating func drawRows() {
        guard layout.rowsWidth > 0 else { return }
        switch state.trail.last {
        case .rows(let step): draw(step)
        case .record(let step): draw(step)
        case nil: break
        }
    }

    private mutating func draw(_ step: RowsStep) {
        let columns = ColumnLayout(step, width: layout.rowsWidth).columns
        let numbers = Set(
            columns.map(\.index).filter { column in
                step.rows.contains { step.cell($0, column)?.kind == .number }
            })
        if layout.hasHeading {
            for column in columns {
                add(
                    Self.heading(step, column.index), .heading, line: layout.firstLine - 1,
                    start: layout.rowsStart + column.start, width: column.width,
                    isRight: numbers.contains(column.index))
            }
        }
        if step.rows.isEmpty, state.message?.isBad != true {
            add(
                "(no rows)", .faint, line: layout.firstLine, start: layout.rowsStart + 2,
                width: layout.rowsWidth)
        }
        for (index, row) in step.rows.prefix(layout.height).enumerated() {
            let line = layout.firstLine + index
            let isSelected = index == step.selectedRow
            if isSelected { add(">", .marked, line: line, start: layout.rowsStart, width: 1) }
            for column in columns {
                let cell = step.cell(row, column.index)
                var style = Self.style(cell?.kind)
                if isSelected { style = .marked }
                if isSelected, column.index == step.selectedColumn, state.focus == .rows { style = .selected }
                add(
                    cell?.text ?? "", style, line: line, start: layout.rowsStart + column.start,
                    width: column.width, isRight: cell?.kind == .number)
            }
        }
    }

    private static func heading(_ step: RowsStep, _ column: Int) -> String {
        let name = TextWidth.visible(step.source.table.columns[column].name)
        guard let order = step.source.order, order.column == column else { return name }
        return name + (order.isDescending ? " ↓" : " ↑")
    }

    private static func style(_ kind: BrowsedCell.Kind?) -> ScreenSpan.Style {
        kind == .null || kind == .blob ? .faint : .plain
    }

    // MARK: - A record

    private mutating func draw(_ step: RecordStep) {
        let (start, width) = (layout.rowsStart, layout.rowsWidth)
        if layout.hasHeading {
            add(
                "  record of \(TextWidth.visible(step.table.name))", .heading, line: layout.firstLine - 1,
                start: start, width: width)
        }
        let all = Self.lines(step, width: width)
        for (index, part) in all.dropFirst(step.firstLine).prefix(layout.height).enumerated() {
            let isSelected = part.item == step.selected && part.item != nil
            let style: ScreenSpan.Style =
                isSelected ? (state.focus == .rows ? .selected : .marked) : part.style
            let mark = isSelected && part.isFirst ? "> " : "  "
            add(mark + part.text, style, line: layout.firstLine + index, start: start, width: width)
        }
    }

    /// A line of a record.
    struct RecordLine: Equatable {
        let text: String
        /// The column or the relation, by the number that ``RecordStep/selected`` has for it.
        let item: Int?
        var isFirst = true
        var style = ScreenSpan.Style.plain
    }

    /// Returns the lines of a record: long values are wrapped.
    static func lines(_ step: RecordStep, width: Int) -> [RecordLine] {
        let names = step.table.columns.map { TextWidth.visible($0.name) }
        let indentation = min((names.map { TextWidth.of($0) }.max() ?? 0) + 2, max(4, width / 3))
        let room = max(4, width - indentation - ColumnLayout.mark)
        var lines: [RecordLine] = []
        for (index, cell) in step.values.enumerated() {
            var text = cell.text
            if let key = step.table.foreignKey(of: index), cell.kind != .null {
                text += " → " + TextWidth.visible(key.destinationTable)
            }
            for (number, part) in wrapped(text, to: room).enumerated() {
                let name = number == 0 && names.indices.contains(index) ? names[index] : ""
                lines.append(
                    RecordLine(
                        text: padded(TextWidth.cut(name, to: indentation - 1), indentation) + part,
                        item: index,
                        isFirst: number == 0, style: style(cell.kind)))
            }
        }
        lines.append(RecordLine(text: "", item: nil))
        lines.append(
            RecordLine(
                text: step.relations.isEmpty
                    ? "no table refers to this record" : "rows that refer to this record",
                item: nil, style: step.relations.isEmpty ? .faint : .heading))
        for (index, relation) in step.relations.enumerated() {
            let place = String.place(
                TextWidth.visible(relation.table), relation.columns.map(TextWidth.visible))
            lines.append(
                RecordLine(
                    text: "\(place): \(count(relation.count) ?? "not counted, as there is no index")",
                    item: step.values.count + index))
        }
        return lines
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var (lines, line, used) = ([String](), "", 0)
        for character in text {
            let next = TextWidth.of(character)
            if used + next > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            line.append(character)
            used += next
        }
        return lines + [line]
    }

    // MARK: - The lines above and below

    /// Returns a number of rows in words. Nil if they were not counted.
    private static func count(_ count: Int?) -> String? {
        count.map {
            $0 > RowsStep.mostCounted ? "more than \(RowsStep.mostCounted) rows" : String.count($0, "row")
        }
    }

    private mutating func drawTitle() {
        guard layout.hasTitle else { return }
        var title = TextWidth.visible(state.path)
        // The name of the file leaves room for that of the table.
        if TextWidth.of(title) > width / 2 {
            title = TextWidth.visible(state.path.split(separator: "/").last.map(String.init) ?? state.path)
        }
        if let step = state.trail.last { title += "  " + Self.title(step) }
        add(title, .heading, line: 0, width: width)
    }

    /// Returns the rows in words: `player where teamId = 1, by score, with "Ann"`.
    private static func title(_ step: BrowserState.Step) -> String {
        switch step {
        case .record(let record):
            let key = zip(record.table.key, record.position.key).map { "\($0) = \(Differences.text($1))" }
            return TextWidth.visible("\(record.table.name) " + key.joined(separator: ", "))
        case .rows(let rows):
            var title = rows.source.table.name
            if !rows.source.conditions.isEmpty {
                let conditions = rows.source.conditions.map { "\($0.column) = \(Differences.text($0.value))" }
                title += " where " + conditions.joined(separator: " and ")
            }
            if let order = rows.source.order {
                title += ", by \(rows.source.table.columns[order.column].name)"
                if order.isDescending { title += " descending" }
            }
            if let search = rows.source.search { title += ", with \"\(search)\"" }
            return TextWidth.visible(title)
        }
    }

    private mutating func drawStatus() {
        let last = lines.count - 1
        if case .search(let text) = state.mode {
            // The end of a long text is shown, where the user types.
            var shown = Substring(TextWidth.visible(text))
            while !shown.isEmpty, TextWidth.of(String(shown)) + 2 > width { shown.removeFirst() }
            lines[last] = []
            add("/\(shown)_", .heading, line: last, width: width)
            if layout.hasStatus, lines.count > 1, layout.hasKeys {
                let place = state.focus == .tables ? "the names of the tables" : "the rows"
                add("Enter searches \(place), Esc does not", .faint, line: last - 1, width: width)
            }
            return
        }
        if layout.hasKeys { drawKeys(last) }
        guard layout.hasStatus else {
            if let message = state.message { show(message, last) }
            return
        }
        let line = layout.hasKeys ? last - 1 : last
        if let message = state.message { return show(message, line) }
        guard case .rows(let step) = state.trail.last, layout.rowsWidth > 0 else { return }
        let number = step.isIncomplete ? "incomplete: stopped by a key" : Self.count(step.count) ?? ""
        let numberWidth = TextWidth.of(number)
        var text = ""
        if state.focus == .rows, let row = step.selected, let cell = step.cell(row, step.selectedColumn) {
            text = "\(TextWidth.visible(step.source.table.columns[step.selectedColumn].name)): \(cell.text)"
            if let key = step.source.table.foreignKey(of: step.selectedColumn), cell.kind != .null {
                text += " → \(TextWidth.visible(key.destinationTable))"
            }
        }
        let room = width - numberWidth - 2
        guard room >= 30 else { return add(text.isEmpty ? number : text, line: line, width: width) }
        add(text, line: line, width: room)
        add(number, .faint, line: line, start: width - numberWidth, width: numberWidth, isRight: true)
    }

    private mutating func show(_ message: BrowserState.Message, _ line: Int) {
        lines[line] = []
        add(TextWidth.visible(message.text), message.isBad ? .bad : .plain, line: line, width: width)
    }

    /// Draws as many keys as fit. `?` and `q` are always there, if there is room for them.
    private mutating func drawKeys(_ line: Int) {
        var keys = KeyHelp.short
        func text() -> String { keys.joined(separator: "  ") }
        while keys.count > 2, TextWidth.of(text()) > width { keys.remove(at: keys.count - 3) }
        add(text(), .faint, line: line, width: width)
    }

    private mutating func drawHelp() {
        add("Keys", .heading, line: 0, width: width)
        let longest = (KeyHelp.all.map { TextWidth.of($0.keys) }.max() ?? 0) + 2
        var line = 1
        let indentation = min(longest, max(6, width / 3))
        for (keys, meaning) in KeyHelp.all {
            for (number, part) in Self.wrapped(meaning, to: max(4, width - indentation)).enumerated() {
                guard line < lines.count - 1 else { break }
                if number == 0 { add(keys, .marked, line: line, width: indentation - 1) }
                add(part, line: line, start: indentation, width: width - indentation)
                line += 1
            }
        }
        if lines.count > 1 { add("Any key closes this page.", .faint, line: lines.count - 1, width: width) }
    }
}
