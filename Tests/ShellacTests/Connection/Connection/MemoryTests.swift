import CSQLite
import Foundation
import Shellac
import TestSupport
import Testing

/// The limit holds for all tests of the process. It is set for moments, and slows them down at the
/// worst.
@Suite("The memory of SQLite", .serialized)
struct MemoryTests {
    /// Returns the bytes in the page cache of a connection that has read a table of 8 MB.
    private func cacheSize(limit: Int?) throws -> Int {
        let file = try TemporaryDatabase()
        defer { withExtendedLifetime(file) {} }
        let queue = try file.queue()
        return try queue.inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA cache_size = -32000;
                    CREATE TABLE large (content);
                    INSERT INTO large WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                        SELECT zeroblob(4000) FROM n;
                    """)
            db.releaseMemory()
            Database.softHeapLimit = limit
            defer { Database.softHeapLimit = nil }
            _ = try Int.fetchOne(db, sql: "SELECT SUM(length(hex(content))) FROM large")
            var (size, most): (Int32, Int32) = (0, 0)
            sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_USED, &size, &most, 0)
            return Int(size)
        }
    }

    @Test("is bounded by a limit, which no statement fails for")
    func limit() throws {
        let free = try cacheSize(limit: nil)
        #expect(free > 6 << 20)
        let bounded = try cacheSize(limit: 1 << 10)
        #expect(bounded < 1 << 20)
    }

    @Test("has no limit unless one is set, and all databases have the same")
    func setting() throws {
        #expect(Database.softHeapLimit == nil)
        Database.softHeapLimit = 3 << 40
        defer { Database.softHeapLimit = nil }
        #expect(Database.softHeapLimit == 3 << 40)
        let pragma = try DatabaseQueue().inDatabase { db in
            try Int.fetchOne(db, sql: "PRAGMA soft_heap_limit")
        }
        #expect(pragma == 3 << 40)
        Database.softHeapLimit = -5
        #expect(Database.softHeapLimit == nil)
    }

    @Test("is counted")
    func used() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(50000000))")
            #expect(Database.memoryUsed > 50_000_000)
        }
    }
}
