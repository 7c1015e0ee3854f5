// When an error names the foreign key that a statement has violated.

import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Names of violated foreign keys", .behaviour(73))
struct ForeignKeyNamingTests {
    private func queue(_ change: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = Configuration()
        change(&configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team, score INTEGER);
                    CREATE TABLE log (id INTEGER PRIMARY KEY, line TEXT);
                    """)
        }
        return queue
    }

    /// A clock that shows another second each time.
    private final class Clock: TransactionClock, @unchecked Sendable {
        private var seconds = 0.0
        func now(_ db: Database) throws -> Date {
            seconds += 1
            return Date(timeIntervalSince1970: seconds)
        }
    }

    private func violation(_ queue: DatabaseQueue) throws -> DatabaseError.Constraint? {
        try queue.write { db in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (1)")
            }
            return error?.constraint
        }
    }

    @Test("the statement runs once more, unless the configuration says otherwise")
    func setting() throws {
        let named = try violation(queue())
        #expect(named?.foreignKey?.destinationTable == "team")
        #expect(named?.columns == ["teamID"])
        let unnamed = try violation(queue { $0.namesForeignKeys = false })
        #expect(unnamed?.kind == .foreignKey)
        #expect(unnamed?.foreignKey == nil && unnamed?.table == nil && unnamed?.columns == [])
    }

    @Test("a table that was made in the same transaction is known")
    func newTable() throws {
        try queue().write { db in
            try db.execute(
                sql: "CREATE TABLE coach (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team (id))")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO coach (teamID) VALUES (1)")
            }
            #expect(error?.constraint?.foreignKey?.originTable == "coach")
            try db.execute(sql: "ALTER TABLE coach RENAME TO trainer")
            let renamed = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO trainer (teamID) VALUES (1)")
            }
            #expect(renamed?.constraint?.foreignKey?.originTable == "trainer")
        }
    }

    @Test("the dates of the next statement are its own, after one that has run twice")
    func dates() throws {
        let queue = try queue { $0.transactionClock = Clock() }
        try queue.writeWithoutTransaction { db in
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (1)")
            }
            let (first, second) = try (db.transactionDate, db.transactionDate)
            #expect(first != second)
            #expect(!db.isInsideTransaction)
            try db.execute(sql: "INSERT INTO team VALUES (1)")
        }
    }

    @Test("A refused statement whose trigger asks for the date leaves no date behind")
    func dateOfTrigger() throws {
        let queue = try queue { $0.transactionClock = Clock() }
        try queue.writeWithoutTransaction { db in
            try db.add(
                function: DatabaseFunction("today", argumentCount: 0, pure: true) { _ in
                    try db.transactionDate
                })
            try db.execute(
                sql: """
                    CREATE TABLE asked (date TEXT);
                    CREATE TEMP TRIGGER asks AFTER INSERT ON player BEGIN INSERT INTO asked VALUES (today()); END
                    """)
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (1)")
            }
            #expect(error?.constraint?.foreignKey != nil)
            let (first, second) = try (db.transactionDate, db.transactionDate)
            #expect(first != second)
            try db.execute(sql: "INSERT INTO player DEFAULT VALUES; INSERT INTO player DEFAULT VALUES")
            try #expect(Int.fetchOne(db, sql: "SELECT count(DISTINCT date) FROM asked") == 2)
        }
    }
}
