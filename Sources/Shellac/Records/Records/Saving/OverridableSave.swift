// Passes saves of class records through their overridable methods.
//
// Four overridable methods save a class record, however the save starts. Their base implementations
// follow the path of all records (see Save.swift). These methods take no options. One inserts and
// one updates, and none does both.
//
// So the options of a save are left at the connection, where the base method finds them. So are the
// successes to report later. No other file uses this.

/// The options of the next save of a class record.
struct SaveRequest {
    fileprivate var asked: (record: ObjectIdentifier, options: SaveOptions?)?
    /// The record whose next deletion is permanent.
    fileprivate var destroyed: ObjectIdentifier?
    /// The record whose `did` callbacks other code calls later, with the successes not yet
    /// reported.
    fileprivate var deferred: (record: ObjectIdentifier, successes: [PendingCallback])?
}

/// A success that a record's `did` callbacks have not received yet.
enum PendingCallback {
    case save(PersistenceSuccess)
    case deletion(isDeleted: Bool)
}

extension RecordKeeper {
    /// Runs a function that saves a record by an overridable method, with options. Another record
    /// that is saved on the way does not get them.
    private func requesting<Result>(
        _ options: SaveOptions?, of record: Record, _ save: () throws -> Result
    ) rethrows -> Result {
        let outer = request.asked
        request.asked = (ObjectIdentifier(record), options)
        defer { request.asked = outer }
        return try save()
    }

    /// Takes the options of the save of a record.
    fileprivate func takeOptions(for record: Record) -> SaveOptions? {
        guard let asked = request.asked, asked.record == ObjectIdentifier(record) else { return nil }
        request.asked = nil
        return asked.options
    }

    fileprivate func insert(_ record: Record, _ options: SaveOptions?, in db: Database) throws {
        try requesting(options, of: record) { try record.insert(db) }
    }

    @inline(__always)
    fileprivate func update(
        _ record: Record, columns: Set<String>?, _ options: SaveOptions?, in db: Database
    ) throws {
        try requesting(options, of: record) {
            if let columns { try record.update(db, columns: columns) } else { try record.update(db) }
        }
    }

    /// Deletes a record permanently. This does not apply to records that it saves or deletes on the
    /// way.
    fileprivate func destroy(_ record: Record, in db: Database) throws -> Bool {
        let outer = exchange(&request.destroyed, with: ObjectIdentifier(record))
        defer { request.destroyed = outer }
        return try record.delete(db)
    }

    /// Takes the flag that a record's deletion is permanent.
    fileprivate func takeDestruction(of record: Record) -> Bool {
        guard request.destroyed == ObjectIdentifier(record) else { return false }
        request.destroyed = nil
        return true
    }

    /// Runs a function that saves a record, without calling its `did` callbacks. Returns the
    /// successes to report to them.
    fileprivate func deferringCallbacks(
        _ record: Record, _ save: () throws -> Void
    ) rethrows -> [PendingCallback] {
        let outer = exchange(&request.deferred, with: (ObjectIdentifier(record), []))
        defer { request.deferred = outer }
        try save()
        return request.deferred?.successes ?? []
    }

    /// Whether other code calls a record's `did` callbacks later. If so, keeps the success for it.
    fileprivate func defers(_ success: PendingCallback, of record: Record) -> Bool {
        guard request.deferred?.record == ObjectIdentifier(record) else { return false }
        request.deferred?.successes.append(success)
        return true
    }
}

// MARK: - To the overridable methods

extension Record {
    /// Runs an operation by passing it to the overridable methods.
    @_documentation(visibility: internal)
    @discardableResult
    public final func persist(_ operation: PersistenceOperation, in db: Database) throws -> Bool {
        db.checkAccess()
        let options = operation.options
        switch operation.verb {
        case .insert: try db.records.insert(self, options, in: db)
        case .update(let columns): try db.records.update(self, columns: columns, options, in: db)
        case .delete: return try delete(db)
        case .destroy: return try db.records.destroy(self, in: db)
        case .upsert:
            var record = self
            return try record.insertRow(in: db, options, isUpsert: true)
        case .save: try save(in: db, options)
        }
        return true
    }

    /// Runs a function that saves or deletes the record, without calling its `did` callbacks.
    /// Returns the successes to report to them.
    final func deferringCallbacks(in db: Database, _ operation: () throws -> Void) rethrows
        -> [PendingCallback]
    {
        try db.records.deferringCallbacks(self, operation)
    }

    private func save(in db: Database, _ options: SaveOptions?) throws {
        if try db.plan(for: type(of: self)).use({ $0.traits.overridesMethods }) {
            return try saveByMethods(in: db, options)
        }
        var record = self
        _ = try record.saveRow(in: db, options)
    }

    /// Updates or inserts the record by its own methods.
    private func saveByMethods(in db: Database, _ asked: SaveOptions?) throws {
        guard try columnsToUpdate(in: db) != nil else { return try db.records.insert(self, asked, in: db) }
        // Changes made by `willSave` are written, whichever columns the methods name. To find them,
        // compare with the columns encoded before.
        let outcome = try db.withWriter(for: self) { encoded in
            var part = SaveOptions(asked, encoded: encoded, isPartOfSave: true)
            try willSave(db)
            let written = try aroundSaving(in: db) {
                do {
                    try db.records.update(self, columns: nil, part, in: db)
                } catch let error as RecordError {
                    guard try isAbsence(error, in: db) else { throw error }
                    part = SaveOptions(asked, encoded: encoded, isPartOfSave: true)
                    try db.records.insert(self, part, in: db)
                }
                return part.isIgnored ? nil : part.outcome ?? .update
            }
            return written == nil ? nil : part.outcome
        }
        // A method that did not call `super` has saved the record itself, or not at all.
        if let outcome { runDidCallbacks(outcome, in: db) }
    }

