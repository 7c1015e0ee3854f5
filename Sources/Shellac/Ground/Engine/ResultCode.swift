// The names are SQLite's own.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CSQLite

/// A result code of SQLite, primary or extended.
///
/// A primary code matches all its extended codes in a pattern:
///
/// ```swift
/// do {
///     try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
/// } catch let error as DatabaseError {
///     switch error.extendedResultCode {
///     case .SQLITE_CONSTRAINT_UNIQUE: print("taken already")
///     case .SQLITE_CONSTRAINT: print("some other constraint")
///     default: throw error
///     }
/// }
/// ```
///
/// See "Result and Error Codes" in the SQLite documentation.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The primary code: the low 8 bits.
    public var primaryResultCode: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

    /// Whether this code is a primary one.
    public var isPrimary: Bool { rawValue & ~0xFF == 0 }

    /// Matches codes. A primary code matches itself and its extended codes. An extended code
    /// matches only itself.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern == (pattern.isPrimary ? code.primaryResultCode : code)
    }
}

extension ResultCode: CustomStringConvertible {
    /// The number with SQLite's text: `19 (constraint failed)`.
    public var description: String {
        guard let text = sqlite3_errstr(rawValue) else { return "\(rawValue)" }
        return "\(rawValue) (\(String(cString: text)))"
    }
}

// The names are SQLite's own. They are repeated here because Swift does not import the C header's
// extended codes, which are macros. Also, an older header may lack some.
extension ResultCode {
    /// Success. This code is not an error.
    public static let SQLITE_OK = ResultCode(rawValue: 0)
    /// An error without a code of its own, such as SQL that does not compile, or a missing table or
    /// column.
    public static let SQLITE_ERROR = ResultCode(rawValue: 1)
    /// An internal error of SQLite.
    public static let SQLITE_INTERNAL = ResultCode(rawValue: 2)
    /// A new file that cannot have the requested access mode.
    public static let SQLITE_PERM = ResultCode(rawValue: 3)
    /// A statement that was aborted, by a rollback or by a function that it calls.
    public static let SQLITE_ABORT = ResultCode(rawValue: 4)
    /// A lock that another connection holds for longer than ``Configuration/busyMode`` waits.
    /// Closing a database also throws it while the database is in use.
    public static let SQLITE_BUSY = ResultCode(rawValue: 5)
    /// A lock that the same connection holds, for example because a statement still reads a table
    /// that should be dropped. Or a lock of a connection that shares its cache.
    public static let SQLITE_LOCKED = ResultCode(rawValue: 6)
    /// A failed memory allocation.
    public static let SQLITE_NOMEM = ResultCode(rawValue: 7)
    /// A write to something that is read-only: a file, a connection, or an access.
    public static let SQLITE_READONLY = ResultCode(rawValue: 8)
    /// A statement that was interrupted: see ``Database/interrupt()``.
    public static let SQLITE_INTERRUPT = ResultCode(rawValue: 9)
    /// A system error while reading or writing a file. The extended code identifies the operation.
    public static let SQLITE_IOERR = ResultCode(rawValue: 10)
    /// A damaged database.
    public static let SQLITE_CORRUPT = ResultCode(rawValue: 11)
    /// An operation that SQLite's file system layer does not support.
    public static let SQLITE_NOTFOUND = ResultCode(rawValue: 12)
    /// A full disk, which may be that of the temporary files, or a database with the maximum number
    /// of pages.
    public static let SQLITE_FULL = ResultCode(rawValue: 13)
    /// A file that cannot be opened: the database, or another file that SQLite needs.
    public static let SQLITE_CANTOPEN = ResultCode(rawValue: 14)
    /// A race for the locks of a write-ahead log that was lost repeatedly.
    public static let SQLITE_PROTOCOL = ResultCode(rawValue: 15)
    /// A code that SQLite does not use.
    public static let SQLITE_EMPTY = ResultCode(rawValue: 16)
    /// A schema that has changed repeatedly since the statement was prepared.
    public static let SQLITE_SCHEMA = ResultCode(rawValue: 17)
    /// A text, a blob or a statement that exceeds SQLite's length limit.
    public static let SQLITE_TOOBIG = ResultCode(rawValue: 18)
    /// A constraint that a statement violates: see ``DatabaseError/constraint``.
    public static let SQLITE_CONSTRAINT = ResultCode(rawValue: 19)
    /// A value of another type where an integer is required, such as a row ID.
    public static let SQLITE_MISMATCH = ResultCode(rawValue: 20)
    /// A forbidden call, such as the use of a closed database.
    public static let SQLITE_MISUSE = ResultCode(rawValue: 21)
    /// A file that is too large for the system.
    public static let SQLITE_NOLFS = ResultCode(rawValue: 22)
    /// A statement that is not authorized.
    public static let SQLITE_AUTH = ResultCode(rawValue: 23)
    /// A code that SQLite does not use.
    public static let SQLITE_FORMAT = ResultCode(rawValue: 24)
    /// A parameter or a column that the statement does not have.
    public static let SQLITE_RANGE = ResultCode(rawValue: 25)
    /// A file that is not a database, or an encrypted one without its key.
    public static let SQLITE_NOTADB = ResultCode(rawValue: 26)
    /// An informational message for ``Database/logError``. It is never thrown.
    public static let SQLITE_NOTICE = ResultCode(rawValue: 27)
    /// A warning for ``Database/logError``. It is never thrown.
    public static let SQLITE_WARNING = ResultCode(rawValue: 28)
    /// A row of a statement. This code is not an error.
    public static let SQLITE_ROW = ResultCode(rawValue: 100)
    /// The end of a statement. This code is not an error.
    public static let SQLITE_DONE = ResultCode(rawValue: 101)

