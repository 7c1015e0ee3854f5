// Binds the transaction date to stamp columns when a record is inserted, updated or upserted.

import CSQLite

// The stamps of a record's own save: they are bound among its other columns, so that no trigger has
// to write the row again.

extension DatabaseStamps: SaveRuleSource {
    func saveRule(of type: any TableRecord.Type, in table: TableSchema) -> SaveRule { RecordStamps(self) }
}

/// The rule of a type whose records are stamped.
final class RecordStamps: SaveRule {
    let declared: DatabaseStamps
    /// Whether the log has a warning already that records of the type do not take their stamps.
    var hasWarned = false

    init(_ declared: DatabaseStamps) { self.declared = declared }

    override var declaration: String { "databaseStamps" }
    override var ownColumns: [String] { declared.columns }
    override var insertedColumns: [String] { [declared.created, declared.updated].compactMap(\.self) }
    override var fillsColumns: Bool { true }
    /// Every writer of the row writes the dates.
    override var sharedColumns: [String] { declared.columns }

    override func shape(
        _ written: inout WrittenColumns, beside layout: RowLayout, in table: TableSchema
    ) {
        func columns(_ names: [String?]) -> [String] {
            names.compactMap { name in
                guard let name, layout.column(named: name) == nil, let column = table.column(named: name),
                    !column.isGenerated, column.primaryKeyIndex == 0
                else { return nil }
                return column.name
            }
        }
        let inserted = columns([declared.created, declared.updated])
        if inserted.isEmpty { return }
        written.computed = ComputedColumns(
            inserted: inserted, updated: columns([declared.updated]), function: "stamp")
    }

    override func prepare(_ save: inout Save, of record: Record?, by writer: RecordWriter) throws {
        let connection = try writer.database.stamps
        if connection.isSuspended { return }
        let filled = save.filled ?? FilledColumns()
        let stamped =
            save.verb == .update
            ? writer.stampUpdate(declared, record, &save, filled)
            : writer.stampInsertion(declared, record, isUpsert: save.verb == .upsert, filled)
        try writer.bind(stamped, connection, filled, isStored: save.verb != .upsert)
        save.filled = filled
    }

    override func end(_ save: borrowing Save, by writer: RecordWriter) {
        let database = writer.database
        if save.filled?.isAutocommit == true, database.lastBegun == nil { database.endAutocommitStatement() }
    }

    override func give(_ filled: FilledColumns, to record: Record, from writer: RecordWriter) {
        record.takeStamps(filled, of: self, from: writer)
    }

    override func columnsLeftOut(
        of written: ColumnMask, _ writer: RecordWriter, knowing row: PackedRow
    ) -> ColumnMask { writer.stampsLeftOut(declared, of: written, knowing: row) }

    override func learn(from old: SaveRule) { hasWarned = (old as? RecordStamps)?.hasWarned ?? false }
}

extension RecordWriter {
    // MARK: - Insertions

    /// Returns the columns to stamp: those in which the record has no date.
    fileprivate func stampInsertion(
        _ declared: DatabaseStamps, _ record: Record?, isUpsert: Bool, _ bound: FilledColumns
    ) -> [Int] {
        let stamps = [declared.created, declared.updated].compactMap {
            $0.flatMap(statements.layout.column(named:))
        }
        if isUpsert { prepareUpsert(declared, record, bound) }
        return stamps.filter(columns.isNull)
    }

    /// Prepares an upsert: the conflicting row keeps the date of its creation, and is stamped as an
    /// update is.
    private func prepareUpsert(_ declared: DatabaseStamps, _ record: Record?, _ bound: FilledColumns) {
        var rowInTheWay = bound.rowInTheWay ?? allColumns
        defer { bound.rowInTheWay = rowInTheWay }
        for name in [declared.created].compactMap(\.self) + declared.groups.map(\.stamp) {
            guard let column = statements.layout.column(named: name) else { continue }
            if name != declared.created, record.map({ isExplicit(column, in: $0) }) ?? false { continue }
            rowInTheWay.remove(column)
            if !columns.isNull(column) || name != declared.created { note(column, in: bound) }
        }
        guard let updated = declared.updated else { return }
        guard let column = statements.layout.column(named: updated) else {
            if let name = statements.written.computed?.updated.first {
                bound.computedInTheWay = (name, "stamp")
            }
            return
        }
        guard record.map({ !isExplicit(column, in: $0) }) ?? true else { return }
        bound.computedInTheWay = (updated, "stamp")
        rowInTheWay.remove(column)
        if !columns.isNull(column) { note(column, in: bound) }
    }

