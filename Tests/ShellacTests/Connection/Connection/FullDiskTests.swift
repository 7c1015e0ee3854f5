import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("A full disk")
struct FullDiskTests {
    /// A way to write more than the disk takes.
    enum Way: String, CaseIterable, Sendable, Codable { case autocommit, transaction, cached }

    @Test(
        "A full disk is an error, loses nothing that was committed, and works again with room",
        arguments: Way.allCases)
    func full(_ way: Way) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA max_page_count = 20") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'kept')")
        }
        let sql = "INSERT INTO t VALUES (2, ?)"
        let large = Data(count: 200_000)
        for _ in 1...2 {
            let error = try #require(throws: DatabaseError.self) {
                switch way {
                case .autocommit: try queue.inDatabase { db in try db.execute(sql: sql, arguments: [large]) }
                case .cached:
                    try queue.inDatabase { db in try db.cachedStatement(sql: sql).execute(arguments: [large])
                    }
                case .transaction:
                    try queue.write { db in
                        try db.execute(sql: "INSERT INTO t VALUES (3, 'lost')")
                        try db.execute(sql: sql, arguments: [large])
                    }
                }
            }
            #expect(error.resultCode == .SQLITE_FULL)
            #expect(error.message == "database or disk is full")
            #expect(error.sql == sql)
            try queue.inDatabase { db in
                try #expect(db.integers("SELECT a FROM t") == [1])
                try #expect(db.isUsable())
            }
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (4, 'small')") }
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA max_page_count = 1000")
            try db.execute(sql: sql, arguments: [large])
        }
        try queue.close()
        try #expect(DatabaseQueue(path: path).read { db in try db.integers("SELECT a FROM t") } == [1, 4, 2])
    }
}
