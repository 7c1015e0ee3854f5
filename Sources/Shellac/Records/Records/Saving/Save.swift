/// What a save has written, and what is left to do for a class record.
struct Written {
    let success: PersistenceSuccess
    /// Whether the database gave the record its row id.
    var givesRowID = false
    var pending: PendingAdoption?

    static var update: Written { Written(success: PersistenceSuccess(insertion: nil)) }
}

// ## The life of a save
//
// 1. `willSave`, and `willInsert` or `willUpdate`, which may change the record; then `aroundSave`, and inside of it
//    `aroundInsert` or `aroundUpdate`, which may not. Between these, it is validated.
// 2. The record encodes its columns, which are packed: `Database.withWriter`.
// 3. Columns are filled in that the record leaves to somebody else: see ``ColumnFilling``.
// 4. The statement runs to its end.
// 5. A class record remembers what it has written, and takes its row id and what was filled in.
// 6. `didInsert` or `didUpdate`, and `didSave`.
//
// Step 1 stands in Save+Callbacks.swift. Where it is known that its callbacks do nothing, a save begins with step 2. Structs
// and classes go the same way. A class record is led here by its own overridable methods: see OverridableSave.swift.
//
// What stands between the callbacks that may change the record is done by functions that may not: what they hand to SQLite
// is the record where it stands, and no copy of it, which would count a reference for each of its texts.

extension MutablePersistableRecord {
    /// Inserts the record, or upserts it. Returns whether a row was written.
    mutating func insertRow(in db: Database, _ options: SaveOptions?, isUpsert: Bool) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.isIdle(.insertion) }
            ? try encodeAndInsert(in: db, by: plan, options, isUpsert: isUpsert)
            : try insertAmongCallbacks(in: db, options, isUpsert: isUpsert)
        return try tell(written, options, in: db)
    }

    /// Updates columns of the record's row, or all of them. Returns whether a row was written.
    ///
    /// - Parameter columns: Nil for all columns.
    mutating func updateRow(in db: Database, columns: Set<String>?, _ options: SaveOptions?) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.isIdle(.update) }
            ? try encodeAndUpdate(in: db, by: plan, columns, options)
            : try updateAmongCallbacks(in: db, columns: columns, isFull: columns == nil, options)
        return try tell(written, options, in: db)
    }

    /// Updates the record's row, or inserts the record where there is none. Returns whether a row was written.
    mutating func saveRow(in db: Database, _ options: SaveOptions?) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.isIdle(.all) }
            ? try encodeAndSave(in: db, by: plan, options) : try saveAmongCallbacks(in: db, options)
        return try tell(written, options, in: db)
    }

    /// Deletes the record's row. Returns whether there was one.
    func deleteRow(in db: Database, destroying: Bool = false) throws -> Bool {
        db.checkAccess()
        try willDelete(db)
        var callback = AroundCallback<Bool>()
        try aroundDelete(db) {
            try callback.run {
                try db.withWriter(for: self) { try deleteRow($0, destroying: destroying, in: db) }
            }
        }
        let isDeleted = callback.result("aroundDelete", recordType) ?? false
        if let object { object.callBack(isDeleted: isDeleted, in: db) } else { didDelete(deleted: isDeleted) }
        return isDeleted
    }

    // MARK: - Steps 2 to 5

    /// Encodes the record, and inserts it. Returns nil when a conflict was resolved by ignoring it.
    @inline(__always)
    func encodeAndInsert(
        in db: Database, by plan: Unretained<RecordPlan>, _ options: SaveOptions?, isUpsert: Bool
    ) throws -> Written? {
        try db.withWriter(plan, for: self) { writer in
            try writer.insert(self, options, isUpsert: isUpsert, in: db)
        }
    }

    /// Encodes the record, and updates columns of its row. Returns nil when a conflict was resolved by ignoring it.
    private func encodeAndUpdate(
        in db: Database, by plan: Unretained<RecordPlan>, _ columns: Set<String>?, _ options: SaveOptions?
    ) throws -> Written? {
        try db.withWriter(plan, for: self) { writer in
            let (mask, isFull) = try writer.columnsToUpdate(columns, of: self)
            return try writer.update(self, mask, isFull: isFull, options, in: db) ? .update : nil
        }
    }

    /// Encodes the record, updates its row, and inserts it where there is none.
    @inline(__always)
    private func encodeAndSave(
        in db: Database, by plan: Unretained<RecordPlan>, _ options: SaveOptions?
    ) throws -> Written? {
        try db.withWriter(plan, for: self) { writer in
            if writer.hasKey {
                do {
                    let (mask, isFull) = try writer.columnsToUpdate(nil, of: self)
                    return try writer.update(self, mask, isFull: isFull, options, in: db) ? .update : nil
                } catch let error as RecordError where error == writer.notFound {
                    // It is to be inserted.
                }
            }
            return try writer.insert(self, options, isUpsert: false, in: db)
        }
    }

    // MARK: - Step 6

    /// Tells the record what was written. Returns whether anything was.
    ///
    /// - Parameter written: Nil when a conflict was resolved by ignoring the record.
    @inline(__always)
    private mutating func tell(_ written: Written?, _ options: SaveOptions?, in db: Database) throws -> Bool {
        if let object { return try object.tell(written, options, in: db) }
        guard let written else { return false }
        let success = written.success
        if let insertion = success.insertion { didInsert(insertion) } else { didUpdate(success) }
        didSave(success)
        return true
    }
}

