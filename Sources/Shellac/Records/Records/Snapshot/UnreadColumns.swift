/// The values that a record encoded right after its fetch, in the columns that the fetch lacked.
///
/// A record that was fetched without some of its columns does not have their values, and encodes
/// the default values of its properties. Writing these would erase values that were never read. So
/// they are kept with the layout of the remembered row. If a column still encodes the same value,
/// it is left out of updates.
///
/// ## The life of an unread column
///
/// If a fetch lacks columns of the table, each record is asked for them: see
/// ``Record/noteUnread(_:)``. Usually, the answer is the same for all records of a fetch, and they
/// share one layout. So the remembered row of a record takes no memory for it.
///
/// `update`, `save`, `updateChanges` and an upsert write a column once it encodes another value.
/// ``Record/update(_:columns:)`` writes the columns that it names. Columns that were written are no
/// longer unread. A record that was inserted or deleted has no unread columns, nor has one that was
/// forgotten by setting the flag to true.
///
/// All of this follows the transaction, because the layout belongs to the remembered row. A column
/// that the table got since the fetch is noted on first contact: see
/// ``Record/noteAddedColumns(_:)``.
final class UnreadColumns {
    /// The columns, as they were encoded.
    let row: PackedRow

    private init(_ row: PackedRow) { self.row = row }

    /// Creates columns with their values. Nil if there are none.
    convenience init?(_ columns: [(name: String, value: DatabaseValue)]) {
        if columns.isEmpty { return nil }
        let layout = RowLayout(names: columns.map(\.name), sql: nil)
        self.init(PackedRow.make(layout, values: columns.map(\.value)))
    }

    /// Creates columns from some of those that a record encodes. Nil if there are none.
    convenience init?(_ mask: ColumnMask, of columns: PackedColumns) {
        if mask.isEmpty { return nil }
        let names = columns.names(of: mask)
        var pieces: [PackedValue] = []
        columns.eachColumn(in: mask) { pieces.append($0) }
        self.init(PackedRow.make(RowLayout(names: names, sql: nil), copying: pieces))
    }

    /// Returns the columns of a record that are among these, and that still have the same value.
    func untouched(in columns: PackedColumns) -> ColumnMask {
        var mask = ColumnMask()
        columns.eachColumn { column, value in
            guard let position = row.layout.column(named: columns.layout.names[column]) else { return }
            if value.isStored(as: row.column(position), in: nil) { mask.insert(column) }
        }
        return mask
    }

    /// Returns these without some of a record's columns. Nil if none are left.
    func without(_ mask: ColumnMask, of columns: PackedColumns) -> UnreadColumns? {
        without(columns.names(of: mask))
    }

    /// Returns these without some columns. Nil if none are left.
    func without(_ names: [String]) -> UnreadColumns? {
        let values = self.values.filter { value in
            !names.contains { CaseInsensitiveName.matches($0, value.name) }
        }
        return values.count == row.count ? self : UnreadColumns(values)
    }

    /// Returns some of a record's columns, and others that were unread before. Nil if there are
    /// none.
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

    /// Whether other columns are the same, byte for byte.
    func isSame(as other: UnreadColumns) -> Bool {
        row.layout.hasSameNames(as: other.row.layout) && row.bytes.isSame(as: other.row.bytes)
    }
}

extension Record {
    /// Notes the values that the record encodes in columns that its fetch lacked. Returns the
    /// layout of the row that it remembers now, or nil if it encodes no such column.
    ///
    /// - Parameter known: The layout that another record of the fetch got.
    @inline(never)
    final func noteUnread(sharing known: RowLayout?) -> RowLayout? {
        if !hasDatabaseChanges { return nil }
        // If the record cannot be encoded, the columns encoded until then count.
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

    /// Notes the values that a complete element of a fetch encodes in columns that its row lacks.
    /// The first element has noted them while it was made, before it was known that this call would
    /// follow.
    @usableFromInline @inline(never)
    final func noteUnread(of row: LiveRow) {
        let (storage, type) = (row.storage, ObjectIdentifier(type(of: self)))
        // An initializer may make records of another type from the row, which may have all of their
        // columns.
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
        // The layout is made from the names, and nothing else can throw.
        try? columns.pack(makeLayout: { RowLayout(names: $0, sql: nil) }, { try? _encodeColumns(to: &$0) })
        return columns
    }

    // MARK: - Columns that are written

    /// The layout of the row that the record remembers.
    final var knownLayout: RowLayout? { RememberedRow.View(self)?.layout.object }

    /// Returns the columns that the record never read, and has not changed.
    final func untouched(in writer: RecordWriter) -> ColumnMask {
        noteAddedColumns(writer)
        return writer.columns.untouched(knowing: knownLayout)
    }
}

extension RowLayout {
    /// The columns that a record with this layout never read.
    var unreadColumns: UnreadColumns? { unread.map { unsafeDowncast($0, to: UnreadColumns.self) } }

    /// Makes a layout for records that never read some columns, or have read all.
    ///
    /// - Parameter key: The columns of the primary key, if they were learned.
    func with(_ unread: UnreadColumns?, key: KeyColumns? = nil) -> RowLayout {
        if unread === self.unread, key ?? self.key == self.key { return self }
        return RowLayout(
            names: names, sql: sql, affinities: affinities, key: key ?? self.key, unread: unread)
    }
}

extension PackedColumns {
    /// Returns the columns that a record never read, and has not changed.
    func untouched(knowing layout: RowLayout?) -> ColumnMask {
        layout?.unreadColumns?.untouched(in: self) ?? ColumnMask()
    }

    /// Returns the columns that differ from a row, without columns that were neither read nor
    /// changed.
    @inline(never)
    func changesToWrite(from row: PackedRow) -> ColumnMask {
        changesByName(from: row).subtracting(untouched(knowing: row.layout))
    }

    /// Whether the columns match a layout.
    func isLaid(out layout: Unretained<RowLayout>) -> Bool { layout.use { isLaid(out: $0) } }

    /// Whether a row has columns that are not among these.
    func lacksColumns(of other: RowLayout) -> Bool {
        !layout.hasSameNames(as: other) && other.names.contains { layout.column(named: $0) == nil }
    }
}

extension PackedRow {
    /// Returns the value that the column stores. This is the database's value if the row is an
    /// encoded one.
    func storedValue(at column: Int) -> DatabaseValue {
        let value = databaseValue(at: column)
        return layout.affinity(ofColumn: column)?.storing(value) ?? value
    }
}

extension PackedRow {
    /// Returns the row of a record without columns that the record never read. The row has all
    /// columns that the record encodes.
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

    /// Returns the row with further values, for columns that the record encodes but the row lacks.
    /// They are the values remembered before, or the record's own. Nil if there are no such
    /// columns.
    func knowing(_ before: PackedRow?, encoding columns: PackedColumns) -> PackedRow? {
        let missing = columns.layout.names.enumerated().filter { layout.column(named: $1) == nil }
        if missing.isEmpty { return nil }
        var (names, values) = (layout.names, databaseValues)
        var affinities = (0..<count).map(layout.affinity(ofColumn:))
        var unread: [(name: String, value: DatabaseValue)] = []
        // For a column that was unread before, the value to compare with stays the same.
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
    /// Returns the places of the columns of a primary key among others, in its order. Missing
    /// columns are left out.
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
