// Merges a row into a class record that has changes.

extension Record {
    /// Takes the values of a row of the record's table in the columns that the record has not
    /// changed.
    ///
    /// ```swift
    /// player.score = 1000                          // a change of its own
    /// // Somebody else renames the player.
    /// try player.merge(row)
    /// player.name                                  // as in the row
    /// player.score                                 // 1000
    /// try player.databaseChanges                   // ["score": what the row has]
    /// ```
    ///
    /// In a clean column, the property takes the row's value. If a property differs from the
    /// remembered value, it stays as it is. In all of these columns, the record remembers the row
    /// from now on. So a dirty column stays dirty, unless the row has the same value, and
    /// ``databaseChanges`` has the row's value. Columns that the row lacks are left alone. A
    /// column that the record has never read is clean as long as its property is as it was after
    /// the fetch.
    ///
    /// The primary key is a column like any other. But if the row and the record both have a key,
    /// it must be the key that the record remembers. If a record was neither fetched nor saved, all
    /// columns are dirty. It keeps all of its values, and remembers the row. It needs the row's
    /// key.
    ///
    /// Properties that already have the row's value are not set, so their observers are not
    /// notified. If there is anything to take, a class with an ``updateFromRow(_:)`` gets a whole
    /// row. This row has the record's encoded values in dirty columns, and the row's values in the
    /// others.
    ///
    /// The row is assumed to be the state of the database. Inside of an access, the remembered
    /// values follow the transaction, as after ``reload(_:)``. A rollback restores the values
    /// remembered before, and the properties keep their new values.
    ///
    /// - Parameter row: A row of the record's table, with some or all of its columns. It may come
    ///   from ``follow(in:)``, or be fetched.
    /// - Throws: ``RecordError/otherKey(databaseTableName:key:rowKey:)`` if the row has another
    ///   primary key. ``RecordError/rowNotTaken(recordType:reason:)`` if it has none of the
    ///   record's columns, or if the class reads no rows.
    ///   ``RecordError/kindChanged(recordType:kind:row:)`` if the row is of another kind. Any error
    ///   of encoding the record or reading a column. The record is then unchanged.
    public final func merge(_ row: Row) throws {
        let type = type(of: self)
        let coding = ClassCoding.of(type)
        try coding?.use { try $0.checkRefreshing() }
        try type.rowClasses?.checkRow(row)
        let row = row.copy().owned
        let columns = try encoded()
        guard columns.layout.names.contains(where: { row.layout.column(named: $0) != nil }) else {
            throw RecordError.rowNotTaken(
                recordType: "\(type)",
                reason: "the row has none of its columns. Merge a row of the table \(type.databaseTableName)")
        }
        noteAddedColumns(columns.layout) { row.layout.column(named: $0) != nil }
        let remembered = snapshot
        let key = row.layout.keyOfMerge(type, remembered)
        try checkKey(key, of: row, remembered, columns)
        let merge = Merge(row, into: columns, remembered, key, deletion: type.deletionColumn)
        guard merge.changes.isEmpty || Overrides.reading(type) else {
            throw RecordError.rowNotTaken(
                recordType: "\(type)",
                reason: "list the columns in columns(_:), or read them in updateFromRow(_:)")
        }
        let (moment, lastSave) = (note(), lastSave)
        let merged = merge.snapshot(
            previous: PackedRow.PreviousState(
                memory: .merge(before: lastSave?.before, after: lastSave?.after), moment: moment))
        // A setter may read the changes, or save the record.
        snapshot = merged
        if merge.changes.isEmpty { return }
        do { try take(merge) } catch {
            if snapshot === merged { snapshot = remembered }
            giveBack(merge)
            throw error
        }
    }

    /// Takes the values of a row that an update has met, in the columns that the record has not
    /// changed: see ``merge(_:)-(Row)``.
    ///
    /// - Parameter row: The row of ``RecordError/stale(columns:row:)``.
    /// - Throws: as for a ``Row``.
    public final func merge(_ row: CurrentRow) throws { try merge(row.row) }

