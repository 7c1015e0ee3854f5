import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Traces")
struct TraceTests {
    /// Returns a trace that records the description of each event. The duration of a profile is
    /// left out.
    static func record(_ recorder: Recorder<String>) -> @Sendable (TraceEvent) -> Void {
        { event in
            switch event.kind {
            case .statement: recorder.record("\(event)")
            case .profile(let duration):
                let words = "\(event)".split(separator: " ", maxSplits: 2)
                let isTime = words[0].split(separator: ".").last?.count == 3 && words[1] == "ms"
                recorder.record("\(duration >= .zero && isTime ? "time" : "?") \(words[2])")
            }
        }
    }

    @Test("Statements and profiles are heard, with values only where asked", arguments: [true, false])
    func events(isPublic: Bool) throws {
        let recorder = Recorder<String>()
        let configuration = ConfigurationTests.configuration {
            $0.publicStatementArguments = isPublic
            $0.trace = Self.record(recorder)
            $0.traceOptions = [.statement, .profile]
        }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            recorder.removeAll()
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["O'Brien"])
            let shown = isPublic ? "INSERT INTO t VALUES ('O''Brien')" : "INSERT INTO t VALUES (?)"
            #expect(recorder.removeAll() == [shown, "time \(shown)"])
            expectError("integer overflow") {
                try Int.fetchAll(db, sql: "SELECT abs(?)", arguments: [Int64.min])
            }
            let failed = isPublic ? "SELECT abs(-9223372036854775808)" : "SELECT abs(?)"
            #expect(recorder.removeAll() == [failed, "time \(failed)"])
        }
    }

    @Test("The SQL of an event is that of its statement alone")
    func sql() throws {
        let spy = SQLSpy()
        try DatabaseQueue(configuration: spy.configuration()).inDatabase { db in
            try db.execute(sql: "\n CREATE TABLE t (a) ;\n\n INSERT INTO t VALUES (1);\n ")
            #expect(spy.sql == ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"])
        }
    }

    @Test("Values are shown for SQL that begins with a comment, too, and a trigger's statements say so")
    func comments() throws {
        let recorder = Recorder<String>()
        let configuration = ConfigurationTests.configuration { $0.publicStatementArguments = true }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a); CREATE TABLE u (a);
                    CREATE TRIGGER copy AFTER INSERT ON t BEGIN INSERT INTO u VALUES (new.a); END;
                    """)
            db.trace(options: .statement, Self.record(recorder))
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [1])
            let heard = recorder.removeAll()
            #expect(heard.first == "INSERT INTO t VALUES (1)")
            #expect(heard.dropFirst().allSatisfy { $0.hasPrefix("-- ") })
            #expect(heard.dropFirst().first == "-- TRIGGER copy")
            try db.execute(sql: "-- why\nDELETE FROM u WHERE a = ?", arguments: [7])
            #expect(recorder.removeAll() == ["-- why\nDELETE FROM u WHERE a = 7"])
        }
    }

    @Test("A trace hears what it asks for, until it is replaced or removed")
    func options() throws {
        let (first, second) = (Recorder<String>(), Recorder<String>())
        try DatabaseQueue().inDatabase { db in
            db.trace(options: .profile, Self.record(first))
            try db.execute(sql: "SELECT 1")
            #expect(first.removeAll() == ["time SELECT 1"])
            db.trace(Self.record(second))
            try db.execute(sql: "SELECT 2")
            #expect(first.elements == [])
            #expect(second.removeAll() == ["SELECT 2"])
            let cursor = try Int.fetchCursor(db, sql: "SELECT 3 UNION ALL SELECT 4")
            _ = try cursor.next()
            db.trace(nil)
            _ = try cursor.next()
            _ = try cursor.next()
            try db.execute(sql: "SELECT 5")
            #expect(second.removeAll() == ["SELECT 3 UNION ALL SELECT 4"])
            db.trace(options: [], Self.record(second))
            try db.execute(sql: "SELECT 6")
            #expect(second.elements == [])
        }
    }

    @Test("A configuration's trace hears of each statement once, and again after another one was removed")
    func configured() throws {
        let (first, second) = (Recorder<String>(), Recorder<String>())
        let configuration = ConfigurationTests.configuration { $0.trace = Self.record(first) }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "SELECT 1")
            #expect(first.removeAll().last == "SELECT 1")
            try db.execute(sql: "SELECT 2; SELECT 3")
            #expect(first.removeAll() == ["SELECT 2", "SELECT 3"])
            db.trace(Self.record(second))
            try db.execute(sql: "SELECT 4")
            db.trace(nil)
            try db.execute(sql: "SELECT 5")
            #expect(second.elements == ["SELECT 4"])
            #expect(first.removeAll() == ["SELECT 5"])
            db.trace(options: [], Self.record(second))
            try db.execute(sql: "SELECT 6")
            #expect(first.elements == [] && second.elements.count == 1)
            db.trace(options: .profile, nil)
            try db.execute(sql: "SELECT 7")
            #expect(first.removeAll() == ["SELECT 7"])
        }
        var deaf = configuration
        deaf.traceOptions = []
        try DatabaseQueue(configuration: deaf).inDatabase { db in try db.execute(sql: "SELECT 8") }
        #expect(first.elements == [])
    }

    @Test("What Shellac asks by itself says so, and nothing else does")
    func internalStatements() throws {
        let recorder = Recorder<String>()
        let configuration = ConfigurationTests.configuration { configuration in
            configuration.trace = { event in
                if event.isInternal != event.sql.isAskedByShellac { recorder.record(event.sql) }
                if !event.isInternal { recorder.record(event.sql) }
            }
        }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            _ = try Table<Row>("t").fetchCount(db)
            _ = try db.columns(in: "t")
            try db.execute(sql: "PRAGMA user_version")
        }
        #expect(
            recorder.elements.filter { !["BEGIN DEFERRED TRANSACTION"].contains($0) }
                == [
                    "CREATE TABLE t (a)", #"SELECT COUNT(*) FROM "t""#, "PRAGMA user_version",
                    "PRAGMA user_version",
                ])
    }

    @Test("What a trace holds is let go of with the connection, and when it is removed")
    func letGo() throws {
        final class Held: Sendable {}
        weak var held: Held?
        func trace() -> @Sendable (TraceEvent) -> Void {
            let strong = Held()
            held = strong
            return { _ in withExtendedLifetime(strong) {} }
        }
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            db.trace(trace())
            try db.execute(sql: "SELECT 1")
            #expect(held != nil)
            db.trace(nil)
            #expect(held == nil)
        }
        do {
            let other = try DatabaseQueue()
            try other.inDatabase { db in db.trace(trace()) }
        }
        #expect(held == nil)
    }
}

extension String {
    /// Whether SQL is of those that ask for the schema, and for what a connection is set to.
    fileprivate var isAskedByShellac: Bool { hasPrefix("PRAGMA") || contains("sqlite_master") }
}
