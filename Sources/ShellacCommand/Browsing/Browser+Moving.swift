// Moves the selection over the rows of a table, and reads the rows that come into view.

import Shellac

extension Browser {
    func move(_ old: RowsStep, by distance: Int) {
        var step = old
        let target = step.selectedRow + distance
        if step.rows.indices.contains(target) {
            step.selectedRow = target
            return replace(step)
        }
        read { db in
            let new = try rows(db, step, isBackward: distance < 0, limit: 1)
            take(new, &step, isBackward: distance < 0)
            if !new.isEmpty { step.selectedRow = distance < 0 ? 0 : step.rows.count - 1 }
            replace(step)
        }
    }

    func turnPage(_ old: RowsStep, isBackward: Bool) {
        var step = old
        read { db in
            let new = try rows(db, step, isBackward: isBackward, limit: state.layout.height)
            take(new, &step, isBackward: isBackward)
            if new.isEmpty { step.selectedRow = isBackward ? 0 : max(0, step.rows.count - 1) }
            replace(step)
        }
    }

    /// Reads the rows before the first one on the screen, or behind the last one, in the order of
    /// reading.
    func rows(_ db: Database, _ step: RowsStep, isBackward: Bool, limit: Int) throws -> [BrowsedRow] {
        guard let end = isBackward ? step.rows.first : step.rows.last else { return [] }
        guard try current(step.source.table) == step.source.table else { return [] }
        guard end.position.key.isEmpty else {
            return try file.page(
                db, step.source, from: .behind(end.position), isBackward: isBackward, columns: step.loaded,
                limit: limit)
        }
        // Rows without a key are found by their number.
        let number = isBackward ? max(0, step.skipped - limit) : step.skipped + step.rows.count
        let page = try file.page(
            db, step.source, from: .number(number), columns: step.loaded,
            limit: isBackward ? step.skipped - number : limit)
        return isBackward ? page.reversed() : page
    }

    /// Adds rows to those on the screen, and drops as many at the other end.
    func take(_ new: [BrowsedRow], _ step: inout RowsStep, isBackward: Bool) {
        let height = state.layout.height
        step.isIncomplete = file.wasStopped
        if isBackward {
            step.rows = Array((new.reversed() + step.rows).prefix(height))
            step.skipped = max(0, step.skipped - new.count)
            if new.isEmpty, !file.wasStopped { step.isAtStart = true }
        } else {
            let all = step.rows + new
            let dropped = max(0, all.count - height)
            step.rows = Array(all.dropFirst(dropped))
            step.skipped += dropped
            if dropped > 0 { step.isAtStart = false }
        }
        step.widen()
        settle(&step)
    }

    func goToEnd(_ old: RowsStep) {
        var step = old
        guard !step.source.table.key.isEmpty else {
            state.message = .init(text: "these rows have no key by which the last one could be found")
            return
        }
        read { db in
            let height = state.layout.height
            guard try current(step.source.table) == step.source.table else { return }
            let rows = try file.page(
                db, step.source, from: .edge, isBackward: true, columns: step.loaded, limit: height)
            step.rows = rows.reversed()
            step.isIncomplete = file.wasStopped
            step.isAtStart = rows.count < height && !file.wasStopped
            step.selectedRow = max(0, rows.count - 1)
            step.widen()
            settle(&step)
            replace(step)
        }
    }
}
