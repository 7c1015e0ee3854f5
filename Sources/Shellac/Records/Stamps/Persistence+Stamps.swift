import CSQLite

// How a record's own save writes its stamps: they are bound among its other columns, so that no trigger has to write the
// row again.

/// The stamps of one save.
final class BoundStamps {
    struct Stamp {
        /// The number of the column among those that the record encodes.
        let column: Int
        /// What the record had encoded.
        let old: DatabaseValue
        /// What the database holds. Nil until the row was read.
        var stored: DatabaseValue?
    }
    var stamps: [Stamp] = []
    /// Whether it is an upsert: it may write a row, or find one, and tells what the stamps of that are.
    var isUpsert = false
    /// Whether a row that an insertion finds in its way has its stamp written by `stamp()`.
    var stampsRowInTheWay = false
    /// The columns that an insertion writes to a row in its way.
    var rowInTheWay = ColumnMask()

    /// The stamps that a trigger may write.
    var unread: [Int] { stamps.indices.filter { stamps[$0].stored == nil } }
}

extension Persistence {
    /// Whether the record's type has stamps.
    @inline(__always)
    var isStamped: Bool { withPlan { $0.stamps != nil } }

    /// Runs an insertion with what is to be inserted.
    ///
    /// - Parameter record: The record, if it is of a class.
    @inline(__always)
    func stampingInsertion<Result>(
        of record: @autoclosure () -> Record?, isUpsert: Bool, _ save: (Persistence) throws -> Result
    ) throws -> Result {
        guard let stamps = withPlan({ $0.stamps }) else { return try save(self) }
        return try bindInsertion(stamps.declared, record(), isUpsert: isUpsert, save)
    }

    /// Runs an update with what is to be written, and where.
    ///
    /// - Parameter isFull: Whether nobody has named the columns.
    @inline(__always)
    func stampingUpdate<Result>(
        of record: @autoclosure () -> Record?, _ mask: ColumnMask, isFull: Bool,
        _ save: (Persistence, ColumnMask, _ isFull: Bool) throws -> Result
    ) throws -> Result {
        guard let stamps = withPlan({ $0.stamps }) else { return try save(self, mask, isFull) }
        return try bindUpdate(stamps.declared, record(), mask, isFull: isFull, save)
    }

    // MARK: - Insertions

    /// Binds the transaction date where the record has none.
    @inline(never)
    private func bindInsertion<Result>(
        _ declared: DatabaseStamps, _ record: Record?, isUpsert: Bool, _ save: (Persistence) throws -> Result
    ) throws -> Result {
        let connection = try database.stamps
        if connection.isSuspended { return try save(self) }
        let bound = BoundStamps()
        var columns: [Int] = []
        for name in [declared.created, declared.updated] {
            guard let column = name.flatMap(shape.layout.column(named:)), self.columns.isNull(column) else {
                continue
            }
            columns.append(column)
        }
        bound.isUpsert = isUpsert
        if isUpsert { prepareUpsert(declared, record, bound) }
        return try bind(columns, connection, bound, save)
    }

    /// What is in the way keeps the date of its creation, and is stamped as an update is.
    private func prepareUpsert(_ declared: DatabaseStamps, _ record: Record?, _ bound: BoundStamps) {
        bound.rowInTheWay = shape.allColumns
        for name in [declared.created].compactMap(\.self) + declared.groups.map(\.stamp) {
            guard let column = shape.layout.column(named: name) else { continue }
            if name != declared.created, record.map({ isExplicit(column, in: $0) }) ?? false { continue }
            bound.rowInTheWay.remove(column)
            if !columns.isNull(column) || name != declared.created { note(column, in: bound) }
        }
        guard let column = declared.updated.flatMap(shape.layout.column(named:)) else { return }
        guard record.map({ !isExplicit(column, in: $0) }) ?? true else { return }
        bound.stampsRowInTheWay = true
        bound.rowInTheWay.remove(column)
        if !columns.isNull(column) { note(column, in: bound) }
    }

    private func note(_ column: Int, in bound: BoundStamps) {
        bound.stamps.append(BoundStamps.Stamp(column: column, old: columns[column]))
    }

    // MARK: - Updates

