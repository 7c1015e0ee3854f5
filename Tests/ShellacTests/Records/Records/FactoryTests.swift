import Foundation
import Shellac
import TestSupport
import Testing

/// Generic functions that make a record of a class which only the caller knows, by an empty row.
@Suite("A factory of records")
struct FactoryTests {
    class Animal: Record {
        var id: Int64?
        var name = "nameless"
        var legs = 4
        override class var databaseTableName: String { "animal" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("legs", legs) { legs = $0 }
        }
    }

    final class Bird: Animal {
        required init(row: Row) throws {
            try super.init(row: row)
            if row.isEmpty { legs = 2 }
        }
    }

    final class Coded: Record, Codable {
        var id: Int64?
        var name = "nameless"
        var legs = 4
        override class var databaseTableName: String { "animal" }
    }

    final class Tagged: Record {
        let tag: String
        override class var databaseTableName: String { "animal" }
        required init(row: Row) throws {
            tag = try row["tag"]
            try super.init(row: row)
        }
    }

    private func make<T: Record>(_ type: T.Type) throws -> T { try type.init(row: Row()) }

    @Test(
        "makes a record with its default values, which is new",
        arguments: [Animal.self, Bird.self, Coded.self])
    func defaults(type: Record.Type) throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT NOT NULL, legs INTEGER NOT NULL)"
            )
            let legs = type == Bird.self ? 2 : 4
            for id in 1...2 {
                let animal = try make(type)
                #expect(animal.hasDatabaseChanges)
                try animal.save(db)
                #expect(!animal.hasDatabaseChanges)
                let row = try #require(
                    try Row.fetchOne(db, sql: "SELECT * FROM animal WHERE id = ?", arguments: [id]))
                #expect(row == ["id": id, "name": "nameless", "legs": legs])
            }
        }
    }

    @Test("sets the columns of a row, and what is left out keeps its default")
    func values() throws {
        let animal = try Animal(row: ["name": "Rex"])
        #expect(animal.name == "Rex" && animal.legs == 4 && animal.hasDatabaseChanges)
    }

    @Test("gets an error where a property has no default value")
    func withoutDefault() {
        #expect(throws: RowDecodingError.self) { try make(Tagged.self) }
    }
}
