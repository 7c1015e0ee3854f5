import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

extension DatabaseMigrator {
    /// A migrator whose migrations each create a table of their own name.
    static func creatingTables(_ names: String...) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for name in names {
            migrator.registerMigration(name) { db in try db.execute(sql: "CREATE TABLE \(name) (a)") }
        }
        return migrator
    }
}

extension DatabaseQueue {
    /// The tables, without the one that remembers migrations.
    func tables() throws -> [String] {
        try read { db in try db.tableNames().filter { $0 != "grdb_migrations" } }
    }

    /// Returns the migrations that the database remembers, in their order.
    func remembered() throws -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
        }
    }

    var enforcesForeignKeys: Bool {
        get throws { try inDatabase { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false } }
    }
}

@Suite("The migrator")
struct DatabaseMigratorTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    // MARK: - In order, once

    @Test("each migration runs in order, and once", .behaviour(55))
    func example() throws {
        let ran = Recorder<String>()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("createTables") { db in
            ran.record("createTables")
            try db.execute(
                sql: "CREATE TABLE persons (id INTEGER PRIMARY KEY, name TEXT);"
                    + "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT)")
        }
        try migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "INSERT INTO persons (name) VALUES ('Arthur')") }
        migrator.registerMigration("AddAgeToPersons") { db in
            ran.record("AddAgeToPersons")
            try db.execute(sql: "ALTER TABLE persons ADD COLUMN age INT")
        }
        for _ in 1...3 { try migrator.migrate(queue) }
        #expect(ran.elements == ["createTables", "AddAgeToPersons"])
        #expect(try queue.remembered() == ["createTables", "AddAgeToPersons"])
        #expect(try queue.tables() == ["persons", "books"])
        #expect(try queue.read { db in try db.columns(in: "persons").map(\.name) } == ["id", "name", "age"])
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM persons") } == 1)
    }

    @Test("the table that remembers has the name and the columns of the family", .behaviour(55))
    func table() throws {
        try DatabaseMigrator.creatingTables("a").migrate(queue)
        let sql = try queue.read { db in
            try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'")
        }
        #expect(sql == "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    }

    @Test("a database that the other library migrated is recognised, and goes on from there", .behaviour(55))
    func family() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    CREATE TABLE a (x);
                    INSERT INTO grdb_migrations VALUES ('a');
                    """)
        }
        try DatabaseMigrator.creatingTables("a", "b").migrate(queue)
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.remembered() == ["a", "b"])
    }

    @Test("names that are not registered are left alone", .behaviour(55))
    func unknownNames() throws {
        try DatabaseMigrator.creatingTables("a", "later").migrate(queue)
        let older = DatabaseMigrator.creatingTables("a", "b")
        try older.migrate(queue)
        #expect(try queue.remembered() == ["a", "later", "b"])
        #expect(try queue.tables() == ["a", "later", "b"])
        try queue.read { db throws in
            #expect(try older.appliedMigrations(db) == ["a", "b"])
            #expect(try older.appliedIdentifiers(db) == ["a", "b", "later"])
            #expect(try older.hasBeenSuperseded(db))
            #expect(try older.hasCompletedMigrations(db))
        }
    }

    @Test("a migration registered between applied ones runs")
    func gap() throws {
        try DatabaseMigrator.creatingTables("a", "c").migrate(queue)
        let migrator = DatabaseMigrator.creatingTables("a", "b", "c", "d")
        try queue.read { db throws in
            #expect(try migrator.appliedMigrations(db) == ["a", "c"])
            #expect(try migrator.completedMigrations(db) == ["a"])
            #expect(try !migrator.hasCompletedMigrations(db))
            #expect(try !migrator.hasBeenSuperseded(db))
        }
        try migrator.migrate(queue)
        #expect(try queue.remembered() == ["a", "c", "b", "d"])
        #expect(try queue.read { db in try migrator.appliedMigrations(db) } == ["a", "b", "c", "d"])
        #expect(try queue.read { db in try migrator.completedMigrations(db) } == ["a", "b", "c", "d"])
    }

    @Test("a database that was never migrated remembers nothing, and asking writes nothing")
    func neverMigrated() throws {
        let migrator = DatabaseMigrator.creatingTables("a")
        try queue.read { db throws in
            #expect(try migrator.appliedMigrations(db) == [])
            #expect(try migrator.completedMigrations(db) == [])
            #expect(try !migrator.hasCompletedMigrations(db))
            #expect(try !migrator.hasBeenSuperseded(db))
            #expect(try !migrator.hasSchemaChanges(db))
            #expect(try DatabaseMigrator().hasCompletedMigrations(db))
        }
        try DatabaseMigrator().migrate(queue)
        #expect(try queue.read { db in try db.tableNames() } == [])
    }

    @Test("a migration that another process applied meanwhile is passed over")
    func faster() throws {
        let file = try TemporaryDatabase()
        let (here, there) = (try file.queue(), try file.queue())
        let migrator = DatabaseMigrator.creatingTables("a", "b")
        try migrator.migrate(here) { progress in
            if progress.index == 0 { #expect(throws: Never.self) { try migrator.migrate(there) } }
        }
        #expect(try here.tables() == ["player", "a", "b"])
        #expect(try here.remembered() == ["a", "b"])
    }

    // MARK: - Up to

    @Test("migrating up to a name stops there, and goes on from there later")
    func upTo() throws {
        let migrator = DatabaseMigrator.creatingTables("a", "b", "c")
        try migrator.migrate(queue, upTo: "b")
        try migrator.migrate(queue, upTo: "b")
        #expect(try queue.tables() == ["a", "b"])
        try migrator.migrate(queue)
        #expect(try queue.tables() == ["a", "b", "c"])
    }

    @Test("migrating up to a name that the database is beyond is an error, and changes nothing")
    func beyond() throws {
        try DatabaseMigrator.creatingTables("a", "c").migrate(queue)
        let migrator = DatabaseMigrator.creatingTables("a", "b", "c")
        let error = databaseError { try migrator.migrate(queue, upTo: "b") }
        #expect(error?.migration == "b")
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(
            error.map { "\($0)" }
                == "the migration \"b\" failed: SQLite error 21: the database has been migrated beyond it, "
                + "up to \"c\": migrations cannot be undone")
        #expect(try queue.tables() == ["a", "c"])
    }

    // MARK: - Misuse

    @Test("a name that is registered twice, and one that is not registered, stop the program with a sentence")
    func misuse() async {
        let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            _ = DatabaseMigrator.creatingTables("a", "a")
        }
        let twiceSentence = String(decoding: twice?.standardErrorContent ?? [], as: UTF8.self)
        #expect(twiceSentence.contains("the migration \"a\" is registered twice"))
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            try await DatabaseMigrator.creatingTables("a").migrate(DatabaseQueue(), upTo: "z")
        }
        let unknownSentence = String(decoding: unknown?.standardErrorContent ?? [], as: UTF8.self)
        #expect(unknownSentence.contains("there is no migration \"z\" to migrate up to"))
    }

    // MARK: - Progress

    @Test("progress is told before each migration that has to run")
    func progress() throws {
        try DatabaseMigrator.creatingTables("a").migrate(queue)
        let heard = Recorder<MigrationProgress>()
        let migrator = DatabaseMigrator.creatingTables("a", "b", "c")
        try migrator.migrate(queue) { heard.record($0) }
        #expect(
            heard.elements == [
                MigrationProgress(name: "b", index: 0, count: 2),
                MigrationProgress(name: "c", index: 1, count: 2),
            ])
        try migrator.migrate(queue) { heard.record($0) }
        #expect(heard.elements.count == 2)
    }

    // MARK: - Read-only

    @Test("a database opened read-only will do where nothing is to be done, and is an error elsewhere")
    func readOnly() throws {
        let file = try TemporaryDatabase()
        try DatabaseMigrator.creatingTables("a").migrate(file.queue())
        let readOnly = try file.queue { $0.readonly = true }
        try DatabaseMigrator.creatingTables("a").migrate(readOnly)
        let error = databaseError { try DatabaseMigrator.creatingTables("a", "b").migrate(readOnly) }
        #expect(error?.migration == "b")
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(try readOnly.enforcesForeignKeys)
    }

    // MARK: - Schema changes

    @Test("a schema that the migrations do not make is a schema change")
    func schemaChanges() throws {
        let migrator = DatabaseMigrator.creatingTables("a", "b", "c")
        try migrator.migrate(queue, upTo: "b")
        #expect(try queue.read { db in try !migrator.hasSchemaChanges(db) })
        // A later migration is no change, an earlier one that changed is, and so is one that is
        // gone.
        #expect(try queue.read { db in try !DatabaseMigrator.creatingTables("a", "b").hasSchemaChanges(db) })
        #expect(try queue.read { db in try DatabaseMigrator.creatingTables("a").hasSchemaChanges(db) })
        var changed = DatabaseMigrator()
        changed.registerMigration("a") { db in try db.execute(sql: "CREATE TABLE a (a, other)") }
        changed.registerMigration("b") { db in try db.execute(sql: "CREATE TABLE b (a)") }
        let other = changed
        #expect(try queue.read { db in try other.hasSchemaChanges(db) })
        try queue.inDatabase { db in try db.execute(sql: "ANALYZE; CREATE TEMP TABLE t (a)") }
        #expect(try queue.read { db in try !migrator.hasSchemaChanges(db) })
        for sql in ["CREATE VIEW v AS SELECT 1", "DROP VIEW v; CREATE INDEX i ON a (a)"] {
            try queue.inDatabase { db in try db.execute(sql: sql) }
            #expect(try queue.read { db in try migrator.hasSchemaChanges(db) })
        }
    }

    @Test("what prepares connections to a file is given a file by the look for schema changes")
    func preparedFile() throws {
        let (folder, paths) = (try TemporaryFolder(), Recorder<String>())
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            sqlite3_db_filename(db.sqliteConnection, "main").map { paths.record(String(cString: $0)) }
            // As programs do that keep the log when the last connection is closed.
            var flag: Int32 = 1
            let code = sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        let queue = try DatabaseQueue(path: folder.path("test.sqlite"), configuration: configuration)
        var migrator = DatabaseMigrator.creatingTables("a", "b")
        migrator.eraseDatabaseOnSchemaChange = true
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        let changed = DatabaseMigrator.creatingTables("a")
        #expect(try queue.read { db in try !migrator.hasSchemaChanges(db) && changed.hasSchemaChanges(db) })
        #expect(try folder.fileNames() == ["test.sqlite"])
        #expect(paths.elements.count > 2)
        for path in Set(paths.elements) {
            #expect(FileManager.default.fileExists(atPath: path) == (path == queue.path))
        }
    }

    @Test("a database is erased on a schema change where that was asked for, and there alone")
    func erasing() throws {
        var old = DatabaseMigrator()
        old.registerMigration("a") { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT);
                    CREATE TABLE child (parentId REFERENCES parent(id));
                    CREATE TABLE "odd ""name" (a PRIMARY KEY) WITHOUT ROWID;
                    """)
            try db.execute(
                sql: """
                    CREATE VIEW v AS SELECT * FROM parent;
                    CREATE VIEW w AS SELECT * FROM v;
                    CREATE TRIGGER tv INSTEAD OF INSERT ON v BEGIN SELECT 1; END;
                    CREATE TRIGGER tp AFTER INSERT ON parent BEGIN INSERT INTO child VALUES (new.id); END;
                    CREATE INDEX i ON child(parentId);
                    CREATE VIRTUAL TABLE text USING fts5(body);
                    INSERT INTO parent DEFAULT VALUES;
                    INSERT INTO text VALUES ('hello');
                    PRAGMA user_version = 7;
                    """)
        }
        try old.migrate(queue)
        var new = DatabaseMigrator.creatingTables("a", "b")
        try new.migrate(queue)
        #expect(try queue.tables().contains("parent"))
        try queue.inDatabase { db in try db.execute(sql: "CREATE TEMP TABLE kept (a)") }
        new.eraseDatabaseOnSchemaChange = true
        try new.migrate(queue)
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.remembered() == ["a", "b"])
        try queue.read { db throws in
            let rest = "SELECT name FROM sqlite_master WHERE type <> 'table' OR tbl_name LIKE 'text%'"
            #expect(try String.fetchAll(db, sql: rest) == ["sqlite_autoindex_grdb_migrations_1"])
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 0)
            #expect(try db.tableExists("kept", in: "temp"))
        }
        #expect(try queue.enforcesForeignKeys)
        // A database that is as the migrations make it keeps its rows.
        try queue.write { db in try db.execute(sql: "INSERT INTO a VALUES (1)") }
        try new.migrate(queue)
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") } == 1)
    }
}
