import TestSupport
import Testing

@testable import Shellac

/// The values that a record reads are packed when it is fetched, whatever type asks for them: see
/// LiveRow+Packing.swift.
@Suite("Fetched values") struct FetchedValuesTests {
    @Test("that types of a user's own read are packed as they are read")
    func packing() throws {
        try DatabaseQueue().read { db in
            let notes = try Note.fetchAll(
                db, sql: "SELECT 5 AS a, 'red' AS b, x'0102' AS c, 1.5 AS d, 2 AS e")
            #expect(notes.map(\.packed) == [[1, 2, 3, 4, 5]])
            #expect(notes[0].snapshot?.databaseValues == notes[0].values)
        }
    }

    @Test("that are read as another class than they are remembered as what they are")
    func conversions() throws {
        try DatabaseQueue().read { db in
            let sql = """
                SELECT '12 monkeys' AS a, 7 AS b, 'text' AS c, 3 AS d, 2.5 AS e UNION ALL
                SELECT x'3132', 1.5, NULL, '4', NULL
                """
            let expected = try Row.fetchAll(db, sql: sql).map(\.databaseValues)
            let notes = try Note.fetchAll(db, sql: sql)
            #expect(notes.map { $0.snapshot?.databaseValues } == expected)
            #expect(notes.map { $0.values[0] } == [12, 12])
        }
    }
}

/// Reads each column by another accessor, whatever it holds.
private final class Note: Record {
    var values: [DatabaseValue] = []
    /// The column that is packed next, after each that was read.
    var packed: [Int] = []

    override func updateFromRow(_ row: Row) throws {
        func read<Value: DatabaseValueConvertible>(_ name: String, _ type: Value.Type) throws {
            values.append((try row[name] as Value).databaseValue)
            packed.append(row.live.storage.pointee.packer.next)
        }
        try read("a", Integer.self)
        try read("b", Text.self)
        try read("c", Bytes.self)
        try read("d", Real.self)
        try read("e", Anything.self)
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        for (name, value) in zip(["a", "b", "c", "d", "e"], values) { container[name] = value }
    }
}

private protocol Accessed: DatabaseValueConvertible {
    init(_ value: DatabaseValue)
    var databaseValue: DatabaseValue { get }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue
}

extension Accessed {
    static func fromDatabaseValue(_ value: DatabaseValue) -> Self? { Self(value) }
    static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? { Self(read(value)) }
}

private struct Integer: Accessed {
    let databaseValue: DatabaseValue
    init(_ value: DatabaseValue) { databaseValue = value }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue { value.int64.databaseValue }
}

private struct Text: Accessed {
    let databaseValue: DatabaseValue
    init(_ value: DatabaseValue) { databaseValue = value }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue { value.string.databaseValue }
}

private struct Bytes: Accessed {
    let databaseValue: DatabaseValue
    init(_ value: DatabaseValue) { databaseValue = value }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue { value.data.databaseValue }
}

private struct Real: Accessed {
    let databaseValue: DatabaseValue
    init(_ value: DatabaseValue) { databaseValue = value }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue { value.double.databaseValue }
}

private struct Anything: Accessed {
    let databaseValue: DatabaseValue
    init(_ value: DatabaseValue) { databaseValue = value }
    static func read(_ value: borrowing SQLiteValue) -> DatabaseValue { value.databaseValue }
}
