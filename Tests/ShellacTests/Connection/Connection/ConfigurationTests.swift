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
        for sql in [
            "INSERT INTO t VALUES (2)", "CREATE TABLE u (a)", "DELETE FROM t", "PRAGMA user_version = 3",
        ] {
            let error = try #require(throws: DatabaseError.self) {
                try queue.inDatabase { db in try db.execute(sql: sql) }
            }
            #expect(error.resultCode == .SQLITE_READONLY)
            #expect(error.message == "attempt to write a readonly database")
            #expect(error.sql == sql)
            expectError("attempt to write a readonly database") {
                try queue.write { db in try db.execute(sql: sql) }
            }
        }
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [1])
        try queue.inDatabase { db in try db.execute(sql: "CREATE TEMP TABLE x (a); INSERT INTO x VALUES (1)")
        }
        try #expect(Data(contentsOf: URL(filePath: path)) == before)
        try #expect(folder.fileNames() == ["a.sqlite"])
    }

    @Test("A text in double quotes is a name that is missing, unless old programs are run")
    func doubleQuotes() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for sql in ["SELECT \"nope\" FROM t", "SELECT \"nope\"", "CREATE INDEX i ON t (\"nope\")"] {
                let error = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(
                    error.message?.hasSuffix("no such column: nope") == true
                        || error.message == "table t has no column named nope")
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
        // A caller that opens a database needs the path, and not a name.
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
        #expect(error.message?.hasPrefix("a transaction was still open") == true)
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
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
            }
        }
        // The file remembers WAL.
        let later = try DatabaseQueue(path: path).inDatabase { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode")
        }
        #expect(later == (mode == .wal ? "wal" : "delete"))
        try DatabaseQueue(configuration: configuration).inDatabase { db in try #expect(db.isUsable()) }
        try DatabaseQueue(path: "", configuration: configuration).inDatabase { db in
            try #expect(db.isUsable())
        }
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

// The log is one for the whole process: it has the entries of other tests, too, and each test looks
// for its own texts.
