// The values that rules fill in among those that a record encodes, for one save.

/// The values that rules have filled in for one save.
final class FilledColumns {
    struct Column {
        /// The number of the column among those that the record encodes.
        let column: Int
        /// The value that the record had encoded.
        let old: DatabaseValue
        /// The value that is written in place of it. Nil if another statement or a trigger writes
        /// the column.
        var written: DatabaseValue?
        /// Whether that value was created from a date.
        var isDate = false
        /// The value in the database. Nil until the row was read.
        var stored: DatabaseValue?
    }
    var columns: [Column] = []
    /// The columns that an upsert writes to a conflicting row. Nil for all that it would write
    /// anyway.
    var rowInTheWay: ColumnMask?
    /// A column of a conflicting row that an SQL function computes.
    var computedInTheWay: (column: String, function: String)?
    /// Whether the save is an autocommit statement, whose end the rule has to report.
    var isAutocommit = false

    /// The columns that a trigger may write.
    var unread: [Int] { columns.indices.filter { columns[$0].stored == nil } }
}

extension RecordWriter {
    /// Runs a save with what the rules of the type fill in.
    ///
    /// - Parameters:
    ///   - record: The record, if it is of a class.
    ///   - body: Writes the record with the writer that holds the filled-in values.
    @inline(never)
    func filling<Result>(
        _ save: inout Save, of record: Record?, _ body: (RecordWriter, inout Save) throws -> Result
    ) throws -> Result {
        let rules = plan.rules
        defer { for rule in rules { rule.end(save, by: self) } }
        for rule in rules { try rule.prepare(&save, of: record, by: self) }
        guard let filled = save.filled else { return try body(self, &save) }
        // The record's own values stay in this writer: a second attempt may need them.
        return try database.withWriter { writer in
            writer.use(Unretained(plan), Unretained(statements))
            try writer.columns.pack(columns, with: filled)
            return try body(writer, &save)
        }
    }

    /// Sets the filled-in values in a record.
    @inline(never)
    func give(_ filled: FilledColumns, to record: Record) {
        for rule in plan.rules { rule.give(filled, to: record, from: self) }
    }
}

extension PackedColumns {
    /// Packs columns that were packed elsewhere, with filled-in values in place of some of them.
    fileprivate func pack(_ source: PackedColumns, with filled: FilledColumns) throws {
        _ = try pack(exactly: source.layout) { container in
            let encoding = container.encoding
            source.eachColumn { column, value in
                let filledIn = filled.columns.first { $0.column == column && $0.written != nil }
                guard let filledIn, let written = filledIn.written else {
                    return encoding.pointee.store(value)
                }
                written.withView { encoding.pointee.store($0, isDate: filledIn.isDate) }
            }
        }
    }
}
