import Foundation
import Shellac
import TestSupport
import Testing

private struct Address: Codable, Equatable {
    var street: String
    var city: String
}

private enum Color: String, Codable { case red, blue }

private struct Player: Codable, FetchableRecord, Equatable {
    var id: Int64?
    var name: String
    var score: Int
    var date: Date?
    var color: Color?
    var address: Address?
}

/// A record whose decoding tests say.
private struct Decoding<Body: DecodingBody>: FetchableRecord, Decodable {
    var body: Body
    init(from decoder: any Decoder) throws { body = try Body(decoder) }
}

private protocol DecodingBody { init(_ decoder: any Decoder) throws }

private enum Key: String, CodingKey { case a, b, c }

@Suite("Decodable records")
struct FetchableRecordCodableTests {
    static let sql = """
        SELECT 1 AS id, 'Arthur' AS name, 1000 AS score, '1970-01-01 00:00:01' AS date, 'red' AS color,
        '{"street":"Main","city":"Lyon"}' AS address
        """

    @Test(
        "A record reads each property from its column, wherever the row stands", arguments: RowPlace.allCases)
    func reading(_ place: RowPlace) throws {
        let expected = Player(
            id: 1, name: "Arthur", score: 1000, date: Date(timeIntervalSince1970: 1), color: .red,
            address: Address(street: "Main", city: "Lyon"))
        try DatabaseQueue().read { db in
            try place.row(db, Self.sql) { row throws in
                #expect(try Player(row: row) == expected)
                #expect(try Player(row: row) == expected)
            }
        }
    }

    @Test("Every row of a statement is read, whatever the rows before it held")
    func rows() throws {
        try DatabaseQueue().read { db in
            let sql = """
                \(Self.sql) UNION ALL SELECT 2, 'Barbara', 2, NULL, NULL, NULL
                UNION ALL SELECT NULL, 'Craig', 3, 0, 'blue', '{"street":"x","city":"y"}'
                """
            let players = try Player.fetchAll(db, sql: sql)
            #expect(players.map(\.id) == [1, 2, nil])
            #expect(players.map(\.name) == ["Arthur", "Barbara", "Craig"])
            #expect(players.map(\.color) == [.red, nil, .blue])
            #expect(players.map(\.date?.timeIntervalSince1970) == [1, nil, 0])
            #expect(players.map(\.address?.city) == ["Lyon", nil, "y"])
            let cursor = try Player.fetchCursor(db, sql: sql)
            var names: [String] = []
            while let player = try cursor.next() { names.append(player.name) }
            #expect(names == players.map(\.name))
        }
    }

    @Test("Columns match without regard to case, and a missing column is nil for an optional", .behaviour(41))
    func names() throws {
        try DatabaseQueue().read { db in
            let player = try Player.fetchOne(db, sql: "SELECT 3 AS SCORE, 'x' AS Name, 'y' AS name")
            #expect(player == Player(name: "x", score: 3))
        }
    }

