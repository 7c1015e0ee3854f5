// Whether a record means another row than the one that it remembers: its primary key was changed.
//
// There is one answer, for what is written as well as for what is told. A key that was, or has become, NULL is another key:
// what was read belongs to a row that the record no longer means, whether it means one now or not. All of it will be
// written, by an update of the row that has the key, or by an insertion, and so all of it counts as changed. A key that was
// never read is another one once it is given: nobody knows whose columns were read. As long as the record has it as it was
// right after its fetch, nothing was changed.

extension PackedColumns {
    /// Whether the columns have another primary key than a row.
    func hasOtherKey(_ key: [Int], than row: PackedRow) -> Bool {
        row.isOfOtherKey(key, layout) { column($0) }
    }
}

extension PackedRow {
    /// Whether the row has another primary key than one before it.
    func hasOtherKey(_ key: [Int], than row: PackedRow) -> Bool {
        row.isOfOtherKey(key, layout) { column($0) }
    }

    /// Whether others have another primary key than this row.
    ///
    /// - Parameters:
    ///   - key: Where the columns of the key stand among the others. Empty where they are not known.
    ///   - column: Gives the value of another column.
    fileprivate func isOfOtherKey(
        _ key: [Int], _ others: RowLayout, _ column: (Int) -> PackedValue
    ) -> Bool {
        let unread = layout.unreadColumns?.row
        return key.contains { place in
            let (name, new) = (others.names[place], column(place))
            if let position = layout.column(named: name) {
                let affinity = layout.affinity(ofColumn: position) ?? others.affinity(ofColumn: place)
                return !new.isStored(as: self.column(position), in: affinity)
            }
            guard let unread, let position = unread.layout.column(named: name) else { return true }
            return !new.isStored(as: unread.column(position), in: nil)
        }
    }
}

extension RowLayout {
    /// Returns where the columns of a primary key stand among these. Empty unless all are there.
    func places(of key: [String]) -> [Int] {
        let found = key.compactMap(column(named:))
        return found.count == key.count ? found : []
    }
}
