// Backups of a queue, a pool or a snapshot, and how a pool and a snapshot copy one state.

extension DatabaseReader {
    /// Copies the database over another one, whose content is lost.
    ///
    /// ```swift
    /// let copy = try DatabaseQueue(path: "copy.sqlite")
    /// try dbPool.backup(to: copy, pagesPerStep: 100) { progress in
    ///     print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
    /// }
    /// ```
    ///
    /// The destination cannot be used by others until the end. It gets one state of a pool or a
    /// snapshot, without what is written meanwhile. A queue can be used between two steps: changes
    /// that others make then are part of the copy.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced. For a snapshot, it may be the pool
    ///     that the snapshot was made of, for example to return to that state.
    ///   - pagesPerStep: The number of pages that are copied in one step; all of them if negative.
    ///   - progress: Gets the progress of the backup after each step. An error that it throws ends
    ///     the backup, and leaves the destination unchanged. Once the backup is complete it is too
    ///     late for that, and the error is ignored.
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if another connection keeps the
    ///   destination from being written, or for a cycle of backups of queues. In a cycle, the
    ///   source is the destination of another backup. That one copies from the destination of a
    ///   third one, and so on, up to this destination. The code is `SQLITE_READONLY` if the
    ///   destination has pages of another size, and has a write-ahead log, as a pool does, or is in
    ///   memory. It cannot take pages of the source's size then, and is unchanged.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        checkIsOther(destination)
        try copyAll(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }

    /// Copies the database over another one, without blocking a thread.
    ///
    /// If the task is cancelled, the backup ends after the step, throws `CancellationError`, and
    /// leaves the destination unchanged.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced.
    ///   - pagesPerStep: The number of pages that are copied in one step; all of them if negative.
    ///   - progress: Gets the progress of the backup after each step: see the synchronous form.
    /// - Throws: The errors of the synchronous form, and `CancellationError`.
    public nonisolated(nonsending) func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = 1_000,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws {
        checkIsOther(destination)
        try await copyAll(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }

    // MARK: - One state

    // It waits for the destination first: a read never waits for a write.

    @_documentation(visibility: internal)
    public func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        try destination.writeWithoutTransaction { destination in
            try copyState(over: destination, pagesPerStep, progress)
        }
    }

    @_documentation(visibility: internal)
    public nonisolated(nonsending) func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)?
    ) async throws {
        try await destination.writeWithoutTransaction { destination in
            try self.copyState(over: destination, pagesPerStep, DatabaseBackupProgress.hearing(progress))
        }
    }

    /// Traps if the destination of a backup is its source.
    private func checkIsOther(_ destination: some DatabaseWriter) {
        if unwrapped === destination.unwrapped { Misuse.trap("a database cannot be copied over itself.") }
    }

    private func copyState(
        over destination: Database, _ pagesPerStep: Int,
        _ progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        try read { source in
            // Without a fixed state of the source between its steps, a backup restarts after a
            // write by another connection.
            try source.takeState()
            try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
        }
    }
}
