// Inserts many class records at a time.

extension Record {
    /// Inserts records, each in the way of its class.
    static func insertAll(
        _ records: [Record], _ resolution: Database.ConflictResolution?, in db: Database
    ) throws {
        if records.count < 2 {
            try records.first?.insert(db, onConflict: resolution)
            return
        }
        try db.inSavepoint {
            try insertEach(of: records, resolution, in: db)
            return .commit
        }
    }

    /// Inserts records, each in the way of its class. If one fails, some of them may be inserted.
    static func insertEach(
        of records: [Record], _ resolution: Database.ConflictResolution?, in db: Database
    ) throws {
        var rest = records[...]
        while let first = rest.first {
            let type = Swift.type(of: first)
            let some = rest.prefix { Swift.type(of: $0) == type }
            rest = rest.dropFirst(some.count)
            if some.count > 1, try mayInsertMany(of: type, resolution, in: db) {
                try insertMany(some, db.plan(for: type).object, in: db)
            } else {
                for record in some { try record.insert(db, onConflict: resolution) }
            }
        }
    }

    /// Whether one statement may insert many records of a class.
    static func mayInsertMany(
        of type: Record.Type, _ resolution: Database.ConflictResolution?, in db: Database
    ) throws -> Bool {
        let plan = try db.plan(for: type).object
        let policy = resolution ?? type.persistenceConflictPolicy.conflictResolutionForInsert
        return try policy == .abort && plan.hasNoCallbacks(for: .insertion) && plan.canTakeManyRows(on: db)
    }

    /// Inserts records of one class that has no callbacks around its statements.
    private static func insertMany(
        _ records: ArraySlice<Record>, _ plan: RecordPlan, in db: Database
    ) throws {
        var next = records.startIndex
        let batch = InsertionBatch(plan, of: records.count, isAlone: false, on: db) { batch, rowIDs in
            let rowIDColumn = plan.rowIDColumn
            try db.withWriter { storing in
                for (offset, rowID) in rowIDs.enumerated() {
                    let record = records[next]
                    next += 1
                    let filled = batch.unpack(offset, to: storing)
                    let insertion = InsertionSuccess(rowID: rowID, rowIDColumn: rowIDColumn)
                    try record.take(insertion, filled, storing)
                }
            }
        }
        for record in records {
            try db.withWriter(Unretained(plan), for: record) {
                try $0.checkAttachment(of: record, nil)
                try $0.gather(record, in: batch)
            }
        }
        try batch.insert()
    }

    /// Stores in the record that it was inserted.
    private func take(
        _ insertion: InsertionSuccess, _ filled: FilledColumns?, _ writer: RecordWriter
    ) throws {
        let moment = snapshot?.moment ?? 0
        let pending = takeLateInsertion(insertion, filled, from: writer, in: writer.database)
        if moment != 0, snapshot?.moment == moment, insertion.rowIDColumn != nil {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the same \(type(of: self)) occurs twice among the records to insert, "
                    + "but can have only one row in the table \(writer.plan.tableName)")
        }
        runDidCallbacks(PersistenceSuccess(insertion: insertion))
        if let pending { try finish(pending) }
    }
}

extension RecordWriter {
    /// Adds the encoded columns to a batch of insertions.
    ///
    /// - Parameter record: The record, if it is of a class.
    func gather(_ record: Record?, in batch: InsertionBatch) throws {
        guard withPlan({ $0.rules.fillColumns }) else { return try batch.take(self, nil) }
        var save = Save(.insert)
        try filling(&save, of: record) { try batch.take($0, $1.filled) }
    }
}
