// The rows of a table that records follow: see ``FollowedRows``.

extension TableWatch {
    /// Notes a row that is about to be changed. Returns whether it may be followed.
    func noteFollowed(
        _ row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns, _ generation: UInt64
    ) -> Bool {
        // All are called: several queries may follow rows of one table.
        followed.reduce(false) { $1.note(row, kind, columns, generation) || $0 }
    }

    /// Finds the queries that follow a changed row.
    func findFollowed(_ event: DatabaseEvent, _ wish: RowInterest, _ found: (LiveQuery) -> Void) {
        for rows in followed {
            // If the row was not examined during its change, only its row id is known, or nothing.
            if wish == .anything { rows.note(event) }
            if rows.hasNoted { found(rows) }
        }
    }

    /// Finds all queries that follow rows, for unknown changes.
    func findAllFollowed(_ found: (LiveQuery) -> Void) {
        for rows in followed {
            rows.anythingMayHaveChanged(isWritten: true)
            found(rows)
        }
    }
}
