extension DatabaseQueue {
    /// Copies the database over another one, whose content is lost.
    ///
    /// ```swift
    /// let copy = try DatabaseQueue(path: "copy.sqlite")
    /// try dbQueue.backup(to: copy, pagesPerStep: 100) { progress in
    ///     print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
    /// }
    /// ```
    ///
    /// The destination is held until the end. The source is held for each step alone: others may write between two
    /// steps, and the copy has what they wrote.
    ///
    /// - Parameters:
    ///   - pagesPerStep: How many pages are copied in one step; all of them if negative.
    ///   - progress: Hears how far the backup has come, after each step. An error that it throws ends the backup,
    ///     and leaves the destination as it was. It is too late for that once the backup is completed.
    public func backup(
        to destination: some DatabaseWriter, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        if self === destination { Misuse.trap("a database cannot be copied over itself.") }
        // Two databases that are copied over each other would wait for each other.
        let (from, to) = (ObjectIdentifier(self), ObjectIdentifier(destination))
        let isReversed = runningBackups.withLock { running in
            if running.contains(where: { $0.from == to && $0.to == from }) { return true }
            running.append((from, to))
            return false
        }
        if isReversed {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "the destination of the backup is being copied over its source")
        }
        defer {
            runningBackups.withLock { running in
                if let index = running.firstIndex(where: { $0 == (from, to) }) { running.remove(at: index) }
            }
        }
        try destination.writeWithoutTransaction { destination in
            let backup = try writeWithoutTransaction { source in try Backup(from: source, to: destination) }
            // Neither database can be closed before the backup is finished.
            defer { try? writeWithoutTransaction { _ in backup.finish() } }
            while true {
                let state = try writeWithoutTransaction { _ in
                    try backup.step(pages: pagesPerStep == 0 ? -1 : pagesPerStep)
                }
                try progress?(state)
                if state.isCompleted { return }
            }
        }
    }
}

/// The backups that run now.
private let runningBackups = Lock<[(from: ObjectIdentifier, to: ObjectIdentifier)]>([])
