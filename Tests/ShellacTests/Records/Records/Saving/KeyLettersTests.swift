import TestSupport
import Testing

@testable import Shellac

/// Keys that find a row which holds another value: by NOCASE, RTRIM, a collation of the program's,
/// or as numbers.
@Suite("A key that changed in its letters alone", .behaviour(109))
struct KeyLettersTests {
    struct Case: CustomTestStringConvertible {
        let key: LooseKey
        let isWithoutRowID: Bool
        let type: any LooseTagVerbs.Type

        var testDescription: String { "\(key) \(isWithoutRowID ? "WITHOUT ROWID" : "") \(type)" }

        static let all = LooseKey.allCases.flatMap { key in
            [false, true].flatMap { isWithoutRowID in
                [ListedLooseTag.self as any LooseTagVerbs.Type, PairLooseTag.self, CalledLooseTag.self].map {
                    Case(key: key, isWithoutRowID: isWithoutRowID, type: $0)
                }
            }
        }

        /// Opens the table, fetches the first row, and calls a function with its record and another
        /// value of its key.
        func run(_ body: (Database, any LooseTagVerbs, DatabaseValue) throws -> Void) throws {
            try key.withTable(withoutRowID: isWithoutRowID) { db in
                try body(db, find(db), key.values[1])
            }
        }

        func find(_ db: Database) throws -> any LooseTagVerbs {
            // A class in a variable is fetched as the variable's type: what is opened is fetched as
            // it is.
            func find<T: FetchableRecord & TableRecord>(_ type: T.Type) throws -> (any LooseTagVerbs)? {
                try type.find(db, key: key.values[0]) as? any LooseTagVerbs
            }
            let fetched: any (FetchableRecord & TableRecord).Type = type
            return try #require(try find(fetched))
        }
    }

    /// The row that a value finds, as it is held.
    private static func held(_ db: Database, _ key: DatabaseValue) throws -> [DatabaseValue] {
        let row = try Row.fetchOne(
            db, sql: "SELECT name, typeof(name), uses FROM tag WHERE name = ?", arguments: [key])
        return row?.databaseValues ?? []
    }

