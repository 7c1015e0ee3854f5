// How records are saved, structs and classes alike: callbacks, encoding, statement, callbacks.
//
// What stands between the callbacks that may change the record is done by functions that may not: what they hand to
// SQLite is the record where it stands, and no copy of it, which would count a reference for each of its texts.

extension MutablePersistableRecord {
    /// The record's type: that of an object is its class. (A struct is not asked, since that would copy it.)
    @inline(__always)
    var recordType: Self.Type { Self.isOfObjects ? Swift.type(of: self) : Self.self }

    /// Whether the type is a class. (Most others are told by their size.)
    @inline(__always)
    private static var isOfObjects: Bool {
        MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size && Self.self is AnyObject.Type
    }

    /// Inserts the record. Returns nil when a conflict was resolved by ignoring it.
    ///
    /// - Parameters:
    ///   - isUpsert: Whether a row that stands in the way is updated.
    ///   - didStore: Called once the row is written, before any `did` callback.
    @discardableResult
    mutating func runInsertion(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool = false,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        db.checkAccess()
        var insertion: InsertionSuccess?
        // An object's class may override callbacks that the class known here does not.
        let isStraight =
            Self.isOfObjects
            ? false : try insertStraight(in: db, options, isUpsert: isUpsert, &insertion, didStore: didStore)
        switch isStraight {
        case true?: break
        case false?:
            insertion = try insertAmongCallbacks(in: db, options, isUpsert: isUpsert, didStore: didStore)
        case nil: insertion = try insertAndLearn(in: db, options, isUpsert: isUpsert, didStore: didStore)
        }
        guard let insertion else { return nil }
        didInsert(insertion)
        didSave(PersistenceSuccess(insertion: insertion))
        return insertion
    }

