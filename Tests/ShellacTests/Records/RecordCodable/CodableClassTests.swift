import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Codable classes")
struct CodableClassTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Errand.table)
            try body(db)
        }
    }

    private static let texts = """
        INSERT INTO reminder VALUES
        (1, 'Milk', '2026-01-02 03:04:05.000', '["a","b"]', 'high', '{"x":1,"y":2}'),
        (2, 'Bread', NULL, '[]', 'low', NULL)
        """

    @Test("it is fetched in all styles, and has no changes", .behaviour(89))
    func fetched() throws {
        try withTable { db in
            try db.execute(sql: Self.texts)
            func check(_ reminder: Errand?) throws {
                let reminder = try #require(reminder)
                #expect(reminder.id == 1)
                #expect(reminder.title == "Milk")
                #expect(reminder.dueDate == Date(timeIntervalSince1970: 1_767_323_045))
                #expect(reminder.tags == ["a", "b"])
                #expect(reminder.priority == .high)
                #expect(reminder.place == Errand.Place(x: 1, y: 2))
                #expect(!reminder.hasDatabaseChanges)
            }
            let all = try Errand.fetchAll(db)
            #expect(all.map(\.title) == ["Milk", "Bread"])
            #expect(all.map(\.hasDatabaseChanges) == [false, false])
            #expect(all[1].tags == [])
            #expect(all[1].place == nil)
            try check(all[0])
            try check(Errand.fetchOne(db))
            try check(Errand.find(db, key: 1))
            try check(
                Errand.fetchOne(db, sql: "SELECT place, tags, title, id, priority, dueDate FROM reminder"))
            try check(Errand(row: Row.fetchOne(db, sql: "SELECT * FROM reminder") ?? Row()))
            var titles: [String] = []
            let cursor = try Errand.fetchCursor(db)
            while let reminder = try cursor.next() { titles.append(reminder.title) }
            #expect(titles == ["Milk", "Bread"])
        }
    }

    @Test("it is inserted, takes its row id, and is updated in what has changed", .behaviour(89))
    func saved() throws {
        try withTable { db in
            let reminder = Errand()
            reminder.title = "Milk"
            reminder.tags = ["x"]
            #expect(reminder.hasDatabaseChanges)
            try reminder.save(db)
            #expect(reminder.id == 1)
            #expect(!reminder.hasDatabaseChanges)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM reminder"))
            #expect(
                row.description
                    == #"[id: 1, title: 'Milk', dueDate: NULL, tags: '["x"]', priority: 'low', place: NULL]"#)
            reminder.place = Errand.Place()
            reminder.priority = .high
            #expect(
                try reminder.databaseChanges
                    == ["place": .some(.null), "priority": "low".databaseValue])
            #expect(try reminder.updateChanges(db))
            #expect(try !reminder.updateChanges(db))
            let place = try String.fetchOne(db, sql: "SELECT place FROM reminder WHERE priority = 'high'")
            #expect(place == #"{"x":0.5,"y":1.5}"#)
            #expect(try reminder.delete(db))
        }
    }

    @Test("a row id among the coded columns is taken, and taken away by a rollback", .behaviour(89))
    func ownRowID() throws {
        try withTable { db in
            let record = OwnKey()
            #expect(throws: CancellationError.self) {
                try db.inTransaction {
                    try record.insert(db)
                    #expect(record.id == 1)
                    throw CancellationError()
                }
            }
            #expect(record.id == nil)
            #expect(record.title == "untitled")
            try record.insert(db)
            #expect(record.id == 1)
            #expect(!record.hasDatabaseChanges)
            #expect(try OwnKey.fetchAll(db).map(\.title) == ["untitled"])
        }
    }

    @Test("reload and insert(refreshing:) set it in place", .behaviour(89))
    func refreshed() throws {
        try withTable { db in
            let reminder = Errand()
            reminder.title = "Milk"
            try reminder.insert(db, refreshing: true)
            #expect(reminder.id == 1)
            try db.execute(
                sql:
                    "UPDATE reminder SET title = 'Bread', tags = '[\"new\"]', dueDate = NULL, place = '{\"x\":1,\"y\":1}'"
            )
            try reminder.reload(db)
            #expect(reminder.title == "Bread")
            #expect(reminder.tags == ["new"])
            #expect(reminder.place == Errand.Place(x: 1, y: 1))
            #expect(!reminder.hasDatabaseChanges)
        }
    }

    @Test("a column that the row lacks leaves the default, and is not written", .behaviour(89))
    func partial() throws {
        try withTable { db in
            try db.execute(sql: Self.texts)
            let reminders = try Errand.fetchAll(db, sql: "SELECT id, title FROM reminder")
            #expect(reminders.map(\.title) == ["Milk", "Bread"])
            #expect(reminders.map(\.tags) == [[], []])
            reminders[0].title = "Cheese"
            #expect(try reminders[0].updateChanges(db))
            let reminder = try #require(try Errand.fetchOne(db, key: 1))
            #expect(reminder.title == "Cheese")
            #expect(reminder.tags == ["a", "b"])
            #expect(
                try OwnKey.fetchAll(db, sql: "SELECT id FROM reminder").map(\.title) == [
                    "untitled", "untitled",
                ])
        }
    }

    @Test("a copy has all, and shares nothing", .behaviour(89))
    func copied() throws {
        try withTable { db in
            try db.execute(sql: Self.texts)
            let reminder = try #require(try Errand.fetchOne(db))
            let copy = try reminder.copy()
            #expect(copy.id == 1)
            #expect(copy.tags == ["a", "b"])
            #expect(!copy.hasDatabaseChanges)
            copy.title = "other"
            #expect(reminder.title == "Milk")
        }
    }

    // MARK: - Strategies and names

    private final class Strange: CodedBase, Codable {
        var createdAt = Date(timeIntervalSince1970: 5)
        var someID = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")
        var theName = "n"
        enum CodingKeys: String, CodingKey {
            case createdAt, someID
            case theName = "nameOfIt"
        }
        override class var databaseTableName: String { "strange" }
        override class var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
            .convertToSnakeCase
        }
        override class var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
            .convertFromSnakeCase
        }
        override class func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .secondsSince1970
        }
        override class func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSince1970
        }
        override class func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .uppercaseString
        }
    }

    @Test(
        "strategies for names, dates and UUIDs apply, and keys have the names that the class gives them",
        .behaviour(89))
    func strategies() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE strange (id INTEGER PRIMARY KEY, created_at, some_id, name_of_it)")
            let record = Strange()
            try record.insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM strange"))
            #expect(
                row.description
                    == "[id: 1, created_at: 5, some_id: '00000000-0000-0000-0000-00000000000A', name_of_it: 'n']"
            )
            try db.execute(sql: "UPDATE strange SET created_at = 7, name_of_it = 'm'")
            for fetched in try Strange.fetchAll(db) + [Strange.find(db, key: 1)] {
                #expect(fetched.createdAt == Date(timeIntervalSince1970: 7))
                #expect(fetched.theName == "m")
                #expect(!fetched.hasDatabaseChanges)
            }
            try record.reload(db)
            #expect(record.createdAt == Date(timeIntervalSince1970: 7))
            #expect(record.theName == "m")
        }
    }

    // MARK: - Stamps and upserts

    private final class Stamped: CodedBase, Codable {
        var title = ""
        var updatedAt: Date?
        override class var databaseTableName: String { "stamped" }
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    }

    @Test("stamps are set in place, and taken away by a rollback", .behaviour(89))
    func stamped() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE stamped (id INTEGER PRIMARY KEY, title TEXT UNIQUE, updatedAt DATETIME)")
            let record = Stamped()
            record.title = "a"
            #expect(throws: CancellationError.self) {
                try db.inTransaction {
                    try record.insert(db)
                    #expect(record.updatedAt != nil)
                    #expect(record.id == 1)
                    throw CancellationError()
                }
            }
            #expect(record.updatedAt == nil)
            #expect(record.id == nil)
            try record.insert(db)
            #expect(record.updatedAt != nil)
            #expect(!record.hasDatabaseChanges)
            try record.touch(db)
            #expect(!record.hasDatabaseChanges)
            let other = Stamped()
            other.id = 1
            other.title = "b"
            try other.upsert(db)
            #expect(try Stamped.fetchAll(db).map(\.title) == ["b"])
        }
    }

    @Test("the drift check knows the coded columns", .behaviour(89))
    func drift() throws {
        try withTable { db in
            try Errand.checkSchema(db)
            try db.execute(sql: "ALTER TABLE reminder DROP COLUMN place")
            let error = #expect(throws: SchemaDriftError.self) { try Errand.checkSchema(db) }
            #expect(error?.faults.map(\.kind) == [.columnMissing(isRead: true, isEncoded: true)])
            #expect(error?.faults.map(\.columns) == [["place"]])
        }
    }

    // MARK: - Bad input

    @Test("what a column cannot be is told with its row, and nothing is set", .behaviour(89))
    func badInput() throws {
        try withTable { db in
            try db.execute(sql: Self.texts)
            let reminder = try #require(try Errand.fetchOne(db))
            func check(_ sql: String, _ beginning: String) throws {
                for body: () throws -> Void in [
                    { _ = try Errand.fetchAll(db, sql: sql) },
                    { _ = try Errand.fetchCursor(db, sql: sql).next()?.copy() },
                    { _ = try Errand(row: Row.fetchOne(db, sql: sql) ?? Row()) },
                ] {
                    let error = #expect(throws: RowDecodingError.self) { try body() }
                    let description = error?.description ?? ""
                    #expect(description.hasPrefix(beginning), "\(description)")
                }
            }
            try check(
                "SELECT 1 AS id, NULL AS title, '[]' AS tags",
                #"could not read String from column "title": it is NULL - in the row [id: 1, title: NULL, tags: '[]']"#
            )
            try check(
                "SELECT 1 AS id, '' AS title, 'no JSON' AS tags",
                #"could not read Array<String> from column "tags": it holds the text 'no JSON' - in the row "#
            )
            try check(
                "SELECT 1 AS id, '' AS title, 'none' AS priority",
                #"could not read Priority from column "priority": it holds the text 'none' - in the row "#)
            try db.execute(sql: "UPDATE reminder SET title = 'new', tags = 'no JSON'")
            #expect(throws: RowDecodingError.self) { try reminder.reload(db) }
            #expect(reminder.title == "Milk")
            #expect(reminder.tags == ["a", "b"])
        }
    }
}