    private static func typeName(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .int64: "integer"
        case .double: "real"
        default: "text"
        }
    }

    /// Expects that the row holds what the record has, and that the record knows it.
    private static func expectStored(
        _ tag: LooseTag, _ name: DatabaseValue, _ db: Database, _ verb: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try #expect(
            held(db, name) == [name, typeName(name).databaseValue, tag.uses.databaseValue], "\(verb)",
            sourceLocation: sourceLocation)
        #expect(
            tag.name == name && typeName(tag.name) == typeName(name), "\(verb)",
            sourceLocation: sourceLocation)
        #expect(!tag.hasDatabaseChanges, "\(verb)", sourceLocation: sourceLocation)
    }

    @Test("is written by each verb, and the record is clean", arguments: Case.all)
    func verbs(_ one: Case) throws {
        for verb in Verb.allCases {
            try one.run { db, tag, value in
                tag.name = value
                try verb.run(tag, db)
                try Self.expectStored(tag, value, db, "\(verb)")
            }
        }
    }

    /// The operations that write a record with a new key.
    private enum Verb: CaseIterable {
        case update, save, changes, changesOfTwo, named, checking, ifAllUnchanged, retrying, upsert

        func run(_ tag: any LooseTagVerbs, _ db: Database) throws {
            switch self {
            case .update: try tag.update(db)
            case .save: try tag.save(db)
            case .changes:
                let hasWritten = try tag.updateChanges(db)
                #expect(hasWritten)
            case .changesOfTwo:
                tag.uses = 7
                try tag.updateChanges(db)
            case .named: try tag.update(db, columns: ["name", "uses"])
            case .checking: try tag.update(db, checking: .changedColumns)
            case .ifAllUnchanged: try tag.update(db, checking: .all)
            case .retrying: try tag.updateChanges(db, retrying: 1)
            case .upsert: try tag.upsertTag(db)
            }
        }
    }

    @Test("is written where a function has changed it, alone or among others", arguments: Case.all)
    func modifying(_ one: Case) throws {
        // The values of a record before and after the function are compared without a column: as
        // numbers.
        if one.key == .untyped { return }
        try one.run { db, tag, value in
            let hasWritten = try tag.modify(db) { $0.name = value }
            #expect(hasWritten)
            try Self.expectStored(tag, value, db, "one")
        }
        try one.run { db, tag, value in
            tag.code = "mine"
            try tag.modify(db, retrying: 1) {
                $0.name = value
                $0.uses = 7
            }
            // An earlier change stays a change.
            try #expect(tag.databaseChanges == ["code": "a"])
            try #expect(Self.held(db, value).first == value)
        }
    }

    @Test("is told as the change of one column", arguments: Case.all)
    func changes(_ one: Case) throws {
        try one.run { db, tag, value in
            tag.name = value
            try #expect(tag.databaseChanges == ["name": one.key.values[0]])
            // One that is compared with another row is not known.
            tag.name = one.key.other
            try #expect(Set(tag.databaseChanges.keys) == ["name", "uses", "code"])
            tag.name = value
            try tag.updateChanges(db)
            #expect(tag.savedDatabaseChanges == ["name": one.key.values[0]])
        }
    }

    @Test("is not written by an update of another column, and stays a change", arguments: Case.all)
    func otherColumn(_ one: Case) throws {
        try one.run { db, tag, value in
            tag.name = value
            tag.uses = 7
            try tag.update(db, columns: ["uses"])
            try #expect(Self.held(db, value).first == one.key.values[0])
            try #expect(tag.databaseChanges == ["name": one.key.values[0]])
            try tag.updateChanges(db)
            try Self.expectStored(tag, value, db, "updateChanges")
        }
    }

    @Test("is taken back by a rollback", arguments: Case.all)
    func rollback(_ one: Case) throws {
        try one.run { db, tag, value in
            try db.inTransaction {
                tag.name = value
                try tag.update(db)
                return .rollback
            }
            try #expect(tag.databaseChanges == ["name": one.key.values[0]])
            try #expect(Self.held(db, value).first == one.key.values[0])
        }
    }

    @Test(
        "by somebody else is overwritten by an update, and left by an update of changes", arguments: Case.all)
    func writtenByOthers(_ one: Case) throws {
        try one.run { db, tag, value in
            try db.execute(sql: "UPDATE tag SET name = ?", arguments: [value], where: one)
            tag.uses = 7
            try tag.updateChanges(db)
            try #expect(Self.held(db, value).first == value)
            try tag.update(db)
            try Self.expectStored(tag, one.key.values[0], db, "update")
        }
    }

    @Test("by somebody else is taken by a merge, and no reason to give up", arguments: Case.all)
    func merging(_ one: Case) throws {
        try one.run { db, tag, value in
            try db.execute(sql: "UPDATE tag SET name = ?, uses = 2", arguments: [value], where: one)
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT * FROM tag WHERE name = ?", arguments: [value]))
            try tag.merge(row)
            #expect(tag.uses == 2)
            try Self.expectStored(tag, value, db, "merge")
            // One that is another row's is refused still.
            let other = try #require(
                try Row.fetchOne(db, sql: "SELECT * FROM tag WHERE name = ?", arguments: [one.key.other]))
            #expect(throws: RecordError.self) { try tag.merge(other) }
        }
        try one.run { db, tag, value in
            try db.execute(sql: "UPDATE tag SET name = ?, uses = 2", arguments: [value], where: one)
            try tag.modify(db, retrying: 1) { $0.uses += 10 }
            #expect(tag.uses == 12)
            try Self.expectStored(tag, value, db, "updateChanges(retrying:)")
        }
        // Numbers are compared by IS, and so are the same.
        if one.key == .untyped { return }
        try one.run { db, tag, value in
            try db.execute(sql: "UPDATE tag SET name = ?", arguments: [value], where: one)
            tag.uses = 7
            // The letters are a part of the value that must be unchanged.
            let error = #expect(throws: RecordError.self) { try tag.update(db, checking: .all) }
            guard case .stale(["name"], let row) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try tag.merge(row)
            try tag.update(db, checking: .all)
            try Self.expectStored(tag, value, db, "update(checking: .all)")
        }
    }

    @Test("by both is a conflict, which the record wins behind a merge")
    func conflict() throws {
        try LooseKey.noCase.withTable(withoutRowID: false) { db in
            let tag = try ListedLooseTag.find(db, key: "swift")
            try db.execute(sql: "UPDATE tag SET name = 'SWIFT' WHERE name = 'swift'")
            tag.name = "Swift"
            let error = #expect(throws: RecordError.self) {
                try tag.update(db, checking: .changedColumns)
            }
            guard case .stale(["name"], _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try tag.updateChanges(db, retrying: 1)
            try Self.expectStored(tag, "Swift", db, "retrying")
        }
    }

    @Test("of a struct is written", arguments: LooseKey.allCases, [false, true])
    func structs(key: LooseKey, isWithoutRowID: Bool) throws {
        func expectWritten(_ name: String, _ verb: (Database, inout LooseTagRow) throws -> Void) throws {
            try key.withTable(withoutRowID: isWithoutRowID) { db in
                var tag = try LooseTagRow.find(db, key: key.values[0])
                tag.name = key.values[1]
                try verb(db, &tag)
                try #expect(
                    Self.held(db, key.values[0]).prefix(2)
                        == [key.values[1], Self.typeName(key.values[1]).databaseValue], "\(name)")
            }
        }
        try expectWritten("update") { try $1.update($0) }
        try expectWritten("save") { try $1.save($0) }
        try expectWritten("upsert") { try $1.upsert($0) }
        if key == .untyped { return }
        try expectWritten("modify") { db, tag in
            tag.name = key.values[0]
            try tag.updateChanges(db) {
                $0.name = key.values[1]
                $0.uses = 7
            }
        }
    }

    @Test("stays where another unique index has brought an upsert to the row")
    func upsertByOtherIndex() throws {
        try LooseKey.noCase.withTable(withoutRowID: false) { db in
            let tag = ListedLooseTag()
            (tag.name, tag.uses, tag.code) = ("new", 9, "a")
            try tag.upsert(db)
            try #expect(Self.held(db, "swift") == ["swift", "text", 9])
            #expect(tag.name == "swift")
            try tag.upsert(db, onConflict: ["name"])
            tag.name = "SWIFT"
            try tag.upsert(db, onConflict: ["name"])
            try #expect(Self.held(db, "swift") == ["SWIFT", "text", 9])
            #expect(tag.name == "SWIFT" && !tag.hasDatabaseChanges)
        }
    }

    @Test("costs keys that are compared byte by byte nothing: their SQL is as it was")
    func exactKeys() throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        for declaration in ["TEXT", "BLOB", "TEXT COLLATE BINARY"] {
            try queue.inDatabase { db in
                try db.execute(
                    sql: """
                        DROP TABLE IF EXISTS tag;
                        CREATE TABLE tag (name \(declaration) NOT NULL PRIMARY KEY, uses INTEGER, code TEXT UNIQUE);
                        INSERT INTO tag VALUES ('swift', 1, 'a')
                        """)
                let tag = try ListedLooseTag.find(db, key: "swift")
                spy.removeAll()
                tag.uses = 2
                try tag.update(db)
                let updates = spy.removeAll().filter { $0.hasPrefix("UPDATE") }
                #expect(updates == ["UPDATE \"tag\" SET \"uses\" = ?, \"code\" = ? WHERE \"name\" = ?"])
            }
        }
    }

    @Test(
        "is written beside a stamp that has no line in columns(_:)", .behaviour(113),
        arguments: ["update", "save", "updateChanges", "upsert"])
    func unlistedStamp(verb: String) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE tag (name TEXT COLLATE NOCASE PRIMARY KEY, uses INTEGER, updatedAt TEXT);
                    INSERT INTO tag VALUES ('swift', 1, NULL)
                    """)
            let tag = try StampedTag.find(db, key: "swift")
            tag.name = "Swift"
            switch verb {
            case "update": try tag.update(db)
            case "save": try tag.save(db)
            case "updateChanges": try #expect(tag.updateChanges(db))
            default: try tag.upsert(db)
            }
            try #expect(
                tag.databaseChanges.isEmpty && String.fetchOne(db, sql: "SELECT name FROM tag") == "Swift")
            try #expect(String.fetchOne(db, sql: "SELECT updatedAt FROM tag") != nil)
            try #expect(!tag.updateChanges(db))
        }
    }
}

/// The operations of the tests on records of any of the classes.
protocol LooseTagVerbs: LooseTag, FetchableRecord, PersistableRecord {}

extension ListedLooseTag: LooseTagVerbs {}
extension PairLooseTag: LooseTagVerbs {}

extension LooseTagVerbs {
    func modify(_ db: Database, _ modify: (LooseTag) -> Void) throws -> Bool {
        try updateChanges(db) { (tag: Self) in modify(tag) }
    }

    func modify(_ db: Database, retrying retries: Int, _ modify: (LooseTag) -> Void) throws {
        try updateChanges(db, retrying: retries) { (tag: Self) in modify(tag) }
    }

    func upsertTag(_ db: Database) throws { try upsert(db) }
}

extension Database {
    /// Executes an update of the row that the first value of a key finds.
    fileprivate func execute(
        sql: String, arguments: [DatabaseValue], where one: KeyLettersTests.Case
    ) throws {
        try execute(
            sql: sql + " WHERE name = ?", arguments: StatementArguments(arguments + [one.key.values[0]]))
    }
}

private final class StampedTag: Record {
    var name = ""
    var uses = 0

    override class var databaseTableName: String { "tag" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("uses", uses) { uses = $0 }
    }
}
