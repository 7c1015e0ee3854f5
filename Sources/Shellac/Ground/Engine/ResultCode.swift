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

    /// Matches codes: a primary one matches itself and its extended codes; an extended one matches itself.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern == (pattern.isPrimary ? code.primaryResultCode : code)
    }
}

extension ResultCode: CustomStringConvertible {
    /// The number, and what SQLite says of it: `19 (constraint failed)`.
    public var description: String {
        guard let text = sqlite3_errstr(rawValue) else { return "\(rawValue)" }
        return "\(rawValue) (\(String(cString: text)))"
    }
}

// The names are SQLite's own. They are spelled out, since the C header's extended codes are macros that
// Swift does not see, and an older header may lack some.
extension ResultCode {
    /// Success. It is the code of no error.
    public static let SQLITE_OK = ResultCode(rawValue: 0)
    /// An error without a code of its own: SQL that does not compile, a table or a column that is not there.
    public static let SQLITE_ERROR = ResultCode(rawValue: 1)
    /// A fault of SQLite itself.
    public static let SQLITE_INTERNAL = ResultCode(rawValue: 2)
    /// A new file cannot have the access mode that was asked for.
    public static let SQLITE_PERM = ResultCode(rawValue: 3)
    /// The end of a statement before it was done: by a rollback, or by a function that it calls.
    public static let SQLITE_ABORT = ResultCode(rawValue: 4)
    /// A lock that another connection holds, for longer than ``Configuration/busyMode`` waits. A database that is closed throws it, too,
    /// while something of it is in use.
    public static let SQLITE_BUSY = ResultCode(rawValue: 5)
    /// A lock that the same connection holds, such as that of a statement which reads a table that is to be dropped. Or one of a
    /// connection that shares its cache.
    public static let SQLITE_LOCKED = ResultCode(rawValue: 6)
    /// Memory that the system does not give.
    public static let SQLITE_NOMEM = ResultCode(rawValue: 7)
    /// A write to what may only be read: a file, a connection, an access.
    public static let SQLITE_READONLY = ResultCode(rawValue: 8)
    /// The end of a statement that was interrupted: see ``Database/interrupt()``.
    public static let SQLITE_INTERRUPT = ResultCode(rawValue: 9)
    /// An error of the system, when it read or wrote a file. The extended code tells what it was doing.
    public static let SQLITE_IOERR = ResultCode(rawValue: 10)
    /// A damaged database.
    public static let SQLITE_CORRUPT = ResultCode(rawValue: 11)
    /// An operation that the file system layer of SQLite does not know.
    public static let SQLITE_NOTFOUND = ResultCode(rawValue: 12)
    /// A full disk, which may be the one of the temporary files, or a database that has all the pages it may have.
    public static let SQLITE_FULL = ResultCode(rawValue: 13)
    /// A file that cannot be opened: the database, or one that SQLite needs beside it.
    public static let SQLITE_CANTOPEN = ResultCode(rawValue: 14)
    /// A race for the locks of a write-ahead log, which was lost again and again.
    public static let SQLITE_PROTOCOL = ResultCode(rawValue: 15)
    /// A code that SQLite does not use.
    public static let SQLITE_EMPTY = ResultCode(rawValue: 16)
    /// A schema that has changed since the statement was prepared, again and again.
    public static let SQLITE_SCHEMA = ResultCode(rawValue: 17)
    /// A text, a blob or a statement that is longer than SQLite's limit.
    public static let SQLITE_TOOBIG = ResultCode(rawValue: 18)
    /// A constraint that a statement violates: see ``DatabaseError/constraint``.
    public static let SQLITE_CONSTRAINT = ResultCode(rawValue: 19)
    /// A value of another type where none but an integer can stand, such as a row ID.
    public static let SQLITE_MISMATCH = ResultCode(rawValue: 20)
    /// A call that is not allowed, such as one of a database that was closed.
    public static let SQLITE_MISUSE = ResultCode(rawValue: 21)
    /// A file that is too large for the system.
    public static let SQLITE_NOLFS = ResultCode(rawValue: 22)
    /// A statement that is not authorized.
    public static let SQLITE_AUTH = ResultCode(rawValue: 23)
    /// A code that SQLite does not use.
    public static let SQLITE_FORMAT = ResultCode(rawValue: 24)
    /// A parameter or a column that the statement does not have.
    public static let SQLITE_RANGE = ResultCode(rawValue: 25)
    /// A file that is no database, or an encrypted one that was given no key.
    public static let SQLITE_NOTADB = ResultCode(rawValue: 26)
    /// Something to know, for ``Database/logError``. It is not thrown.
    public static let SQLITE_NOTICE = ResultCode(rawValue: 27)
    /// Something unusual, for ``Database/logError``. It is not thrown.
    public static let SQLITE_WARNING = ResultCode(rawValue: 28)
    /// A row of a statement. It is the code of no error.
    public static let SQLITE_ROW = ResultCode(rawValue: 100)
    /// The end of a statement. It is the code of no error.
    public static let SQLITE_DONE = ResultCode(rawValue: 101)

