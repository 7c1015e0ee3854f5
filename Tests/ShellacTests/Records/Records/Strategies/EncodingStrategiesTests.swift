import Foundation
import Shellac
import TestSupport
import Testing

private let moment = Date(timeIntervalSince1970: 978_307_201.25)
private let uuid = UUID(uuid: (0xAB, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xFF))

/// Each column has the strategy that its name says.
private struct Dates: Codable, FetchableRecord, EncodableRecord {
    var deferred: Date? = moment
    var reference: Date? = moment
    var since1970: Date? = moment
    var seconds: Date? = moment
    var milliseconds: Date? = moment
    var iso: Date? = moment
    var formatted: Date? = moment
    var custom: Date? = moment
    var none: Date?

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        switch column {
        case "reference": .timeIntervalSinceReferenceDate
        case "since1970": .timeIntervalSince1970
        case "seconds": .secondsSince1970
        case "milliseconds": .millisecondsSince1970
        case "iso": .iso8601
        case "formatted": .formatted(.iso8601.year().month().day())
        case "custom": .custom { $0 == moment ? "then" : nil }
        case "none": .secondsSince1970
        default: .deferredToDate
        }
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        switch column {
        case "reference": .timeIntervalSinceReferenceDate
        case "since1970", "seconds", "none": .timeIntervalSince1970
        case "milliseconds": .millisecondsSince1970
        case "iso": .iso8601
        case "formatted": .formatted(.iso8601.year().month().day())
        case "custom": .custom { $0 == "then" ? moment : nil }
        default: .deferredToDate
        }
    }
}

