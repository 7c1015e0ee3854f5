import TestSupport
import Testing

@testable import Shellac

@Suite("Importing")
struct ImportingTests {
    private static let table =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'none', score INT CHECK (score < 1000))"

    private func imported(
        _ text: String, as format: ExchangeFormat = .csv, pieces: Int? = nil, columns: [String: String] = [:]
    ) throws -> [String] {
        let queue = try exchangeQueue(Self.table)
        return try queue.write { db in
            var rest = Array(text.utf8)[...]
            let source: ExchangeSource =
                pieces.map { size in
                    .chunks {
                        defer { rest = rest.dropFirst(size) }
                        return rest.isEmpty ? nil : Array(rest.prefix(size))
                    }
                } ?? .bytes(text.utf8)
            try db.importRows(into: "t", from: source, as: format, columns: columns)
            return try db.literals("SELECT * FROM t ORDER BY id")
        }
    }

    @Test(
        "lines end with LF, CRLF or CR, with or without a byte-order mark, whatever pieces the data comes in",
        arguments: ["\n", "\r\n", "\r"], [1, 2, 3, 7, 1000])
    func lines(_ end: String, pieces: Int) throws {
        let text = "\u{FEFF}id,name,score\(end)1,\"a\"\"b,\(end)c\",5\(end)\(end)2,,\(end)3,\"\",7"
        try #expect(
            imported(text, pieces: pieces) == ["1|'a\"b,\(end)c'|5", "2|NULL|NULL", "3|''|7"])
        // If an empty line is a value, each end of a line counts once.
        try #expect(
            imported("name\(end)a\(end)\(end)b\(end)", pieces: pieces) == [
                "1|'a'|NULL", "2|NULL|NULL", "3|'b'|NULL",
            ])
    }

    @Test("JSON comes in any pieces, with blanks, escapes and nested values", arguments: [1, 2, 5, 1000])
    func json(_ pieces: Int) throws {
        let text = #"""
            {"id": 1, "name": "a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é"}

            { "name" : {"b" : [1, -2.50, null, true, false, {}, [ ] , "x\n"] } , "id":2, "score": 9e1 }
            {"id":3,"name":null,"score":true}{"id":4}
            """#
        try #expect(
            imported(text, as: .jsonLines, pieces: pieces) == [
                "1|'a\"\\/\u{8}\u{C}\n\r\té😀é'|NULL", #"2|'{"b":[1,-2.50,null,true,false,{},[],"x\n"]}'|90"#,
                "3|NULL|1", "4|'none'|NULL",
            ])
        try #expect(imported(" [ {\"id\":1}\n,{\"id\":2} ] \n", as: .json, pieces: pieces).count == 2)
        try #expect(imported("{}\n{}", as: .jsonLines, pieces: pieces) == ["1|'none'|NULL", "2|'none'|NULL"])
    }

    @Test("names of the data are those of columns, without regard to case, or mapped")
    func mapping() throws {
        try #expect(imported("ID,Points\n1,5\n", columns: ["points": "SCORE"]) == ["1|'none'|5"])
        try #expect(imported("1;x;\n", as: .csv(separator: ";", hasHeader: false)) == ["1|'x'|NULL"])
        // Of one column, an empty line is NULL.
        try #expect(imported("name\n\n", as: .csv) == ["1|NULL|NULL"])
        try #expect(imported("id,name\n1,\n", as: .csv(null: nil)) == ["1|''|NULL"])
    }

    @Test(
        "what is wrong is told with its row, its line and its column",
        arguments: [
            ("", "line 1: there is no line with the names of the columns"),
            (
                "id,nmae\n1,a\n",
                "line 2, column \"nmae\": the table t has no column \"nmae\": it has id, name, score. Name "
                    + "the right one with columns:, or leave it out with ignoring:"
            ),
            ("id,ID\n1,2\n", "line 2, column \"ID\": \"id\" goes to the column id of the table t, too"),
            ("id,name\n1,a\n\n2\n", "row 2 (line 4): there is 1 value for 2 columns"),
            ("id,name\n1,\"a\nb\"\n2,b,c\n", "row 2 (line 4): there are 3 values for 2 columns"),
            (
                "id,name\n1,\"a\nb",
                "row 1 (line 2), column \"name\": the quote that opens in line 2 is not closed"
            ),
            (
                "id,name\n1,\"a\"b\n",
                "row 1 (line 2), column \"name\": there is text after a closing quote: a quote inside of "
                    + "quotes must be doubled"
            ),
            (
                "id,score\n1,5\n2,5000\n",
                "row 2 (line 3), column \"score\": CHECK constraint failed: score < 1000"
            ),
            ("id\n1\nx\n", "row 2 (line 3): datatype mismatch"),
            ("id\n1\n1\n", "row 2 (line 3), column \"id\": UNIQUE constraint failed: t.id"),
        ])
    func csvErrors(_ text: String, _ message: String) throws {
        #expect(thrown { _ = try imported(text) } == message)
    }

    @Test(
        "what is wrong in JSON is told with its row, its line and its key",
        arguments: [
            ("{\"id\":1}\n[", "row 2 (line 2): expected \"{\" at the beginning of a row, found \"[\""),
            ("[{\"id\":1}", "row 1 (line 1): the array is not closed"),
            ("[{\"id\":1}] x", "line 1: there is text after the array"),
            ("[{} {}]", "row 1 (line 1): expected \",\" between two rows, found \"{\""),
            ("{\"id\" 1}", "row 1 (line 1), column \"id\": expected \":\" behind a key, found \"1\""),
            (
                "{\"id\":1 \"a\"",
                "row 1 (line 1), column \"id\": expected \",\" or \"}\" after a value, found \"\"\""
            ),
            ("{\"id\":}", "row 1 (line 1), column \"id\": expected a value, found \"}\""),
            ("{\"id\":1,\"ID\":2}", "row 1 (line 1), column \"ID\": the object has this key twice"),
            ("{\"id\":01}", "row 1 (line 1), column \"id\": 01 is not a number"),
            ("{\"id\":+1}", "row 1 (line 1), column \"id\": +1 is not a number"),
            ("{\"id\":1.}", nil), ("{\"id\":1.5.2}", "row 1 (line 1), column \"id\": 1.5.2 is not a number"),
            (
                "{\"id\":9223372036854775808}",
                "row 1 (line 1), column \"id\": 9223372036854775808 is not a 64-bit integer"
            ),
            ("{\"name\":\"a\nb\"}", nil),
            ("{\"name\":\"a", "row 1 (line 1), column \"name\": a text is not closed"),
            ("{\"name\":\"\\x\"}", nil),
            ("{\"name\":\"\\uD800\"}", "row 1 (line 1), column \"name\": a surrogate has no other half"),
            ("{\"name\":\"\\uDC00\"}", "row 1 (line 1), column \"name\": a surrogate has no other half"),
            ("{\"name\":nul}", nil), ("{\"name\":[1}", nil), ("{\"name\":{1:2}}", nil),
            ("{\"name\":[1,]}", nil),
            (
                "{\"name\":\(String(repeating: "[", count: 2000))",
                "row 1 (line 1), column \"name\": the value is nested too deeply"
            ),
        ])
    func jsonErrors(_ text: String, _ message: String?) throws {
        let error = thrown { _ = try imported(text, as: .jsonLines) }
        if let message {
            #expect(error == message)
        } else {
            #expect(error?.hasPrefix("row 1 (line 1)") == true)
        }
    }

    @Test("what is no UTF-8 is refused")
    func encodings() throws {
        let queue = try exchangeQueue(Self.table)
        try queue.write { db in
            for (bytes, message) in [
                (
                    Array("id,name\n1,a\n2,".utf8) + [0xE9, 0x0A],
                    "row 2 (line 3), column \"name\": the text is not UTF-8: convert the data first"
                ),
                (
                    [0xFF, 0xFE, 0x61, 0],
                    "line 1: the data is UTF-16, or is not text: convert it to UTF-8 first"
                ),
                ([0xEF, 0x41], "line 1: the data is not UTF-8: convert it first"),
                (
                    [0x61, 0xE9, 0x0A],
                    "line 1: the names of the columns are not UTF-8: convert the data first"
                ),
            ] as [([UInt8], String)] {
                #expect(thrown { try db.importRows(into: "t", from: .bytes(bytes)) } == message)
            }
            try #expect(db.literals("SELECT count(*) FROM t") == ["0"])
        }
    }

    @Test("all rows are inserted or none, inside of a larger transaction, too")
    func allOrNone() throws {
        let queue = try exchangeQueue(Self.table)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO t (id) VALUES (100)")
            #expect(thrown { try db.importRows(into: "t", from: .bytes("id\n1\n2\n100\n".utf8)) } != nil)
            #expect(
                thrown {
                    try db.importRows(into: "t", from: .bytes("id\n1\n2\n".utf8)) { _ in throw TestError(3) }
                } == "TestError(number: 3)")
            #expect(
                thrown {
                    var isFirst = true
                    try db.importRows(
                        into: "t",
                        from: .chunks {
                            defer { isFirst = false }
                            if isFirst { return Array("id\n1\n2\n".utf8) }
                            throw TestError(4)
                        })
                } == "TestError(number: 4)")
            try #expect(db.literals("SELECT id FROM t") == ["100"])
        }
    }

    @Test("conflicts are resolved as asked, and rows that were left out are not counted")
    func conflicts() throws {
        let queue = try exchangeQueue(Self.table + "; INSERT INTO t VALUES (1, 'old', 0)")
        try queue.write { db in
            let text = "id,name\n1,new\n2,other\n"
            let ignoring = try db.importRows(into: "t", from: .bytes(text.utf8), onConflict: .ignore)
            #expect(ignoring == 1)
            try #expect(db.literals("SELECT name FROM t") == ["'old'", "'other'"])
            let replacing = try db.importRows(into: "t", from: .bytes(text.utf8), onConflict: .replace)
            #expect(replacing == 2)
            try #expect(db.literals("SELECT name FROM t") == ["'new'", "'other'"])
            #expect(
                thrown { try db.importRows(into: "t", from: .bytes(text.utf8), onConflict: .fail) } != nil)
        }
    }

    @Test("a view whose triggers insert takes rows, and a table that is not there is told")
    func views() throws {
        let queue = try exchangeQueue(
            Self.table + """
                ; CREATE VIEW v AS SELECT id, name FROM t;
                CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO t (id, name) VALUES (NEW.id, upper(NEW.name)); END
                """)
        try queue.write { db in
            let count = try db.importRows(into: "v", from: .bytes("id,name\n1,a\n".utf8))
            #expect(count == 1)
            try #expect(db.literals("SELECT name FROM t") == ["'A'"])
            #expect(
                thrown { try db.importRows(into: "nothing", from: .bytes("a\n".utf8)) }?.contains("nothing")
                    == true)
        }
        try queue.read { db in
            #expect(
                thrown { try db.importRows(into: "t", from: .bytes("id\n1\n".utf8)) }?.contains("read")
                    == true)
        }
    }

    @Test("callbacks of the table hear of each row, and observers of the commit")
    func observers() throws {
        let queue = try exchangeQueue(Self.table)
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy)
        let heard = Shared<[String]>([])
        let callback = try queue.after(.insert, on: "t") { _, change in
            let name: String? = try change.new?["name"]
            heard.withLock { $0.append(name ?? "none") }
        }
        try queue.write { db in try db.importRows(into: "t", from: .bytes("name\na\nb\n".utf8)) }
        withExtendedLifetime((spy, callback)) {}
        #expect(heard.value == ["a", "b"])
        #expect(spy.log.count { $0.contains("insert") } == 2, "\(spy.log)")
    }

    @Test("data may come from the database itself, while it is imported")
    func fromItself() throws {
        let queue = try exchangeQueue(Self.table + "; INSERT INTO t (id, name) VALUES (1, 'a'), (2, 'b')")
        try queue.write { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id + 10, upper(name) FROM t WHERE id < 10")
            let source = ExchangeSource.chunks {
                try rows.next().map { row in Array("\(try row[0] as Int),\(try row[1] as String),\n".utf8) }
            }
            let count = try db.importRows(into: "t", from: source, as: .csv(hasHeader: false))
            #expect(count == 2)
            try #expect(db.literals("SELECT id, name FROM t WHERE id > 10") == ["11|'A'", "12|'B'"])
        }
    }

    @Test(
        "without a header, each row has a value for each column", .behaviour(137),
        arguments: [
            ("1,a\n", "row 1 (line 1): there are 2 values"),
            ("1,a,2\n3\n", "row 2 (line 2): there is 1 value"),
            ("1,a,2\n3,b,4,5\n", "row 2 (line 2): there are 4 values"),
            ("1,a,2\n\n3,b,\n4,", "row 3 (line 4): there are 2 values"),
        ])
    func withoutHeader(_ csv: String, _ beginning: String) {
        #expect(
            thrown { _ = try imported(csv, as: .csv(hasHeader: false)) }
                == beginning + " for the 3 columns of the table t: id, name, score")
    }

    @Test(
        "a separator that is no character of ASCII, a quote or a line break is a misuse",
        arguments: ["é", "\"", "\n", "1", "-", "e", "'", "A"])
    func separators(_ separator: String) async {
        let ended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [separator = separator as String] in
            crashWithoutBacktrace()
            _ = ExchangeFormat.csv(separator: Character(separator))
        }
        let sentence = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(sentence.contains("the separator of CSV must be an ASCII character"))
    }

    @Test("progress is told by rows and bytes, and ends with all of them")
    func progress() throws {
        let folder = try TemporaryFolder()
        let queue = try exchangeQueue("CREATE TABLE t (a, b)")
        let text = "a,b\n" + (0..<2_500).map { "\($0),x\n" }.joined()
        let path = try folder.write(text.utf8, to: "t.csv")
        try queue.write { db in
            var told: [WorkProgress] = []
            try db.importRows(into: "t", from: .file(path)) { told.append($0) }
            #expect(told.map(\.rowCount) == [1_000, 2_000, 2_500])
            #expect(told.allSatisfy { $0.totalCount == text.utf8.count && ($0.fraction ?? 0) > 0 })
            #expect(
                told.map(\.isCompleted) == [false, false, true]
                    && told.last?.completedCount == text.utf8.count)
            told = []
            try db.importRows(into: "t", from: .bytes(text.utf8)) { told.append($0) }
            #expect(told.map(\.fraction) == [nil, nil, 1])
            told = []
            try db.exportRows(of: "t", to: .chunks { _ in }) { told.append($0) }
            #expect(told.map(\.rowCount) == [1_000, 2_000, 3_000, 4_000, 5_000, 5_000])
            #expect(told.map(\.fraction) == [nil, nil, nil, nil, nil, 1])
        }
    }
}
