import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Names of rows, values and statements")
struct RowNamesTests {
    private let row: Row = ["i": 1, "r": 1.5, "t": "text", "b": Data([1]), "n": nil]

    @Test("What is read without a type is what SQLite stores")
    func untyped() throws {
        let values: [(any DatabaseValueConvertible)?] = try [
            row["i"], row["r"], row["t"], row["b"], row["n"], row["x"],
        ]
        #expect(values[0] as? Int64 == 1)
        #expect(values[1] as? Double == 1.5)
        #expect(values[2] as? String == "text")
        #expect(values[3] as? Data == Data([1]))
        #expect(values[4] == nil)
        #expect(values[5] == nil)
        let first = try row[0]
        #expect(first as? Int64 == 1)
        let beyond = try row[9]
        #expect(beyond == nil)
        let typed: Int = try row["i"]
        #expect(typed == 1)
    }

    @Test("decode reads as the subscripts do, and throws as they do")
    func decode() throws {
        try #expect(row.decode(Int.self, forColumn: "i") == 1)
        try #expect(row.decode(String.self, atIndex: 2) == "text")
        try #expect(row.decode(String?.self, forColumn: Column("n")) == nil)
        try #expect(row.decode(forColumn: "r") == 1.5)
        #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "t") }
        #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "n") }
        #expect(throws: RowDecodingError.self) { try row.decode(Int.self, atIndex: 9) }
    }

    @Test("coalesce gives the first value that is there")
    func coalesce() throws {
        try #expect(row.coalesce(["n", "x", "t", "i"]) == "text")
        try #expect(row.coalesce([Column("n"), Column("i")]) == 1)
        let none: Int? = try row.coalesce(["n", "x"])
        #expect(none == nil)
        #expect(throws: RowDecodingError.self) { try row.coalesce(["n", "t"]) as Int? }
    }

    @Test("A row is a collection of its columns")
    func collection() throws {
        func last<Columns: RandomAccessCollection>(_ columns: Columns) -> Columns.Element? { columns.last }
        #expect(last(row)?.0 == "n")
        #expect(row.first?.1 == 1)
        #expect(row[row.index(row.startIndex, offsetBy: 2)].0 == "t")
        #expect(row.distance(from: row.startIndex, to: row.endIndex) == 5)
        #expect(row.dropFirst(3).map(\.0) == ["b", "n"])
        #expect(row.reversed().map(\.0) == ["n", "b", "t", "r", "i"])
        #expect(row.indices.count == 5)
        #expect(Row().first == nil)
        try withMovers { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id, name FROM mover ORDER BY id")
            let row = try #require(try rows.next())
            #expect(row.last?.1 == "Arthur")
        }
    }

