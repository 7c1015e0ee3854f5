// Async saving, deletion and reloading of class records that stay with their owner.

extension Record {
    /// Saves the record in an asynchronous access, while the record stays with its owner: a view model, an actor.
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
    /// A copy is sent, made by ``copy()``, and saved as ``save(_:)`` does it, in a transaction of its own. So the callbacks
    /// that are given a `Database`, and overriding methods, are called with the copy, where the database is. Then, where the
    /// record is, it takes what came of that: its row id, its stamps, and what the callbacks have changed; and its `did`
    /// callbacks are called. (One that takes its row id in ``didInsert(_:)``, and neither lists it nor reads it in
    /// ``updateFromRow(_:)``, has that called with the copy, too.) What the copy holds beyond its columns is not taken.
    ///
    /// What its owner changes meanwhile is not saved, and not overwritten, and ``hasDatabaseChanges`` tells so. Where the
    /// record is saved several times at once, one save comes after the other. If it is saved by other methods meanwhile,
    /// it knows nothing of its row afterwards, and has changes. A row that it merges meanwhile counts.
    ///
    /// - Parameters:
    ///   - writer: The database. Several records are saved in one transaction by its ``DatabaseWriter/save(_:file:line:)``.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: what ``save(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)`` when ``copy()`` throws, or gives
    ///   a record that has other values: nothing is saved then.
    nonisolated(nonsending) public final func save(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.save, on: [self], at: CallSite(.write, file, line))
    }

    /// Inserts the record in an asynchronous access, while the record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// Where this is called twice at once, the second insertion comes after the first one, and has the key that this has given the
    /// record: it throws.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: what ``insert(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    nonisolated(nonsending) public final func insert(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.insert, on: [self], at: CallSite(.write, file, line))
    }

    /// Updates the record's row in an asynchronous access, while the record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - columns: The columns to update. Nil for all of them.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: what ``update(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    nonisolated(nonsending) public final func update(
        in writer: some DatabaseWriter, columns: Set<String>? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await writer.perform(.update(columns: columns), on: [self], at: CallSite(.write, file, line))
    }

    /// Updates the columns that have changed, in an asynchronous access, while the record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether a column had changed.
    /// - Throws: what ``updateChanges(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func updateChanges(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws
        -> Bool
    {
        try await writer.perform(.updateChanges, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Updates the columns that have changed, unless somebody else has changed the row, in an asynchronous access, while the record
    /// stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - columns: The columns that are to hold what the record remembers.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether a column had changed.
    /// - Throws: what ``update(_:ifUnchanged:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func update(
        in writer: some DatabaseWriter, ifUnchanged columns: UnchangedColumns,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(
            .updateIfUnchanged(columns), on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Updates the columns that have changed, and takes what somebody else has changed meanwhile, in an asynchronous access, while
    /// the record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - retries: How often it begins again.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether a column had changed.
    /// - Throws: what ``updateChanges(_:retrying:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func updateChanges(
        in writer: some DatabaseWriter, retrying retries: Int,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(
            .updateChangesRetrying(retries), on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Deletes the record's row in an asynchronous access, while the record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether there was one.
    /// - Throws: what ``delete(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func delete(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.delete, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Deletes the record's row for good, also where ``databaseSoftDelete`` has deleted rows stay: see ``delete(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether there was one.
    /// - Throws: what ``delete(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func destroy(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.destroy, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Restores the record's row, where ``databaseSoftDelete`` has it stay, in an asynchronous access: see ``delete(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether it was deleted.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` where there is no such row, and
    ///   ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func restore(
        in writer: some DatabaseWriter, file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(.restore, on: [self], at: CallSite(.write, file, line))[0]
    }

    /// Takes what the database holds, read in an asynchronous access, while the record stays with its owner.
    ///
    /// What its owner changes meanwhile stays, and is a change. What had changed before is overwritten, as by ``reload(_:)``.
    ///
    /// - Parameters:
    ///   - reader: The database: also the readers of a pool, or a snapshot.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: what ``reload(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)``.
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
    /// Each of them is saved as by ``Record/save(in:file:line:)``. Where one cannot be, nothing is saved, and all of them are as before. Their
    /// `did` callbacks are called when the transaction is committed and all records have taken what came of it.
    ///
    /// - Parameters:
    ///   - records: They are saved in this order. One that is there twice is saved once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: the first error.
    public nonisolated(nonsending) func save(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.save, on: records, at: CallSite(.write, file, line))
    }

    /// Inserts records that stay with their owner, in one transaction: see ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: They are inserted in this order. One that is there twice is inserted once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: the first error. Nothing is inserted then.
    public nonisolated(nonsending) func insert(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.insert, on: records, at: CallSite(.write, file, line))
    }

    /// Updates the rows of records that stay with their owner, in one transaction: see ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: They are updated in this order. One that is there twice is updated once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: the first error. Nothing is updated then.
    public nonisolated(nonsending) func update(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        _ = try await perform(.update(columns: nil), on: records, at: CallSite(.write, file, line))
    }

    /// Updates the columns that have changed of records that stay with their owner, in one transaction: see ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: They are updated in this order. One that is there twice is updated once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: Whether there was any change.
    /// - Throws: the first error. Nothing is updated then.
    @discardableResult
    public nonisolated(nonsending) func updateChanges(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await perform(.updateChanges, on: records, at: CallSite(.write, file, line)).contains(true)
    }

    /// Deletes the rows of records that stay with their owner, in one transaction: see ``save(_:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: They are deleted in this order. One that is there twice is deleted once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Returns: How many there were.
    /// - Throws: the first error. Nothing is deleted then.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ records: [Record], file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Int {
        try await perform(.delete, on: records, at: CallSite(.write, file, line)).count { $0 }
    }

    /// Does something to records that stay with their owner. Returns whether anything was done, for each of them.
    fileprivate nonisolated(nonsending) func perform(
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
    /// Has records that stay with their owner take what the database holds, all of them at one moment: see ``Record/reload(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - records: The records. One that is there twice is read once.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    /// - Throws: the first error. All records are as before then.
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
            // What was read may be older than what a record has been given meanwhile, by a save or a merge.
            guard held.isUpToDate else { continue }
            _ = try held.take(outcomes)
            return
        }
    }
}

extension [Record] {
    /// The records, each of them once.
    fileprivate var once: [Record] {
        var known: Set<ObjectIdentifier> = []
        return filter { known.insert(ObjectIdentifier($0)).inserted }
    }
}
