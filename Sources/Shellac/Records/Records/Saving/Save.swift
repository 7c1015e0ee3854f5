/// One insertion, upsert or update of a record, while it runs.
struct Save: ~Copyable {
    enum Verb { case insert, upsert, update }

    let verb: Verb
    /// The columns that an update writes.
    var columns = ColumnMask()
    /// Whether an update writes all columns that the record remembers.
    var writesAllColumns = false
    /// The values that the row of an update must hold. Nil for any values.
    var expected: ExpectedRow?
    /// The columns that the record of an upsert does not provide. A conflicting row keeps them.
    var untouched = ColumnMask()
    /// The values that rules have filled in. Nil for most saves.
    var filled: FilledColumns?
    /// The row's values after an upsert, in the columns that may not hold the encoded values.
    var upserted: [(column: Int, value: DatabaseValue)]?

    init(_ verb: Verb) { self.verb = verb }
}

/// The outcome of a save, and the work that remains for a class record.
struct SaveOutcome {
    let success: PersistenceSuccess
    /// Whether the database generated the row id of the record.
    var givesRowID = false
    var pending: PendingAdoption?

    static var update: SaveOutcome { SaveOutcome(success: PersistenceSuccess(insertion: nil)) }
}

// ## The life of a save
//
// 1. `willSave`, and `willInsert` or `willUpdate`, may change the record. Then the record is
//   validated. Then `aroundSave` runs, and inside of it `aroundInsert` or `aroundUpdate`, which may
//   not change it.
// 2. The record encodes its columns, and they are packed: `Database.withWriter`.
// 3. The rules of the type fill in values, or change the columns to write: see ``SaveRule``.
// 4. The statement runs to its end.
// 5. A class record remembers the values that it has written, and takes its row id and the
//   filled-in values.
// 6. `didInsert` or `didUpdate` runs, and then `didSave`.
//
// Step 1 is in Save+Callbacks.swift. If its callbacks are known to do nothing, a save begins with
// step 2. Structs and classes follow the same path. A class record comes here through its own
// overridable methods: see OverridableSave.swift.
//
// Between the callbacks that may change the record, functions that may not change it do the work.
// They pass the record itself to SQLite, and not a copy, which would count a reference for each of
// its texts.

extension MutablePersistableRecord {
    /// Inserts the record, or upserts it. Returns whether a row was written.
    mutating func insertRow(in db: Database, _ options: SaveOptions?, isUpsert: Bool) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.hasNoCallbacks(for: .insertion) }
            ? try encodeAndInsert(in: db, by: plan, options, isUpsert: isUpsert)
            : try insertAmongCallbacks(in: db, options, isUpsert: isUpsert)
        return try runDidCallbacks(written, options, in: db)
    }

    /// Updates columns of the record's row, or all of them. Returns whether a row was written.
    ///
    /// - Parameter columns: The columns. Nil for all of them.
    mutating func updateRow(in db: Database, columns: Set<String>?, _ options: SaveOptions?) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.hasNoCallbacks(for: .update) }
            ? try encodeAndUpdate(in: db, by: plan, columns, options)
            : try updateAmongCallbacks(in: db, columns: columns, writesAllColumns: columns == nil, options)
        return try runDidCallbacks(written, options, in: db)
    }

    /// Updates the record's row, or inserts the record if there is none. Returns whether a row was
    /// written.
    mutating func saveRow(in db: Database, _ options: SaveOptions?) throws -> Bool {
        db.checkAccess()
        let plan = try db.plan(for: recordType)
        let written =
            plan.use { $0.hasNoCallbacks(for: .all) }
            ? try encodeAndSave(in: db, by: plan, options) : try saveAmongCallbacks(in: db, options)
        return try runDidCallbacks(written, options, in: db)
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
        if let object {
            object.runDidCallbacks(isDeleted: isDeleted, in: db)
        } else {
            didDelete(deleted: isDeleted)
        }
        return isDeleted
    }

    // MARK: - Steps 2 to 5

    /// Encodes the record, and inserts it. Returns nil if a conflict was resolved by ignoring it.
    @inline(__always)
    func encodeAndInsert(
        in db: Database, by plan: Unretained<RecordPlan>, _ options: SaveOptions?, isUpsert: Bool
    ) throws -> SaveOutcome? {
        try db.withWriter(plan, for: self) { writer in
            try writer.insert(self, options, isUpsert: isUpsert, in: db)
        }
    }

    /// Encodes the record, and updates columns of its row. Returns nil if a conflict was resolved
    /// by ignoring it.
    private func encodeAndUpdate(
        in db: Database, by plan: Unretained<RecordPlan>, _ columns: Set<String>?, _ options: SaveOptions?
    ) throws -> SaveOutcome? {
        try db.withWriter(plan, for: self) { writer in
            let (mask, writesAllColumns) = try writer.columnsToUpdate(columns, of: self)
            return try writer.update(self, mask, writesAllColumns: writesAllColumns, options, in: db)
                ? .update : nil
        }
    }

    /// Encodes the record, updates its row, and inserts it if there is none.
    @inline(__always)
    private func encodeAndSave(
        in db: Database, by plan: Unretained<RecordPlan>, _ options: SaveOptions?
    ) throws -> SaveOutcome? {
        try db.withWriter(plan, for: self) { writer in
            if writer.hasKey {
                do {
                    let (mask, writesAllColumns) = try writer.columnsToUpdate(nil, of: self)
                    return try writer.update(self, mask, writesAllColumns: writesAllColumns, options, in: db)
                        ? .update : nil
                } catch let error as RecordError where error == writer.notFound {
                    // The insertion follows.
                }
            }
            return try writer.insert(self, options, isUpsert: false, in: db)
        }
    }

    /// Deletes the record's row, as a rule of the type has it.
    ///
    /// - Parameter destroying: Whether the row is deleted permanently, regardless of the rules.
    func deleteRow(_ writer: RecordWriter, destroying: Bool, in db: Database) throws -> Bool {
        writer.takeKey(of: self)
        if !destroying {
            for rule in writer.plan.rules {
                if let isDeleted = try rule.delete(self, by: writer) { return isDeleted }
            }
        }
        let isDeleted = try writer.delete()
        object?.forgetDeletedRow(in: db)
        return isDeleted
    }

    // MARK: - Step 6

    /// Reports the outcome to the record. Returns whether anything was written.
    ///
    /// - Parameter written: The outcome. Nil if a conflict was resolved by ignoring the record.
    @inline(__always)
    private mutating func runDidCallbacks(_ written: SaveOutcome?, _ options: SaveOptions?, in db: Database)
        throws -> Bool
    {
        if let object { return try object.runDidCallbacks(written, options, in: db) }
        guard let written else { return false }
        let success = written.success
        if let insertion = success.insertion { didInsert(insertion) } else { didUpdate(success) }
        didSave(success)
        return true
    }
}

