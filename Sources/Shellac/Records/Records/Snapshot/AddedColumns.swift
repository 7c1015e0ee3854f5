// Notes columns that a table got after a record was fetched.
//
// They come from `ALTER TABLE … ADD COLUMN`, on any connection.
//
// The fetch had all columns that the table had then. So the record did not note any unread columns:
// see ``UnreadColumns``. If its class encodes such a column, a save would overwrite the value in
// the database with the property. The save notices this when the encoded and the remembered columns
// differ. So this code does not run for records that were saved before, or whose columns are all
// there.
//
// By then it is unknown what the record encoded right after its fetch. But its original row is
// still there, and makes another record, which encodes the original values. If a column still holds
// that value, it was never set, and is left alone. Any other column was set meanwhile, and is
// written.

extension Record {
    /// Notes the values of the record in columns that its table got since the fetch. Returns
    /// whether there are any.
    @inline(never) @discardableResult
    final func noteAddedColumns(_ writer: RecordWriter) -> Bool {
        let table = writer.plan.table
        return noteAddedColumns(writer.columns.layout) { table.column(named: $0) != nil }
    }

    /// Notes the values of the record in columns that its fetch lacked, if a function returns
    /// that they belong to the table.
    ///
    /// - Parameter encoded: The columns that the record encodes.
    /// - Returns: Whether there are any.
    @inline(never) @discardableResult
    final func noteAddedColumns(_ encoded: RowLayout, _ isOfTable: (String) -> Bool) -> Bool {
        // A saved or forgotten row is the record's own state. Only a fetched row has its
        // statement's SQL.
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
        // If this record cannot be made, nothing is learned, and the record is saved as it is.
        guard let twin = try? type(of: self).make(of: Row(row.copy(made))) else { return false }
        let columns = twin.encodedSoFar()
        let mask = ColumnMask(added.compactMap(columns.layout.column(named:)))
        if mask.isEmpty { return false }
        let layout = row.layout.with(UnreadColumns.joining(mask, of: columns, with: unread))
        snapshot = row.copy(layout, previous: PackedRow.PreviousState(memory: row.memory, moment: row.moment))
        return true
    }
}
