// The state of the browser: the tables, the rows or the record in front, and the way back.

import Shellac

/// The state of the browser, from which the screen is drawn.
struct BrowserState {
    enum Focus { case tables, rows }

    enum Mode: Equatable {
        case browsing
        case help
        /// The text of a search is being entered.
        case search(String)
    }

    let path: String
    var size: ScreenSize
    var tables: [BrowsedTable] = []
    var selectedTable = 0
    var focus = Focus.tables
    var mode = Mode.browsing
    /// The rows and records on the way to what is shown, which is last.
    var trail: [Step] = []
    /// A sentence about the last key, or the state of the file.
    var message: Message?

    struct Message: Equatable {
        let text: String
        var isBad = false
    }

    enum Step {
        case rows(RowsStep)
        case record(RecordStep)

        var table: BrowsedTable {
            switch self {
            case .rows(let step): step.source.table
            case .record(let step): step.table
            }
        }
    }

    var layout: ScreenLayout { ScreenLayout(size, tables: tables.map(\.name), focus: focus) }
}

/// Rows of a table, as far as they fit on the screen.
struct RowsStep {
    var source: BrowsedRows
    var rows: [BrowsedRow] = []
    /// The columns whose values `rows` contain.
    var loaded: Range<Int>
    /// Whether the first of `rows` is the first of all.
    var isAtStart = true
    /// The number of rows before the first one, for rows without a key.
    var skipped = 0
    var selectedRow = 0
    var selectedColumn = 0
    /// The first column on the screen.
    var firstColumn = 0
    /// The widths of the columns so far. They only grow, so that paging does not move columns.
    var widths: [Int]
    /// Whether rows may be missing, since a key was pressed while SQLite looked for them.
    var isIncomplete = false
    /// The number of rows, up to ``mostCounted`` and one. Nil if counting could take long.
    var count: Int?

    static var mostCounted: Int { 1_000 }
    static var mostLoaded: Int { 64 }

    init(_ source: BrowsedRows) {
        self.source = source
        loaded = 0..<min(source.table.columns.count, Self.mostLoaded)
        widths = source.table.columns.map { TextWidth.of(TextWidth.visible($0.name)) }
    }

    var selected: BrowsedRow? { rows.indices.contains(selectedRow) ? rows[selectedRow] : nil }

    func cell(_ row: BrowsedRow, _ column: Int) -> BrowsedCell? {
        loaded.contains(column) && row.cells.indices.contains(column - loaded.lowerBound)
            ? row.cells[column - loaded.lowerBound] : nil
    }

    /// Selects the column that is as far away as asked, within the table.
    mutating func selectColumn(_ column: Int) {
        selectedColumn = min(max(0, column), max(0, source.table.columns.count - 1))
    }

    /// Whether the selected column has values. Otherwise they must be read.
    var isSelectedColumnLoaded: Bool {
        source.table.columns.isEmpty || loaded.contains(selectedColumn)
    }

    mutating func loadAroundSelectedColumn() {
        let count = source.table.columns.count
        let first = max(0, min(selectedColumn - Self.mostLoaded / 2, count - Self.mostLoaded))
        loaded = first..<min(count, first + Self.mostLoaded)
    }

    mutating func widen() {
        for row in rows {
            for (cell, column) in zip(row.cells, loaded) {
                widths[column] = max(widths[column], TextWidth.of(cell.text))
            }
        }
    }
}

/// A row with all its columns, and the rows that refer to it.
struct RecordStep {
    let table: BrowsedTable
    let position: RowPosition
    var values: [BrowsedCell]
    var relations: [Relation]
    /// The selected line: a column, or a relation behind these.
    var selected = 0
    /// The first line on the screen.
    var firstLine = 0

    /// Rows of a table that refer to the record by a foreign key.
    struct Relation: Equatable {
        let table: String
        let columns: [String]
        let conditions: [ColumnCondition]
        /// The number of rows, up to ``RowsStep/mostCounted`` and one. Nil if counting could take
        /// long.
        let count: Int?
    }

    var lineCount: Int { values.count + relations.count }

    /// The largest number of characters of a text that are read.
    static var valueLength: Int { 4_000 }
}

/// The number of columns and of lines of a screen.
struct ScreenSize: Equatable {
    var columns: Int
    var lines: Int
}

/// The areas of the screen: the tables left, the rows right, and lines above and below.
struct ScreenLayout: Equatable {
    /// The width of the list of tables. 0 if the rows are shown alone.
    let tablesWidth: Int
    /// The column in which the rows begin.
    let rowsStart: Int
    /// The width of the rows. 0 if the tables are shown alone.
    let rowsWidth: Int
    let hasTitle: Bool
    let hasHeading: Bool
    let hasStatus: Bool
    let hasKeys: Bool
    /// The number of lines for rows.
    let height: Int

    init(_ size: ScreenSize, tables: [String], focus: BrowserState.Focus) {
        let columns = max(size.columns, 1)
        let lines = max(size.lines, 1)
        hasHeading = lines >= 2
        hasKeys = lines >= 4
        hasTitle = lines >= 5
        hasStatus = lines >= 3
        height = lines - [hasHeading, hasKeys, hasTitle, hasStatus].filter { $0 }.count
        if columns < 40 {
            (tablesWidth, rowsStart, rowsWidth) = focus == .tables ? (columns, 0, 0) : (0, 0, columns)
        } else {
            let longest = tables.map { TextWidth.of(TextWidth.visible($0)) }.max() ?? 0
            tablesWidth = min(max(longest + 3, 9), max(12, columns / 5))
            rowsStart = tablesWidth + 2
            rowsWidth = columns - rowsStart
        }
    }

    /// The first line of the rows.
    var firstLine: Int { (hasTitle ? 1 : 0) + (hasHeading ? 1 : 0) }
}

/// The columns of rows that fit beside each other.
struct ColumnLayout {
    struct Column: Equatable {
        let index: Int
        let start: Int
        let width: Int
    }

    private(set) var columns: [Column] = []

    static var gap: Int { 2 }
    /// The width of the mark before the selected row.
    static var mark: Int { 2 }

    /// Finds the first column, so that the selected one is on the screen, and lays out those that
    /// follow it.
    init(_ step: RowsStep, width: Int) {
        let room = max(1, width - Self.mark)
        let widths = step.widths
        guard !widths.isEmpty else { return }
        // A long text does not push its neighbours from the screen, unless all fit.
        let isFitting = widths.reduce(0, +) + Self.gap * (widths.count - 1) <= room
        let most = isFitting ? room : max(8, min(40, room / 2))
        var first = min(step.firstColumn, step.selectedColumn)
        func end(_ column: Int) -> Int {
            (first...column).reduce(0) { $0 + min(widths[$1], most) + Self.gap } - Self.gap
        }
        while first < step.selectedColumn, end(step.selectedColumn) > room { first += 1 }
        // On a screen that has become wider, the columns before fill what is left.
        while first > 0, end(widths.count - 1) + min(widths[first - 1], most) + Self.gap <= room {
            first -= 1
        }
        var start = 0
        for index in first..<widths.count {
            // The last one is cut, if a part of it says something.
            let width = min(widths[index], most, room - start)
            guard width >= min(widths[index], 4) || index == first, width > 0 else { break }
            columns.append(Column(index: index, start: start + Self.mark, width: width))
            start += width + Self.gap
        }
    }

    var first: Int { columns.first?.index ?? 0 }
}
