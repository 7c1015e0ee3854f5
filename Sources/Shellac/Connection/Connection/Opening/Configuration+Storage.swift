/// The time for which a connection keeps the locks of its file: see "PRAGMA locking_mode" in the SQLite documentation.
public enum LockingMode: String, Sendable, CaseIterable {
    /// Until the end of the transaction.
    case normal
    /// Until it is closed, from its first access on: nobody else can read or write meanwhile.
    ///
    /// A write-ahead log then needs no memory that processes share. A ``DatabasePool`` cannot be had.
    case exclusive
}

/// The place of temporary tables, and of what is sorted: see "PRAGMA temp_store" in the SQLite documentation.
public enum TemporaryStorage: String, Sendable, CaseIterable {
    /// As SQLite was compiled: mostly in files.
    case `default`
    /// In files.
    case file
    /// In memory.
    case memory
}

extension Configuration {
    /// A configuration for a database in a Ceph cluster, which several machines reach and one of them holds.
    ///
    /// ```swift
    /// try Database.loadExtension("libcephsqlite.so")
    /// var configuration = Configuration.ceph()
    /// configuration.label = "orders"
    /// let dbQueue = try DatabaseQueue(path: "/shellac:shop/orders.db", configuration: configuration)
    /// ```
    ///
    /// The path names a pool of the cluster, a namespace in it, and the database: see "Ceph SQLite VFS" in Ceph's documentation. Beside
    /// the defaults, this says:
    ///
    /// - ``vfs`` is `ceph`, which its extension registers. Load that first.
    /// - ``lockingMode`` is exclusive: taking the lock of the cluster and giving it back takes longer than a commit. And a write-ahead log can be
    ///   had in no other way, as machines share no memory.
    /// - ``journalMode`` is WAL: a commit writes one file, at one place, which is twice as fast as with a rollback journal.
    /// - ``temporaryStorage`` is memory: the VFS has no temporary files.
    /// - ``cacheSize`` is 256 MB: what is not in memory comes over the network. What the cache does not need is not allocated.
    /// - ``confirmsCommits``: a process that was stopped for longer than its lock lasts has been taken over, and clients of Ceph
    ///   before 2026 do not tell it.
    ///
    /// The size of pages stays that of SQLite. Greater ones make large scans faster, and each commit slower. ``busyMode`` has no effect: the VFS
    /// waits for the lock by itself, without an end.
    public static func ceph() -> Configuration {
        var configuration = Configuration()
        configuration.vfs = "ceph"
        configuration.lockingMode = .exclusive
        configuration.journalMode = .wal
        configuration.temporaryStorage = .memory
        configuration.cacheSize = 256 << 20
        configuration.confirmsCommits = true
        return configuration
    }
}

extension Database {
    /// Says what must be said before the file is first read, in the order that SQLite needs.
    func prepareStorage() throws {
        // A write-ahead log without shared memory needs the lock when the file is first read ("Use of WAL Without Shared-Memory" in
        // the SQLite documentation).
        if configuration.lockingMode != .normal {
            try run(pragma: "locking_mode", configuration.lockingMode.rawValue)
        }
        if configuration.temporaryStorage != .default {
            try run(pragma: "temp_store", configuration.temporaryStorage.rawValue)
        }
        // The first write gives the file its pages, and to set the journal mode may be one.
        if let size = configuration.pageSize {
            guard (512...65536).contains(size), size & (size - 1) == 0 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "a page cannot have \(size) bytes: it has a power of two from 512 to 65536")
            }
            try run(pragma: "page_size", "\(size)")
        }
        // (This one reads the file.)
        if let size = configuration.cacheSize {
            guard size > 0 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE, message: "the cache of pages cannot have \(size) bytes")
            }
            try run(pragma: "cache_size", "\(-max(1, Int64(size) / 1024))")
        }
        if configuration.confirmsCommits, !configuration.readonly { confirmCommits() }
    }

    private func run(pragma name: String, _ value: String) throws {
        try makeStatement(sql: "PRAGMA \(name) = \(value)").execute()
    }
}
