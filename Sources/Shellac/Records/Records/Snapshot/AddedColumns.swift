// Columns that a table was given after a record was fetched: by `ALTER TABLE … ADD COLUMN`, on whatever connection.
//
// The fetch had all columns of the table as it was then, and so nothing was noted of those that the record never read: see
// ``UnreadColumns``. A record of a class that encodes such a column would write its property over what the database holds.
// That is noticed when it is saved, where what it encodes and what it remembers have other columns: so records that were
// saved before, and those whose columns are all there, come by here for nothing.
//
// By then nobody knows what the record encoded right after its fetch. But the row is still there that it was made of, and
// makes another record: what that one encodes is what the first one had. A column that still holds it was never set, and is
// left alone; another one was given its value meanwhile, and is written.

extension Record {
    /// Notes what the record had in columns that its table was given since it was fetched. Returns whether there are any.
    @inline(never) @discardableResult
    final func noteAddedColumns(_ writer: RecordWriter) -> Bool {
        let table = writer.plan.table
        return noteAddedColumns(writer.columns.layout) { table.column(named: $0) != nil }
    }

    /// Notes what the record had in columns that it was fetched without, and that a function says to be the table's.
    ///
    /// - Parameter encoded: The columns that the record encodes.
    /// - Returns: Whether there are any.
    @inline(never) @discardableResult
    final func noteAddedColumns(_ encoded: RowLayout, _ isOfTable: (String) -> Bool) -> Bool {
        // What was saved, or was forgotten, is the record's own truth. A fetched row has its statement's SQL.
        guard let known = knownLayout, known.sql != nil, !encoded.hasSameNames(as: known) else {
            return false
        }
        let unread = known.unreadColumns
        let added = encoded.names.filter { name in
            known.column(named: name) == nil && unread?.row.layout.column(named: name) == nil
                && isOfTable(name)
        }
        guard !added.isEmpty, let row = snapshot else { return false }
        let made = RowLayout(names: row.layout.names, sql: nil)
        // One that cannot be made says nothing, and the record is saved as it is.
        guard let twin = try? type(of: self).make(of: Row(row.copy(made))) else { return false }
        let columns = twin.encodedSoFar()
        let mask = ColumnMask(added.compactMap(columns.layout.column(named:)))
        if mask.isEmpty { return false }
        let layout = row.layout.with(UnreadColumns.joining(mask, of: columns, with: unread))
        snapshot = row.copy(layout, previous: PackedRow.PreviousState(memory: row.memory, moment: row.moment))
        return true
    }
}
