import Shellac
import TestSupport
import Testing

@Suite("Cursors")
struct CursorTests {
    private static let sql = "SELECT value FROM json_each('[1,2,3,4,5]')"

    private func integers<T>(_ body: (DatabaseCursor<Int>) throws -> T) throws -> T {
        try DatabaseQueue().read { db in try body(Int.fetchCursor(db, sql: Self.sql)) }
    }

    @Test("A cursor gives its elements once, and then nil for ever")
    func next() throws {
        try integers { cursor throws in
            #expect(cursor.columnNames == ["value"])
            for expected in [1, 2, 3, 4, 5, nil, nil, nil] { #expect(try cursor.next() == expected) }
        }
    }

    @Test("Cursors are transformed, filtered, cut and combined")
    func combinators() throws {
        #expect(try integers { try Array($0.map { $0 * 10 }) } == [10, 20, 30, 40, 50])
        #expect(try integers { try Array($0.filter { !$0.isMultiple(of: 2) }) } == [1, 3, 5])
        #expect(try integers { try Array($0.compactMap { $0 > 3 ? "\($0)" : nil }) } == ["4", "5"])
        #expect(try integers { try Array($0.prefix(2)) } == [1, 2])
        #expect(try integers { try Array($0.prefix(0)) } == [])
        #expect(try integers { try Array($0.prefix(-1)) } == [])
        #expect(try integers { try Array($0.prefix(9)) } == [1, 2, 3, 4, 5])
        #expect(try integers { try $0.reduce(0, +) } == 15)
        #expect(try integers { try $0.reduce(into: "") { $0 += "\($1)" } } == "12345")
        #expect(try integers { try $0.first { $0 > 3 } } == 4)
        #expect(try integers { try $0.first { $0 > 9 } } == nil)
        #expect(try integers { try $0.contains { $0 == 5 } })
        #expect(try !integers { try $0.contains { $0 == 6 } })
        #expect(try !integers { try $0.isEmpty() })
        #expect(try integers { try Set($0) } == [1, 2, 3, 4, 5])
        #expect(
            try integers {
                try Array($0.filter { $0 > 1 }.map { $0 * $0 }.prefix(3).compactMap { $0 == 9 ? nil : $0 })
            }
                == [4, 16])
        var seen: [Int] = []
        // swift-format-ignore: ReplaceForEachWithForLoop
        try integers { try $0.forEach { seen.append($0) } }
        #expect(seen == [1, 2, 3, 4, 5])
    }

    @Test("prefix takes no more from a cursor than it gives, and first leaves the rest")
    func laziness() throws {
        try integers { cursor throws in
            #expect(try Array(cursor.prefix(2)) == [1, 2])
            #expect(try cursor.next() == 3)
            #expect(try cursor.first { $0 > 3 } == 4)
            #expect(try Array(cursor) == [5])
            #expect(try cursor.isEmpty())
        }
    }

    @Test("An empty cursor is empty")
    func empty() throws {
        try DatabaseQueue().read { db throws in
            func cursor() throws -> DatabaseCursor<Int> { try Int.fetchCursor(db, sql: "SELECT 1 WHERE 0") }
            #expect(try cursor().isEmpty())
            #expect(try cursor().next() == nil)
            #expect(try Array(cursor().map { $0 }) == [])
            #expect(try cursor().reduce(7, +) == 7)
            #expect(try cursor().contains { _ in true } == false)
        }
    }

    @Test("Rows of a cursor are read where they stand, by every function")
    func rows() throws {
        try DatabaseQueue().read { db throws in
            func rows() throws -> DatabaseCursor<Row> {
                try Row.fetchCursor(db, sql: "SELECT value AS v FROM json_each('[1,2,3]')")
            }
            #expect(try Array(rows().map { try $0["v"] as Int }) == [1, 2, 3])
            #expect(try Array(rows().filter { try $0["v"] > 1 }.map { try $0["v"] as Int }) == [2, 3])
            #expect(try Array(rows().map { $0.copy() }) == [["v": 1], ["v": 2], ["v": 3]])
            let cursor = try rows()
            #expect(try cursor.first { try $0["v"] == 2 }?.copy() == ["v": 2])
            #expect(try cursor.next()?.copy() == ["v": 3])
            #expect(try rows().reduce(0) { try $0 + $1["v"] } == 6)
            #expect(try Array(rows().compactMap { try $0["w"] as Int? }) == [])
        }
    }

