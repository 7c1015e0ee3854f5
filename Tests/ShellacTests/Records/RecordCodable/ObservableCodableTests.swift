import Observation
import Shellac
import TestSupport
import Testing

@Observable private final class Watched: CodedBase, Codable {
    var title = "" { didSet { _ = title } }
    var count: Int?

    // As Swift would synthesize them, which warns of the registrar.
    enum CodingKeys: String, CodingKey {
        case _title, _count, _$observationRegistrar
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(_title, forKey: ._title)
        try container.encodeIfPresent(_count, forKey: ._count)
        try container.encode(_$observationRegistrar, forKey: ._$observationRegistrar)
    }
}

@Observable private final class WatchedKey: Record, Codable {
    var id: Int64?
    var title = ""
    override class var databaseTableName: String { "reminder" }
    enum CodingKeys: String, CodingKey {
        case _id = "id"
        case _title = "title"
    }
}

@Observable private final class WatchedBelow: PlainErrand {}

@Suite("Observable Codable classes")
struct ObservableCodableTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE reminder (id INTEGER PRIMARY KEY, title TEXT, count INTEGER)")
            try body(db)
        }
    }

    @Test("it is fetched and saved by keys without an underscore, and without its registrar", .behaviour(91))
    func stored() throws {
        try withTable { db in
            let record = Watched()
            record.title = "Milk"
            let log = Recorder<Bool>()
            withObservationTracking {
                _ = record.title
            } onChange: {
                log.record(true)
            }
            try record.insert(db)
            #expect(record.id == 1)
            #expect(!record.hasDatabaseChanges)
            #expect(log.elements == [], "no write was seen")
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM reminder").map(\.description)
                    == ["[id: 1, title: 'Milk', count: NULL]"])
            let fetched = try #require(try Watched.fetchAll(db).first)
            #expect((fetched.id, fetched.title, fetched.count) == (1, "Milk", nil))
            #expect(!fetched.hasDatabaseChanges)
            fetched.count = 2
            #expect(try fetched.updateChanges(db))
            #expect(try Int.fetchOne(db, sql: "SELECT count FROM reminder") == 2)
            #expect(try fetched.copy().count == 2)
        }
    }

    @Test("a subclass that is @Observable, and adds no property, is stored as its superclass", .behaviour(91))
    func below() throws {
        try withTable { db in
            let record = WatchedBelow()
            record.title = "Milk"
            try record.save(db)
            let all = try WatchedBelow.fetchAll(db)
            #expect(all.map(\.title) == ["Milk"])
        }
    }

    @Test("reload and insert(refreshing:) throw a sentence, and nothing is inserted", .behaviour(91))
    func refused() throws {
        try withTable { db in
            let record = Watched()
            for body: () throws -> Void in [
                { try record.insert(db, refreshing: true) }, { try record.reload(db) },
            ] {
                let error = #expect(throws: DatabaseError.self) { try body() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(
                    error?.message
                        == "Watched is @Observable and leaves its columns to Codable: its observers would not be "
                        + "notified when it takes a row. List its columns in columns(_:).")
            }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM reminder")
            #expect(count == 0)
        }
    }

    #if DEBUG
    @Test("a row id of its own is told of once", .behaviour(91))
    func told() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: "CREATE TABLE reminder (id INTEGER PRIMARY KEY, title TEXT)")
                for id in 1...2 {
                    let record = WatchedKey()
                    try record.insert(db)
                    #expect(record.id == Int64(id))
                }
            }
            #expect(
                log.elements == [
                    "a save has set id of a WatchedKey, which is @Observable and leaves that column to Codable: its "
                        + "observers were not notified. List the column in columns(_:) of a superclass."
                ])
        }
    }
    #endif
}