    /// Binds the transaction date where an update stamps it, and leaves those stamps out that are not to be written: a
    /// record that is older than the row never puts an old stamp back.
    @inline(never)
    private func bindUpdate<Result>(
        _ declared: DatabaseStamps, _ record: Record?, _ asked: ColumnMask, isFull: Bool,
        _ save: (Persistence, ColumnMask, Bool) throws -> Result
    ) throws -> Result {
        let connection = try database.stamps
        if connection.isSuspended { return try save(self, asked, isFull) }
        var mask = asked
        /// Whether somebody has said the value of a column. A struct says what it names.
        func isExplicit(_ column: Int) -> Bool {
            if let record { return self.isExplicit(column, in: record) }
            return !isFull && asked.contains(column)
        }
        let bound = BoundStamps()
        if let column = declared.created.flatMap(shape.layout.column(named:)), !isExplicit(column) {
            mask.remove(column)
        }
        for group in declared.groups {
            guard let column = shape.layout.column(named: group.stamp), !isExplicit(column) else { continue }
            mask.remove(column)
            let isConcerned = group.columns.contains { name in
                shape.layout.column(named: name).map(asked.contains) ?? false
            }
            if record != nil, isConcerned { note(column, in: bound) }
        }
        var columns: [Int] = []
        if let column = declared.updated.flatMap(shape.layout.column(named:)) {
            if !isExplicit(column) { columns.append(column) }
            mask.insert(column)
        }
        return try bind(columns, connection, bound) { try save($0, settable(mask), false) }
    }

    /// Whether the value of a column is one that the record was given since it was fetched or saved.
    private func isExplicit(_ column: Int, in record: Record) -> Bool {
        if columns.isNull(column) { return false }
        guard let row = record.snapshot else { return true }
        return isExplicit(column, knowing: row)
    }

    private func isExplicit(_ column: Int, knowing row: PackedRow) -> Bool {
        !columns.isNull(column) && columns.changes(from: row).contains(column)
            && !columns.untouched(knowing: row.layout).contains(column)
    }

    /// The stamps that a class record has as it knew them of a row, and that were not written: where it means another row
    /// now, it has never read that one's.
    func stampsLeftOut(of written: ColumnMask, knowing row: PackedRow) -> ColumnMask {
        guard let declared = withPlan({ $0.stamps })?.declared else { return ColumnMask() }
        let names = [declared.created, declared.updated] + declared.groups.map(\.stamp)
        let columns = names.compactMap { $0.flatMap(shape.layout.column(named:)) }
        return ColumnMask(columns.filter { !written.contains($0) && !isExplicit($0, knowing: row) })
    }

    // MARK: - Binding

    /// Runs a save with the transaction date in some columns.
    private func bind<Result>(
        _ stamped: [Int], _ connection: StampConnection, _ bound: BoundStamps,
        _ save: (Persistence) throws -> Result
    ) throws -> Result {
        let text = try connection.currentText()
        let isAlone = sqlite3_get_autocommit(database.pointer) != 0 && database.lastBegun == nil
        if isAlone {
            // The date of the record is that of all the statement's triggers.
            database.currentDate = connection.lastDate
            database.hasLoneState = true
        }
        defer { if isAlone, database.lastBegun == nil { database.endLoneState() } }
        let value = DatabaseValue(.string(String(decoding: text, as: UTF8.self)))
        for column in stamped {
            bound.stamps.append(
                BoundStamps.Stamp(column: column, old: columns[column], stored: bound.isUpsert ? nil : value))
        }
        return try database.records.withPersistence(on: database) { persistence in
            persistence.use(plan, shape)
            try text.withUnsafeBufferPointer { try persistence.columns.pack(columns, with: $0, in: stamped) }
            persistence.boundStamps = bound
            persistence.untouched = untouched
            defer { persistence.boundStamps = nil }
            return try save(persistence)
        }
    }
}

extension PackedColumns {
    /// Packs what was packed elsewhere, with a date in some of the columns.
    fileprivate func pack(_ source: PackedColumns, with date: UnsafeBufferPointer<UInt8>, in dates: [Int])
        throws
    {
        _ = try pack(exactly: source.layout) { container in
            let encoding = container.encoding
            source.eachColumn { column, value in
                if dates.contains(column) {
                    encoding.pointee.text(date, isDate: true)
                } else {
                    encoding.pointee.store(value)
                }
            }
        }
    }
}
