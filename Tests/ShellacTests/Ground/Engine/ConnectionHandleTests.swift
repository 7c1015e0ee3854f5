import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Opening a database")
struct OpeningTests {
    /// A database that should not have opened, and did.
    private struct Opened: Error { let path: String }

    private func failure(_ path: String, readonly: Bool = false) throws -> DatabaseError {
        var configuration = Configuration()
        configuration.readonly = readonly
        do {
            _ = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError {
            return error
        }
        throw Opened(path: path)
    }

    /// The errors that a user without rights gets, for reading, and for reading and writing.
    private func failures(_ path: String) throws -> [DatabaseError] {
        let results = try OwnThread.run(unprivileged: true) {
            [true, false].map { readonly in Result { try failure(path, readonly: readonly) } }
        }
        return try results.map { try $0.get() }
    }

    @Test("A missing folder is named", arguments: [true, false])
    func missingFolder(readonly: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("no/such/a.sqlite")
        let error = try failure(path, readonly: readonly)
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(
            error.message
                == "could not open the database at \(path): the folder \(folder.path("no/such")) does not exist"
        )
        #expect(error.description == "SQLite error 14: \(error.message ?? "")")
        let relative = try failure("no-such-folder/a.sqlite")
        #expect(
            relative.message
                == "could not open the database at no-such-folder/a.sqlite: the folder no-such-folder does not exist"
        )
        try #expect(folder.fileNames() == [])
    }

