import Foundation
import Shellac
import TestSupport
import Testing

/// Enums in columns: what a table accepts of them, the error for a value out of range, and what the
/// drift check finds.
@Suite("Enums")
struct EnumCasesTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    private func sql(of table: String = "animal") throws -> String? {
        try queue.read { db in
            try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])
        }
    }

    private func create(_ body: (TableDefinition) throws -> Void) throws {
        try queue.write { db in
            try db.create(table: "animal") { t in
                t.autoIncrementedPrimaryKey("id")
                try body(t)
            }
        }
    }

    private func insert(_ value: (any DatabaseValueConvertible)?) throws {
        try queue.write { db in
            try db.execute(sql: "INSERT INTO animal (kind) VALUES (?)", arguments: [value])
        }
    }

    /// The sentences of the drift check.
    private func faults<T: FetchableRecord & EncodableRecord & TableRecord>(of type: T.Type) throws
        -> [String]
    {
        try queue.read { db in
            do {
                try type.checkSchema(db)
                return []
            } catch let error as SchemaDriftError {
                return error.faults.map(\.description)
            }
        }
    }

    // MARK: - The constraint

    @Test("are the values that a CHECK lists, which leaves NULL alone")
    func constraint() throws {
        try create { $0.column("kind", .text).check(in: Kind.self) }
        try #expect(sql()?.contains(#""kind" TEXT CHECK ("kind" IN ('cat', 'dog'))"#) == true)
        try insert("cat")
        try insert(nil as String?)
        expectError("CHECK constraint failed: kind (it accepts 'cat', 'dog')") { try insert("cow") }
        try #expect(queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM animal") } == 2)
    }

    @Test("may be numbers, and texts with quotes, in names with quotes")
    func oddConstraints() throws {
        try create {
            $0.column("kind", .integer).notNull().check(in: Level.self)
            $0.column("it's \"odd\"", .text).check(in: Quoted.self)
            $0.column("maybe", .text).check(in: Sparse.self)
        }
        try #expect(sql()?.contains(#""kind" INTEGER NOT NULL CHECK ("kind" IN (-1, 1, 20))"#) == true)
        try #expect(sql()?.contains(#"CHECK ("it's ""odd""" IN ('it''s', '"', 'a; -- b'))"#) == true)
        // A NULL in the list would have the CHECK accept anything.
        try #expect(sql()?.contains(#"CHECK ("maybe" IN ('some'))"#) == true)
        try insert(20)
        expectError("CHECK constraint failed: kind (it accepts -1, 1, 20)") { try insert(2) }
        expectError("NOT NULL constraint failed: animal.kind") { try insert(nil as Int?) }
        try queue.write { db in
            for value in Quoted.allCases {
                try db.execute(
                    sql: #"INSERT INTO animal (kind, "it's ""odd""") VALUES (1, ?)"#, arguments: [value])
            }
        }
        expectError("CHECK constraint failed: maybe (it accepts 'some')") {
            try queue.write { try $0.execute(sql: "INSERT INTO animal (kind, maybe) VALUES (1, 'other')") }
        }
    }

    @Test("are not taken for equal by a collation, whichever is said first", arguments: [true, false])
    func collation(isFirst: Bool) throws {
        try create { t in
            let column = t.column("kind", .text)
            if isFirst {
                column.collate(.nocase).check(in: Kind.self)
            } else {
                column.check(in: Kind.self).collate(.nocase)
            }
        }
        expectError("CHECK constraint failed: kind (it accepts 'cat', 'dog')") { try insert("CAT") }
        try insert("cat")
    }

    @Test("can be a column that is added to a table, unless its rows are refused")
    func addedColumn() throws {
        try create { _ in }
        try queue.write { db in
            try db.execute(sql: "INSERT INTO animal (id) VALUES (1)")
            try db.alter(table: "animal") { $0.add(column: "kind", .text).check(in: Kind.self) }
        }
        expectError("CHECK constraint failed: kind (it accepts 'cat', 'dog')") { try insert("cow") }
        expectError("CHECK constraint failed") {
            try queue.write { db in
                try db.alter(table: "animal") {
                    $0.add(column: "other", .text).defaults(to: "cow").check(in: Kind.self)
                }
            }
        }
    }

    // MARK: - Errors

    @Test("are named where a CHECK refuses a value")
    func violatedCheck() throws {
        try create {
            $0.column("kind", .text).check(in: Kind.self)
            $0.column("level", .integer)
            $0.column("score", .integer).check(sql: "score > 0")
            $0.constraint(sql: "CONSTRAINT known CHECK (level IN (-1, 1, 20))")
        }
        var error = #expect(throws: DatabaseError.self) { try insert("cow") }
        #expect(error?.constraint?.kind == .check)
        #expect(error?.constraint?.columns == ["kind"])
        #expect(error?.constraint?.values == ["cat".databaseValue, "dog".databaseValue])
        #expect(error?.constraint?.name == #""kind" IN ('cat', 'dog')"#)
        #expect(error?.message == "CHECK constraint failed: kind (it accepts 'cat', 'dog')")
        error = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "INSERT INTO animal (level) VALUES (2)") }
        }
        #expect(error?.constraint?.name == "known")
        #expect(error?.constraint?.values == [-1, 1, 20].map(\.databaseValue))
        #expect(error?.message == "CHECK constraint failed: known (it accepts -1, 1, 20)")
        error = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "INSERT INTO animal (score) VALUES (0)") }
        }
        #expect(error?.constraint?.columns == ["score"])
        #expect(error?.constraint?.values == [])
    }

    @Test("are named where a value is none of them, and ten at the most")
    func decodingError() throws {
        try queue.read { db in
            func message<Value: DatabaseValueConvertible>(_ type: Value.Type, _ sql: String) throws -> String
            {
                let row = try #require(try Row.fetchOne(db, sql: "SELECT \(sql) AS kind"))
                let error = #expect(throws: RowDecodingError.self) { let _: Value = try row["kind"] }
                return "\(try #require(error))"
            }
            try #expect(
                message(Kind.self, "'cow'").hasPrefix(
                    "could not read Kind from column \"kind\": it holds the text 'cow'"))
            try #expect(message(Kind.self, "'cow'").hasSuffix(" - the values of Kind are 'cat', 'dog'"))
            try #expect(message(Level.self, "'x'").hasSuffix(" - the values of Level are -1, 1, 20"))
            try #expect(message(Quoted.self, "1.5").contains(#" are 'it''s', '"', 'a; -- b'"#))
            try #expect(message(Many.self, "99").hasSuffix("are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and others"))
            // Neither a missing value nor another type has any.
            try #expect(!message(Kind.self, "NULL").contains("the values of"))
            try #expect(!message(Int.self, "'x'").contains("the values of"))
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 'cow' AS kind"))
            let error = #expect(throws: RowDecodingError.self) { let _: Kind? = try row["kind"] }
            try #expect("\(#require(error))".hasSuffix(" - the values of Kind are 'cat', 'dog'"))
        }
    }

    @Test("are named where a Codable record has a value that is none")
    func codableDecodingError() throws {
        try create { $0.column("kind", .text) }
        try insert("cow")
        let error = try queue.read { db in
            #expect(throws: RowDecodingError.self) { _ = try CodableAnimal.fetchAll(db) }
        }
        try #expect("\(#require(error))".contains("the values of Kind are 'cat', 'dog'"))
    }

    // MARK: - The drift check

    @Test(
        "that a column holds are known from a listed class, a Codable struct and a plain one",
        arguments: [nil, "cat"])
    func driftFree(stored: String?) throws {
        try create { $0.column("kind", .text).check(in: Kind.self) }
        try insert(stored)
        try #expect(faults(of: ListedAnimal.self) == [])
        try #expect(faults(of: CodableAnimal.self) == [])
        try #expect(faults(of: PlainAnimal.self) == [])
        try queue.read { try $0.checkCases(of: Kind.self, in: "KIND", of: "Animal") }
    }

    @Test("have drifted where the CHECK refuses a case", arguments: [true, false])
    func refusedCase(hasRow: Bool) throws {
        try create { $0.column("kind", .text).check(sql: "kind COLLATE nocase IN ('dog')") }
        if hasRow { try insert("dog") }
        let said = [
            "The CHECK of the column kind of the table animal refuses these cases of Kind: 'cat'. Rebuild "
                + "the table with check(in: Kind.self)."
        ]
        try #expect(faults(of: ListedAnimal.self) == said)
        try #expect(faults(of: CodableAnimal.self) == said)
        try #expect(faults(of: PlainAnimal.self) == said)
        try queue.read { db in
            let error = #expect(throws: SchemaDriftError.self) {
                try db.checkCases(of: Kind.self, in: "kind", of: "animal")
            }
            #expect(error?.faults.map(\.description) == said)
            #expect(error?.faults.first?.kind == .casesRefused(type: "Kind", values: ["cat".databaseValue]))
            #expect(error?.faults.first?.columns == ["kind"])
        }
    }

    @Test("have drifted where rows hold what is none")
    func storedValues() throws {
        try create { $0.column("kind", .text) }
        for value in ["dog", nil, "cow", "Cat", "cow"] as [String?] { try insert(value) }
        let said = [
            "2 rows hold 'cow' in the column kind of the table animal, which is not a case of Kind.",
            "1 row holds 'Cat' in the column kind of the table animal, which is not a case of Kind.",
        ]
        try #expect(faults(of: ListedAnimal.self) == said)
        try #expect(faults(of: CodableAnimal.self) == said)
        try #expect(faults(of: PlainAnimal.self) == said)
    }

    @Test("that cannot be read at all are told all the same, ten values at the most")
    func manyStoredValues() throws {
        try create { $0.column("kind", .text) }
        for number in 0..<30 { try insert("cow \(number)") }
        let all = try faults(of: ListedAnimal.self)
        #expect(all.filter { $0.contains("is not a case of Kind") }.count == 10)
    }

    @Test("that have a value of their own for what is unknown are content with all")
    func tolerantEnum() throws {
        try create { $0.column("kind", .text) }
        try insert("cow")
        try queue.read { try $0.checkCases(of: Tolerant.self, in: "kind", of: "animal") }
    }

    @Test("are compared as they are stored, and with lists of literals alone")
    func storedForms() throws {
        try create {
            $0.column("kind", .text).check(sql: "kind IN (-1, 1, 20)")
            $0.column("other", .integer).check(sql: "other IN (id, -1)")
            $0.column("name", .text).check(sql: "name IN (lower(name))")
        }
        try insert(20)
        try queue.read { db in
            try db.checkCases(of: Level.self, in: "kind", of: "animal")
            try db.checkCases(of: Level.self, in: "other", of: "animal")
            try db.checkCases(of: Kind.self, in: "name", of: "animal")
        }
    }

    @Test("of a table or a column that is not there throw, and name it")
    func missing() throws {
        try create { $0.column("kind", .text) }
        try queue.read { db in
            var error = #expect(throws: DatabaseError.self) {
                try db.checkCases(of: Kind.self, in: "kin", of: "animal")
            }
            #expect(error?.message == "the table animal has no column kin: did you mean kind?")
            error = #expect(throws: DatabaseError.self) {
                try db.checkCases(of: Kind.self, in: "kind", of: "nowhere")
            }
            #expect(error?.message?.contains("nowhere") == true)
        }
    }
}

