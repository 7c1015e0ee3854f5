import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Result codes")
struct ResultCodeTests {
    @Test("A primary code matches itself and its extended codes, an extended one itself alone")
    func patterns() {
        func name(_ code: ResultCode) -> String {
            switch code {
            case .SQLITE_CONSTRAINT_UNIQUE: "unique"
            case .SQLITE_CONSTRAINT: "constraint"
            case .SQLITE_BUSY_SNAPSHOT, .SQLITE_BUSY_RECOVERY: "busy, extended"
            case .SQLITE_BUSY: "busy"
            default: "other"
            }
        }
        #expect(name(.SQLITE_CONSTRAINT_UNIQUE) == "unique")
        #expect(name(.SQLITE_CONSTRAINT_CHECK) == "constraint")
        #expect(name(.SQLITE_CONSTRAINT) == "constraint")
        #expect(name(.SQLITE_BUSY_SNAPSHOT) == "busy, extended")
        #expect(name(.SQLITE_BUSY) == "busy")
        #expect(name(.SQLITE_BUSY_TIMEOUT) == "busy")
        #expect(name(.SQLITE_ERROR) == "other")
        #expect(ResultCode.SQLITE_CONSTRAINT != .SQLITE_CONSTRAINT_UNIQUE)
        #expect(!(ResultCode.SQLITE_CONSTRAINT_UNIQUE ~= ResultCode.SQLITE_CONSTRAINT))
    }

    @Test("A code knows its primary one, and reads as SQLite says it")
    func description() {
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.rawValue == 2067)
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.primaryResultCode == .SQLITE_CONSTRAINT)
        #expect(ResultCode.SQLITE_CONSTRAINT.isPrimary)
        #expect(!ResultCode.SQLITE_CONSTRAINT_UNIQUE.isPrimary)
        #expect("\(ResultCode.SQLITE_CONSTRAINT)" == "19 (constraint failed)")
        #expect("\(ResultCode.SQLITE_BUSY)" == "5 (database is locked)")
        #expect("\(ResultCode(rawValue: 99))" == "99 (unknown error)")
        #expect("\(ResultCode(rawValue: -1))" == "-1 (unknown error)")
    }
}

