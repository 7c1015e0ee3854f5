// Binds the transaction date to stamp columns when a record is inserted, updated or upserted.

import CSQLite

// The stamps of a record's own save: they are bound among its other columns, so that no trigger has
// to write the row again.

extension DatabaseStamps: ColumnFillingSource {
    var columnFilling: ColumnFilling? { isEmpty ? nil : RecordStamps(self) }
}

/// The stamps of a type whose records are saved.
final class RecordStamps: ColumnFilling {
    let declared: DatabaseStamps
    /// Whether the log has a warning already that records of the type do not take their stamps.
    var hasWarned = false

    init(_ declared: DatabaseStamps) { self.declared = declared }

    override func fillInsertion(
        of record: Record?, isUpsert: Bool, by writer: RecordWriter, _ save: (RecordWriter) throws -> Void
    ) throws { try writer.bindInsertion(declared, record, isUpsert: isUpsert, save) }

    override func fillUpdate(
        of record: Record?, _ mask: ColumnMask, isFull: Bool, by writer: RecordWriter,
        _ save: (RecordWriter, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws { try writer.bindUpdate(declared, record, mask, isFull: isFull, save) }

    override func computedColumns(beside encoded: RowLayout, in table: TableSchema) -> ComputedColumns? {
        func columns(_ names: [String?]) -> [String] {
            names.compactMap { name in
                guard let name, encoded.column(named: name) == nil, let column = table.column(named: name),
                    !column.isGenerated, column.primaryKeyIndex == 0
                else { return nil }
                return column.name
            }
        }
        let inserted = columns([declared.created, declared.updated])
        if inserted.isEmpty { return nil }
        return ComputedColumns(
            inserted: inserted, updated: columns([declared.updated]), function: "stamp")
    }

    override func give(_ filled: FilledColumns, to record: Record, from writer: RecordWriter) {
        record.takeStamps(filled, of: self, from: writer)
    }

    override func columnsLeftOut(
        of written: ColumnMask, _ writer: RecordWriter, knowing row: PackedRow
    ) -> ColumnMask { writer.stampsLeftOut(declared, of: written, knowing: row) }

    override func learn(from old: ColumnFilling?) { hasWarned = (old as? RecordStamps)?.hasWarned ?? false }
}

extension RecordWriter {
    // MARK: - Insertions

    /// Binds the transaction date if the record has none.
    fileprivate func bindInsertion(
        _ declared: DatabaseStamps, _ record: Record?, isUpsert: Bool, _ save: (RecordWriter) throws -> Void
    ) throws {
        let connection = try database.stamps
        if connection.isSuspended { return try save(self) }
        let bound = FilledColumns()
        var columns: [Int] = []
        for name in [declared.created, declared.updated] {
            guard let column = name.flatMap(statements.layout.column(named:)), self.columns.isNull(column)
            else {
                continue
            }
            columns.append(column)
        }
        bound.isUpsert = isUpsert
        if isUpsert { prepareUpsert(declared, record, bound) }
        return try bind(columns, connection, bound, save)
    }

    /// Prepares an upsert: the conflicting row keeps the date of its creation, and is stamped as an
    /// update is.
    private func prepareUpsert(_ declared: DatabaseStamps, _ record: Record?, _ bound: FilledColumns) {
        bound.rowInTheWay = allColumns
        for name in [declared.created].compactMap(\.self) + declared.groups.map(\.stamp) {
            guard let column = statements.layout.column(named: name) else { continue }
            if name != declared.created, record.map({ isExplicit(column, in: $0) }) ?? false { continue }
            bound.rowInTheWay.remove(column)
            if !columns.isNull(column) || name != declared.created { note(column, in: bound) }
        }
        guard let updated = declared.updated else { return }
        guard let column = statements.layout.column(named: updated) else {
            if let name = statements.computed?.updated.first { bound.computedInTheWay = (name, "stamp") }
            return
        }
        guard record.map({ !isExplicit(column, in: $0) }) ?? true else { return }
        bound.computedInTheWay = (updated, "stamp")
        bound.rowInTheWay.remove(column)
        if !columns.isNull(column) { note(column, in: bound) }
    }

    private func note(_ column: Int, in bound: FilledColumns) {
        bound.columns.append(FilledColumns.Column(column: column, old: columns[column]))
    }

    // MARK: - Updates

    /// Binds the transaction date if an update stamps it, and excludes the stamps that must not be
    /// written. So a record that is older than the row never restores an old stamp.
    fileprivate func bindUpdate(
        _ declared: DatabaseStamps, _ record: Record?, _ asked: ColumnMask, isFull: Bool,
        _ save: (RecordWriter, ColumnMask, Bool) throws -> Void
    ) throws {
        let connection = try database.stamps
        if connection.isSuspended { return try save(self, asked, isFull) }
        var mask = asked
        /// Whether the caller has specified the value of a column. For a struct, these are the
        /// columns that it names.
        func isExplicit(_ column: Int) -> Bool {
            if let record { return self.isExplicit(column, in: record) }
            return !isFull && asked.contains(column)
        }
        let bound = FilledColumns()
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
        let isEnough = statements.computed?.updated.isEmpty == false
        let written = isEnough ? mask.subtracting(exactKey) : settable(mask)
        return try bind(columns, connection, bound) { try save($0, written, false) }
    }

    /// Whether a record holds NULL, and its row is not known to do so. The NULL is not written: the
    /// record takes the row's value.
    private func lacks(_ column: Int, _ record: Record) -> Bool {
        columns.isNull(column) && record.snapshot.map { columns.changes(from: $0).contains(column) } ?? true
    }

    /// Whether the record was given the value of a column since it was fetched or saved.
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

    /// Runs a save with the transaction date in some columns.
    private func bind(
        _ stamped: [Int], _ connection: StampConnection, _ bound: FilledColumns,
        _ save: (RecordWriter) throws -> Void
    ) throws {
        let text = try connection.currentText()
        let isAutocommit = sqlite3_get_autocommit(database.pointer) != 0 && database.lastBegun == nil
        if isAutocommit {
            // The date of the record is also that of all triggers of the statement.
            database.currentDate = connection.lastDate
            database.owesAutocommitEnd = true
        }
        defer { if isAutocommit, database.lastBegun == nil { database.endAutocommitStatement() } }
        let value = DatabaseValue(.string(String(decoding: text, as: UTF8.self)))
        for column in stamped {
            bound.columns.append(
                FilledColumns.Column(
                    column: column, old: columns[column], stored: bound.isUpsert ? nil : value))
        }
        try database.records.withWriter(on: database) { writer in
            writer.use(Unretained(plan), Unretained(statements))
            try text.withUnsafeBufferPointer { try writer.columns.pack(columns, with: $0, in: stamped) }
            writer.filled = bound
            writer.untouched = untouched
            defer { writer.filled = nil }
            try save(writer)
        }
    }
}

extension PackedColumns {
    /// Packs columns that were packed elsewhere, with a date in some of them.
    fileprivate func pack(_ source: PackedColumns, with date: UnsafeBufferPointer<UInt8>, in dates: [Int])
        throws
    {
        _ = try pack(exactly: source.layout) { container in
            let encoding = container.encoding
            source.eachColumn { column, value in
                if dates.contains(column) {
                    encoding.pointee.store(.text(date), isDate: true)
                } else {
                    encoding.pointee.store(value)
                }
            }
        }
    }
}
