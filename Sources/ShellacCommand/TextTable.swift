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

    private let output: Output
    private let indentation: String
    private var headings: [Cell]
    private var waiting: [[Cell]] = []
    private var widths: [Int]?

    private static var sampleSize: Int { 500 }
    private static var gap: String { "  " }

    init(_ output: Output, _ headings: [String], indentation: String = "") {
        (self.output, self.indentation) = (output, indentation)
        self.headings = headings.map { Cell($0, style: .heading) }
    }

    mutating func add(_ row: [Cell]) throws {
        if widths != nil { return try write(row) }
        waiting.append(row)
        if waiting.count == Self.sampleSize { try layOut() }
    }

    /// Writes the remaining rows.
    mutating func finish() throws { if widths == nil { try layOut() } }

    private mutating func layOut() throws {
        var widths = headings.map { TextWidth.of($0.text) }
        for row in waiting {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], TextWidth.of(cell.text))
            }
        }
        if let most = output.width {
            Self.fit(
                &widths, into: most - indentation.count - Self.gap.count * max(widths.count - 1, 0))
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
