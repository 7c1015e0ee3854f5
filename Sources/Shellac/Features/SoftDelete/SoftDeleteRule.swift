// The rule of soft delete: a deletion dates the row, and an update leaves the date alone.

extension SoftDelete: SaveRuleSource {
    func saveRule(of type: any TableRecord.Type, in table: TableSchema) -> SaveRule {
        SoftDeleteRule(self, of: type)
    }
}

/// The rule of a type whose deleted rows stay in the table.
final class SoftDeleteRule: SaveRule {
    let deletion: SoftDelete
    private let type: any TableRecord.Type

    init(_ deletion: SoftDelete, of type: any TableRecord.Type) {
        (self.deletion, self.type) = (deletion, type)
    }

    override var declaration: String { "databaseSoftDelete" }
    override var ownColumns: [String] { [deletion.column] }
    override var withholdsColumns: Bool { true }

    override func shape(
        _ columns: inout WrittenColumns, beside layout: RowLayout, in table: TableSchema
    ) {
        guard let column = layout.column(named: deletion.column) else { return }
        columns.withheld.append((column, self))
    }

    /// Returns whether a record leaves out the column of the date, unless the program names it.
    ///
    /// A date is given if it differs from the one that the record remembers. NULL is given only if
    /// the record remembers a date of this same row. The NULL of any other record says nothing
    /// about the row. A struct remembers nothing, so it never gives the column.
    override func withholds(_ column: Int, of record: Record?, _ writer: RecordWriter) -> Bool {
        !gives(column, record, writer)
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
        let isFilled = writer.plan.rules.fillColumns
        return try db.inOneTransaction(if: !deletion.cascades.isEmpty || isFilled) {
            guard let date = try writer.delete(type, deletion, of: record.object) else { return false }
            try record.object?.takeDeletion(date, from: writer, deletion, in: db)
            return true
        }
    }

    override func deleteAll(_ query: SelectQuery, in db: Database) throws -> Int? {
        try SoftDeletion.delete(query, of: type, in: db)
    }

    override func deleteAndFetchAll<Element>(
        _ query: SelectQuery, in db: Database,
        _ fetch: (Statement, StatementArguments) throws -> [Element]
    ) throws -> [Element]? {
        try SoftDeletion.deleteAndFetch(query, of: type, in: db, fetch)
    }

    override func mayHaveDeleted(_ record: Record) -> Bool {
        guard let row = record.snapshot, let place = row.layout.column(named: deletion.column) else {
            return true
        }
        return row.bytes.tag(at: place) != .null
    }

    override func restore(_ record: some MutablePersistableRecord, in db: Database) throws -> Bool? {
        try db.inOneTransaction(if: true) {
            try db.withWriter(for: record) { writer in
                writer.takeKey(of: record)
                guard try writer.restore(type, deletion) else { return false }
                try record.object?.takeDeletion(.null, from: writer, deletion, in: db)
                return true
            }
        }
    }
}
