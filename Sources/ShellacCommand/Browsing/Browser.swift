// The browser: changes its state with each key, and reads the rows that this needs.

import Shellac

/// The browser. It knows nothing of a terminal: keys come in, and a state to be drawn comes out.
final class Browser {
    var state: BrowserState
    let file: BrowsedFile

    init(_ file: BrowsedFile, size: ScreenSize) throws {
        self.file = file
        state = BrowserState(path: file.path, size: size)
        // An error here ends the program before the screen is used.
        try file.read { _ in state.tables = file.tables }
        openSelectedTable()
    }

    // MARK: - Reading

    /// Reads the database. An error becomes a message, and what is shown stays.
    func read(_ body: (Database) throws -> Void) {
        do {
            try file.read { db in
                takeTables()
                try body(db)
            }
            if state.message?.isBad == true { state.message = nil }
        } catch let failure as Failure {
            state.message = .init(text: failure.message, isBad: true)
        } catch {
            state.message = .init(text: "\(error)", isBad: true)
        }
    }

    func takeTables() {
        guard state.tables != file.tables else { return }
        let name =
            state.tables.indices.contains(state.selectedTable) ? state.tables[state.selectedTable].name : nil
        state.tables = file.tables
        selectTable(name ?? "")
    }

    func selectTable(_ name: String) {
        let index = state.tables.firstIndex { $0.name.isSameName(as: name) }
        state.selectedTable = index ?? max(0, min(state.selectedTable, state.tables.count - 1))
    }

    /// Reads what is shown again if the file has changed.
    ///
    /// - Returns: Whether it was read.
    func refreshIfNeeded() -> Bool {
        guard file.hasChanged else { return false }
        refresh()
        return true
    }

    func resize(_ size: ScreenSize) {
        state.size = size
        refresh()
    }

    func refresh() {
        guard let step = state.trail.last else { return openSelectedTable() }
        var isGone = false
        read { db in
            isGone = file.table(step.table.name) == nil
            guard !isGone else { return }
            switch step {
            case .rows(var step):
                try load(db, &step)
                state.trail[state.trail.count - 1] = .rows(step)
            case .record(let step): try refresh(db, step)
            }
        }
        guard isGone else { return }
        openSelectedTable()
        if state.message == nil {
            state.message = .init(text: "there is no table \(step.table.name) any more")
        }
    }

    func refresh(_ db: Database, _ step: RecordStep) throws {
        guard !step.position.key.isEmpty else { return }
        let table = try current(step.table)
        guard table.key == step.table.key, var new = try record(db, table, step.position) else {
            throw Failure(.sql, "this record of \(step.table.name) is gone")
        }
        new.selected = min(step.selected, max(0, new.lineCount - 1))
        new.firstLine = step.firstLine
        state.trail[state.trail.count - 1] = .record(scrolled(new))
    }

    /// Returns a table as it is declared now.
    func current(_ table: BrowsedTable) throws -> BrowsedTable {
        guard let table = file.table(table.name) else {
            throw Failure(.sql, "there is no table \(table.name) any more")
        }
        return table
    }

    /// Reads the rows from the first one on the screen, or from another start.
    func load(_ db: Database, _ step: inout RowsStep, from other: BrowsedRows.Start? = nil) throws {
        let table = try current(step.source.table)
        if table != step.source.table { step = adapted(step, to: table) }
        let (height, selected) = (state.layout.height, step.selected?.position.key)
        func page(_ start: BrowsedRows.Start, isBackward: Bool = false, limit: Int) throws -> [BrowsedRow] {
            try file.page(
                db, step.source, from: start, isBackward: isBackward, columns: step.loaded, limit: limit)
        }
        var rows: [BrowsedRow]
        if table.key.isEmpty {
            rows = try page(.number(step.skipped), limit: height)
            if rows.isEmpty, step.skipped > 0 {
                step.skipped = 0
                rows = try page(.edge, limit: height)
            }
            step.isAtStart = step.skipped == 0
        } else if let start = other ?? (step.isAtStart ? nil : step.rows.first.map { .at($0.position) }) {
            rows = try page(start, limit: height)
            step.isAtStart = false
            if rows.count < height, !file.wasStopped {
                // The rows before fill the screen.
                let end: BrowsedRows.Start
                if let first = rows.first {
                    end = .behind(first.position)
                } else if case .at(let position) = start {
                    end = .behind(position)
                } else {
                    end = start
                }
                let missing = height - rows.count
                let before = try page(end, isBackward: true, limit: missing)
                rows = before.reversed() + rows
                step.isAtStart = before.count < missing && !file.wasStopped
            }
        } else {
            rows = try page(.edge, limit: height)
            step.isAtStart = true
        }
        step.rows = rows
        var index = rows.firstIndex { !$0.position.key.isEmpty && $0.position.key == selected }
        if case .at(let position) = other { index = rows.firstIndex { $0.position.key == position.key } }
        step.selectedRow = max(0, min(index ?? step.selectedRow, rows.count - 1))
        step.isIncomplete = file.wasStopped
        step.count =
            file.wasStopped ? nil : try file.count(db, step.source, upTo: RowsStep.mostCounted + 1)
        step.widen()
        settle(&step)
    }

