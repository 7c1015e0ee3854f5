// How records are saved, structs and classes alike: callbacks, encoding, statement, callbacks.
//
// What stands between the callbacks that may change the record is done by functions that may not: what they hand to
// SQLite is the record where it stands, and no copy of it, which would count a reference for each of its texts.

extension MutablePersistableRecord {
    /// The record's type: that of an object is its class. (A struct is not asked, since that would copy it.)
    @inline(__always)
    var recordType: Self.Type {
        let mayBeObject = MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size
        return mayBeObject && Self.self is AnyObject.Type ? Swift.type(of: self) : Self.self
    }

    /// Inserts the record. Returns nil when a conflict was resolved by ignoring it.
    ///
    /// - Parameters:
    ///   - isUpsert: Whether a row that stands in the way is updated.
    ///   - didStore: Called once the row is written, before any `did` callback.
    @discardableResult
    mutating func runInsertion(
        in db: Database, _ options: PersistenceOptions, isUpsert: Bool = false,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        db.checkAccess()
        try willSave(db)
        try willInsert(db)
        let insertion = try insertAsItIs(in: db, options, isUpsert: isUpsert, didStore: didStore)
        guard let insertion else { return nil }
        didInsert(insertion)
        didSave(PersistenceSuccess(insertion: insertion))
        return insertion
    }

    /// Inserts the record, which does not change meanwhile. Returns nil when a conflict was resolved by ignoring it.
    @inline(never)
    private func insertAsItIs(
        in db: Database, _ options: PersistenceOptions, isUpsert: Bool,
        didStore: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> InsertionSuccess? {
        let type = recordType
        let resolution =
            options.conflictResolution ?? type.persistenceConflictPolicy.conflictResolutionForInsert
        var step = Step<InsertionSuccess>.none
        do {
            try aroundSave(db) {
                try aroundInsert(db) {
                    step = .begun
                    let insertion = try Persistence.with(
                        type, on: db, encoding: { try encode(to: &$0) },
                        perform: {
                            (persistence: Persistence) -> InsertionSuccess? in
                            try persistence.stampingInsertion(of: self as? Record, isUpsert: isUpsert) {
                                persistence in
                                let insertion =
                                    isUpsert
                                    ? try persistence.upsert(options.upsert, options.returning)
                                    : try persistence.insert(resolution, options.returning)
                                if let insertion { try didStore(persistence, insertion) }
                                return insertion
                            }
                        })
                    guard let insertion else {
                        step = .ignored
                        throw IgnoredConflict()
                    }
                    step = .done(insertion)
                    return insertion
                }
                return PersistenceSuccess(insertion: try step.result("aroundInsert", type))
            }
        } catch is IgnoredConflict where step.isIgnored {
            return nil
        }
        return step.isIgnored ? nil : try step.result("aroundSave", type)
    }

    /// Updates columns of the record's row, or all of them.
    ///
    /// - Parameter didStore: Called once the row is written, before any `did` callback.
    mutating func runUpdate(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws {
        db.checkAccess()
        // What the will-callbacks change is written, too: compare what is encoded before and after them.
        if !isFull, options.encoded == nil {
            let record = self
            return try Persistence.with(
                recordType, on: db, encoding: { try record.encode(to: &$0) },
                perform: {
                    var options = options
                    options.encoded = $0
                    try runUpdate(in: db, columns: columns, isFull: false, options, didStore: didStore)
                })
        }
        try willSave(db)
        try willUpdate(db, columns: columns)
        let success = try updateAsItIs(
            in: db, columns: columns, isFull: isFull, options, didStore: didStore)
        guard let success else { return }
        didUpdate(success)
        didSave(success)
    }

    /// Updates the record, which does not change meanwhile. Returns nil when a conflict was resolved by ignoring it.
    @inline(never)
    private func updateAsItIs(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws -> PersistenceSuccess? {
        let type = recordType
        let resolution =
            options.conflictResolution ?? type.persistenceConflictPolicy.conflictResolutionForUpdate
        var step = Step<PersistenceSuccess>.none
        do {
            try aroundSave(db) {
                try aroundUpdate(db, columns: columns) {
                    step = .begun
                    let isWritten = try Persistence.with(
                        type, on: db, reusing: isFull ? nil : options.encoded,
                        encoding: { try encode(to: &$0) },
                        perform: { persistence, changed in
                            var mask = persistence.shape.allColumns
                            if !isFull { mask = try persistence.mask(of: columns, and: changed) }
                            return try persistence.stampingUpdate(
                                of: self as? Record, mask, isFull: isFull
                            ) { persistence, mask, isFull in
                                let isWritten = try persistence.update(
                                    mask, resolution, options.returning)
                                if isWritten { try didStore(persistence, mask, isFull) }
                                return isWritten
                            }
                        })
                    guard isWritten else {
                        step = .ignored
                        throw IgnoredConflict()
                    }
                    step = .done(PersistenceSuccess(insertion: nil))
                    return PersistenceSuccess(insertion: nil)
                }
                return try step.result("aroundUpdate", type)
            }
        } catch is IgnoredConflict where step.isIgnored {
            return nil
        }
        return step.isIgnored ? nil : try step.result("aroundSave", type)
    }

    /// Deletes the record's row. Returns whether there was one.
    func runDeletion(in db: Database, didStore: () -> Void) throws -> Bool {
        db.checkAccess()
        let type = recordType
        try willDelete(db)
        var step = Step<Bool>.none
        try aroundDelete(db) {
            step = .begun
            let isDeleted = try Persistence.with(
                type, on: db, encoding: { try encode(to: &$0) },
                perform: {
                    try $0.delete()
                })
            didStore()
            step = .done(isDeleted)
            return isDeleted
        }
        let isDeleted = try step.result("aroundDelete", type)
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

/// How far the statement of a save has come, inside of its `around` callbacks.
private enum Step<Success> {
    case none
    case begun
    case ignored
    case done(Success)

    var isIgnored: Bool { if case .ignored = self { true } else { false } }

    /// What the statement did. A callback that did not run it is told so.
    func result(_ callback: String, _ type: any Any.Type) throws -> Success {
        switch self {
        case .done(let success): return success
        case .ignored: throw IgnoredConflict()
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