// MARK: - Steps 3 to 5, where the record is encoded

extension RecordWriter {
    /// Inserts what a record has encoded, or upserts it. Returns nil when a conflict was resolved by ignoring the record.
    @inline(__always)
    func insert<Saved: MutablePersistableRecord>(
        _ record: Saved, _ options: SaveOptions?, isUpsert: Bool, in db: Database
    ) throws -> Written? {
        if isUpsert {
            untouched = columnsNotGiven(by: record.object)
        }
        try checkAttachment(of: record.object, nil)
        return try fillingInsertion(of: record.object, isUpsert: isUpsert) { writer in
            let success = try writer.insert(
                options, isUpsert: isUpsert, record.recordType.persistenceConflictPolicy)
            guard let success else { return nil }
            return record.object?.takeInsertion(success, isUpsert: isUpsert, from: writer, in: db)
                ?? Written(success: PersistenceSuccess(insertion: success))
        }
    }

    /// Throws where what the record was given beside its columns would be lost.
    @inline(__always)
    func checkAttachment(of record: Record?, _ mask: ColumnMask?) throws {
        if let record, let attachment = record.attachment { try attachment.checkSaving(record, self, mask) }
    }

    /// Updates columns that a record has encoded. Returns false when a conflict was resolved by ignoring the record.
    ///
    /// - Parameters:
    ///   - isFull: Whether these are all columns that the record knows.
    ///   - unchanged: The columns that are to hold what the record remembers, where no options say it.
    @inline(__always)
    func update<Saved: MutablePersistableRecord>(
        _ record: Saved, _ mask: ColumnMask, isFull: Bool, _ options: SaveOptions?,
        ifUnchanged unchanged: UnchangedColumns? = nil, in db: Database
    ) throws -> Bool {
        try checkAttachment(of: record.object, mask)
        takeKey(of: record)
        let expected: ExpectedRow?
        if let unchanged = unchanged ?? options?.unchanged {
            expected = try expectedRow(unchanged, of: record.object, writing: mask)
        } else {
            expected = nil
        }
        return try fillingUpdate(of: record.object, mask, isFull: isFull) { writer, mask, isFull in
            record.object?.rememberedRow.prefetchNextRow()
            guard
                try writer.update(
                    mask, expecting: expected, options, record.recordType.persistenceConflictPolicy)
            else { return false }
            expected?.clear()
            // A counter was not written.
            let isWhole = isFull && writer.withStatements { $0.counterMask.isEmpty }
            record.object?.takeUpdate(mask, isFull: isWhole, from: writer, in: db)
            return true
        }
    }
}