    /// Returns rows of a table whose declaration has changed.
    func adapted(_ old: RowsStep, to table: BrowsedTable) -> RowsStep {
        func name(_ column: Int) -> String? {
            old.source.table.columns.indices.contains(column) ? old.source.table.columns[column].name : nil
        }
        var source = BrowsedRows(table: table, conditions: old.source.conditions, search: old.source.search)
        if let order = old.source.order, let column = name(order.column).flatMap(table.index) {
            source.order = ColumnOrder(column: column, isDescending: order.isDescending)
        }
        var new = RowsStep(source)
        new.selectColumn(name(old.selectedColumn).flatMap(table.index) ?? 0)
        new.loadAroundSelectedColumn()
        if table.key == old.source.table.key, source.order == nil, old.source.order == nil {
            (new.rows, new.isAtStart, new.selectedRow) = (
                old.rows.map { BrowsedRow(position: $0.position, cells: []) }, old.isAtStart, old.selectedRow
            )
        }
        return new
    }

    func settle(_ step: inout RowsStep) {
        step.firstColumn = ColumnLayout(step, width: max(1, state.layout.rowsWidth)).first
    }

    func openSelectedTable() {
        state.trail = []
        guard state.tables.indices.contains(state.selectedTable) else {
            // A table may appear.
            return read { _ in }
        }
        push(RowsStep(BrowsedRows(table: state.tables[state.selectedTable])))
    }

    /// Shows rows in front. If they cannot be read, they are empty, beside the reason.
    func push(_ step: RowsStep, from start: BrowsedRows.Start? = nil) {
        var step = step
        read { db in try load(db, &step, from: start) }
        state.trail.append(.rows(step))
        selectTable(step.source.table.name)
    }

    // MARK: - Keys

    /// Handles a key.
    ///
    /// - Returns: Whether the browser goes on.
    func handle(_ key: Key) -> Bool {
        if key == .interrupt { return false }
        if state.message?.isBad != true { state.message = nil }
        switch state.mode {
        case .help: state.mode = .browsing
        case .search(let text): enter(key, text)
        case .browsing:
            switch key {
            case .character("q"), .character("Q"): return false
            case .character("?"): state.mode = .help
            case .character("/"): beginSearch()
            case .tab: state.focus = state.focus == .tables && !state.trail.isEmpty ? .rows : .tables
            default:
                if state.focus == .tables { return handleInTables(key) }
                switch state.trail.last {
                case .rows(let step): handle(key, step)
                case .record(let step): handle(key, step)
                case nil: break
                }
            }
        }
        return true
    }

    func handleInTables(_ key: Key) -> Bool {
        let last = state.tables.count - 1
        var index = state.selectedTable
        switch key {
        case .up, .character("k"): index -= 1
        case .down, .character("j"): index += 1
        case .pageUp, .character("b"): index -= state.layout.height
        case .pageDown, .character(" "): index += state.layout.height
        case .home, .character("g"): index = 0
        case .end, .character("G"): index = last
        case .enter, .right, .character("l"):
            if !state.trail.isEmpty { state.focus = .rows }
        default: break
        }
        index = max(0, min(index, last))
        if index != state.selectedTable {
            state.selectedTable = index
            openSelectedTable()
        }
        return true
    }

    func handle(_ key: Key, _ old: RowsStep) {
        var step = old
        switch key {
        case .up, .character("k"): return move(step, by: -1)
        case .down, .character("j"): return move(step, by: 1)
        case .pageUp, .character("b"): return turnPage(step, isBackward: true)
        case .pageDown, .character(" "): return turnPage(step, isBackward: false)
        case .home, .character("g"): return reload(step, from: nil)
        case .end, .character("G"): return goToEnd(step)
        case .left, .character("h"):
            if step.selectedColumn == 0 { return back() }
            step.selectColumn(step.selectedColumn - 1)
        case .right, .character("l"): step.selectColumn(step.selectedColumn + 1)
        case .enter: return open(step)
        case .backspace: return back()
        case .character("r"): return openRecord(step, showsRelations: true)
        case .character("s"): return sort(step)
        case .escape: return endSearch(step)
        default: return
        }
        if !step.isSelectedColumnLoaded {
            step.loadAroundSelectedColumn()
            read { db in try load(db, &step) }
        }
        settle(&step)
        replace(step)
    }

    func replace(_ step: RowsStep) { state.trail[state.trail.count - 1] = .rows(step) }

    /// Reads the rows anew from the first one, or from another start.
    func reload(_ old: RowsStep, from start: BrowsedRows.Start?) {
        var step = old
        if start == nil { (step.rows, step.isAtStart, step.skipped, step.selectedRow) = ([], true, 0, 0) }
        read { db in
            try load(db, &step, from: start)
            replace(step)
        }
    }
}