    // MARK: - Errors

    private struct Stop: Error {}

    @Test("An error of a function in the middle comes through, and the cursor may go on")
    func errors() throws {
        func failing(_ value: Int) throws -> Bool {
            if value == 3 { throw Stop() }
            return false
        }
        try integers { cursor throws in
            // swift-format-ignore: ReplaceForEachWithForLoop
            #expect(throws: Stop.self) { try cursor.forEach { _ = try failing($0) } }
            #expect(try Array(cursor) == [4, 5])
        }
        try integers { cursor throws in
            let mapped = cursor.map(failing)
            #expect(throws: Stop.self) { try Array(mapped) }
            #expect(try Array(mapped) == [false, false])
        }
        for run in [
            { try Array($0.filter(failing)).count }, { try Array($0.compactMap(failing)).count },
            { try $0.first(where: failing) ?? 0 }, { try $0.contains(where: failing) ? 1 : 0 },
            { try $0.reduce(0) { try failing($1) ? 1 : $0 } },
        ] as [(DatabaseCursor<Int>) throws -> Int] {
            #expect(throws: Stop.self) { try integers(run) }
        }
    }

    @Test("A value that does not convert throws, and the cursor goes on behind it")
    func decodingError() throws {
        try DatabaseQueue().read { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT value FROM json_each('[1,\"two\",null,4]')")
            #expect(try cursor.next() == 1)
            #expect(throws: RowDecodingError.self) { try cursor.next() }
            let error = #expect(throws: RowDecodingError.self) { try cursor.next() }
            #expect(error?.reason == .unexpectedNull)
            #expect(try cursor.next() == 4)
            #expect(try cursor.next() == nil)
        }
    }

    @Test("An error of SQLite ends the cursor")
    func databaseError() throws {
        try DatabaseQueue().read { db in
            let cursor = try Int.fetchCursor(
                db, sql: "SELECT abs(value) FROM json_each('[1,-9223372036854775808,3]')")
            #expect(try cursor.next() == 1)
            let error = #expect(throws: DatabaseError.self) { try cursor.next() }
            #expect(error?.message == "integer overflow")
            #expect(try cursor.next() == nil)
            #expect(try cursor.next() == nil)
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    // MARK: - Abandoned cursors

    @Test("A cursor that is let go of in the middle leaves its statement and the connection usable")
    func abandoned() throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t AS \(Self.sql)")
            let statement = try db.makeStatement(sql: "SELECT value FROM t")
            for _ in 1...3 {
                do {
                    let cursor = try Int.fetchCursor(statement)
                    #expect(try cursor.next() == 1)
                }
                #expect(try Int.fetchAll(statement) == [1, 2, 3, 4, 5])
                do { #expect(try Int.fetchCursor(statement).prefix(3).contains { $0 == 2 }) }
                #expect(try Int.fetchOne(statement) == 1)
            }
            do { _ = try Int.fetchCursor(statement) }
            // A statement that runs would lock the table.
            try db.execute(sql: "DROP TABLE t")
        }
    }

    @Test("A statement serves one cursor at a time: a second one throws, and leaves the first alone")
    func busy() throws {
        try DatabaseQueue().read { db in
            let statement = try db.makeStatement(sql: Self.sql)
            let first = try Int.fetchCursor(statement)
            #expect(try first.next() == 1)
            for run in [
                { _ = try Int.fetchCursor(statement) }, { _ = try Int.fetchAll(statement) },
                { _ = try Int.fetchSet(statement) }, { _ = try Int.fetchOne(statement) },
                { try statement.execute() }, { try statement.setArguments([]) },
            ] {
                let error = #expect(throws: DatabaseError.self) { try run() }
                #expect(
                    error?.description
                        == "SQLite error 21: the statement is running: make another for a second use at the same "
                        + "time - while executing `\(Self.sql)`")
            }
            #expect(try Array(first) == [2, 3, 4, 5])
            // At its end, it is free, although the test still holds it.
            #expect(try Int.fetchAll(statement) == [1, 2, 3, 4, 5])
            #expect(try first.next() == nil)
        }
    }

