import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns the value of a query of one value: for the suites of functions, aggregates and their
/// errors.
func value(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) throws
    -> DatabaseValue
{
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

    @Test("One argument more than the running SQLite allows is too much")
    func tooManyArguments() throws {
        try Self.queue(Self.count).inDatabase { db in
            let most = Int(sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_FUNCTION_ARG, -1))
            #expect(most >= 127)
            try #expect(
                value(db, "SELECT argcount(\(Array(repeating: "1", count: most).joined(separator: ",")))")
                    == DatabaseValue(.int64(Int64(most))))
            let list = Array(repeating: "1", count: most + 1).joined(separator: ",")
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

    @Test("A function that SQLite cannot have is refused", arguments: [-1, -2, 1001, Int.max, Int.min])
    func refusedArity(_ number: Int) throws {
        try Self.queue().inDatabase { db in
            let most = sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_FUNCTION_ARG, -1)
            let error = try #require(throws: DatabaseError.self) {
                try db.add(function: DatabaseFunction("f", argumentCount: number) { _ in 1 })
            }
            #expect(error.resultCode == .SQLITE_MISUSE)
            #expect(
                error.message
                    == "the function f cannot be added: its name must have at most 255 bytes and no NUL, "
                    + "and it must take 0 to \(most) arguments")
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
            expectError(containing: "its name must have at most 255 bytes and no NUL") {
                try db.add(function: DatabaseFunction("a\0b") { _ in 1 })
            }
            expectError("no such function: a") { try value(db, "SELECT a()") }
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
            expectError(containing: "cannot be added: its name must have at most 255 bytes") {
                try db.add(
                    function: DatabaseFunction(String(repeating: "f", count: 256)) { [held = Held()] _ in
                        "\(held)"
                    })
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
            DatabaseFunction("twice", argumentCount: 1, pure: true) {
                Int.fromDatabaseValue($0[0]).map { $0 * 2 }
            },
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
