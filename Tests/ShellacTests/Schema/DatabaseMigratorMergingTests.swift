import TestSupport
import Testing

@testable import Shellac

@Suite("A migration that merges others")
struct DatabaseMigratorMergingTests {
    private let queue: DatabaseQueue
    private let ran = Recorder<Set<String>>()

    init() throws { queue = try DatabaseQueue() }

    /// `a`, then `bcd` in the place of `b`, `c` and `d`, then `e`: each makes the tables of its letters.
    private func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator.creatingTables("a")
        migrator.registerMigration("bcd", merging: ["b", "c", "d"]) { [ran] db, applied in
            ran.record(applied)
            for name in ["b", "c", "d"] where !applied.contains(name) {
                try db.execute(sql: "CREATE TABLE \(name) (a)")
            }
        }
        migrator.registerMigration("e") { db in try db.execute(sql: "CREATE TABLE e (a)") }
        return migrator
    }

    private func state(_ migrator: DatabaseMigrator) throws -> [[String]] {
        try queue.read { db in
            [try migrator.appliedMigrations(db), try migrator.completedMigrations(db)]
        }
    }

    private func ask(_ question: (Database) throws -> Bool) throws -> Bool { try queue.read(question) }

    @Test("runs where none of them was applied")
    func none() throws {
        let migrator = migrator()
        #expect(try state(migrator) == [[], []])
        try DatabaseMigrator.creatingTables("a").migrate(queue)
        #expect(try state(migrator) == [["a"], ["a"]])
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(ran.elements == [[]])
        #expect(try queue.remembered() == ["a", "bcd", "e"])
        #expect(try queue.tables() == ["a", "b", "c", "d", "e"])
        #expect(try ask { try !migrator.hasSchemaChanges($0) && migrator.hasCompletedMigrations($0) })
    }

    @Test("counts as applied where all of them were, does not run, and replaces their names")
    func all() throws {
        let old = DatabaseMigrator.creatingTables("a", "b", "c", "d")
        try old.migrate(queue)
        let migrator = migrator()
        #expect(try state(migrator) == [["a", "bcd"], ["a", "bcd"]])
        #expect(try ask { try !migrator.hasBeenSuperseded($0) })
        #expect(try ask { try !migrator.hasCompletedMigrations($0) })
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
        ran.removeAll()
        let heard = Recorder<MigrationProgress>()
        try migrator.migrate(queue) { heard.record($0) }
        #expect(ran.elements == [])
        #expect(heard.elements == [MigrationProgress(name: "e", index: 0, count: 1)])
        #expect(try queue.remembered() == ["a", "bcd", "e"])
        #expect(try queue.tables() == ["a", "b", "c", "d", "e"])
        #expect(try state(migrator) == [["a", "bcd", "e"], ["a", "bcd", "e"]])
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
        // Who does not know the merged one finds himself superseded.
        #expect(try ask { try old.hasBeenSuperseded($0) && old.hasSchemaChanges($0) })
    }

    @Test("runs where some of them were applied, is told which, and replaces their names")
    func some() throws {
        try DatabaseMigrator.creatingTables("a", "d", "b").migrate(queue)
        let migrator = migrator()
        #expect(try state(migrator) == [["a"], ["a"]])
        #expect(try ask { try !migrator.hasBeenSuperseded($0) && !migrator.hasSchemaChanges($0) })
        let heard = Recorder<String>()
        try migrator.migrate(queue) { heard.record($0.name) }
        #expect(ran.elements == [["b", "d"]])
        #expect(heard.elements == ["bcd", "e"])
        #expect(try queue.remembered() == ["a", "bcd", "e"])
        #expect(try queue.tables() == ["a", "d", "b", "c", "e"])
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
    }

    @Test("fails with all that it did undone, and the names of the merged ones stay")
    func failure() throws {
        try DatabaseMigrator.creatingTables("b").migrate(queue)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("bcd", foreignKeyChecks: .immediate, merging: ["b", "c"]) { db, _ in
            try db.execute(sql: "CREATE TABLE c (a); CREATE TABLE b (a)")
        }
        let error = thrownError { try migrator.migrate(queue) } as? DatabaseMigrationError
        #expect(error?.migration == "bcd")
        #expect(try queue.remembered() == ["b"])
        #expect(try queue.tables() == ["b"])
    }

    @Test("is passed over where another process merged them meanwhile")
    func faster() throws {
        let file = try TemporaryDatabase()
        let (here, there) = (try file.queue(), try file.queue())
        let migrator = migrator()
        try migrator.migrate(here) { progress in
            if progress.name == "bcd" { #expect(throws: Never.self) { try migrator.migrate(there) } }
        }
        #expect(ran.elements == [[]])
        #expect(try here.remembered() == ["a", "bcd", "e"])
        // The older version of the program has applied the rest meanwhile.
        let other = try TemporaryDatabase()
        let (new, old) = (try other.queue(), try other.queue())
        try DatabaseMigrator.creatingTables("a", "b", "c").migrate(new)
        ran.removeAll()
        try migrator.migrate(new) { progress in
            guard progress.name == "bcd" else { return }
            #expect(throws: Never.self) {
                try DatabaseMigrator.creatingTables("a", "b", "c", "d").migrate(old)
            }
        }
        #expect(ran.elements == [])
        #expect(try new.remembered() == ["a", "bcd", "e"])
    }

    @Test("migrating up to a name knows what the merged ones have done")
    func upTo() throws {
        try DatabaseMigrator.creatingTables("b", "c", "d").migrate(queue)
        let migrator = migrator()
        let error = thrownError { try migrator.migrate(queue, upTo: "a") } as? DatabaseMigrationError
        #expect(error?.migration == "a")
        try migrator.migrate(queue, upTo: "bcd")
        #expect(ran.elements == [])
        #expect(try queue.tables() == ["b", "c", "d", "a"])
        #expect(try Set(queue.remembered()) == ["a", "bcd"])
    }

    @Test("a read-only database will do where all of them were applied")
    func readOnly() throws {
        let file = try TemporaryDatabase()
        try DatabaseMigrator.creatingTables("a", "b", "c", "d", "e").migrate(file.queue())
        let readOnly = try file.queue { $0.readonly = true }
        try migrator().migrate(readOnly)
        #expect(try readOnly.remembered() == ["a", "b", "c", "d", "e"])
        #expect(try readOnly.read { db in try migrator().hasCompletedMigrations(db) })
    }

    @Test("a database is erased when its schema is another one, and never when it is half merged")
    func erasing() throws {
        var migrator = migrator()
        migrator.eraseDatabaseOnSchemaChange = true
        try DatabaseMigrator.creatingTables("a", "b").migrate(queue)
        try queue.write { db in try db.execute(sql: "INSERT INTO b VALUES (1)") }
        try migrator.migrate(queue)
        try migrator.migrate(queue)
        #expect(try queue.read { db in try db.integers("SELECT a FROM b") } == [1])
        var changed = DatabaseMigrator.creatingTables("a")
        changed.eraseDatabaseOnSchemaChange = true
        changed.registerMigration("bcd", merging: ["b", "c", "d"]) { db, applied in
            #expect(applied.isEmpty)
            try db.execute(sql: "CREATE TABLE b (a, more)")
        }
        try changed.migrate(queue)
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.read { db in try db.integers("SELECT a FROM b") } == [])
    }

    @Test(
        "names that are merged and registered, or merged twice, stop the program with a sentence",
        arguments: [
            ("b", ["b"], "the migration \"b\" merges itself"),
            ("x", ["a"], "the migration \"a\" is merged into \"x\""),
            ("c", [], "the migration \"c\" is merged into \"bc\""),
            ("x", ["c", "y"], "the migration \"c\" is merged into \"bc\" and \"x\""),
        ])
    func misuse(name: String, merged: [String], sentence: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [name = name as String, merged = merged as [String]] in
            crashWithoutBacktrace()
            var migrator = DatabaseMigrator.creatingTables("a")
            migrator.registerMigration("bc", merging: ["b", "c"]) { _, _ in }
            migrator.registerMigration(name, merging: Set(merged)) { _, _ in }
        }
        let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(error.contains(sentence))
    }
}