    /// Checks that a row has the primary key of the record, if both are known.
    private func checkKey(
        _ key: KeyColumns, of row: PackedRow, _ remembered: PackedRow?, _ columns: PackedColumns
    ) throws {
        var (own, others): ([String: DatabaseValue], [String: DatabaseValue]) = ([:], [:])
        var isSame = true
        for (name, comparison) in zip(key.names, key.comparisons) {
            guard let place = row.layout.column(named: name) else { return }
            let value: PackedValue
            if let remembered, let known = remembered.layout.column(named: name) {
                value = remembered.column(known)
            } else if let column = columns.layout.column(named: name) {
                value = columns.column(column)
            } else {
                return
            }
            (own[name], others[name]) = (value.view.databaseValue, row.databaseValue(at: place))
            if !value.isSameKey(as: row.column(place), by: comparison) { isSame = false }
        }
        if !isSame {
            throw RecordError.otherKey(
                databaseTableName: type(of: self).databaseTableName, key: own, rowKey: others)
        }
    }

    /// Sets the properties that a merge changes.
    private func take(_ merge: Merge) throws {
        let changes = Row(merge.changedColumns)
        // The coding can throw before anything is set, so it comes first.
        if let coding = ClassCoding.of(type(of: self)) { try coding.use { try $0.read(changes, into: self) } }
        if Overrides.pair(type(of: self), unlike: Record.self) != false {
            try updateFromRow(Row(merge.wholeRow))
        }
        try readColumns(changes)
    }

    /// Restores the properties as they were before a merge that has failed. It sets each
    /// separately, because a setter may throw again.
    private func giveBack(_ merge: Merge) {
        if Overrides.pair(type(of: self), unlike: Record.self) != false {
            try? updateFromRow(Row(merge.wholeRowBefore))
        }
        guard Overrides.listing(type(of: self)) else { return }
        for change in merge.changes {
            if let old = change.old { _ = try? give(old, to: change.name) }
        }
    }
}

/// The values that a record takes from a row, and the row that it then remembers.
private struct Merge {
    struct Change {
        /// The name of the column, as the record encodes it, or as the row has it.
        let name: String
        /// The property's value. Nil if it is unknown, as for a column that the record never
        /// stores.
        let old: DatabaseValue?
        let new: DatabaseValue
    }
    /// The columns whose properties are set.
    private(set) var changes: [Change] = []

    private let row: PackedRow
    private let encoded: PackedRow
    private let remembered: PackedRow?
    private let key: KeyColumns

    init(
        _ row: PackedRow, into columns: PackedColumns, _ remembered: PackedRow?, _ key: KeyColumns,
        deletion: String?
    ) {
        (self.row, encoded, self.remembered, self.key) = (row, columns.row(), remembered, key)
        let unread = remembered?.layout.unreadColumns?.row
        for (column, name) in encoded.layout.names.enumerated() {
            guard let place = row.layout.column(named: name) else { continue }
            let value = encoded.column(column)
            let isClean: Bool
            var affinity = row.layout.affinity(ofColumn: place)
            if let remembered, let known = remembered.layout.column(named: name) {
                affinity = remembered.layout.affinity(ofColumn: known) ?? affinity
                isClean = value.isStored(as: remembered.column(known), in: affinity)
            } else if let unread, let known = unread.layout.column(named: name) {
                isClean = value.isStored(as: unread.column(known), in: nil)
            } else {
                // If a record does not remember its row, its NULL was not set by the program, and
                // does not restore a deleted row.
                isClean = value.isNull && deletion.map { CaseInsensitiveName.matches($0, name) } ?? false
            }
            if isClean, !value.isStored(as: row.column(place), in: affinity) {
                changes.append(
                    Change(name: name, old: value.view.databaseValue, new: row.databaseValue(at: place)))
            }
        }
        // Columns that the record only reads are always clean.
        for (place, name) in row.layout.names.enumerated()
        where encoded.layout.column(named: name) == nil && row.layout.column(named: name) == place {
            let old = remembered.flatMap { known in
                known.layout.column(named: name).map(known.databaseValue(at:))
            }
            let new = row.databaseValue(at: place)
            if old?.isIdentical(with: new) != true { changes.append(Change(name: name, old: old, new: new)) }
        }
    }

    // MARK: - Rows that are read