    /// Updates named columns of a record that has encoded them.
    final func updateByMethods(
        _ writer: RecordWriter, _ names: Set<String>, _ options: SaveOptions?, in db: Database
    ) throws {
        try db.records.update(self, columns: names, SaveOptions(options, encoded: writer), in: db)
    }
}

// MARK: - From the overridable methods

extension Record {
    /// Implements ``insert(_:)``.
    @inline(__always)
    final func insertRow(in db: Database) throws {
        db.checkAccess()
        let options = db.withRecords { $0.takeOptions(for: self) }
        let plan = try db.plan(for: type(of: self))
        if plan.use({ $0.hasNoCallbacks(for: .insertion) }) {
            // Does the same as below without a `var`, whose references would be counted.
            let written = try encodeAndInsert(in: db, by: plan, options, isUpsert: false)
            _ = try runDidCallbacks(written, options, in: db)
        } else {
            var record = self
            _ = try record.insertRow(in: db, options, isUpsert: false)
        }
    }

    /// Implements ``delete(_:)``.
    final func deleteOwnRow(in db: Database) throws -> Bool {
        db.checkAccess()
        return try deleteRow(in: db, destroying: db.withRecords { $0.takeDestruction(of: self) })
    }

    /// Implements ``update(_:)``. Calls ``update(_:columns:)`` if a class overrides it.
    final func updateRow(in db: Database) throws {
        db.checkAccess()
        if try db.plan(for: type(of: self)).use({ $0.hasNoCallbacks(for: .update) }) {
            var record = self
            _ = try record.updateRow(
                in: db, columns: nil, db.withRecords { $0.takeOptions(for: self) })
        } else {
            try db.withWriter(for: self) {
                try update(db, columns: $0.names(without: $0.columnsNotGiven(by: self)))
            }
        }
    }

    /// Implements ``update(_:columns:)``.
    final func updateRow(in db: Database, columns: Set<String>) throws {
        db.checkAccess()
        let options = db.withRecords { $0.takeOptions(for: self) }
        let plan = try db.plan(for: type(of: self))
        var record = self
        if plan.use({ $0.hasNoCallbacks(for: .update) }) {
            _ = try record.updateRow(in: db, columns: columns, options)
        } else {
            // If the columns are named, never-read columns and withheld ones are written too.
            let writesAllColumns =
                plan.use { $0.statements?.names.all == columns && !$0.rules.withholdColumns }
                && knownLayout?.unread == nil
            let written = try record.updateAmongCallbacks(
                in: db, columns: columns, writesAllColumns: writesAllColumns, options)
            _ = try runDidCallbacks(written, options, in: db)
        }
    }

    // MARK: - The outcome

    /// Calls the `did` callbacks, or leaves them to other code. Returns whether anything was
    /// written.
    ///
    /// - Parameter written: The outcome. Nil if a conflict was resolved by ignoring the record.
    @inline(__always)
    final func runDidCallbacks(_ written: SaveOutcome?, _ options: SaveOptions?, in db: Database) throws
        -> Bool
    {
        if let options, options.isPartOfSave {
            options.outcome = written
            options.isIgnored = written == nil
        } else if let written {
            runDidCallbacks(written, in: db)
        }
        if let pending = written?.pending { try finish(pending) }
        return written != nil
    }

    /// Calls the `did` callbacks, unless the caller has requested to call them itself.
    @inline(__always)
    final func runDidCallbacks(_ written: SaveOutcome, in db: Database) {
        if db.withRecords({ $0.request.deferred == nil }) {
            runDidCallbacks(written.success)
        } else {
            deferCallbacks(written, in: db)
        }
    }

    /// Leaves the `did` callbacks to the caller that has requested them, or calls them.
    private func deferCallbacks(_ written: SaveOutcome, in db: Database) {
        if db.records.defers(.save(written.success), of: self) {
            takeRowIDAtOnce(written, in: db)
        } else {
            runDidCallbacks(written.success)
        }
    }

    /// Calls only `didInsert`, if the record takes its row id there: the rest of the access may
    /// need it.
    private func takeRowIDAtOnce(_ written: SaveOutcome, in db: Database) {
        guard written.givesRowID, let insertion = written.success.insertion else { return }
        switch db.records.knownPlan(for: type(of: self))?.learned.rowIDAdoption {
        case .columns, .updateFromRow: return
        default: didInsert(insertion)
        }
    }

    /// Calls `didDelete`, unless the caller has requested to call it itself.
    final func runDidCallbacks(isDeleted: Bool, in db: Database) {
        if db.records.defers(.deletion(isDeleted: isDeleted), of: self) { return }
        didDelete(deleted: isDeleted)
    }

    /// Calls the `did` callbacks.
    final func runDidCallbacks(_ success: PendingCallback) {
        switch success {
        case .save(let success): runDidCallbacks(success)
        case .deletion(let isDeleted): didDelete(deleted: isDeleted)
        }
    }

    /// Calls the `did` callbacks of a save.
    final func runDidCallbacks(_ success: PersistenceSuccess) {
        if let insertion = success.insertion { didInsert(insertion) } else { didUpdate(success) }
        didSave(success)
    }
}