    private func note(_ column: Int, in bound: FilledColumns) {
        bound.columns.append(FilledColumns.Column(column: column, old: columns[column]))
    }

    // MARK: - Updates

    /// Excludes the stamps that an update must not write, and returns those that it stamps. So a
    /// record that is older than the row never restores an old stamp.
    fileprivate func stampUpdate(
        _ declared: DatabaseStamps, _ record: Record?, _ save: inout Save, _ bound: FilledColumns
    ) -> [Int] {
        let (asked, writesAllColumns) = (save.columns, save.writesAllColumns)
        var mask = asked
        /// Whether the caller has specified the value of a column. For a struct, these are the
        /// columns that it names.
        func isExplicit(_ column: Int) -> Bool {
            if let record { return self.isExplicit(column, in: record) }
            return !writesAllColumns && asked.contains(column)
        }
        if let column = declared.created.flatMap(statements.layout.column(named:)), !isExplicit(column) {
            mask.remove(column)
            if asked.contains(column), let record, lacks(column, record) { note(column, in: bound) }
        }
        for group in declared.groups {
            guard let column = statements.layout.column(named: group.stamp), !isExplicit(column) else {
                continue
            }
            mask.remove(column)
            let isConcerned = group.columns.contains { name in
                statements.layout.column(named: name).map(asked.contains) ?? false
            }
            if let record, isConcerned || asked.contains(column) && lacks(column, record) {
                note(column, in: bound)
            }
        }
        var columns: [Int] = []
        if let column = declared.updated.flatMap(statements.layout.column(named:)) {
            if !isExplicit(column) { columns.append(column) }
            mask.insert(column)
        }
        // A column that is written beside the record's own is enough for an update.
        let isEnough = statements.written.computed?.updated.isEmpty == false
        save.columns = isEnough ? mask.subtracting(exactKey) : settable(mask)
        save.writesAllColumns = false
        return columns
    }

    /// Whether a record holds NULL, and its row is not known to do so. The NULL is not written: the
    /// record takes the row's value.
    private func lacks(_ column: Int, _ record: Record) -> Bool {
        columns.isNull(column) && record.snapshot.map { columns.changes(from: $0).contains(column) } ?? true
    }

    /// Whether the value of a column was set in the record since it was fetched or saved.
    private func isExplicit(_ column: Int, in record: Record) -> Bool {
        if columns.isNull(column) { return false }
        guard let row = record.snapshot else { return true }
        return isExplicit(column, knowing: row)
    }

    private func isExplicit(_ column: Int, knowing row: PackedRow) -> Bool {
        !columns.isNull(column) && columns.changes(from: row).contains(column)
            && !columns.untouched(knowing: row.layout).contains(column)
    }

    /// Returns the stamps that a class record has from a row, and that were not written. If the
    /// record identifies another row now, it has never read that row's stamps.
    fileprivate func stampsLeftOut(
        _ declared: DatabaseStamps, of written: ColumnMask, knowing row: PackedRow
    ) -> ColumnMask {
        let names = [declared.created, declared.updated] + declared.groups.map(\.stamp)
        let columns = names.compactMap { $0.flatMap(statements.layout.column(named:)) }
        return ColumnMask(columns.filter { !written.contains($0) && !isExplicit($0, knowing: row) })
    }

    // MARK: - Binding

    /// Fills the transaction date in some columns.
    ///
    /// - Parameter isStored: Whether the row will hold this date. An upsert may keep another one.
    fileprivate func bind(
        _ stamped: [Int], _ connection: StampKeeper, _ bound: FilledColumns, isStored: Bool
    ) throws {
        let text = try connection.currentText()
        bound.isAutocommit = sqlite3_get_autocommit(database.pointer) != 0 && database.lastBegun == nil
        if bound.isAutocommit {
            // The date of the record is also that of all triggers of the statement.
            database.currentDate = connection.lastDate
            database.owesAutocommitEnd = true
        }
        let value = DatabaseValue(.string(String(decoding: text, as: UTF8.self)))
        for column in stamped {
            bound.columns.append(
                FilledColumns.Column(
                    column: column, old: columns[column], written: value, isDate: true,
                    stored: isStored ? value : nil))
        }
    }
}