    @Test("Two records are read from one row, and each from its own")
    func twoRecords() throws {
        struct Team: Decodable, FetchableRecord, Equatable { var team: String }
        struct Pair: FetchableRecord {
            var player: Player
            var team: Team
            init(row: Row) throws {
                player = try Player(row: row)
                team = try Team(row: row)
            }
        }
        struct Nested: Decodable, FetchableRecord {
            var player: Player
            var team: Team
            var score: Int
            init(from decoder: any Decoder) throws {
                player = try Player(from: decoder)
                team = try Team(from: decoder)
                score = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .score)
            }
            enum CodingKeys: CodingKey { case score }
        }
        let sql = "SELECT 'a' AS name, 1 AS score, 'A' AS team UNION ALL SELECT 'b', 2, 'B'"
        try DatabaseQueue().read { db in
            let pairs = try Pair.fetchAll(db, sql: sql)
            #expect(pairs.map(\.player.name) == ["a", "b"])
            #expect(pairs.map(\.team.team) == ["A", "B"])
            let nested = try Nested.fetchAll(db, sql: sql)
            #expect(nested.map(\.player.name) == ["a", "b"])
            #expect(nested.map(\.team.team) == ["A", "B"])
            #expect(nested.map(\.score) == [1, 2])
        }
    }

    @Test("A decoding of its own asks what columns there are, and decodes nested containers")
    func nestedContainers() throws {
        struct Body: DecodingBody {
            init(_ decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                #expect(container.allKeys.map(\.stringValue).sorted() == ["a", "b"])
                #expect(container.contains(.a) && !container.contains(.c))
                #expect(try container.decodeNil(forKey: .c) && !container.decodeNil(forKey: .a))
                let object = try container.nestedContainer(keyedBy: Key.self, forKey: .a)
                #expect(try object.decode(Int.self, forKey: .a) == 1)
                #expect(try object.decodeIfPresent(Int.self, forKey: .b) == nil)
                #expect(try object.decode(Date.self, forKey: .c) == Date(timeIntervalSince1970: 1))
                var array = try container.nestedUnkeyedContainer(forKey: .b)
                #expect(array.count == 2)
                #expect(try array.decode(String.self) == "x")
                #expect(try array.nestedContainer(keyedBy: Key.self).decode([Int].self, forKey: .a) == [2])
                #expect(array.isAtEnd)
                let parent = try container.superDecoder(forKey: .a).container(keyedBy: Key.self)
                #expect(try parent.decode(Int.self, forKey: .a) == 1)
                let value = try container.superDecoder(forKey: .b).singleValueContainer()
                #expect(throws: RowDecodingError.self) { try value.decode(Int.self) }
                #expect(try container.decode(Int?.self, forKey: .c) == nil)
                #expect(try container.decode(Address?.self, forKey: .c) == nil)
            }
        }
        let sql = #"SELECT '{"a":1,"c":1000}' AS a, '["x",{"a":[2]}]' AS b"#
        try DatabaseQueue().read { db in
            _ = try Decoding<Body>.fetchAll(db, sql: "\(sql) UNION ALL \(sql)")
        }
        _ = try Decoding<Body>(row: ["a": #"{"a":1,"c":1000}"#, "b": #"["x",{"a":[2]}]"#])
    }

    @Test("Nested containers are decoded to any depth, and what is not there names the column")
    func deepContainers() throws {
        struct Body: DecodingBody {
            init(_ decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                let object = try container.nestedContainer(keyedBy: Key.self, forKey: .a)
                #expect(Set(object.allKeys.map(\.stringValue)) == ["a", "b", "c"])
                #expect(object.codingPath.map(\.stringValue) == ["a"])
                #expect(try object.decodeNil(forKey: .b) && !object.decodeNil(forKey: .a))
                let inner = try object.nestedContainer(keyedBy: Key.self, forKey: .a)
                #expect(try inner.decode(Int.self, forKey: .a) == 1)
                var list = try object.nestedUnkeyedContainer(forKey: .c)
                #expect(try list.decodeNil())
                #expect(list.currentIndex == 1 && list.count == 4)
                var numbers = try list.nestedUnkeyedContainer()
                #expect(try numbers.decode(Int.self) == 2)
                #expect(try list.superDecoder().singleValueContainer().decode(String.self) == "x")
                let parent = try object.superDecoder(forKey: .a).container(keyedBy: Key.self)
                #expect(try parent.decode(Int.self, forKey: .a) == 1)
                for error in [
                    #expect(throws: RowDecodingError.self) { _ = try list.nestedUnkeyedContainer() },
                    #expect(throws: RowDecodingError.self) {
                        _ = try object.nestedContainer(keyedBy: Key.self, forKey: .c)
                    },
                    #expect(throws: RowDecodingError.self) {
                        _ = try object.nestedUnkeyedContainer(forKey: .a)
                    },
                ] {
                    #expect(error?.columnName == "a", "\(String(describing: error))")
                }
                let value = try container.superDecoder(forKey: .b).singleValueContainer()
                #expect(!value.decodeNil())
                #expect(try value.decode(Int.self) == 3)
                #expect(try container.superDecoder().singleValueContainer().decodeNil())
            }
        }
        let json = #"{"a":{"a":1},"b":null,"c":[null,[2],"x",false]}"#
        try DatabaseQueue().read { db in
            _ = try Decoding<Body>.fetchOne(
                db, sql: "SELECT ? AS a, '3' AS b, 'null' AS super", arguments: [json])
        }
    }

    // MARK: - Errors

    /// The error of a fetch.
    private func error<Record: FetchableRecord>(
        _ type: Record.Type, _ sql: String
    ) throws -> RowDecodingError {
        try DatabaseQueue().read { db in
            let error = thrownError { _ = try type.fetchAll(db, sql: sql) }
            return try #require(error as? RowDecodingError, "\(String(describing: error))")
        }
    }

    @Test(
        "A column that is missing, NULL or of another kind throws what reading it from the row throws",
        arguments: [
            (
                "SELECT 'a' AS name", .columnNotFound,
                "could not read Int from column \"score\": there is no such column - in the row [name: 'a'] of "
                    + "`SELECT 'a' AS name`"
            ),
            (
                "SELECT 'a' AS name, NULL AS score", .unexpectedNull,
                "could not read Int from column \"score\": it is NULL - in the row [name: 'a', score: NULL] of "
                    + "`SELECT 'a' AS name, NULL AS score`"
            ),
            (
                "SELECT 'a' AS name, 'b' AS score", .valueMismatch,
                "could not read Int from column \"score\": it holds the text 'b' - in the row "
                    + "[name: 'a', score: 'b'] of `SELECT 'a' AS name, 'b' AS score`"
            ),
        ] as [(String, RowDecodingError.Reason, String)])
    func columnErrors(_ sql: String, _ reason: RowDecodingError.Reason, _ sentence: String) throws {
        let error = try error(Player.self, sql)
        #expect(error.reason == reason)
        #expect(error.description == sentence)
    }

    @Test("A date, an enum and a nested value have the same errors")
    func generalErrors() throws {
        struct Event: Decodable, FetchableRecord {
            var date: Date
            var color: Color
            var address: Address
        }
        let cases: [(String, String, RowDecodingError.Reason)] = [
            ("SELECT 1 AS x", "date", .columnNotFound),
            ("SELECT NULL AS date", "date", .unexpectedNull),
            ("SELECT 'x' AS date", "date", .valueMismatch),
            ("SELECT 0 AS date", "color", .columnNotFound),
            ("SELECT 0 AS date, NULL AS color", "color", .unexpectedNull),
            ("SELECT 0 AS date, 'green' AS color", "color", .valueMismatch),
            ("SELECT 0 AS date, 12 AS color", "color", .valueMismatch),
            ("SELECT 0 AS date, 'red' AS color", "address", .columnNotFound),
            ("SELECT 0 AS date, 'red' AS color, NULL AS address", "address", .unexpectedNull),
            ("SELECT 0 AS date, 'red' AS color, '{' AS address", "address", .valueMismatch),
            ("SELECT 0 AS date, 'red' AS color, '{}' AS address", "address", .valueMismatch),
            ("SELECT 0 AS date, 'red' AS color, 12 AS address", "address", .valueMismatch),
        ]
        for (sql, column, reason) in cases {
            let error = try error(Event.self, sql)
            #expect(error.columnName == column, "\(sql)")
            #expect(error.reason == reason, "\(sql)")
            #expect(error.sql == sql)
        }
    }

    @Test("An error inside JSON names the column, the row, the SQL, and what is wrong")
    func jsonErrors() throws {
        let sql = #"SELECT 'a' AS name, 1 AS score, '{"street":3}' AS address"#
        let error = try error(Player.self, sql)
        #expect(error.columnName == "address")
        #expect(error.expectedType is Address.Type)
        #expect(error.row.map(\.0) == ["name", "score", "address"])
        #expect(error.underlyingError is DecodingError)
        #expect(error.description.contains(#"it holds the text '{"street":3}' - in the row [name: 'a'"#))
        #expect(error.description.contains("street"))
        #expect(error.description.contains("of `\(sql)`"))
    }

    @Test("An error of a nested container names the column")
    func nestedErrors() throws {
        struct Body: DecodingBody {
            init(_ decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                _ = try container.nestedContainer(keyedBy: Key.self, forKey: .a).decode(Int.self, forKey: .b)
            }
        }
        for sql in [#"SELECT '{"b":"x"}' AS a"#, "SELECT '{}' AS a", "SELECT '[]' AS a", "SELECT '' AS a"] {
            let error = try error(Decoding<Body>.self, sql)
            #expect(error.columnName == "a" && error.reason == .valueMismatch, "\(sql)")
            #expect(error.underlyingError is DecodingError)
        }
        #expect(try error(Decoding<Body>.self, "SELECT NULL AS a").reason == .unexpectedNull)
        #expect(try error(Decoding<Body>.self, "SELECT 1 AS x").reason == .columnNotFound)
    }

    @Test("A record that decodes itself from an array cannot be read from a row")
    func notKeyed() throws {
        struct Unkeyed: DecodingBody {
            init(_ decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
        }
        try DatabaseQueue().read { db in
            let errors = [
                thrownError { _ = try Decoding<Unkeyed>.fetchAll(db, sql: "SELECT 1") },
                thrownError { _ = try Decoding<Unkeyed>(row: ["a": 1]) },
            ]
            for error in errors {
                #expect(
                    "\(String(describing: error))".contains(
                        "decodes itself from an array, and a row is none"))
            }
        }
    }

    @Test("What a record's own decoding throws reaches the caller, and the statement reads on")
    func throwing() throws {
        struct Failure: Error {}
        struct Picky: Decodable, FetchableRecord {
            var n: Int
            init(from decoder: any Decoder) throws {
                n = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .n)
                if n == 2 { throw Failure() }
            }
            enum CodingKeys: CodingKey { case n }
        }
        try DatabaseQueue().read { db in
            let cursor = try Picky.fetchCursor(db, sql: "SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3")
            #expect(try cursor.next()?.n == 1)
            #expect(throws: Failure.self) { try cursor.next() }
            #expect(throws: Failure.self) {
                try Picky.fetchAll(db, sql: "SELECT 1 AS n UNION ALL SELECT 2")
            }
            #expect(try Picky.fetchAll(db, sql: "SELECT 3 AS n").map(\.n) == [3])
        }
    }

    @Test("A container that was kept is not given to the next record")
    func keptContainers() throws {
        struct Kept: DecodingBody {
            var container: KeyedDecodingContainer<Key>
            var a: Int
            init(_ decoder: any Decoder) throws {
                container = try decoder.container(keyedBy: Key.self)
                a = try container.decode(Int.self, forKey: .a)
            }
        }
        try DatabaseQueue().read { db in
            let records = try Decoding<Kept>.fetchAll(
                db, sql: "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3")
            #expect(records.map(\.body.a) == [1, 2, 3])
        }
    }

    @Test(
        "A decoder or container that is used after its record was decoded traps, with a sentence",
        arguments: [0, 1])
    func keptTooLong(_ kind: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [kind = kind as Int] in
            struct Kept: DecodingBody {
                var container: KeyedDecodingContainer<Key>
                var decoder: any Decoder
                init(_ decoder: any Decoder) throws {
                    self.decoder = decoder
                    container = try decoder.container(keyedBy: Key.self)
                }
            }
            crashWithoutBacktrace()
            try DatabaseQueue().read { db in
                let records = try Decoding<Kept>.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
                guard let record = try records.next() else { return }
                _ = try records.next()
                if kind == 0 { _ = try record.body.container.decode(Int.self, forKey: .a) }
                if kind == 1 { _ = try record.body.decoder.container(keyedBy: Key.self) }
            }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("was used after the record was decoded"))
    }
}
