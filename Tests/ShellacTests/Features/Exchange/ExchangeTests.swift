import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("CSV and JSON lines")
struct ExchangeTests {
    /// Every kind of value, in a column that takes them as they are, and in others.
    private static let values = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, n NUMERIC, s TEXT, b BLOB, r REAL);
        INSERT INTO t VALUES
            (1, NULL, NULL, NULL, NULL), (2, 0, '', x'', 0.0),
            (3, 9223372036854775807, 'a,b', x'C0FFEE', 9e999), (4, -9223372036854775808, 'say "hi"', x'00', -9e999),
            (5, 9007199254740993, 'two' || char(10) || 'lines' || char(13, 10) || 'three', x'22', 0.1),
            (6, 1.5, 'x''00''', x'2C', 1e300), (7, -1, 'NULL', x'0A', 5e-324),
            (8, 2, ' blank ', x'FF', -0.5), (9, 3, char(1, 127, 233, 128512), x'EFBBBF', 123456789.125),
            (10, 4, 'null', zeroblob(3), 1.0), (11, 5, '\\N', x'31', 2.0), (12, 6, char(65279) || 'bom', x'32', 3.0),
            (13, 7, '{"a":1}', x'33', 4.0), (14, 8, 'tab' || char(9) || ';', x'34', 5.0);
        """
    private static let formats: [ExchangeFormat] = [
        .csv, .csv(separator: ";", null: "NULL"), .csv(separator: "\t", null: "\\N"), .csv(hasHeader: false),
        .jsonLines, .json,
    ]

    @Test("every kind of value comes back as it was", arguments: formats)
    func roundTrip(_ format: ExchangeFormat) throws {
        let queue = try exchangeQueue(Self.values)
        try queue.write { db in
            let text = try db.exported("t", as: format)
            let before = try db.literals(
                "SELECT *, typeof(n), typeof(s), typeof(b), typeof(r) FROM t ORDER BY id")
            try db.execute(sql: "DELETE FROM t")
            let count = try db.importRows(into: "t", from: .bytes(text.utf8), as: format)
            #expect(count == 14)
            let after = try db.literals(
                "SELECT *, typeof(n), typeof(s), typeof(b), typeof(r) FROM t ORDER BY id")
            #expect(after == before)
            try #expect(db.exported("t", as: format) == text)
        }
    }

    @Test("CSV is written as RFC 4180 has it")
    func csvText() throws {
        let queue = try exchangeQueue(
            #"""
            CREATE TABLE "odd ""t" (id INTEGER PRIMARY KEY, "a,b" ANY, "say ""hi""" TEXT);
            INSERT INTO "odd ""t" VALUES (1, NULL, ''), (2, x'C0FF', 'x''C0FF'''), (3, 1e20, 'a"b'), (4, -9e999, '1')
            """#)
        try queue.read { db in
            try #expect(
                db.exported("ODD \"T") == #"""
                    id,"a,b","say ""hi"""
                    1,,""
                    2,x'C0FF',"x'C0FF'"
                    3,1e+20,"a""b"
                    4,-9e999,1

                    """#)
            try #expect(
                db.exported("odd \"t", as: .csv(separator: ";", null: "1", hasHeader: false)) == #"""
                    "1";1;""
                    2;x'C0FF';"x'C0FF'"
                    3;1e+20;"a""b"
                    4;-9e999;"1"

                    """#)
        }
    }

    @Test("JSON lines have all digits, infinities and blobs")
    func jsonText() throws {
        let queue = try exchangeQueue(
            #"""
            CREATE TABLE t (id INTEGER PRIMARY KEY, "a ""b" ANY, s TEXT);
            INSERT INTO t VALUES (9007199254740993, 9e999, 'a"\' || char(10, 1, 233)), (9223372036854775807, x'C0FFEE', NULL),
                (-1, 1.5, 'a�b');
            """#)
        try queue.read { db in
            let lines = try db.exported("t", as: .jsonLines)
            #expect(
                lines == #"""
                    {"id":-1,"a \"b":1.5,"s":"a�b"}
                    {"id":9007199254740993,"a \"b":9e999,"s":"a\"\\\n\u0001é"}
                    {"id":9223372036854775807,"a \"b":{"$base64":"wP/u"},"s":null}

                    """#)
            let array = try db.exported("t", as: .json)
            #expect(array == "[\n" + lines.dropLast().replacing("}\n{", with: "},\n{") + "\n]\n")
        }
    }

    @Test("an empty table is a header, nothing, or an empty array")
    func empty() throws {
        let queue = try exchangeQueue("CREATE TABLE t (a, b)")
        try queue.write { db in
            try #expect(db.exported("t") == "a,b\n")
            try #expect(db.exported("t", as: .jsonLines) == "")
            try #expect(db.exported("t", as: .json) == "[]\n")
            for (text, format) in [
                ("a,b\n", .csv), ("", .jsonLines), ("[]\n", .json), ("", .csv(hasHeader: false)),
            ]
                as [(String, ExchangeFormat)]
            {
                let count = try db.importRows(into: "t", from: .bytes(text.utf8), as: format)
                #expect(count == 0)
            }
        }
    }

    @Test("a request is exported, and one that includes other records is refused")
    func requests() throws {
        let queue = try exchangeQueue(
            "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INT); "
                + "INSERT INTO player VALUES (1, 'Arthur', 100), (2, 'Barbara', 200)")
        try queue.read { db in
            var bytes: [UInt8] = []
            let request = Table<Row>("player").filter(Column("score") > 150).select(Column("name"))
            let count = try db.exportRows(of: request, to: .chunks { bytes += $0 })
            #expect(count == 1)
            #expect(String(decoding: bytes, as: UTF8.self) == "name\nBarbara\n")
            let sql: SQLRequest<Row> = "SELECT id, id FROM player"
            #expect(
                thrown { try db.exportRows(of: sql, to: .chunks { _ in }, as: .jsonLines) }
                    == "column \"id\": two columns have this name, but an object can have each key only "
                    + "once: rename one with AS"
            )
            let twice = try db.exportRows(of: sql, to: .chunks { _ in })
            #expect(twice == 2)
            #expect(
                thrown { try db.exportRows(of: "nothing", to: .chunks { _ in }) }?.contains("nothing") == true
            )
        }
    }

    @Test("computed columns are left out of an export, and refused by an import")
    func generated() throws {
        let queue = try exchangeQueue(
            "CREATE TABLE t (a INT, b INT AS (a * 2), c INT AS (a * 3) STORED); INSERT INTO t (a) VALUES (1)")
        try queue.write { db in
            try #expect(db.exported("t") == "a\n1\n")
            let text = "a,B\n2,9\n"
            #expect(
                thrown { try db.importRows(into: "t", from: .bytes(text.utf8)) }?
                    .hasPrefix("line 2, column \"B\": the values of the column b are computed") == true)
            try db.importRows(into: "t", from: .bytes(text.utf8), ignoring: ["b"])
            try #expect(db.literals("SELECT * FROM t") == ["1|2|3", "2|4|6"])
        }
    }

    // MARK: - Records

    private class Player: Record {
        var id: Int64?
        var name = ""
        var score: Int?
        override class var databaseTableName: String { "player" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }

        override func validate(_ db: Database) throws {
            if name == "Nobody" { throw TestError(7) }
        }
    }

    private struct City: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String?
        static let databaseTableName = "player"
    }

    private static let players =
        "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INT)"

    @Test("records are exported, and made of rows")
    func records() throws {
        let queue = try exchangeQueue(Self.players)
        try queue.write { db in
            let text = "Nickname,score,other\nArthur,100,x\n\"Ba\"\"rb\",,y\n"
            let count = try Player.importAll(
                db, from: .bytes(text.utf8), columns: ["nickname": "name"], ignoring: ["OTHER"])
            #expect(count == 2)
            let players = try Player.fetchAll(db)
            #expect(players.map(\.score) == [100, nil])
            var bytes: [UInt8] = []
            let written = try players.exportRows(to: .chunks { bytes += $0 })
            #expect(written == 2)
            #expect(
                String(decoding: bytes, as: UTF8.self) == "id,name,score\n1,Arthur,100\n2,\"Ba\"\"rb\",\n")
            let cities = [City(id: 3, name: "Paris"), City(id: 4, name: nil)]
            bytes = []
            try cities.exportRows(to: .chunks { bytes += $0 }, as: .jsonLines)
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == "{\"id\":3,\"name\":\"Paris\"}\n{\"id\":4,\"name\":null}\n")
            bytes = []
            try [City]().exportRows(to: .chunks { bytes += $0 }, as: .json)
            #expect(bytes == Array("[]\n".utf8))
        }
    }

    @Test("what a record or the table refuses is told with its row, and nothing is inserted")
    func refusedRecords() throws {
        let queue = try exchangeQueue(Self.players)
        try queue.write { db in
            func message(_ text: String, as format: ExchangeFormat = .csv) -> ExchangeError? {
                do {
                    try Player.importAll(db, from: .bytes(text.utf8), as: format)
                    return nil
                } catch { return error as? ExchangeError }
            }
            let invalid = message("name\nArthur\nNobody\n")
            #expect(invalid?.row == 2 && invalid?.line == 3)
            #expect(invalid?.underlyingError is TestError)
            let wrong = message("{\"name\":\"A\"}\n{\"name\":\"B\",\"score\":\"many\"}\n", as: .jsonLines)
            #expect(wrong?.row == 2 && wrong?.underlyingError is RowDecodingError)
            let twice = message("name\nA\nB\nA\n")
            #expect(
                twice?.description
                    == "row 3 (line 4), column \"name\": UNIQUE constraint failed: player.name")
            try #expect(db.literals("SELECT count(*) FROM player") == ["0"])
        }
    }

    @Test("records of other columns than the first one are refused")
    func otherColumns() throws {
        struct Odd: EncodableRecord {
            let names: [String]
            func encode(to container: inout PersistenceContainer) {
                for name in names { container[name] = 1 }
            }
        }
        let records = [Odd(names: ["a"]), Odd(names: ["a", "b"])]
        #expect(
            thrown { try records.exportRows(to: .chunks { _ in }) }
                == "row 2: the record has the columns a, b, but the first one has a")
    }

    // MARK: - Files

    @Test("a file is replaced when all is written, and stays as it was when that fails")
    func files() throws {
        let folder = try TemporaryFolder()
        let queue = try exchangeQueue("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        let path = folder.path("out ü.csv")
        try queue.write { db in
            try db.exportRows(of: "t", to: .file(path))
            try #expect(String(contentsOfFile: path, encoding: .utf8) == "a\n1\n2\n")
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            #expect(thrown { try db.exportRows(of: "t", to: .file(path)) { _ in throw TestError(1) } } != nil)
            try #expect(String(contentsOfFile: path, encoding: .utf8) == "a\n1\n2\n")
            try #expect(folder.fileNames() == ["out ü.csv"])
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("link"), withDestinationPath: path)
            try db.exportRows(of: "t", to: .file(folder.path("link")))
            try #expect(String(contentsOfFile: path, encoding: .utf8) == "a\n1\n2\n3\n")
            try #expect(folder.fileNames() == ["link", "out ü.csv"])
            try db.exportRows(of: "t", to: .file("/dev/null"))
            for (bad, reason) in [
                (folder.path, "is a folder"), ("/nowhere/x", "No such file"), ("a\0b", "NUL character"),
            ] {
                #expect(thrown { try db.exportRows(of: "t", to: .file(bad)) }?.contains(reason) == true)
                #expect(thrown { try db.importRows(into: "t", from: .file(bad)) }?.contains(reason) == true)
            }
            #expect(
                thrown { try db.exportRows(of: "t", to: .descriptor(-1)) }?.contains("could not write")
                    == true)
            #expect(
                thrown { try db.importRows(into: "t", from: .descriptor(-1)) }?.contains("could not read")
                    == true)
            try #expect(db.importRows(into: "t", from: .file(path)) == 3)
        }
    }
}
