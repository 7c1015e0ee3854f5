// Opens the row of a foreign key, a record and the rows that refer to it, and goes back.

import Shellac

extension Browser {
    func back() {
        guard state.trail.count > 1 else {
            state.focus = .tables
            return
        }
        state.trail.removeLast()
        if let table = state.trail.last?.table { selectTable(table.name) }
        refresh()
    }

    /// Opens the row that the selected column refers to, or the record.
    func open(_ step: RowsStep) {
        guard let row = step.selected else { return }
        guard let key = step.source.table.foreignKey(of: step.selectedColumn),
            step.cell(row, step.selectedColumn)?.kind != .null, !row.position.key.isEmpty
        else { return openRecord(step, showsRelations: false) }
        follow(key, from: step.source.table, row.position)
    }

    func follow(_ key: ForeignKeyInfo, from table: BrowsedTable, _ position: RowPosition) {
        var found: (step: RowsStep, start: BrowsedRows.Start?)?
        var problem: String?
        read { db in
            let origin = BrowsedFile.source(try current(table), at: position)
            guard let values = try file.firstRow(db, origin, key.originColumns) else {
                problem = "this row of \(table.name) is gone"
                return
            }
            let name = String.place(table.name, key.originColumns)
            if values.contains(where: \.isNull) {
                problem = "\(name) is NULL"
                return
            }
            guard let destination = file.table(key.destinationTable) else {
                problem = "\(name) refers to the table \(key.destinationTable), which does not exist"
                return
            }
            let conditions = zip(key.destinationColumns, values).map {
                ColumnCondition(column: $0, value: $1)
            }
            var step = RowsStep(BrowsedRows(table: destination))
            step.selectColumn(key.destinationColumns.first.flatMap(destination.index) ?? 0)
            if !step.isSelectedColumnLoaded { step.loadAroundSelectedColumn() }
            guard !destination.key.isEmpty else {
                step.source.conditions = conditions
                found = (step, nil)
                return
            }
            let target = BrowsedRows(table: destination, conditions: conditions)
            guard let row = try file.firstRow(db, target, destination.key) else {
                let list = values.map(Differences.text).joined(separator: ", ")
                problem = "\(name) is \(list), and \(destination.name) has no such row"
                return
            }
            found = (step, .at(RowPosition(key: row)))
        }
        if let found { push(found.step, from: found.start) }
        if let problem { state.message = .init(text: problem) }
    }

    func openRecord(_ step: RowsStep, showsRelations: Bool) {
        guard let row = step.selected else { return }
        var new: RecordStep?
        if row.position.key.isEmpty {
            // It cannot be read again, so the record is the row on the screen.
            new = RecordStep(
                table: step.source.table, position: row.position, values: row.cells, relations: [])
        } else {
            read { db in
                new = try record(db, try current(step.source.table), row.position)
                if new == nil { throw Failure(.sql, "this row of \(step.source.table.name) is gone") }
            }
        }
        guard var new else { return }
        if showsRelations, !new.relations.isEmpty {
            new.selected = new.values.count
        } else {
            new.selected = min(step.selectedColumn, max(0, new.lineCount - 1))
        }
        state.trail.append(.record(scrolled(new)))
    }

    /// Reads a record. Returns nil if there is no such row.
    func record(_ db: Database, _ table: BrowsedTable, _ position: RowPosition) throws -> RecordStep? {
        let source = BrowsedFile.source(table, at: position)
        // A row of a result has as many columns as a table may have, and each value takes two.
        let columns = 0..<min(table.columns.count, 900)
        guard
            let row = try file.page(
                db, source, from: .edge, columns: columns, limit: 1, length: RecordStep.valueLength
            ).first
        else { return nil }
        var relations: [RecordStep.Relation] = []
        for child in file.tables {
            for key in child.foreignKeys
            where key.destinationTable.isSameName(as: table.name) && !key.destinationColumns.isEmpty {
                guard let values = try file.firstRow(db, source, key.destinationColumns),
                    !values.contains(where: \.isNull)
                else { continue }
                let conditions = zip(key.originColumns, values).map { ColumnCondition(column: $0, value: $1) }
                let rows = BrowsedRows(table: child, conditions: conditions)
                relations.append(
                    RecordStep.Relation(
                        table: child.name, columns: key.originColumns, conditions: conditions,
                        count: try file.count(db, rows, upTo: RowsStep.mostCounted + 1)))
            }
        }
        return RecordStep(table: table, position: position, values: row.cells, relations: relations)
    }

    func handle(_ key: Key, _ old: RecordStep) {
        var step = old
        let last = max(0, step.lineCount - 1)
        switch key {
        case .up, .character("k"): step.selected = max(0, step.selected - 1)
        case .down, .character("j"): step.selected = min(last, step.selected + 1)
        case .pageUp, .character("b"): step.selected = max(0, step.selected - state.layout.height)
        case .pageDown, .character(" "): step.selected = min(last, step.selected + state.layout.height)
        case .home, .character("g"): step.selected = 0
        case .end, .character("G"): step.selected = last
        case .character("r"):
            step.selected = step.relations.isEmpty ? step.selected : step.values.count
        case .backspace, .left, .escape, .character("h"): return back()
        case .enter, .right, .character("l"): return open(step)
        default: return
        }
        state.trail[state.trail.count - 1] = .record(scrolled(step))
    }

    func open(_ step: RecordStep) {
        if step.selected >= step.values.count {
            guard step.relations.indices.contains(step.selected - step.values.count) else { return }
            let relation = step.relations[step.selected - step.values.count]
            guard let table = file.table(relation.table) else { return }
            push(RowsStep(BrowsedRows(table: table, conditions: relation.conditions)))
        } else if let key = step.table.foreignKey(of: step.selected), !step.position.key.isEmpty {
            follow(key, from: step.table, step.position)
        } else {
            state.message = .init(text: "\(step.table.columns[step.selected].name) refers to no other row")
        }
    }

    /// Scrolls a record so that the selected line is on the screen.
    func scrolled(_ old: RecordStep) -> RecordStep {
        var step = old
        let layout = state.layout
        let lines = BrowserDrawing.lines(step, width: layout.rowsWidth)
        let selected = lines.indices.filter { lines[$0].item == step.selected }
        guard let first = selected.first, let last = selected.last else { return step }
        if last >= step.firstLine + layout.height { step.firstLine = last - layout.height + 1 }
        if first < step.firstLine { step.firstLine = first }
        step.firstLine = max(0, min(step.firstLine, lines.count - layout.height))
        // The heading above the first relation is worth a line or two.
        if step.selected == step.values.count, step.firstLine > first - 1 {
            step.firstLine = max(0, first - 1)
        }
        return step
    }
}
