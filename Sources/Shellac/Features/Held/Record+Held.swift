// Async saving, deletion and reloading of class records that stay with their owner.

extension Record {
    /// Saves the record in an asynchronous access, while the record stays with its owner, such as a
    /// view model or an actor.
    ///
    /// ```swift
    /// @MainActor final class Editor {
    ///     let player: Player
    ///
    ///     func commit() async throws {
    ///         try await player.save(in: dbQueue)
    ///     }
    /// }
    /// ```
    ///
    /// Shellac makes a copy with ``copy()``, sends it, and saves it like ``save(_:)``, in a
    /// transaction of its own. So overriding methods, and callbacks that get a `Database`, run on
    /// the copy and on the database's side.
    ///
    /// Then the record takes the outcome on its owner's side: its row id, its stamps, and the
    /// values that callbacks changed. Its `did` callbacks are called after that. (One case differs:
    /// a record may take its row id only in ``didInsert(_:)``, and neither list it nor read it in
    /// ``updateFromRow(_:)``. Then ``didInsert(_:)`` also runs on the copy.) State of the copy
    /// beyond its columns is not taken.
    ///
    /// Changes that the owner makes meanwhile are not saved and not overwritten, and
    /// ``hasDatabaseChanges`` reports them. If the record is saved several times at once, the saves
    /// run one after the other. If other methods save it meanwhile, it remembers no row afterwards,
    /// and has changes. A row that it merges meanwhile counts.
    ///
    /// - Parameters:
    ///   - writer: The database. To save several records in one transaction, use its
    ///     ``DatabaseWriter/save(_:file:line:)``.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: any error of ``save(_:)``. ``RecordError/notCopied(recordType:reason:)`` if
    ///   ``copy()`` throws, or gives a record with other values: then nothing is saved.
    nonisolated(nonsending) public final func save(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.save, on: [self], at: CallSite(.write, file, line))
    }

    /// Inserts the record in an asynchronous access, while the record stays with its owner: see
    /// ``save(in:file:line:)``.
    ///
    /// If this is called twice at once, the second insertion runs after the first. The record then
    /// has the key from the first insertion, so the second throws.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: any error of ``insert(_:)``, and ``RecordError/notCopied(recordType:reason:)``.
    nonisolated(nonsending) public final func insert(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.insert, on: [self], at: CallSite(.write, file, line))
    }

    /// Updates the record's row in an asynchronous access, while the record stays with its owner:
    /// see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - columns: The columns to update. Nil for all of them.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: any error of ``update(_:)``, and ``RecordError/notCopied(recordType:reason:)``.
    nonisolated(nonsending) public final func update(
        in writer: some DatabaseWriter, columns: Set<String>? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.update(columns: columns), on: [self], at: CallSite(.write, file, line))
    }

    /// Updates the changed columns in an asynchronous access, while the record stays with its
    /// owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether a column had changed.
    /// - Throws: any error that ``updateChanges(_:)`` throws, and
    ///   ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func updateChanges(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws
        -> Bool
    {
        try await writer.perform(.updateChanges, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Deletes the record's row in an asynchronous access, while the record stays with its owner:
    /// see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether there was one.
    /// - Throws: any error of ``delete(_:)``, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func delete(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.delete, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Deletes the record's row permanently, even if ``databaseSoftDelete`` keeps deleted rows: see
    /// ``delete(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether there was one.
    /// - Throws: any error of ``delete(_:)``, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func destroy(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.destroy, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Restores the record's row in an asynchronous access, if ``databaseSoftDelete`` has kept it:
    /// see ``delete(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether it was deleted.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row,
    ///   and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func restore(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.restore, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Reads the record's row again in an asynchronous access. The record stays with its owner.
    ///
    /// Changes that its owner makes meanwhile are kept, and count as changes. Earlier changes are
    /// overwritten, as by ``reload(_:)``.
    ///
    /// - Parameters:
    ///   - reader: The database, the readers of a pool, or a snapshot.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: any error of ``reload(_:)``, and ``RecordError/notCopied(recordType:reason:)``.
    nonisolated(nonsending) public final func reload(
        in reader: some DatabaseReader, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await reader.reload([self], file: file, line: line)
    }
}

// MARK: - Several records

extension DatabaseWriter {
    /// Saves records that stay with their owner, in one transaction.
    ///
    /// ```swift
    /// @MainActor final class Editor {
    ///     let home: Player
    ///     let guest: Player
    ///
    ///     func commit() async throws {
    ///         try await dbQueue.save([home, guest])
    ///     }
    /// }
    /// ```
    ///
    /// Each record is saved as by ``Record/save(in:file:line:)``. If one of them cannot be saved,
    /// nothing is saved, and all of them are as before. Their `did` callbacks run after the
    /// transaction is committed and all records have taken their outcomes.
    ///
    /// - Parameters:
    ///   - records: The records, saved in this order. A record that occurs twice is saved once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: the first error.
    public nonisolated(nonsending) func save(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.save, on: records, at: CallSite(.write, file, line))
    }

    /// Inserts records that stay with their owner, in one transaction: see ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records, inserted in this order. A record that occurs twice is inserted
    ///     once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: the first error. Then nothing is inserted.
    public nonisolated(nonsending) func insert(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.insert, on: records, at: CallSite(.write, file, line))
    }

    /// Updates the rows of records that stay with their owner, in one transaction: see
    /// ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records, updated in this order. A record that occurs twice is updated once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: the first error. Then nothing is updated.
    public nonisolated(nonsending) func update(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.update(columns: nil), on: records, at: CallSite(.write, file, line))
    }

    /// Updates the changed columns of records that stay with their owner, in one transaction: see
    /// ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records, updated in this order. A record that occurs twice is updated once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether there was any change.
    /// - Throws: the first error. Then nothing is updated.
    @discardableResult
    public nonisolated(nonsending) func updateChanges(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await perform(.updateChanges, on: records, at: CallSite(.write, file, line)).contains(true)
    }

    /// Deletes the rows of records that stay with their owner, in one transaction: see
    /// ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records, deleted in this order. A record that occurs twice is deleted once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: The number of rows that were deleted.
    /// - Throws: the first error. Then nothing is deleted.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Int {
        try await perform(.delete, on: records, at: CallSite(.write, file, line)).count { $0 }
    }

    /// Performs an operation on records that stay with their owner. Returns for each record whether
    /// a row was written or deleted.
    nonisolated(nonsending) func perform(
        _ verb: HeldVerb, on records: [Record], at site: CallSite
    ) async throws
        -> [Bool]
    {
        let records = records.once
        let turn = RecordTurn(records)
        try await turn.begin()
        defer { turn.end() }
        var held = try HeldRecords(records, for: verb)
        let copies = Handover(try held.copies())
        let outcomes = try await write(at: site, priority: .normal) { db in
            try HeldRecords.perform(verb, on: copies.take(), in: db)
        }
        return try held.take(outcomes)
    }
}

extension DatabaseReader {
    /// Reads the rows of records again, all at one moment, while the records stay with their owner:
    /// see ``Record/reload(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records. A record that occurs twice is read once.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Throws: the first error. Then all records are as before.
    public nonisolated(nonsending) func reload(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let records = records.once
        let turn = RecordTurn(records)
        try await turn.begin()
        defer { turn.end() }
        var held = try HeldRecords(records, for: .reload)
        while true {
            let copies = Handover(try held.copies())
            let outcomes = try await read(file: file, line: line) { db in
                try HeldRecords.perform(.reload, on: copies.take(), in: db)
            }
            // Meanwhile, a save or merge may have given a record newer values than the read ones.
            guard held.isUpToDate else { continue }
            _ = try held.take(outcomes)
            return
        }
    }
}

extension [Record] {
    /// The records without duplicates.
    fileprivate var once: [Record] {
        var known: Set<ObjectIdentifier> = []
        return filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}