@Suite("Database errors")
struct DatabaseErrorTests {
    @Test("The description is a sentence", arguments: [true, false])
    func description(isPublic: Bool) throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = isPublic
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE, b, c); INSERT INTO t VALUES ('O''Brien', 1, 1)")
            let sql = "INSERT INTO t VALUES (:a, ?, ?)"
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: sql, arguments: ["a": "O'Brien"] + [nil, Data([1, 255])])
            }
            #expect(error.resultCode == .SQLITE_CONSTRAINT)
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error.message == "UNIQUE constraint failed: t.a")
            #expect(error.sql == sql)
            #expect(error.offset == nil)
            let plain = "SQLite error 19: UNIQUE constraint failed: t.a - while executing `\(sql)`"
            let expanded = plain + " with arguments [NULL, x'01FF', a: 'O''Brien']"
            #expect(error.description == (isPublic ? expanded : plain))
            #expect("\(error)" == error.description)
            #expect(error.expandedDescription == expanded)
            #expect(!String(reflecting: error.message).contains("Brien"))
            try #expect(db.isUsable())
        }
    }

    @Test("Values stay private where errors are printed in any way")
    func privacy() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES ('secret')")
            for sql in ["INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (?, ?)", "SELECT 1; INSERT INTO t VALUES (?)"] {
                let error = try #require(throws: DatabaseError.self) {
                    try db.execute(sql: sql, arguments: ["secret"])
                }
                #expect(!"\(error)".contains("secret"))
                #expect(!error.localizedDescription.contains("secret"))
                #expect(!String(reflecting: error).contains("secret"))
            }
        }
    }

    @Test("An error made by hand reads as one of SQLite's")
    func byHand() {
        #expect(DatabaseError().description == "SQLite error 1: SQL logic error")
        #expect(DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT).description == "SQLite error 5: database is locked")
        #expect(DatabaseError(message: "mine").description == "SQLite error 1: mine")
        #expect(DatabaseError(sql: "SELECT ?", arguments: [1]).description == "SQLite error 1: SQL logic error - while executing `SELECT ?`")
        #expect(
            DatabaseError(sql: "SELECT ?", arguments: [1], publicStatementArguments: true).description
                == "SQLite error 1: SQL logic error - while executing `SELECT ?` with arguments [1]")
        #expect(DatabaseError(message: "a") == DatabaseError(message: "a"))
        #expect(DatabaseError(message: "a") != DatabaseError(message: "b"))
    }

    static let schema = """
        CREATE TABLE p (id INTEGER PRIMARY KEY, n NOT NULL DEFAULT 0, u UNIQUE, c CHECK (c > 0), d CONSTRAINT named CHECK (d > 0));
        CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE r (p REFERENCES p);
        CREATE TABLE l (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE s (i INTEGER, t TEXT) STRICT;
        CREATE TRIGGER tr BEFORE INSERT ON p WHEN new.u = 'raise' BEGIN SELECT RAISE(ABORT, 'no raises'); END;
        INSERT INTO p (id, u) VALUES (1, 'one');
        INSERT INTO w VALUES ('a');
        """

    @Test(
        "Each constraint has its code and its message",
        arguments: [
            ("INSERT INTO p (n) VALUES (NULL)", .SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: p.n"),
            ("INSERT INTO p (u) VALUES ('one')", .SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: p.u"),
            ("INSERT INTO p (id) VALUES (1)", .SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: p.id"),
            ("INSERT INTO w VALUES ('a')", .SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: w.k"),
            ("INSERT INTO p (c) VALUES (0)", .SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: c > 0"),
            ("INSERT INTO p (d) VALUES (0)", .SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: named"),
            ("INSERT INTO r VALUES (9)", .SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed"),
            ("INSERT INTO l VALUES (9)", .SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed"),
            ("INSERT INTO s (i) VALUES ('x')", .SQLITE_CONSTRAINT_DATATYPE, "cannot store TEXT value in INTEGER column s.i"),
            ("INSERT INTO p (u) VALUES ('raise')", .SQLITE_CONSTRAINT_TRIGGER, "no raises"),
            ("INSERT INTO p (id) VALUES ('x')", .SQLITE_MISMATCH, "datatype mismatch"),
        ] as [(String, ResultCode, String)])
    func constraints(_ sql: String, _ code: ResultCode, _ message: String) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Self.schema)
            let changes = db.totalChangesCount
            for _ in 1...2 {
                let error = try #require(throws: DatabaseError.self) {
                    try db.cachedStatement(sql: sql).execute()
                }
                #expect(error.extendedResultCode == code)
                #expect(error.message == message)
                #expect(error.sql == sql)
            }
            try #expect(db.integers("SELECT COUNT(*) FROM p UNION ALL SELECT COUNT(*) FROM l") == [1, 0])
            if code != .SQLITE_CONSTRAINT_FOREIGNKEY { #expect(db.totalChangesCount == changes) }
            try #expect(db.isUsable())
        }
    }
}

@Suite("Binding, at SQLite's limits")
struct ParameterBindingTests {
    @Test("33,000 arguments are bound", arguments: [32_766, 33_000])
    func manyArguments(_ count: Int) throws {
        try DatabaseQueue().inDatabase { db in
            let limit = Int(sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
            let literal: SQL = "SELECT count(*), sum(value) FROM (SELECT 0 AS value) WHERE 0 NOT IN \(1...count)"
            if limit >= count {
                try #expect(Int.fetchOne(db, literal: literal) == 1)
            } else {
                let error = try #require(throws: DatabaseError.self) { try Int.fetchOne(db, literal: literal) }
                #expect(error.message == "too many SQL variables")
            }
            try #expect(db.isUsable())
        }
    }

    @Test("One argument more than SQLite's limit is an error")
    func tooManyArguments() throws {
        try DatabaseQueue().inDatabase { db in
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, 100)
            try #expect(Int.fetchOne(db, literal: "SELECT 0 NOT IN \(1...100)") == 1)
            let error = try #require(throws: DatabaseError.self) {
                try Int.fetchOne(db, literal: "SELECT 0 NOT IN \(1...101)")
            }
            #expect(error.resultCode == .SQLITE_ERROR)
            #expect(error.message == "too many SQL variables")
            try #expect(db.isUsable())
        }
    }

    @Test(
        "An argument above SQLite's limit is an error, and the statement can be used again",
        arguments: [String(repeating: "x", count: 1001).databaseValue, Data(count: 1001).databaseValue])
    func tooLong(_ value: DatabaseValue) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            // An error with an offset comes first: it must not be taken for that of the next one.
            let first = try #require(throws: DatabaseError.self) { try db.execute(sql: "SELECT nope") }
            #expect(first.offset == 7)
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 1000)
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?)")
            let error = try #require(throws: DatabaseError.self) { try insert.execute(arguments: [1, value]) }
            #expect(error.resultCode == .SQLITE_TOOBIG)
            #expect(error.message == "string or blob too big")
            #expect(error.sql == insert.sql)
            #expect(error.offset == nil)
            // Half of the arguments are bound: they are not used.
            let again = try #require(throws: DatabaseError.self) { try insert.execute() }
            #expect(again.message == "wrong number of arguments: 0 for 2 parameters")
            try insert.execute(arguments: [2, 3])
            try #expect(db.integers("SELECT a FROM t") == [2])
        }
    }

    @Test("SQL above SQLite's limit is an error, and so is too deep an expression")
    func tooLongSQL() throws {
        try DatabaseQueue().inDatabase { db in
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_SQL_LENGTH, 1000)
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT '\(String(repeating: "x", count: 1000))'")
            }
            #expect(error.resultCode == .SQLITE_TOOBIG)
            #expect(error.message == "statement too long")
            try #expect(db.isUsable())
            // The limit is that of a statement, not of a text with many.
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: String(repeating: "INSERT INTO t VALUES (1);", count: 100))
            try #expect(db.integers("SELECT COUNT(*) FROM t") == [100])
        }
        try DatabaseQueue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT \(String(repeating: "1+", count: 2000))1")
            }
            #expect(error.message == "Expression tree is too large (maximum depth 1000)")
            try #expect(db.isUsable())
        }
    }
}
