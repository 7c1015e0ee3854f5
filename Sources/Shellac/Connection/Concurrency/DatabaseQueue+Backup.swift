// Backups of a database queue, step by step, with deadlock detection for cyclic backups.

extension DatabaseQueue {
    @_documentation(visibility: internal)
    public func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        let (from, to) = (ObjectIdentifier(self), ObjectIdentifier(destination.unwrapped))
        try beginBackup(from, to)
        defer { runningBackups.withLock { $0.end(from: from, to: to) } }
        try destination.writeWithoutTransaction { destination in
            try copySteps(to: destination, pagesPerStep, progress)
        }
    }

    @_documentation(visibility: internal)
    public nonisolated(nonsending) func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)?
    ) async throws {
        let (from, to) = (ObjectIdentifier(self), ObjectIdentifier(destination.unwrapped))
        try beginBackup(from, to)
        defer { runningBackups.withLock { $0.end(from: from, to: to) } }
        try await destination.writeWithoutTransaction { destination in
            try self.copySteps(to: destination, pagesPerStep, DatabaseBackupProgress.hearing(progress))
        }
    }

    /// - Throws: a ``DatabaseError`` if the backup would close a cycle.
    private func beginBackup(_ from: ObjectIdentifier, _ to: ObjectIdentifier) throws {
        guard let ring = runningBackups.withLock({ $0.begin(from: from, to: to) }) else { return }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: ring == 2
                ? "the destination of the backup is being copied over its source"
                : "the destination of the backup is being copied over its source, through other "
                    + "databases: \(ring) backups would wait for each other")
    }

    /// Copies the database in an access to the destination, with an access to the source for each
    /// step.
    private func copySteps(
        to destination: Database, _ pagesPerStep: Int,
        _ progress: ((DatabaseBackupProgress) throws -> Void)?
    ) throws {
        let backup = try writeWithoutTransaction { source in try Backup(from: source, to: destination) }
        // Neither database can be closed before the backup is finished.
        defer { try? writeWithoutTransaction { _ in backup.finish() } }
        try backup.copyAll(pagesPerStep: pagesPerStep, progress) { step in
            try writeWithoutTransaction { _ in try step() }
        }
    }
}

extension DatabaseBackupProgress {
    /// Returns a function that passes the progress on, and ends a backup whose task was cancelled.
    static func hearing(_ progress: ((Self) throws -> Void)?) -> (Self) throws -> Void {
        { state in
            try Task.checkCancellation()
            try progress?(state)
        }
    }
}

/// The running backups.
private let runningBackups = Lock(RunningBackups())

/// The running backups, each with its source and its destination.
///
/// A backup holds its destination, and waits for its source, which another backup may hold as its
/// destination. If the last one of such a chain waits for the first one's destination, none would
/// ever end.
private struct RunningBackups {
    private var running: [(from: ObjectIdentifier, to: ObjectIdentifier)] = []

    /// Adds a backup, unless it would close a cycle: then returns the number of backups in the
    /// cycle.
    mutating func begin(from: ObjectIdentifier, to: ObjectIdentifier) -> Int? {
        var (reached, newest, length) = (Set([from]), [from], 1)
        while !newest.isEmpty {
            length += 1
            newest = running.filter { newest.contains($0.to) }.map(\.from)
                .filter { reached.insert($0).inserted || $0 == to }
            if newest.contains(to) { return length }
        }
        running.append((from, to))
        return nil
    }

    mutating func end(from: ObjectIdentifier, to: ObjectIdentifier) {
        if let index = running.firstIndex(where: { $0 == (from, to) }) { running.remove(at: index) }
    }
}
