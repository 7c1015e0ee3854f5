import CSQLite

/// How far a backup has come.
public struct DatabaseBackupProgress: Hashable, Sendable {
    /// How many pages are left to copy.
    public let remainingPageCount: Int
    /// How many pages the database has.
    public let totalPageCount: Int
    /// Whether the copy is complete.
    public let isCompleted: Bool

    /// How many pages have been copied.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }
}

/// A copy of one database over another, made a few pages at a time. See "SQLite Online Backup API".
///
/// A backup that is let go of before its end leaves the destination as it was.
struct Backup: ~Copyable {
    private let pointer: OpaquePointer
    private let destination: Database

    init(from source: Database, to destination: Database) throws {
        if source.sqliteConnection == nil { throw source.closedError() }
        if destination.sqliteConnection == nil { throw destination.closedError() }
        // Kept statements would hold the destination.
        destination.statementCache.removeAll()
        guard let pointer = sqlite3_backup_init(destination.pointer, "main", source.pointer, "main") else {
            throw destination.error(sqlite3_extended_errcode(destination.pointer))
        }
        self.pointer = pointer
        self.destination = destination
    }

    deinit { sqlite3_backup_finish(pointer) }

    enum Step {
        case copied(DatabaseBackupProgress)
        /// Somebody holds a lock: try again.
        case busy(DatabaseError)
    }

    /// Copies some pages, or all that remain with a negative number.
    func step(pages: Int) throws -> Step {
        let code = sqlite3_backup_step(pointer, Int32(clamping: pages))
        switch code & 0xFF {
        case SQLITE_OK, SQLITE_DONE:
            return .copied(
                DatabaseBackupProgress(
                    remainingPageCount: Int(sqlite3_backup_remaining(pointer)),
                    totalPageCount: Int(sqlite3_backup_pagecount(pointer)), isCompleted: code == SQLITE_DONE))
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy(destination.error(code))
        default: throw destination.error(code)
        }
    }
}
