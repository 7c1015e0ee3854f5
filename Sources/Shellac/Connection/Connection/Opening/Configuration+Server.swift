// The configuration preset for servers: WAL, full synchronization, busy timeout, larger cache.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Configuration {
    /// A configuration for programs that serve others, day and night.
    ///
    /// ```swift
    /// var configuration = Configuration.server
    /// configuration.label = "orders"
    /// let dbPool = try DatabasePool(path: "orders.sqlite", configuration: configuration)
    /// ```
    ///
    /// Beside the defaults, which have foreign keys enforced, writes begin with the write lock, and the log copied off the way of
    /// commits, it says:
    ///
    /// - ``journalMode`` is WAL: who reads does not wait for who writes. (A pool has it anyway.)
    /// - `PRAGMA synchronous = FULL`: what was committed has reached the disk when `write` returns. The default of `NORMAL` that other
    ///   libraries choose may lose the last commits when the power fails, of which clients have been told that they are done. Where
    ///   that is no harm, undo it by ``prepareDatabase(_:)``.
    /// - ``busyMode`` waits for five seconds: backups, command line tools and other processes come and go.
    /// - ``maximumReaderCount`` is the number of processors, and four at least: more readers would wait for a processor, not for the
    ///   database.
    /// - `PRAGMA cache_size` is 16 MB for each connection, in place of 2 MB: the inner pages of indexes stay in memory. Pages of the file
    ///   that are not in the cache come from the system's.
    /// - ``optimizesWhenClosing``: SQLite learns, now and then, how large tables are and how selective indexes.
    ///
    /// Memory-mapped reading stays off: an error of the disk would then stop the program, where a read throws.
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