    /// A collation that the statement needs, and the connection does not have: see ``Database/add(collation:)``.
    public static let SQLITE_ERROR_MISSING_COLLSEQ = ResultCode(rawValue: 1 | 1 << 8)
    /// A sign inside of SQLite to prepare a statement once more.
    public static let SQLITE_ERROR_RETRY = ResultCode(rawValue: 1 | 2 << 8)
    /// A state of the database that is no longer in the write-ahead log.
    public static let SQLITE_ERROR_SNAPSHOT = ResultCode(rawValue: 1 | 3 << 8)
    /// A read from a file that failed.
    public static let SQLITE_IOERR_READ = ResultCode(rawValue: 10 | 1 << 8)
    /// A read from a file that gave fewer bytes than it was to give.
    public static let SQLITE_IOERR_SHORT_READ = ResultCode(rawValue: 10 | 2 << 8)
    /// A write to a file that failed.
    public static let SQLITE_IOERR_WRITE = ResultCode(rawValue: 10 | 3 << 8)
    /// A file that could not be flushed to the disk.
    public static let SQLITE_IOERR_FSYNC = ResultCode(rawValue: 10 | 4 << 8)
    /// A directory that could not be flushed to the disk.
    public static let SQLITE_IOERR_DIR_FSYNC = ResultCode(rawValue: 10 | 5 << 8)
    /// A file that could not be cut to a size.
    public static let SQLITE_IOERR_TRUNCATE = ResultCode(rawValue: 10 | 6 << 8)
    /// A file of which the system does not tell the size, or other attributes.
    public static let SQLITE_IOERR_FSTAT = ResultCode(rawValue: 10 | 7 << 8)
    /// A lock of a file that could not be given back.
    public static let SQLITE_IOERR_UNLOCK = ResultCode(rawValue: 10 | 8 << 8)
    /// A lock of a file, for reading, that could not be taken.
    public static let SQLITE_IOERR_RDLOCK = ResultCode(rawValue: 10 | 9 << 8)
    /// A file that could not be deleted.
    public static let SQLITE_IOERR_DELETE = ResultCode(rawValue: 10 | 10 << 8)
    /// A code that SQLite does not use any more.
    public static let SQLITE_IOERR_BLOCKED = ResultCode(rawValue: 10 | 11 << 8)
    /// Memory that the system does not give for work on a file.
    public static let SQLITE_IOERR_NOMEM = ResultCode(rawValue: 10 | 12 << 8)
    /// A file of which the system does not tell whether it is there, or may be used.
    public static let SQLITE_IOERR_ACCESS = ResultCode(rawValue: 10 | 13 << 8)
    /// A file of which the system does not tell whether somebody is about to write it.
    public static let SQLITE_IOERR_CHECKRESERVEDLOCK = ResultCode(rawValue: 10 | 14 << 8)
    /// A lock of a file that the system failed to take.
    public static let SQLITE_IOERR_LOCK = ResultCode(rawValue: 10 | 15 << 8)
    /// A file that could not be closed.
    public static let SQLITE_IOERR_CLOSE = ResultCode(rawValue: 10 | 16 << 8)
    /// A code that SQLite does not use any more.
    public static let SQLITE_IOERR_DIR_CLOSE = ResultCode(rawValue: 10 | 17 << 8)
    /// A file of shared memory, beside a write-ahead log, that could not be opened.
    public static let SQLITE_IOERR_SHMOPEN = ResultCode(rawValue: 10 | 18 << 8)
    /// A file of shared memory, beside a write-ahead log, that could not be enlarged.
    public static let SQLITE_IOERR_SHMSIZE = ResultCode(rawValue: 10 | 19 << 8)
    /// A code that SQLite does not use any more.
    public static let SQLITE_IOERR_SHMLOCK = ResultCode(rawValue: 10 | 20 << 8)
    /// A file of shared memory, beside a write-ahead log, that could not be mapped.
    public static let SQLITE_IOERR_SHMMAP = ResultCode(rawValue: 10 | 21 << 8)
    /// A place in a file that could not be gone to.
    public static let SQLITE_IOERR_SEEK = ResultCode(rawValue: 10 | 22 << 8)
    /// A file that was to be deleted, and is not there.
    public static let SQLITE_IOERR_DELETE_NOENT = ResultCode(rawValue: 10 | 23 << 8)
    /// A file that could not be mapped to memory, or not any more.
    public static let SQLITE_IOERR_MMAP = ResultCode(rawValue: 10 | 24 << 8)
    /// A directory for temporary files that was not found.
    public static let SQLITE_IOERR_GETTEMPPATH = ResultCode(rawValue: 10 | 25 << 8)
    /// A path that Cygwin could not convert.
    public static let SQLITE_IOERR_CONVPATH = ResultCode(rawValue: 10 | 26 << 8)
    /// A code that is reserved for extensions.
    public static let SQLITE_IOERR_VNODE = ResultCode(rawValue: 10 | 27 << 8)
    /// A code that is reserved for extensions.
    public static let SQLITE_IOERR_AUTH = ResultCode(rawValue: 10 | 28 << 8)
    /// The beginning of an atomic write that the file system did not take.
    public static let SQLITE_IOERR_BEGIN_ATOMIC = ResultCode(rawValue: 10 | 29 << 8)
    /// The commit of an atomic write that the file system did not take.
    public static let SQLITE_IOERR_COMMIT_ATOMIC = ResultCode(rawValue: 10 | 30 << 8)
    /// The rollback of an atomic write that the file system did not take.
    public static let SQLITE_IOERR_ROLLBACK_ATOMIC = ResultCode(rawValue: 10 | 31 << 8)
    /// A page whose checksum is wrong, where the extension for checksums is in use.
    public static let SQLITE_IOERR_DATA = ResultCode(rawValue: 10 | 32 << 8)
    /// A read that failed because the file system is damaged.
    public static let SQLITE_IOERR_CORRUPTFS = ResultCode(rawValue: 10 | 33 << 8)
    /// A lock that a connection holds which shares the cache of this one.
    public static let SQLITE_LOCKED_SHAREDCACHE = ResultCode(rawValue: 6 | 1 << 8)
    /// A code that SQLite leaves to virtual tables.
    public static let SQLITE_LOCKED_VTAB = ResultCode(rawValue: 6 | 2 << 8)
    /// A write-ahead log that another process restores after a crash.
    public static let SQLITE_BUSY_RECOVERY = ResultCode(rawValue: 5 | 1 << 8)
    /// A transaction that has read, and cannot write, since another connection has written meanwhile. Begin with
    /// ``TransactionKind/immediate`` what is going to write.
    public static let SQLITE_BUSY_SNAPSHOT = ResultCode(rawValue: 5 | 2 << 8)
    /// A lock that the system itself was told to wait for, and did not get in time.
    public static let SQLITE_BUSY_TIMEOUT = ResultCode(rawValue: 5 | 3 << 8)
    /// A code that SQLite does not use any more.
    public static let SQLITE_CANTOPEN_NOTEMPDIR = ResultCode(rawValue: 14 | 1 << 8)
    /// A path that leads to a directory.
    public static let SQLITE_CANTOPEN_ISDIR = ResultCode(rawValue: 14 | 2 << 8)
    /// A path that the system could not make a full one of.
    public static let SQLITE_CANTOPEN_FULLPATH = ResultCode(rawValue: 14 | 3 << 8)
    /// A path that Cygwin could not convert.
    public static let SQLITE_CANTOPEN_CONVPATH = ResultCode(rawValue: 14 | 4 << 8)
    /// A code that SQLite does not use any more.
    public static let SQLITE_CANTOPEN_DIRTYWAL = ResultCode(rawValue: 14 | 5 << 8)
    /// A symbolic link, where none was to be followed.
    public static let SQLITE_CANTOPEN_SYMLINK = ResultCode(rawValue: 14 | 6 << 8)
    /// A virtual table whose content is damaged.
    public static let SQLITE_CORRUPT_VTAB = ResultCode(rawValue: 11 | 1 << 8)
    /// A damaged `sqlite_sequence`, the table of what `AUTOINCREMENT` has used.
    public static let SQLITE_CORRUPT_SEQUENCE = ResultCode(rawValue: 11 | 2 << 8)
    /// An index that lacks an entry.
    public static let SQLITE_CORRUPT_INDEX = ResultCode(rawValue: 11 | 3 << 8)
    /// A write-ahead log that must be restored, where the database may only be read.
    public static let SQLITE_READONLY_RECOVERY = ResultCode(rawValue: 8 | 1 << 8)
    /// Shared memory, beside a write-ahead log, in which no lock can be taken, since it may only be read.
    public static let SQLITE_READONLY_CANTLOCK = ResultCode(rawValue: 8 | 2 << 8)
    /// A journal that a crash has left and that must be rolled back, where the database may only be read.
    public static let SQLITE_READONLY_ROLLBACK = ResultCode(rawValue: 8 | 3 << 8)
    /// A file that was moved, renamed or deleted since it was opened.
    public static let SQLITE_READONLY_DBMOVED = ResultCode(rawValue: 8 | 4 << 8)
    /// Shared memory, beside a write-ahead log, that must be made anew and may only be read.
    public static let SQLITE_READONLY_CANTINIT = ResultCode(rawValue: 8 | 5 << 8)
    /// A directory in which the journal of a write cannot be made.
    public static let SQLITE_READONLY_DIRECTORY = ResultCode(rawValue: 8 | 6 << 8)
    /// The end of a statement whose transaction was rolled back.
    public static let SQLITE_ABORT_ROLLBACK = ResultCode(rawValue: 4 | 2 << 8)
    /// A `CHECK` constraint that is violated.
    public static let SQLITE_CONSTRAINT_CHECK = ResultCode(rawValue: 19 | 1 << 8)
    /// A commit that a hook has refused.
    public static let SQLITE_CONSTRAINT_COMMITHOOK = ResultCode(rawValue: 19 | 2 << 8)
    /// A foreign key that is violated.
    public static let SQLITE_CONSTRAINT_FOREIGNKEY = ResultCode(rawValue: 19 | 3 << 8)
    /// A code that SQLite leaves to functions of extensions.
    public static let SQLITE_CONSTRAINT_FUNCTION = ResultCode(rawValue: 19 | 4 << 8)
    /// A NULL in a `NOT NULL` column.
    public static let SQLITE_CONSTRAINT_NOTNULL = ResultCode(rawValue: 19 | 5 << 8)
    /// A primary key that another row has.
    public static let SQLITE_CONSTRAINT_PRIMARYKEY = ResultCode(rawValue: 19 | 6 << 8)
    /// A statement that a trigger refuses, by `RAISE`.
    public static let SQLITE_CONSTRAINT_TRIGGER = ResultCode(rawValue: 19 | 7 << 8)
    /// Values that another row has, in the columns of a `UNIQUE` constraint or index.
    public static let SQLITE_CONSTRAINT_UNIQUE = ResultCode(rawValue: 19 | 8 << 8)
    /// A code that SQLite leaves to virtual tables.
    public static let SQLITE_CONSTRAINT_VTAB = ResultCode(rawValue: 19 | 9 << 8)
    /// A row ID that another row has.
    public static let SQLITE_CONSTRAINT_ROWID = ResultCode(rawValue: 19 | 10 << 8)
    /// A row that a trigger deletes while it is being updated.
    public static let SQLITE_CONSTRAINT_PINNED = ResultCode(rawValue: 19 | 11 << 8)
    /// A value of another type than that of its column, in a `STRICT` table.
    public static let SQLITE_CONSTRAINT_DATATYPE = ResultCode(rawValue: 19 | 12 << 8)
    /// A write-ahead log that was restored after a crash. It is for ``Database/logError``, and not thrown.
    public static let SQLITE_NOTICE_RECOVER_WAL = ResultCode(rawValue: 27 | 1 << 8)
    /// A journal that a crash has left and that was rolled back. It is for ``Database/logError``, and not thrown.
    public static let SQLITE_NOTICE_RECOVER_ROLLBACK = ResultCode(rawValue: 27 | 2 << 8)
    /// An index that SQLite makes for one statement, since none is there. It is for ``Database/logError``, and not thrown.
    public static let SQLITE_WARNING_AUTOINDEX = ResultCode(rawValue: 28 | 1 << 8)
    /// An operation that the user who is logged in may not do, where the extension for users is in use.
    public static let SQLITE_AUTH_USER = ResultCode(rawValue: 23 | 1 << 8)
}
