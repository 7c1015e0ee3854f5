// The first step of a save if callbacks run around the statement: see Save.swift.

extension MutablePersistableRecord {
    /// Inserts the record, with the callbacks before the statement and around it. If the insertion
    /// is a part of a save, the save calls its own callbacks. Returns nil if a conflict was
    /// resolved by ignoring the record.
    mutating func insertAmongCallbacks(
        in db: Database, _ options: SaveOptions?, isUpsert: Bool
    ) throws -> SaveOutcome? {
        try learningCallbacks(in: db) { record in
            if options?.isPartOfSave == true {
                try record.willInsert(db)
                try record.runValidation(in: db)
                return try record.insertInsideCallback(in: db, options, isUpsert: isUpsert)
            }
            try record.willSave(db)
            try record.willInsert(db)
            try record.runValidation(in: db)
            return try record.aroundSaving(in: db) {
                try record.insertInsideCallback(in: db, options, isUpsert: isUpsert)
            }
        }
    }

    /// Updates columns of the record's row, with the callbacks before the statement and around it.
    /// Returns nil if a conflict was resolved by ignoring the record.
    ///
    /// - Parameters:
    ///   - columns: The columns that `willUpdate` gets. Nil for all that the record encodes.
    ///   - writesAllColumns: Whether all columns are written.
    mutating func updateAmongCallbacks(
        in db: Database, columns: Set<String>?, writesAllColumns: Bool, _ options: SaveOptions?
    ) throws -> SaveOutcome? {
        if !writesAllColumns, options?.encoded == nil {
            // Changes made by the will-callbacks are written, too. To find them, compare the
            // encoded columns before and after the callbacks.
            let record = self
            return try db.withWriter(for: record) { encoded in
                let options = SaveOptions(options, encoded: encoded)
                return try updateAmongCallbacks(in: db, columns: columns, writesAllColumns: false, options)
            }
        }
        let columns =
            try columns ?? db.withWriter(for: self) { $0.names(without: $0.columnsNotGiven(by: object)) }
        return try learningCallbacks(in: db) { record in
            if options?.isPartOfSave == true {
                try record.willUpdate(db, columns: columns)
                try record.runValidation(in: db)
                return try record.updateInsideCallback(
                    in: db, columns, writesAllColumns: writesAllColumns, options)
            }
            try record.willSave(db)
            try record.willUpdate(db, columns: columns)
            try record.runValidation(in: db)
            return try record.aroundSaving(in: db) {
                try record.updateInsideCallback(in: db, columns, writesAllColumns: writesAllColumns, options)
            }
        }
    }

    /// Updates the record's row, or inserts the record if there is none, with one call of
    /// `willSave` and `aroundSave` for both. Returns nil if a conflict was resolved by ignoring the
    /// record.
    mutating func saveAmongCallbacks(in db: Database, _ options: SaveOptions?) throws -> SaveOutcome? {
        guard let columns = try columnsToUpdate(in: db) else {
            return try insertAmongCallbacks(in: db, options, isUpsert: false)
        }
        return try learningCallbacks(in: db) { record in
            try record.willSave(db)
            try record.willUpdate(db, columns: columns)
            try record.runValidation(in: db)
            // The record cannot change while `aroundSave` runs. So the copy that `willInsert` has
            // changed replaces it afterwards.
            var changed: Self?
            let written = try record.aroundSaving(in: db) {
                try record.updateOrInsertInsideCallback(in: db, columns, options, &changed)
            }
            if let changed { record = changed }
            return written
        }
    }

    private func updateOrInsertInsideCallback(
        in db: Database, _ columns: Set<String>, _ options: SaveOptions?, _ changed: inout Self?
    ) throws -> SaveOutcome? {
        do {
            return try updateInsideCallback(in: db, columns, writesAllColumns: true, options)
        } catch let error as RecordError {
            guard try isAbsence(error, in: db) else { throw error }
        }
        var record = self
        try record.willInsert(db)
        try record.runValidation(in: db)
        let written = try record.insertInsideCallback(in: db, options, isUpsert: false)
        changed = record
        return written
    }

