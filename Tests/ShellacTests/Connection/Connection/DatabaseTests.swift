import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Closing a database")
struct ClosingTests {
    private static func queue(_ folder: TemporaryFolder) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "test"
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"), configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)") }
        return queue
    }

    @Test("A closed database releases its file, and closing it again does nothing")
    func twice() throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        _ = try queue.read { db in try db.integers("SELECT a FROM t") }
        try #expect(Set(folder.openFiles()) == [folder.path("a.sqlite")])
        try queue.close()
        try #expect(folder.openFiles() == [])
        try queue.close()
        queue.interrupt()
        try FileManager.default.removeItem(atPath: folder.path("a.sqlite"))
        try #expect(Self.queue(folder).read { db in try db.integers("SELECT a FROM t") } == [1, 2])
    }

    @Test("Every access to a closed database throws, and none traps")
    func closed() async throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        let other = try DatabaseQueue()
        try await queue.close()
        let accesses: [(String, () throws -> Void)] = [
            ("read", { try queue.read { _ in } }), ("write", { try queue.write { _ in } }),
            ("inDatabase", { try queue.inDatabase { _ in } }),
            ("writeWithoutTransaction", { try queue.writeWithoutTransaction { _ in } }),
            ("unsafeReentrantWrite", { try queue.unsafeReentrantWrite { _ in } }),
            ("inTransaction", { try queue.inTransaction { _ in .commit } }),
            ("inSavepoint", { try queue.inSavepoint { _ in .commit } }), ("vacuum", { try queue.vacuum() }),
            ("vacuum(into:)", { try queue.vacuum(into: folder.path("b.sqlite")) }),
            ("backup from", { try queue.backup(to: other) }), ("backup to", { try other.backup(to: queue) }),
        ]
        for (name, access) in accesses {
            let error = #expect(throws: DatabaseError.self, "\(name)") { try access() }
            #expect(error?.extendedResultCode == .SQLITE_MISUSE, "\(name)")
            #expect(error?.message == "the database test is closed", "\(name)")
        }
        for isWrite in [true, false] {
            let error = await #expect(throws: DatabaseError.self) {
                if isWrite { try await queue.write { _ in } } else { try await queue.read { _ in } }
            }
            #expect(error?.message == "the database test is closed")
        }
        queue.releaseMemory()
        queue.interrupt()
        try other.inDatabase { db in try #expect(db.isUsable()) }
        try #expect(folder.fileNames() == ["a.sqlite"])
    }

    @Test("A database whose cursor is kept does not close, says which statement it is, and works on")
    func busy() throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        var cursor: DatabaseCursor<Int>? = try queue.inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try cursor.next()
            return cursor
        }
        let error = try #require(throws: DatabaseError.self) { try queue.close() }
        #expect(error.resultCode == .SQLITE_BUSY)
        #expect(error.message == "the database test cannot be closed: a statement is still in use")
        #expect(error.sql == "SELECT a FROM t")
        try queue.inDatabase { db in
            try #expect(db.integers("SELECT a FROM t") == [1, 2])
        }
        #expect(cursor != nil)
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [1, 2])
        cursor = nil
        try queue.close()
        try #expect(folder.openFiles() == [])
    }

    @Test("The connection closes when the queue is freed", arguments: [true, false])
    func freed(isUsed: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let queue = try Self.queue(folder)
            if isUsed {
                _ = try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM t") }
                try queue.inDatabase { db in
                    try db.add(function: DatabaseFunctionTests.echo)
                    try db.add(collation: DatabaseCollationTests.length)
                    try db.execute(sql: "SELECT echo(1)")
                }
            }
            try #expect(folder.openFiles() != [])
        }
        try #expect(folder.openFiles() == [])
    }
}
