// Backups of a pool or a snapshot: the copy has one consistent state of the database.

extension DatabasePool {
    /// Copies the database over another one, whose content is lost.
    ///
    /// ```swift
    /// let copy = try DatabaseQueue(path: "copy.sqlite")
    /// try dbPool.backup(to: copy, pagesPerStep: 100) { progress in
    ///     print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
    /// }
    /// ```
    ///
    /// The copy has one state of the database, which a reader sees until the end. Others may write
    /// meanwhile, and the copy does not have these changes. The destination cannot be used by
    /// others until the end.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced.
    ///   - pagesPerStep: The number of pages that are copied between two reports of progress; all
    ///     of them if negative.
    ///   - progress: Gets the progress of the backup. An error that it throws ends the backup, and
    ///     leaves the destination unchanged. Once the backup is complete it is too late for that,
    ///     and the error is ignored.
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if another connection keeps the
    ///   destination from being written. The code is `SQLITE_READONLY` if the destination has pages
    ///   of another size, and has a write-ahead log or is in memory.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        if self === destination { Misuse.trap("a database cannot be copied over itself.") }
        try copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
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
        if self === destination { Misuse.trap("a database cannot be copied over itself.") }
        try await copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }
}

extension DatabaseSnapshotReader {
    /// Copies the state of the snapshot over another database, whose content is lost.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced. It may be the one that the snapshot
    ///     was made of, for example to return to that state.
    ///   - pagesPerStep: The number of pages that are copied between two reports of progress; all
    ///     of them if negative.
    ///   - progress: Gets the progress of the backup. An error that it throws ends the backup, and
    ///     leaves the destination unchanged. Once the backup is complete it is too late for that,
    ///     and the error is ignored.
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if another connection keeps the
    ///   destination from being written. The code is `SQLITE_READONLY` if the destination has pages
    ///   of another size, and has a write-ahead log or is in memory.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }

    /// Copies the state of the snapshot over another one, without blocking a thread.
    ///
    /// If the task is cancelled, the backup ends after the step, throws `CancellationError`, and
    /// leaves the destination unchanged.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced.
    ///   - pagesPerStep: The number of pages that are copied in one step; all of them if negative.
    ///   - progress: Gets the progress of the backup after each step: see the synchronous form.
    /// - Throws: The errors of the synchronous form, and `CancellationError`.
    public nonisolated(nonsending) final func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = 1_000,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws {
        try await copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }
}

extension DatabaseReader {
    /// Copies the state that one read sees. It waits for the destination first: a read never waits
    /// for a write.
    fileprivate func copyState(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        try destination.writeWithoutTransaction { destination in
            try copyState(over: destination, pagesPerStep, progress)
        }
    }

    fileprivate nonisolated(nonsending) func copyState(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)?
    ) async throws {
        try await destination.writeWithoutTransaction { destination in
            try self.copyState(over: destination, pagesPerStep, DatabaseBackupProgress.hearing(progress))
        }
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
