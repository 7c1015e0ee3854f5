// Optimistic locking in asynchronous accesses, by records that stay with their owner.

extension Record {
    /// Updates the changed columns in an asynchronous access, unless another writer has changed the
    /// row. The record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - columns: The columns that must still hold the values that the record remembers.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether a column had changed.
    /// - Throws: any error that ``update(_:checking:)`` throws, and
    ///   ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func update(
        in writer: some DatabaseWriter, checking columns: ConflictCheck,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(
            .other(mayChangeRecord: false) { try $0.update($1, checking: columns) }, on: [self],
            at: CallSite(.write, file, line))[0]
    }

    /// Updates the changed columns in an asynchronous access, and takes the changes that other
    /// writers made meanwhile. The record stays with its owner: see ``save(in:file:line:)``.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - retries: The number of further attempts.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    /// - Returns: Whether a column had changed.
    /// - Throws: any error that ``updateChanges(_:retrying:)`` throws, and
    ///   ``RecordError/notCopied(recordType:reason:)``.
    @discardableResult
    nonisolated(nonsending) public final func updateChanges(
        in writer: some DatabaseWriter, retrying retries: Int,
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> Bool {
        try await writer.perform(
            // The merged row may have left nothing to write.
            .other(mayChangeRecord: true) { try $0.updateChanges($1, retrying: retries) }, on: [self],
            at: CallSite(.write, file, line))[0]
    }
}
