// VACUUM with a progress callback that counts the pages read so far, and can abort the work.

import CSQLite

extension DatabaseWriter {
    /// Rebuilds the database file, without its empty pages, and reports the progress: see "VACUUM"
    /// in the SQLite documentation.
    ///
    /// ```swift
    /// try dbQueue.vacuum { progress in print("\(Int((progress.fraction ?? 0) * 100)) %") }
    /// ```
    ///
    /// - Parameter progress: Gets the number of pages that SQLite has read so far, as precisely as
    ///   SQLite reports it. Pages in memory do not count, nor does the time for copying them back
    ///   at the end. It must not use the database. An error that it throws ends the work, and
    ///   leaves the file unchanged.
    /// - Throws: A ``DatabaseError``, and errors of `progress`.
    public func vacuum(progress: (WorkProgress) throws -> Void) throws {
        try writeWithoutTransaction { db in
            try db.execute(sql: "VACUUM", tellingPages: progress)
        }
    }

    /// Rebuilds the database file, without its empty pages, and without blocking a thread.
    ///
    /// If the task is cancelled, the work ends, throws `CancellationError`, and leaves the file
    /// unchanged.
    ///
    /// - Parameter progress: Gets the number of pages that SQLite has read so far: see the
    ///   synchronous form.
    /// - Throws: A ``DatabaseError``, errors of `progress`, and `CancellationError`.
    public nonisolated(nonsending) func vacuum(
        progress: (@Sendable (WorkProgress) throws -> Void)? = nil
    ) async throws {
        try await writeWithoutTransaction { db in
            try db.execute(sql: "VACUUM", tellingPages: progress ?? { _ in })
        }
    }
}

extension Database {
    /// Executes SQL, and reports the pages of the main database that are read meanwhile.
    fileprivate func execute(sql: String, tellingPages progress: (WorkProgress) throws -> Void) throws {
        checkAccess()
        let pageCount = try Int.fetchOne(self, sql: "PRAGMA main.page_count") ?? 0
        try withoutActuallyEscaping(progress) { progress in
            let watch = PageWatch(self, pageCount, progress)
            sqlite3_progress_handler(
                pointer, 1_000,
                { Unretained<PageWatch>(context: $0.unsafelyUnwrapped).object.look() ? 1 : 0 },
                Unretained(watch).context)
            defer {
                withExtendedLifetime(watch) { sqlite3_progress_handler(pointer, 0, nil, nil) }
                if hooks.isCancellable { watchForCancellation() }
            }
            do {
                try execute(sql: sql)
            } catch {
                throw watch.error ?? error
            }
        }
        try progress(WorkProgress(completed: pageCount, of: pageCount, rows: 0, isCompleted: true))
    }

    fileprivate var readPageCount: Int {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(pointer, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0)
        return Int(current)
    }
}

/// A regular check of how many pages were read.
private final class PageWatch {
    private unowned let database: Database
    private let (pageCount, first): (Int, Int)
    private let progress: (WorkProgress) throws -> Void
    private var told = 0
    private(set) var error: (any Error)?

    init(_ database: Database, _ pageCount: Int, _ progress: @escaping (WorkProgress) throws -> Void) {
        (self.database, self.pageCount, self.progress) = (database, pageCount, progress)
        first = database.readPageCount
    }

    /// Reports the progress if it has changed enough. Returns whether to abort the work.
    func look() -> Bool {
        if error != nil || database.access.isStopped { return true }
        let count = min(database.readPageCount - first, pageCount)
        guard count - told >= max(pageCount / 100, 1) else { return false }
        told = count
        do { try progress(WorkProgress(completed: count, of: pageCount, rows: 0)) } catch {
            self.error = error
        }
        return error != nil
    }
}
