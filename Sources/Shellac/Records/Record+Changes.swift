// What a record remembers of its row, and how it differs.

extension Record {
    /// Whether the record differs from what the database holds, as far as it is known.
    ///
    /// The record is encoded, and compared with what it remembers of its row. A record that was neither fetched nor
    /// saved has changes; so has one that was fetched without all of its columns.
    ///
    /// Setting this to false takes the present values for those of the database; setting it to true forgets what is
    /// known of it. It informs: `insert`, `update` and `save` write whatever it says. Where ``encode(to:)`` throws, it is
    /// true, and cannot be set to false.
    public final var hasDatabaseChanges: Bool {
        get {
            guard let snapshot else { return true }
            var encoding = ColumnEncoding(comparingWith: snapshot.bytes, layout: snapshot.layout)
            do {
                try withUnsafeMutablePointer(to: &encoding) { pointer in
                    var container = PersistenceContainer(pointer)
                    try encode(to: &container)
                }
            } catch {
                return true
            }
            if encoding.isDoubtful {
                return (try? encoded().changes(from: snapshot).isEmpty) != true
            }
            return encoding.isDifferent
        }
        set {
            note()
            keepSavedRows()
            if newValue {
                snapshot = nil
            } else if let columns = try? encoded() {
                snapshot = columns.row(affinitiesOf: snapshot?.layout)
            }
        }
    }

    /// The columns that differ from what the database holds, with what it holds: nil where that is not known.
    ///
    /// ```swift
    /// player.score = 1000
    /// try player.databaseChanges          // ["score": 0]
    /// ```
    ///
    /// The keys are spelled as the record encodes them.
    ///
    /// - Throws: what ``encode(to:)`` throws.
    public final var databaseChanges: [String: DatabaseValue?] {
        get throws {
            let columns = try encoded()
            let mask = snapshot.map { columns.changes(from: $0) } ?? ColumnMask(0..<columns.count)
            return columns.oldValues(of: mask, in: snapshot)
        }
    }

    /// What the last save has changed: the columns, with what the database held before, or nil where that was not known.
    ///
    /// It is empty for a record that was not saved, or whose save was rolled back.
    public final var savedDatabaseChanges: [String: DatabaseValue?] {
        guard let (before, after) = savedRows else { return [:] }
        var changes: [String: DatabaseValue?] = [:]
        for (column, name) in after.layout.names.enumerated() {
            let old = before.layout.column(named: name).map { before.column($0) }
            let new = after.column(column)
            if let old {
                let affinity = after.layout.affinity(ofColumn: column)
                if PackedTag.isStored(new.tag, new.payload, as: old.tag, old.payload, in: affinity) {
                    continue
                }
                changes.updateValue(PackedTag.databaseValue(old.tag, old.payload), forKey: name)
            } else {
                changes.updateValue(nil, forKey: name)
            }
        }
        return changes
    }

    /// The row before the last save, and after it.
    private var savedRows: (before: PackedRow, after: PackedRow)? {
        if let saved = lastSave as? SavedRows { return (saved.before, saved.after) }
        guard let before = lastSave as? PackedRow, let snapshot else { return nil }
        return (before, snapshot)
    }

    /// The record is about to remember something else than what was saved.
    final func keepSavedRows() {
        if lastSave != nil, !(lastSave is SavedRows), let (before, after) = savedRows {
            lastSave = SavedRows(before: before, after: after)
        }
    }

    // MARK: - Remembering

    /// Remembers a row, if it was fetched.
    @inline(__always)
    final func remember(fetched row: Row) {
        if row.isLive {
            snapshot = PackedRow.make(row.live, layout: row.live.layoutRemembered(by: type(of: self)))
        } else if row.layout.sql != nil {
            snapshot = row.owned
        }
    }

    /// Remembers what was saved.
    ///
    /// - Parameter rowID: The row id that the database gave the record, if it did.
    @inline(__always)
    final func remember(saved row: PackedRow, givenRowID rowID: Journal.GivenRowID?, in db: Database) {
        note(rowID, in: db)
        lastSave = snapshot ?? Self.noSnapshot
        snapshot = row
    }

    /// What the database held of a record that it did not hold.
    static var noSnapshot: PackedRow { .make(RowLayout(names: [], sql: nil), byteCount: 0) { _ in } }

    /// Notes what the record remembers, so that a rollback can give it back.
    @inline(__always)
    final func note(_ rowID: Journal.GivenRowID? = nil, in db: Database) {
        db.transactionLog.note(self, snapshot, rowID: rowID, moment: &journalMoment)
    }

    /// The same, where no connection is given: any that the running thread has the access to.
    private func note() { for db in Database.accessed { note(in: db) } }
}

/// A row before the last save of its record, and after it.
final class SavedRows {
    let before: PackedRow
    let after: PackedRow

    init(before: PackedRow, after: PackedRow) { (self.before, self.after) = (before, after) }
}

extension PackedColumns {
    /// A row of all columns, with what is known of the columns of another layout.
    fileprivate func row(affinitiesOf known: RowLayout?) -> PackedRow {
        let affinities = layout.names.map { name in
            known.flatMap { known in known.column(named: name).flatMap(known.affinity(ofColumn:)) }
        }
        let layout = RowLayout(names: layout.names, sql: nil, affinities: affinities)
        return PackedRow.make(layout, copying: bytes)
    }
}

// MARK: - Layouts

extension LiveRow {
    /// The layout of what records of a type remember of these rows: it knows the affinities of their table's columns.
    @inline(__always)
    fileprivate func layoutRemembered(by type: Record.Type) -> RowLayout {
        if let known = place.pointee.recordLayout, known.type == ObjectIdentifier(type) {
            return known.layout
        }
        return makeLayoutRemembered(by: type)
    }

    @inline(never)
    private func makeLayoutRemembered(by type: Record.Type) -> RowLayout {
        guard let database = place.pointee.connection as? Database,
            let found = try? layout.remembered(by: type, in: database)
        else { return layout }
        place.pointee.recordLayout = (ObjectIdentifier(type), found)
        return found
    }
}

extension RowLayout {
    /// A layout that knows the affinities of the columns of a type's table.
    fileprivate func remembered(by type: Record.Type, in database: Database) throws -> RowLayout {
        let name = type.databaseTableName
        guard !name.isEmpty, let table = try database.schema.table(name) else { return self }
        return RowLayout(names: names, sql: sql, affinities: names.map(table.affinity(ofColumn:)))
    }
}

extension Row {
    /// What records of a type remember of a fetched row that owns its values.
    func remembered(by type: Record.Type, in database: Database) throws -> PackedRow? {
        let layout = try layout.remembered(by: type, in: database)
        return PackedRow.make(
            layout, copying: UnsafeRawBufferPointer(start: owned.bytes, count: owned.header.byteCount))
    }
}