    /// Inserts a struct that is known to implement no callback that is called with a database around an insertion.
    /// Returns whether it is such a one, and nil where that is not known.
    @inline(never)
    private func insertStraight(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool, _ insertion: inout InsertionSuccess?,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> Bool? {
        try db.withRecords { records in
            try records.withPlan(for: Self.self, on: db) { plan in
                guard plan.hasDefaultCallbacks == true else { return plan.hasDefaultCallbacks }
                insertion = try Persistence.with(
                    plan, records, on: db, encoding: { try _encodeColumns(to: &$0) },
                    perform: {
                        try insert($0, options, isUpsert: isUpsert, of: nil, didStore: didStore)
                    })
                return true
            }
        }
    }

    /// Inserts a struct, and learns whether its type implements such callbacks.
    private mutating func insertAndLearn(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        let plan = try db.records.plan(for: Self.self, on: db)
        var insertion: InsertionSuccess?
        let hasDefaultCallbacks = try db.watchingCallbacks(of: Self.self) {
            insertion = try insertAmongCallbacks(in: db, options, isUpsert: isUpsert, didStore: didStore)
        }
        // A conflict that was resolved by ignoring it may have come before the last callback.
        if insertion != nil { plan.hasDefaultCallbacks = hasDefaultCallbacks }
        return insertion
    }

    /// Inserts the record, with the callbacks that come before the statement and around it, and no others. Those of a save
    /// are called by the save, where the insertion is a part of one.
    mutating func insertAmongCallbacks(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        if options?.isPartOfSave == true {
            try willInsert(db)
            return try insertAsItIs(in: db, options, isUpsert: isUpsert, didStore: didStore)
        }
        try willSave(db)
        try willInsert(db)
        return try aroundSaving(db) {
            let insertion = try insertAsItIs(in: db, options, isUpsert: isUpsert, didStore: didStore)
            return insertion.map { PersistenceSuccess(insertion: $0) }
        }?.insertion
    }

    /// Runs what inserts or updates the record. Returns nil when a conflict was resolved by ignoring it.
    func aroundSaving(
        _ db: Database, _ save: () throws -> PersistenceSuccess?
    ) throws -> PersistenceSuccess? {
        var step = Step<PersistenceSuccess>.none
        do { try aroundSave(db) { try step.run(save) } } catch is IgnoredConflict where step.isIgnored {}
        return step.result("aroundSave", recordType)
    }

    /// Inserts what was encoded.
    ///
    /// - Parameter object: The record, if it is of a class.
    @inline(__always)
    private func insert(
        _ persistence: Persistence, _ options: PersistenceOptions?, isUpsert: Bool,
        of object: @autoclosure () -> Record?, didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        if isUpsert { persistence.untouched = object()?.untouched(in: persistence) ?? ColumnMask() }
        return try persistence.stampingInsertion(of: object(), isUpsert: isUpsert) { persistence in
            let insertion = try persistence.insert(
                options, isUpsert: isUpsert, recordType.persistenceConflictPolicy)
            if let insertion { try didStore(persistence, insertion) }
            return insertion
        }
    }

    /// Inserts the record, which does not change meanwhile. Returns nil when a conflict was resolved by ignoring it.
    @inline(never)
    func insertAsItIs(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        let type = recordType
        var step = Step<InsertionSuccess>.none
        do {
            try aroundInsert(db) {
                try step.run {
                    try Persistence.with(
                        type, on: db, encoding: { try _encodeColumns(to: &$0) },
                        perform: {
                            try insert(
                                $0, options, isUpsert: isUpsert, of: self as? Record, didStore: didStore)
                        })
                }
            }
        } catch is IgnoredConflict where step.isIgnored {}
        return step.result("aroundInsert", type)
    }

    /// Updates columns of the record's row, or all of them.
    ///
    /// - Parameter didStore: Called once the row is written, before any `did` callback.
    mutating func runUpdate(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions?,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws {
        db.checkAccess()
        let success = try updateAmongCallbacks(
            in: db, columns: columns, isFull: isFull, options, didStore: didStore)
        guard let success else { return }
        didUpdate(success)
        didSave(success)
    }

    /// Updates the record, with the callbacks that come before the statement and around it, and no others. Returns nil when
    /// a conflict was resolved by ignoring it.
    mutating func updateAmongCallbacks(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions?,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws -> PersistenceSuccess? {
        // What the will-callbacks change is written, too: compare what is encoded before and after them.
        if !isFull, options?.encoded == nil {
            let record = self
            return try Persistence.with(
                recordType, on: db, encoding: { try record._encodeColumns(to: &$0) },
                perform: {
                    let options = PersistenceOptions(
                        options?.conflictResolution, returning: options?.returning, encoded: $0,
                        isPartOfSave: options?.isPartOfSave ?? false)
                    return try updateAmongCallbacks(
                        in: db, columns: columns, isFull: false, options, didStore: didStore)
                })
        }
        if options?.isPartOfSave == true {
            try willUpdate(db, columns: columns)
            return try updateAsItIs(in: db, columns: columns, isFull: isFull, options, didStore: didStore)
        }
        try willSave(db)
        try willUpdate(db, columns: columns)
        return try aroundSaving(db) {
            try updateAsItIs(in: db, columns: columns, isFull: isFull, options, didStore: didStore)
        }
    }

    /// Updates the record, which does not change meanwhile. Returns nil when a conflict was resolved by ignoring it.
    @inline(never)
    func updateAsItIs(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions?,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws -> PersistenceSuccess? {
        let type = recordType
        var step = Step<PersistenceSuccess>.none
        do {
            try aroundUpdate(db, columns: columns) {
                try step.run {
                    let isWritten = try Persistence.with(
                        type, on: db, reusing: isFull ? nil : options?.encoded,
                        encoding: { try _encodeColumns(to: &$0) },
                        perform: { persistence, changed in
                            var (mask, isFull) = (persistence.shape.allColumns, isFull)
                            if !isFull {
                                mask = try persistence.mask(of: columns, and: changed)
                            } else if let record = self as? Record {
                                (mask, isFull) = record.columnsOfFullUpdate(persistence)
                            }
                            persistence.takeKey(of: self)
                            return try persistence.stampingUpdate(
                                of: self as? Record, mask, isFull: isFull
                            ) { persistence, mask, isFull in
                                let isWritten = try persistence.update(
                                    mask, options, type.persistenceConflictPolicy)
                                if isWritten { try didStore(persistence, mask, isFull) }
                                return isWritten
                            }
                        })
                    return isWritten ? PersistenceSuccess(insertion: nil) : nil
                }
            }
        } catch is IgnoredConflict where step.isIgnored {}
        return step.result("aroundUpdate", type)
    }

    // MARK: - Deleting

    /// Deletes the record's row. Returns whether there was one.
    func runDeletion(in db: Database, didStore: () -> Void) throws -> Bool {
        db.checkAccess()
        let type = recordType
        try willDelete(db)
        var step = Step<Bool>.none
        try aroundDelete(db) {
            try step.run {
                let isDeleted = try Persistence.with(
                    type, on: db, encoding: { try _encodeColumns(to: &$0) },
                    perform: {
                        $0.takeKey(of: self)
                        return try $0.delete()
                    })
                didStore()
                return isDeleted
            }
        }
        let isDeleted = step.result("aroundDelete", type) ?? false
        didDelete(deleted: isDeleted)
        return isDeleted
    }
}

extension Persistence {
    /// The columns to update: those that were asked for, and those that the will-callbacks have changed.
    func mask(of names: Set<String>, and changed: ColumnMask) throws -> ColumnMask {
        var mask = try shape.columns(named: names)
        if !changed.isEmpty { mask.formUnion(changed) }
        return settable(mask)
    }

    /// Columns without those of the primary key, by which the row is found. Where there are no others, the key is set to
    /// what it is.
    @inline(__always)
    func settable(_ mask: ColumnMask) -> ColumnMask {
        var mask = mask
        withShape { mask.subtract($0.keyMask) }
        return mask.isEmpty ? shape.keyMask : mask
    }
}

/// How far what an `around` callback is called around has come.
private enum Step<Success> {
    case none
    case begun
    case ignored
    case done(Success)

    var isIgnored: Bool { if case .ignored = self { true } else { false } }

    /// Runs what the callback is called around. It returns nil when a conflict was resolved by ignoring the record.
    @inline(__always)
    mutating func run(_ body: () throws -> Success?) throws -> Success {
        self = .begun
        guard let success = try body() else {
            self = .ignored
            throw IgnoredConflict()
        }
        self = .done(success)
        return success
    }

    /// What came of it: nil when a conflict was resolved by ignoring the record. A callback that did not run it is told so.
    func result(_ callback: String, _ type: any Any.Type) -> Success? {
        switch self {
        case .done(let success): return success
        case .ignored: return nil
        case .begun, .none:
            Misuse.trap(
                "\(callback) of \(type) has returned without having called the function that it was given, or has "
                    + "caught its error. Call it once, and let its errors through.")
        }
    }
}

/// Leads out of the `around` callbacks when a conflict was resolved by ignoring the record.
private struct IgnoredConflict: Error, CustomStringConvertible {
    var description: String { "a conflict was resolved by ignoring the record" }
}
