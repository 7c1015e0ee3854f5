// The comparison of a table's counters with their triggers, and with the rows that they count.

extension DriftCheck {
    mutating func checkCounters() throws {
        for mark in table.maintainedColumns {
            guard let child = try db.schema.table(mark.countedTable, in: table.schemaName) else {
                add(.counterNotKept(reason: "the table \(mark.countedTable) does not exist"), mark.column)
                continue
            }
            do {
                try check(mark, counting: child)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                add(.counterNotKept(reason: error.message ?? "\(error.resultCode)"), mark.column)
            }
        }
    }

    private mutating func check(_ mark: CounterMark, counting counted: TableSchema) throws {
        let (isKept, wrong) = try db.columnMaintenance().state(of: mark, in: table, counting: counted)
        if !isKept {
            add(
                .counterNotKept(reason: "its triggers are missing or differ. Call updateCounterTriggers()"),
                mark.column)
        }
        if wrong > 0 { add(.inaccurateCounters(count: wrong), mark.column) }
    }
}
