// The rule of soft delete: a deletion dates the row, and an update leaves the date alone.

/// The rule of a type whose deleted rows stay in the table.
final class SoftDeleteRule: SaveRule {
    private let deletion: SoftDelete
    private let type: any TableRecord.Type

    init(_ deletion: SoftDelete, of type: any TableRecord.Type) {
        (self.deletion, self.type) = (deletion, type)
    }

    override var declaration: String { "databaseSoftDelete" }
    override var ownColumns: [String] { [deletion.column] }
    override var withholdsColumns: Bool { true }

    /// Returns the column, unless the record provides it.
    ///
    /// A record provides a date that differs from the one that it remembers. It provides NULL only
    /// if it remembers a date of this same row. The NULL of any other record says nothing about the
    /// row. A struct remembers nothing, so it never provides the column.
    override func columnsNotGiven(by record: Record?, _ writer: RecordWriter) -> ColumnMask {
        guard let column = writer.columns.layout.column(named: deletion.column),
            !gives(column, record, writer)
        else { return ColumnMask() }
        return ColumnMask(CollectionOfOne(column))
    }

    private func gives(_ column: Int, _ record: Record?, _ writer: RecordWriter) -> Bool {
        guard let record else { return false }
        let (row, columns) = (record.snapshot, writer.columns)
        guard columns.isNull(column) else {
            guard let row else { return true }
            return columns.changes(from: row).contains(column)
                && !columns.untouched(knowing: row.layout).contains(column)
        }
        guard let row, let place = row.layout.column(named: deletion.column) else { return false }
        return !row.column(place).isNull && !writer.hasOtherKey(than: row)
    }

    override func delete(
        _ record: some MutablePersistableRecord, by writer: RecordWriter
    ) throws -> Bool? {
        let db = writer.database
        let isStamped = !record.recordType.databaseStamps.isEmpty
        return try db.inOneTransaction(if: !deletion.cascades.isEmpty || isStamped) {
            guard let date = try writer.delete(type, deletion, of: record.object) else { return false }
            try record.object?.takeDeletion(date, from: writer, deletion, in: db)
            return true
        }
    }
}
