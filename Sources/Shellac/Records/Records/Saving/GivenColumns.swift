// The columns that an update writes by default, without those whose stored value is unknown.

import CSQLite

// # The columns that a save provides
//
// An update that names no columns writes the columns that the record provides. No record provides
// the following two kinds of columns. It does not know their value in the row, and the program has
// not set a new one:
//
// 1. Columns that the record was fetched without, as long as their properties are unchanged: see
//   ``UnreadColumns``.
// 2. A text that was repaired when it was read, because its bytes are not UTF-8, and that was not
//   changed since.
//
// This applies to all verbs: `update`, `save`, `updateChanges`, the upserts, and their fetching
// variants. Columns that the program names are written as they are. Column lists that this library
// builds do not count as names. An insertion writes a whole row. Rules may withhold further
// columns: see ``SaveRule/withholds(_:of:_:)``.

extension RecordWriter {
    /// Returns the columns to update, and whether the record will remember all that it encodes.
    ///
    /// - Parameters:
    ///   - names: The columns that the program named. Nil for those that the record provides.
    ///   - changed: The columns that the will-callbacks have changed.
    func columnsToUpdate(
        _ names: Set<String>?, and changed: ColumnMask = ColumnMask(),
        of record: some MutablePersistableRecord
    ) throws -> (mask: ColumnMask, writesAllColumns: Bool) {
        if let names { return (try mask(of: names, and: changed), false) }
        if let object = record.object, let known = RememberedRow.View(object)?.layout,
            !columns.isLaid(out: known)
        {
            return columnsToUpdate(of: object, knowing: known.object)
        }
        // The record has read all columns, or it remembers nothing, or it remembers exactly the
        // columns that it has encoded.
        let all = allColumns
        guard withPlan({ $0.rules.withholdColumns }) else { return (all, true) }
        let given = all.subtracting(columnsWithheld(by: record.object))
        return given == all ? (all, true) : (settable(given), false)
    }

    @inline(never)
    private func columnsToUpdate(
        of record: Record, knowing known: RowLayout
    ) -> (mask: ColumnMask, writesAllColumns: Bool) {
        let notGiven = columnsNotGiven(by: record)
        let mask = allColumns.subtracting(notGiven)
        return (settable(mask), notGiven.isEmpty && !columns.lacksColumns(of: known))
    }

    /// Returns the columns that a record does not provide unless the program names them.
    func columnsNotGiven(by record: Record?) -> ColumnMask {
        var mask = record?.untouched(in: self) ?? ColumnMask()
        mask.formUnion(columnsWithheld(by: record))
        if columns.bytes.mayHoldReplacementCharacter, let row = record?.snapshot {
            mask.formUnion(columnsRepaired(since: row))
        }
        return mask
    }

    /// Returns the columns that rules withhold from a record's updates.
    func columnsWithheld(by record: Record?) -> ColumnMask {
        var mask = ColumnMask()
        if withPlan({ $0.rules.withholdColumns }) {
            for (column, rule) in statements.written.withheld
            where rule.withholds(column, of: record, self) { mask.insert(column) }
        }
        return mask
    }

    /// Returns the columns whose text is a repaired version of a stored text that is not UTF-8.
    @inline(never)
    private func columnsRepaired(since row: PackedRow) -> ColumnMask {
        var mask = ColumnMask()
        if hasOtherKey(than: row) { return mask }
        columns.eachColumn { column, value in
            guard let place = row.layout.column(named: columns.layout.names[column]) else { return }
            if value.isRepaired(from: row.column(place)) { mask.insert(column) }
        }
        return mask
    }
}

extension PackedBytes {
    /// Whether the bytes contain the first byte of U+FFFD, which reading puts in place of invalid
    /// UTF-8. Most records have none.
    fileprivate var mayHoldReplacementCharacter: Bool { memchr(start, 0xEF, byteCount) != nil }
}

extension PackedValue {
    /// Whether the value is a text that reading may have repaired.
    var mayBeRepaired: Bool {
        isText && String(decoding: utf8, as: UTF8.self).unicodeScalars.contains("\u{FFFD}")
    }

    /// Whether the value is the repaired version of a stored text, and not that text.
    fileprivate func isRepaired(from stored: PackedValue) -> Bool {
        guard isText, stored.isText, !holds(stored.bytes) else { return false }
        return utf8.elementsEqual(String(decoding: stored.utf8, as: UTF8.self).utf8)
    }
}
