import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A record with a column of each kind.
private class Member: Record {
    enum Grade: String, Codable, DatabaseValueConvertible { case novice, master }
    struct Address: Codable, Equatable { var city: String }

    var id: Int64?
    var name = "?"
    var score: Int? = 7
    var grade = Grade.novice
    var joined: Date?
    var tags: [String] = []
    var address: Address?
    let version = 3
    var bookCount = -1
    /// The names of the properties that were set, in order.
    var log: [String] = []

    override class var databaseTableName: String { "member" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { set("id", &id, $0) }
        try column("name", name) { set("name", &name, $0) }
        try column("score", score) { set("score", &score, $0) }
        try column("grade", grade) { set("grade", &grade, $0) }
        try column("joined", joined) { set("joined", &joined, $0) }
        try column("tags", tags) { set("tags", &tags, $0) }
        try column("address", address) { set("address", &address, $0) }
        try column.writing("version", version)
        try column.reading("bookCount") { set("bookCount", &bookCount, $0) }
    }

    private func set<Value>(_ name: String, _ property: inout Value, _ value: Value) {
        log.append(name)
        property = value
    }
}

extension DatabaseQueue {
    fileprivate static func withMembers() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE member (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER, grade TEXT NOT NULL, joined TEXT,
                        tags TEXT NOT NULL, address TEXT, version INTEGER NOT NULL)
                    """)
        }
        return queue
    }
}

@Suite("Columns that are listed once")
struct ListedColumnsTests {
    private func withMembers(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue.withMembers().write(body)
    }

    private static let stored: [String: DatabaseValue] = [
        "id": 1.databaseValue, "name": "Arthur".databaseValue, "score": 7.databaseValue,
        "grade": "master".databaseValue, "joined": "2001-01-01 00:00:00.000".databaseValue,
        "tags": #"["a","b"]"#.databaseValue, "address": #"{"city":"Camelot"}"#.databaseValue,
        "version": 3.databaseValue,
    ]

    private func arthur() -> Member {
        let member = Member()
        (member.name, member.grade) = ("Arthur", .master)
        member.joined = Date(timeIntervalSinceReferenceDate: 0)
        (member.tags, member.address) = (["a", "b"], Member.Address(city: "Camelot"))
        return member
    }

    private func contents(_ db: Database) throws -> [String: DatabaseValue] {
        let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM member"))
        return Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
    }

    // MARK: - One line a property

    @Test("One line a property serves reading, encoding, setting one column and listing", .behaviour(56))
    func passes() throws {
        try withMembers { db in
            let member = arthur()
            try member.insert(db)
            #expect(member.id == 1)
            #expect(member.log == ["id"])
            try #expect(contents(db) == Self.stored)
            #expect(!member.hasDatabaseChanges)

            let fetched = try #require(
                try Member.fetchOne(db, sql: "SELECT *, 5 AS bookCount FROM member"))
            #expect(fetched.id == 1 && fetched.name == "Arthur" && fetched.score == 7)
            #expect(fetched.grade == .master && fetched.joined == member.joined)
            #expect(fetched.tags == ["a", "b"] && fetched.address?.city == "Camelot")
            #expect(fetched.bookCount == 5)
            #expect(!fetched.hasDatabaseChanges)
            try #expect(fetched.databaseDictionary == Self.stored)

            let listed = try member.listedColumns()
            #expect(
                listed.map(\.name) == [
                    "id", "name", "score", "grade", "joined", "tags", "address", "version", "bookCount",
                ])
            #expect(listed.filter { !$0.isRead }.map(\.name) == ["version"])
            #expect(listed.filter { !$0.isWritten }.map(\.name) == ["bookCount"])
            #expect(listed[5].type is [String].Type && listed[0].type is Int64?.Type)
        }
    }

    @Test("A subclass adds its columns to those of its superclass", .behaviour(56))
    func subclass() throws {
        final class Knight: Member {
            var horse: String?
            override func columns(_ column: borrowing RecordColumns) throws {
                try super.columns(column)
                try column("horse", horse) { horse = $0 }
            }
        }
        try withMembers { db in
            try db.execute(sql: "ALTER TABLE member ADD COLUMN horse TEXT")
            let knight = Knight()
            knight.horse = "Dun Stallion"
            try knight.save(db)
            #expect(knight.id == 1)
            let fetched = try #require(try Knight.fetchOne(db))
            #expect(fetched.horse == "Dun Stallion" && fetched.name == "?")
            knight.horse = nil
            try #expect(knight.databaseChanges == ["horse": "Dun Stallion".databaseValue])
        }
    }

    // MARK: - Both kinds in one line of descent

    /// A hero that counts its passes: the superclass of those that follow has one of both, and
    /// calls `super` or not.
    private class Passing: PairHero { var log: [String] = [] }

    private class ListedHero: Record {
        var id: Int64?
        var name = ""
        var score = 0
        var log: [String] = []
        override class var databaseTableName: String { "hero" }
        override func columns(_ column: borrowing RecordColumns) throws {
            log.append("columns")
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    @Test(
        "columns runs exactly once in each pass, after the pair, where a subclass lists and its superclass has the pair",
        .behaviour(56)
    )
    func listedBelowPair() throws {
        final class Titled: PairHero {
            var title = ""
            var log: [String] = []
            override func columns(_ column: borrowing RecordColumns) throws {
                try super.columns(column)
                log.append("columns")
                try column("title", title) { title = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            try db.execute(sql: "ALTER TABLE hero ADD COLUMN title TEXT NOT NULL DEFAULT ''")
            let hero = Titled("Arthur", score: 3)
            hero.title = "King"
            try hero.insert(db)
            #expect(hero.id == 1)
            hero.log = []
            let fetched = try #require(try Titled.fetchOne(db))
            #expect(fetched.name == "Arthur" && fetched.score == 3 && fetched.title == "King")
            #expect(!fetched.hasDatabaseChanges)
            fetched.log = []
            try #expect(fetched.databaseDictionary.count == 4)
            // Once to gather, and once to pack.
            #expect(fetched.log == ["columns"])
            fetched.log = []
            #expect(!fetched.hasDatabaseChanges)
            #expect(fetched.log == ["columns"])
            fetched.log = []
            fetched.title = "None"
            try fetched.reload(db)
            #expect(fetched.title == "King")
        }
    }

    @Test(
        "columns runs exactly once in each pass, after the pair, whether the pair of a subclass calls super or not",
        .behaviour(56),
        arguments: [true, false])
    func pairBelowListed(_ callsSuper: Bool) throws {
        class Scored: ListedHero {
            class var callsSuper: Bool { true }
            override func updateFromRow(_ row: Row) throws {
                log.append("updateFromRow")
                if row.hasColumn("score") { score = try row["score"] }
                if Self.callsSuper { try super.updateFromRow(row) }
            }
            override func encode(to container: inout PersistenceContainer) throws {
                log.append("encode")
                if Self.callsSuper { try super.encode(to: &container) }
                container["score"] = score
            }
        }
        final class Forgetful: Scored { override class var callsSuper: Bool { false } }
        let type = callsSuper ? Scored.self : Forgetful.self
        try DatabaseQueue.withLooseHeroes().write { db in
            let hero = try type.init(row: Row())
            #expect(hero.log == ["updateFromRow", "columns"])
            (hero.name, hero.score) = ("Arthur", 3)
            try hero.insert(db)
            #expect(hero.id == 1)
            let fetched = try #require(try type.fetchOne(db))
            #expect(fetched.name == "Arthur" && fetched.score == 3 && fetched.id == 1)
            fetched.log = []
            #expect(!fetched.hasDatabaseChanges)
            #expect(fetched.log == ["encode", "columns"])
            fetched.log = []
            let copy = try fetched.copy()
            #expect(copy.name == "Arthur" && copy.score == 3)
            #expect(copy.log == ["updateFromRow", "columns"])
        }
    }

    @Test(
        "A class that overrides columns and the pair is refused by a sentence at its first use",
        .behaviour(56))
    func both() throws {
        final class Both: PairHero {}
        final class Doubled: ListedHero {
            override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
            override func encode(to container: inout PersistenceContainer) throws {}
        }
        class Twofold: ListedHero {
            override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
            override func updateFromRow(_ row: Row) throws {}
        }
        final class BelowTwofold: Twofold {}
        try DatabaseQueue.withLooseHeroes().write { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try #expect(Both.fetchOne(db)?.name == "Arthur")
            for (type, name) in [
                (Doubled.self, "Doubled"), (Twofold.self, "Twofold"), (BelowTwofold.self, "Twofold"),
            ] as [(ListedHero.Type, String)] {
                func check(_ body: () throws -> Void) {
                    let error = #expect(throws: DatabaseError.self) { try body() }
                    #expect(error?.resultCode == .SQLITE_MISUSE)
                    #expect(
                        error?.message
                            == "\(name) overrides columns(_:), and also updateFromRow(_:) or encode(to:). "
                            + "List all of its columns in columns(_:), and remove the other overrides.")
                }
                check { _ = try type.fetchAll(db) }
                check { _ = try type.fetchOne(db, key: 1) }
                check { try type.init(row: Row()).insert(db) }
                check { try type.init(row: Row()).save(db) }
            }
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 1)
        }
    }

    @Test(
        "A column that is listed twice is refused when it would be stored, and nothing is written",
        .behaviour(56))
    func twice() throws {
        final class Copied: ListedHero {
            override func columns(_ column: borrowing RecordColumns) throws {
                try super.columns(column)
                try column("NAME", score) { score = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            let copied = Copied()
            let error = #expect(throws: DatabaseError.self) { try copied.insert(db) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(
                error?.message
                    == "Copied lists the column NAME twice in columns(_:). One of the two properties would be "
                    + "lost: give each a column of its own.")
            #expect(copied.hasDatabaseChanges)
            expectError(
                "Copied lists the column NAME twice in columns(_:). One of the two properties would be lost: "
                    + "give each a column of its own."
            ) { try copied.databaseChanges }
            expectError(
                "Copied lists the column NAME twice in columns(_:). One of the two properties would be lost: "
                    + "give each a column of its own."
            ) { try copied.save(db) }
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0)
        }
    }

    // MARK: - Reading, encoding, setting

    @Test(
        "A column that the row lacks leaves its property, and one that does not convert throws as a subscript does",
        .behaviour(57)
    )
    func reading() throws {
        try withMembers { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 'Lancelot' AS name, NULL AS score"))
            for member in [
                try Member(row: row),
                try #require(try Member.fetchOne(db, sql: "SELECT 'Lancelot' AS NAME, NULL AS score")),
            ] {
                #expect(member.log == ["name", "score"])
                #expect(member.name == "Lancelot" && member.score == nil && member.grade == .novice)
            }
            for (sql, name, message) in [
                ("SELECT NULL AS name", "name", "could not read String from column \"name\": it is NULL"),
                (
                    "SELECT 'knave' AS grade", "grade",
                    "could not read Grade from column \"grade\": it holds the text 'knave'"
                ),
            ] {
                let error = #expect(throws: RowDecodingError.self) { try Member.fetchOne(db, sql: sql) }
                #expect(error?.columnName == name)
                #expect("\(try #require(error))".contains(message))
                let row = try #require(try Row.fetchOne(db, sql: sql))
                let other = #expect(throws: RowDecodingError.self) { try Member(row: row) }
                #expect(other?.columnName == name)
            }
            let json = #expect(throws: RowDecodingError.self) {
                try Member.fetchOne(db, sql: "SELECT 1 AS id, '{' AS tags")
            }
            #expect(json?.columnName == "tags" && json?.underlyingError != nil)
            #expect(throws: RowDecodingError.self) { try Member.fetchOne(db, sql: "SELECT NULL AS tags") }
            try #expect(Member.fetchOne(db, sql: "SELECT NULL AS address")?.log == ["address"])
        }
    }

    @Test("Encoding sets nothing, and setting one column sets that property alone", .behaviour(57))
    func setting() throws {
        try withMembers { db in
            let member = arthur()
            try member.insert(db)
            #expect(member.log == ["id"])
            _ = (member.hasDatabaseChanges, try member.databaseChanges, try member.databaseDictionary)
            member.score = 8
            try member.update(db)
            try member.updateChanges(db)
            try member.save(db)
            #expect(member.log == ["id"])
            let other = arthur()
            #expect(throws: TestError.self) {
                try db.inSavepoint {
                    try other.insert(db)
                    #expect(other.id == 2)
                    throw TestError(1)
                }
            }
            #expect(other.id == nil)
            #expect(other.log == ["id", "id"])
        }
    }

    @Test("Property observers run for what is read, and not for what is encoded", .behaviour(57))
    func propertyObservers() throws {
        final class Observed: Record {
            var id: Int64? { didSet { sets.append("id") } }
            var name = "" { didSet { sets.append("name") } }
            var sets: [String] = []
            override class var databaseTableName: String { "hero" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let observed = try #require(try Observed.fetchOne(db))
            #expect(observed.sets == ["id", "name"])
            observed.sets = []
            #expect(!observed.hasDatabaseChanges)
            try #expect(!observed.updateChanges(db))
            try observed.update(db)
            #expect(observed.sets == [])
        }
    }

    @Test("A row id that does not convert throws, and the insertion stands", .behaviour(57))
    func smallID() throws {
        final class Small: Record {
            var id: Int8?
            override class var databaseTableName: String { "hero" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            try db.execute(sql: "INSERT INTO hero VALUES (127, 'Arthur', 10)")
            for _ in 1...2 {
                let small = Small()
                let error = #expect(throws: RecordError.self) { try small.insert(db) }
                #expect("\(try #require(error))".contains("Small"))
                #expect("\(try #require(error))".contains("could not read Optional<Int8> from column \"id\""))
            }
            try #expect(Int.fetchAll(db, sql: "SELECT id FROM hero") == [127, 128, 129])
        }
    }

    @Test(
        "A setter that throws ends the fetch with its error, and leaves the connection usable", .behaviour(57)
    )
    func throwingSetter() throws {
        class Picky: ListedHero {
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) {
                    if $0 == 2 { throw TestError(2) }
                    id = $0
                }
                try column("name", name) { name = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try #expect(Picky.fetchAll(db).count == 1)
            let picky = Picky()
            let error = #expect(throws: RecordError.self) { try picky.insert(db) }
            #expect(
                error
                    == .rowNotTaken(recordType: "Picky", reason: "columns(_:) threw \(TestError(2))"))
            #expect(picky.id == nil)
            #expect(throws: TestError(2)) { try Picky.fetchAll(db) }
            try #expect(Picky.fetchOne(db, key: 1)?.name == "Arthur")
            let third = Picky()
            try third.insert(db)
            #expect(third.id == 3)
        }
    }

    /// A page on which a value, a coding or a setter throws on demand.
    final class Torn: Record {
        enum Fault: String, CaseIterable {
            case value, json, coding, writing, writingJSON, writingCoding
            case setter, jsonSetter, readingSetter, readingJSONSetter

            static let ofEncoding: [Self] = [.value, .json, .coding, .writing, .writingJSON, .writingCoding]
            static let ofReading = allCases.filter { !ofEncoding.contains($0) }
        }
        struct Point: Codable {
            enum CodingKeys: CodingKey { case x }
            var x = 1
            var fails = false

            func encode(to encoder: any Encoder) throws {
                if fails { throw TestError(1) }
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(x, forKey: .x)
            }
        }

        var fault: Fault?
        override class var databaseTableName: String { "page" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column.writing("id", 1)
            try column("a", checked(1, .value)) { _ = try checked($0, .setter) }
            try column("b", checked([1], .json)) { _ = try checked($0, .jsonSetter) }
            try column("c", Point(fails: fault == .coding)) { _ in }
            try column.writing("d", checked(1, .writing))
            try column.writing("e", checked([1], .writingJSON))
            try column.writing("f", Point(fails: fault == .writingCoding))
            try column.reading("g", as: Int.self) { _ = try checked($0, .readingSetter) }
            try column.reading("h", as: [Int].self) { _ = try checked($0, .readingJSONSetter) }
        }

        private func checked<Value>(_ value: Value, _ fault: Fault) throws -> Value {
            if fault == self.fault { throw TestError(1) }
            return value
        }
    }

    @Test("What a value or a coding throws ends the encoding", arguments: Torn.Fault.ofEncoding)
    func encodingFault(fault: Torn.Fault) throws {
        let torn = Torn()
        try #expect(torn.databaseDictionary.count == 7)
        torn.fault = fault
        #expect(throws: TestError(1)) { try torn.databaseDictionary }
    }

    @Test("What a setter throws ends the reading", arguments: Torn.Fault.ofReading)
    func readingFault(fault: Torn.Fault) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE page (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h);
                    INSERT INTO page VALUES (1, 1, '[1]', '{"x":1}', 1, '[1]', '{"x":1}', 1, '[1]')
                    """)
            let torn = try #require(try Torn.fetchOne(db))
            try torn.reload(db)
            torn.fault = fault
            #expect(throws: TestError(1)) { try torn.reload(db) }
        }
    }

    @Test(
        "NULL, and what does not convert or decode, throws, whether the column is stored or only read",
        arguments: ["a", "b", "g", "h"], ["NULL", "'{'"])
    func misfit(column: String, value: String) throws {
        try DatabaseQueue().inDatabase { db in
            let error = #expect(throws: RowDecodingError.self) {
                try Torn.fetchOne(db, sql: "SELECT \(value) AS \(column)")
            }
            #expect(error?.columnName == column)
        }
    }

    // MARK: - Columns of one direction

    @Test(
        "A column that is read alone is never encoded, and one that is written alone is never read",
        .behaviour(58))
    func oneDirection() throws {
        final class Slugged: Record {
            let id: Int64? = 1
            var name = ""
            var length = 0
            var words: [String] = []
            var slug: String { name.lowercased() }
            override class var databaseTableName: String { "page" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column.writing("id", id)
                try column("name", name) { name = $0 }
                try column.writing("slug", slug)
                try column.writing("parts", name.split(separator: " ").map(String.init))
                try column.reading("length") { length = $0 }
                try column.reading("parts", as: [String].self) { words = $0 }
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE page (
                        id INTEGER PRIMARY KEY, name TEXT, slug TEXT, parts TEXT,
                        length INTEGER GENERATED ALWAYS AS (length(name)))
                    """)
            let page = Slugged()
            page.name = "The Round Table"
            try page.insert(db, refreshing: true)
            #expect(page.length == 15 && page.words == ["The", "Round", "Table"])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM page"))
            #expect(
                row.map(\.1) == [
                    1.databaseValue, "The Round Table".databaseValue, "the round table".databaseValue,
                    #"["The","Round","Table"]"#.databaseValue, 15.databaseValue,
                ])
            #expect(!page.hasDatabaseChanges)
            page.name = "A Sword"
            try #expect(page.databaseChanges.keys.sorted() == ["name", "parts", "slug"])
            try page.updateChanges(db)
            let fetched = try Slugged.find(db, key: 1)
            #expect(fetched.length == 7 && fetched.name == "A Sword" && fetched.words == ["A", "Sword"])
            #expect(!fetched.hasDatabaseChanges)
        }
    }

    @Test("Columns with a name of their own are listed as others are", .behaviour(58))
    func namedColumns() throws {
        enum Columns {
            static let id = Column("id")
            static let name = Column("name")
            static let score = Column("score")
        }
        final class Named: Record {
            var id: Int64?
            var name: [String] = []
            var score = 0
            override class var databaseTableName: String { "hero" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column(Columns.id, id) { id = $0 }
                try column(Columns.name, name) { name = $0 }
                try column.writing(Columns.score, 4)
                try column.reading(Columns.score) { score = $0 }
            }
        }
        try DatabaseQueue.withLooseHeroes().write { db in
            let named = Named()
            named.name = ["Arthur"]
            try named.insert(db)
            let fetched = try #require(try Named.fetchOne(db))
            #expect(fetched.id == 1 && fetched.name == ["Arthur"] && fetched.score == 4)
            try #expect(String.fetchOne(db, sql: "SELECT name FROM hero") == #"["Arthur"]"#)
        }
    }
}
