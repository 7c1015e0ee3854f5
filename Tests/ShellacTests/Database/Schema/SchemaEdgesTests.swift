import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Schemas at their edges: observers, collations and attached files")
struct SchemaEdgesTests {
    @Test("a rebuild tells observers that the table has changed, and nothing of the one that takes its place")
    func rebuild() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, n); INSERT INTO a VALUES (1, 2), (2, 3)")
            try db.execute(sql: "CREATE TABLE b (id INTEGER PRIMARY KEY)")
        }
        let (spy, other) = (ObserverSpy(), ObserverSpy())
        other.filter = { $0.tableName == "b" }
        queue.add(transactionObserver: spy)
        queue.add(transactionObserver: other)
        let changes = Recorder<String>()
        let tokens = ["a", "b"].map { name in
            DatabaseRegionObservation(tracking: DatabaseRegion(table: name)).start(
                in: queue, onError: { _ in }, onChange: { _ in changes.record(name) })
        }
        func rebuild(_ db: Database) throws {
            try db.rebuild(table: "a") { t in
                t.primaryKey("id", .integer)
                t.column("n", .integer)
            }
        }
        try queue.write { db in
            try rebuild(db)
            try db.execute(sql: "UPDATE a SET n = 4 WHERE id = 1")
        }
        #expect(spy.removeAll() == ["undetected", "update a 1", "willCommit", "didCommit"])
        #expect(!other.removeAll().contains("undetected"))
        #expect(changes.elements == ["a"])
        try queue.inDatabase(rebuild)
        #expect(spy.removeAll() == ["undetected", "willCommit", "didCommit"])
        #expect(changes.elements == ["a", "a"])
        try queue.inTransaction { db in
            try rebuild(db)
            return .rollback
        }
        #expect(changes.elements == ["a", "a"])
        for token in tokens { token.cancel() }
    }

    @Test(
        "a unique index is a key where it takes for equal what its columns do",
        arguments: [
            ("BINARY", "BINARY", true), ("BINARY", "NOCASE", true), ("NOCASE", "NOCASE", true),
            ("NOCASE", "nocase", true), ("NOCASE", "BINARY", false), ("NOCASE", "RTRIM", false),
        ])
    func collations(column: String, index: String, isKey: Bool) throws {
        struct Mail: TableRecord, FetchableRecord {
            init(row: Row) throws {}
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE mail (id INTEGER PRIMARY KEY, email TEXT COLLATE \(column));
                    CREATE UNIQUE INDEX i ON mail (email COLLATE \(index)); INSERT INTO mail (email) VALUES ('a');
                    INSERT OR IGNORE INTO mail (email) VALUES ('A')
                    """)
            let key: [String: (any DatabaseValueConvertible)?] = ["email": "a"]
            let refusal = RecordError.notAUniqueKey(databaseTableName: "mail", columns: ["email"])
            for attempt in [
                { _ = try Mail.fetchOne(db, key: key) }, { _ = try Mail.filter(key: key).fetchAll(db) },
                { _ = try Mail.deleteOne(db, key: key) },
            ] as [() throws -> Void] {
                #expect(thrownError { try attempt() } as? RecordError == (isKey ? nil : refusal))
            }
        }
    }

    @Test("looking for schema changes leaves attached files alone, and knows functions that were added later")
    func attachedFiles() throws {
        let folder = try TemporaryFolder()
        let attached = folder.path("att.sqlite")
        try DatabaseQueue(path: attached).inDatabase { db in
            try db.execute(sql: "CREATE TABLE log (a); INSERT INTO log VALUES ('before')")
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "ATTACH ? AS att", arguments: [attached])
        }
        let queue = try DatabaseQueue(path: folder.path("main.sqlite"), configuration: configuration)
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    Int.fromDatabaseValue(values[0]).map { $0 * 2 }
                })
            try db.add(
                collation: DatabaseCollation("backwards") { a, b in
                    a < b ? .orderedDescending : .orderedAscending
                })
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE main.t (a, b AS (twice(a)), c COLLATE backwards)")
            try db.execute(sql: "CREATE INDEX main.i ON t (twice(a))")
            try db.execute(sql: "INSERT INTO att.log SELECT 'migrated ' || count(*) FROM att.log")
        }
        try migrator.migrate(queue)
        migrator.eraseDatabaseOnSchemaChange = true
        for _ in 0..<2 {
            let hasChanges = try queue.read { db in try migrator.hasSchemaChanges(db) }
            #expect(!hasChanges)
            try migrator.migrate(queue)
        }
        let log = try queue.read { db in try String.fetchAll(db, sql: "SELECT a FROM att.log") }
        #expect(log == ["before", "migrated 1"])
        try queue.write { db in try db.execute(sql: "CREATE TABLE main.u (a)") }
        let hasChanges = try queue.read { db in try migrator.hasSchemaChanges(db) }
        #expect(hasChanges)
    }
}