    /// Only the columns that change.
    var changedColumns: PackedRow {
        let layout = RowLayout(names: changes.map(\.name), sql: row.layout.sql)
        return PackedRow.make(layout, values: changes.map(\.new))
    }

    /// All columns that the record encodes, with the changes.
    var wholeRow: PackedRow { wholeRow(\.new) }

    /// All columns that the record encodes, as they were before.
    var wholeRowBefore: PackedRow { wholeRow(\.old) }

    private func wholeRow(_ value: (Change) -> DatabaseValue?) -> PackedRow {
        var columns = zip(encoded.layout.names, encoded.databaseValues).map { (name: $0, value: $1) }
        func set(_ name: String, _ value: DatabaseValue) {
            if let place = columns.firstIndex(where: { CaseInsensitiveName.matches($0.name, name) }) {
                columns[place].value = value
            } else {
                columns.append((name, value))
            }
        }
        // Columns that the record only reads are included as well.
        for known in [remembered, row] {
            guard let known else { continue }
            for (place, name) in known.layout.names.enumerated()
            where encoded.layout.column(named: name) == nil && known.layout.column(named: name) == place {
                set(name, known.databaseValue(at: place))
            }
        }
        for change in changes { if let value = value(change) { set(change.name, value) } }
        return PackedRow.make(
            RowLayout(names: columns.map(\.name), sql: row.layout.sql), values: columns.map(\.value))
    }

    // MARK: - The remembered row

    /// Returns the row that the record remembers from now on. Columns that the row lacks keep the
    /// values remembered before.
    func snapshot(previous: consuming PackedRow.PreviousState) -> PackedRow {
        let known = remembered?.layout
        let unread = known?.unreadColumns?.without(row.layout.names)
        guard let remembered, let known, known.names.contains(where: { row.layout.column(named: $0) == nil })
        else {
            return row.copy(layout(row.layout, unread), previous: previous)
        }
        var names = known.names
        var values = remembered.databaseValues
        for (place, name) in row.layout.names.enumerated() where row.layout.column(named: name) == place {
            if let column = known.column(named: name) {
                values[column] = row.databaseValue(at: place)
            } else {
                names.append(name)
                values.append(row.databaseValue(at: place))
            }
        }
        let composed =
            names.count == known.count && unread === known.unreadColumns
            ? known
            : layout(RowLayout(names: names, sql: known.sql ?? row.layout.sql), unread)
        return PackedRow.make(composed, values: values).copy(composed, previous: previous)
    }

    /// Returns a layout of the same columns, with the known facts about the table.
    private func layout(_ layout: RowLayout, _ unread: UnreadColumns?) -> RowLayout {
        let known = remembered?.layout
        let affinities = layout.names.map { name in
            Self.affinity(of: name, in: row.layout) ?? known.flatMap { Self.affinity(of: name, in: $0) }
                ?? key.affinity(of: name)
        }
        if layout === row.layout, unread == nil, layout.key == key,
            affinities == layout.names.indices.map(layout.affinity(ofColumn:))
        {
            return layout
        }
        return RowLayout(
            names: layout.names, sql: layout.sql ?? known?.sql, affinities: affinities, key: key,
            unread: unread)
    }

    private static func affinity(of name: String, in layout: RowLayout) -> ColumnAffinity? {
        layout.column(named: name).flatMap(layout.affinity(ofColumn:))
    }
}

extension RowLayout {
    /// Returns the primary key columns of a type's table, as far as the record, its row, or the
    /// running access has them.
    fileprivate func keyOfMerge(_ type: Record.Type, _ remembered: PackedRow?) -> KeyColumns {
        let known = remembered?.layout.key(of: type) ?? .none
        if !known.isEmpty { return known }
        let own = key(of: type)
        if !own.isEmpty { return own }
        learnKey(of: type)
        let names = type.databasePrimaryKey ?? []
        return learntKey(ofClass: UInt(bitPattern: ObjectIdentifier(type)))
            ?? KeyColumns(names: names, comparisons: names.map { _ in .unknown })
    }
}

extension DatabaseValue {
    /// Whether another value has the same storage class, and the same value to the last bit.
    fileprivate func isIdentical(with other: DatabaseValue) -> Bool {
        switch (storage, other.storage) {
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        default: self == other
        }
    }
}