    /// A missing collation that the statement needs: see ``Database/add(collation:)``.
    public static let SQLITE_ERROR_MISSING_COLLSEQ = ResultCode(rawValue: 1 | 1 << 8)
    /// An internal signal of SQLite to prepare a statement again.
    public static let SQLITE_ERROR_RETRY = ResultCode(rawValue: 1 | 2 << 8)
    /// A snapshot of the database that is no longer in the write-ahead log.
    public static let SQLITE_ERROR_SNAPSHOT = ResultCode(rawValue: 1 | 3 << 8)
    /// A file that could not be read.
    public static let SQLITE_IOERR_READ = ResultCode(rawValue: 10 | 1 << 8)
    /// A read from a file that returned too few bytes.
    public static let SQLITE_IOERR_SHORT_READ = ResultCode(rawValue: 10 | 2 << 8)
    /// A file that could not be written.
    public static let SQLITE_IOERR_WRITE = ResultCode(rawValue: 10 | 3 << 8)
    /// A file that could not be flushed to the disk.
    public static let SQLITE_IOERR_FSYNC = ResultCode(rawValue: 10 | 4 << 8)
    /// A directory that could not be flushed to the disk.
    public static let SQLITE_IOERR_DIR_FSYNC = ResultCode(rawValue: 10 | 5 << 8)
    /// A file that could not be truncated.
    public static let SQLITE_IOERR_TRUNCATE = ResultCode(rawValue: 10 | 6 << 8)
    /// A file whose size or other attributes the system cannot determine.
    public static let SQLITE_IOERR_FSTAT = ResultCode(rawValue: 10 | 7 << 8)
    /// A file lock that could not be released.
    public static let SQLITE_IOERR_UNLOCK = ResultCode(rawValue: 10 | 8 << 8)
    /// A file lock for reading that could not be acquired.
    public static let SQLITE_IOERR_RDLOCK = ResultCode(rawValue: 10 | 9 << 8)
    /// A file that could not be deleted.
    public static let SQLITE_IOERR_DELETE = ResultCode(rawValue: 10 | 10 << 8)
    /// A code that SQLite no longer uses.
    public static let SQLITE_IOERR_BLOCKED = ResultCode(rawValue: 10 | 11 << 8)
    /// A failed memory allocation for work on a file.
    public static let SQLITE_IOERR_NOMEM = ResultCode(rawValue: 10 | 12 << 8)
    /// A file whose existence or permissions the system cannot determine.
    public static let SQLITE_IOERR_ACCESS = ResultCode(rawValue: 10 | 13 << 8)
    /// A file for which the system cannot determine whether another connection is about to write.
    public static let SQLITE_IOERR_CHECKRESERVEDLOCK = ResultCode(rawValue: 10 | 14 << 8)
    /// A file lock that the system failed to acquire.
    public static let SQLITE_IOERR_LOCK = ResultCode(rawValue: 10 | 15 << 8)
    /// A file that could not be closed.
    public static let SQLITE_IOERR_CLOSE = ResultCode(rawValue: 10 | 16 << 8)
    /// A code that SQLite no longer uses.
    public static let SQLITE_IOERR_DIR_CLOSE = ResultCode(rawValue: 10 | 17 << 8)
    /// A shared memory file of a write-ahead log that could not be opened.
    public static let SQLITE_IOERR_SHMOPEN = ResultCode(rawValue: 10 | 18 << 8)
    /// A shared memory file of a write-ahead log that could not be enlarged.
    public static let SQLITE_IOERR_SHMSIZE = ResultCode(rawValue: 10 | 19 << 8)
    /// A code that SQLite no longer uses.
    public static let SQLITE_IOERR_SHMLOCK = ResultCode(rawValue: 10 | 20 << 8)
    /// A shared memory file of a write-ahead log that could not be mapped.
    public static let SQLITE_IOERR_SHMMAP = ResultCode(rawValue: 10 | 21 << 8)
    /// A seek to a position in a file that failed.
    public static let SQLITE_IOERR_SEEK = ResultCode(rawValue: 10 | 22 << 8)
    /// A file that could not be deleted because it does not exist.
    public static let SQLITE_IOERR_DELETE_NOENT = ResultCode(rawValue: 10 | 23 << 8)
    /// A file that could not be mapped to memory, or is no longer mapped.
    public static let SQLITE_IOERR_MMAP = ResultCode(rawValue: 10 | 24 << 8)
    /// A missing directory for temporary files.
    public static let SQLITE_IOERR_GETTEMPPATH = ResultCode(rawValue: 10 | 25 << 8)
    /// A path that Cygwin could not convert.
    public static let SQLITE_IOERR_CONVPATH = ResultCode(rawValue: 10 | 26 << 8)
    /// A code reserved for extensions.
    public static let SQLITE_IOERR_VNODE = ResultCode(rawValue: 10 | 27 << 8)
    /// A code reserved for extensions.
    public static let SQLITE_IOERR_AUTH = ResultCode(rawValue: 10 | 28 << 8)
    /// The beginning of an atomic write that the file system rejected.
    public static let SQLITE_IOERR_BEGIN_ATOMIC = ResultCode(rawValue: 10 | 29 << 8)
    /// The commit of an atomic write that the file system rejected.
    public static let SQLITE_IOERR_COMMIT_ATOMIC = ResultCode(rawValue: 10 | 30 << 8)
    /// The rollback of an atomic write that the file system rejected.
    public static let SQLITE_IOERR_ROLLBACK_ATOMIC = ResultCode(rawValue: 10 | 31 << 8)
    /// A page with a wrong checksum, if the checksum extension is in use.
    public static let SQLITE_IOERR_DATA = ResultCode(rawValue: 10 | 32 << 8)
    /// A failed read from a damaged file system.
    public static let SQLITE_IOERR_CORRUPTFS = ResultCode(rawValue: 10 | 33 << 8)
    /// A lock of another connection that shares this connection's cache.
    public static let SQLITE_LOCKED_SHAREDCACHE = ResultCode(rawValue: 6 | 1 << 8)
    /// A code reserved for virtual tables.
    public static let SQLITE_LOCKED_VTAB = ResultCode(rawValue: 6 | 2 << 8)
    /// A write-ahead log that another process is restoring after a crash.
    public static let SQLITE_BUSY_RECOVERY = ResultCode(rawValue: 5 | 1 << 8)
    /// A transaction that has read, and cannot write because another connection has written
    /// meanwhile. Begin transactions that will write with ``TransactionKind/immediate``.
    public static let SQLITE_BUSY_SNAPSHOT = ResultCode(rawValue: 5 | 2 << 8)
    /// A lock that the system itself waited for, but did not acquire in time.
    public static let SQLITE_BUSY_TIMEOUT = ResultCode(rawValue: 5 | 3 << 8)
    /// A code that SQLite no longer uses.
    public static let SQLITE_CANTOPEN_NOTEMPDIR = ResultCode(rawValue: 14 | 1 << 8)
    /// A path to a directory.
    public static let SQLITE_CANTOPEN_ISDIR = ResultCode(rawValue: 14 | 2 << 8)
    /// A path that the system could not make absolute.
    public static let SQLITE_CANTOPEN_FULLPATH = ResultCode(rawValue: 14 | 3 << 8)
    /// A path that Cygwin could not convert.
    public static let SQLITE_CANTOPEN_CONVPATH = ResultCode(rawValue: 14 | 4 << 8)
    /// A code that SQLite no longer uses.
    public static let SQLITE_CANTOPEN_DIRTYWAL = ResultCode(rawValue: 14 | 5 << 8)
    /// A symbolic link that must not be followed.
    public static let SQLITE_CANTOPEN_SYMLINK = ResultCode(rawValue: 14 | 6 << 8)
    /// A virtual table with damaged content.
    public static let SQLITE_CORRUPT_VTAB = ResultCode(rawValue: 11 | 1 << 8)
    /// A damaged `sqlite_sequence`, the table for `AUTOINCREMENT`.
    public static let SQLITE_CORRUPT_SEQUENCE = ResultCode(rawValue: 11 | 2 << 8)
    /// An index that lacks an entry.
    public static let SQLITE_CORRUPT_INDEX = ResultCode(rawValue: 11 | 3 << 8)
    /// A write-ahead log that must be restored, although the database is read-only.
    public static let SQLITE_READONLY_RECOVERY = ResultCode(rawValue: 8 | 1 << 8)
    /// Read-only shared memory of a write-ahead log, in which no lock can be acquired.
    public static let SQLITE_READONLY_CANTLOCK = ResultCode(rawValue: 8 | 2 << 8)
    /// A journal left by a crash that must be rolled back, although the database is read-only.
    public static let SQLITE_READONLY_ROLLBACK = ResultCode(rawValue: 8 | 3 << 8)
    /// A file that was moved, renamed or deleted since it was opened.
    public static let SQLITE_READONLY_DBMOVED = ResultCode(rawValue: 8 | 4 << 8)
    /// Read-only shared memory of a write-ahead log that must be recreated.
    public static let SQLITE_READONLY_CANTINIT = ResultCode(rawValue: 8 | 5 << 8)
    /// A directory in which the journal for a write cannot be created.
    public static let SQLITE_READONLY_DIRECTORY = ResultCode(rawValue: 8 | 6 << 8)
    /// A statement that was aborted because its transaction was rolled back.
    public static let SQLITE_ABORT_ROLLBACK = ResultCode(rawValue: 4 | 2 << 8)
    /// A violated `CHECK` constraint.
    public static let SQLITE_CONSTRAINT_CHECK = ResultCode(rawValue: 19 | 1 << 8)
    /// A commit that a hook has rejected.
    public static let SQLITE_CONSTRAINT_COMMITHOOK = ResultCode(rawValue: 19 | 2 << 8)
    /// A violated foreign key.
    public static let SQLITE_CONSTRAINT_FOREIGNKEY = ResultCode(rawValue: 19 | 3 << 8)
    /// A code reserved for functions of extensions.
    public static let SQLITE_CONSTRAINT_FUNCTION = ResultCode(rawValue: 19 | 4 << 8)
    /// A NULL in a `NOT NULL` column.
    public static let SQLITE_CONSTRAINT_NOTNULL = ResultCode(rawValue: 19 | 5 << 8)
    /// A primary key that another row already has.
    public static let SQLITE_CONSTRAINT_PRIMARYKEY = ResultCode(rawValue: 19 | 6 << 8)
    /// A statement that a trigger rejects with `RAISE`.
    public static let SQLITE_CONSTRAINT_TRIGGER = ResultCode(rawValue: 19 | 7 << 8)
    /// Values that another row already has, in the columns of a `UNIQUE` constraint or index.
    public static let SQLITE_CONSTRAINT_UNIQUE = ResultCode(rawValue: 19 | 8 << 8)
    /// A code reserved for virtual tables.
    public static let SQLITE_CONSTRAINT_VTAB = ResultCode(rawValue: 19 | 9 << 8)
    /// A row ID that another row already has.
    public static let SQLITE_CONSTRAINT_ROWID = ResultCode(rawValue: 19 | 10 << 8)
    /// A row that a trigger deletes while the row is being updated.
    public static let SQLITE_CONSTRAINT_PINNED = ResultCode(rawValue: 19 | 11 << 8)
    /// A value whose type differs from that of its column, in a `STRICT` table.
    public static let SQLITE_CONSTRAINT_DATATYPE = ResultCode(rawValue: 19 | 12 << 8)
    /// A write-ahead log that was restored after a crash. For ``Database/logError`` only: it is not
    /// thrown.
    public static let SQLITE_NOTICE_RECOVER_WAL = ResultCode(rawValue: 27 | 1 << 8)
    /// A journal left by a crash that was rolled back. For ``Database/logError`` only: it is not
    /// thrown.
    public static let SQLITE_NOTICE_RECOVER_ROLLBACK = ResultCode(rawValue: 27 | 2 << 8)
    /// An index that SQLite creates for one statement, because none exists. For
    /// ``Database/logError`` only: it is not thrown.
    public static let SQLITE_WARNING_AUTOINDEX = ResultCode(rawValue: 28 | 1 << 8)
    /// An operation that the logged-in user is not allowed to perform, if the extension for users
    /// is in use.
    public static let SQLITE_AUTH_USER = ResultCode(rawValue: 23 | 1 << 8)
}
