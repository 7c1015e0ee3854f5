import TestSupport
import Testing

@testable import Shellac

private class Codish: Record, Codable {
    var id: Int64?
    var name = "x"
    override class var databaseTableName: String { "codish" }
}

private class Base: Record {
    var id: Int64?
    override class var databaseTableName: String { "codish" }
    override func updateFromRow(_ row: Row) throws { if row.hasColumn("id") { id = try row["id"] } }
    override func encode(to container: inout PersistenceContainer) throws { container["id"] = id }
}
private final class Exported: Base, Encodable {
    var name = ""
}
private final class Imported: Base, Decodable {
    var name = ""
}
/// It has no properties of its own.
private final class Tag: Base, Codable {}
private final class Full: Base, Codable {
    var name = ""
    override func updateFromRow(_ row: Row) throws {
        try super.updateFromRow(row)
        if row.hasColumn("name") { name = try row["name"] }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        try super.encode(to: &container)
        container["name"] = name
    }
}
private final class FullCodish: Codish {
    override func updateFromRow(_ row: Row) throws { (id, name) = (try row["id"], try row["name"]) }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
    }
}
private final class OnlyRead: Record, Encodable {
    let name: String
    override class var databaseTableName: String { "codish" }
    required init(row: Row) throws {
        name = try row["name"]
        try super.init(row: row)
    }
}

@Suite("The first use of a class of records")
struct FirstUseTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE codish (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO codish VALUES (1, 'from SQL')")
            try body(db)
        }
    }

    @Test(
        "A class that says half of Codable is refused by a sentence, whatever is done first", .behaviour(90),
        arguments: [
            (Exported.self, "Exported conforms only to Encodable"),
            (Imported.self, "Imported conforms only to Decodable"),
        ] as [(Record.Type, String)])
    func refused(_ type: Record.Type, _ beginning: String) throws {
        try withTable { db in
            func check(_ body: () throws -> Void) {
                let error = #expect(throws: DatabaseError.self) { try body() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(
                    error?.message == beginning
                        + ", and does not list its columns: they would not be both read and stored. Declare Codable, or "
                        + "list them in columns(_:).")
            }
            check { _ = try type.fetchAll(db) }
            check { _ = try type.fetchOne(db, key: 1) }
            check { _ = try type.init(row: #require(try Row.fetchOne(db, sql: "SELECT * FROM codish"))) }
            check { try type.init(row: Row()).save(db) }
            check { try type.init(row: Row()).insert(db) }
            check { try type.init(row: Row()).delete(db) }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM codish")
            #expect(count == 1)
        }
    }

    @Test("A class that says Codable, and reads and encodes its columns itself, is a record like any other")
    func accepted() throws {
        try withTable { db in
            #expect(try Codish.fetchAll(db).map(\.name) == ["from SQL"])
            #expect(try Full.fetchAll(db).map(\.name) == ["from SQL"])
            #expect(try FullCodish.fetchAll(db).map(\.name) == ["from SQL"])
            #expect(try OnlyRead.fetchAll(db).map(\.name) == ["from SQL"])
            #expect(try Tag.fetchAll(db).map(\.id) == [1])
            let full = Full()
            full.name = "saved"
            try full.save(db)
            #expect(full.id == 2)
        }
    }

    #if DEBUG
    private class Typo: Record {
        var id: Int64?
        var notes: String?
        override class var databaseTableName: String { "typo" }
        override func updateFromRow(_ row: Row) throws {
            if row.hasColumn("id") { id = try row["id"] }
            if row.hasColumn("note") { notes = try row["note"] }
        }
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["notes"] = notes
        }
    }
    private final class SilentTypo: Typo {
        override class var warnsOfChangesAfterFetch: Bool { false }
    }
    private final class Reading: Typo {
        required init(row: Row) throws {
            try super.init(row: row)
            notes = try row["notes"]
        }
    }

    @Test(
        "a class that has changes right after its first complete fetch is told of once, with the columns",
        .behaviour(94))
    func advised() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(
                    sql: """
                        CREATE TABLE typo (id INTEGER PRIMARY KEY, notes TEXT);
                        INSERT INTO typo VALUES (1, 'a'), (2, 'b')
                        """)
                _ = try Typo.fetchAll(db, sql: "SELECT id FROM typo")
                #expect(log.elements == [], "it was not complete")
                for _ in 1...2 { _ = try Typo.fetchAll(db) }
                _ = try SilentTypo.fetchAll(db)
                _ = try Reading.fetchAll(db)
            }
            #expect(log.elements.count == 1)
            #expect(
                log.elements.first?.hasPrefix("a Typo has changes right after it was fetched, in notes: ")
                    == true)
        }
    }
    #endif

    // MARK: - Keys that are not encoded

    private final class Shy: Record {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "codish" }
        override func updateFromRow(_ row: Row) throws {
            if row.hasColumn("id") { id = try row["id"] }
            if row.hasColumn("name") { name = try row["name"] }
        }
        override func encode(to container: inout PersistenceContainer) throws {
            if let id { container["id"] = id }
            container["name"] = name
        }
    }

    @Test(
        "A record that does not encode its key where it has none is not found, once one that has it was saved"
    )
    func shy() throws {
        try withTable { db in
            let known = try #require(try Shy.fetchOne(db, key: 1))
            try known.update(db)
            let new = Shy()
            let notFound = RecordError.recordNotFound(databaseTableName: "codish", key: [:])
            #expect(throws: notFound) { try new.update(db) }
            #expect(throws: notFound) { try new.updateChanges(db) }
            #expect(throws: notFound) { try new.reload(db) }
            #expect(throws: notFound) { try new.delete(db) }
            #expect(throws: notFound) { try new.exists(db) }
            try new.save(db)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM codish") == 2)
        }
    }

    @Test("The log says once that a class is not given its row id, as it does not encode it")
    func shyInsertion() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: "CREATE TABLE codish (id INTEGER PRIMARY KEY, name TEXT)")
                for _ in 1...2 { try Shy().insert(db) }
                try db.execute(sql: "ALTER TABLE codish ADD COLUMN more")
                try Shy().insert(db)
            }
            #expect(
                log.elements == [
                    "Shy was inserted, but did not get its row id (id), because it does not encode that column. List "
                        + "it in columns(_:), or encode it in encode(to:), even if it is nil."
                ])
        }
    }
}
