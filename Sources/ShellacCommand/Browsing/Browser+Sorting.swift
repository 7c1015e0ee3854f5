// Sorts rows by a column, and searches rows and the names of tables.

import Shellac

extension Browser {
    func sort(_ old: RowsStep) {
        var step = old
        guard !step.source.table.columns.isEmpty else { return }
        if let order = step.source.order, order.column == step.selectedColumn {
            step.source.order =
                order.isDescending ? nil : ColumnOrder(column: order.column, isDescending: true)
        } else {
            step.source.order = ColumnOrder(column: step.selectedColumn)
        }
        // The heading has an arrow.
        let name = step.source.table.columns[step.selectedColumn].name
        step.widths[step.selectedColumn] = max(
            step.widths[step.selectedColumn], TextWidth.of(TextWidth.visible(name)) + 2)
        let isLarge = step.count.map { $0 > RowsStep.mostCounted } ?? true
        reload(step, from: nil)
        let isKey = step.source.table.key == [name]
        if step.source.order != nil, isLarge, !isKey, !step.source.table.hasIndex(beginningWith: [name]),
            state.message == nil
        {
            state.message = .init(text: "no index begins with \(name), so each page reads all rows")
        }
    }

    func beginSearch() {
        if state.focus == .tables {
            state.mode = .search("")
        } else if case .rows(let step) = state.trail.last {
            state.mode = .search(step.source.search ?? "")
        }
    }

    func enter(_ key: Key, _ text: String) {
        switch key {
        case .character(let character): state.mode = .search(text + String(character))
        case .backspace: state.mode = text.isEmpty ? .browsing : .search(String(text.dropLast()))
        case .escape: state.mode = .browsing
        case .enter:
            state.mode = .browsing
            if state.focus == .tables {
                searchTables(text)
            } else if case .rows(var step) = state.trail.last {
                step.source.search = text.isEmpty ? nil : text
                reload(step, from: nil)
            }
        default: break
        }
    }

    func searchTables(_ text: String) {
        let count = state.tables.count
        let order = (0..<count).map { (state.selectedTable + 1 + $0) % count }
        let found = order.first { state.tables[$0].name.lowercased().contains(text.lowercased()) }
        guard let found else {
            state.message = .init(text: "no table has \(text) in its name")
            return
        }
        state.selectedTable = found
        openSelectedTable()
    }

    /// Shows all rows again, beginning with the selected one.
    func endSearch(_ old: RowsStep) {
        guard old.source.search != nil else { return }
        var step = old
        step.source.search = nil
        guard let position = step.selected?.position, !position.key.isEmpty else {
            return reload(step, from: nil)
        }
        reload(step, from: .at(position))
    }
}
