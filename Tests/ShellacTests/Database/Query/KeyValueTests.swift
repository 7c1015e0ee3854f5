import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Keys that are given by value")
struct KeyValueTests {
    /// A key of each type that has strategies, and unique ones beside it.
    struct Thing: Codable, Equatable, FetchableRecord, PersistableRecord, Identifiable {
        var id: UUID
        var date: Date
        var data: Data
        var name: String

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            column == "id" ? .uppercaseString : .deferredToUUID
        }
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "date" ? .millisecondsSince1970 : .deferredToDate
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .millisecondsSince1970
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
        static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
            .deferredToData
        }
    }

    /// A class that stores its key by hand.
    final class Mark: Record {
        var id = UUID()
        override class var databaseTableName: String { "thing" }
        override class func databaseKeyValue(
            _ value: any DatabaseValueConvertible, for column: String
        ) throws -> DatabaseValue {
            if let id = value as? UUID { return id.uuidString.databaseValue }
            return try super.databaseKeyValue(value, for: column)
        }
        override func updateFromRow(_ row: Row) throws {
            let text: String = try row["id"]
            id = UUID(uuidString: text) ?? UUID()
            try super.updateFromRow(row)
        }
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id.uuidString
        }
    }

    static func thing(_ number: Int) -> Thing {
        Thing(
            id: UUID(), date: Date(timeIntervalSince1970: Double(number) + 0.25),
            data: Data("data \(number)".utf8),
            name: "thing \(number)")
    }

    static func withThings(_ body: (Database, [Thing]) throws -> Void) throws {
        let things = (0..<3).map(thing)
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE thing (
                        id TEXT PRIMARY KEY, date INTEGER NOT NULL UNIQUE, data TEXT NOT NULL UNIQUE, name TEXT)
                    """)
            for thing in things { try thing.insert(db) }
            try body(db, things)
        }
    }

    @Test("find what the record has stored: by its primary key, also where that is optional", .behaviour(96))
    func values() throws {
        try Self.withThings { (db: Database, things: [Thing]) throws in
            let id = things[1].id
            #expect(try things[1].exists(db))
            #expect(try Thing.find(db, key: id).name == "thing 1")
            #expect(try Thing.find(db, id: id).name == "thing 1")
            #expect(try Thing.fetchOne(db, key: id)?.name == "thing 1")
            #expect(try Thing.fetchOne(db, key: Optional(id))?.name == "thing 1")
            #expect(try Thing.fetchOne(db, key: nil as UUID?) == nil)
            #expect(try Thing.fetchOne(db, id: id)?.name == "thing 1")
            #expect(try Thing.exists(db, key: id))
            #expect(try Thing.exists(db, id: id))
            #expect(try Thing.fetchAll(db, keys: things.map(\.id)).count == 3)
            #expect(try Thing.fetchAll(db, ids: things.map(\.id)).count == 3)
            #expect(try Thing.fetchCursor(db, keys: things.map(\.id)).next() != nil)
            let requests = [
                Thing.filter(key: id), Thing.filter(id: id), Thing.filter(key: Optional(id)),
                Thing.filter(keys: [id]), Thing.filter(ids: [id]), Thing.all().filter(key: id),
                Table<Thing>("thing").filter(key: id), Thing.filter(key: ["id": id]),
                Thing.filter(keys: [["id": id, "name": nil], ["id": Optional(id)]]),
            ]
            for request in requests.dropLast() {
                #expect(try request.fetchAll(db).map(\.name) == ["thing 1"])
                #expect(try request.fetchCount(db) == 1)
            }
            #expect(try Thing.filter(keys: things.map(\.id) + [UUID()]).fetchCount(db) == 3)
            #expect(try Thing.filter(key: nil as UUID?).fetchCount(db) == 0)
            let unknown = UUID()
            #expect(
                throws: RecordError.recordNotFound(
                    databaseTableName: "thing", key: ["id": unknown.uuidString.databaseValue])
            ) { try Thing.find(db, id: unknown) }
        }
    }

    @Test("find what the record has stored: by dictionaries, each column in its own way", .behaviour(96))
    func dictionaries() throws {
        try Self.withThings { (db: Database, things: [Thing]) throws in
            for key in [["id": things[1].id], ["DATE": things[1].date], ["data": things[1].data]]
                as [[String: (any DatabaseValueConvertible)?]]
            {
                #expect(try Thing.find(db, key: key).name == "thing 1")
                #expect(try Thing.fetchOne(db, key: key)?.name == "thing 1")
                #expect(try Thing.exists(db, key: key))
                #expect(try Thing.fetchAll(db, keys: [key]).count == 1)
                #expect(try Thing.filter(key: key).fetchAll(db).map(\.name) == ["thing 1"])
                #expect(try Thing.filter(keys: [key, ["id": things[2].id]]).fetchCount(db) == 2)
            }
            let count = try Thing.deleteAll(db, keys: [["date": things[0].date], ["data": things[1].data]])
            #expect(count == 2)
            #expect(
                throws: RecordError.recordNotFound(
                    databaseTableName: "thing", key: ["date": 250.databaseValue])
            ) { try Thing.find(db, key: ["date": things[0].date]) }
        }
    }

    @Test("delete what the record has stored", .behaviour(96))
    func deletion() throws {
        try Self.withThings { (db: Database, things: [Thing]) throws in
            #expect(try Thing.deleteOne(db, id: things[0].id))
            #expect(try Thing.deleteOne(db, key: ["date": things[1].date]))
            #expect(try Thing.deleteAll(db, ids: things.map(\.id)) == 1)
            #expect(try Thing.fetchCount(db) == 0)
        }
        try Self.withThings { (db: Database, things: [Thing]) throws in
            #expect(try Thing.deleteAll(db, keys: [things[0].id, things[0].id, UUID()]) == 1)
            #expect(try Thing.filter(ids: things.map(\.id)).updateAll(db, Column("name").set(to: "x")) == 2)
            #expect(try Thing.filter(id: things[1].id).deleteAll(db) == 1)
        }
    }

    @Test("that no record could have stored throw what saving throws, or find nothing", .behaviour(96))
    func impossible() throws {
        struct Odd: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "thing"
            var data: Data
            static let databasePrimaryKey: [String]? = ["data"]
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
                .text
            }
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .custom { _ in nil }
            }
        }
        try Self.withThings { (db: Database, _: [Thing]) throws in
            let data = Data([0xFF])
            #expect(throws: EncodingError.self) { try Odd.fetchOne(db, key: data) }
            #expect(throws: EncodingError.self) { try Odd.filter(key: data).fetchAll(db) }
            #expect(throws: EncodingError.self) { try Odd.deleteOne(db, key: ["data": data]) }
            #expect(try Odd.fetchOne(db, key: Date()) == nil)
            #expect(try Odd.filter(key: Date()).fetchCount(db) == 0)
            #expect(try Odd.filter(keys: [Date(), Date()]).fetchCount(db) == 0)
            #expect(try Odd.exists(db, key: ["data": Date()]) == false)
        }
    }

    @Test("find class records as the class says, and as it stores them where it says nothing", .behaviour(96))
    func classes() throws {
        final class Plain: Record {
            var id = UUID()
            override class var databaseTableName: String { "plain" }
            override func updateFromRow(_ row: Row) throws { id = try row["id"] }
            override func encode(to container: inout PersistenceContainer) throws { container["id"] = id }
        }
        try Self.withThings { (db: Database, things: [Thing]) throws in
            #expect(try Mark.find(db, key: things[1].id).id == things[1].id)
            #expect(try Mark.filter(key: ["id": things[1].id]).fetchCount(db) == 1)
            #expect(try Mark.filter(id: things[2].id).fetchOne(db)?.id == things[2].id)
            #expect(try Mark.deleteOne(db, id: things[2].id))
            try db.execute(sql: "CREATE TABLE plain (id BLOB PRIMARY KEY)")
            let plain = Plain()
            try plain.insert(db)
            #expect(try Plain.find(db, key: plain.id).id == plain.id)
            #expect(try Plain.filter(key: plain.id).fetchCount(db) == 1)
        }
    }

    @Test("are asked for again when the primary key has become another column", .behaviour(96))
    func schemaChange() throws {
        struct Moment: Codable, FetchableRecord, PersistableRecord {
            var a: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                column == "a" ? .secondsSince1970 : .iso8601
            }
        }
        let date = Date(timeIntervalSince1970: 86_400)
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: "CREATE TABLE moment (a PRIMARY KEY, b); INSERT INTO moment VALUES (86400, '')")
            #expect(try Moment.filter(key: date).fetchCount(db) == 1)
            try db.execute(
                sql: """
                    DROP TABLE moment; CREATE TABLE moment (a, b PRIMARY KEY);
                    INSERT INTO moment VALUES (86400, '1970-01-02T00:00:00Z')
                    """)
            #expect(try Moment.filter(key: date).fetchCount(db) == 1)
            #expect(try Moment.exists(db, key: date))
        }
    }

    @Test("give a request the region of the rows that it finds", .behaviour(96))
    func region() throws {
        struct Second: Codable, FetchableRecord, PersistableRecord {
            var id: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .secondsSince1970
            }
        }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE second (id INTEGER PRIMARY KEY)")
            let region = try Second.filter(key: Date(timeIntervalSince1970: 7)).region(db)
            #expect(
                region
                    == DatabaseRegion(table: "second", columns: ["id"]).intersection(
                        DatabaseRegion(table: "second", rowIDs: [7])))
        }
        try Self.withThings { (db: Database, things: [Thing]) throws in
            let region = try Thing.filter(id: things[0].id).region(db)
            #expect(region == DatabaseRegion(table: "thing", columns: ["id", "date", "data", "name"]))
        }
    }

    @Test("of class records need no Identifiable, and mean its ID where there is one")
    func identifiers() throws {
        final class Named: League.Member, Identifiable {}
        try League.database().write { db throws in
            let id: Int64? = 2
            #expect(try League.Member.find(db, id: 2).name == "Barbara")
            #expect(try League.Member.fetchOne(db, id: id)?.name == "Barbara")
            #expect(try League.Member.fetchOne(db, id: nil as Int?) == nil)
            #expect(try League.Member.fetchAll(db, ids: [1, 2]).count == 2)
            #expect(try League.Member.exists(db, id: 1))
            #expect(try League.Member.exists(db, id: 9) == false)
            #expect(try League.Member.filter(id: 1).fetchCount(db) == 1)
            #expect(try League.Member.filter(ids: [1, 2, 9]).fetchCount(db) == 2)
            #expect(try League.Member.all().filter(id: 1).filter(ids: [1, 2]).fetchCount(db) == 1)
            #expect(try Named.find(db, id: 2).name == "Barbara")
            #expect(try Named.filter(id: 2).fetchCount(db) == 1)
            #expect(
                throws: RecordError.recordNotFound(databaseTableName: "player", key: ["id": 9.databaseValue])
            ) {
                try League.Member.find(db, id: 9)
            }
            #expect(try League.Member.deleteOne(db, id: 5))
            #expect(try League.Member.deleteAll(db, ids: [3, 4, 9]) == 2)
        }
    }
}
