/// What a record encoded right after it was fetched, in the columns that the fetch lacked.
///
/// A record that was fetched without some of its columns has no idea of what they hold: it encodes the values that its
/// properties have by default. To write these would wipe what nobody has looked at. So they are kept with the layout
/// of what the record remembers, and a column that still encodes the same is left out of its updates.
///
/// ## The life of an unread column
///
/// A fetch that lacks columns of the table asks each record for them: see ``Record/noteUnread(_:)``. Mostly, all records
/// of a fetch answer the same, and share one layout; what a record remembers takes no memory for it. `update`, `save`,
/// `updateChanges` and an upsert write a column once it encodes something else. ``Record/update(_:columns:)`` writes what
/// it names. What is written is no longer unread; what was inserted, deleted, or is forgotten by setting the flag to
/// true, has no unread columns at all. All of it follows the transaction, as the layout belongs to what is remembered.
/// A column that the table has been given since the fetch is noted when it is met: see ``Record/noteAddedColumns(_:)``.
final class UnreadColumns {
    /// The columns, as they were encoded.
    let row: PackedRow

    private init(_ row: PackedRow) { self.row = row }

    /// Columns with their values. Nil for none.
    convenience init?(_ columns: [(name: String, value: DatabaseValue)]) {
        if columns.isEmpty { return nil }
        let layout = RowLayout(names: columns.map(\.name), sql: nil)
        self.init(PackedRow.make(layout, values: columns.map(\.value)))
    }

    /// Some of the columns that a record encodes. Nil for none.
    convenience init?(_ mask: ColumnMask, of columns: PackedColumns) {
        if mask.isEmpty { return nil }
        let names = columns.names(of: mask)
        var pieces: [PackedValue] = []
        columns.eachColumn(in: mask) { pieces.append($0) }
        self.init(PackedRow.make(RowLayout(names: names, sql: nil), copying: pieces))
    }

    /// Which of a record's columns are among these, and still hold what they held.
    func untouched(in columns: PackedColumns) -> ColumnMask {
        var mask = ColumnMask()
        columns.eachColumn { column, value in
            guard let position = row.layout.column(named: columns.layout.names[column]) else { return }
            if value.isStored(as: row.column(position), in: nil) { mask.insert(column) }
        }
        return mask
    }

    /// These without some of a record's columns. Nil for none.
    func without(_ mask: ColumnMask, of columns: PackedColumns) -> UnreadColumns? {
        without(columns.names(of: mask))
    }

    /// These without some columns. Nil for none.
    func without(_ names: [String]) -> UnreadColumns? {
        let values = self.values.filter { value in
            !names.contains { CaseInsensitiveName.matches($0, value.name) }
        }
        return values.count == row.count ? self : UnreadColumns(values)
    }

    /// Some of a record's columns, and others that were unread before. Nil for none.
    static func joining(
        _ mask: ColumnMask, of columns: PackedColumns, with others: UnreadColumns?
    ) -> UnreadColumns? {
        if mask.isEmpty { return others }
        let added = columns.layout.names.indices.filter(mask.contains)
            .map { (name: columns.layout.names[$0], value: columns[$0]) }
        return UnreadColumns(added + (others?.without(mask, of: columns)?.values ?? []))
    }

    private var values: [(name: String, value: DatabaseValue)] {
        zip(row.layout.names, row.databaseValues).map { (name: $0, value: $1) }
    }

    /// Whether others are the same, byte for byte.
    func isSame(as other: UnreadColumns) -> Bool {
        row.layout.hasSameNames(as: other.row.layout) && row.bytes.isSame(as: other.row.bytes)
    }
}

extension Record {
    /// Notes what the record encodes in columns that it was fetched without. Returns the layout of what it remembers now,
    /// or nil where it encodes no such column.
    ///
    /// - Parameter known: A layout that another record of the fetch was given.
    @inline(never)
    final func noteUnread(sharing known: RowLayout?) -> RowLayout? {
        if !hasDatabaseChanges { return nil }
        // Where the record cannot be encoded, what it has encoded until then counts.
        let columns = encodedSoFar()
        guard let row = snapshot else { return nil }
        let missing = columns.layout.names.indices.filter {
            row.layout.column(named: columns.layout.names[$0]) == nil
        }
        guard let unread = UnreadColumns(ColumnMask(missing), of: columns) else { return nil }
        let isKnown =
            known.map { row.layout.hasSameNames(as: $0) && $0.unreadColumns?.isSame(as: unread) == true }
            ?? false
        let layout =
            isKnown ? known ?? row.layout : row.layout.with(unread, key: row.layout.key(of: type(of: self)))
        snapshot = row.copy(layout)
        return layout
    }

    /// Notes what an element of a fetch encodes in columns that its row lacks, once it is complete. The first one was asked
    /// before, while it was made: until now, nobody knew that there would be another time.
    @usableFromInline @inline(never)
    final func noteUnread(of row: LiveRow) {
        let (storage, type) = (row.storage, ObjectIdentifier(type(of: self)))
        // An initializer may make records of another type of the row, which may have all of their columns.
        guard
            storage.pointee.elements.pointee.partialRecordType == type
                || storage.pointee.elements.pointee.elementType == type,
            snapshot != nil
        else { return }
        storage.pointee.elements.pointee.elementType = type
        let isShared = storage.pointee.elements.pointee.partialRecordType == type
        let partial = noteUnread(sharing: isShared ? storage.pointee.elements.pointee.partialLayout : nil)
        if isShared, let partial { storage.pointee.elements.pointee.partialLayout = partial }
    }

