import Foundation
import Shellac
import ShellacTesting
import TestSupport
import Testing

/// A migrator with the first steps of a program.
private func migrator(steps: Int, column: String = "score") -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("players") { db in
        try db.create(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull()
        }
    }
    if steps > 1 {
        migrator.registerMigration("scores") { db in
            try db.alter(table: "player") { t in t.add(column: column, .integer).notNull().defaults(to: 1) }
        }
    }
    if steps > 2 {
        migrator.registerMigration("unique names") { db in
            try db.create(indexOn: "player", columns: ["name"], options: .unique)
        }
    }
    return migrator
}

@Suite("Images of released schemas")
struct SchemaImagesTests {
    struct Wrong: Error {}
    private let folder: TemporaryFolder
    private let images: SchemaImages

    init() throws {
        folder = try TemporaryFolder()
        images = SchemaImages("Schemas", file: folder.path("Tests.swift"))
    }

    private func record(_ version: String, steps: Int, names: [String] = ["Arthur"]) throws {
        try images.record(
            version,
            of: DatabaseTemplate { dbQueue in
                try migrator(steps: steps).migrate(dbQueue)
                try dbQueue.write { db in
                    for name in names {
                        try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
                    }
                }
            })
    }

    @Test("are migrated with their rows, in the order of their versions", .behaviour(88))
    func migrated() throws {
        try record("1.10", steps: 2)
        try record("1.2", steps: 1)
        var counts: [Int?] = []
        let versions = try images.migrate(with: migrator(steps: 3)) { db in
            counts.append(try Int.fetchOne(db, sql: "SELECT score FROM player WHERE name = 'Arthur'"))
        }
        #expect(versions == ["1.2", "1.10"])
        #expect(images.versions == versions)
        #expect(counts == [1, 1])
        // The images themselves stay as they are.
        #expect(try images.migrate(with: migrator(steps: 3)) == versions)
    }

    @Test("are not written again", .behaviour(88))
    func written() throws {
        try record("1", steps: 1)
        #expect(
            thrownText { try record("1", steps: 2) }
                == "version 1: it has an image, which must stay as it was released")
        #expect(try images.migrate(with: migrator(steps: 1)) == ["1"])
    }

    @Test("fail if a migration was changed after its release", .behaviour(88))
    func changedMigration() throws {
        try record("1", steps: 2)
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 3, column: "points")) }
                == "version 1: the migrated schema differs from that of an empty database that is migrated")
    }

    @Test(
        "fail if their rows do not fit, if a check throws, and if they are newer or no databases",
        .behaviour(88))
    func failures() throws {
        try record("1", steps: 1, names: ["Arthur", "Arthur"])
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 3)) }
                .hasPrefix("version 1: its migration has failed: "))
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 2)) { _ in throw Wrong() } }
                == "version 1: the check has failed: Wrong()")
        try record("2", steps: 3)
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 2)) }
                == "version 2: it has migrations that this migrator does not know")
        try FileManager.default.removeItem(atPath: folder.path("Schemas/2.sqlite"))
        _ = try folder.write(String(repeating: "no database", count: 100).utf8, to: "Schemas/3.sqlite")
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 2)) }
                .hasPrefix("version 3: its image cannot be read: "))
    }

    @Test("are missed if there are none", .behaviour(88))
    func none() {
        #expect(
            thrownText { try images.migrate(with: migrator(steps: 1)) }
                .hasPrefix("version none: there are no images in "))
    }
}
