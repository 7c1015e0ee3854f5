import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Migrations from files")
struct DatabaseMigratorFilesTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue()
    }

    private func write(_ sql: String, to name: String) throws { _ = try folder.write(sql.utf8, to: name) }

    private func migrator() throws -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        try migrator.registerMigrations(fromFolder: folder.url)
        return migrator
    }

    @Test(
        "each .sql file of a folder is a migration, named as the file, in the order of the numbers",
        .behaviour(55))
    func order() throws {
        try write("ALTER TABLE c RENAME TO d", to: "migration10.sql")
        try write("ALTER TABLE b RENAME TO c;", to: "migration2.sql")
        try write(
            "\u{FEFF}-- The first one.\nCREATE TABLE a (x);\nINSERT INTO a VALUES ('é; 1'); ALTER TABLE a RENAME TO b",
            to: "migration01.sql")
        try write("nonsense", to: "README.md")
        try write("nonsense", to: "._migration1.sql")
        try write("nonsense", to: "migration3.sql~")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "folder.sql"), withIntermediateDirectories: true)
        let names = ["migration01.sql", "migration2.sql", "migration10.sql"]
        #expect(try migrator().migrations == names)
        try migrator().migrate(queue)
        try migrator().migrate(queue)
        #expect(try queue.remembered() == names)
        #expect(try queue.tables() == ["d"])
        #expect(try queue.read { db in try String.fetchOne(db, sql: "SELECT x FROM d") } == "é; 1")
        // A path will do as well, and an empty file is a migration that does nothing.
        try write("", to: "migration11.sql")
        var migrator = DatabaseMigrator()
        try migrator.registerMigrations(fromFolder: folder.path)
        try migrator.migrate(queue)
        #expect(try queue.remembered() == names + ["migration11.sql"])
    }

    @Test("the .sql files of a bundle are migrations", .behaviour(55))
    func bundle() throws {
        let resources = folder.url.appending(path: "Game.resources")
        let migrations = resources.appending(path: "My Migrations")
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        try write("CREATE TABLE b (x)", to: "Game.resources/My Migrations/2.sql")
        try write("CREATE TABLE a (x)", to: "Game.resources/My Migrations/1.sql")
        try write("CREATE TABLE c (x)", to: "Game.resources/3.sql")
        let bundle = try #require(Bundle(url: resources))
        var migrator = DatabaseMigrator()
        try migrator.registerMigrations(
            fromResources: bundle.resourceURL, subdirectory: "My Migrations")
        #expect(migrator.migrations == ["1.sql", "2.sql"])
        try migrator.registerMigrations(fromResources: bundle.resourceURL, foreignKeyChecks: .immediate)
        #expect(migrator.migrations == ["1.sql", "2.sql", "3.sql"])
        try migrator.migrate(queue)
        #expect(try queue.tables() == ["a", "b", "c"])
        let error = databaseError {
            try migrator.registerMigrations(fromResources: bundle.resourceURL, subdirectory: "missing")
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.message?.contains("Game.resources/missing") == true)
        let nothing = databaseError { try migrator.registerMigrations(fromResources: nil) }
        #expect(nothing?.message == "the migrations cannot be read: the bundle has no resources")
    }

    @Test("an error names the file, and nothing of it stays", .behaviour(55))
    func failure() throws {
        try write("CREATE TABLE a (x)", to: "1.sql")
        try write("CREATE TABLE b (x); INSERT INTO c VALUES (1)", to: "2.sql")
        let error = thrownError { try migrator().migrate(queue) }
        #expect(
            error.map { "\($0)" }
                == "the migration \"2.sql\" failed: SQLite error 1: no such table: c - while executing "
                + "`INSERT INTO c VALUES (1)`")
        #expect(try queue.tables() == ["a"])
        try write("BEGIN; CREATE TABLE b (x); COMMIT", to: "2.sql")
        let second = databaseError { try migrator().migrate(queue) }
        #expect(second?.migration == "2.sql")
        #expect(second?.resultCode == .SQLITE_MISUSE)
        #expect(try queue.tables() == ["a"])
    }

    @Test("a file that is gone or is no UTF-8, and a folder that is not there, are errors that say where")
    func unreadable() throws {
        _ = try folder.write([0x2D, 0x2D, 0xFF], to: "1.sql")
        let migrator = try migrator()
        func reason() -> DatabaseError? {
            let error = databaseError { try migrator.migrate(queue) }
            #expect(error?.migration == "1.sql")
            return error
        }
        #expect(reason()?.message == "the file \(folder.path("1.sql")) is not UTF-8")
        try FileManager.default.removeItem(atPath: folder.path("1.sql"))
        #expect(reason()?.resultCode == .SQLITE_CANTOPEN)
        let missing = folder.path("missing")
        var empty = DatabaseMigrator()
        let error = databaseError { try empty.registerMigrations(fromFolder: missing) }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.message?.contains(missing) == true)
        #expect(empty.migrations == [])
    }

    @Test("numbers inside the names count as numbers, and the order is the same whatever it was before")
    func names() {
        let ordered = [
            "", "01", "1", "1a", "2", "10", "10a2", "10a10", "99999999999999999999998",
            "99999999999999999999999", "a", "a0b1", "a0b2", "a1", "ab", "é",
        ]
        var generator = SeededGenerator(seed: 55)
        for _ in 1...50 {
            let shuffled = ordered.shuffled(using: &generator)
            #expect(shuffled.sorted(by: FileNameOrder.isBefore) == ordered, "seed 55")
        }
    }
}
