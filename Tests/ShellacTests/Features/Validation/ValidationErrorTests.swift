// Messages by column, from validate(_:) and from violated constraints.

import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Validation errors", .behaviour(119))
struct ValidationErrorTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT UNIQUE, email TEXT NOT NULL DEFAULT '', score INTEGER,
                        position TEXT CHECK (position IN ('back', 'front')), age INTEGER CHECK (age >= 0),
                        teamID INTEGER REFERENCES team);
                    CREATE TRIGGER careful BEFORE INSERT ON player WHEN NEW.score = 13
                        BEGIN SELECT RAISE(ABORT, 'thirteen brings no luck'); END;
                    INSERT INTO team VALUES (1, 'Reds');
                    INSERT INTO player (id, name, teamID) VALUES (1, 'Arthur', 1);
                    """)
        }
    }

    private class Person: Record {
        var id: Int64?
        var name: String?
        override class var databaseTableName: String { "player" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }

        override func validate(_ db: Database) throws {
            try ValidationError.collect { errors in errors.require(name, "name") }
        }
    }

    private class Player: Person {
        var email: String? = "a@example.com"
        var score = 0
        var position: String?
        var age: Int?
        var teamID: Int64?
        var failure: (any Error)?

        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("email", email) { email = $0 }
            try column("score", score) { score = $0 }
            try column("position", position) { position = $0 }
            try column("age", age) { age = $0 }
            try column("teamID", teamID) { teamID = $0 }
        }

        override func validate(_ db: Database) throws {
            try ValidationError.collect { errors in
                try errors.include { try super.validate(db) }
                errors.check(score <= 100, "score", ValidationError.Message("must not be over %@", 100))
                errors.check(score != 7 || name != "Bond", "score", "NAME", message: "is reserved")
                if score == 99 { errors.add("is suspicious") }
                if let failure { throw failure }
            }
        }
    }

    private func player(_ change: (Player) -> Void) -> Player {
        let player = Player()
        player.name = "Barbara"
        change(player)
        return player
    }

    @Test("a save throws all messages at once, those of the superclass included, and writes nothing")
    func several() throws {
        try queue.write { db in
            let player = player {
                ($0.name, $0.score) = (" \n", 101)
            }
            let errors = try #require(throws: ValidationError.self) { try player.insert(db) }
            #expect(errors.columns == ["name", "score"])
            #expect(errors["Name"] == [.missing])
            #expect(errors["score"].map(\.description) == ["must not be over 100"])
            #expect(errors["email"].isEmpty)
            #expect(errors.description == "name is missing; score must not be over 100")
            try #expect(Player.fetchCount(db) == 1)
            #expect(player.id == nil && player.hasDatabaseChanges)
        }
    }

    @Test("a message may name several columns, or none")
    func columns() throws {
        try queue.write { db in
            let bond = player { ($0.name, $0.score) = ("Bond", 7) }
            let errors = try #require(throws: ValidationError.self) { try bond.save(db) }
            #expect(errors["name"] == ["is reserved"] && errors["score"] == ["is reserved"])
            #expect(errors.columns == ["score", "NAME"])
            #expect(errors.recordMessages.isEmpty)
            bond.score = 99
            let suspicion = try #require(throws: ValidationError.self) { try bond.save(db) }
            #expect(suspicion.recordMessages == ["is suspicious"] && suspicion.columns.isEmpty)
            #expect(suspicion.description == "is suspicious")
        }
    }

    @Test("validationErrors tells them without saving, and throws other errors")
    func withoutSaving() throws {
        try queue.read { db in
            let player = player { $0.score = 200 }
            try #expect(player.validationErrors(db)?["score"].count == 1)
            player.score = 1
            try #expect(player.validationErrors(db) == nil)
            player.failure = TestError(1)
            #expect(throws: TestError.self) { try player.validationErrors(db) }
        }
        try queue.write { db in
            final class Writer: Player {
                override func validate(_ db: Database) throws { try db.execute(sql: "DELETE FROM player") }
            }
            #expect(throws: DatabaseError.self) { try Writer().validationErrors(db) }
            try #expect(Player.fetchCount(db) == 1)
        }
    }

    @Test(
        "a violated constraint becomes one",
        arguments: [
            ("name", "is taken"), ("email", "is missing"), ("position", "is not among back, front"),
            ("age", "is not allowed"), ("teamID", "refers to a row that does not exist"),
            ("", "thirteen brings no luck"),
        ])
    func constraints(column: String, message: String) throws {
        try queue.write { db in
            let player = player {
                switch column {
                case "name": $0.name = "Arthur"
                case "email": $0.email = nil
                case "position": $0.position = "middle"
                case "age": $0.age = -1
                case "teamID": $0.teamID = 5
                default: $0.score = 13
                }
            }
            var errors: ValidationError?
            do { try player.insert(db) } catch { errors = ValidationError(error, for: player) }
            let found = try #require(errors)
            #expect(found.columns == (column.isEmpty ? [] : [column]))
            let messages = column.isEmpty ? found.recordMessages : found[column]
            #expect(messages.map { $0.text() } == [message])
            // An error that validate(_:) has thrown stays as it is.
            #expect(ValidationError(found, for: player) == found)
        }
    }

    @Test("a row that others refer to is in use, and errors about something else are none")
    func others() throws {
        struct Team: Codable, PersistableRecord { var id: Int64, name: String }
        try queue.write { db in
            var errors: (any Error)?
            do { try Team(id: 1, name: "Reds").delete(db) } catch { errors = error }
            let error = try #require(errors)
            #expect(ValidationError(error, for: Team(id: 1, name: ""))?.recordMessages == [.inUse])
            struct Other: Codable, PersistableRecord { var id: Int64 }
            #expect(ValidationError(error, for: Other(id: 1)) == nil)
            #expect(ValidationError(TestError(1), for: Other(id: 1)) == nil)
            #expect(ValidationError(DatabaseError(message: "?"), for: Other(id: 1)) == nil)
        }
    }

    @Test("a message is translated by its key")
    func translation() {
        let message = ValidationError.Message("is between %@ and %@", 1, "ten")
        #expect(message.key == "is between %@ and %@")
        #expect(message.values == [1.databaseValue, "ten".databaseValue])
        #expect(message.text() == "is between 1 and ten")
        let german = message.text { key in
            key == "is between %@ and %@" ? "liegt zwischen %@ und %@ (%@)" : key
        }
        #expect(german == "liegt zwischen 1 und ten (%@)")
        #expect(message.text { _ in "kurz" } == "kurz")
    }

    @Test("require and check tell whether a further check makes sense")
    func dependent() throws {
        var errors = ValidationError()
        let results = [
            errors.require(nil as Int?, "a"), errors.require(5 as Int?, "b"), errors.require("x", "c"),
            errors.require("", "d"),
        ]
        #expect(results == [false, true, true, false])
        if errors.require("text", "e") { errors.check("text".contains("@"), "e", "is no address") }
        #expect(errors.columns == ["a", "d", "e"] && !errors.isEmpty)
        try ValidationError.collect { _ in }
    }
}
