// The rule of counters: triggers maintain these columns, and no record writes them.

extension CounterMark: SaveRuleSource {
    func saveRule(of type: any TableRecord.Type, in table: TableSchema) -> SaveRule {
        CounterRule(table.maintainedColumns)
    }
}

/// The rule of a type whose table has counters.
///
/// A record's value of a counter may be old, so no update writes it, and a new row gets 0.
final class CounterRule: SaveRule {
    let marks: [CounterMark]
    private var columns: [String] { marks.map(\.column) }

    init(_ marks: [CounterMark]) { self.marks = marks }

    override var declaration: String { "a counter of the table" }
    override var ownColumns: [String] { columns }
    override var insertedColumns: [String] { columns }
    /// Writers of other rows change the counters.
    override var sharedColumns: [String] { columns }

    override func shape(
        _ written: inout WrittenColumns, beside layout: RowLayout, in table: TableSchema
    ) {
        for column in columns.compactMap(layout.column(named:)) {
            written.leftAlone.insert(column)
            // The parameter stays in place, and has no effect.
            written.inserted[column] = "coalesce(0, ?)"
        }
    }
}