    final func encodedSoFar() -> PackedColumns {
        let columns = PackedColumns()
        // The names make the layout: there is nothing else to throw.
        try? columns.pack(makeLayout: { RowLayout(names: $0, sql: nil) }, { try? _encodeColumns(to: &$0) })
        return columns
    }

    // MARK: - What is written

    /// The layout of what the record remembers.
    final var knownLayout: RowLayout? { RememberedRow.View(self)?.layout.object }

    /// The columns that the record never read, and has not changed.
    final func untouched(in writer: RecordWriter) -> ColumnMask {
        noteAddedColumns(writer)
        return writer.columns.untouched(knowing: knownLayout)
    }
}

extension RowLayout {
    /// What a record that has this layout never read.
    var unreadColumns: UnreadColumns? { unread.map { unsafeDowncast($0, to: UnreadColumns.self) } }

    /// Makes a layout of records that never read some columns, or have read all.
    ///
    /// - Parameter key: The columns of the primary key, where they were learnt.
    func with(_ unread: UnreadColumns?, key: KeyColumns? = nil) -> RowLayout {
        if unread === self.unread, key ?? self.key == self.key { return self }
        return RowLayout(
            names: names, sql: sql, affinities: affinities, key: key ?? self.key, unread: unread)
    }
}

extension PackedColumns {
    /// The columns that a record never read, and has not changed.
    func untouched(knowing layout: RowLayout?) -> ColumnMask {
        layout?.unreadColumns?.untouched(in: self) ?? ColumnMask()
    }

    /// The columns that differ from a row, but for those that were never read, nor changed.
    @inline(never)
    func changesToWrite(from row: PackedRow) -> ColumnMask {
        changesByName(from: row).subtracting(untouched(knowing: row.layout))
    }

    /// Whether the columns are those of a layout.
    func isLaid(out layout: Unretained<RowLayout>) -> Bool { layout.use { isLaid(out: $0) } }

    /// Whether a row has columns that are not among these.
    func lacksColumns(of other: RowLayout) -> Bool {
        !layout.hasSameNames(as: other) && other.names.contains { layout.column(named: $0) == nil }
    }
}

extension PackedRow {
    /// What a column holds of the value in it: what the database holds, where the row is what was encoded.
    func storedValue(at column: Int) -> DatabaseValue {
        let value = databaseValue(at: column)
        return layout.affinity(ofColumn: column)?.storing(value) ?? value
    }
}

extension PackedRow {
    /// The row of a record, without columns that the record never read. The row has all that the record encodes.
    func forgetting(_ unread: ColumnMask, of columns: PackedColumns) -> PackedRow {
        let kept = layout.names.indices.filter { !unread.contains($0) }
        let names = kept.map { layout.names[$0] }
        let remembered = RowLayout(
            names: names, sql: nil, affinities: kept.map(layout.affinity(ofColumn:)),
            key: layout.key, unread: UnreadColumns(unread, of: columns))
        let values = kept.map(databaseValue(at:))
        return PackedRow.make(remembered, values: values).copy(
            remembered, previous: PreviousState(memory: memory, moment: moment))
    }

    /// The row with what else a record knows, which encodes columns that the row lacks: what it knew of them before, or
    /// what it has. Nil where there are no such columns.
    func knowing(_ before: PackedRow?, encoding columns: PackedColumns) -> PackedRow? {
        let missing = columns.layout.names.enumerated().filter { layout.column(named: $1) == nil }
        if missing.isEmpty { return nil }
        var (names, values) = (layout.names, databaseValues)
        var affinities = (0..<count).map(layout.affinity(ofColumn:))
        var unread: [(name: String, value: DatabaseValue)] = []
        // What was unread before held then what it is compared with.
        let known = before?.layout.unreadColumns?.row
        for (column, name) in missing {
            if let before, let place = before.layout.column(named: name) {
                names.append(name)
                values.append(before.databaseValue(at: place))
                affinities.append(before.layout.affinity(ofColumn: place))
            }
            if let known, let place = known.layout.column(named: name) {
                unread.append((name, known.databaseValue(at: place)))
            } else if before?.layout.column(named: name) == nil {
                unread.append((name, columns[column]))
            }
        }
        let remembered = RowLayout(
            names: names, sql: nil, affinities: affinities, key: layout.key, unread: UnreadColumns(unread))
        return PackedRow.make(remembered, values: values).copy(
            remembered, previous: PreviousState(memory: memory, moment: moment))
    }
}

extension TableSchema {
    /// Where the columns of a primary key stand among others, in its order. Those that are not there are left out.
    func places(ofKey key: [String], in names: [String]) -> [Int] {
        func place(_ name: String) -> Int? { names.firstIndex { CaseInsensitiveName.matches($0, name) } }
        let found = key.compactMap(place)
        if !found.isEmpty || !primaryKey.isHiddenRowID { return found }
        // The row id may be encoded under any of its names.
        return Self.rowIDNames.lazy.filter { self.column(named: $0) == nil }.compactMap(place).prefix(1).map {
            $0
        }
    }
}
