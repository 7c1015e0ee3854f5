import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Statements")
struct StatementTests {
    static func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        }
        return queue
    }

    static let busy = "the statement is running: make another for a second use at the same time"

    // MARK: - Preparing

    @Test("A statement knows its SQL, its parameters, its columns and whether it writes")
    func properties() throws {
        try Self.queue().inDatabase { db in
            let select = try db.makeStatement(
                sql: "\n SELECT a, a AS \"x y\", a + 1 FROM t WHERE a > :low; ;\n")
            #expect(select.sql == "SELECT a, a AS \"x y\", a + 1 FROM t WHERE a > :low")
            #expect(select.columnNames == ["a", "x y", "a + 1"])
            #expect(select.columnCount == 3)
            #expect(select.parameterNames == ["low"])
            #expect(select.isReadonly)
            #expect("\(select)" == "Statement(`\(select.sql)`)")
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (? || :a || @b || $c || ?9 || :a)")
            #expect(insert.parameterNames == [nil, "a", "b", "c", nil, nil, nil, nil, nil])
            #expect(insert.columnNames == [])
            #expect(insert.columnCount == 0)
            #expect(!insert.isReadonly)
            let returning = try db.makeStatement(sql: "DELETE FROM t RETURNING a AS gone")
            #expect(returning.columnNames == ["gone"])
            #expect(!returning.isReadonly)
        }
    }

    @Test("A statement knows that it changes what others do to rows")
    func rules() throws {
        try Self.queue().inDatabase { db in
            for (sql, changesRules) in [
                ("PRAGMA foreign_keys = OFF", true), ("PRAGMA Recursive_Triggers(1)", true),
                ("PRAGMA foreign_keys", false), ("PRAGMA user_version = 1", false),
            ] {
                try #expect(db.makeStatement(sql: sql).effects.changesRules == changesRules, "\(sql)")
            }
        }
    }

    @Test("There is one statement in the SQL of a statement", arguments: [true, false])
    func oneStatement(isCached: Bool) throws {
        try Self.queue().inDatabase { db in
            func make(_ sql: String) throws -> Statement {
                isCached ? try db.cachedStatement(sql: sql) : try db.makeStatement(sql: sql)
            }
            for sql in ["", "  ", ";", "-- a", "/* a"] {
                let error = try #require(throws: DatabaseError.self) { try make(sql) }
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(error.message == "there is no statement in the SQL")
                #expect(error.sql == sql)
            }
            for sql in ["SELECT 1; SELECT 2", "SELECT 1; garbage", "SELECT 1;'", "SELECT 1; /* */ SELECT 2"] {
                let error = try #require(throws: DatabaseError.self) { try make(sql) }
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(
                    error.message
                        == "there is more than one statement in the SQL: "
                        + "use execute(sql:) or allStatements(sql:) for several")
                #expect(error.sql == sql)
            }
            for sql in [
                "SELECT 1;", " SELECT 1 ; ;; ", "SELECT 1; -- a", "SELECT 1;\n/* a */;", "SELECT 1;/* a",
            ] {
                try #expect(Int.fetchOne(make(sql)) == 1)
            }
            try #expect(db.isUsable())
        }
    }

    @Test(
        "What does not prepare throws SQLite's error, with the offset in bytes",
        arguments: [
            ("SELECT nope FROM t", "no such column: nope", 7),
            ("SELECT 1 FROM nope", "no such table: nope", nil),
            ("SELECT '😀', nope FROM t", "no such column: nope", 15),
            ("SELEKT 1", "near \"SELEKT\": syntax error", 0),
            ("SELECT 'é", "unrecognized token: \"'é\"", 7),
            ("SELECT (1", "incomplete input", nil),
            ("INSERT INTO t (b) VALUES (1)", "table t has no column named b", nil),
            ("SELECT nope(1)", "no such function: nope", 7),
            ("SELECT a FROM t ORDER BY a COLLATE nope", "no such collation sequence: nope", nil),
            ("SELECT ?250001", "variable number must be between ?1 and ?250000", 7),
        ] as [(String, String, Int?)])
    func preparing(_ sql: String, _ message: String, _ offset: Int?) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) { try db.makeStatement(sql: sql) }
            #expect(error.resultCode == .SQLITE_ERROR)
            #expect(error.message == message)
            #expect(error.sql == sql)
            #expect(error.arguments == nil)
            #expect(error.offset == offset)
            #expect(error.description == "SQLite error 1: \(message) - while executing `\(sql)`")
            try #expect(db.isUsable())
        }
    }

    // MARK: - Arguments

    @Test("Arguments that were bound are used again")
    func reuse() throws {
        try Self.queue().inDatabase { db in
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (:a)")
            try insert.setArguments(["a": 10])
            try insert.execute()
            try insert.execute(arguments: [11])
            try insert.execute()
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 10, 11, 11])
            let select = try db.makeStatement(sql: "SELECT a FROM t WHERE a = ?")
            try #expect(Int.fetchAll(select, arguments: [11]) == [11, 11])
            try #expect(Int.fetchSet(select) == [11])
            try #expect(Int.fetchOne(select) == 11)
            try #expect(Int.fetchCursor(select).next() == 11)
        }
    }

    @Test("Values of known types are the arguments of a literal")
    func values() throws {
        let date = Date(timeIntervalSince1970: 0)
        let values = StatementArguments.values(1, "a", 1.5, Data([1]), date, nil as Int?, true)
        #expect(values == [1, "a", 1.5, Data([1]), date, nil, true])
        #expect(StatementArguments.values() == [] && StatementArguments.values().isEmpty)
        #expect(StatementArguments.values("a") == ["a"])
        try Self.queue().inDatabase { db in
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (? + ?)")
            for number in 4...6 { try statement.execute(arguments: .values(number, 10)) }
            try #expect(Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2, 3, 14, 15, 16])
            #expect(statement.arguments == [6, 10])
            expectError("wrong number of arguments: 1 for 2 parameters") {
                try statement.execute(arguments: .values(1))
            }
            try #expect(Int.fetchOne(db, sql: "SELECT ? + :b", arguments: .values(1, 2)) == 3)
        }
    }

    @Test("Without arguments, ever, a statement with parameters does not run")
    func neverBound() throws {
        try Self.queue().inDatabase { db in
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            for _ in 1...2 {
                let error = try #require(throws: DatabaseError.self) { try insert.execute() }
                #expect(error.message == "wrong number of arguments: 0 for 1 parameters")
            }
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3])
        }
    }

    @Test("Arguments that do not fit leave those bound before")
    func refusedArguments() throws {
        try Self.queue().inDatabase { db in
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            try insert.setArguments([10])
            for arguments in [[], [1, 2], ["a": 1]] as [StatementArguments] {
                let error = try #require(throws: DatabaseError.self) { try insert.setArguments(arguments) }
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(error.arguments == arguments)
            }
            try insert.execute()
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 10])
        }
    }

    @Test("A cached statement does not run with the arguments of whoever used it before")
    func cachedArguments() throws {
        try Self.queue().inDatabase { db in
            let sql = "INSERT INTO t VALUES (?)"
            try db.cachedStatement(sql: sql).execute(arguments: ["a secret"])
            expectError("wrong number of arguments: 0 for 1 parameters") {
                try db.cachedStatement(sql: sql).execute()
            }
            try #expect(db.integers("SELECT a FROM t WHERE a <> 'a secret'") == [1, 2, 3])
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 4)
        }
    }

    // MARK: - A statement that runs

    @Test("A statement that runs cannot be used a second time, and goes on undisturbed")
    func running() throws {
        try Self.queue().inDatabase { db in
            let statement = try db.makeStatement(sql: "SELECT a FROM t WHERE a > ?")
            let cursor = try Int.fetchCursor(statement, arguments: [0])
            try #expect(cursor.next() == 1)
            for use in [
                { try statement.execute() }, { try statement.execute(arguments: [1]) },
                { try statement.setArguments([1]) }, { _ = try Int.fetchAll(statement) },
                { _ = try Int.fetchOne(statement) }, { _ = try Int.fetchSet(statement) },
            ] as [() throws -> Void] {
                let error = try #require(throws: DatabaseError.self) { try use() }
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(error.message == Self.busy)
                #expect(error.sql == statement.sql)
            }
            try #expect(Array(cursor) == [2, 3])
            try #expect(cursor.next() == nil)
            try #expect(Int.fetchAll(statement) == [1, 2, 3])
        }
    }

    @Test("A second cursor of a statement that runs is an error, and does not end the first one")
    func secondCursor() throws {
        try Self.queue().inDatabase { db in
            let statement = try db.makeStatement(sql: "SELECT a FROM t")
            let cursor = try Int.fetchCursor(statement)
            try #expect(cursor.next() == 1)
            let error = try #require(throws: DatabaseError.self) { try Int.fetchCursor(statement) }
            #expect(error.message == Self.busy)
            try #expect(cursor.next() == 2)
            try #expect(cursor.next() == 3)
            try #expect(cursor.next() == nil)
        }
    }

    @Test("A statement can be used again after its cursor has ended, failed, or gone")
    func usedAgain() throws {
        try Self.queue().inDatabase { db in
            let statement = try db.makeStatement(sql: "SELECT a FROM t")
            do {
                let cursor = try Int.fetchCursor(statement)
                _ = try cursor.next()
            }
            try #expect(Int.fetchAll(statement) == [1, 2, 3])
            let cursor = try Int.fetchCursor(statement)
            while try cursor.next() != nil {}
            try #expect(Int.fetchAll(statement) == [1, 2, 3])
            try #expect(cursor.next() == nil)
            let failing = try db.makeStatement(sql: "SELECT abs(?)")
            let error = try #require(throws: DatabaseError.self) {
                try Int.fetchAll(failing, arguments: [Int64.min])
            }
            #expect(error.message == "integer overflow")
            #expect(error.arguments == [Int64.min])
            #expect(error.offset == nil)
            try #expect(Int.fetchAll(failing, arguments: [-1]) == [1])
            try #expect(db.isUsable())
        }
    }

    @Test("A cursor that has failed has ended")
    func failedCursor() throws {
        try Self.queue().inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES (?), (4)", arguments: [Int64.min])
            let cursor = try Int.fetchCursor(db, sql: "SELECT abs(a) FROM t")
            try #expect([cursor.next(), cursor.next(), cursor.next()] == [1, 2, 3])
            let error = try #require(throws: DatabaseError.self) { try cursor.next() }
            #expect(error.message == "integer overflow")
            try #expect(cursor.next() == nil)
            try #expect(cursor.next() == nil)
            try #expect(db.isUsable())
        }
    }

    // MARK: - Beyond the access

    /// The SQL of the statements that SQLite knows of a connection.
    static func statements(_ db: Database) -> [String] {
        var found: [String] = []
        var statement = sqlite3_next_stmt(db.pointer, nil)
        while let pointer = statement {
            found.append(sqlite3_sql(pointer).map { String(cString: $0) } ?? "")
            statement = sqlite3_next_stmt(db.pointer, pointer)
        }
        return found
    }

    @Test("A statement let go of after its access, on another thread, is finalized by the next access")
    func freedLater() throws {
        let queue = try Self.queue()
        for _ in 1...20 {
            nonisolated(unsafe) var kept: Statement? = try queue.inDatabase { db in
                try db.makeStatement(sql: "SELECT a FROM t -- kept")
            }
            #expect(kept != nil)
            try OwnThread.run { kept = nil }
            try queue.inDatabase { db in #expect(Self.statements(db) == []) }
        }
    }

    @Test("A cursor let go of after its access holds no lock after the next access has begun")
    func cursorFreedLater() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        let other = try DatabaseQueue(path: folder.path("a.sqlite"))
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        }
        nonisolated(unsafe) var cursor: DatabaseCursor<Int>? = try queue.inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try cursor.next()
            return cursor
        }
        #expect(cursor != nil)
        try OwnThread.run { cursor = nil }
        try queue.inDatabase { db in
            #expect(db.lastBegun == nil)
            try #expect(Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2, 3])
        }
        try other.write { db in try db.execute(sql: "DELETE FROM t") }
        try #expect(queue.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [])
    }

    @Test("Statements let go of by many threads, while others use the connection, are all finalized")
    func freedByMany() async throws {
        let queue = try Self.queue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        let kept = try queue.inDatabase { db in
                            let statement = try db.makeStatement(
                                sql: "SELECT a + \(number * 100 + round) FROM t")
                            return Unmanaged.passRetained(statement)
                        }
                        kept.release()
                    }
                }
            }
            try await group.waitForAll()
        }
        try queue.inDatabase { db in #expect(Self.statements(db) == []) }
    }

    @Test("A statement that outlives its queue keeps the file open until it is let go of")
    func outlivesQueue() throws {
        let folder = try TemporaryFolder()
        var queue: DatabaseQueue? = try DatabaseQueue(path: folder.path("a.sqlite"))
        var statement: Statement? = try queue?.inDatabase { db in try db.makeStatement(sql: "SELECT 1") }
        try #expect(folder.openFiles() != [])
        queue = nil
        #expect(statement != nil)
        statement = nil
        try #expect(folder.openFiles() == [])
    }

    @Test("Using a statement, its cursor, or the statements of an SQL text outside of the access traps")
    func outside() async throws {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let statement = try queue.inDatabase { db in try db.makeStatement(sql: "SELECT 1") }
            try statement.execute()
        }
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let cursor = try queue.inDatabase { db in try Int.fetchCursor(db, sql: "SELECT 1") }
            _ = try cursor.next()
        }
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let statements = try queue.inDatabase { db in try db.allStatements(sql: "SELECT 1") }
            _ = try statements.next()
        }
    }
}
