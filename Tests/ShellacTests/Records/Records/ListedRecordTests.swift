import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A record of the table `hero` that lists its columns.
private class Champion: Record {
    var id: Int64?
    var name = ""
    var score = 0
    var setters: [String] = []

    override class var databaseTableName: String { "hero" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            id = $0
            setters.append("id")
        }
        try column("name", name) {
            name = $0
            setters.append("name")
        }
        try column("score", score) {
            score = $0
            setters.append("score")
        }
    }
}

@Suite("Records that list their columns")
struct ListedRecordTests {
    private func withHeroes(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue.withLooseHeroes().write(body)
    }

    @Test(
        "They are fetched, found, given their row id, reloaded, copied and refreshed with nothing more to write",
        .behaviour(59)
    )
    func features() throws {
        try withHeroes { db in
            let hero = Champion()
            hero.name = "Arthur"
            try hero.save(db)
            #expect(hero.id == 1 && hero.setters == ["id"] && !hero.hasDatabaseChanges)
            hero.score = 3
            try #expect(hero.updateChanges(db))
            #expect(hero.savedDatabaseChanges == ["score": 0.databaseValue])

            try #expect(Champion.find(db, key: 1).name == "Arthur")
            let kept = try #require(try Row.fetchOne(db, sql: "SELECT * FROM hero"))
            try #expect(Champion(row: kept).hasDatabaseChanges == false)

            try db.execute(sql: "UPDATE hero SET score = 4")
            try hero.reload(db)
            #expect(hero.score == 4 && !hero.hasDatabaseChanges)

            hero.name = "Art"
            let copy = try hero.copy()
            #expect(copy.id == 1 && copy.name == "Art" && copy.score == 4)
            try #expect(copy.databaseChanges == ["name": "Arthur"])

            try db.execute(
                sql:
                    "CREATE TRIGGER t AFTER INSERT ON hero BEGIN UPDATE hero SET score = 9 WHERE id = NEW.id; END"
            )
            let second = Champion()
            second.name = "Barbara"
            try second.insert(db, refreshing: true)
            #expect(second.id == 2 && second.name == "Barbara")
            let third = Champion()
            third.id = 30
            try third.upsert(db)
            #expect(third.id == 30 && third.setters == [])
        }
    }

    @Test("A rolled back insertion takes the row id away, and sets nothing else", .behaviour(59))
    func rollback() throws {
        try withHeroes { db in
            let hero = Champion()
            hero.name = "Arthur"
            _ = try? db.inSavepoint {
                try hero.insert(db)
                hero.name = "Barbara"
                return .rollback
            }
            #expect(hero.id == nil && hero.name == "Barbara" && hero.setters == ["id", "id"])
            #expect(hero.hasDatabaseChanges)
            try hero.insert(db)
            #expect(hero.id == 1)
            try #expect(String.fetchOne(db, sql: "SELECT name FROM hero") == "Barbara")
        }
    }

    @Test("A row id that was changed after the insertion is kept by its rollback", .behaviour(59))
    func keptRowID() throws {
        try withHeroes { db in
            let hero = Champion()
            _ = try? db.inSavepoint {
                try hero.insert(db)
                hero.id = 77
                return .rollback
            }
            #expect(hero.id == 77)
        }
    }

    @Test("Batches give each record its row id", .behaviour(59))
    func batches() throws {
        try withHeroes { db in
            let heroes = (0..<300).map { number in
                let hero = Champion()
                hero.name = "\(number)"
                return hero
            }
            try Champion.insertAll(db, heroes)
            #expect(heroes.map(\.id) == (1...300).map { $0 })
            #expect(heroes.allSatisfy { $0.setters == ["id"] && !$0.hasDatabaseChanges })
        }
    }

