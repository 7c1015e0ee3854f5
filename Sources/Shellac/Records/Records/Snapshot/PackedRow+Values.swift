// Copies a packed row with the values of some columns replaced or added.

extension PackedRow {
    /// Makes a row with other values in some columns, which it may have lacked, and with the same
    /// previous state.
    func with(_ values: [(name: String, value: DatabaseValue)]) -> PackedRow {
        var (names, all) = (layout.names, databaseValues)
        var isSame = true
        for (name, value) in values {
            if let column = layout.column(named: name) {
                if all[column] == value { continue }
                all[column] = value
            } else {
                names.append(name)
                all.append(value)
            }
            isSame = false
        }
        if isSame { return self }
        var layout = layout
        if names.count > count {
            layout = RowLayout(
                names: names, sql: layout.sql, affinities: (0..<names.count).map(layout.affinity(ofColumn:)),
                key: layout.key, unread: layout.unreadColumns?.without(Array(names[count...])))
        }
        return PackedRow.make(layout, values: all).copy(
            layout, previous: PreviousState(memory: memory, moment: moment))
    }
}