@Suite("Strategies of Codable records")
struct EncodingStrategiesTests {
    @Test("Each strategy of dates stores what it says")
    func dates() throws {
        #expect(
            try Dates().databaseDictionary == [
                "deferred": "2001-01-01 00:00:01.250",
                "reference": moment.timeIntervalSinceReferenceDate.databaseValue,
                "since1970": 978_307_201.25, "seconds": 978_307_201, "milliseconds": 978_307_201_250,
                "iso": "2001-01-01T00:00:01Z", "formatted": "2001-01-01", "custom": "then", "none": .null,
            ])
        var dates = Dates()
        dates.seconds = Date(timeIntervalSince1970: -0.5)
        dates.milliseconds = Date(timeIntervalSince1970: 1e30)
        dates.custom = Date()
        dates.iso = nil
        dates.since1970 = Date(timeIntervalSince1970: .infinity)
        dates.reference = Date(timeIntervalSince1970: .nan)
        let values = try dates.databaseDictionary
        #expect(values["seconds"] == -1)
        #expect(values["milliseconds"] == (1e30 * 1000).databaseValue)
        #expect(values["custom"] == .null)
        #expect(values["iso"] == .null)
        #expect(values["reference"] == .null)
    }

    @Test("Each strategy of dates reads what it stored")
    func readDates() throws {
        let dates = try Dates(row: Row(Dates().databaseDictionary))
        let second = Date(timeIntervalSince1970: 978_307_201)
        let day = Date(timeIntervalSince1970: 978_307_200)
        #expect(dates.deferred == moment && dates.since1970 == moment && dates.milliseconds == moment)
        #expect(dates.reference == moment && dates.custom == moment)
        #expect(dates.seconds == second && dates.iso == second && dates.formatted == day && dates.none == nil)
        let live = try DatabaseQueue().read { db in
            try #require(try Dates.fetchOne(db, sql: "SELECT 3 AS seconds, '1970-01-01' AS iso"))
        }
        #expect(live.seconds == Date(timeIntervalSince1970: 3))
        #expect(live.iso == Date(timeIntervalSince1970: 0))
        #expect(live.reference == nil)
    }

    @Test("A date that a strategy does not read is a mismatch", arguments: ["iso", "custom", "milliseconds"])
    func wrongDates(_ column: String) throws {
        let value: DatabaseValue = column == "milliseconds" ? "2001-01-01" : 3
        let error = try #require(thrownError { _ = try Dates(row: [column: value]) } as? RowDecodingError)
        #expect(error.reason == .valueMismatch)
        #expect(error.columnName == column)
        #expect(error.expectedType is Date.Type)
        #expect(error.databaseValue == value)
    }

    @Test("A date that a strategy reads is needed where the property is not optional")
    func missingDates() throws {
        struct Event: Decodable, FetchableRecord {
            var date: Date
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .iso8601
            }
        }
        #expect(throws: RowDecodingError.self) { try Event(row: [:]) }
        let missing = thrownError { _ = try Event(row: ["x": 1]) } as? RowDecodingError
        #expect(missing?.reason == .columnNotFound && missing?.columnName == "date")
        let null = thrownError { _ = try Event(row: ["date": nil]) } as? RowDecodingError
        #expect(null?.reason == .unexpectedNull && null?.columnName == "date")
    }

    @Test("A date stored as a number is compared as its number, and no other date as it")
    func comparison() throws {
        struct Seconds: Encodable, EncodableRecord {
            var date: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .timeIntervalSince1970
            }
        }
        struct Text: EncodableRecord {
            func encode(to container: inout PersistenceContainer) throws {
                container["date"] = "1970-01-01 00:00:01.000"
            }
        }
        struct Plain: Encodable, EncodableRecord { var date = Date(timeIntervalSince1970: 1) }
        let one = Date(timeIntervalSince1970: 1)
        #expect(try Seconds(date: one).databaseChanges(from: Text()) == ["date": "1970-01-01 00:00:01.000"])
        #expect(try Plain().databaseChanges(from: Seconds(date: one)) == [:])
        let later = Date(timeIntervalSince1970: 1.0001)
        #expect(try Seconds(date: later).databaseChanges(from: Seconds(date: one)) == ["date": 1.0])
    }

    @Test("Data is stored as a blob, as a text, or by a function")
    func data() throws {
        struct Files: Codable, FetchableRecord, EncodableRecord {
            var blob: Data? = Data("a".utf8)
            var text: Data? = Data("é".utf8)
            var custom: Data? = Data("c".utf8)
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
                switch column {
                case "text": .text
                case "custom": .custom { $0.isEmpty ? nil : $0.count }
                default: .deferredToData
                }
            }
            static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
                column == "custom"
                    ? .custom { Int.fromDatabaseValue($0).map { Data(repeating: 0x63, count: $0) } }
                    : .deferredToData
            }
        }
        #expect(
            try Files().databaseDictionary == [
                "blob": Data("a".utf8).databaseValue, "text": "é", "custom": 1,
            ])
        let files = try Files(row: Row(Files().databaseDictionary))
        #expect(
            files.text == Data("é".utf8) && files.custom == Data("c".utf8) && files.blob == Data("a".utf8))
        #expect(try Files(custom: Data()).databaseDictionary["custom"] == .null)
        #expect(try Files(row: [:]).custom == nil)
        let error = thrownError { _ = try Files(row: ["custom": "x"]) } as? RowDecodingError
        #expect(error?.columnName == "custom" && error?.reason == .valueMismatch)
        #expect(throws: EncodingError.self) { try Files(text: Data([0xFF])).databaseDictionary }
    }

    @Test("UUIDs are stored as blobs or as texts")
    func uuids() throws {
        struct Keys: Codable, FetchableRecord, EncodableRecord {
            var blob = uuid
            var upper = uuid
            var lower: UUID? = uuid
            static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                switch column {
                case "upper": .uppercaseString
                case "lower": .lowercaseString
                default: .deferredToUUID
                }
            }
        }
        let values = try Keys().databaseDictionary
        #expect(
            values == [
                "blob": uuid.databaseValue, "upper": "AB020304-0506-0708-090A-0B0C0D0E0FFF",
                "lower": "ab020304-0506-0708-090a-0b0c0d0e0fff",
            ])
        let keys = try Keys(row: Row(values))
        #expect(keys.blob == uuid && keys.upper == uuid && keys.lower == uuid)
    }

    @Test("Keys are stored in columns in snake case, and read from them")
    func snakeCase() throws {
        struct Player: Codable, FetchableRecord, PersistableRecord {
            var playerID: Int
            var fullName: String?
            var homePageURL: String?
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .convertFromSnakeCase
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: "CREATE TABLE player (player_id INTEGER PRIMARY KEY, full_name TEXT, home_page_url TEXT)"
            )
            for id in 1...3 {
                try Player(playerID: id, fullName: "Arthur", homePageURL: nil).insert(db)
            }
            #expect(
                try String.fetchAll(db, sql: "SELECT full_name FROM player") == [
                    "Arthur", "Arthur", "Arthur",
                ])
            #expect(try Player.fetchAll(db).map(\.playerID) == [1, 2, 3])
            #expect(try Player.find(db, key: 2).fullName == "Arthur")
            let error = thrownError { _ = try Player.fetchAll(db, sql: "SELECT full_name FROM player") }
            #expect((error as? RowDecodingError)?.columnName == "player_id")
        }
        #expect(try Player(row: ["Player_Id": 1, "fullName": "x"]).fullName == "x")
    }

    @Test("Keys are stored in the columns that functions name")
    func customColumns() throws {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Player: Codable, FetchableRecord, EncodableRecord {
            var id: Int
            var name: String?
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
                .custom { "c_" + $0.stringValue }
            }
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .custom { Key(stringValue: String($0.dropFirst(2))) }
            }
        }
        #expect(try Player(id: 1, name: "x").databaseDictionary == ["c_id": 1, "c_name": "x"])
        let players = try DatabaseQueue().read { db in
            try Player.fetchAll(db, sql: "SELECT 1 AS c_id, 'x' AS c_name UNION ALL SELECT 2, NULL")
        }
        #expect(players.map(\.id) == [1, 2])
        #expect(players.map(\.name) == ["x", nil])
    }

    @Test("JSON is made and read by the record's coders, with the record's user info")
    func coders() throws {
        struct Note: Codable, FetchableRecord, EncodableRecord {
            struct Body: Codable, Equatable {
                var at: Date
                var info: String?
                init(at: Date) { self.at = at }
                init(from decoder: any Decoder) throws {
                    at = try decoder.container(keyedBy: CodingKeys.self).decode(Date.self, forKey: .at)
                    info = decoder.userInfo[Note.key] as? String
                }
            }
            enum CodingKeys: CodingKey { case body, other, hint }
            static let key = CodingUserInfoKey(rawValue: "key")!
            var body: Body
            var other: Body?
            var hint: String?
            init(body: Body, other: Body?) { (self.body, self.other) = (body, other) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                body = try container.decode(Body.self, forKey: .body)
                other = try container.decodeIfPresent(Body.self, forKey: .other)
                hint = decoder.userInfo[Note.key] as? String
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(body, forKey: .body)
                try container.encode(other, forKey: .other)
                try container.encode(encoder.userInfo[Note.key] as? String, forKey: .hint)
            }
            static var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { [key: "encoding"] }
            static var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { [key: "decoding"] }
            static func databaseJSONEncoder(for column: String) -> JSONEncoder {
                let encoder = JSONEncoder()
                if column == "body" { encoder.dateEncodingStrategy = .iso8601 }
                return encoder
            }
            static func databaseJSONDecoder(for column: String) -> JSONDecoder {
                let decoder = JSONDecoder()
                decoder.userInfo = databaseDecodingUserInfo
                if column == "body" { decoder.dateDecodingStrategy = .iso8601 }
                return decoder
            }
        }
        let body = Note.Body(at: Date(timeIntervalSinceReferenceDate: 0))
        let values = try Note(body: body, other: body).databaseDictionary
        #expect(
            values == ["body": #"{"at":"2001-01-01T00:00:00Z"}"#, "other": #"{"at":0}"#, "hint": "encoding"])
        let note = try Note(row: Row(values))
        #expect(note.body.at == body.at && note.body.info == "decoding" && note.hint == "decoding")
        #expect(note.other?.at == body.at)
    }

    @Test("a record's userInfo is found, whichever of the two types it was declared with")
    func userInfoOfAnyType() throws {
        final class Box {
            let value: String
            init(_ value: String) { self.value = value }
        }
        struct Note: Codable, FetchableRecord, PersistableRecord {
            struct Part: Codable {
                var text: String
                init(_ text: String) { self.text = text }
                init(from decoder: any Decoder) throws {
                    var container = try decoder.unkeyedContainer()
                    text =
                        try container.decode(String.self)
                        + ((decoder.userInfo[Note.key] as? Box)?.value ?? "-")
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.unkeyedContainer()
                    try container.encode(text + ((encoder.userInfo[Note.key] as? Box)?.value ?? "-"))
                }
            }
            static let key = CodingUserInfoKey(rawValue: "key")!
            var name: String
            var part: Part

            enum CodingKeys: CodingKey { case name, part }
            init(name: String, part: Part) { (self.name, self.part) = (name, part) }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                name += (decoder.userInfo[Note.key] as? Box)?.value ?? "-"
                part = try container.decode(Part.self, forKey: .part)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(
                    name + ((encoder.userInfo[Note.key] as? Box)?.value ?? "-"), forKey: .name)
                try container.encode(part, forKey: .part)
            }
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [key: Box(" encoded")] }
            static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [key: Box(" decoded")] }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE note(name, part)")
            try Note(name: "a", part: .init("b")).insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM note")
                    == Row([("name", "a encoded".databaseValue), ("part", #"["b encoded"]"#.databaseValue)]))
            let note = try #require(try Note.fetchOne(db))
            #expect(note.name == "a encoded decoded")
            #expect(note.part.text == "b encoded decoded")
        }
    }
}
