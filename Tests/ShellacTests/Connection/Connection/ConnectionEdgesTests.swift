import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Statements, traces and backups that are left before their end, and connections that are used by
/// C.
@Suite("Connections at their edges")
struct ConnectionEdgesTests {
    private static func foreignKeys() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE p (id INTEGER PRIMARY KEY);
                    CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED);
                    """)
        }
        return queue
    }

    @Test("The commit of a statement whose rows are not read to the end does not fail in silence")
    func forgottenCommit() throws {
        let queue = try Self.foreignKeys()
        let error = #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { db in
                _ = try Int.fetchCursor(db, sql: "INSERT INTO c (p) VALUES (99) RETURNING id").next()
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        var cursor: DatabaseCursor<Int>?
        expectError("FOREIGN KEY constraint failed") {
            try queue.writeWithoutTransaction { db in
                cursor = try Int.fetchCursor(db, sql: "INSERT INTO c (p) VALUES (99) RETURNING id")
                _ = try cursor?.next()
            }
        }
        #expect(cursor != nil)
        try queue.read { db in try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM c") == 0) }
    }

    @Test(
        "A rollback inside a scope whose transaction is lost lets nothing run outside of it", .behaviour(45))
    func rollbackInLostScope() throws {
        let queue = try Self.foreignKeys()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO p VALUES (1)")
                do { try db.execute(sql: "INSERT OR ROLLBACK INTO p VALUES (1)") } catch { try db.rollback() }
                try db.execute(sql: "INSERT INTO p VALUES (2)")
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
        try queue.read { db in try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM p") == 0) }
    }

    @Test("An event of a trace that was kept shows the SQL without values")
    func keptEvent() throws {
        nonisolated(unsafe) var events: [TraceEvent] = []
        do {
            let queue = try DatabaseQueue()
            try queue.inDatabase { db in
                db.trace { event in events.append(event) }
                try db.execute(sql: "SELECT ?", arguments: [17])
            }
        }
        #expect(events.map(\.expandedSQL) == ["SELECT ?"])
    }

    @Test("Of two backups in opposite directions, the second one throws")
    func oppositeBackups() throws {
        let (a, b) = (try Self.foreignKeys(), try Self.foreignKeys())
        var error: DatabaseError?
        try a.backup(to: b, pagesPerStep: 1) { progress in
            guard error == nil else { return }
            error = #expect(throws: DatabaseError.self) { try b.backup(to: a) }
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try b.backup(to: a)
    }

    @Test(
        "The code of an error thrown by a function does not reach SQLite", arguments: [9, 10, 13, 17, 5, 19])
    func functionCodes(_ code: Int32) throws {
        nonisolated(unsafe) var calls = 0
        let thrown = DatabaseError(resultCode: ResultCode(rawValue: code), message: "of another database")
        try DatabaseQueue().write { db in
            try db.add(
                function: DatabaseFunction("f", argumentCount: 0) { _ in
                    calls += 1
                    throw thrown
                })
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "UPDATE t SET a = f()") }
            #expect(error?.resultCode == thrown.resultCode)
            #expect(error?.message == thrown.message)
            #expect(error?.sql == "UPDATE t SET a = f()")
            #expect(calls == 1)
            #expect(db.isInsideTransaction)
        }
    }

    @Test(
        "The date of a statement outside of a transaction ends with the access that forgot its cursor",
        .behaviour(32))
    func forgottenDate() throws {
        nonisolated(unsafe) var now = 0.0
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in
            now += 1
            return Date(timeIntervalSince1970: now)
        }
        let queue = try DatabaseQueue(configuration: configuration)
        var cursor: DatabaseCursor<Int>?
        try queue.inDatabase { db in
            cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            _ = try cursor?.next()
            _ = try db.transactionDate
        }
        try queue.inDatabase { db in try #expect(db.transactionDate != db.transactionDate) }
        #expect(cursor != nil)
    }

    @Test("A transaction opened by the C interface is not left open")
    func foreignTransaction() throws {
        let queue = try Self.foreignKeys()
        expectError(
            "a transaction was still open at the end of an access to :memory:, and was rolled back: commit "
                + "it inside the access, or use write or inTransaction, which commit it"
        ) {
            try queue.inDatabase { db in
                let connection = try #require(db.sqliteConnection)
                // Not by Shellac: its log does not notice.
                #expect(sqlite3_exec(connection, "BEGIN", nil, nil, nil) == SQLITE_OK)
            }
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO p VALUES (1)") }
    }

    @Test("The first element of a temporary cursor can be kept")
    func first() throws {
        try DatabaseQueue().read { db in
            let row = try Row.fetchCursor(db, sql: "SELECT 7 AS a").first { _ in true }
            try #expect(row?["a"] == 7)
        }
    }

    @Test("A large argument of a kept statement is freed at the end of its access")
    func largeArguments() throws {
        let queue = try DatabaseQueue()
        let sql = "SELECT length(?)"
        try queue.read { db in
            let blob = Data(count: 1_000_000)
            try #expect(Int.fetchOne(db, sql: sql, arguments: [blob]) == 1_000_000)
            #expect(db.statementCache.mayHoldLargeValues)
        }
        try queue.read { db in
            #expect(!db.statementCache.mayHoldLargeValues)
            try #expect(db.cachedStatement(sql: sql).boundArguments.isEmpty)
        }
    }

    @Test("Queues and statements may be freed by different threads at the same time")
    func freedAtTheSameTime() throws {
        /// Each of its two properties is released by its own thread.
        final class Shared: @unchecked Sendable {
            var queue: DatabaseQueue?
            var statements: [Statement]

            init() throws {
                let queue = try DatabaseQueue()
                statements = try queue.read { db in
                    try (0..<50).map { try db.makeStatement(sql: "SELECT \($0)") }
                }
                self.queue = queue
            }
        }
        for _ in 0..<200 {
            let shared = try Shared()
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 { shared.statements = [] } else { shared.queue = nil }
            }
            #expect(shared.queue == nil)
        }
    }
}