// MARK: - Steps 3 to 5, after the record is encoded

extension RecordWriter {
    /// Inserts the columns that a record has encoded, or upserts them. Returns nil if a conflict
    /// was resolved by ignoring the record.
    @inline(__always)
    func insert<Saved: MutablePersistableRecord>(
        _ record: Saved, _ options: SaveOptions?, isUpsert: Bool, in db: Database
    ) throws -> SaveOutcome? {
        var save = Save(isUpsert ? .upsert : .insert)
        if isUpsert { save.untouched = columnsNotGiven(by: record.object) }
        try checkAttachment(of: record.object, nil)
        guard withPlan({ $0.rules.fillColumns }) else { return try insert(record, &save, options, in: db) }
        return try filling(&save, of: record.object) { try $0.insert(record, &$1, options, in: db) }
    }

    @inline(__always)
    private func insert<Saved: MutablePersistableRecord>(
        _ record: Saved, _ save: inout Save, _ options: SaveOptions?, in db: Database
    ) throws -> SaveOutcome? {
        let success = try insert(&save, options, record.recordType.persistenceConflictPolicy)
        guard let success else { return nil }
        return record.object?.takeInsertion(success, &save, options, from: self, in: db)
            ?? SaveOutcome(success: PersistenceSuccess(insertion: success))
    }

    /// Throws if the save would lose state that was set in the record outside of its columns.
    @inline(__always)
    func checkAttachment(of record: Record?, _ mask: ColumnMask?) throws {
        if let record, let attachment = record.attachment { try attachment.checkSaving(record, self, mask) }
    }

    /// Updates columns that a record has encoded. Returns false if a conflict was resolved by
    /// ignoring the record.
    ///
    /// - Parameters:
    ///   - writesAllColumns: Whether these are all columns that the record remembers.
    @inline(__always)
    func update<Saved: MutablePersistableRecord>(
        _ record: Saved, _ mask: ColumnMask, writesAllColumns: Bool, _ options: SaveOptions?,
        in db: Database
    ) throws -> Bool {
        try checkAttachment(of: record.object, mask)
        takeKey(of: record)
        var save = Save(.update)
        (save.columns, save.writesAllColumns) = (mask, writesAllColumns)
        // A struct remembers nothing.
        if let condition = options?.condition, let object = record.object {
            save.expected = try condition.expectedRow(of: object, writing: mask, by: self)
        }
        guard withPlan({ $0.rules.fillColumns }) else { return try update(record, save, options, in: db) }
        return try filling(&save, of: record.object) { try $0.update(record, $1, options, in: db) }
    }

    @inline(__always)
    private func update<Saved: MutablePersistableRecord>(
        _ record: Saved, _ save: borrowing Save, _ options: SaveOptions?, in db: Database
    ) throws -> Bool {
        record.object?.rememberedRow.prefetchNextRow()
        guard try update(save, options, record.recordType.persistenceConflictPolicy) else { return false }
        save.expected?.clear()
        record.object?.takeUpdate(save, from: self, in: db)
        return true
    }
}
