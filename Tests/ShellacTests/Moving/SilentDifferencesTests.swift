import Foundation
import Shellac
import TestSupport
import Testing

/// Code that once compiled when a program moved over, and did something else in silence.
@Suite("What moved over in silence")
struct SilentDifferencesTests {
    private static let userInfoKey = CodingUserInfoKey(rawValue: "key")!

    private struct Told: Codable, FetchableRecord, PersistableRecord {
        struct Inner: Codable, Equatable { var told: String? }
        var id: Int
        var told: String?

        static var databaseTableName: String { "told" }
        static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] {
            [SilentDifferencesTests.userInfoKey: "decoded"]
        }
        static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] {
            [SilentDifferencesTests.userInfoKey: "encoded"]
        }

        enum CodingKeys: String, CodingKey { case id, told }

        init(id: Int) { self.id = id }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            told = decoder.userInfo[SilentDifferencesTests.userInfoKey] as? String
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(
                encoder.userInfo[SilentDifferencesTests.userInfoKey] as? String, forKey: .told)
        }
    }

    private struct Measure: Codable, DatabaseValueConvertible, Equatable {
        var value: Double
        var date: Date

        static func databaseJSONEncoder() -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            encoder.dateEncodingStrategy = .secondsSince1970
            encoder.outputFormatting = .sortedKeys
            return encoder
        }

        static func databaseJSONDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
    }

    private struct Single: Codable, DatabaseValueConvertible, Equatable {
        var text: String
        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    private struct Thing: Codable, FetchableRecord, PersistableRecord, Identifiable {
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }
        var id: UUID
        var name: String
    }

    @Test("A merged migration that is named like the last of several runs, with the names that were applied")
    func mergedMigrations() throws {
        let queue = try DatabaseQueue()
        var old = DatabaseMigrator()
        old.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE t1 (x)") }
        old.registerMigration("v2") { db in try db.execute(sql: "CREATE TABLE t2 (x)") }
        try old.migrate(queue)
        var new = DatabaseMigrator()
        new.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
            #expect(applied == ["v1", "v2"])
            try db.execute(sql: "CREATE TABLE t3 (x)")
        }
        try new.migrate(queue)
        try queue.read { db in
            try #expect(db.tableExists("t3"))
            try #expect(new.appliedMigrations(db) == ["v3"])
        }
    }

    @Test("A record finds and deletes itself by a key that it stores in its own way")
    func keys() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT)")
            let thing = Thing(id: UUID(), name: "a")
            try thing.insert(db)
            try #expect(Thing.fetchOne(db, id: thing.id)?.name == "a")
            try #expect(Thing.exists(db, id: thing.id))
            try #expect(Thing.filter(key: thing.id).fetchCount(db) == 1)
            try #expect(Thing.deleteAll(db, ids: [thing.id]) == 1)
        }
    }

    @Test("What encodes itself as a single value is stored as that value")
    func singleValues() throws {
        #expect(Single("foo").databaseValue == "foo")
        #expect(Single.fromDatabaseValue("foo") == Single("foo"))
    }

    @Test("A kept statement reads the table that its name means now")
    func shadowing() throws {
        let folder = try TemporaryFolder()
        try DatabaseQueue(path: folder.path("a.db")).write { db in
            try db.execute(sql: "CREATE TABLE item (x); INSERT INTO item VALUES ('attached')")
        }
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "ATTACH ? AS att", arguments: [folder.path("a.db")])
            try #expect(String.fetchOne(db, sql: "SELECT * FROM item") == "attached")
            try db.execute(sql: "CREATE TABLE item (x); INSERT INTO item VALUES ('main')")
            try #expect(String.fetchOne(db, sql: "SELECT * FROM item") == "main")
        }
    }

    @Test("User info of any type reaches the coders")
    func userInfo() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE told (id INTEGER PRIMARY KEY, told TEXT)")
            try Told(id: 1).insert(db)
            try #expect(String.fetchOne(db, sql: "SELECT told FROM told") == "encoded")
            try #expect(Told.fetchOne(db)?.told == "decoded")
        }
    }

    @Test("A value's own JSON coders are used")
    func jsonCoders() throws {
        let measure = Measure(value: .infinity, date: Date(timeIntervalSince1970: 10))
        #expect(measure.databaseValue == #"{"date":10,"value":"inf"}"#)
        #expect(Measure.fromDatabaseValue(measure.databaseValue) == measure)
    }

    private final class Counting: Cursor {
        var calls = 0
        func next() throws -> Int? { nil }
        func forEach(_ body: (Int) throws -> Void) throws {
            calls += 1
            try body(7)
        }
    }

    @Test("A cursor's own way to all its elements is taken")
    func forEach() throws {
        let cursor = Counting()
        try #expect(Array(cursor) == [7])
        try #expect(Array(cursor, minimumCapacity: 1) == [7])
        try #expect(Set(cursor) == [7])
        #expect(cursor.calls == 3)
    }

    @Test("A literal may leave parameters for later")
    func laterArguments() throws {
        try DatabaseQueue().inDatabase { db in
            try #expect(Int.fetchOne(db.makeStatement(literal: "SELECT ?"), arguments: [1]) == 1)
            try #expect(Int.fetchOne(db.cachedStatement(literal: "SELECT ?"), arguments: [2]) == 2)
        }
    }

    @Test("A read may ask for the journal mode")
    func pragmas() throws {
        try #expect(
            DatabaseQueue().read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "memory")
    }

    @Test("An error of SQLite has its message and its SQL")
    func errors() throws {
        #expect(DatabaseError(resultCode: .SQLITE_BUSY).message == "database is locked")
        try DatabaseQueue().inDatabase { db in
            try db.add(
                function: DatabaseFunction("fail", argumentCount: 0) { _ in throw DatabaseError(message: "no")
                })
            let error = #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT fail()") }
            #expect(error?.sql == "SELECT fail()")
        }
    }

    @Test("A backup that is complete is not undone by an error of its progress")
    func backup() throws {
        let (source, copy) = try (DatabaseQueue(), DatabaseQueue())
        try source.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
        try source.backup(to: copy) { progress in if progress.isCompleted { throw Boom() } }
        try #expect(copy.read { db in try db.tableExists("t") })
    }
}
