// An import does not silently lose the values that its records do not write.

import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Records of an import", .behaviour(137))
struct ImportedRecordsTests {
    /// A class whose stamps and deletion have no lines.
    private class Note: Record {
        var id: Int64?
        var text = ""
        override class var databaseTableName: String { "note" }
        override class var databaseStamps: DatabaseStamps {
            DatabaseStamps(created: "createdAt", updated: "updatedAt")
        }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("text", text) { text = $0 }
        }
    }

    private let notes = """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, text TEXT, hidden INTEGER NOT NULL DEFAULT 0, createdAt TEXT, updatedAt TEXT, deletedAt TEXT)
        """

    @Test(
        "a value of a column that the class has no line for is refused, with its row and its column",
        arguments: ["hidden", "createdAt", "updatedAt", "deletedAt"])
    func unlisted(column: String) throws {
        let queue = try exchangeQueue(notes)
        let value = column == "hidden" ? "1" : "2020-01-01 00:00:00.000"
        let text = "id,text,\(column.uppercased())\n1,a,\n2,b,\(value)\n"
        try queue.write { db in
            // The first row holds NULL, which is what the column holds without a value, unless it
            // has a default.
            let row = column == "hidden" ? "row 1 (line 2)" : "row 2 (line 3)"
            #expect(
                thrown { try Note.importAll(db, from: .bytes(text.utf8)) }
                    == "\(row), column \"\(column.uppercased())\": Note does not write the column "
                    + "\(column): list it there, or leave its values out with ignoring:")
            try #expect(db.literals("SELECT count(*) FROM note") == ["0"])
            let count = try Note.importAll(db, from: .bytes(text.utf8), ignoring: [column])
            #expect(count == 2)
            try #expect(
                db.literals("SELECT id, text, hidden, deletedAt FROM note") == [
                    "1|'a'|0|NULL", "2|'b'|0|NULL",
                ])
        }
    }

    /// A class that lists them.
    private class FullNote: Note {
        var hidden = false
        var (createdAt, updatedAt, deletedAt): (Date?, Date?, Date?)
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("hidden", hidden) { hidden = $0 }
            try column("createdAt", createdAt) { createdAt = $0 }
            try column("updatedAt", updatedAt) { updatedAt = $0 }
            try column("deletedAt", deletedAt) { deletedAt = $0 }
        }
    }

    @Test("what a class lists comes back as it was exported: stamps, and what is deleted", .behaviour(137))
    func listed() throws {
        let queue = try exchangeQueue(notes)
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO note VALUES
                        (1, 'a', 1, '2020-01-01 00:00:00.000', '2020-01-02 00:00:00.000', NULL),
                        (2, 'b', 0, '2020-01-01 00:00:00.000', '2020-01-02 00:00:00.000', '2020-01-03 00:00:00.000')
                    """)
            let (before, text) = try (db.literals("SELECT * FROM note"), db.exported("note"))
            try db.execute(sql: "DELETE FROM note")
            try FullNote.importAll(db, from: .bytes(text.utf8))
            try #expect(db.literals("SELECT * FROM note") == before)
        }
    }

    /// A record that leaves out what it has no value for.
    private struct Sparse: FetchableRecord, PersistableRecord {
        static let databaseTableName = "note"
        var (id, text): (Int64?, String?)
        init(row: Row) throws {
            id = try row["id"]
            text = try row["text"]
        }
        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            if let text, text != "secret" { container["text"] = text }
        }
    }

    @Test("each record is asked what it writes")
    func sparse() throws {
        let queue = try exchangeQueue(notes)
        try queue.write { db in
            try Sparse.importAll(db, from: .bytes("id,text\n1,\n2,b\n3,\n".utf8), as: .csv)
            try #expect(db.literals("SELECT id, text FROM note") == ["1|NULL", "2|'b'", "3|NULL"])
            let message = thrown { try Sparse.importAll(db, from: .bytes("id,text\n4,d\n5,secret\n".utf8)) }
            #expect(
                message?.hasPrefix("row 2 (line 3), column \"text\": Sparse does not write the column text")
                    == true)
            try #expect(db.literals("SELECT count(*) FROM note") == ["3"])
        }
    }

    @Test(
        "without a header, each row has a value for each column", .behaviour(137),
        arguments: [("2", "is 1 value"), ("2,b,7", "are 3 values")])
    func withoutHeader(_ line: String, _ count: String) throws {
        let queue = try exchangeQueue("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        try queue.write { db in
            let message = thrown {
                try Sparse.importAll(db, from: .bytes("1,a\n\(line)".utf8), as: .csv(hasHeader: false))
            }
            #expect(
                message
                    == "row 2 (line 2): there \(count) for the 2 columns of the table note: id, text")
            try #expect(db.literals("SELECT count(*) FROM note") == ["0"])
        }
    }

    // MARK: - Kinds and coded classes

    private class Animal: Record {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "animal" }
        override class var databaseKinds: DatabaseKinds {
            .column("kind", ["dog": Dog.self, "cat": Cat.self], unknown: .base)
        }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }
    private class Dog: Animal {
        var tricks: Int?
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("tricks", tricks) { tricks = $0 }
        }
    }
    private class Cat: Animal {}

    private let animals = "CREATE TABLE animal (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, tricks INTEGER)"

    @Test("a row is made into a record of its kind")
    func kinds() throws {
        let queue = try exchangeQueue(animals)
        try queue.write { db in
            let text = "id,kind,name,tricks\n1,dog,Rex,3\n2,cat,Tom,\n3,,Anything,\n"
            try Animal.importAll(db, from: .bytes(text.utf8))
            try #expect(
                db.literals("SELECT * FROM animal")
                    == ["1|'dog'|'Rex'|3", "2|'cat'|'Tom'|NULL", "3|NULL|'Anything'|NULL"])
        }
    }

    @Test("a kind, or a value of another kind, that would be lost is refused")
    func lostKinds() throws {
        let queue = try exchangeQueue(animals)
        try queue.write { db in
            let tricks = thrown { try Animal.importAll(db, from: .bytes("kind,tricks\ncat,3\n".utf8)) }
            #expect(tricks?.hasPrefix("row 1 (line 2), column \"tricks\": Cat does not write") == true)
            let fish = thrown { try Animal.importAll(db, from: .bytes("kind\nfish\n".utf8)) }
            #expect(fish?.hasPrefix("row 1 (line 2), column \"kind\": Animal does not write") == true)
            // A class that is asked for does not take the rows of another one.
            #expect(thrown { try Dog.importAll(db, from: .bytes("kind\ncat\n".utf8)) } != nil)
            try #expect(db.literals("SELECT count(*) FROM animal") == ["0"])
        }
    }

    /// A class whose columns are those of `Codable`.
    private class Coded: Record, Codable {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "animal" }
    }

    @Test("a Codable class is made of a row, too")
    func coded() throws {
        let queue = try exchangeQueue(animals)
        try queue.write { db in
            try Coded.importAll(db, from: .bytes("id,name\n1,Rex\n".utf8))
            try #expect(db.literals("SELECT id, name FROM animal") == ["1|'Rex'"])
        }
    }
}
