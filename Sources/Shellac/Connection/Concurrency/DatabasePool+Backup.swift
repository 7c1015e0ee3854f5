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
    /// The copy is of one state, which a reader sees until the end: others may write meanwhile, and the copy does not have what
    /// they wrote. The destination is held until the end.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced.
    ///   - pagesPerStep: How many pages are copied between two reports of progress; all of them if negative.
    ///   - progress: Hears how far the backup has come. An error that it throws ends the backup, and leaves the destination as it
    ///     was. It is too late for that once the backup is completed: then the error is ignored.
    /// - Throws: a ``DatabaseError``: of code `SQLITE_BUSY` when another connection keeps the destination from being written, and of
    ///   code `SQLITE_READONLY` where the destination has a write-ahead log, or is in memory, and pages of another size.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        if self === destination { Misuse.trap("a database cannot be copied over itself.") }
        try copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }
}

extension DatabaseSnapshotReader {
    /// Copies what the snapshot sees over another database, whose content is lost.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced: that which the snapshot is of, say, to go back to that state.
    ///   - pagesPerStep: How many pages are copied between two reports of progress; all of them if negative.
    ///   - progress: Hears how far the backup has come. An error that it throws ends the backup, and leaves the destination as it
    ///     was. It is too late for that once the backup is completed: then the error is ignored.
    /// - Throws: a ``DatabaseError``: of code `SQLITE_BUSY` when another connection keeps the destination from being written, and of
    ///   code `SQLITE_READONLY` where the destination has a write-ahead log, or is in memory, and pages of another size.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try copyState(to: destination, pagesPerStep: pagesPerStep, progress: progress)
    }
}

extension DatabaseReader {
    /// Copies the state that one read sees. It waits for the destination first: who reads waits for nobody who writes.
    fileprivate func copyState(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        try destination.writeWithoutTransaction { destination in
            try read { source in
                // A backup between whose steps the source has no state begins anew when others have written.
                try source.takeState()
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}
