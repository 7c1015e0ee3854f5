import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Exported values, compared with what an import makes of them.
@Suite("What is exported and imported")
struct RoundTripTests {
    private static let nullWords: [String?] = [
        "", "NULL", "\\N", "-1", "0", "2.0", "9e999", "-9e999", "x'41'", "X'41'", "x''", "a", "é", " ",
        "null", nil,
    ]
    private static let separators: [Character] = [",", ";", "\t", "|", " ", "\0", "G"]

    private static let types = ["INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC", "", "DATETIME", "VARCHAR(9)"]
    private static let strictTypes = ["INTEGER", "TEXT", "BLOB", "REAL", "ANY"]

    private static func isNumber(_ word: String?) -> Bool {
        word.map { ["-1", "0", "2.0", "9e999", "-9e999"].contains($0) } ?? false
    }

    private struct Sample {
        var generator: SeededGenerator
        let null: String?
        let separator: Character
        let hasNull: Bool

        mutating func value() -> DatabaseValue {
            switch Int.random(in: 0..<(hasNull ? 7 : 6), using: &generator) {
            case 0:
                let chosen: [Int64] = [0, -1, 1, 5, .max, .min, 9_007_199_254_740_993]
                return DatabaseValue(.int64(chosen.randomElement(using: &generator) ?? 0))
            case 1: return DatabaseValue(.int64(Int64.random(in: .min ... .max, using: &generator)))
            case 2:
                let chosen: [Double] = [
                    0.1 + 0.2, .infinity, -.infinity, 2, 1e20, .leastNonzeroMagnitude, -0.0, 1e300, 100, 1e15,
                ]
                return DatabaseValue(.double(chosen.randomElement(using: &generator) ?? 0))
            case 3:
                let real = Double(bitPattern: generator.next())
                return DatabaseValue(.double(real.isNaN ? 0.1 : real))
            case 4:
                let chosen: [[UInt8]] = [
                    [], [0x41], [0], [0x22], [0xFF, 0xFE], Array("x'41'".utf8), [0xEF, 0xBB, 0xBF],
                ]
                return Data(chosen.randomElement(using: &generator) ?? []).databaseValue
            case 5: return DatabaseValue(.string(text()))
            default: return .null
            }
        }

        private mutating func text() -> String {
            let chosen = [
                "", " ", "1", "01", "+1", "-0", "0", "-1", "1.5", "2.0", "1e400", "0.1234567890123456789",
                "9e999",
                "x'41'", "X'41'", "x''", "x'", "\"", "\"\"", "a,b", "a;b", "\n", "\r\n", "\r", "a\nb",
                "\u{FEFF}",
                "\u{FEFF}a", "é", "😀", "\0", "a\0b", "null", "NULL", "\\N", "'", "{\"$base64\":\"QQ==\"}",
                "[1]",
                null ?? "nil", "\(separator)", "a\(separator)", "\\", "\t", "true", "12345678901234567890",
            ]
            let text = chosen.randomElement(using: &generator) ?? ""
            return Bool.random(using: &generator)
                ? text : text + (chosen.randomElement(using: &generator) ?? "")
        }
    }

