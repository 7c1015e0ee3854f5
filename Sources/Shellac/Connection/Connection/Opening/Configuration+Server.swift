// The configuration preset for servers: WAL, full synchronization, busy timeout, larger cache.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Configuration {
    /// A configuration for server programs that run permanently.
    ///
    /// ```swift
    /// var configuration = Configuration.server
    /// configuration.label = "orders"
    /// let dbPool = try DatabasePool(path: "orders.sqlite", configuration: configuration)
    /// ```
    ///
    /// The defaults already enforce foreign keys, begin writes with the write lock, and copy the
    /// log without delaying commits. In addition, this configuration sets:
    ///
    /// - ``journalMode`` to WAL: readers do not wait for writers. (A pool has this mode anyway.)
    /// - `PRAGMA synchronous = FULL`: when `write` returns, the commit has reached the disk. Other
    ///   libraries default to `NORMAL`. It may lose the last commits in a power failure, although
    ///   clients count them as complete. If that does no harm, revert it in
    ///   ``prepareDatabase(_:)``.
    /// - ``busyMode`` to a timeout of five seconds, because backups, command line tools and other
    ///   processes come and go.
    /// - ``maximumReaderCount`` to the number of processors, but at least four. More readers would
    ///   wait for a processor, not for the database.
    /// - `PRAGMA cache_size` to 16 MB for each connection, instead of 2 MB. So the inner pages of
    ///   indexes stay in memory. Pages of the file outside of this cache come from the system's
    ///   cache.
    /// - ``optimizesWhenClosing`` to true: now and then, SQLite updates its statistics about the
    ///   size of tables and the selectivity of indexes.
    ///
    /// Memory-mapped reading stays off. With it, a disk error would stop the program, while a read
    /// throws an error.
    public static var server: Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = max(4, ProcessInfo.processInfo.activeProcessorCount)
        configuration.optimizesWhenClosing = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -16000")
        }
        return configuration
    }
}
