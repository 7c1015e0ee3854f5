/// A table of text, with rows in columns.
///
/// The first rows determine the widths of the columns, so any number of rows needs no more memory
/// than these. A later row that is wider shifts its neighbours in a pipe, and is cut in a terminal.
struct TextTable {
    struct Cell {
        let text: String
        /// Whether the text is a number, which is aligned to the right.
        var isNumber = false
        var style: Output.Style?

        init(_ text: String, isNumber: Bool = false, style: Output.Style? = nil) {
            (self.text, self.isNumber, self.style) = (TextWidth.visible(text), isNumber, style)
        }

        init(_ number: Int) { self.init("\(number)", isNumber: true) }
    }

    /// The layout of rows.
    enum Layout {
        /// In columns.
        case columns
        /// In columns, unless a terminal is too narrow to read them.
        case linesIfTooNarrow
        /// Each value in a line of its own, after the name of its column.
        case lines
    }

    private let output: Output
    private let indentation: String
    private var layout: Layout
    private var isFirst = true
    private var headings: [Cell]
    private var waiting: [[Cell]] = []
    private var widths: [Int]?

    private static var sampleSize: Int { 500 }
    private static var gap: String { "  " }

    /// Columns that are cut to less than this are hardly readable: a date needs it.
    private static var leastReadableWidth: Int { 10 }

    init(
        _ output: Output, _ headings: [String], indentation: String = "", layout: Layout = .columns
    ) {
        (self.output, self.indentation, self.layout) = (output, indentation, layout)
        self.headings = headings.map { Cell($0, style: .heading) }
    }

    mutating func add(_ row: [Cell]) throws {
        if case .lines = layout { return try writeLines(row) }
        if widths != nil { return try write(row) }
        waiting.append(row)
        if waiting.count == Self.sampleSize { try layOut() }
    }

    /// Writes the remaining rows.
    mutating func finish() throws {
        if case .lines = layout { return }
        if widths == nil { try layOut() }
    }

    private mutating func layOut() throws {
        var widths = headings.map { TextWidth.of($0.text) }
        for row in waiting {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], TextWidth.of(cell.text))
            }
        }
        if let most = output.width {
            let whole = widths
            Self.fit(
                &widths, into: most - indentation.count - Self.gap.count * max(widths.count - 1, 0))
            let isReadable = zip(widths, whole).allSatisfy { $0 >= min($1, Self.leastReadableWidth) }
            if case .linesIfTooNarrow = layout, !isReadable, !waiting.isEmpty {
                layout = .lines
                for row in waiting { try writeLines(row) }
                waiting = []
                return
            }
        }
        self.widths = widths
        // The heading of a column of numbers is aligned to the right, too.
        for index in headings.indices where waiting.contains(where: { $0[index].isNumber }) {
            headings[index].isNumber = true
        }
        try write(headings)
        for row in waiting { try write(row) }
        waiting = []
    }

    /// Narrows the widest columns until all fit, or each has the minimum width.
    private static func fit(_ widths: inout [Int], into most: Int) {
        let least = 4
        while widths.reduce(0, +) > most, let widest = widths.max(), widest > least {
            // Down to the next narrower column, for all columns of that width.
            let indexes = widths.indices.filter { widths[$0] == widest }
            let next = max(widths.filter { $0 < widest }.max() ?? least, least)
            let excess = widths.reduce(0, +) - most
            let cut = min(widest - next, (excess + indexes.count - 1) / indexes.count)
            for index in indexes { widths[index] = widest - max(cut, 1) }
        }
    }

    /// Writes a row with each value after the name of its column, and a blank line before all rows
    /// but the first.
    private mutating func writeLines(_ row: [Cell]) throws {
        if !isFirst { try output.line() }
        isFirst = false
        let widest = headings.map { TextWidth.of($0.text) }.max() ?? 0
        for (heading, cell) in zip(headings, row) {
            let padding = String(repeating: " ", count: widest - TextWidth.of(heading.text))
            let start = indentation + output.styled(heading.text, heading.style) + padding + Self.gap
            let free = (output.width ?? .max) - indentation.count - widest - Self.gap.count
            // A value beside a long name would be as narrow as in a table.
            if free < Self.leastReadableWidth, let width = output.width {
                try output.line(indentation + output.styled(heading.text, heading.style))
                for part in TextWidth.wrapped(cell.text, to: max(width - 2, 1)) {
                    try output.line("  " + output.styled(part, cell.style))
                }
                continue
            }
            for (index, part) in TextWidth.wrapped(cell.text, to: free).enumerated() {
                let before =
                    index == 0 ? start : String(repeating: " ", count: indentation.count + widest) + Self.gap
                try output.line(before + output.styled(part, cell.style))
            }
        }
    }

    private func write(_ row: [Cell]) throws {
        guard let widths else { return }
        var line = indentation
        for (index, cell) in row.enumerated() {
            let text = output.width == nil ? cell.text : TextWidth.cut(cell.text, to: widths[index])
            let padding = String(repeating: " ", count: max(0, widths[index] - TextWidth.of(text)))
            if index > 0 { line += Self.gap }
            if cell.isNumber { line += padding }
            line += output.styled(text, cell.style)
            if !cell.isNumber, index < row.count - 1 { line += padding }
        }
        try output.line(line)
    }
}
