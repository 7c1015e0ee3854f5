import Foundation
import TestSupport
import Testing

@testable import Shellac

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
                expectError("no such table: \(table)") { try db.execute(sql: "SELECT * FROM \(table)") }
                try db.execute(sql: "CREATE TABLE \(table) (a UNIQUE)")
                try db.execute(sql: "INSERT INTO \(table) VALUES (1)")
                expectError("UNIQUE constraint failed: \(table).a") {
                    try db.execute(sql: "INSERT INTO \(table) VALUES (1)")
                }
            }
        }.filter { $0.contains(table) }
        // Versions of SQLite report a constraint in different words.
        let (insertion, reason) = ("INSERT INTO \(table) VALUES (1)", "UNIQUE constraint failed: \(table).a")
        let constraint = try #require(log.last)
        #expect(
            constraint == "2067 abort at 9 in [\(insertion)]: \(reason)"
                || constraint == "2067 statement aborts at 9: \(reason); [\(insertion)]")
        #expect(log.dropLast() == ["1 no such table: \(table) in \"SELECT * FROM \(table)\""])
        #expect(Database.logError == nil)
    }

    @Test(
        "What a handler holds may hear of errors, and look for a handler, when another one takes its place",
        .timeLimit(.minutes(10)))
    func replacing() async throws {
        /// It writes, with an error, when it is freed.
        final class Witness: Sendable {
            let freed: Gate
            init(_ freed: Gate) { self.freed = freed }
            deinit {
                try? DatabaseQueue().inDatabase { db in try db.execute(sql: "no SQL") }
                if Database.logError == nil { freed.open() }
            }
        }
        let freed = Gate()
        do {
            let witness = Witness(freed)
            Database.logError = { _, _ in withExtendedLifetime(witness) {} }
        }
        Thread { Database.logError = nil }.start()
        try await waitUntil { freed.isOpen }
        #expect(Database.logError == nil)
    }

    @Test(
        "The first pool of a process has the log name the version of SQLite, and its WAL-reset fault",
        .behaviour(117))
    func version() async {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { code, message in log.record("\(code.rawValue) \(message)") }
            let file = try TemporaryDatabase()
            let version = try file.queue().inDatabase { db in
                try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? ""
            }
            guard log.elements == [] else { throw TestError(1) }
            for _ in 1...2 { try file.pool().close() }
            let fault = Features.hasLogResetFault ? "the" : "no"
            guard log.elements == ["27 SQLite \(version) is running. It has \(fault) WAL-reset fault"] else {
                throw TestError(2)
            }
        }
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
