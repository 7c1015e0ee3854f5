import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Binding, at SQLite's limits")
struct ParameterBindingTests {
    @Test("33,000 arguments are bound", arguments: [32_766, 33_000])
    func manyArguments(_ count: Int) throws {
        try DatabaseQueue().inDatabase { db in
            let limit = Int(sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
            let literal: SQL =
                "SELECT count(*), sum(value) FROM (SELECT 0 AS value) WHERE 0 NOT IN \(1...count)"
            if limit >= count {
                try #expect(Int.fetchOne(db, literal: literal) == 1)
            } else {
                let error = try #require(throws: DatabaseError.self) {
                    try Int.fetchOne(db, literal: literal)
                }
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
            let error = try #require(throws: DatabaseError.self) {
                try insert.execute(arguments: [1, value])
            }
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
            #expect(error.message == "string or blob too big")
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
