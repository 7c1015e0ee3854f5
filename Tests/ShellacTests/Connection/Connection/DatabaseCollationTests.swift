import TestSupport
import Testing

@testable import Shellac

@Suite("Collations in Swift")
struct DatabaseCollationTests {
    /// Shorter texts first.
    static let length = DatabaseCollation("length") { a, b in
        let (x, y) = (a.utf8.count, b.utf8.count)
        return x == y ? .orderedSame : x < y ? .orderedAscending : .orderedDescending
    }

    static func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.add(collation: length)
            try db.execute(
                sql: "CREATE TABLE t (a COLLATE length); INSERT INTO t VALUES ('ccc'), ('bb'), ('a'), ('')")
        }
        return queue
    }

    @Test("ORDER BY, DISTINCT, comparisons and max follow the collation")
    func order() throws {
        try Self.queue().inDatabase { db in
            try #expect(String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["", "a", "bb", "ccc"])
            try #expect(String.fetchAll(db, sql: "SELECT a FROM t WHERE a > 'z'") == ["ccc", "bb"])
            try #expect(String.fetchOne(db, sql: "SELECT max(a) FROM t") == "ccc")
            try #expect(Int.fetchOne(db, sql: "SELECT 'x' = 'y' COLLATE LENGTH") == 1)
            try #expect(
                Int.fetchOne(db, sql: "SELECT ? = ? COLLATE length", arguments: ["a\0b", "xyz"]) == 1)
            try #expect(Int.fetchOne(db, sql: "SELECT ? = ? COLLATE length", arguments: ["é", "xy"]) == 1)
        }
    }

    @Test("A name with a NUL is refused, rather than cut off in front of it")
    func nulInName() throws {
        let collation = DatabaseCollation("len\0gth") { _, _ in .orderedSame }
        let queue = try DatabaseQueue()
        let error = databaseError { try queue.inDatabase { try $0.add(collation: collation) } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "there is a NUL character in the name of the collation")
        let cut = databaseError {
            try queue.inDatabase { try $0.execute(sql: "SELECT 'a' = 'b' COLLATE len") }
        }
        #expect(cut?.message == "no such collation sequence: len")
    }

    @Test("A UNIQUE index follows the collation")
    func unique() throws {
        try Self.queue().inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX i ON t (a)")
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["xx"])
            }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error.message == "UNIQUE constraint failed: t.a")
            try db.execute(sql: "INSERT INTO t VALUES ('four')")
            try #expect(String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
    }

    @Test("Without its collation, a statement says which one is missing; added again, all works")
    func removing() throws {
        try Self.queue().inDatabase { db in
            let sql = "SELECT a FROM t ORDER BY a"
            let before = try String.fetchAll(db, sql: sql)
            try db.remove(collation: Self.length)
            for _ in 1...2 {
                let error = try #require(throws: DatabaseError.self) { try String.fetchAll(db, sql: sql) }
                #expect(error.resultCode == .SQLITE_ERROR)
                #expect(error.message == "no such collation sequence: length")
                #expect(error.sql == sql)
            }
            try #expect(db.isUsable())
            try db.remove(collation: Self.length)
            try db.add(collation: Self.length)
            try #expect(String.fetchAll(db, sql: sql) == before)
        }
    }

    @Test("A collation of the same name is replaced, and what the old one held is let go of")
    func replacing() throws {
        final class Held: Sendable {}
        weak var held: Held?
        try Self.queue().inDatabase { db in
            let make = {
                let strong = Held()
                held = strong
                return DatabaseCollation("c") { _, _ in "\(strong)".isEmpty ? .orderedSame : .orderedAscending
                }
            }
            try db.add(collation: make())
            #expect(held != nil)
            try db.add(collation: DatabaseCollation("C") { _, _ in .orderedSame })
            #expect(held == nil)
            try #expect(Int.fetchOne(db, sql: "SELECT 'x' = 'yy' COLLATE c") == 1)
        }
    }

    @Test("A collation is not replaced or removed while a statement runs")
    func busy() throws {
        try Self.queue().inDatabase { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT a FROM t ORDER BY a")
            _ = try cursor.next()
            for change in [{ try db.add(collation: Self.length) }, { try db.remove(collation: Self.length) }]
                as [() throws -> Void]
            {
                let error = try #require(throws: DatabaseError.self) { try change() }
                #expect(error.resultCode == .SQLITE_BUSY)
                #expect(
                    error.message == "unable to delete/modify collation sequence due to active statements")
            }
            try #expect(Array(cursor) == ["a", "bb", "ccc"])
        }
    }
}
