import Shellac
import TestSupport
import Testing

/// The things that a beginner forgets, and the errors that say so.
@Suite("The first mistakes")
struct FirstMistakesTests {
    // MARK: - A class that does not say its columns

    class Silent: Record {
        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "player" }
    }

    class SilentChild: Silent {}

    /// It has nothing to read.
    class Empty: Record {
        override class var databaseTableName: String { "player" }
    }

    /// These read what they need.
    final class ReadInInitializer: Record {
        let name: String

        override class var databaseTableName: String { "player" }
        required init(row: Row) throws {
            name = try row["name"]
            try super.init(row: row)
        }
    }
    final class ReadByPlace: Record {
        let name: String

        override class var databaseTableName: String { "player" }
        required init(row: Row) throws {
            name = try row[1]
            try super.init(row: row)
        }
    }
    final class ReadWhole: Record {
        let names: [String]

        override class var databaseTableName: String { "player" }
        required init(row: Row) throws {
            names = Array(row.columnNames)
            try super.init(row: row)
        }
    }
    final class ReadOptionally: Record {
        let name: String?

        override class var databaseTableName: String { "player" }
        required init(row: Row) throws {
            name = try row["name"]
            try super.init(row: row)
        }
    }
    final class OnlyStored: Record {
        var name = "b"

        override class var databaseTableName: String { "player" }
        override func encode(to container: inout PersistenceContainer) throws { container["name"] = name }
    }
    final class Coded: Record, Codable {
        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "player" }
    }

    private func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { try $0.insert("a") }
        return queue
    }

    @Test(
        "A class with properties that says no column of them throws when it is first fetched, and each time after",
        .behaviour(24), arguments: [Silent.self, SilentChild.self] as [Silent.Type])
    func unlisted(type: Silent.Type) throws {
        try database().write { db in try Self.checkRefusal(of: type, db) }
    }

    private static func checkRefusal<Class: Silent>(of type: Class.Type, _ db: Database) throws {
        let fetches: [(Database) throws -> Void] = [
            { _ = try Class.fetchAll($0) }, { _ = try Class.fetchOne($0, key: 1) },
            { _ = try Class.fetchAll($0, sql: "SELECT * FROM player") },
            { _ = try Class.fetchCursor($0).next() }, { try Silent().insert($0) },
            { try SilentChild().save($0) },
        ]
        for fetch in fetches {
            let error = databaseError { try fetch(db) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            let words = " has properties, but does not define their columns: they would keep"
            #expect(
                error?.message?.contains(words) == true && error?.message?.hasPrefix("Silent") == true,
                "\(error.debugDescription)")
            #expect(error?.message?.contains("List them in columns(_:), or declare Codable.") == true)
        }
        try #expect(db.names() == ["a"])
    }

    @Test(
        "A class without properties, and one that reads or stores them in another way, is left alone",
        .behaviour(24))
    func others() throws {
        try database().write { db in
            try #expect(Empty.fetchAll(db).count == 1)
            try #expect(ReadInInitializer.fetchAll(db).map(\.name) == ["a"])
            try #expect(ReadByPlace.fetchAll(db).map(\.name) == ["a"])
            try #expect(ReadOptionally.fetchAll(db).map(\.name) == ["a"])
            try #expect(ReadWhole.fetchAll(db).map(\.names) == [["id", "name"]])
            try #expect(Coded.fetchAll(db).map(\.name) == ["a"])
            try OnlyStored().insert(db)
            try #expect(db.names() == ["a", "b"])
        }
    }

    // MARK: - A record that was never saved

    final class Player: Record {
        var id: Int64?
        var name = ""

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }
    struct PlayerValue: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        var id: Int64?
        var name = "x"
    }

    @Test("An update of a record that was never saved says so, and what to call", .behaviour(12, 22))
    func neverSaved() throws {
        try database().write { db in
            let player = Player()
            let updates: [(Database) throws -> Void] = [
                { try player.update($0) }, { _ = try player.updateChanges($0) }, { try player.reload($0) },
                { try player.update($0, columns: ["name"]) }, { try PlayerValue().update($0) },
                { _ = try Player.find($0, key: nil as Int64?) },
            ]
            for update in updates {
                let error = thrownError { try update(db) } as? RecordError
                #expect(
                    error?.description
                        == "there is no row in the table player for the key [id: NULL]: a record that has no key was never saved. "
                        + "Call insert or save")
            }
            try #expect(!player.delete(db))
            player.id = 7
            let gone = thrownError { try player.update(db) }
            #expect(
                "\(gone.map { "\($0)" } ?? "")" == "there is no row in the table player for the key [id: 7]")
        }
    }
}
