/// The time for which a connection keeps its file locks.
///
/// See "PRAGMA locking_mode" in the SQLite documentation.
public enum LockingMode: String, Sendable, CaseIterable {
    /// Until the end of the transaction.
    case normal
    /// From the first access until the connection is closed. Other connections can neither read nor
    /// write meanwhile.
    ///
    /// A write-ahead log then needs no memory shared between processes. A ``DatabasePool`` does not
    /// support this mode.
    case exclusive
}

/// The place for temporary tables and for sorting: see "PRAGMA temp_store" in the SQLite
/// documentation.
public enum TemporaryStorage: String, Sendable, CaseIterable {
    /// The place that SQLite was compiled for, usually in files.
    case `default`
    /// In files.
    case file
    /// In memory.
    case memory
}

extension Configuration {
    /// A configuration for a database in a Ceph cluster, where several machines can reach it and
    /// one holds it.
    ///
    /// ```swift
    /// try Database.loadExtension("libcephsqlite.so")
    /// var configuration = Configuration.ceph()
    /// configuration.label = "orders"
    /// let dbQueue = try DatabaseQueue(path: "/shellac:shop/orders.db", configuration: configuration)
    /// ```
    ///
    /// The path names a pool of the cluster, a namespace in it, and the database: see "Ceph SQLite
    /// VFS" in Ceph's documentation. This configuration changes the following defaults:
    ///
    /// - ``vfs`` is `ceph`, which its extension registers. Load that extension first.
    /// - ``lockingMode`` is exclusive. Acquiring and releasing the cluster's lock takes longer than
    ///   a commit. It is also a requirement of a write-ahead log, because machines share no memory.
    /// - ``journalMode`` is WAL: a commit writes to one place in one file, which is twice as fast
    ///   as with a rollback journal.
    /// - ``temporaryStorage`` is memory: the VFS has no temporary files.
    /// - ``cacheSize`` is 256 MB, because reading data outside of the cache goes over the network.
    ///   Unused parts of the cache are not allocated.
    /// - ``verifiesCommits`` is true. If a process was stopped for longer than its lock lasts,
    ///   another machine may have taken over. Ceph clients before 2026 do not report this.
    ///
    /// The page size stays that of SQLite. Larger pages speed up large scans, and slow down each
    /// commit. ``busyMode`` has no effect: the VFS itself waits for the lock, indefinitely.
    public static func ceph() -> Configuration {
        var configuration = Configuration()
        configuration.vfs = "ceph"
        configuration.lockingMode = .exclusive
        configuration.journalMode = .wal
        configuration.temporaryStorage = .memory
        configuration.cacheSize = 256 << 20
        configuration.verifiesCommits = true
        return configuration
    }
}

extension Database {
    /// Applies the settings that must precede the first read of the file, in the order that SQLite
    /// requires.
    func prepareStorage() throws {
        // A write-ahead log without shared memory requires the lock at the first read of the file
        // ("Use of WAL Without Shared-Memory" in the SQLite documentation).
        if configuration.lockingMode != .normal {
            try run(pragma: "locking_mode", configuration.lockingMode.rawValue)
        }
        if configuration.temporaryStorage != .default {
            try run(pragma: "temp_store", configuration.temporaryStorage.rawValue)
        }
        // The first write determines the page size of the file, and setting the journal mode may be
        // that write.
        if let size = configuration.pageSize {
            guard (512...65536).contains(size), size & (size - 1) == 0 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "a page cannot have \(size) bytes: the size must be a power of two from 512 to 65536")
            }
            try run(pragma: "page_size", "\(size)")
        }
        // (This pragma reads the file.)
        if let size = configuration.cacheSize {
            guard size > 0 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE, message: "the page cache cannot have \(size) bytes")
            }
            try run(pragma: "cache_size", "\(-max(1, Int64(size) / 1024))")
        }
        if configuration.verifiesCommits, !configuration.readonly { confirmCommits() }
    }

    private func run(pragma name: String, _ value: String) throws {
        try makeStatement(sql: "PRAGMA \(name) = \(value)").execute()
    }
}