    /// Runs `validate(_:)` in a read-only scope.
    private func runValidation(in db: Database) throws {
        let couldWrite = !db.isReadOnlyScope
        do {
            let refusal = "validate(_:) runs in the middle of a save, which keeps its transaction open"
            try db.keepingTransactionOpen(refusal: refusal) { try db.readOnly { try validate(db) } }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY && couldWrite {
            throw error.saying(
                "validate(_:) of a \(recordType) cannot write: write in willSave(_:), or after the save")
        }
    }

    /// Runs the function that inserts or updates the record inside of `aroundSave`.
    func aroundSaving(in db: Database, _ save: () throws -> SaveOutcome?) throws -> SaveOutcome? {
        var callback = AroundCallback<SaveOutcome>()
        do { try aroundSave(db) { try callback.run(save).success } } catch is IgnoredConflict
            where callback.isIgnored
        {}
        return callback.result("aroundSave", recordType)
    }

    /// Inserts the record inside of `aroundInsert`.
    private func insertInsideCallback(
        in db: Database, _ options: SaveOptions?, isUpsert: Bool
    ) throws -> SaveOutcome? {
        var written: SaveOutcome?
        var callback = AroundCallback<InsertionSuccess>()
        do {
            try aroundInsert(db) {
                try callback.run {
                    let plan = try db.plan(for: recordType)
                    written = try encodeAndInsert(in: db, by: plan, options, isUpsert: isUpsert)
                    return written?.success.insertion
                }
            }
        } catch is IgnoredConflict where callback.isIgnored {}
        return callback.result("aroundInsert", recordType) == nil ? nil : written
    }

    /// Updates columns of the record's row inside of `aroundUpdate`.
    private func updateInsideCallback(
        in db: Database, _ columns: Set<String>, writesAllColumns: Bool, _ options: SaveOptions?
    ) throws -> SaveOutcome? {
        var callback = AroundCallback<SaveOutcome>()
        do {
            try aroundUpdate(db, columns: columns) {
                try callback.run {
                    try db.withWriter(for: self, reusing: writesAllColumns ? nil : options?.encoded) {
                        writer, changed in
                        let (mask, writesAllColumns) = try writer.columnsToUpdate(
                            writesAllColumns ? nil : columns, and: changed, of: self)
                        return try writer.update(
                            self, mask, writesAllColumns: writesAllColumns, options, in: db)
                            ? .update : nil
                    }
                }.success
            }
        } catch is IgnoredConflict where callback.isIgnored {}
        return callback.result("aroundUpdate", recordType)
    }

    /// Runs a function that saves the record with all callbacks. For a struct, this also learns
    /// which callbacks do nothing.
    private mutating func learningCallbacks<Result>(
        in db: Database, _ save: (inout Self) throws -> Result
    ) throws -> Result {
        if Self.isOfObjects { return try save(&self) }
        return try db.watchingCallbacks(of: Self.self) { try save(&self) }
    }
}

// MARK: - Properties of the record

extension MutablePersistableRecord {
    /// The record's type. For an object, this is its class. (For a struct, `type(of:)` is not
    /// called, because that would copy it.)
    @inline(__always)
    var recordType: Self.Type { Self.isOfObjects ? Swift.type(of: self) : Self.self }

    /// The record, if it is an object of a class that remembers its saves.
    @inline(__always)
    var object: Record? { Self.isOfObjects ? self as? Record : nil }

    /// Whether the type is a class. (The size rules out most other types.)
    @inline(__always)
    private static var isOfObjects: Bool {
        MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size && Self.self is AnyObject.Type
    }

    /// Returns the names of the columns that the record provides, and those of its key. Nil if it
    /// has no key to find its row by.
    func columnsToUpdate(in db: Database) throws -> Set<String>? {
        try db.withWriter(for: self) { writer in
            writer.hasKey ? writer.names(without: writer.columnsNotGiven(by: object)) : nil
        }
    }

    /// Whether an error means that the record has no row.
    func isAbsence(_ error: RecordError, in db: Database) throws -> Bool {
        try db.withWriter(for: self) {
            $0.takeKey(of: self)
            return error == $0.notFound
        }
    }
}
