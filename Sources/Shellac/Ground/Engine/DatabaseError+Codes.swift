// The names are SQLite's own.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Result codes as patterns of errors: `catch DatabaseError.SQLITE_BUSY`.

extension ResultCode {
    /// Matches SQLite errors with this code. A primary code matches errors with any of its extended
    /// codes.
    ///
    /// ```swift
    /// do {
    ///     try player.insert(db)
    /// } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
    ///     print("taken already")
    /// }
    /// ```
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.extendedResultCode
    }
}

extension DatabaseError {
    /// Matches errors of the code: see ``ResultCode/SQLITE_OK``.
    public static var SQLITE_OK: ResultCode { .SQLITE_OK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ERROR``.
    public static var SQLITE_ERROR: ResultCode { .SQLITE_ERROR }
    /// Matches errors of the code: see ``ResultCode/SQLITE_INTERNAL``.
    public static var SQLITE_INTERNAL: ResultCode { .SQLITE_INTERNAL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_PERM``.
    public static var SQLITE_PERM: ResultCode { .SQLITE_PERM }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ABORT``.
    public static var SQLITE_ABORT: ResultCode { .SQLITE_ABORT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_BUSY``.
    public static var SQLITE_BUSY: ResultCode { .SQLITE_BUSY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_LOCKED``.
    public static var SQLITE_LOCKED: ResultCode { .SQLITE_LOCKED }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOMEM``.
    public static var SQLITE_NOMEM: ResultCode { .SQLITE_NOMEM }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY``.
    public static var SQLITE_READONLY: ResultCode { .SQLITE_READONLY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_INTERRUPT``.
    public static var SQLITE_INTERRUPT: ResultCode { .SQLITE_INTERRUPT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR``.
    public static var SQLITE_IOERR: ResultCode { .SQLITE_IOERR }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CORRUPT``.
    public static var SQLITE_CORRUPT: ResultCode { .SQLITE_CORRUPT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOTFOUND``.
    public static var SQLITE_NOTFOUND: ResultCode { .SQLITE_NOTFOUND }
    /// Matches errors of the code: see ``ResultCode/SQLITE_FULL``.
    public static var SQLITE_FULL: ResultCode { .SQLITE_FULL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN``.
    public static var SQLITE_CANTOPEN: ResultCode { .SQLITE_CANTOPEN }
    /// Matches errors of the code: see ``ResultCode/SQLITE_PROTOCOL``.
    public static var SQLITE_PROTOCOL: ResultCode { .SQLITE_PROTOCOL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_EMPTY``.
    public static var SQLITE_EMPTY: ResultCode { .SQLITE_EMPTY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_SCHEMA``.
    public static var SQLITE_SCHEMA: ResultCode { .SQLITE_SCHEMA }
    /// Matches errors of the code: see ``ResultCode/SQLITE_TOOBIG``.
    public static var SQLITE_TOOBIG: ResultCode { .SQLITE_TOOBIG }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT``.
    public static var SQLITE_CONSTRAINT: ResultCode { .SQLITE_CONSTRAINT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_MISMATCH``.
    public static var SQLITE_MISMATCH: ResultCode { .SQLITE_MISMATCH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_MISUSE``.
    public static var SQLITE_MISUSE: ResultCode { .SQLITE_MISUSE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOLFS``.
    public static var SQLITE_NOLFS: ResultCode { .SQLITE_NOLFS }
    /// Matches errors of the code: see ``ResultCode/SQLITE_AUTH``.
    public static var SQLITE_AUTH: ResultCode { .SQLITE_AUTH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_FORMAT``.
    public static var SQLITE_FORMAT: ResultCode { .SQLITE_FORMAT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_RANGE``.
    public static var SQLITE_RANGE: ResultCode { .SQLITE_RANGE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOTADB``.
    public static var SQLITE_NOTADB: ResultCode { .SQLITE_NOTADB }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOTICE``.
    public static var SQLITE_NOTICE: ResultCode { .SQLITE_NOTICE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_WARNING``.
    public static var SQLITE_WARNING: ResultCode { .SQLITE_WARNING }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ROW``.
    public static var SQLITE_ROW: ResultCode { .SQLITE_ROW }
    /// Matches errors of the code: see ``ResultCode/SQLITE_DONE``.
    public static var SQLITE_DONE: ResultCode { .SQLITE_DONE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ERROR_MISSING_COLLSEQ``.
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { .SQLITE_ERROR_MISSING_COLLSEQ }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ERROR_RETRY``.
    public static var SQLITE_ERROR_RETRY: ResultCode { .SQLITE_ERROR_RETRY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ERROR_SNAPSHOT``.
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { .SQLITE_ERROR_SNAPSHOT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_READ``.
    public static var SQLITE_IOERR_READ: ResultCode { .SQLITE_IOERR_READ }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SHORT_READ``.
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { .SQLITE_IOERR_SHORT_READ }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_WRITE``.
    public static var SQLITE_IOERR_WRITE: ResultCode { .SQLITE_IOERR_WRITE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_FSYNC``.
    public static var SQLITE_IOERR_FSYNC: ResultCode { .SQLITE_IOERR_FSYNC }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_DIR_FSYNC``.
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { .SQLITE_IOERR_DIR_FSYNC }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_TRUNCATE``.
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { .SQLITE_IOERR_TRUNCATE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_FSTAT``.
    public static var SQLITE_IOERR_FSTAT: ResultCode { .SQLITE_IOERR_FSTAT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_UNLOCK``.
    public static var SQLITE_IOERR_UNLOCK: ResultCode { .SQLITE_IOERR_UNLOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_RDLOCK``.
    public static var SQLITE_IOERR_RDLOCK: ResultCode { .SQLITE_IOERR_RDLOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_DELETE``.
    public static var SQLITE_IOERR_DELETE: ResultCode { .SQLITE_IOERR_DELETE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_BLOCKED``.
    public static var SQLITE_IOERR_BLOCKED: ResultCode { .SQLITE_IOERR_BLOCKED }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_NOMEM``.
    public static var SQLITE_IOERR_NOMEM: ResultCode { .SQLITE_IOERR_NOMEM }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_ACCESS``.
    public static var SQLITE_IOERR_ACCESS: ResultCode { .SQLITE_IOERR_ACCESS }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_CHECKRESERVEDLOCK``.
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { .SQLITE_IOERR_CHECKRESERVEDLOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_LOCK``.
    public static var SQLITE_IOERR_LOCK: ResultCode { .SQLITE_IOERR_LOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_CLOSE``.
    public static var SQLITE_IOERR_CLOSE: ResultCode { .SQLITE_IOERR_CLOSE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_DIR_CLOSE``.
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { .SQLITE_IOERR_DIR_CLOSE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SHMOPEN``.
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { .SQLITE_IOERR_SHMOPEN }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SHMSIZE``.
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { .SQLITE_IOERR_SHMSIZE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SHMLOCK``.
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { .SQLITE_IOERR_SHMLOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SHMMAP``.
    public static var SQLITE_IOERR_SHMMAP: ResultCode { .SQLITE_IOERR_SHMMAP }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_SEEK``.
    public static var SQLITE_IOERR_SEEK: ResultCode { .SQLITE_IOERR_SEEK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_DELETE_NOENT``.
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { .SQLITE_IOERR_DELETE_NOENT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_MMAP``.
    public static var SQLITE_IOERR_MMAP: ResultCode { .SQLITE_IOERR_MMAP }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_GETTEMPPATH``.
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { .SQLITE_IOERR_GETTEMPPATH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_CONVPATH``.
    public static var SQLITE_IOERR_CONVPATH: ResultCode { .SQLITE_IOERR_CONVPATH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_VNODE``.
    public static var SQLITE_IOERR_VNODE: ResultCode { .SQLITE_IOERR_VNODE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_AUTH``.
    public static var SQLITE_IOERR_AUTH: ResultCode { .SQLITE_IOERR_AUTH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_BEGIN_ATOMIC``.
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { .SQLITE_IOERR_BEGIN_ATOMIC }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_COMMIT_ATOMIC``.
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { .SQLITE_IOERR_COMMIT_ATOMIC }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_ROLLBACK_ATOMIC``.
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { .SQLITE_IOERR_ROLLBACK_ATOMIC }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_DATA``.
    public static var SQLITE_IOERR_DATA: ResultCode { .SQLITE_IOERR_DATA }
    /// Matches errors of the code: see ``ResultCode/SQLITE_IOERR_CORRUPTFS``.
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { .SQLITE_IOERR_CORRUPTFS }
    /// Matches errors of the code: see ``ResultCode/SQLITE_LOCKED_SHAREDCACHE``.
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { .SQLITE_LOCKED_SHAREDCACHE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_LOCKED_VTAB``.
    public static var SQLITE_LOCKED_VTAB: ResultCode { .SQLITE_LOCKED_VTAB }
    /// Matches errors of the code: see ``ResultCode/SQLITE_BUSY_RECOVERY``.
    public static var SQLITE_BUSY_RECOVERY: ResultCode { .SQLITE_BUSY_RECOVERY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_BUSY_SNAPSHOT``.
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { .SQLITE_BUSY_SNAPSHOT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_BUSY_TIMEOUT``.
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { .SQLITE_BUSY_TIMEOUT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_NOTEMPDIR``.
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { .SQLITE_CANTOPEN_NOTEMPDIR }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_ISDIR``.
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { .SQLITE_CANTOPEN_ISDIR }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_FULLPATH``.
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { .SQLITE_CANTOPEN_FULLPATH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_CONVPATH``.
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { .SQLITE_CANTOPEN_CONVPATH }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_DIRTYWAL``.
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { .SQLITE_CANTOPEN_DIRTYWAL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CANTOPEN_SYMLINK``.
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { .SQLITE_CANTOPEN_SYMLINK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CORRUPT_VTAB``.
    public static var SQLITE_CORRUPT_VTAB: ResultCode { .SQLITE_CORRUPT_VTAB }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CORRUPT_SEQUENCE``.
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { .SQLITE_CORRUPT_SEQUENCE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CORRUPT_INDEX``.
    public static var SQLITE_CORRUPT_INDEX: ResultCode { .SQLITE_CORRUPT_INDEX }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_RECOVERY``.
    public static var SQLITE_READONLY_RECOVERY: ResultCode { .SQLITE_READONLY_RECOVERY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_CANTLOCK``.
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { .SQLITE_READONLY_CANTLOCK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_ROLLBACK``.
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { .SQLITE_READONLY_ROLLBACK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_DBMOVED``.
    public static var SQLITE_READONLY_DBMOVED: ResultCode { .SQLITE_READONLY_DBMOVED }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_CANTINIT``.
    public static var SQLITE_READONLY_CANTINIT: ResultCode { .SQLITE_READONLY_CANTINIT }
    /// Matches errors of the code: see ``ResultCode/SQLITE_READONLY_DIRECTORY``.
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { .SQLITE_READONLY_DIRECTORY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_ABORT_ROLLBACK``.
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { .SQLITE_ABORT_ROLLBACK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_CHECK``.
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { .SQLITE_CONSTRAINT_CHECK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_COMMITHOOK``.
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { .SQLITE_CONSTRAINT_COMMITHOOK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_FOREIGNKEY``.
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { .SQLITE_CONSTRAINT_FOREIGNKEY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_FUNCTION``.
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { .SQLITE_CONSTRAINT_FUNCTION }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_NOTNULL``.
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { .SQLITE_CONSTRAINT_NOTNULL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_PRIMARYKEY``.
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { .SQLITE_CONSTRAINT_PRIMARYKEY }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_TRIGGER``.
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { .SQLITE_CONSTRAINT_TRIGGER }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_UNIQUE``.
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { .SQLITE_CONSTRAINT_UNIQUE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_VTAB``.
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { .SQLITE_CONSTRAINT_VTAB }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_ROWID``.
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { .SQLITE_CONSTRAINT_ROWID }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_PINNED``.
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { .SQLITE_CONSTRAINT_PINNED }
    /// Matches errors of the code: see ``ResultCode/SQLITE_CONSTRAINT_DATATYPE``.
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { .SQLITE_CONSTRAINT_DATATYPE }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOTICE_RECOVER_WAL``.
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { .SQLITE_NOTICE_RECOVER_WAL }
    /// Matches errors of the code: see ``ResultCode/SQLITE_NOTICE_RECOVER_ROLLBACK``.
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { .SQLITE_NOTICE_RECOVER_ROLLBACK }
    /// Matches errors of the code: see ``ResultCode/SQLITE_WARNING_AUTOINDEX``.
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { .SQLITE_WARNING_AUTOINDEX }
    /// Matches errors of the code: see ``ResultCode/SQLITE_AUTH_USER``.
    public static var SQLITE_AUTH_USER: ResultCode { .SQLITE_AUTH_USER }
}