    @Test(
        "Random tables come back as they were, in each format, with all options", .behaviour(137),
        arguments: SeededGenerator.seeds("EXCHANGE", count: 40))
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<12 {
            let null = Self.nullWords.randomElement(using: &generator) ?? nil
            let separator =
                Self.separators.filter { null?.contains($0) != true }
                .randomElement(using: &generator) ?? ","
            let hasHeader = Bool.random(using: &generator)
            let csv = ExchangeFormat.csv(separator: separator, null: null, hasHeader: hasHeader)
            let format = [csv, csv, csv, .jsonLines, .json].randomElement(using: &generator) ?? .csv
            let isCSV = format == csv
            let isStrict = Int.random(in: 0..<3, using: &generator) == 0
            let types = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                (isStrict ? Self.strictTypes : Self.types).randomElement(using: &generator) ?? ""
            }
            let place: Comment =
                "seed \(seed), round \(round): \(types), strict \(isStrict), \(isCSV ? "CSV" : "JSON"), \(null ?? "nil")"
            let columns = types.enumerated().map { "c\($0) \($1)" }.joined(separator: ", ")
            let queue = try exchangeQueue(
                ["t", "u"].map { "CREATE TABLE \($0) (\(columns))\(isStrict ? " STRICT" : "");" }.joined())
            var sample = Sample(
                generator: SeededGenerator(seed: seed * 1000 + UInt64(round)), null: null,
                separator: separator,
                hasNull: !isCSV || null != nil)
            try queue.write { db in
                let marks = types.map { _ in "?" }.joined(separator: ", ")
                for _ in 0..<30 {
                    // The values that a STRICT table refuses are absent.
                    try? db.execute(
                        sql: "INSERT INTO t VALUES (\(marks))",
                        arguments: StatementArguments(types.map { _ in sample.value() }))
                }
                var bytes: [UInt8] = []
                var isRequest = Bool.random(using: &generator)
                // For a request, the type ANY alone does not say whether the table is strict.
                let untyped = types.indices.filter { ["", "BLOB", "ANY"].contains(types[$0]) }
                let isAny = untyped.contains { isStrict || types[$0] != "ANY" }
                if isCSV, isAny, Self.isNumber(null) {
                    #expect(
                        thrown { try db.exportRows(of: "t", to: .chunks { bytes += $0 }, as: format) }?
                            .contains("is a number") == true, place)
                    #expect(bytes.isEmpty, place)
                    isRequest = true
                }
                let count: Int
                if isRequest {
                    let request: SQLRequest<Row> = "SELECT * FROM t"
                    if isCSV, Self.isNumber(null), try hasNumber(equalTo: null, in: untyped, db) {
                        #expect(
                            thrown {
                                try db.exportRows(of: request, to: .chunks { bytes += $0 }, as: format)
                            }?
                            .contains("equals the word for NULL") == true, place)
                        return
                    }
                    count = try db.exportRows(of: request, to: .chunks { bytes += $0 }, as: format)
                } else {
                    count = try db.exportRows(of: "t", to: .chunks { bytes += $0 }, as: format)
                }
                let read = try db.importRows(into: "u", from: .bytes(bytes), as: format)
                #expect(read == count, place)
                let before = try Row.fetchAll(db, sql: "SELECT * FROM t ORDER BY rowid")
                let after = try Row.fetchAll(db, sql: "SELECT * FROM u ORDER BY rowid")
                for (old, new) in zip(before, after) where old != new {
                    Issue.record("\(place): \(old) is \(new), of \(String(decoding: bytes, as: UTF8.self))")
                    return
                }
            }
        }
    }

    /// Whether a row of the table has a number in one of some columns that is printed as a word.
    private func hasNumber(equalTo word: String?, in columns: [Int], _ db: Database) throws -> Bool {
        try Row.fetchAll(db, sql: "SELECT * FROM t").contains { row in
            let values = Array(row.databaseValues)
            return columns.contains { column in
                switch values[column].storage {
                case .int64(let integer): "\(integer)" == word
                case .double(let real):
                    real.isInfinite ? (real < 0 ? "-9e999" : "9e999") == word : "\(real)" == word
                default: false
                }
            }
        }
    }

    @Test(
        "A number that equals the word for NULL is refused in a column that may have no type", .behaviour(137)
    )
    func numberLikeNull() throws {
        let queue = try exchangeQueue(
            """
            CREATE TABLE t (a, b INTEGER); CREATE VIEW v AS SELECT a, b FROM t;
            INSERT INTO t VALUES (1, 2), ('x', -1), (-1, 3);
            """)
        try queue.write { db in
            let format = ExchangeFormat.csv(null: "-1")
            let requests: [SQLRequest<Row>] = [
                "SELECT a FROM t", "SELECT a FROM v", "SELECT b + 0 AS b FROM t",
            ]
            for (request, place) in zip(requests, [#"3, column "a""#, #"3, column "a""#, #"2, column "b""#]) {
                let sentence = thrown { try db.exportRows(of: request, to: .chunks { _ in }, as: format) }
                #expect(
                    sentence?.hasPrefix("row \(place): the number equals") == true, "\(sentence ?? "nothing")"
                )
            }
            #expect(thrown { try db.exportRows(of: "v", to: .chunks { _ in }, as: format) } != nil)
            // In quotes, a column of numbers reads it as a number.
            for sql in ["SELECT b FROM t", "SELECT b FROM v"] {
                var bytes: [UInt8] = []
                try db.exportRows(of: SQLRequest<Row>(sql: sql), to: .chunks { bytes += $0 }, as: format)
                try db.execute(sql: "CREATE TABLE copy (b INTEGER)")
                try db.importRows(into: "copy", from: .bytes(bytes), as: format)
                try #expect(Int?.fetchAll(db, sql: "SELECT b FROM copy") == [2, -1, 3])
                try db.execute(sql: "DROP TABLE copy")
            }
            #expect(thrown { try [NumberedLine(a: -1)].exportRows(to: .chunks { _ in }, as: format) } != nil)
            // Other numbers are no harm.
            let other: SQLRequest<Row> = "SELECT a FROM t WHERE a > 0 OR a IS NULL"
            try #expect(db.exportRows(of: other, to: .chunks { _ in }, as: format) == 2)
        }
    }

    private struct NumberedLine: Encodable, EncodableRecord {
        var a: Int
    }

    @Test("One column of CSV without a header keeps its rows of NULL", .behaviour(137))
    func oneColumn() throws {
        let queue = try exchangeQueue(
            "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (NULL), ('y'), (NULL)")
        try queue.write { db in
            let format = ExchangeFormat.csv(hasHeader: false)
            let text = try db.exported("t", as: format)
            #expect(text == "x\n\ny\n\n")
            try db.execute(sql: "DELETE FROM t")
            let count = try db.importRows(into: "t", from: .bytes(text.utf8), as: format)
            #expect(count == 4)
            try #expect(db.literals("SELECT a FROM t") == ["'x'", "NULL", "'y'", "NULL"])
        }
    }

    @Test("Numbers and blobs that are the word for NULL are none", .behaviour(137))
    func nullWords() throws {
        let queue = try exchangeQueue(
            "CREATE TABLE t (i INTEGER, r REAL, b BLOB); "
                + "INSERT INTO t VALUES (-1, -1, x'41'), (NULL, 9e999, NULL), (-10, NULL, x'4141')")
        try queue.write { db in
            let request: SQLRequest<Row> = "SELECT i FROM t"
            var bytes: [UInt8] = []
            try db.exportRows(of: request, to: .chunks { bytes += $0 }, as: .csv(null: "-1"))
            #expect(String(decoding: bytes, as: UTF8.self) == "i\n\"-1\"\n-1\n-10\n")
            try #expect(
                db.exported("t", as: .csv(null: "x'41'"))
                    == "i,r,b\n-1,-1.0,X'41'\nx'41',9e999,x'41'\n-10,x'41',x'4141'\n")
            #expect(
                thrown { _ = try db.exported("t", as: .csv(null: "-1")) }
                    == "column \"b\": the word for NULL, -1, is a number, and the column has no type that "
                    + "would distinguish a number from NULL: use another word")
        }
    }

    @Test(
        "A word for NULL that breaks the file is a misuse", .behaviour(137),
        arguments: [",", "\"", "a\nb", "\r", "N,A", "\u{FEFF}"])
    func brokenWords(_ word: String) async {
        let ended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [word = word as String] in
            crashWithoutBacktrace()
            _ = ExchangeFormat.csv(null: word)
        }
        let sentence = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(sentence.contains("the word for NULL contains the separator, a quote, a line break"))
    }

    @Test(
        "A text that is no UTF-8 is refused by an export, which leaves the file as it was", .behaviour(137),
        arguments: [.csv, .jsonLines, .json] as [ExchangeFormat])
    func invalidTexts(_ format: ExchangeFormat) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("before".utf8, to: "t.txt")
        let queue = try exchangeQueue(
            "CREATE TABLE t (a, s TEXT); INSERT INTO t VALUES (1, 'é'), (2, CAST(x'61FF62' AS TEXT))")
        try queue.write { db in
            #expect(
                thrown { try db.exportRows(of: "t", to: .file(path), as: format) }
                    == "row 2, column \"s\": the text is not UTF-8, and so it could not be imported: "
                    + "export it as a blob, with CAST(… AS BLOB)")
            try #expect(String(contentsOfFile: path, encoding: .utf8) == "before")
            let cast: SQLRequest<Row> = "SELECT a, CAST(s AS BLOB) AS s FROM t"
            try db.exportRows(of: cast, to: .file(path), as: format)
        }
    }

    // MARK: - JSON

    private func imported(_ json: String, column: String = "a TEXT") throws -> [String] {
        let queue = try exchangeQueue("CREATE TABLE t (\(column))")
        return try queue.write { db in
            try db.importRows(into: "t", from: .bytes(json.utf8), as: .jsonLines)
            return try db.literals("SELECT a FROM t")
        }
    }

    @Test(
        "JSON inside of a value stays as it stands, without the blanks", .behaviour(137),
        arguments: [
            "[1.10000000000000000001,100000000000000000000000.5,12345678901234567.89]",
            "[12345678901234567890]",
            "[1e400,-0,-0.0,1E5,2.50]", #"["\u00e9\/\ud83d\ude00\n","é"]"#, #"{"a\"b":{"$base64":5}}"#,
            #"{"$base64":"not base 64!"}"#,
        ])
    func nestedJSON(_ json: String) throws {
        try #expect(imported("{\"a\":\(json)}") == ["'\(json)'"])
        let blanks = json.replacing("[", with: "[ ").replacing("]", with: "\t]")
        if !json.contains("\"") { try #expect(imported("{\"a\":\(blanks)}") == ["'\(json)'"]) }
    }

    @Test("A text inside of JSON that is no UTF-8 is refused, as outside", .behaviour(137))
    func nestedInvalidText() throws {
        let queue = try exchangeQueue("CREATE TABLE t (a TEXT)")
        try queue.write { db in
            for start in ["{\"a\":[\"x", "{\"a\":\"x"] {
                let bytes = Array(start.utf8) + [0xFF] + Array((start.contains("[") ? "\"]}" : "\"}").utf8)
                #expect(
                    thrown { try db.importRows(into: "t", from: .bytes(bytes), as: .jsonLines) }
                        == "row 1 (line 1), column \"a\": the text is not UTF-8: convert the data first")
            }
        }
    }

    @Test(
        "A TEXT column holds a number of JSON as it is written", .behaviour(137),
        arguments: [
            "0.1234567890123456789", "1e400", "12345678901234567890", "1.0", "-0", "1E2", "9e999", "7",
        ])
    func numbersAsTexts(_ number: String) throws {
        try #expect(imported("{\"a\":\(number)}") == ["'\(number)'"])
        try #expect(imported("{\"a\":1}\n{\"a\":\(number)}").last == "'\(number)'")
    }

    @Test("A number of JSON that no column of numbers can hold is refused", .behaviour(137))
    func longNumbers() throws {
        for column in ["a INTEGER", "a REAL", "a NUMERIC", "a"] {
            #expect(
                thrown { _ = try imported("{\"a\":1e400}", column: column) }
                    == "row 1 (line 1), column \"a\": 1e400 is too large for a real number: write an "
                    + "infinity as 9e999"
            )
            #expect(
                thrown { _ = try imported("{\"a\":12345678901234567890}", column: column) }
                    == "row 1 (line 1), column \"a\": 12345678901234567890 is not a 64-bit integer")
        }
        try #expect(imported("{\"a\":-9e999}", column: "a REAL") == ["-9e999"])
    }

    @Test("A blob of JSON may have escapes", .behaviour(137))
    func escapedBlobs() throws {
        try #expect(imported(#"{"a":{"$base64":"wP\/u"}}"#, column: "a BLOB") == ["x'C0FFEE'"])
        try #expect(imported(#"{"a":{"$base64":"\u002b+8="}}"#, column: "a BLOB") == ["x'FBEF'"])
    }

    // MARK: - Typeless columns

    @Test(
        "In a column without a type, numbers of CSV are numbers, and other digits are texts", .behaviour(137))
    func typelessColumns() throws {
        let queue = try exchangeQueue("CREATE TABLE t (a)")
        try queue.write { db in
            try db.importRows(
                into: "t", from: .bytes("a\n12\n-1.5\n\"12\"\n007\n+1\n1.50\n9e999\n1e5\n".utf8))
            try #expect(
                db.literals("SELECT a FROM t")
                    == ["12", "-1.5", "'12'", "'007'", "'+1'", "'1.50'", "9e999", "'1e5'"])
            try #expect(db.exported("t") == "a\n12\n-1.5\n\"12\"\n007\n+1\n1.50\n9e999\n1e5\n")
        }
    }

    @Test(
        "A source is not called again once it has no more, or has failed", .behaviour(137),
        arguments: [.csv, .jsonLines] as [ExchangeFormat])
    func endOfChunks(_ format: ExchangeFormat) throws {
        let queue = try exchangeQueue("CREATE TABLE t (a)")
        try queue.write { db in
            for text in ["a\n1\n2", "a\n1\n\n", "", "{\"a\":1}\n", "{\"a\":[1", "a\n\"x"] {
                for fails in [false, true] {
                    var (rest, calls): ([UInt8]?, Int) = (Array(text.utf8), 0)
                    _ = thrown {
                        try db.importRows(
                            into: "t",
                            from: .chunks {
                                defer { rest = nil }
                                if rest == nil {
                                    calls += 1
                                    if fails { throw TestError(1) }
                                }
                                return rest
                            }, as: format)
                    }
                    #expect(calls <= 1, "\(text)")
                }
            }
        }
    }
}
