import TestSupport
import Testing

@testable import Shellac

@Suite("The foreign keys of a migration")
struct DatabaseMigratorForeignKeyTests {
    private let spy = SQLSpy()

    /// A database with authors, their books, pages of the books, and something else.
    private func library(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = spy.configuration()
        configure(&configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE book (id INTEGER PRIMARY KEY, authorId REFERENCES Author(id) ON DELETE CASCADE);
                    CREATE TABLE page (bookId REFERENCES book, number, PRIMARY KEY (bookId, number)) WITHOUT ROWID;
                    CREATE TABLE other (a);
                    INSERT INTO author VALUES (1, 'Melville');
                    INSERT INTO book VALUES (7, 1);
                    INSERT INTO page VALUES (7, 1);
                    """)
        }
        return queue
    }

    /// Runs one migration, and returns the tables whose foreign keys were checked at its end.
    @discardableResult
    private func migrate(
        _ queue: DatabaseQueue, _ checks: DatabaseMigrator.ForeignKeyChecks = .deferred,
        _ migration: @escaping @Sendable (Database) throws -> Void
    ) throws -> [String] {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("migration", foreignKeyChecks: checks, migrate: migration)
        spy.removeAll()
        try migrator.migrate(queue)
        return spy.sql.compactMap { $0.wholeMatch(of: /PRAGMA "main".foreign_key_check\("(.*)"\)/) }
            .map { String($0.1) }.sorted()
    }

    /// The reason why a migration fails.
    private func refusal(
        _ queue: DatabaseQueue, _ checks: DatabaseMigrator.ForeignKeyChecks = .deferred, sql: String
    ) -> DatabaseError? {
        databaseError { try migrate(queue, checks) { db in try db.execute(sql: sql) } }
    }

    // MARK: - Deferred

    @Test("deferred ones are not enforced meanwhile, and checked at the end", .behaviour(55))
    func deferred() throws {
        let queue = try library()
        try migrate(queue) { db throws in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false)
            try db.execute(
                sql: """
                    CREATE TABLE new (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    INSERT INTO new SELECT * FROM author;
                    DROP TABLE author;
                    ALTER TABLE new RENAME TO author;
                    """)
        }
        #expect(try queue.enforcesForeignKeys)
        // No cascade has run.
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM book") } == 1)
    }

    @Test(
        "a row that refers to nothing fails the migration, and the error names table, row and parent",
        .behaviour(55),
        arguments: [
            ("DELETE FROM author", "the row 7 of table book refers by authorId to a row of table Author"),
            (
                "INSERT INTO book VALUES (8, 5)",
                "the row 8 of table book refers by authorId to a row of table Author"
            ),
            (
                "UPDATE page SET bookId = 9",
                "a row of table page refers by bookId to a row of table book"
            ),
            ("DROP TABLE author", "the row 7 of table book refers by authorId to a row of table Author"),
            (
                "ALTER TABLE author RENAME TO writer; DELETE FROM writer",
                "the row 7 of table book refers by authorId to a row of table writer"
            ),
            (
                """
                CREATE TABLE s (a REFERENCES author(id), b REFERENCES other(a)); INSERT INTO s VALUES (3, NULL);
                CREATE UNIQUE INDEX u ON other(a); ALTER TABLE s RENAME TO t
                """, "the row 1 of table t refers by a to a row of table author"
            ),
            (
                """
                CREATE TRIGGER broken AFTER INSERT ON other BEGIN DELETE FROM book; END; INSERT INTO other VALUES (1)
                """, "a row of table page refers by bookId to a row of table book"
            ),
        ])
    func violation(sql: String, sentence: String) throws {
        let queue = try library()
        let error = refusal(queue, sql: sql)
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.message == "FOREIGN KEY constraint failed: \(sentence) that does not exist")
        try queue.read { db throws in
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
            #expect(try Set(db.tableNames()) == ["author", "book", "page", "other"])
        }
        #expect(try queue.enforcesForeignKeys)
    }

    @Test("a foreign key whose parent lost its unique index is an error")
    func mismatch() throws {
        let queue = try library()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX i ON author(name);
                    CREATE TABLE fan (name REFERENCES author(name));
                    """)
        }
        #expect(
            refusal(queue, sql: "DROP INDEX i")?.message
                == "foreign key mismatch - \"fan\" referencing \"author\"")
    }

    @Test(
        "only the tables that were touched are checked, and those that refer to them",
        arguments: [
            ("SELECT COUNT(*) FROM author", []),
            ("CREATE INDEX i ON book(authorId)", []),
            ("CREATE TABLE more (a); INSERT INTO more VALUES (1); INSERT INTO other VALUES (1)", []),
            ("ALTER TABLE other ADD COLUMN b", []),
            ("INSERT INTO author VALUES (2, 'Sterne')", ["book"]),
            ("UPDATE BOOK SET id = id", ["book", "page"]),
            ("INSERT INTO page VALUES (7, 2)", ["page"]),
            ("ALTER TABLE page ADD COLUMN text", ["page"]),
            ("CREATE TABLE more (a REFERENCES author(id))", ["more"]),
        ])
    func touched(sql: String, tables: [String]) throws {
        #expect(try migrate(library()) { db in try db.execute(sql: sql) } == tables)
    }

    @Test("what a statement writes that was prepared before the migration is checked, too")
    func cachedStatement() throws {
        let queue = try library()
        let sql = "INSERT INTO book VALUES (?, 1)"
        try queue.write { db in try db.cachedStatement(sql: sql).execute(arguments: [8]) }
        let checked = try migrate(queue) { db in
            try db.cachedStatement(sql: sql).execute(arguments: [9])
        }
        #expect(checked == ["book", "page"])
    }

    @Test("a violation in a table that nothing touches does not stop a migration")
    func olderViolation() throws {
        let queue = try library()
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = 0; DELETE FROM author; PRAGMA foreign_keys = 1")
        }
        try migrate(queue) { db in try db.execute(sql: "INSERT INTO other VALUES (1)") }
        #expect(try queue.remembered() == ["migration"])
    }

    @Test("in attached databases, too, and only the tables touched there", .behaviour(55))
    func attached() throws {
        let queue = try library()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS archive;
                    CREATE TABLE archive.author (id INTEGER PRIMARY KEY);
                    CREATE TABLE archive.book (authorId REFERENCES author);
                    CREATE TABLE archive.page (authorId REFERENCES author);
                    INSERT INTO archive.author VALUES (1);
                    INSERT INTO archive.book VALUES (1);
                    CREATE TEMP TABLE book (id INTEGER PRIMARY KEY, next REFERENCES book);
                    PRAGMA foreign_keys = 0; INSERT INTO archive.page VALUES (9); PRAGMA foreign_keys = 1;
                    """)
        }
        #expect(
            refusal(queue, sql: "INSERT INTO archive.book VALUES (2)")?.message
                == "FOREIGN KEY constraint failed: the row 2 of table archive.book refers by authorId to a "
                + "row of table archive.author that does not exist")
        #expect(
            refusal(queue, sql: "INSERT INTO temp.book VALUES (2, 7)")?.message
                == "FOREIGN KEY constraint failed: the row 2 of table temp.book refers by next to a row of "
                + "table temp.book that does not exist")
        // A table of the same name in another database is left alone.
        #expect(
            try migrate(queue) { db in try db.execute(sql: "UPDATE main.author SET id = id") } == ["book"])
        spy.removeAll()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("archive") { db in
            try db.execute(
                sql: "ALTER TABLE archive.book RENAME TO old; ALTER TABLE archive.old ADD COLUMN b; "
                    + "INSERT INTO archive.old VALUES (1, 1)")
        }
        try migrator.migrate(queue)
        #expect(
            spy.sql.filter { $0.contains("foreign_key_check") }
                == [#"PRAGMA "archive".foreign_key_check("old")"#])
    }

    @Test("where the connection does not enforce foreign keys, none are checked")
    func notEnforced() throws {
        let queue = try library { $0.foreignKeysEnabled = false }
        #expect(try migrate(queue) { db in try db.execute(sql: "DELETE FROM author") } == [])
        #expect(try !queue.enforcesForeignKeys)
        #expect(try queue.remembered() == ["migration"])
    }

    // MARK: - Immediate

    @Test("immediate ones are enforced statement by statement", .behaviour(55))
    func immediate() throws {
        let queue = try library()
        let error = refusal(queue, .immediate, sql: "INSERT INTO book VALUES (8, 5)")
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.sql == "INSERT INTO book VALUES (8, 5)")
        let checked = try migrate(queue, .immediate) { db in
            try db.execute(sql: "DELETE FROM page; DELETE FROM author")
        }
        #expect(checked == [])
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM book") } == 0)
    }

    @Test(
        "a constraint that is itself deferred is checked when an immediate migration is committed",
        .behaviour(55))
    func deferredConstraint() throws {
        let queue = try library()
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE fan (a REFERENCES author(id) DEFERRABLE INITIALLY DEFERRED)")
        }
        let error = refusal(queue, .immediate, sql: "INSERT INTO fan VALUES (5)")
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM fan") } == 0)
    }

    // MARK: - Many migrations

    @Test(
        "a hundred migrations run in order, and check a large table only where it is concerned",
        .behaviour(55))
    func hundred() throws {
        let queue = try library()
        var migrator = DatabaseMigrator()
        let ran = Recorder<Int>()
        for number in 1...100 {
            migrator.registerMigration("migration \(number)") { db in
                ran.record(number)
                try db.execute(
                    sql: """
                        CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, authorId REFERENCES author(id));
                        ALTER TABLE t\(number) ADD COLUMN added;
                        """)
                if number.isMultiple(of: 50) { try db.execute(sql: "UPDATE book SET authorId = 1") }
            }
        }
        spy.removeAll()
        try migrator.migrate(queue)
        #expect(ran.elements == Array(1...100))
        #expect(try queue.remembered() == migrator.migrations)
        let checks = spy.sql.filter { $0.contains("foreign_key_check") }
        // Each new table once, and books and their pages twice.
        #expect(checks.count == 104)
        #expect(checks.filter { $0.contains("\"book\"") }.count == 2)
        // The second run reads the names, and nothing else.
        spy.removeAll()
        try migrator.migrate(queue)
        #expect(spy.sql.filter { $0.contains("grdb_migrations") }.count == 1)
        #expect(!spy.sql.contains { $0.hasPrefix("BEGIN") })
    }
}
