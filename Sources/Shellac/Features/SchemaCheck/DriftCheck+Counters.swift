// The comparison of a table's counters with their triggers, and with the rows that they count.

extension DriftCheck {
    mutating func checkCounters() throws {
        for mark in table.counterMarks {
            guard let child = try db.schema.table(mark.countedTable, in: table.schemaName) else {
                add(.counterNotKept(reason: "the table \(mark.countedTable) does not exist"), mark.column)
                continue
            }
            do {
                try check(CounterTriggers(mark, of: table, child, db))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                add(.counterNotKept(reason: error.message ?? "\(error.resultCode)"), mark.column)
            }
        }
    }

    private mutating func check(_ counter: CounterTriggers) throws {
        let present = try db.schema.objects(.trigger, in: table.schemaName)
        let isKept = counter.triggers().allSatisfy { wanted in
            present.contains { $0.name == wanted.name && $0.sql == wanted.sql }
        }
        if try !isKept || !db.schema.contains(.table, counter.notesName, in: table.schemaName) {
            add(
                .counterNotKept(reason: "its triggers are missing or differ. Call updateCounterTriggers()"),
                counter.mark.column)
        }
        let wrong = try Int.fetchOne(db.makeStatement(sql: counter.countOfWrong(in: table.schemaName))) ?? 0
        if wrong > 0 { add(.inaccurateCounters(count: wrong), counter.mark.column) }
    }
}
