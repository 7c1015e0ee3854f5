// How records are saved, structs and classes alike: callbacks, encoding, statement, callbacks.

extension MutablePersistableRecord {
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
        let type = Swift.type(of: self)
        try willSave(db)
        try willInsert(db)
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
        if step.isIgnored { return nil }
        let insertion = try step.result("aroundSave", type)
        didInsert(insertion)
        didSave(PersistenceSuccess(insertion: insertion))
        return insertion
    }

    /// Updates columns of the record's row, or all of them.
    ///
    /// - Parameter didStore: Called once the row is written, before any `did` callback.
    mutating func runUpdate(
        in db: Database, columns: Set<String>, isFull: Bool, _ options: PersistenceOptions,
        didStore: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws {
        db.checkAccess()
        let type = Swift.type(of: self)
        // What the will-callbacks change is written, too: compare what is encoded before and after them.
        if !isFull, options.encoded == nil {
            let record = self
            return try Persistence.with(
                type, on: db, encoding: { try record.encode(to: &$0) },
                perform: {
                    var options = options
                    options.encoded = $0
                    try runUpdate(in: db, columns: columns, isFull: false, options, didStore: didStore)
                })
        }
        try willSave(db)
        try willUpdate(db, columns: columns)
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
            return
        }
        if step.isIgnored { return }
        let success = try step.result("aroundSave", type)
        didUpdate(success)
        didSave(success)
    }

    /// Deletes the record's row. Returns whether there was one.
    func runDeletion(in db: Database, didStore: () -> Void) throws -> Bool {
        db.checkAccess()
        let type = Swift.type(of: self)
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
        for column in shape.keyColumns { mask.remove(column) }
        return mask.isEmpty ? ColumnMask(shape.keyColumns) : mask
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
