import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Errors of SQL functions")
struct FunctionErrorTests {
    static let boom = DatabaseFunction("boom", argumentCount: 1) { values in
        if let number = Int.fromDatabaseValue(values[0]), number < 0 { throw Boom(number) }
        return values[0]
    }

    /// A way to execute the function with -7.
    enum Way: String, CaseIterable, Sendable, Codable {
        case execute, many, statement, fetchAll, fetchOne, fetchSet, cursor, trigger, check, index, generated
        case view, subquery, order

        func run(_ db: Database) throws {
            switch self {
            case .execute: try db.execute(sql: "SELECT boom(-7)")
            case .many: try db.execute(sql: "SELECT boom(1); SELECT boom(-7); SELECT boom(-8)")
            case .statement: try db.makeStatement(sql: "SELECT boom(?)").execute(arguments: [-7])
            case .fetchAll: _ = try Int.fetchAll(db, sql: "SELECT boom(-a) FROM t WHERE a = 7")
            case .fetchOne: _ = try Int.fetchOne(db, sql: "UPDATE t SET a = boom(-a) RETURNING a")
            case .fetchSet: _ = try Int.fetchSet(db, sql: "SELECT boom(-7)")
            case .cursor:
                let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT boom(-a) FROM t")
                #expect(try cursor.next() == 1)
                _ = try cursor.next()
            case .trigger:
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER tr AFTER INSERT ON t
                        BEGIN INSERT INTO u VALUES (1); SELECT boom(-new.a); END
                        """)
                try db.execute(sql: "INSERT OR IGNORE INTO t VALUES (7)")
            case .check:
                try db.execute(sql: "CREATE TEMP TABLE c (a CHECK (boom(a) > 0)); INSERT INTO c VALUES (-7)")
            case .index: try db.execute(sql: "CREATE INDEX i ON t (pure(-a))")
            case .generated:
                try db.execute(
                    sql: "CREATE TEMP TABLE g (a, b AS (pure(a)) STORED); INSERT INTO g VALUES (-7)")
            case .view:
                try db.execute(sql: "CREATE TEMP VIEW v AS SELECT boom(-a) AS b FROM t; SELECT * FROM v")
            case .subquery: try db.execute(sql: "DELETE FROM t WHERE a IN (SELECT boom(-a) FROM t)")
            case .order: try db.execute(sql: "SELECT a FROM t ORDER BY boom(-a)")
            }
        }
    }

    @Test("The error that a function throws is the one that its caller gets", arguments: Way.allCases)
    func thrown(_ way: Way) throws {
        let pure = DatabaseFunction("pure", argumentCount: 1, pure: true) { values in
            if let number = Int.fromDatabaseValue(values[0]), number < 0 { throw Boom(number) }
            return values[0]
        }
        try DatabaseFunctionTests.queue(Self.boom, pure).inDatabase { db in
            try db.execute(sql: "DELETE FROM t; INSERT INTO t VALUES (7); CREATE TABLE u (a)")
            let error = #expect(throws: Boom.self) { try way.run(db) }
            #expect(error == Boom(-7))
            try #expect(db.integers("SELECT a FROM t UNION ALL SELECT a FROM u") == [7])
            try #expect(db.isUsable())
        }
    }

    @Test("A DatabaseError thrown by a function keeps its code and its message", arguments: ResultCode.thrown)
    func databaseError(_ code: ResultCode) throws {
        let function = DatabaseFunction("f", argumentCount: 0) { _ in
            throw DatabaseError(resultCode: code, message: "mine", sql: "SELECT 'elsewhere'")
        }
        let queue = try DatabaseFunctionTests.queue(function)
        try queue.inDatabase { db in
            let error = try #require(throws: DatabaseError.self) { try Int.fetchAll(db, sql: "SELECT f()") }
            #expect(error.extendedResultCode == code)
            #expect(error.message == "mine")
            #expect(error.sql == "SELECT 'elsewhere'")
            try #expect(db.isUsable())
        }
        // In a transaction, too, and the connection writes afterwards.
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO t VALUES (4)")
                try db.execute(sql: "UPDATE t SET a = f()")
            }
        }
        #expect(error?.extendedResultCode == code)
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (5)") }
        try #expect(queue.inDatabase { db in try db.integers("SELECT a FROM t") } == [1, 2, 3, 5])
    }

    @Test("A function that fails in a transaction undoes its statement, and nothing else")
    func undoes() throws {
        let fills = DatabaseFunction("fills", argumentCount: 0) { _ in
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "another disk is full")
        }
        try DatabaseFunctionTests.queue(Self.boom, fills).write { db in
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            #expect(throws: Boom(-4)) { try db.execute(sql: "UPDATE t SET a = boom(-a) WHERE a > 3") }
            expectError("another disk is full") { try db.execute(sql: "UPDATE t SET a = fills()") }
            #expect(db.isInsideTransaction)
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 4])
        }
    }

    @Test("A function that runs a statement which fails throws that statement's error")
    func nested() throws {
        let queue = try DatabaseFunctionTests.queue(Self.boom)
        let nested = DatabaseFunction("nested", argumentCount: 1) { [unowned queue] values in
            try queue.unsafeReentrantWrite { db in
                try Int.fetchOne(db, sql: "SELECT boom(?)", arguments: [values[0]])
            }
        }
        let constraint = DatabaseFunction("insert_null", argumentCount: 0) { [unowned queue] _ in
            try queue.unsafeReentrantWrite { db in
                try db.execute(sql: "INSERT INTO n VALUES (NULL)")
                return nil
            }
        }
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE n (a NOT NULL)")
            try db.add(function: nested)
            try db.add(function: constraint)
            try #expect(value(db, "SELECT nested(5)") == 5)
            #expect(throws: Boom(-5)) { try value(db, "SELECT nested(-5)") }
            #expect(throws: Boom(-3)) { try Int.fetchAll(db, sql: "SELECT nested(-a) FROM t WHERE a = 3") }
            let error = try #require(throws: DatabaseError.self) { try value(db, "SELECT insert_null()") }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_NOTNULL)
            #expect(error.sql == "INSERT INTO n VALUES (NULL)")
            try #expect(db.isUsable())
        }
    }

    @Test("An error that a function swallowed does not appear again")
    func swallowed() throws {
        let queue = try DatabaseFunctionTests.queue(Self.boom)
        let swallow = DatabaseFunction("swallow", argumentCount: 0) { [unowned queue] _ in
            try? queue.unsafeReentrantWrite { db in try db.execute(sql: "SELECT boom(-1)") }
            return 0
        }
        try queue.inDatabase { db in
            try db.add(function: swallow)
            try #expect(value(db, "SELECT swallow()") == 0)
            for sql in ["SELECT swallow() + abs(?)", "SELECT abs(? + swallow())"] {
                let error = try #require(throws: DatabaseError.self) { try value(db, sql, [Int64.min]) }
                #expect(error.message == "integer overflow")
            }
            let outer = try Int.fetchCursor(db, sql: "SELECT swallow() + a FROM t")
            try #expect(outer.next() == 1)
            #expect(throws: Boom(-2)) { try value(db, "SELECT boom(-2)") }
            let error = try #require(throws: DatabaseError.self) {
                try value(db, "SELECT abs(?)", [Int64.min])
            }
            #expect(error.message == "integer overflow")
            try #expect(Array(outer) == [2, 3])
            try #expect(db.isUsable())
        }
    }

    @Test(
        "A DatabaseError without SQL that a function throws gets that of its statement",
        arguments: [true, false])
    func sqlOfStatement(isPublic: Bool) throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = isPublic
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.add(
                function: DatabaseFunction("f", argumentCount: 1) { _ in
                    throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "mine")
                })
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchAll(db, sql: "SELECT f(?)", arguments: [7])
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT)
            #expect(error?.message == "mine")
            #expect(error?.sql == "SELECT f(?)")
            #expect(
                error?.description == "SQLite error 19: mine - while executing `SELECT f(?)`"
                    + (isPublic ? " with arguments [7]" : ""))
        }
    }

    // MARK: - Letting go

    /// Does something when it is freed.
    private final class Last: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
        deinit { work() }
    }

    /// A way in which SQLite lets go of a function, or of a collation.
    enum LettingGo: String, CaseIterable { case replaced, removed, refused, closed, freed }

    @Test(
        "What a function or a collation holds may use the connection when it is freed",
        arguments: RecordStyle.each(LettingGo.allCases), [true, false])
    func lettingGo(_ first: (style: RecordStyle, way: LettingGo), isCollation: Bool) throws {
        try lettingGo(first.style.hero, first.way, isCollation: isCollation)
    }

    private func lettingGo<Hero: HeroRecord>(_: Hero.Type, _ way: LettingGo, isCollation: Bool) throws {
        let heard = Shared<[String]>([])
        let hero = Hero("Arthur")
        nonisolated(unsafe) let record = hero  // all of this happens on one thread
        var queue: DatabaseQueue? = try DatabaseQueue.withHeroes()
        func add(_ body: @escaping @Sendable () -> Int, _ db: Database) throws {
            if isCollation {
                try db.add(
                    collation: DatabaseCollation("f") { _, _ in body() == 1 ? .orderedAscending : .orderedSame
                    })
            } else {
                try db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in body() })
            }
        }
        let sql = isCollation ? "SELECT 'a' < 'b' COLLATE f" : "SELECT f()"
        try queue?.inDatabase { db in
            let last = Last { [unowned db] in
                do {
                    heard.append("\(try Int.fetchOne(db, sql: sql) ?? -1)")
                } catch { heard.append("\(error)") }
                record.hasDatabaseChanges = false
                record.hasDatabaseChanges = true
                heard.append("\(Database.accessed.count { $0 === db })")
            }
            try add({ withExtendedLifetime(last) { 1 } }, db)
            #expect(try Int.fetchOne(db, sql: sql) == 1)
        }
        switch way {
        case .replaced: try queue?.inDatabase { db in try add({ 0 }, db) }
        case .removed:
            try queue?.inDatabase { db in
                if isCollation {
                    try db.remove(collation: DatabaseCollation("f") { _, _ in .orderedSame })
                } else {
                    try db.remove(function: DatabaseFunction("f", argumentCount: 0) { _ in nil })
                }
            }
        case .refused:
            try queue?.inDatabase { db in
                // The name is too long: SQLite destroys what it has refused.
                let last = Last { [unowned db] in
                    heard.append("refused \((try? Int.fetchOne(db, sql: sql)) ?? -1)")
                }
                expectError(containing: "cannot be added: its name must have at most 255 bytes") {
                    try db.add(
                        function: DatabaseFunction(String(repeating: "f", count: 300), argumentCount: 0) {
                            _ in
                            withExtendedLifetime(last) { 2 }
                        })
                }
            }
            #expect(heard.value == ["refused 1"])
            return
        case .closed: try queue?.close()
        case .freed: queue = nil
        }
        let expected =
            switch way {
            case .replaced: ["0", "1"]
            case .removed:
                isCollation
                    ? ["SQLite error 1: no such collation sequence: f - while executing `\(sql)`", "1"]
                    : ["SQLite error 1: no such function: f - while executing `\(sql)`", "1"]
            default: ["SQLite error 21: the database test is closed", "0"]
            }
        #expect(heard.value == expected)
    }

    @Test("What an aggregate holds is freed inside of its statement", arguments: [true, false])
    func aggregate(fails: Bool) throws {
        struct Keeping: DatabaseAggregate {
            @TaskLocal static var make: (@Sendable () -> Void)?
            @TaskLocal static var fails = false
            let last = Last { make?() }
            mutating func step(_ values: [DatabaseValue]) throws { if Self.fails { throw Boom(1) } }
            func finalize() throws -> (any DatabaseValueConvertible)? { nil }
        }
        let depths = Shared<[Int]>([])
        try DatabaseQueue().inDatabase { db in
            try db.add(function: DatabaseFunction("keeping", argumentCount: 1, aggregate: Keeping.self))
            Keeping.$fails.withValue(fails) {
                Keeping.$make.withValue({ [unowned db] in depths.append(db.callbackDepth) }) {
                    _ = try? Int.fetchAll(db, sql: "SELECT keeping(value) FROM json_each('[1, 2]')")
                }
            }
            #expect(depths.value == [1])
            #expect(db.callbackDepth == 0)
        }
    }
}

extension ResultCode {
    /// Codes that a function may throw. None of them is an error of the connection that calls it.
    fileprivate static let thrown: [ResultCode] = [
        .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_BUSY, .SQLITE_MISUSE,
        .SQLITE_CORRUPT, .SQLITE_FULL, .SQLITE_IOERR_READ, .SQLITE_NOMEM, .SQLITE_SCHEMA, .SQLITE_INTERRUPT,
        .SQLITE_TOOBIG, .SQLITE_READONLY, .SQLITE_DONE, .SQLITE_OK,
    ]
}
