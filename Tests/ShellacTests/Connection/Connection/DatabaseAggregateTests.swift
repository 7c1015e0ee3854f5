import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("SQL aggregates in Swift")
struct DatabaseAggregateTests {
    /// The sum of integers: NULL without any. It fails on negative ones, and at the end of a sum
    /// above 1000.
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
            try #expect(
                value(db, "SELECT total_of(total) FROM (SELECT total_of(a) AS total FROM t GROUP BY a)") == 6)
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
            ("SELECT total_of(a * 1000) FROM t", 6000),
            ("SELECT total_of(a * 1000) FROM t GROUP BY a > 2", 3000),
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

    @Test(
        "An aggregate that is ended half-way by an error does not replace that error by its own",
        .behaviour(45))
    func firstError() throws {
        let other = DatabaseFunction("until_three", argumentCount: 1, aggregate: UntilThree.self)
        try DatabaseFunctionTests.queue(FunctionErrorTests.boom, other).inDatabase { db in
            // The aggregate is at 1 when the function fails on -2. SQLite then finalizes what it
            // has.
            #expect(throws: Boom(-2)) {
                try Int.fetchAll(db, sql: "SELECT until_three(boom(CASE a WHEN 2 THEN -2 ELSE a END)) FROM t")
            }
            let error = try #require(throws: (any Error).self) {
                try Int.fetchAll(
                    db, sql: "SELECT until_three(abs(CASE a WHEN 2 THEN ? ELSE a END)) FROM t",
                    arguments: [Int64.min])
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
                function: DatabaseFunction("stop", argumentCount: 1) {
                    [pointer = UInt(bitPattern: db.sqliteConnection)] in
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
