import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The statements of an SQL text")
struct SQLStatementsTests {
    @Test("The statements come one after another, each with its own SQL, and may be run in between")
    func all() throws {
        try DatabaseQueue().inDatabase { db in
            let statements = try db.allStatements(
                sql:
                    "-- first\nCREATE TABLE t (a); ;\n INSERT INTO t VALUES (?);INSERT INTO t VALUES (:x)\n;--"
            )
            var sql: [String] = []
            while let statement = try statements.next() {
                sql.append(statement.sql)
                try statement.execute(arguments: statement.parameterNames.isEmpty ? [] : [sql.count])
            }
            #expect(
                sql == [
                    "-- first\nCREATE TABLE t (a)", "INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (:x)",
                ])
            try #expect(statements.next() == nil)
            try #expect(db.integers("SELECT a FROM t") == [2, 3])
        }
    }

    @Test("An error stays where it is")
    func failure() throws {
        try DatabaseQueue().inDatabase { db in
            let statements = try db.allStatements(sql: "SELECT 1; SELECT nope; SELECT 2")
            try #expect(statements.next()?.sql == "SELECT 1")
            for _ in 1...2 {
                let error = try #require(throws: DatabaseError.self) { try statements.next() }
                #expect(error.message == "no such column: nope")
            }
            try #expect(db.isUsable())
        }
    }

    @Test("No statement is no error", arguments: ["", ";", "-- a", " /* a */ ; "])
    func none(_ sql: String) throws {
        try DatabaseQueue().inDatabase { db in
            try #expect(db.allStatements(sql: sql).next() == nil)
        }
    }
}
