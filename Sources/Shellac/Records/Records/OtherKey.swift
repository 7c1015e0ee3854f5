// Decides whether a record identifies another row than the one that it remembers.
//
// It does if its primary key was changed. A change between values that the column treats as equal
// does not count, such as letters of another case with NOCASE.
//
// Writing and reporting use the same answer. A key that was NULL, or became NULL, is another key.
// The values that were read belong to a row that the record no longer identifies, whether it
// identifies one now or not. An update of the row with the new key, or an insertion, will write all
// of them. So all of them count as changed.
//
// A key that was never read is another key once it is set, because the columns may come from any
// row. As long as the record has the key that it had right after its fetch, nothing was changed.

extension PackedColumns {
    /// Whether the columns have another primary key than a row.
    ///
    /// - Parameter places: The positions of the columns of the key. Empty if they are unknown.
    func hasOtherKey(_ places: [Int], of key: KeyColumns, than row: PackedRow) -> Bool {
        row.isOfOtherKey(places, of: key, layout) { column($0) }
    }
}

extension PackedRow {
    /// Whether the row has another primary key than an earlier row.
    func hasOtherKey(_ places: [Int], of key: KeyColumns, than row: PackedRow) -> Bool {
        row.isOfOtherKey(places, of: key, layout) { column($0) }
    }

    /// Whether other columns have another primary key than this row.
    ///
    /// - Parameters:
    ///   - places: The positions of the columns of the key among the others. Empty if they are
    ///     unknown.
    ///   - column: A function that returns the value of another column.
    fileprivate func isOfOtherKey(
        _ places: [Int], of key: KeyColumns, _ others: RowLayout, _ column: (Int) -> PackedValue
    ) -> Bool {
        let unread = layout.unreadColumns?.row
        return zip(places, key.comparisons).contains { place, comparison in
            let (name, new) = (others.names[place], column(place))
            if let position = layout.column(named: name) {
                return !new.isSameKey(as: self.column(position), by: comparison)
            }
            guard let unread, let position = unread.layout.column(named: name) else { return true }
            return !new.isStored(as: unread.column(position), in: nil)
        }
    }
}

extension RowLayout {
    /// Returns the positions of the columns of a primary key among these columns. Empty unless all
    /// are there.
    func places(of key: KeyColumns) -> [Int] {
        let found = key.names.compactMap(column(named:))
        return found.count == key.names.count ? found : []
    }
}

extension PackedValue {
    /// Whether a record with the value in a column of its key identifies the row that holds the
    /// other value.
    func isSameKey(as stored: PackedValue, by comparison: ColumnComparison) -> Bool {
        isStored(as: stored, in: comparison.affinity)
            || comparison.areEqual(view.databaseValue, stored.view.databaseValue)
    }
}
