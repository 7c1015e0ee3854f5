import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("A migration that fails")
struct DatabaseMigratorFailureTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    /// A migrator whose second migration writes, and then does something that fails.
    private func migrator(
        _ checks: DatabaseMigrator.ForeignKeyChecks = .deferred,
        failing: @escaping @Sendable (Database) throws -> Void
    ) -> DatabaseMigrator {
        var migrator = DatabaseMigrator.creatingTables("a")
        migrator.registerMigration("broken", foreignKeyChecks: checks) { db in
            try db.execute(sql: "CREATE TABLE lost (x); INSERT INTO a VALUES (1); PRAGMA user_version = 3")
            try failing(db)
        }
        migrator.registerMigration("last") { _ in Issue.record("a migration ran behind one that failed") }
        return migrator
    }

    /// Expects that the database is as the first migration left it, and can be used.
    private func expectUnharmed() throws {
        #expect(try queue.remembered() == ["a"])
        #expect(try queue.tables() == ["a"])
        #expect(try queue.enforcesForeignKeys)
        try queue.inDatabase { db throws in
            #expect(!db.isInsideTransaction)
            #expect(db.transactionLog.refusal == nil)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") == 0)
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 0)
        }
        var migrator = DatabaseMigrator.creatingTables("a")
        migrator.registerMigration("broken") { db in try db.execute(sql: "CREATE TABLE repaired (x)") }
        try migrator.migrate(queue)
        #expect(try queue.tables() == ["a", "repaired"])
        #expect(try queue.remembered() == ["a", "broken"])
    }

    @Test(
        "it leaves the database as the one before left it, and the error names it", .behaviour(55),
        arguments: [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate])
    func failure(checks: DatabaseMigrator.ForeignKeyChecks) throws {
        let migrator = migrator(checks) { _ in throw TestError(1) }
        let error = thrownError { try migrator.migrate(queue) } as? DatabaseMigrationError
        #expect(error?.migration == "broken")
        #expect(error?.underlyingError as? TestError == TestError(1))
        try expectUnharmed()
    }

    @Test("an error of SQLite is told with its SQL, behind the migration's name", .behaviour(55))
    func sqlError() throws {
        let error = thrownError {
            try migrator { db in try db.execute(sql: "INSERT INTO nowhere VALUES (1)") }.migrate(queue)
        }
        #expect(
            error.map { "\($0)" }
                == "the migration \"broken\" failed: SQLite error 1: no such table: nowhere - while executing "
                + "`INSERT INTO nowhere VALUES (1)`")
        try expectUnharmed()
    }

    @Test("the first migration that fails leaves an empty database empty", .behaviour(55))
    func first() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { _ in throw TestError() }
        #expect(throws: DatabaseMigrationError.self) { try migrator.migrate(queue) }
        #expect(try queue.read { db in try db.tableNames() } == [])
    }

    @Test(
        "a migration that begins or ends a transaction is an error with a sentence, and undone",
        arguments: [
            "BEGIN", "COMMIT", "END", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; INSERT INTO a VALUES (2)",
        ])
    func ownTransaction(sql: String) throws {
        let error = databaseError { try migrator { db in try db.execute(sql: sql) }.migrate(queue) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message?.contains("a migration runs in its own transaction") == true)
        try expectUnharmed()
    }

    @Test("looking for schema changes throws what a migration throws on the empty database")
    func schemaChanges() throws {
        try DatabaseMigrator.creatingTables("a").migrate(queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { _ in throw TestError(1) }
        let failing = migrator
        let error = thrownError { _ = try queue.read { db in try failing.hasSchemaChanges(db) } }
        #expect((error as? DatabaseMigrationError)?.migration == "a")
        #expect((error as? DatabaseMigrationError)?.underlyingError as? TestError == TestError(1))
        #expect(try queue.tables() == ["a"])
    }

    @Test("a migration can use savepoints, also raw ones")
    func savepoints() throws {
        var migrator = DatabaseMigrator.creatingTables("a")
        migrator.registerMigration("b") { db in
            try db.execute(sql: "SAVEPOINT s; INSERT INTO a VALUES (1); ROLLBACK TO s; RELEASE s")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO a VALUES (2)")
                return .commit
            }
            expectError(
                "a migration runs in its own transaction. It can neither end this transaction nor begin "
                    + "another inside of it: leave BEGIN, COMMIT and ROLLBACK out, and use inSavepoint for a "
                    + "part that can be rolled back alone"
            ) { try db.inTransaction { .commit } }
            expectError(
                "a migration runs in its own transaction. It can neither end this transaction nor begin "
                    + "another inside of it: leave BEGIN, COMMIT and ROLLBACK out, and use inSavepoint for a "
                    + "part that can be rolled back alone"
            ) { try db.commit() }
        }
        try migrator.migrate(queue)
        #expect(try queue.read { db in try Int.fetchAll(db, sql: "SELECT * FROM a") } == [2])
        #expect(try queue.remembered() == ["a", "b"])
    }

    @Test("a migration whose transaction SQLite ended by itself is undone, whatever it does then")
    func lostTransaction() throws {
        let migrator = migrator { db in
            try db.execute(sql: "CREATE UNIQUE INDEX i ON a(a)")
            try? db.execute(sql: "INSERT OR ROLLBACK INTO a VALUES (1)")
            try? db.execute(sql: "INSERT INTO a VALUES (2)")
            try? db.execute(sql: "ROLLBACK")
            try? db.execute(sql: "INSERT INTO a VALUES (3)")
        }
        let error = databaseError { try migrator.migrate(queue) }
        #expect(error?.migration == "broken")
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        try expectUnharmed()
    }

    // MARK: - Tasks

    @Test("an async migration runs")
    func async() async throws {
        let heard = Recorder<String>()
        try await DatabaseMigrator.creatingTables("a", "b").migrate(queue) { heard.record($0.name) }
        try await DatabaseMigrator.creatingTables("a", "b", "c").migrate(queue, upTo: "b")
        #expect(heard.elements == ["a", "b"])
        #expect(try await queue.read { db in try db.tableNames() } == ["grdb_migrations", "a", "b"])
    }

    @Test("a cancelled migration stops with the database as the last completed one left it", .behaviour(55))
    func cancellation() async throws {
        let started = Gate()
        let migrator = migrator { db in
            started.open()
            try db.add(function: .pause)
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + pause() FROM n LIMIT 300000000)
                    INSERT INTO a SELECT COUNT(*) FROM n
                    """)
        }
        let task = Task { [queue] in try await migrator.migrate(queue) }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try expectUnharmed()
    }

    @Test("a migration that hides its cancellation is undone all the same", .behaviour(55))
    func hiddenCancellation() async throws {
        let (started, cancelled) = (Gate(), Gate())
        let migrator = migrator { _ in
            started.open()
            try cancelled.wait()
        }
        let task = Task { [queue] in try await migrator.migrate(queue) }
        try await waitUntil { started.isOpen }
        task.cancel()
        cancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        try expectUnharmed()
    }

    // MARK: - Processes

    @Test(
        "a process killed in the middle of a migration leaves the database as the one before left it",
        .behaviour(55))
    func killed() async throws {
        let file = try TemporaryDatabase()
        let path = file.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            var migrator = DatabaseMigrator.creatingTables("a")
            migrator.registerMigration("b") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE b (x);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                        INSERT INTO b SELECT randomblob(1000) FROM n;
                        DELETE FROM player;
                        """)
                kill(getpid(), SIGKILL)
            }
            var configuration = Configuration()
            // Pages go to the file before the commit, and a journal stays behind.
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA cache_size = 10") }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try await queue.write { db in try db.insert("Arthur") }
            try await migrator.migrate(queue)
        }
        let queue = try file.queue()
        #expect(try queue.tables() == ["player", "a"])
        #expect(try queue.remembered() == ["a"])
        #expect(try queue.names() == ["Arthur"])
        try await DatabaseMigrator.creatingTables("a", "b").migrate(queue)
        #expect(try queue.tables() == ["player", "a", "b"])
        #expect(try await queue.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check") } == "ok")
    }
}
