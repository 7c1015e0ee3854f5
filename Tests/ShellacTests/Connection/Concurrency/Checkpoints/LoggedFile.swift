import Foundation
import TestSupport

@testable import Shellac

/// A database file of small pages, so that a log of many frames is made fast. It has a table
/// `item (id, content)`.
struct LoggedFile {
    let folder: TemporaryFolder
    let path: String

    /// The numbers of frames of a log when it is copied in the background, begun anew, and copied
    /// by a commit.
    static let sizes = WALSize()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("a.sqlite")
        try DatabaseQueue(path: path).inDatabase { db in
            try db.execute(sql: "PRAGMA page_size = 512")
            try db.createItems()
        }
    }

    func pool(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "test"
        configure(&configuration)
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// The size of the log, or nil if there is none.
    var logSize: Int? { FileIdentity.size(path + "-wal") }
}

extension Database {
    func createItems() throws {
        try execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, content BLOB)")
    }

    /// Adds some frames to the log, and a few more, when the transaction is committed. The rows
    /// take a page each.
    func addFrames(_ count: Int) throws {
        try execute(
            sql: """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                INSERT INTO item (content) SELECT zeroblob(400) FROM n
                """, arguments: [count])
    }

    func itemCount() throws -> Int { try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM item") ?? 0 }
}

extension DatabasePool {
    /// Waits until the background has done what it is asked for.
    func waitForLog(_ isReached: (WALStatus) -> Bool) async throws {
        try await waitUntil { try isReached(walStatus) }
    }
}

extension LongAccess {
    /// A read that sees the present state until it is released.
    static func reading(_ pool: DatabasePool) async throws -> LongAccess {
        try await LongAccess { inside in
            try pool.read { db in
                _ = try db.itemCount()
                try inside()
            }
        }
    }

    /// An access of the writer, without a transaction.
    static func writing(_ pool: DatabasePool) async throws -> LongAccess {
        try await LongAccess { inside in try pool.writeWithoutTransaction { _ in try inside() } }
    }
}
