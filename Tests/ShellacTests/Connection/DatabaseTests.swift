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
        try #expect(folder.openFiles() == [folder.path("a.sqlite")])
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
        try queue.close()
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
            try #expect(cursor?.next() == 2)
            try #expect(db.integers("SELECT a FROM t") == [1, 2])
        }
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

@Suite("A full disk")
struct FullDiskTests {
    /// A way to write more than the disk takes.
    enum Way: String, CaseIterable, Sendable, Codable { case lone, transaction, cached }

    @Test("A full disk is an error, loses nothing that was committed, and works again with room", arguments: Way.allCases)
    func full(_ way: Way) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA max_page_count = 20") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'kept')") }
        let sql = "INSERT INTO t VALUES (2, ?)"
        let large = Data(count: 200_000)
        for _ in 1...2 {
            let error = try #require(throws: DatabaseError.self) {
                switch way {
                case .lone: try queue.inDatabase { db in try db.execute(sql: sql, arguments: [large]) }
                case .cached:
                    try queue.inDatabase { db in try db.cachedStatement(sql: sql).execute(arguments: [large]) }
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

@Suite("VACUUM")
struct VacuumTests {
    private static func queue(_ folder: TemporaryFolder) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, zeroblob(500000)), (2, 'x')")
        }
        return queue
    }

    private static func size(_ path: String) throws -> Int { try Data(contentsOf: URL(filePath: path)).count }

    @Test("vacuum gives back the empty pages")
    func vacuum() throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        try queue.write { db in try db.execute(sql: "DELETE FROM t WHERE a = 1") }
        try #expect(Self.size(folder.path("a.sqlite")) > 500_000)
        try queue.vacuum()
        try #expect(Self.size(folder.path("a.sqlite")) < 20_000)
        try queue.inDatabase { db in
            try #expect(db.integers("SELECT a FROM t") == [2])
            try #expect(db.isUsable())
        }
    }

    @Test("vacuum(into:) writes a copy to a new or an empty file", arguments: ["b.sqlite", "a'b \"c\" ü?.sqlite"])
    func into(_ name: String) throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        let path = folder.path(name)
        try queue.vacuum(into: path)
        try #expect(DatabaseQueue(path: path).read { db in try db.integers("SELECT a FROM t") } == [1, 2])
        let empty = try folder.write([], to: "empty.sqlite")
        try queue.vacuum(into: empty)
        try #expect(DatabaseQueue(path: empty).read { db in try db.integers("SELECT a FROM t") } == [1, 2])
        // The database itself is still the one that is open.
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (3, 0)") }
        try #expect(DatabaseQueue(path: path).read { db in try db.integers("SELECT a FROM t") } == [1, 2])
        try #expect(folder.openFiles() == [folder.path("a.sqlite")])
    }

    @Test("vacuum(into:) leaves a file that is there as it is")
    func existing() throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        let path = try folder.write("something".utf8, to: "b")
        let text = try #require(throws: DatabaseError.self) { try queue.vacuum(into: path) }
        #expect(text.resultCode == .SQLITE_NOTADB)
        #expect(text.message == "file is not a database")
        try #expect(Self.size(path) == 9)
        try FileManager.default.removeItem(atPath: path)
        try queue.vacuum(into: path)
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (3, 0)") }
        let error = try #require(throws: DatabaseError.self) { try queue.vacuum(into: path) }
        #expect(error.resultCode == .SQLITE_ERROR)
        #expect(error.message == "output file already exists")
        #expect(error.sql == "VACUUM INTO ?")
        try #expect(DatabaseQueue(path: path).read { db in try db.integers("SELECT a FROM t") } == [1, 2])
        let missing = try #require(throws: DatabaseError.self) { try queue.vacuum(into: folder.path("no/b")) }
        #expect(missing.resultCode == .SQLITE_CANTOPEN)
        #expect(missing.message == "unable to open database: \(folder.path("no/b"))")
        try #expect(folder.fileNames() == ["a.sqlite", "b"])
        try queue.inDatabase { db in try #expect(db.isUsable()) }
    }

    @Test("A path with a NUL is written to nowhere, rather than to what stands before the NUL")
    func nul() throws {
        let folder = try TemporaryFolder()
        let queue = try Self.queue(folder)
        #expect(throws: DatabaseError.self) { try queue.vacuum(into: folder.path("b\0c")) }
        try #expect(folder.fileNames() == ["a.sqlite"])
    }
}
