import TestSupport
import Testing

@testable import Shellac

@Suite("A migration that merges others")
struct DatabaseMigratorMergingTests {
    private let queue: DatabaseQueue
    private let ran = Recorder<Set<String>>()

    init() throws { queue = try DatabaseQueue() }

    /// `a`, then `bcd` in the place of `b`, `c` and `d`, then `e`: each makes the tables of its
    /// letters.
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

    @Test("runs where all of them were applied, is told so, and replaces their names", .behaviour(105))
    func all() throws {
        let old = DatabaseMigrator.creatingTables("a", "b", "c", "d")
        try old.migrate(queue)
        let migrator = migrator()
        #expect(try state(migrator) == [["a"], ["a"]])
        #expect(try ask { try !migrator.hasBeenSuperseded($0) })
        #expect(try ask { try !migrator.hasCompletedMigrations($0) })
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
        ran.removeAll()
        let heard = Recorder<MigrationProgress>()
        try migrator.migrate(queue) { heard.record($0) }
        #expect(ran.elements == [["b", "c", "d"]])
        #expect(
            heard.elements == [
                MigrationProgress(name: "bcd", index: 0, count: 2),
                MigrationProgress(name: "e", index: 1, count: 2),
            ])
        #expect(try queue.remembered() == ["a", "bcd", "e"])
        #expect(try queue.tables() == ["a", "b", "c", "d", "e"])
        #expect(try state(migrator) == [["a", "bcd", "e"], ["a", "bcd", "e"]])
        #expect(try ask { try !migrator.hasSchemaChanges($0) })
        // A migrator that does not know the merged migration finds itself superseded.
        #expect(try ask { try old.hasBeenSuperseded($0) && old.hasSchemaChanges($0) })
    }

    @Test("named like the last one of several does what is left to do", .behaviour(105), arguments: 0...4)
    func sameName(count: Int) throws {
        let names = ["v1", "v2", "v3", "v4"]
        var old = DatabaseMigrator()
        for name in names.prefix(count) {
            old.registerMigration(name) { db in try db.execute(sql: "CREATE TABLE \(name) (a)") }
        }
        try old.migrate(queue)
        var new = DatabaseMigrator()
        new.registerMigration("v3", merging: ["v1", "v2"]) { [ran] db, applied in
            ran.record(applied)
            for name in ["v1", "v2"] where !applied.contains(name) {
                try db.execute(sql: "CREATE TABLE \(name) (a)")
            }
            try db.execute(sql: "CREATE TABLE v3 (a)")
        }
        new.registerMigration("v4") { db in try db.execute(sql: "CREATE TABLE v4 (a)") }
        #expect(try ask { try !new.hasBeenSuperseded($0) && !new.hasSchemaChanges($0) })
        ran.removeAll()
        try new.migrate(queue)
        #expect(ran.elements == (count < 3 ? [Set(names.prefix(count))] : []))
        #expect(try queue.tables() == names)
        #expect(try Set(queue.remembered()) == ["v3", "v4"])
        #expect(try ask { try new.hasCompletedMigrations($0) && !new.hasSchemaChanges($0) })
        try new.migrate(queue)
        #expect(try Set(queue.remembered()) == ["v3", "v4"])
    }

    @Test("takes the names of the others away where it was applied before it merged them", .behaviour(105))
    func namesLeft() throws {
        let file = try TemporaryDatabase()
        try DatabaseMigrator.creatingTables("b", "c", "d", "bcd").migrate(file.queue())
        var migrator = DatabaseMigrator()
        migrator.registerMigration("bcd", merging: ["b", "c", "d"]) { _, _ in Issue.record("it was applied") }
        // A read-only database can keep them.
        let readOnly = try file.queue { $0.readonly = true }
        try migrator.migrate(readOnly)
        let heard = Recorder<String>()
        try migrator.migrate(file.queue()) { heard.record($0.name) }
        #expect(heard.elements == [])
        #expect(try file.queue().remembered() == ["bcd"])
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
        let error = databaseError { try migrator.migrate(queue) }
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
        #expect(ran.elements == [["b", "c", "d"]])
        #expect(try new.remembered() == ["a", "bcd", "e"])
    }

    @Test("migrating up to a name knows what the merged ones have done")
    func upTo() throws {
        try DatabaseMigrator.creatingTables("b", "c", "d").migrate(queue)
        let migrator = migrator()
        let error = databaseError { try migrator.migrate(queue, upTo: "a") }
        #expect(error?.migration == "a")
        try migrator.migrate(queue, upTo: "bcd")
        #expect(ran.elements == [["b", "c", "d"]])
        #expect(try queue.tables() == ["b", "c", "d", "a"])
        #expect(try Set(queue.remembered()) == ["a", "bcd"])
    }

    @Test("a read-only database will do where it was applied, and nowhere else")
    func readOnly() throws {
        let file = try TemporaryDatabase()
        try DatabaseMigrator.creatingTables("a", "b", "c", "d").migrate(file.queue())
        let readOnly = try file.queue { $0.readonly = true }
        let error = databaseError { try migrator().migrate(readOnly) }
        #expect(error?.migration == "bcd")
        #expect(try file.queue().remembered() == ["a", "b", "c", "d"])
        try migrator().migrate(file.queue())
        try migrator().migrate(readOnly)
        #expect(try readOnly.remembered() == ["a", "bcd", "e"])
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
