// The memory of SQLite in the whole process, and a limit for it.

import CSQLite

extension Database {
    /// The number of bytes that SQLite tries not to exceed, in all databases of the process. Nil if
    /// there is no limit.
    ///
    /// ```swift
    /// Database.softHeapLimit = 64 << 20
    /// ```
    ///
    /// At the limit, SQLite reuses pages of its caches before it asks for more memory. If it needs
    /// more nevertheless, it takes more. ``releaseMemory()`` frees the memory of one connection.
    ///
    /// See "sqlite3_soft_heap_limit64" in the SQLite documentation.
    public static var softHeapLimit: Int? {
        get {
            let limit = sqlite3_soft_heap_limit64(-1)
            return limit > 0 ? Int(limit) : nil
        }
        set { _ = sqlite3_soft_heap_limit64(Int64(max(0, newValue ?? 0))) }
    }

    /// The number of bytes that SQLite has allocated now, for all databases of the process.
    public static var memoryUsed: Int { Int(sqlite3_memory_used()) }
}