private enum Kind: String, CaseIterable, Codable, DatabaseValueConvertible { case cat, dog }
private enum Level: Int, CaseIterable, DatabaseValueConvertible {
    case below = -1
    case low = 1
    case high = 20
}
private enum Quoted: String, CaseIterable, DatabaseValueConvertible {
    case a = "it's"
    case b = "\""
    case c = "a; -- b"
}

private enum Sparse: CaseIterable, DatabaseValueConvertible {
    case some, none
    var databaseValue: DatabaseValue { self == .some ? "some".databaseValue : .null }
    static func fromDatabaseValue(_ value: DatabaseValue) -> Sparse? { value.isNull ? Sparse.none : .some }
}

private enum Tolerant: String, CaseIterable, DatabaseValueConvertible {
    case cat, unknown
    static func fromDatabaseValue(_ value: DatabaseValue) -> Tolerant? {
        String.fromDatabaseValue(value).map { Tolerant(rawValue: $0) ?? .unknown }
    }
}

private struct Many: RawRepresentable, CaseIterable, DatabaseValueConvertible {
    let rawValue: Int
    static var allCases: [Many] { (0..<50).map { Many(number: $0) } }
    init(number: Int) { rawValue = number }
    init?(rawValue: Int) {
        guard rawValue < 50 else { return nil }
        self.rawValue = rawValue
    }
}

private final class ListedAnimal: Record {
    var id: Int64?
    var kind: Kind?
    override class var databaseTableName: String { "animal" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("kind", kind) { kind = $0 }
    }
}

private struct CodableAnimal: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "animal"
    var id: Int64?
    var kind: Kind?
}

private struct PlainAnimal: FetchableRecord, PersistableRecord {
    static let databaseTableName = "animal"
    var id: Int64?
    var kind: Kind?
    init(row: Row) throws { (id, kind) = try (row["id"], row["kind"]) }
    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["kind"] = kind
    }
}