    @Test("Stamps are taken alone, given back by a rollback, and touched", .behaviour(59))
    func stamps() throws {
        final class Stamped: Record {
            var id: Int64?
            var name = "" { didSet { sets += 1 } }
            var created: Date?
            var updated: Date?
            var sets = 0
            override class var databaseTableName: String { "stamped" }
            override class var databaseStamps: DatabaseStamps {
                DatabaseStamps(created: "created", updated: "updated")
            }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
                try column("created", created) { created = $0 }
                try column("updated", updated) { updated = $0 }
            }
        }
        var configuration = Configuration()
        let clock = Recorder<Date>()
        configuration.transactionClock = .custom { _ in
            clock.record(Date())
            return Date(timeIntervalSinceReferenceDate: Double(clock.elements.count))
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE stamped (id INTEGER PRIMARY KEY, name TEXT, created TEXT, updated TEXT)")
        }
        let record = Stamped()
        try queue.write { try record.insert($0) }
        let created = try #require(record.created)
        #expect(record.updated == created && record.sets == 0 && !record.hasDatabaseChanges)
        record.name = "A"
        try queue.write { db in try record.update(db) }
        let updated = try #require(record.updated)
        #expect(record.created == created && updated > created && record.sets == 1)
        #expect(throws: TestError.self) {
            try queue.write { db in
                record.name = "B"
                try record.update(db)
                #expect(record.updated != updated)
                throw TestError(1)
            }
        }
        #expect(record.updated == updated && record.name == "B" && record.sets == 2)
        try queue.write { db in try record.touch(db) }
        #expect(try #require(record.updated) > updated)
        #expect(record.sets == 2)
        try #expect(record.databaseChanges == ["name": "A"])
    }

    @Test(
        "The strategies of the class apply to dates, data, UUIDs and JSON, and names are never converted",
        .behaviour(59))
    func strategies() throws {
        struct Wish: Codable, Equatable { var giftName: String, date: Date }
        final class Letter: Record {
            var id: UUID?
            var sentAt: Date?
            var seal: Data = Data()
            var wish: Wish?
            override class var databaseTableName: String { "letter" }
            override class func databaseDateEncodingStrategy(
                for column: String
            ) -> DatabaseDateEncodingStrategy { .timeIntervalSince1970 }
            override class func databaseDataEncodingStrategy(
                for column: String
            ) -> DatabaseDataEncodingStrategy { .text }
            override class func databaseUUIDEncodingStrategy(
                for column: String
            ) -> DatabaseUUIDEncodingStrategy { .lowercaseString }
            override class func databaseDateDecodingStrategy(
                for column: String
            ) -> DatabaseDateDecodingStrategy { .timeIntervalSince1970 }
            override class func databaseJSONEncoder(for column: String) -> JSONEncoder {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                encoder.keyEncodingStrategy = .convertToSnakeCase
                encoder.dateEncodingStrategy = .secondsSince1970
                return encoder
            }
            override class func databaseJSONDecoder(for column: String) -> JSONDecoder {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("sentAt", sentAt) { sentAt = $0 }
                try column("seal", seal) { seal = $0 }
                try column("wish", wish) { wish = $0 }
            }
        }
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        try DatabaseQueue().write { db in
            try db.execute(
                sql: "CREATE TABLE letter (id TEXT PRIMARY KEY, sentAt REAL, seal TEXT, wish TEXT)")
            let letter = Letter()
            (letter.id, letter.sentAt, letter.seal) = (id, Date(timeIntervalSince1970: 1.5), Data("wax".utf8))
            letter.wish = Wish(giftName: "sled", date: Date(timeIntervalSince1970: 2))
            try letter.insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM letter"))
            #expect(
                row.map(\.1) == [
                    "e621e1f8-c36c-495a-93fc-0c247a3e6e5f".databaseValue, 1.5.databaseValue,
                    "wax".databaseValue,
                    #"{"date":2,"gift_name":"sled"}"#.databaseValue,
                ])
            for fetched in [try Letter.find(db, key: id), try Letter(row: row)] {
                #expect(fetched.id == id && fetched.sentAt == letter.sentAt && fetched.seal == letter.seal)
                #expect(fetched.wish == letter.wish)
                #expect(!fetched.hasDatabaseChanges)
            }
            letter.sentAt = nil
            letter.wish = nil
            try letter.updateChanges(db)
            try #expect(Letter.find(db, key: id).sentAt == nil)
            try #expect(letter.delete(db))
        }
    }

    @Test(
        "A date of a class without strategies compares by its instant, as it does elsewhere", .behaviour(59))
    func instants() throws {
        final class Dated: Record {
            var id: Int64?
            var date = Date(timeIntervalSinceReferenceDate: 0)
            override class var databaseTableName: String { "dated" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("date", date) { date = $0 }
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE dated (id INTEGER PRIMARY KEY, date TEXT)")
            try db.execute(sql: "INSERT INTO dated VALUES (1, '2026-01-02T03:04')")
            let dated = try #require(try Dated.fetchOne(db))
            #expect(!dated.hasDatabaseChanges)
            dated.date += 1
            #expect(dated.hasDatabaseChanges)
        }
    }

    @Test(
        "The drift check sees what is listed, in an empty table and in one with rows", .behaviour(59),
        arguments: [false, true])
    func driftCheck(hasRow: Bool) throws {
        enum Color: String, DatabaseValueConvertible { case red }
        final class Car: Record {
            var id: Int64?
            var name: String?
            var color = Color.red
            var wheels: Int?
            var price = 0
            var rating: Int?
            override class var databaseTableName: String { "car" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("nmae", name) { name = $0 }
                try column("color", color) { color = $0 }
                try column("wheels", wheels) { wheels = $0 }
                try column("price", price) { price = $0 }
                try column("rating", rating) { rating = $0 }
                try column.writing("upper", "X")
                try column.reading("distance", as: Int.self) { _ in }
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE car (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT, wheels TEXT, price INTEGER,
                        rating INTEGER DEFAULT 5, upper TEXT GENERATED ALWAYS AS (upper(name)))
                    """)
            if hasRow {
                try db.execute(sql: "INSERT INTO car (name, color, price) VALUES ('Ford', 'red', 1)")
            }
            let error = #expect(throws: SchemaDriftError.self) { try Car.checkSchema(db) }
            #expect(
                Set(try #require(error).faults.map(\.description)) == [
                    "Car reads and encodes the column nmae, which the table car lacks.",
                    "Car has a property name, but no line for the column name of the table car in "
                        + "columns(_:): the property is neither read nor stored. List it, or name it in "
                        + "databaseUnlistedProperties.",
                    "Car never encodes the column name of the table car, which is NOT NULL and has no default.",
                    "Car encodes the column upper of the table car, which is generated and cannot be written.",
                    "Car encodes an integer in the column wheels of the table car, whose type is TEXT: it is stored as a text.",
                    "Car stores NULL in the column rating of the table car if it has no value, instead of "
                        + "the default 5.",
                ])
        }
    }

    // MARK: - Bad input

    @Test("A column that the table lacks is told with its class, its table, and the column that may be meant")
    func missingColumn() throws {
        final class Misspelled: Champion {
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("nmae", name) { name = $0 }
            }
        }
        struct Struct: Codable, PersistableRecord {
            static let databaseTableName = "hero"
            var id: Int64
            var skore: Int
        }
        try withHeroes { db in
            let record = Misspelled()
            for save in [{ try record.insert(db) }, { try record.save(db) }] {
                let error = #expect(throws: DatabaseError.self) { try save() }
                #expect(
                    error?.message
                        == "the table hero has no column nmae, which Misspelled encodes: did you mean name?")
                #expect(error?.sql == #"INSERT INTO "hero" ("id", "nmae") VALUES (?, ?)"#)
            }
            record.id = 1
            let error = #expect(throws: DatabaseError.self) { try record.update(db) }
            #expect(
                error?.message
                    == "the table hero has no column nmae, which Misspelled encodes: did you mean name?")
            let other = #expect(throws: DatabaseError.self) { try Struct(id: 1, skore: 2).insert(db) }
            #expect(
                other?.message
                    == "the table hero has no column skore, which Struct encodes: did you mean score?")
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0)
        }
    }

    @Test("A list that changes between two calls loses nothing: it is stored as it is then")
    func changingList() throws {
        final class Moody: Champion {
            var listsID = true
            var listsScore = true
            override func columns(_ column: borrowing RecordColumns) throws {
                if listsID { try column("id", id) { id = $0 } } else { try column.writing("id", id) }
                try column("name", name) { name = $0 }
                if listsScore { try column("score", score) { score = $0 } }
            }
        }
        try withHeroes { db in
            let first = Moody()
            try first.insert(db)
            #expect(first.id == 1)
            let second = Moody()
            (second.listsID, second.listsScore) = (false, false)
            try second.insert(db)
            #expect(second.id == nil)
            #expect(second.hasDatabaseChanges)
            let third = Moody()
            try third.insert(db)
            #expect(third.id == 3)
            first.listsScore = false
            first.name = "Arthur"
            try first.update(db)
            try #expect(
                Row.fetchOne(db, sql: "SELECT name, score FROM hero WHERE id = 1")?.map(\.1)
                    == ["Arthur".databaseValue, 0.databaseValue])
        }
    }

    @Test("A list that saves the record which it belongs to, or another, is stored as it is")
    func savingList() throws {
        final class Chatty: Champion {
            var db: Database?
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) {
                    id = $0
                    if let db, $0 == 1 {
                        // While this one is given its row id, another one is.
                        let other = Chatty()
                        try other.insert(db)
                        name = "\(other.id ?? -1)"
                    }
                }
                try column("name", name) { name = $0 }
                try column("score", score) { score = $0 }
            }
        }
        try withHeroes { db in
            let hero = Chatty()
            hero.db = db
            try hero.insert(db)
            #expect(hero.id == 1 && hero.name == "2")
            try #expect(hero.databaseChanges == ["name": ""])
            try #expect(Int.fetchAll(db, sql: "SELECT id FROM hero ORDER BY id") == [1, 2])
        }
    }

    @Test("A list that moves the cursor of its row stops the program with a sentence")
    func movedCursor() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            final class Mover: Record {
                nonisolated(unsafe) static var move: () throws -> Void = {}
                var first = 0
                var second = 0
                override func columns(_ column: borrowing RecordColumns) throws {
                    try column("a", first) {
                        first = $0
                        try Self.move()
                    }
                    try column("b", second) { second = $0 }
                }
            }
            try DatabaseQueue().inDatabase { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4")
                while let row = try cursor.next() {
                    Mover.move = { _ = try cursor.next() }
                    _ = try Mover(row: row)
                }
            }
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            said.contains(
                "the row of a record was read after its cursor had moved on: columns(_:) of Mover, or one of its setters, "
                    + "has moved it. Only set properties there."))
    }
}
