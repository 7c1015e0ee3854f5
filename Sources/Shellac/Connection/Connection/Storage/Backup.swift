// A wrapper of SQLite's online backup API: copies a database over another, page by page.

import CSQLite

/// The progress of a backup.
public struct DatabaseBackupProgress: Hashable, Sendable {
    /// The number of pages still to copy.
    public let remainingPageCount: Int
    /// The number of pages in the database.
    public let totalPageCount: Int
    /// Whether the copy is complete.
    public let isCompleted: Bool

    /// The number of pages that have been copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }
}

/// A copy of one database over another, made a few pages at a time. See "SQLite Online Backup API".
///
/// A backup that is finished early leaves the destination unchanged.
final class Backup {
    private let pointer: OpaquePointer
    private let source: Database
    private let destination: Database
    private var isCompleted = false
    private let pageSizes: (source: Int, destination: Int)

    /// Begins a backup of `main`, or of another database that both connections have. The caller
    /// must finish it.
    init(from source: Database, to destination: Database, of schemaName: String = "main") throws {
        source.checkAccess()
        destination.checkAccess()
        if source.isClosed { throw source.closedError() }
        if destination.isClosed { throw destination.closedError() }
        // (SQLite lets a backup replace a database that its connection declares read-only.)
        if destination.isReadOnlyScope {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY,
                message:
                    "\(destination.description) is read-only here, and cannot become a copy of \(source.description)"
            )
        }
        try destination.checkPlace()
        pageSizes = (try source.pageSize(of: schemaName), try destination.pageSize(of: schemaName))
        // Cached statements would block the destination.
        destination.statementCache.removeAll()
        guard let pointer = sqlite3_backup_init(destination.pointer, schemaName, source.pointer, schemaName)
        else {
            throw destination.error(sqlite3_extended_errcode(destination.pointer))
        }
        self.pointer = pointer
        self.source = source
        self.destination = destination
        source.running.beginBackup()
        destination.running.beginBackup()
        let (from, to) = (source.description, destination.description)
        for database in [source, destination] {
            database.group.keepOpen(for: self) { "a backup of \(from) to \(to)" }
        }
    }

    /// Returns the error of a step. If the destination cannot adopt the source's page size, SQLite
    /// reports that it is read-only.
    private func error(_ code: Int32) -> DatabaseError {
        let error = destination.error(code)
        guard code == SQLITE_READONLY, pageSizes.source != pageSizes.destination else { return error }
        return DatabaseError(
            resultCode: error.extendedResultCode,
            message:
                "\(destination.description) cannot become a copy of \(source.description), whose pages have \(pageSizes.source) bytes: a "
                + "database with a write-ahead log, or in memory, keeps its own page size, which is \(pageSizes.destination). Give the "
                + "source that size with PRAGMA page_size and VACUUM. Or close the destination, back up to a DatabaseQueue whose "
                + "journalMode is delete, and open it again")
    }

    /// Copies the given number of pages, or all remaining ones if it is negative.
    func step(pages: Int) throws -> DatabaseBackupProgress {
        let code = sqlite3_backup_step(pointer, Int32(clamping: pages))
        guard code == SQLITE_OK || code == SQLITE_DONE else { throw error(code) }
        isCompleted = code == SQLITE_DONE
        if isCompleted, let refusal = destination.confirmCommitOfBackup() { throw refusal }
        return DatabaseBackupProgress(
            remainingPageCount: Int(sqlite3_backup_remaining(pointer)),
            totalPageCount: Int(sqlite3_backup_pagecount(pointer)), isCompleted: code == SQLITE_DONE)
    }

    /// Copies all pages.
    ///
    /// - Parameters:
    ///   - pagesPerStep: The number of pages in one step. A negative number, or zero, means all.
    ///   - progress: Gets the progress after each step. After the last one, its error is ignored.
    ///   - access: Runs a step with access to the source.
    func copyAll(
        pagesPerStep: Int, _ progress: ((DatabaseBackupProgress) throws -> Void)?,
        _ access: (() throws -> DatabaseBackupProgress) throws -> DatabaseBackupProgress = { try $0() }
    ) throws {
        while true {
            let state = try access { try step(pages: pagesPerStep == 0 ? -1 : pagesPerStep) }
            if state.isCompleted {
                try? progress?(state)
                return
            }
            try progress?(state)
        }
    }

    /// Ends the backup. The caller must have access to both databases.
    func finish() {
        sqlite3_backup_finish(pointer)
        source.running.endBackup()
        destination.running.endBackup()
        for database in [source, destination] { database.group.noLongerKeepOpen(for: self) }
        // The whole content has been replaced.
        destination.group.commits.skip()
        if isCompleted { destination.object(in: .changes)?.object.schemaDidChange() }
    }
}

extension Database {
    /// Returns the page size of a database in bytes.
    fileprivate func pageSize(of name: String) throws -> Int {
        try asking {
            try Int.fetchOne(makeStatement(sql: "PRAGMA \(name.quotedDatabaseIdentifier).page_size")) ?? 0
        }
    }

    /// Copies the database over another one, and replaces the other one's content.
    ///
    /// It throws `SQLITE_BUSY` or `SQLITE_LOCKED` if an open transaction has written to this
    /// database, or if the destination has any open transaction.
    ///
    /// Without an access to the databases, use the method of a ``DatabaseQueue`` that has the same
    /// name. It allows other accesses to the source between two steps.
    ///
    /// - Parameters:
    ///   - destination: The database whose content is replaced.
    ///   - pagesPerStep: The number of pages that are copied between two progress reports, or all
    ///     pages if negative.
    ///   - progress: A function that gets the progress of the backup. If it throws an error, the
    ///     backup ends and leaves the destination unchanged. After completion, its error is
    ///     ignored.
    /// - Throws: a ``DatabaseError``. The code is `SQLITE_READONLY` if the destination is
    ///   read-only, or if it has a write-ahead log or is in memory, and its page size differs. The
    ///   destination is then unchanged.
    public func backup(
        to destination: Database, pagesPerStep: Int = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        if self === destination { Misuse.trap("a database cannot be copied over itself.") }
        let backup = try Backup(from: self, to: destination)
        defer { backup.finish() }
        try backup.copyAll(pagesPerStep: pagesPerStep, progress)
    }
}
