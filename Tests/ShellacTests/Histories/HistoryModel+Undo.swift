// The expected effects of `DatabaseUndo`.

extension HistoryModel {
    /// The transactions that can be undone and redone: the rows before each one, and after each one
    /// that was undone.
    struct Groups {
        /// The rows when the last group was made, or played.
        var settled: Rows
        var undo: [Rows] = []
        var redo: [Rows] = []
    }

    mutating func record(_ isOn: Bool) { groups = isOn ? Groups(settled: rows) : nil }

    /// Makes a group of what a transaction has changed, or a statement outside of one.
    mutating func makeGroup() {
        guard var groups, groups.settled != rows else { return }
        groups.undo.append(groups.settled)
        groups.redo = []
        groups.settled = rows
        self.groups = groups
    }

    /// Undoes the last group, or redoes it. Returns whether there was one.
    mutating func play(_ operation: History.Operation) -> Bool {
        guard var groups else { return false }
        if case .undo = operation {
            guard let last = groups.undo.popLast() else { return false }
            groups.redo.append(groups.settled)
            groups.settled = last
        } else {
            guard let last = groups.redo.popLast() else { return false }
            groups.undo.append(groups.settled)
            groups.settled = last
        }
        rows = groups.settled
        self.groups = groups
        return true
    }
}
