// Whether a record means another row than the one that it remembers: its primary key was changed, and not only in what
// the column takes for equal, as letters of another case by NOCASE.
//
// There is one answer, for what is written as well as for what is told. A key that was, or has become, NULL is another key:
// what was read belongs to a row that the record no longer means, whether it means one now or not. All of it will be
// written, by an update of the row that has the key, or by an insertion, and so all of it counts as changed. A key that was
// never read is another one once it is given: nobody knows whose columns were read. As long as the record has it as it was
// right after its fetch, nothing was changed.

extension PackedColumns {
    /// Whether the columns have another primary key than a row.
    ///
    /// - Parameter places: Where the columns of the key stand. Empty where they are not known.
    func hasOtherKey(_ places: [Int], of key: KeyColumns, than row: PackedRow) -> Bool {
        row.isOfOtherKey(places, of: key, layout) { column($0) }
    }
}

extension PackedRow {
    /// Whether the row has another primary key than one before it.
    func hasOtherKey(_ places: [Int], of key: KeyColumns, than row: PackedRow) -> Bool {
        row.isOfOtherKey(places, of: key, layout) { column($0) }
    }

    /// Whether others have another primary key than this row.
    ///
    /// - Parameters:
    ///   - places: Where the columns of the key stand among the others. Empty where they are not known.
    ///   - column: Gives the value of another column.
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
    /// Returns where the columns of a primary key stand among these. Empty unless all are there.
    func places(of key: KeyColumns) -> [Int] {
        let found = key.names.compactMap(column(named:))
        return found.count == key.names.count ? found : []
    }
}

extension PackedValue {
    /// Whether a record that has the value in a column of its key means the row that holds another one.
    func isSameKey(as stored: PackedValue, by comparison: ColumnComparison) -> Bool {
        isStored(as: stored, in: comparison.affinity)
            || comparison.areEqual(view.databaseValue, stored.view.databaseValue)
    }
}
