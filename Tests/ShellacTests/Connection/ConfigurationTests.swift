import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Configurations")
struct ConfigurationTests {
    static func configuration(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = Configuration()
        change(&configuration)
        return configuration
    }

    @Test("Foreign keys are enforced, unless they are not wanted", arguments: [nil, true, false])
    func foreignKeys(isOn: Bool?) throws {
        let configuration = Self.configuration { if let isOn { $0.foreignKeysEnabled = isOn } }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try #expect(db.integers("PRAGMA foreign_keys") == [isOn == false ? 0 : 1])
            try db.execute(sql: "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p)")
            guard isOn != false else { return try db.execute(sql: "INSERT INTO c VALUES (1)") }
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO c VALUES (1)")
            }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            try #expect(db.isUsable())
        }
    }

    @Test("A database opened for reading is not written")
    func readonly() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        try DatabaseQueue(path: path).write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        let before = try Data(contentsOf: URL(filePath: path))
        let queue = try DatabaseQueue(
            path: path, configuration: Self.configuration { ($0.readonly, $0.journalMode) = (true, .wal) })
        for sql in ["INSERT INTO t VALUES (2)", "CREATE TABLE u (a)", "DELETE FROM t", "PRAGMA user_version = 3"] {
            let error = try #require(throws: DatabaseError.self) {
                try queue.inDatabase { db in try db.execute(sql: sql) }
            }
            #expect(error.resultCode == .SQLITE_READONLY)
            #expect(error.message == "attempt to write a readonly database")
            #expect(error.sql == sql)
            #expect(throws: DatabaseError.self) { try queue.write { db in try db.execute(sql: sql) } }
        }
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [1])
        try queue.inDatabase { db in try db.execute(sql: "CREATE TEMP TABLE x (a); INSERT INTO x VALUES (1)") }
        try #expect(Data(contentsOf: URL(filePath: path)) == before)
        try #expect(folder.fileNames() == ["a.sqlite"])
    }

    @Test("A text in double quotes is a name that is missing, unless old programs are run")
    func doubleQuotes() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for sql in ["SELECT \"nope\" FROM t", "SELECT \"nope\"", "CREATE INDEX i ON t (\"nope\")"] {
                let error = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(error.message?.hasSuffix("no such column: nope") == true || error.message == "table t has no column named nope")
            }
            try #expect(db.isUsable())
        }
        let configuration = Self.configuration { $0.acceptsDoubleQuotedStringLiterals = true }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE INDEX i ON t (\"nope\")")
            try #expect(String.fetchOne(db, sql: "SELECT \"nope\"") == "nope")
        }
    }

    @Test("The label names the database in errors, its path does without")
    func label() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        for (label, name) in [("the game", "the game"), (nil, path)] {
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration { $0.label = label })
            try queue.inDatabase { db in #expect(db.description == name) }
            try queue.close()
            let error = try #require(throws: DatabaseError.self) { try queue.read { _ in } }
            #expect(error.message == "the database \(name) is closed")
        }
        // Whoever opens needs the path, and not a name.
        let error = try #require(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path, configuration: Self.configuration { $0.label = "the game" })
        }
        #expect(error.message == "could not open the database at \(folder.path): it is a folder")
    }

    @Test("prepareDatabase runs in order, once, before any access")
    func preparation() throws {
        let spy = SQLSpy()
        let configuration = Self.configuration {
            $0.prepareDatabase { db in try db.execute(sql: "CREATE TEMP TABLE one (a)") }
            $0.prepareDatabase { db in try db.execute(sql: "INSERT INTO one VALUES (1)") }
        }
        let queue = try DatabaseQueue(configuration: spy.configuration(configuration))
        #expect(spy.sql == ["CREATE TEMP TABLE one (a)", "INSERT INTO one VALUES (1)"])
        try #expect(queue.read { db in try db.integers("SELECT a FROM one") } == [1])
    }

    @Test("An error in prepareDatabase is the error of the opening, and closes the file")
    func failingPreparation() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        for leavesOpen in [false, true] {
            let configuration = Self.configuration {
                $0.prepareDatabase { db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)")
                    if leavesOpen { try db.execute(sql: "BEGIN; INSERT INTO t VALUES (1)") }
                    throw Boom(5)
                }
            }
            #expect(throws: Boom(5)) { try DatabaseQueue(path: path, configuration: configuration) }
            try #expect(folder.openFiles() == [])
        }
        let forgotten = Self.configuration {
            $0.prepareDatabase { db in try db.execute(sql: "BEGIN; INSERT INTO t VALUES (1)") }
        }
        let error = try #require(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: forgotten)
        }
        #expect(error.resultCode == .SQLITE_MISUSE)
        #expect(error.message?.hasPrefix("a transaction was left open") == true)
        try #expect(folder.openFiles() == [])
        try DatabaseQueue(path: path).inDatabase { db in
            try #expect(db.integers("SELECT COUNT(*) FROM t") == [0])
            try #expect(db.isUsable())
        }
    }

    @Test(
        "The journal mode is the one asked",
        arguments: [.default, .delete, .truncate, .persist, .memory, .wal, .off] as [JournalMode])
    func journalMode(_ mode: JournalMode) throws {
        let folder = try TemporaryFolder()
        let configuration = Self.configuration { $0.journalMode = mode }
        let path = folder.path("a.sqlite")
        for _ in 1...2 {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let found = try queue.inDatabase { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
            #expect(found == (mode == .default ? "delete" : mode.rawValue))
            try queue.write { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)") }
        }
        // The file remembers WAL.
        let later = try DatabaseQueue(path: path).inDatabase { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(later == (mode == .wal ? "wal" : "delete"))
        try DatabaseQueue(configuration: configuration).inDatabase { db in try #expect(db.isUsable()) }
        try DatabaseQueue(path: "", configuration: configuration).inDatabase { db in try #expect(db.isUsable()) }
    }

    @Test("A journal mode that others prevent is an error that names the path")
    func journalModePrevented() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let other = try DatabaseQueue(path: path)
        try other.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
            let error = try #require(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: Self.configuration { $0.journalMode = .wal })
            }
            #expect(error.resultCode == .SQLITE_BUSY)
            #expect(error.message == "could not open the database at \(path): database is locked")
            try db.execute(sql: "COMMIT")
            try #expect(db.isUsable())
        }
    }
}

@Suite("Traces")
struct TraceTests {
    /// What a trace hears, as it describes it. The duration of a profile is left out.
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
        }
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            recorder.removeAll()
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["O'Brien"])
            let shown = isPublic ? "INSERT INTO t VALUES ('O''Brien')" : "INSERT INTO t VALUES (?)"
            #expect(recorder.removeAll() == [shown, "time \(shown)"])
            #expect(throws: DatabaseError.self) { try Int.fetchAll(db, sql: "SELECT abs(?)", arguments: [Int64.min]) }
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

// The log is one for the whole process: other tests are heard, too, and each test looks for its own texts.
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
