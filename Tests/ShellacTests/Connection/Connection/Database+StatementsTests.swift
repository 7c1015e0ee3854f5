import TestSupport
import Testing

@Suite("execute, one statement and many")
struct ExecuteTests {
    /// A database with the tables t (a, b) and u (c).
    static func queue(_ spy: SQLSpy = SQLSpy()) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in try db.execute(sql: "CREATE TABLE t (a, b); CREATE TABLE u (c)") }
        spy.removeAll()
        return queue
    }

    @Test(
        "SQL without a statement executes nothing, and says nothing",
        arguments: [
            "", " ", "\n\t\r\u{0B}\u{0C}", ";", ";;;", " ; \n ; ", "-- nothing", "/* nothing */",
            "/* not closed",
            "-- a\n;/* b */;\n-- c", "--",
        ])
    func nothing(_ sql: String) throws {
        let spy = SQLSpy()
        try Self.queue(spy).inDatabase { db in
            try db.execute(sql: sql)
            #expect(spy.sql == [])
            try #expect(db.isUsable())
        }
    }

    @Test("Arguments without a statement are an error", arguments: ["", " ; ", "-- nothing"])
    func argumentsForNothing(_ sql: String) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: sql, arguments: [1])
            }
            #expect(error.resultCode == .SQLITE_MISUSE)
            #expect(error.message == "there are arguments, but no statement that could take them")
            #expect(error.sql == sql)
            try #expect(db.isUsable())
        }
    }

    @Test("Statements are executed in order, each with exactly its own SQL")
    func order() throws {
        let spy = SQLSpy()
        try Self.queue(spy).inDatabase { db in
            try db.execute(sql: " INSERT INTO t VALUES (1, 2) ;; INSERT INTO u VALUES (3);\n-- end\n; ")
            try #expect(db.integers("SELECT a FROM t UNION ALL SELECT c FROM u") == [1, 3])
        }
        #expect(spy.sql.count == 3)
        #expect(spy.sql.first == "INSERT INTO t VALUES (1, 2)")
    }

    @Test("A statement sees what those before it did to the schema")
    func schema() throws {
        try Self.queue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE v (a);
                    INSERT INTO v VALUES (1);
                    ALTER TABLE v ADD COLUMN b DEFAULT 2;
                    INSERT INTO v (a, b) SELECT b, a FROM v;
                    """)
            try #expect(db.integers("SELECT a * 10 + b FROM v") == [12, 21])
        }
    }

    // MARK: - Arguments over many statements

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let sql: String
        let arguments: StatementArguments
        let rows: [[DatabaseValue]]
        var testDescription: String { name }
    }

    static let accepted: [Case] = [
        Case(
            name: "by position", sql: "INSERT INTO t VALUES (?, ?); INSERT INTO t VALUES (?, ?)",
            arguments: [1, "x", nil, 2.5], rows: [[1, "x"], [.null, 2.5]]),
        Case(
            name: "by name, used twice", sql: "INSERT INTO t VALUES (:x, :y); INSERT INTO t VALUES (:y, :x)",
            arguments: ["x": 1, "y": 2], rows: [[1, 2], [2, 1]]),
        Case(
            name: "one name in the first, one in the second",
            sql: "INSERT INTO t VALUES (:x, 0); INSERT INTO t VALUES (0, :y)", arguments: ["x": 1, "y": 2],
            rows: [[1, 0], [0, 2]]),
        Case(
            name: "three prefixes", sql: "INSERT INTO t VALUES (:a, @b); INSERT INTO t VALUES ($c, @a)",
            arguments: ["a": 1, "b": 2, "c": 3], rows: [[1, 2], [3, 1]]),
        Case(
            name: "one name with three prefixes", sql: "INSERT INTO t VALUES (:a || @a || $a, 0)",
            arguments: ["a": "x"], rows: [["xxx", 0]]),
        Case(
            name: "one name twice in a statement is one parameter", sql: "INSERT INTO t VALUES (:a, :a)",
            arguments: [7], rows: [[7, 7]]),
        Case(
            name: "named parameters by position",
            sql: "INSERT INTO t VALUES (:x, :y); INSERT INTO t VALUES (:y, :x)", arguments: [1, 2, 3, 4],
            rows: [[1, 2], [3, 4]]),
        Case(
            name: "numbered parameters, out of order",
            sql: "INSERT INTO t VALUES (?2, ?1); INSERT INTO t VALUES (?1, ?1)", arguments: [1, 2, 3],
            rows: [[2, 1], [3, 3]]),
        Case(
            name: "a numbered parameter alone counts all before it", sql: "INSERT INTO t VALUES (?3, 0)",
            arguments: [1, 2, 3], rows: [[3, 0]]),
        Case(
            name: "mixed", sql: "INSERT INTO t VALUES (?, :x); INSERT INTO t VALUES (:x, ?)",
            arguments: ["x": 9] + [1, 2], rows: [[1, 9], [9, 2]]),
        Case(
            name: "a name by name before a value by position", sql: "INSERT INTO t VALUES (:x, :y)",
            arguments: ["y": 2] + [1], rows: [[1, 2]]),
        Case(
            name: "statements without parameters between",
            sql: "INSERT INTO t VALUES (?, ?); INSERT INTO t VALUES (0, 0); INSERT INTO t VALUES (?, ?)",
            arguments: [1, 2, 3, 4], rows: [[1, 2], [0, 0], [3, 4]]),
        Case(
            name: "names of other scripts", sql: "INSERT INTO t VALUES (:é, $a::b(c))",
            arguments: ["é": 1, "a::b(c)": 2], rows: [[1, 2]]),
        Case(
            name: "names with and without case", sql: "INSERT INTO t VALUES (:a, :A)",
            arguments: ["a": 1, "A": 2], rows: [[1, 2]]),
        Case(
            name: "a question mark in a text, a name and comments is no parameter",
            sql: "/* ? :b */ INSERT INTO t (a, [b]) VALUES (?, '?:a') -- ?3 @c", arguments: [1],
            rows: [[1, "?:a"]]),
    ]

    @Test("Statements take their arguments", arguments: accepted)
    func arguments(_ test: Case) throws {
        try Self.queue().inDatabase { db in
            try db.execute(sql: test.sql, arguments: test.arguments)
            let rows = try Row.fetchAll(db, sql: "SELECT a, b FROM t ORDER BY rowid")
            #expect(rows.map { Array($0.databaseValues) } == test.rows)
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let sql: String
        let arguments: StatementArguments
        let message: String
        /// The SQL that the error names.
        let failed: String
        /// The values that the statements before it wrote into `t.a`.
        var rows: [Int] = []
        var testDescription: String { "\(sql) \(arguments)" }
    }

    static let one = "INSERT INTO t VALUES (?, ?)"
    static let named = "INSERT INTO t VALUES (:x, :y)"
    static let refused: [Refused] = [
        Refused(
            sql: one, arguments: [], message: "wrong number of arguments: 0 for 2 parameters", failed: one),
        Refused(
            sql: one, arguments: [1], message: "wrong number of arguments: 1 for 2 parameters", failed: one),
        Refused(
            sql: one, arguments: [1, 2, 3], message: "wrong number of arguments: 3 for 2 parameters",
            failed: one),
        Refused(
            sql: "DELETE FROM t", arguments: [1], message: "wrong number of arguments: 1 for 0 parameters",
            failed: "DELETE FROM t"),
        Refused(
            sql: "DELETE FROM t", arguments: ["x": 1], message: "unknown arguments: x",
            failed: "DELETE FROM t"),
        Refused(sql: named, arguments: ["x": 1], message: "missing arguments: y", failed: named),
        Refused(sql: named, arguments: [:], message: "missing arguments: x, y", failed: named),
        Refused(
            sql: named, arguments: ["x": 1, "y": 2, "z": 3, "w": 4], message: "unknown arguments: w, z",
            failed: named),
        Refused(sql: named, arguments: ["X": 1, "y": 2], message: "missing arguments: x", failed: named),
        Refused(
            sql: named, arguments: [":x": 1, ":y": 2], message: "missing arguments: x, y", failed: named),
        Refused(sql: one, arguments: ["x": 1, "y": 2], message: "missing arguments: 1, 2", failed: one),
        Refused(
            sql: "\(one); \(one)", arguments: [1, 2, 3],
            message: "wrong number of arguments: 1 for 2 parameters", failed: one, rows: [1]),
        Refused(
            sql: "INSERT INTO t VALUES (:x, 0); \(named)", arguments: ["x": 1],
            message: "missing arguments: y", failed: named, rows: [1]),
        Refused(
            sql: "INSERT INTO t VALUES (1, 0); \(named)", arguments: [:], message: "missing arguments: x, y",
            failed: named, rows: [1]),
    ]

    @Test("Arguments that do not fit are an error that says how", arguments: refused)
    func refusedArguments(_ test: Refused) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: test.sql, arguments: test.arguments)
            }
            #expect(error.extendedResultCode == .SQLITE_MISUSE)
            #expect(error.message == test.message)
            #expect(error.sql == test.failed)
            #expect(error.arguments != nil)
            try #expect(db.integers("SELECT a FROM t") == test.rows)
            try #expect(db.isUsable())
        }
    }

    @Test(
        "Arguments that no statement of many takes are an error",
        arguments: [
            ([1, 2, 3, 4, 5], "wrong number of arguments: 1 are left over"),
            (["x": 1, "y": 2] + [3], "wrong number of arguments: 1 are left over"),
            (["x": 1, "y": 2, "z": 3, "w": 4], "unknown arguments: w, z"),
        ] as [(StatementArguments, String)])
    func leftOver(_ arguments: StatementArguments, message: String) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "\(Self.named); \(Self.named);", arguments: arguments)
            }
            #expect(error.extendedResultCode == .SQLITE_MISUSE)
            #expect(error.message == message)
            #expect(error.sql == Self.named)
            try #expect(db.isUsable())
        }
    }

    @Test("Arguments left over in a transaction leave nothing behind")
    func leftOverInTransaction() throws {
        let queue = try Self.queue()
        expectError("wrong number of arguments: 1 are left over") {
            try queue.write { db in
                try db.execute(sql: "\(Self.one); \(Self.one)", arguments: [1, 2, 3, 4, 5])
            }
        }
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [])
    }

    // MARK: - Failures

    @Test("When a statement fails, those before it have been executed, and those after it have not")
    func failureInTheMiddle() throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(
                    sql: """
                        INSERT INTO t VALUES (1, 0);
                        INSERT INTO missing VALUES (2);
                        INSERT INTO t VALUES (3, 0);
                        """)
            }
            #expect(error.resultCode == .SQLITE_ERROR)
            #expect(error.message == "no such table: missing")
            #expect(error.sql?.hasPrefix("INSERT INTO missing VALUES (2)") == true)
            try #expect(db.integers("SELECT a FROM t") == [1])
            try #expect(db.isUsable())
        }
    }

    @Test("A constraint that fails in the middle names its own statement and its own arguments")
    func constraintInTheMiddle() throws {
        try Self.queue().inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX i ON t (a)")
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "\(Self.one); \(Self.one); \(Self.one)", arguments: [1, 2, 1, 4, 5, 6])
            }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error.message == "UNIQUE constraint failed: t.a")
            #expect(error.sql == Self.one)
            #expect(error.arguments == [1, 4])
            try #expect(db.integers("SELECT b FROM t") == [2])
            try #expect(db.isUsable())
        }
    }

    @Test(
        "Garbage behind a statement is a syntax error, once that statement has been executed",
        arguments: ["garbage", " garbage", "\n\n  garbage here", "/* c */ garbage", "'"])
    func garbage(_ garbage: String) throws {
        try Self.queue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO t VALUES (1, 2);\(garbage)")
            }
            #expect(error.resultCode == .SQLITE_ERROR)
            #expect(
                error.message
                    == (garbage == "'"
                        ? "unrecognized token: \"'\"" : "near \"garbage\": syntax error"))
            try #expect(db.integers("SELECT a FROM t") == [1])
            try #expect(db.isUsable())
        }
    }

    @Test(
        "SQL with a NUL executes nothing",
        arguments: [
            "\0", "INSERT INTO t VALUES (1, 2)\0", "INSERT INTO t VALUES (1, 2);\0INSERT INTO u VALUES (1)",
            "INSERT INTO t VALUES ('a\0b', 2)", "INSERT INTO t VALUES (1, 2); -- \0",
        ])
    func nul(_ sql: String) throws {
        let spy = SQLSpy()
        try Self.queue(spy).inDatabase { db in
            for operation in [
                { try db.execute(sql: sql) }, { _ = try db.makeStatement(sql: sql) },
                { _ = try db.cachedStatement(sql: sql) }, { _ = try db.allStatements(sql: sql).next() },
                { _ = try Int.fetchAll(db, sql: sql) },
            ] as [() throws -> Void] {
                let error = try #require(throws: DatabaseError.self) { try operation() }
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(error.message == "there is a NUL character in the SQL")
                #expect(error.sql == sql)
            }
            #expect(spy.sql == [])
            try #expect(db.isUsable())
        }
    }

    @Test(
        "The offset of an error points into the SQL of the error", arguments: ["", "  ", "\n\t ", "/* 😀 */ "])
    func offset(_ before: String) throws {
        try Self.queue().inDatabase { db in
            for first in ["", "SELECT 'é😀';"] {
                let error = try #require(throws: DatabaseError.self) {
                    try db.execute(sql: "\(first)\(before)SELECT '😀é', nope FROM t")
                }
                #expect(error.message == "no such column: nope")
                let (sql, offset) = try (#require(error.sql), #require(error.offset))
                #expect(String(decoding: sql.utf8.dropFirst(offset), as: UTF8.self) == "nope FROM t")
            }
            try #expect(db.isUsable())
        }
    }

    @Test("SQL, names and values may be of any script")
    func scripts() throws {
        try Self.queue().inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE \"表😀\" (größe TEXT); INSERT INTO 表😀 VALUES ('👩‍👩‍👧 é'); INSERT INTO 表😀 VALUES (:ключ)",
                arguments: ["ключ": "שלום"])
            try #expect(String.fetchAll(db, sql: "SELECT größe FROM 表😀") == ["👩‍👩‍👧 é", "שלום"])
        }
    }

    // MARK: - Large SQL

    @Test("A statement of a megabyte is executed")
    func megabyte() throws {
        try Self.queue().inDatabase { db in
            let text = String(repeating: "é", count: 500_000)
            try db.execute(sql: "INSERT INTO t VALUES ('\(text)', 1)")
            try #expect(Int.fetchOne(db, sql: "SELECT length(a) FROM t") == 500_000)
        }
    }

    @Test("Thousands of statements in one text are executed")
    func manyStatements() throws {
        try Self.queue().write { db in
            let statement = "INSERT INTO u VALUES ('a text of about forty bytes'); -- and a comment\n"
            try db.execute(sql: String(repeating: statement, count: 3000))
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM u") == 3000)
        }
    }

    // MARK: - What statements did

    @Test("The counts are those of the last statement that changed rows")
    func counts() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE log (a)")
            #expect(db.lastInsertedRowID == 0)
            #expect(db.totalChangesCount == 0)
            try db.execute(
                sql: "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2); END")
            try db.execute(sql: "INSERT INTO t VALUES (7, 0), (5, 0), (9, 0)")
            #expect(db.changesCount == 3)
            #expect(db.lastInsertedRowID == 9)
            #expect(db.totalChangesCount == 9)
            _ = try Int.fetchAll(db, sql: "SELECT id FROM t")
            #expect(db.changesCount == 3)
            try db.execute(sql: "UPDATE t SET a = 1 WHERE id < 8")
            #expect(db.changesCount == 2)
            #expect(db.lastInsertedRowID == 9)
            try db.execute(sql: "UPDATE t SET a = 1 WHERE id > 100")
            #expect(db.changesCount == 0)
            try db.execute(sql: "DELETE FROM t")
            #expect(db.changesCount == 3)
            try db.execute(sql: "INSERT INTO t VALUES (?, 0)", arguments: [Int64.max])
            #expect(db.lastInsertedRowID == .max)
            expectError("UNIQUE constraint failed: t.id") {
                try db.execute(sql: "INSERT INTO t VALUES (1, 0), (1, 0)")
            }
            try #expect(db.integers("SELECT COUNT(*) FROM t") == [1])
        }
    }
}
