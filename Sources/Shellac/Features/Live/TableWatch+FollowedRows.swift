// The rows of a table that records follow: see ``FollowedRows``.

extension TableWatch {
    /// Notes a row that is about to be changed. Returns whether it may be followed.
    func noteFollowed(
        _ row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns, _ generation: UInt64
    ) -> Bool {
        // Each is asked: several may follow rows of one table.
        followed.reduce(false) { $1.note(row, kind, columns, generation) || $0 }
    }

    /// Finds those that follow a row which was changed.
    func findFollowed(_ event: DatabaseEvent, _ wish: RowWish, _ found: (LiveQuery) -> Void) {
        for rows in followed {
            // Where the row was not looked at while it was changed, there is its row id, or nothing.
            if wish == .anything { rows.note(event) }
            if rows.hasNoted { found(rows) }
        }
    }

    /// Finds all that follow rows, of which nothing is known.
    func findAllFollowed(_ found: (LiveQuery) -> Void) {
        for rows in followed {
            rows.anythingMayHaveChanged(isWritten: true)
            found(rows)
        }
    }
}
