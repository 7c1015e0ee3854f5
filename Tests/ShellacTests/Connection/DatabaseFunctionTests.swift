import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What SQL gives for a query of one value.
private func value(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws -> DatabaseValue {
    try DatabaseValue.fetchAll(db, sql: sql, arguments: arguments)[0]
}

@Suite("SQL functions in Swift")
struct DatabaseFunctionTests {
    static func queue(_ functions: DatabaseFunction...) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            for function in functions { try db.add(function: function) }
        }
        return queue
    }

    static let echo = DatabaseFunction("echo", argumentCount: 1) { $0[0] }
    static let count = DatabaseFunction("argcount") { $0.count }

    @Test(
        "Values go into a function and come out of it as they are",
        arguments: [
            .null, 0, -1, DatabaseValue(.int64(.min)), DatabaseValue(.int64(.max)), 1.5, -0.5,
            DatabaseValue(.double(.infinity)), "", "é😀", "a\0b", "\0", DatabaseValue(.blob(Data())),
            DatabaseValue(.blob(Data([0, 255, 0]))),
            DatabaseValue(.string(String(repeating: "é", count: 100_000))),
        ] as [DatabaseValue])
    func values(_ given: DatabaseValue) throws {
        try Self.queue(Self.echo).inDatabase { db in
            try #expect(value(db, "SELECT echo(?)", [given]) == given)
        }
    }

    @Test("A function returns nil, an optional, not-a-number, or any convertible value")
    func results() throws {
        let queue = try Self.queue(
            DatabaseFunction("f1") { _ in nil }, DatabaseFunction("f2") { _ in Int?.none },
            DatabaseFunction("f3") { _ in Double.nan }, DatabaseFunction("f4") { _ in true },
            DatabaseFunction("f5") { _ in "a"[...] })
        try queue.inDatabase { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT f1(), f2(), f3(), f4(), f5()"))
            #expect(Array(row.databaseValues) == [.null, .null, .null, 1, "a"])
        }
    }

    @Test("A function of any number of arguments takes up to 127", arguments: [0, 1, 2, 100, 127])
    func anyNumber(_ number: Int) throws {
        try Self.queue(Self.count).inDatabase { db in
            let list = Array(repeating: "1", count: number).joined(separator: ",")
            try #expect(value(db, "SELECT argcount(\(list))") == DatabaseValue(.int64(Int64(number))))
        }
    }

    @Test("The 128th argument is a function too much")
    func tooManyArguments() throws {
        try Self.queue(Self.count).inDatabase { db in
            let list = Array(repeating: "1", count: 128).joined(separator: ",")
            let error = try #require(throws: DatabaseError.self) { try value(db, "SELECT argcount(\(list))") }
            #expect(error.message == "too many arguments on function argcount")
            try #expect(db.isUsable())
        }
    }

    @Test("A fixed number of arguments is that number", arguments: [0, 1, 2, 127])
    func arity(_ number: Int) throws {
        try Self.queue(DatabaseFunction("f", argumentCount: number) { $0.count }).inDatabase { db in
            func call(_ count: Int) throws -> DatabaseValue {
                try value(db, "SELECT f(\(Array(repeating: "1", count: count).joined(separator: ",")))")
            }
            try #expect(call(number) == DatabaseValue(.int64(Int64(number))))
            guard number < 127 else { return }
            let error = try #require(throws: DatabaseError.self) { try call(number + 1) }
            #expect(error.message == "wrong number of arguments to function f()")
        }
    }

    @Test("A function that SQLite cannot have is refused", arguments: [-1, -2, 128, Int.max, Int.min])
    func refusedArity(_ number: Int) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.add(function: DatabaseFunction("f", argumentCount: number) { _ in 1 })
            }
            #expect(error.resultCode == .SQLITE_MISUSE)
            #expect(
                error.message
                    == "the function f cannot be added: "
                    + "its name has 255 bytes at most, and it takes 127 arguments at most")
            try #expect(db.isUsable())
        }
    }

    @Test("A name has 255 bytes at most, and no NUL")
    func names() throws {
        try Self.queue().inDatabase { db in
            let longest = String(repeating: "f", count: 255)
            try db.add(function: DatabaseFunction(longest) { _ in 1 })
            try #expect(value(db, "SELECT \(longest)()") == 1)
            for name in ["\(longest)f", String(repeating: "é", count: 128)] {
                let error = try #require(throws: DatabaseError.self) {
                    try db.add(function: DatabaseFunction(name) { _ in 1 })
                }
                #expect(error.resultCode == .SQLITE_MISUSE)
            }
            #expect(throws: DatabaseError.self) { try db.add(function: DatabaseFunction("a\0b") { _ in 1 }) }
            #expect(throws: DatabaseError.self) { try value(db, "SELECT a()") }
            try db.add(function: DatabaseFunction("größe") { _ in 2 })
            try #expect(value(db, "SELECT größe()") == 2)
            try #expect(db.isUsable())
        }
    }

    @Test("A function of the same name and number of arguments is replaced, any other is another one")
    func replacing() throws {
        try Self.queue(DatabaseFunction("f", argumentCount: 1) { _ in "old" }).inDatabase { db in
            try #expect(value(db, "SELECT f(1)") == "old")
            try db.add(function: DatabaseFunction("f", argumentCount: 2) { _ in "two" })
            try #expect(value(db, "SELECT f(1)") == "old")
            try db.add(function: DatabaseFunction("F", argumentCount: 1) { _ in "new" })
            try #expect(value(db, "SELECT f(1)") == "new")
            try #expect(value(db, "SELECT f(1, 2)") == "two")
            try db.add(function: DatabaseFunction("upper", argumentCount: 1) { _ in "mine" })
            try #expect(value(db, "SELECT upper('a')") == "mine")
        }
    }

    @Test("A removed function is gone, and what it held is let go of")
    func removing() throws {
        final class Held: Sendable {}
        weak var held: Held?
        try Self.queue().inDatabase { db in
            let function = {
                let strong = Held()
                held = strong
                return DatabaseFunction("f", argumentCount: 0) { _ in "\(type(of: strong))" }
            }
            try db.add(function: function())
            #expect(held != nil)
            try #expect(value(db, "SELECT f()") == "Held")
            db.releaseMemory()
            try db.remove(function: DatabaseFunction("f", argumentCount: 0) { _ in nil })
            #expect(held == nil)
            let error = try #require(throws: DatabaseError.self) { try value(db, "SELECT f()") }
            #expect(error.message == "no such function: f")
            try db.remove(function: DatabaseFunction("never", argumentCount: 0) { _ in nil })
            #expect(throws: DatabaseError.self) {
                try db.add(function: DatabaseFunction(String(repeating: "f", count: 256)) { [held = Held()] _ in "\(held)" })
            }
            try #expect(db.isUsable())
        }
    }

    @Test("A function is not replaced or removed while a statement runs, and the error says why")
    func busy() throws {
        let function = DatabaseFunction("f", argumentCount: 0) { _ in 1 }
        try Self.queue(function).inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT f() FROM t")
            _ = try cursor.next()
            for change in [{ try db.add(function: function) }, { try db.remove(function: function) }]
                as [() throws -> Void]
            {
                let error = try #require(throws: DatabaseError.self) { try change() }
                #expect(error.resultCode == .SQLITE_BUSY)
                #expect(error.message == "unable to delete/modify user-function due to active statements")
            }
            try #expect(Array(cursor) == [1, 1])
            try db.add(function: function)
        }
    }

    @Test("A pure function serves an index and a generated column, another one does not")
    func pure() throws {
        try Self.queue(
            DatabaseFunction("twice", argumentCount: 1, pure: true) { Int.fromDatabaseValue($0[0]).map { $0 * 2 } },
            DatabaseFunction("impure", argumentCount: 1) { $0[0] }
        ).inDatabase { db in
            try db.execute(
                sql: """
                    CREATE INDEX i ON t (twice(a));
                    CREATE TABLE g (a, b AS (twice(a)), c AS (twice(a)) STORED);
                    INSERT INTO g (a) VALUES (21), (NULL);
                    """)
            try #expect(db.integers("SELECT b FROM g UNION ALL SELECT c FROM g") == [42, nil, 42, nil])
            try #expect(db.integers("SELECT a FROM t WHERE twice(a) = 4") == [2])
            let plan = try #require(
                try Row.fetchOne(db, sql: "EXPLAIN QUERY PLAN SELECT a FROM t WHERE twice(a) = 4"))
            let detail: String = try plan["detail"]
            #expect(detail == "SEARCH t USING INDEX i (<expr>=?)")
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "CREATE INDEX j ON t (impure(a))")
            }
            #expect(error.message == "non-deterministic functions prohibited in index expressions")
            try #expect(db.isUsable())
        }
    }

    @Test("A result above SQLite's limit is an error")
    func tooBig() throws {
        try Self.queue(DatabaseFunction("f") { _ in String(repeating: "x", count: 2000) }).inDatabase { db in
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 1000)
            let error = try #require(throws: DatabaseError.self) { try value(db, "SELECT f()") }
            #expect(error.resultCode == .SQLITE_TOOBIG)
            #expect(error.message == "string or blob too big")
            try #expect(value(db, "SELECT 1") == 1)
        }
    }
}

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
                try db.execute(sql: "CREATE TEMP TABLE g (a, b AS (pure(a)) STORED); INSERT INTO g VALUES (-7)")
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
        let full = DatabaseFunction("full", argumentCount: 0) { _ in
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "another disk is full")
        }
        try DatabaseFunctionTests.queue(Self.boom, full).write { db in
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            #expect(throws: Boom(-4)) { try db.execute(sql: "UPDATE t SET a = boom(-a) WHERE a > 3") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "UPDATE t SET a = full()") }
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
            let error = try #require(throws: DatabaseError.self) { try value(db, "SELECT abs(?)", [Int64.min]) }
            #expect(error.message == "integer overflow")
            try #expect(Array(outer) == [2, 3])
            try #expect(db.isUsable())
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

@Suite("SQL aggregates in Swift")
struct DatabaseAggregateTests {
    /// The sum of integers: NULL without any. It fails on negative ones, and at the end of a sum above 1000.
    struct Sum: DatabaseAggregate {
        var sum: Int?

        mutating func step(_ values: [DatabaseValue]) throws {
            guard let number = Int.fromDatabaseValue(values[0]) else { return }
            if number < 0 { throw Boom(number) }
            sum = (sum ?? 0) + number
        }

        func finalize() throws -> (any DatabaseValueConvertible)? {
            if let sum, sum > 1000 { throw Boom(sum) }
            return sum
        }
    }

    /// Fails at its end unless it has seen the number 3.
    struct UntilThree: DatabaseAggregate {
        var isComplete = false
        mutating func step(_ values: [DatabaseValue]) throws { if values[0] == 3 { isComplete = true } }
        func finalize() throws -> (any DatabaseValueConvertible)? {
            if !isComplete { throw Boom(333) }
            return 3
        }
    }

    static let sum = DatabaseFunction("total_of", argumentCount: 1, aggregate: Sum.self)

    @Test("Without rows, an aggregate gives its result for none")
    func none() throws {
        try DatabaseFunctionTests.queue(Self.sum).inDatabase { db in
            try #expect(value(db, "SELECT total_of(a) FROM t WHERE a > 100") == .null)
            try #expect(db.integers("SELECT total_of(a) FROM t WHERE a > 100 GROUP BY a") == [])
        }
    }

    @Test("Groups, NULLs, subqueries and two uses in one query")
    func groups() throws {
        try DatabaseFunctionTests.queue(Self.sum).inDatabase { db in
            try #expect(value(db, "SELECT total_of(a) FROM t") == 6)
            try #expect(db.integers("SELECT total_of(a) FROM t GROUP BY a % 2 ORDER BY 1") == [2, 4])
            try #expect(value(db, "SELECT total_of(a) || '-' || total_of(a * 10) FROM t") == "6-60")
            try #expect(value(db, "SELECT total_of(DISTINCT a % 2) FROM t") == 1)
            try #expect(value(db, "SELECT total_of(a) FILTER (WHERE a > 1) FROM t") == 5)
            try #expect(
                db.integers("SELECT (SELECT total_of(a) FROM t AS s WHERE s.a <= t.a) FROM t") == [1, 3, 6])
            try #expect(value(db, "SELECT total_of(total) FROM (SELECT total_of(a) AS total FROM t GROUP BY a)") == 6)
            try db.execute(sql: "INSERT INTO t VALUES (NULL), ('x')")
            try #expect(value(db, "SELECT total_of(a) FROM t") == 6)
            try #expect(db.integers("SELECT total_of(NULL) FROM t") == [nil])
            try db.execute(
                sql: """
                    CREATE TABLE many (g, a);
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                    INSERT INTO many SELECT i % 5000, i % 2 FROM n
                    """)
            try #expect(Int.fetchSet(db, sql: "SELECT total_of(a) FROM many GROUP BY g") == [0, 2])
        }
    }

    @Test(
        "The error that an aggregate throws is the one that its caller gets",
        arguments: [
            ("SELECT total_of(a - 2) FROM t", -1), ("SELECT total_of(a - 2), total_of(a - 3) FROM t", -1),
            ("SELECT total_of(a * 1000) FROM t", 6000), ("SELECT total_of(a * 1000) FROM t GROUP BY a > 2", 3000),
            ("SELECT a FROM t WHERE a IN (SELECT total_of(a - 2) FROM t)", -1),
            ("SELECT total_of(a), total_of(a * 500) FROM t", 3000),
            ("SELECT until_three(a) FROM t WHERE a < 3", 333),
        ])
    func thrown(_ sql: String, _ number: Int) throws {
        let other = DatabaseFunction("until_three", argumentCount: 1, aggregate: UntilThree.self)
        try DatabaseFunctionTests.queue(Self.sum, other).inDatabase { db in
            for _ in 1...2 {
                #expect(throws: Boom(number)) { try Int?.fetchAll(db, sql: sql) }
                try #expect(value(db, "SELECT total_of(a) FROM t") == 6)
            }
            try #expect(db.isUsable())
        }
    }

    @Test("45. An aggregate that is ended half-way by an error does not replace that error by its own")
    func firstError() throws {
        let other = DatabaseFunction("until_three", argumentCount: 1, aggregate: UntilThree.self)
        try DatabaseFunctionTests.queue(FunctionErrorTests.boom, other).inDatabase { db in
            // The aggregate is at 1 when the function fails on -2. SQLite then finalizes what it has.
            #expect(throws: Boom(-2)) {
                try Int.fetchAll(db, sql: "SELECT until_three(boom(CASE a WHEN 2 THEN -2 ELSE a END)) FROM t")
            }
            let error = try #require(throws: (any Error).self) {
                try Int.fetchAll(db, sql: "SELECT until_three(abs(CASE a WHEN 2 THEN ? ELSE a END)) FROM t", arguments: [Int64.min])
            }
            #expect((error as? DatabaseError)?.message == "integer overflow")
            try #expect(value(db, "SELECT until_three(a) FROM t") == 3)
            try #expect(db.isUsable())
        }
    }

    /// Counts how many of it live.
    final class Counted: DatabaseAggregate {
        static let alive = Recorder<Int>()
        required init() { Self.alive.record(1) }
        deinit { Self.alive.record(-1) }
        func step(_ values: [DatabaseValue]) throws { if values[0] == -1 { throw Boom(1) } }
        func finalize() throws -> (any DatabaseValueConvertible)? { 1 }
        static var living: Int { alive.elements.reduce(0, +) }
    }

    @Test("What an aggregate holds is let go of: at the end, after an error, interrupted half-way")
    func letGo() throws {
        let counted = DatabaseFunction("counted", argumentCount: 1, aggregate: Counted.self)
        try DatabaseFunctionTests.queue(counted).inDatabase { db in
            try db.add(
                function: DatabaseFunction("stop", argumentCount: 1) { [pointer = UInt(bitPattern: db.sqliteConnection)] in
                    if $0[0] == 2 { sqlite3_interrupt(OpaquePointer(bitPattern: pointer)) }
                    return $0[0]
                })
            try #expect(value(db, "SELECT counted(a) + counted(a) FROM t") == 2)
            #expect(Counted.living == 0)
            #expect(throws: Boom(1)) { try value(db, "SELECT counted(a - 3) + counted(a) FROM t") }
            #expect(Counted.living == 0)
            let error = try #require(throws: DatabaseError.self) {
                try value(db, "SELECT counted(stop(a)) FROM t")
            }
            #expect(error.resultCode == .SQLITE_INTERRUPT)
            #expect(error.message == "interrupted")
            #expect(Counted.living == 0)
            do {
                let cursor = try Int.fetchCursor(db, sql: "SELECT counted(a) FROM t GROUP BY a")
                try #expect(cursor.next() == 1)
            }
            #expect(Counted.living == 0)
            try #expect(value(db, "SELECT counted(stop(1))") == 1)
            try #expect(db.isUsable())
        }
    }

    @Test("An aggregate is no function of one row, nor a window function")
    func misused() throws {
        try DatabaseFunctionTests.queue(Self.sum).inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try value(db, "SELECT a FROM t WHERE total_of(a) > 1")
            }
            #expect(error.message == "misuse of aggregate function total_of()")
            let other = try #require(throws: DatabaseError.self) {
                try value(db, "SELECT total_of(a) OVER () FROM t")
            }
            #expect(other.message == "total_of() may not be used as a window function")
            try #expect(db.isUsable())
        }
    }
}
