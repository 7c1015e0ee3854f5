import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

    @Test(
        "vacuum(into:) writes a copy to a new or an empty file",
        arguments: ["b.sqlite", "a'b \"c\" ü?.sqlite"])
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
        try #expect(Set(folder.openFiles()) == [folder.path("a.sqlite")])
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
        expectError("there is a NUL character in the path") { try queue.vacuum(into: folder.path("b\0c")) }
        try #expect(folder.fileNames() == ["a.sqlite"])
    }
}