    @Test("A cursor at its end does not touch the runs of its statement that come later")
    func late() throws {
        try DatabaseQueue().read { db in
            let statement = try db.makeStatement(sql: Self.sql)
            var old: DatabaseCursor<Int>? = try Int.fetchCursor(statement)
            _ = try old.map { try Array($0) }
            let new = try Int.fetchCursor(statement)
            #expect(try new.next() == 1)
            #expect(try old?.next() == nil)
            old = nil
            #expect(try Array(new) == [2, 3, 4, 5])
        }
    }

    @Test("The same SQL runs twice at once, on two statements of the cache")
    func twice() throws {
        try DatabaseQueue().read { db in
            let a = try Int.fetchCursor(db, sql: Self.sql)
            let b = try Int.fetchCursor(db, sql: Self.sql)
            for expected in [1, 2, 3, 4, 5, nil] {
                #expect(try a.next() == expected)
                #expect(try b.next() == expected)
            }
        }
    }

    @Test("A cursor is made of a function, too")
    func anyCursor() throws {
        var rest = [3, 2, 1]
        let cursor = AnyCursor { rest.popLast() }
        #expect(try Array(cursor.map { $0 + 1 }) == [2, 3, 4])
        #expect(try cursor.next() == nil)
    }

    @Test(
        "The first element that passes a test is the very one that was tested",
        arguments: RecordStyle.allCases)
    func testedElement(style: RecordStyle) throws { try testedElement(style.hero) }

    private func testedElement<Hero: HeroRecord>(_: Hero.Type) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            for name in ["Arthur", "Barbara", "Craig"] { try Hero(name).insert(db) }
            let sql = "SELECT * FROM hero ORDER BY id"
            // The test moves the cursor on, and to its end.
            for count in [1, 2, 9] {
                let cursor = try Hero.fetchCursor(db, sql: sql)
                var tested: Hero?
                let found = try cursor.first { hero in
                    tested = hero
                    hero.score = 7
                    for _ in 0..<count { _ = try cursor.next() }
                    return true
                }
                #expect(found === tested)
                #expect(found?.name == "Arthur" && found?.score == 7)
            }
            let values = try String.fetchCursor(db, sql: "SELECT name FROM hero ORDER BY id")
            let name = try values.first { _ in
                while try values.next() != nil {}
                return true
            }
            #expect(name == "Arthur")
        }
    }

    @Test("A row that is found can be kept, and the test of rows must not move the cursor")
    func testedRow() async throws {
        try await DatabaseQueue().read { db in
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            let row = try cursor.first { row in try row["value"] == 2 }
            _ = try cursor.next()
            #expect(try row?["value"] == 2)
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            try await DatabaseQueue().read { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT value FROM json_each('[1,2,3]')")
                _ = try cursor.first { _ in
                    while try cursor.next() != nil {}
                    return true
                }
            }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("Shellac was misused: a row was read after its cursor had moved on."))
    }

    @Test("A cursor that has its own way through all elements is asked for them so")
    func ownForEach() throws {
        final class Fast: Cursor {
            var calls = 0
            func next() throws -> Int? { nil }
            func forEach(_ body: (Int) throws -> Void) throws {
                calls += 1
                for number in [1, 2, 3] { try body(number) }
            }
        }
        let fast = Fast()
        let any: any Cursor<Int> = fast
        var seen: [Int] = []
        try any.forEach({ seen.append($0) })
        #expect(seen == [1, 2, 3])
        #expect(try Array(fast) == [1, 2, 3])
        #expect(try Set(fast) == [1, 2, 3])
        #expect(try fast.reduce(0, +) == 6)
        #expect(fast.calls == 4)
    }
}
