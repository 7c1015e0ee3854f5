// The comparison of a table's counters with their triggers, and with the rows that they count.

extension CounterRule: CheckedRule {
    func check(_ check: inout DriftCheck, of type: any TableRecord.Type) throws -> Bool {
        for mark in marks {
            guard let child = try check.db.schema.table(mark.countedTable, in: check.table.schemaName) else {
                check.add(
                    .counterNotKept(reason: "the table \(mark.countedTable) does not exist"), mark.column)
                continue
            }
            do {
                try check.check(mark, counting: child)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                check.add(.counterNotKept(reason: error.message ?? "\(error.resultCode)"), mark.column)
            }
        }
        return true
    }
}

extension DriftCheck {
    fileprivate mutating func check(_ mark: CounterMark, counting counted: TableSchema) throws {
        let counter = try CounterTriggers(mark, of: table, counted, db)
        if try !counter.arePresent(on: db) {
            add(
                .counterNotKept(reason: "its triggers are missing or differ. Call updateCounterTriggers()"),
                mark.column)
        }
        let wrong = try db.numberOfWrongRows(of: counter)
        if wrong > 0 { add(.inaccurateCounters(count: wrong), mark.column) }
    }
}
