import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
            for sql in [
                "INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (?, ?)",
                "SELECT 1; INSERT INTO t VALUES (?)",
            ] {
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
        #expect(
            DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT).description
                == "SQLite error 5: database is locked")
        #expect(DatabaseError(message: "mine").description == "SQLite error 1: mine")
        #expect(
            DatabaseError(sql: "SELECT ?", arguments: [1]).description
                == "SQLite error 1: SQL logic error - while executing `SELECT ?`")
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
            (
                "INSERT INTO p (n) VALUES (NULL)", .SQLITE_CONSTRAINT_NOTNULL,
                "NOT NULL constraint failed: p.n"
            ),
            ("INSERT INTO p (u) VALUES ('one')", .SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: p.u"),
            (
                "INSERT INTO p (id) VALUES (1)", .SQLITE_CONSTRAINT_PRIMARYKEY,
                "UNIQUE constraint failed: p.id"
            ),
            ("INSERT INTO w VALUES ('a')", .SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: w.k"),
            ("INSERT INTO p (c) VALUES (0)", .SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: c > 0"),
            ("INSERT INTO p (d) VALUES (0)", .SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: named"),
            ("INSERT INTO r VALUES (9)", .SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed"),
            ("INSERT INTO l VALUES (9)", .SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed"),
            (
                "INSERT INTO s (i) VALUES ('x')", .SQLITE_CONSTRAINT_DATATYPE,
                "cannot store TEXT value in INTEGER column s.i"
            ),
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

    @Test(
        "The message of an error that has none of its own is what SQLite says of its code",
        arguments: [
            (.SQLITE_BUSY, "database is locked"), (.SQLITE_CONSTRAINT_UNIQUE, "constraint failed"),
            (.SQLITE_ERROR, "SQL logic error"), (.SQLITE_AUTH_USER, "authorization denied"),
        ] as [(ResultCode, String)])
    func bareMessage(_ code: ResultCode, _ message: String) {
        #expect(DatabaseError(resultCode: code).message == message)
        #expect(
            DatabaseError(resultCode: code).description == "SQLite error \(code.rawValue & 255): \(message)")
        #expect(DatabaseError(resultCode: code, message: "").message == "")
    }
}