    @Test("A folder is no database")
    func isFolder() throws {
        let folder = try TemporaryFolder()
        for path in [folder.path, folder.path + "/"] {
            let error = try failure(path)
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.message == "could not open the database at \(path): it is a folder")
        }
        let file = try folder.write([], to: "file")
        let error = try failure("\(file)/a.sqlite")
        #expect(error.message == "could not open the database at \(file)/a.sqlite: \(file) is not a folder")
    }

    @Test("A file that is not there cannot be opened for reading")
    func missingFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let error = try failure(path, readonly: true)
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(error.message == "could not open the database at \(path): No such file or directory")
        try #expect(folder.fileNames() == [])
    }

    @Test(
        "What is not a database is said to be none, and left as it is", arguments: [true, false],
        [
            "xy", "not a database", "SQLite format 3",
            "SQLite format 4\0" + String(repeating: "x", count: 5000),
        ])
    func notADatabase(readonly: Bool, content: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(content.utf8, to: "a.sqlite")
        let error = try failure(path, readonly: readonly)
        #expect(error.resultCode == .SQLITE_NOTADB)
        #expect(error.message == "could not open the database at \(path): file is not a database")
        try #expect(Data(contentsOf: URL(filePath: path)) == Data(content.utf8))
        try #expect(folder.openFiles() == [])
        try #expect(folder.fileNames() == ["a.sqlite"])
    }

    @Test("A file without permission is said to be so")
    func permissions() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("a.sqlite")
        try DatabaseQueue(path: file).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        for (permissions, reason) in [
            (0o000, "no permission to read it (Permission denied)"),
            (0o222, "no permission to read it (Permission denied)"),
        ] {
            try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
            for error in try failures(file) {
                #expect(error.resultCode == .SQLITE_CANTOPEN)
                #expect(error.message == "could not open the database at \(file): \(reason)")
            }
        }
        for error in try failures(folder.path("b.sqlite")) {
            #expect(
                error.message
                    == "could not open the database at \(folder.path("b.sqlite")): there is no such file, "
                    + "and it cannot be created in \(folder.path) (Permission denied)")
        }
        // A file that can only be read opens, and is not written.
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
        let queue = try OwnThread.run(unprivileged: true) { try DatabaseQueue(path: file) }
        let error = try #require(throws: DatabaseError.self) {
            try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error.resultCode == .SQLITE_READONLY)
        #expect(error.message == "attempt to write a readonly database")
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [])
    }

    @Test("A file that may be read is not said to lack a permission when something else is wrong with it")
    func readableNoDatabase() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("not a database".utf8, to: "a.sqlite")
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        for error in try failures(path) {
            #expect(error.resultCode == .SQLITE_NOTADB)
            #expect(error.message == "could not open the database at \(path): file is not a database")
        }
    }

    @Test("Where no file can be created, the folder and the reason are named", arguments: ["/proc", "/sys"])
    func unwritable(_ place: String) throws {
        let error = try failure("\(place)/a.sqlite")
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(error.message?.hasPrefix("could not open the database at \(place)/a.sqlite: ") == true)
        #expect(error.message?.contains("unable to open database file") == false)
    }

    @Test("A path with a NUL opens nothing, rather than what stands before the NUL")
    func nul() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: folder.path("a\0b")) }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        try #expect(folder.fileNames() == [])
    }

    // MARK: - URIs

    @Test("A URI opens what it names, as it says")
    func uri() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a b#c%?.sqlite")
        try DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try #expect(folder.fileNames() == ["a b#c%?.sqlite"])
        let uri = "file:\(folder.path)/a%20b%23c%25%3F.sqlite"
        let queue = try DatabaseQueue(path: "\(uri)?mode=ro")
        let error = try #require(throws: DatabaseError.self) {
            try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error.resultCode == .SQLITE_READONLY)
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [])
        let memory = try DatabaseQueue(path: "file:x?mode=memory")
        try memory.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try #expect(folder.fileNames() == ["a b#c%?.sqlite"])
    }

    @Test("The error of a URI names the URI and the reason")
    func uriErrors() throws {
        let folder = try TemporaryFolder()
        for (uri, reason) in [
            ("file:\(folder.path)/a.sqlite?mode=bogus", "no such access mode: bogus"),
            ("file://elsewhere/a.sqlite", "invalid uri authority: elsewhere"),
            ("file:\(folder.path)/a.sqlite?mode=rw", "No such file or directory"),
            ("file:\(folder.path)/no/a.sqlite", "No such file or directory"),
        ] {
            #expect(try failure(uri).message == "could not open the database at \(uri): \(reason)")
        }
        try #expect(folder.fileNames() == [])
    }

    // MARK: - In memory

    @Test("Databases in memory and temporary ones are alone", arguments: [":memory:", ""])
    func alone(_ path: String) throws {
        let (a, b) = try (DatabaseQueue(path: path), DatabaseQueue(path: path))
        try a.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try #expect(b.read { db in try db.integers("SELECT COUNT(*) FROM sqlite_master") } == [0])
        try a.inDatabase { db in try #expect(db.isUsable()) }
        try a.close()
        let error = try #require(throws: DatabaseError.self) { try a.read { _ in } }
        #expect(error.message?.contains("  ") == false)
    }

    @Test(
        "Databases of one name in memory are one, those of other names are others",
        arguments: [
            "a", "A", "a b", "?", "a?mode=rw", "%", "%41", "#", "a#b", "&cache=private", "/", "/tmp/x", "😀",
            "é",
            ":memory:", "file:x", "\"'", "..", "a\0b", "a\0c", "", String(repeating: "x", count: 400),
        ])
    func named(_ name: String) throws {
        let unique = "\(UUID().uuidString)"
        let hadFile = FileManager.default.fileExists(atPath: name)
        for (first, second) in [
            ("\(unique)\(name)", "\(unique)\(name)-"), ("\(name)\(unique)", "-\(name)\(unique)"),
        ] {
            let (a, b) = try (DatabaseQueue(named: first), DatabaseQueue(named: first))
            let other = try DatabaseQueue(named: second)
            try a.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (7)") }
            try #expect(b.read { db in try db.integers("SELECT a FROM t") } == [7])
            try #expect(other.read { db in try db.integers("SELECT COUNT(*) FROM sqlite_master") } == [0])
            try #expect(
                DatabaseQueue().read { db in try db.integers("SELECT COUNT(*) FROM sqlite_master") } == [0])
        }
        #expect(FileManager.default.fileExists(atPath: name) == hadFile)
    }

    @Test("The empty name is a name")
    func emptyName() throws {
        let (a, b) = try (DatabaseQueue(named: ""), DatabaseQueue(named: ""))
        try a.write { db in try db.execute(sql: "CREATE TABLE empty (a); INSERT INTO empty VALUES (7)") }
        let found = try b.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'empty'")
        }
        #expect(found == 1)
    }

    @Test("A named database is forgotten with its last queue")
    func forgotten() throws {
        let name = UUID().uuidString
        do {
            let queue = try DatabaseQueue(named: name)
            try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        }
        try #expect(
            DatabaseQueue(named: name).read { db in try db.integers("SELECT COUNT(*) FROM sqlite_master") }
                == [0])
    }

    // MARK: - Damage

    @Test("An empty file is an empty database")
    func emptyFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "a.sqlite")
        try DatabaseQueue(path: path).inDatabase { db in try #expect(db.isUsable()) }
    }

    @Test("A corrupt page is an error where it is read, and the other pages are still there")
    func corruptPage() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        var root = 0
        do {
            let queue = try DatabaseQueue(path: path)
            try queue.write { db in
                try db.execute(
                    sql: "CREATE TABLE good (a); CREATE TABLE bad (a); INSERT INTO good VALUES (1)")
                for _ in 0..<100 {
                    try db.execute(
                        sql: "INSERT INTO bad VALUES (?)", arguments: [String(repeating: "x", count: 1000)])
                }
                root = try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'bad'") ?? 0
            }
        }
        var bytes = try Data(contentsOf: URL(filePath: path))
        let page = (root - 1) * 4096
        bytes.replaceSubrange(page..<page + 4096, with: [UInt8](repeating: 0xEE, count: 4096))
        _ = try folder.write(bytes, to: "a.sqlite")
        try DatabaseQueue(path: path).inDatabase { db in
            for sql in ["SELECT * FROM bad", "INSERT INTO bad VALUES (1)", "SELECT COUNT(*) FROM bad"] {
                let error = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(error.resultCode == .SQLITE_CORRUPT)
                #expect(error.message == "database disk image is malformed")
                #expect(error.sql == sql)
            }
            try db.execute(sql: "INSERT INTO good VALUES (2)")
            try #expect(db.integers("SELECT a FROM good") == [1, 2])
        }
    }

    @Test("A corrupt schema is an error at opening, which names the path")
    func corruptSchema() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        try DatabaseQueue(path: path).write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes.replaceSubrange(100..<200, with: [UInt8](repeating: 0xEE, count: 100))
        _ = try folder.write(bytes, to: "a.sqlite")
        let error = try failure(path)
        #expect(error.resultCode == .SQLITE_CORRUPT)
        #expect(error.message == "could not open the database at \(path): database disk image is malformed")
        try #expect(folder.openFiles() == [])
    }
}
