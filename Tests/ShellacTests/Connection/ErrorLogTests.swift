import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("SQLite's error log", .serialized)
struct ErrorLogTests {
    private func heard(_ body: () throws -> Void) rethrows -> [String] {
        let recorder = Recorder<String>()
        Database.logError = { code, message in recorder.record("\(code.rawValue) \(message)") }
        defer { Database.logError = nil }
        try body()
        return recorder.elements
    }

    @Test("What does not compile and what breaks a constraint is heard")
    func errors() throws {
        let table = "log_\(UInt32.random(in: 0...UInt32.max))"
        let log = try heard {
            try DatabaseQueue().inDatabase { db in
                #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT * FROM \(table)") }
                try db.execute(sql: "CREATE TABLE \(table) (a UNIQUE)")
                try db.execute(sql: "INSERT INTO \(table) VALUES (1)")
                #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO \(table) VALUES (1)") }
            }
        }.filter { $0.contains(table) }
        #expect(
            log == [
                "1 no such table: \(table) in \"SELECT * FROM \(table)\"",
                "2067 abort at 9 in [INSERT INTO \(table) VALUES (1)]: UNIQUE constraint failed: \(table).a",
            ])
        #expect(Database.logError == nil)
    }

    @Test("Statements that succeed leave nothing in the log")
    func nothing() throws {
        let table = "log_\(UInt32.random(in: 0...UInt32.max))"
        let log = try heard {
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: "CREATE TABLE \(table) (a); INSERT INTO \(table) VALUES (1)")
                try #expect(db.integers("SELECT a FROM \(table)") == [1])
            }
        }
        #expect(log.filter { $0.contains(table) } == [])
    }
}