    @Test("A place behind the last column stops the program, with a sentence")
    func beyondTheEnd() async {
        await #expect(processExitsWith: .failure) {
            let row: Row = ["a": 1]
            _ = row[row.endIndex]
        }
    }

    @Test("Dictionaries and lists of anything become rows and arguments, or nothing")
    func anything() throws {
        let row = Row(["b": 1, "a": "x", "c": Optional<Int>.none as Any] as [AnyHashable: Any])
        #expect(row == ["a": "x", "b": 1, "c": nil])
        #expect(Row(["a": Boom()] as [AnyHashable: Any]) == nil)
        #expect(Row([1: "a"] as [AnyHashable: Any]) == nil)
        let list: [Any] = [1, "a", Data([2])]
        #expect(StatementArguments(list) == [1, "a", Data([2])])
        #expect(StatementArguments([Boom()] as [Any]) == nil)
        #expect(StatementArguments(["x": 1] as [AnyHashable: Any]) == ["x": 1])
        #expect(StatementArguments([1: 1] as [AnyHashable: Any]) == nil)
        #expect(DatabaseValue(value: Boom()) == nil)
        #expect(DatabaseValue(value: 7) == 7)
        #expect(DatabaseValue(.null).storage.value == nil)
    }

    // MARK: - Statements

    @Test("Arguments that are set wait for the next run, which throws where they do not fit")
    func arguments() throws {
        try withMovers { db in
            let statement = try db.makeStatement(sql: "SELECT name FROM mover WHERE id = ?")
            #expect(statement.arguments == [])
            statement.arguments = [2]
            #expect(statement.arguments == [2])
            try #expect(String.fetchOne(statement) == "Barbara")
            try #expect(String.fetchOne(statement) == "Barbara")
            try #expect(String.fetchOne(statement, arguments: [1]) == "Arthur")
            #expect(statement.arguments == [1])
            statement.arguments = [1, 2]
            expectError("wrong number of arguments: 2 for 1 parameters") { try statement.execute() }
            statement.arguments = ["nope": 1]
            expectError("missing arguments: 1") { try String.fetchOne(statement) }
            statement.arguments = [3]
            try #expect(String.fetchOne(statement) == "Craig")
            let none = try db.makeStatement(sql: "SELECT 1")
            none.arguments = [1]
            expectError("wrong number of arguments: 1 for 0 parameters") { try none.execute() }
        }
    }

    @Test("Arguments are checked without being bound, and bound without being checked")
    func checkedAndUnchecked() throws {
        try withMovers { db in
            let statement = try db.makeStatement(sql: "SELECT :a, ?, :b")
            try statement.validateArguments(["a": 1, "b": 2] + [3])
            expectError("wrong number of arguments: 1 for 3 parameters") {
                try statement.validateArguments([1])
            }
            expectError("missing arguments: a, 2, b") { try statement.validateArguments(["c": 1]) }
            statement.setUncheckedArguments(["b": 2, "nope": 9] + [1])
            let row = try Row.fetchOne(statement)
            #expect(row?.databaseValues == [1, .null, 2])
        }
    }

    @Test("A kept statement forgets the arguments that somebody has left in it")
    func forgotten() throws {
        try withMovers { db in
            let sql = "SELECT name FROM mover WHERE id = ?"
            try db.cachedStatement(sql: sql).arguments = [1]
            expectError("wrong number of arguments: 0 for 1 parameters") { try String.fetchOne(db, sql: sql) }
        }
    }

    // MARK: - Types that read themselves

    private struct Meters: DatabaseValueConvertible, StatementColumnConvertible, Equatable {
        var value: Double
        var isFast = false

        init(_ value: Double) { self.value = value }

        init?(sqliteStatement: SQLiteStatement, index: CInt) {
            guard let value = Double(sqliteStatement: sqliteStatement, index: index), value >= 0 else {
                return nil
            }
            (self.value, isFast) = (value, true)
        }

        var databaseValue: DatabaseValue { value.databaseValue }

        static func fromDatabaseValue(_ value: DatabaseValue) -> Meters? {
            Double.fromDatabaseValue(value).map(Meters.init)
        }
    }

    private final class Way: Record {
        var length = Meters(0)
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("length", length) { length = $0 }
        }
    }

    @Test("A type reads itself where a statement stands on its row, and by its database value elsewhere")
    func statementColumns() throws {
        try withMovers { db in
            let values = try Meters.fetchAll(db, sql: "SELECT 1.5 UNION ALL SELECT 2")
            #expect(values.map(\.value) == [1.5, 2])
            #expect(values.map(\.isFast) == [true, true])
            try #expect(
                Meters?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 3").map(\.?.value) == [nil, 3])
            #expect(throws: RowDecodingError.self) { try Meters.fetchOne(db, sql: "SELECT -1") }
            #expect(throws: RowDecodingError.self) { try Meters.fetchAll(db, sql: "SELECT NULL") }
            let kept = try #require(try Row.fetchOne(db, sql: "SELECT 4 AS m"))
            let value: Meters = try kept["m"]
            #expect(value == Meters(4))
            try db.execute(sql: "CREATE TABLE way (length DOUBLE); INSERT INTO way VALUES (7)")
            let way = try #require(try Way.fetchOne(db))
            #expect(way.length.isFast)
            #expect(!way.hasDatabaseChanges)
            let integers: any StatementColumnConvertible.Type = Int.self
            #expect(ObjectIdentifier(integers) == ObjectIdentifier(Int.self))
        }
    }

    // MARK: - Errors

    @Test("Codes are patterns of errors: a primary one of all its extended ones")
    func codes() throws {
        try withMovers { db in
            var caught: [String] = []
            for (sql, extended) in [
                ("INSERT INTO mover VALUES (1, 'x', 1, NULL)", true),
                ("INSERT INTO mover VALUES (9, NULL, 1, NULL)", false),
            ] {
                do {
                    try db.execute(sql: sql)
                } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY where extended {
                    caught.append("key")
                } catch DatabaseError.SQLITE_CONSTRAINT {
                    caught.append("constraint")
                }
            }
            #expect(caught == ["key", "constraint"])
            let other: any Error = Boom()
            #expect(!(DatabaseError.SQLITE_BUSY ~= other))
            switch DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT) as any Error {
            case DatabaseError.SQLITE_BUSY: break
            default: Issue.record("it is busy")
            }
        }
    }
}
