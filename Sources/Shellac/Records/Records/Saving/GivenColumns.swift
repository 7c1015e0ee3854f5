// The columns that an update writes by default, without those whose stored value is unknown.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// # The columns that a save gives
//
// An update that names no columns writes those that the record gives. Three kinds of columns are not given, because the
// record does not know what their row holds, and nobody has said what it should hold:
//
// 1. The columns that the record was fetched without, as long as their properties are as they were: see ``UnreadColumns``.
// 2. The column of a soft deletion. A date is given where it is not the one that the record remembers. NULL is given only
//    where the record remembers a date of this very row: the NULL of any other record says nothing of the row.
// 3. A text that was repaired when it was read, because its bytes are no UTF-8, and that nobody has changed since.
//
// All verbs ask here: `update`, `save`, `updateChanges`, the upserts, and what is fetched with them. Columns that the program
// has named are written as they are. Columns that this library has put together are not such names. An insertion writes a
// whole row. Columns that somebody fills in follow a rule of their own: see ColumnFilling.swift.

extension RecordWriter {
    /// The columns to update, and whether all that the record encodes is all that it is to remember.
    ///
    /// - Parameters:
    ///   - names: The columns that were named. Nil for those that the record gives.
    ///   - changed: Those that the will-callbacks have changed.
    func columnsToUpdate(
        _ names: Set<String>?, and changed: ColumnMask = ColumnMask(),
        of record: some MutablePersistableRecord
    ) throws -> (mask: ColumnMask, isFull: Bool) {
        if let names { return (try mask(of: names, and: changed), false) }
        if let object = record.object, let known = RememberedRow.View(object)?.layout,
            !columns.isLaid(out: known)
        {
            return columnsToUpdate(of: object, knowing: known.object)
        }
        // The record has read all, or it knows nothing, or it remembers what it has encoded.
        let all = allColumns
        guard let column = deletionNotGiven(by: record.object), all.contains(column) else {
            return (all, true)
        }
        return (settable(all.subtracting(ColumnMask([column]))), false)
    }

    @inline(never)
    private func columnsToUpdate(
        of record: Record, knowing known: RowLayout
    ) -> (mask: ColumnMask, isFull: Bool) {
        let notGiven = columnsNotGiven(by: record)
        let mask = allColumns.subtracting(notGiven)
        return (settable(mask), notGiven.isEmpty && !columns.lacksColumns(of: known))
    }

    /// The columns that a record does not give, if nobody names them.
    func columnsNotGiven(by record: Record?) -> ColumnMask {
        var mask = record?.untouched(in: self) ?? ColumnMask()
        if let column = deletionNotGiven(by: record) { mask.insert(column) }
        if columns.bytes.mayHoldReplacementCharacter, let row = record?.snapshot {
            mask.formUnion(columnsRepaired(since: row))
        }
        return mask
    }

    /// The column of a soft deletion, unless the record gives it. A struct remembers nothing, and never gives it.
    @inline(__always)
    func deletionNotGiven(by record: Record?) -> Int? {
        withStatements { $0.softDeleteColumn }.flatMap { gives($0, record) ? nil : $0 }
    }

    @inline(never)
    private func gives(_ column: Int, _ record: Record?) -> Bool {
        guard let record else { return false }
        let row = record.snapshot
        guard columns.isNull(column) else {
            guard let row else { return true }
            return columns.changes(from: row).contains(column)
                && !columns.untouched(knowing: row.layout).contains(column)
        }
        guard let row, let place = row.layout.column(named: columns.layout.names[column]) else {
            return false
        }
        return !row.column(place).isNull && !hasOtherKey(than: row)
    }

    /// The columns that hold what reading has made of a text that is no UTF-8.
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
    /// Whether a byte is there that U+FFFD begins with, which reading puts in the place of what is no UTF-8. Most records
    /// have none.
    fileprivate var mayHoldReplacementCharacter: Bool { memchr(start, 0xEF, byteCount) != nil }
}

extension PackedValue {
    /// Whether the value is a text that reading may have repaired.
    var mayBeRepaired: Bool {
        isText && String(decoding: utf8, as: UTF8.self).unicodeScalars.contains("\u{FFFD}")
    }

    /// Whether the value is what reading has made of a stored text, and not that text.
    fileprivate func isRepaired(from stored: PackedValue) -> Bool {
        guard isText, stored.isText, !holds(stored.bytes) else { return false }
        return utf8.elementsEqual(String(decoding: stored.utf8, as: UTF8.self).utf8)
    }
}
