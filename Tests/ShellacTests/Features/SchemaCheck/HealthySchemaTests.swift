import Foundation
import Shellac
import TestSupport
import Testing

@Suite("The drift check finds nothing in")
struct HealthySchemaTests {
    @Test("a table and its record, whose dates a protocol keeps")
    func seed000() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("creationDate", .datetime).notNull()
                t.column("modificationDate", .datetime).notNull()
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
            try Player.checkSchema(db)
            try Player(name: "Arthur", score: 1).checkSchema(db)
            try db.execute(sql: "INSERT INTO player VALUES (1, '2026-01-01', '2026-01-01', 'Arthur', 1000)")
            try Player.checkSchema(db)
        }
    }

    @Test("keys of all kinds")
    func keys() throws {
        for sql in [
            "a INTEGER PRIMARY KEY, b INTEGER", "a INTEGER, b INTEGER, PRIMARY KEY (a, b)",
            "a INTEGER, b INTEGER, PRIMARY KEY (b)", "a INTEGER, b INTEGER",
        ] {
            try expect([], of: Pair.self, in: "CREATE TABLE pair (\(sql))")
        }
        try expect(
            [], of: Pair.self,
            in: "CREATE TABLE pair (a INTEGER, B INTEGER, PRIMARY KEY (b, A)) WITHOUT ROWID")
        try expect([], of: Pair.self, in: "CREATE VIRTUAL TABLE pair USING fts5(a, b)")
        struct Note: Codable, Drifting {
            static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
            var rowid: Int64?
            var text: String
        }
        try expect([], of: Note.self, in: "CREATE TABLE note (text TEXT)")
    }

    @Test("values of all types, in columns that are made for them", arguments: [true, false])
    func values(hasRow: Bool) throws {
        struct Thing: Codable, Drifting {
            enum Color: String, Codable, DatabaseValueConvertible, CaseIterable { case red, blue }
            enum Size: String, Codable { case small, large }
            enum Level: Int, Codable { case one = 1 }
            struct Place: Codable {
                struct Part: Codable {
                    var count: Int
                    var isLarge: Bool?
                }
                var city: String
                var isCapital: Bool
                var parts: [Part]
                var main: Part
                var date: Date
                var url: URL
            }
            var id: UUID
            var text: String
            var textIfAny: String?
            var isOpen: Bool
            var count: UInt8
            var whole: Int
            var real: Double
            var float: Float?
            var date: Date
            var dateIfAny: Date?
            var dateText: Date
            var data: Data
            var dataIfAny: Data?
            var uuidBlob: UUID?
            var uuid: UUID
            var url: URL
            var decimal: Decimal
            var color: Color
            var colorIfAny: Color?
            var size: Size
            var level: Level
            var numbers: [Int]
            var place: Place
            var placeIfAny: Place?
            var day: DatabaseDateComponents
            var any: String
        }
        try expect(
            [], of: Thing.self,
            in: """
                CREATE TABLE thing (
                    id BLOB PRIMARY KEY, text TEXT NOT NULL, textIfAny VARCHAR(10), isOpen BOOLEAN NOT NULL,
                    count INTEGER, whole REAL, real DOUBLE, float NUMERIC, date DATETIME NOT NULL, dateIfAny TIMESTAMP,
                    dateText TEXT, data BLOB, dataIfAny BLOB, uuidBlob BLOB, uuid UUID, url TEXT, decimal TEXT,
                    color TEXT NOT NULL, colorIfAny TEXT, size TEXT NOT NULL DEFAULT 'large', level INTEGER,
                    numbers TEXT, place TEXT, placeIfAny JSON, day DATE, any BLOB);
                """
                    + (hasRow
                        ? """
                        INSERT INTO thing (
                            id, text, isOpen, count, whole, real, date, dateText, data, uuid, url, decimal, color, level,
                            numbers, place, day, any)
                        VALUES (
                            zeroblob(16), '', 0, 2, 3, 4, '2026-01-01', '2026-01-01', x'01', zeroblob(16), 'http://a.b',
                            '1.5', 'blue', 1, '[1]', '{}', '2026-01-01', 'a');
                        """ : ""))
    }

    @Test("columns that are read, generated, and not encoded; and that are left to their defaults")
    func unencodedColumns() throws {
        struct Player: Drifting {
            init(row: Row) throws {
                let _: String = try row["upper"]
                let _: Int = try row["length"]
                let _: String = try row["createdAt"]
            }
            func encode(to container: inout PersistenceContainer) {
                container["ID"] = 1
                container["Name"] = "Arthur"
            }
        }
        try expect(
            [], of: Player.self,
            in: """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL, upper TEXT NOT NULL AS (upper(name)) VIRTUAL,
                    length INTEGER NOT NULL AS (length(name)) STORED, createdAt TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
                    note TEXT DEFAULT NULL)
                """)
    }

    @Test("views with a primary key of the type")
    func views() throws {
        struct Hero: Codable, Drifting {
            static var databasePrimaryKey: [String]? { ["id"] }
            var id: Int64
            var name: String
            var score: Int?
        }
        try expect(
            [], of: Hero.self,
            in: """
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score TEXT DEFAULT 1);
                CREATE VIEW hero AS SELECT id, name, score + 1 AS score FROM player;
                INSERT INTO player VALUES (1, 'Arthur', '2');
                """)
    }

    @Test("STRICT tables")
    func strictTables() throws {
        struct Thing: Codable, Drifting {
            var id: Int64?
            var name: String
            var size: Double
            var data: Data
            var any: UUID
        }
        try expect(
            [], of: Thing.self,
            in: "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, size REAL, data BLOB, any ANY) STRICT"
        )
    }

    @Test("columns that coding keys and strategies name")
    func codingKeys() throws {
        struct Player: Codable, Drifting {
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .convertFromSnakeCase
            }
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                column == "born_on" ? .iso8601 : .millisecondsSince1970
            }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                column == "born_on" ? .iso8601 : .millisecondsSince1970
            }
            enum CodingKeys: String, CodingKey {
                case id, fullName, bornOn
                case savedAt = "writtenAt"
            }
            var id: Int64?
            var fullName: String
            var bornOn: Date
            var savedAt: Date?
            var note = ""
        }
        try expect(
            [], of: Player.self,
            in: """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, full_name TEXT, born_on DATETIME, written_at INTEGER)
                """)
        try expect(
            ["Player reads and encodes the column written_at, which the table player lacks."],
            of: Player.self,
            in: "CREATE TABLE player (id INTEGER PRIMARY KEY, full_name TEXT, born_on DATETIME)")
    }

    @Test("columns in camel case, where a strategy looks for snake case first")
    func camelCase() throws {
        struct Player: Codable, Drifting {
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .convertFromSnakeCase
            }
            var id: Int64?
            var fullName: String
            var homeURL: URL?
        }
        try expect(
            [], of: Player.self,
            in: "CREATE TABLE player (id INTEGER PRIMARY KEY, fullName TEXT, homeURL TEXT)")
    }

    @Test("the columns of a Codable record, but for those that are missing or of another type")
    func codableRecords() throws {
        struct Player: Codable, Drifting {
            var id: Int64?
            var name: String
            var nickname: String?
            var score: Int?
        }
        try expect(
            [
                "Player reads and encodes the column nickname, which the table player lacks.",
                "Player encodes an integer in the column score of the table player, whose type is TEXT: it is "
                    + "stored as a text.",
            ], of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score TEXT)")
    }
}

private struct Player: Codable, Drifting {
    var id: Int64?
    var creationDate: Date?
    var modificationDate: Date?
    var name: String
    var score: Int
}

private struct Pair: Codable, Drifting {
    var a: Int
    var b: Int
}
