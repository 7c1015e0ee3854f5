import Synchronization
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A clock that returns another date each time, and counts the dates.
private final class CountingClock: TransactionClock {
    private let count = Atomic<Int>(0)

    var dates: Int { count.load(ordering: .relaxed) }

    func now(_ db: Database) throws -> Date {
        Date(timeIntervalSince1970: Double(count.add(1, ordering: .relaxed).newValue))
    }
}

@Suite("Transaction dates")
struct DatabaseDatesTests {
    private let clock = CountingClock()

    /// A database with a function `now()`, which returns the transaction date as a number.
    private func makeQueue(clock: (any TransactionClock)? = nil) throws -> DatabaseQueue {
        try DatabaseQueue.withPlayers { configuration in
            configuration.transactionClock = clock ?? self.clock
            configuration.prepareDatabase { db in
                try db.add(
                    function: DatabaseFunction("now", argumentCount: 0) { [unowned db] _ in
                        try db.transactionDate.timeIntervalSince1970
                    })
            }
        }
    }

    @Test(
        "The transaction date is constant from the beginning to the end of a transaction", .behaviour(32),
        arguments: TransactionScope.allCases)
    func constant(scope: TransactionScope) throws {
        let queue = try makeQueue()
        var dates: Set<Date> = []
        for number in 1...3 {
            try scope.run(queue) { db in
                let date = try db.transactionDate
                #expect(dates.insert(date).inserted)
                try db.insert("\(number)")
                #expect(try db.transactionDate == date)
                try db.inSavepoint {
                    #expect(try db.transactionDate == date)
                    try db.insert("nobody")
                    return .rollback
                }
                #expect(try db.transactionDate == date)
                try db.execute(sql: "SAVEPOINT a; ROLLBACK TO a; RELEASE a")
                expectError("UNIQUE constraint failed: player.name") { try db.insert("\(number)") }
                expectError("cannot start a transaction within a transaction") {
                    try db.execute(sql: "BEGIN")
                }
                #expect(try db.transactionDate == date)
                #expect(
                    try Double.fetchAll(db, sql: "SELECT now() UNION ALL SELECT now()")
                        == [date, date].map(\.timeIntervalSince1970))
            }
        }
        #expect(dates.count == 3)
        #expect(clock.dates == 3)
    }

    @Test(
        "The clock is asked once in a transaction, and not at all where nobody needs a date", .behaviour(32))
    func lazy() throws {
        let queue = try makeQueue()
        try queue.write { db in try db.insert("Arthur") }
        _ = try queue.read { db in try db.names() }
        #expect(clock.dates == 0)
    }

    @Test("The transaction date is a fresh one at each call outside of a transaction", .behaviour(32))
    func fresh() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let dates = try (1...3).map { _ in try db.transactionDate.timeIntervalSince1970 }
            #expect(dates == [1, 2, 3])
            #expect(try Double.fetchOne(db, sql: "SELECT now()") == 4)
            #expect(try Double.fetchOne(db, sql: "SELECT now()") == 5)
        }
    }

    @Test(
        "Each raw transaction has its own date", .behaviour(32),
        arguments: [
            ("BEGIN", "COMMIT"), ("BEGIN", "ROLLBACK"), ("SAVEPOINT a", "RELEASE a"),
            ("begin exclusive", "END"),
        ])
    func raw(begin: String, end: String) throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
            for expected in [2.0, 3] {
                try db.execute(sql: begin)
                #expect(try db.transactionDate.timeIntervalSince1970 == expected)
                #expect(try db.transactionDate.timeIntervalSince1970 == expected)
                try db.execute(sql: end)
            }
            #expect(try db.transactionDate.timeIntervalSince1970 == 4)
        }
    }

    @Test("A rollback to the savepoint that opened the transaction keeps its date", .behaviour(32))
    func rollbackToOutermost() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "SAVEPOINT a")
            let date = try db.transactionDate
            try db.execute(sql: "ROLLBACK TO a")
            #expect(try db.transactionDate == date)
            try db.execute(sql: "RELEASE a")
        }
    }

    @Test(
        "A transaction has its own date, whatever statement was running when it began or ended",
        .behaviour(32))
    func overlapping() throws {
        let queue = try makeQueue()
        try queue.write { db in for name in ["a", "b", "c"] { try db.insert(name) } }
        try queue.inDatabase { db in
            let cursor = try Double.fetchCursor(db, sql: "SELECT now() FROM player")
            let statementDate = try cursor.next()
            #expect(statementDate == 1)
            try db.execute(sql: "BEGIN")
            #expect(try db.transactionDate.timeIntervalSince1970 == 2)
            while try cursor.next() != nil {}
            #expect(try db.transactionDate.timeIntervalSince1970 == 2)
            try db.execute(sql: "COMMIT")
            #expect(try db.transactionDate.timeIntervalSince1970 == 3)
        }
    }

    @Test("A statement outside of a transaction has one date for all its rows and triggers", .behaviour(32))
    func loneStatement() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TEMP TABLE stamped (a, date);
                    CREATE TEMP TABLE log (date);
                    CREATE TEMP TRIGGER stamp AFTER INSERT ON stamped BEGIN INSERT INTO log VALUES (now()); END;
                    """)
            func insert() throws {
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)
                        INSERT INTO stamped SELECT i, now() FROM n
                        """)
            }
            func dates(_ table: String) throws -> [Double] {
                try Double.fetchAll(db, sql: "SELECT DISTINCT date FROM \(table) ORDER BY date")
            }
            try insert()
            #expect(try dates("stamped") == [1])
            #expect(try dates("log") == [1])
            try insert()
            #expect(try dates("stamped") == [1, 2])
            #expect(try dates("log") == [1, 2])
            #expect(clock.dates == 2)
        }
    }

    @Test(
        "A statement outside of a transaction that fails, or is not read to its end, takes its date with it",
        .behaviour(32))
    func unfinished() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            for name in ["a", "b", "c"] { try db.insert(name) }
            expectError("UNIQUE constraint failed: player.id") {
                try db.execute(sql: "INSERT INTO player (id, name) SELECT 1, now()")
            }
            #expect(try db.transactionDate.timeIntervalSince1970 == 2)
            do {
                let cursor = try Double.fetchCursor(db, sql: "SELECT now() FROM player")
                #expect(try cursor.next() == 3)
                #expect(try cursor.next() == 3)
            }
            #expect(try db.transactionDate.timeIntervalSince1970 == 4)
        }
    }

    @Test("A transaction that SQLite has ended takes its date with it", .behaviour(32))
    func lost() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            try db.execute(sql: "BEGIN")
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
            expectError("UNIQUE constraint failed: player.name") {
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('Arthur')")
            }
            try db.rollback()
            try db.execute(sql: "BEGIN")
            #expect(try db.transactionDate.timeIntervalSince1970 == 2)
            try db.rollback()
        }
    }

    @Test("A refused commit keeps the date of the transaction, which is still open", .behaviour(32))
    func refusedCommit() throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE pet (playerID REFERENCES player(id) DEFERRABLE INITIALLY DEFERRED);
                    BEGIN;
                    INSERT INTO pet VALUES (1);
                    """)
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
            expectError("FOREIGN KEY constraint failed (the transaction is still open)") { try db.commit() }
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
            try db.rollback()
        }
    }

    @Test("The date of an access does not reach the next one", .behaviour(32), arguments: [true, false])
    func nextAccess(fails: Bool) throws {
        let queue = try makeQueue()
        try? queue.write { db in
            let date = try db.transactionDate
            #expect(date.timeIntervalSince1970 == 1)
            if fails { throw TestError() }
        }
        let next = try queue.write { db in try db.transactionDate }
        #expect(next.timeIntervalSince1970 == 2)
    }

    @Test("The system's clock is the default", .behaviour(32))
    func systemClock() throws {
        let before = Date()
        let queue = try DatabaseQueue()
        let date = try queue.write { db in try db.transactionDate }
        #expect(before <= date && date <= Date())
    }

    @Test("A clock of one's own may read the database", .behaviour(32))
    func readingClock() throws {
        let queue = try makeQueue(
            clock: .custom { db in
                Date(timeIntervalSince1970: try Double.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? -1)
            })
        try queue.write { db in
            try db.insert("Arthur")
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
            try db.insert("Barbara")
            #expect(try db.transactionDate.timeIntervalSince1970 == 1)
        }
        let next = try queue.inDatabase { db in try Double.fetchOne(db, sql: "SELECT now()") }
        #expect(next == 2)
    }

    @Test("The error of a clock reaches the caller, and the clock is asked again", .behaviour(32))
    func throwingClock() throws {
        let clock = FailingClock(failures: 2)
        let queue = try makeQueue(clock: clock)
        try queue.write { db in
            #expect(throws: TestError(9)) { try db.transactionDate }
            #expect(throws: TestError(9)) { try db.execute(sql: "INSERT INTO player (name) VALUES (now())") }
            #expect(try db.transactionDate == Date(timeIntervalSince1970: 5))
            try db.insert("Arthur")
        }
        #expect(try queue.names() == ["Arthur"])
    }
}

/// A clock that fails some times.
private final class FailingClock: TransactionClock {
    private let failures: Atomic<Int>
    init(failures: Int) { self.failures = Atomic(failures) }

    func now(_ db: Database) throws -> Date {
        if failures.subtract(1, ordering: .relaxed).newValue >= 0 { throw TestError(9) }
        return Date(timeIntervalSince1970: 5)
    }
}
