// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Faults that an attack on the kinds of a table has found.
@Suite("Kinds of a table, under attack", .behaviour(70))
struct KindsFaultsTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE animal (
                        id INTEGER PRIMARY KEY, kind TEXT, name TEXT COLLATE NOCASE, code TEXT, "odd ""name" INTEGER DEFAULT 7,
                        deletedAt TEXT);
                    INSERT INTO animal (id, kind, name, code) VALUES
                        (1, 'cat', 'x', 'c1'), (2, 'dog', 'y', 'd1'), (3, 'lion', 'z', 'l1'), (4, NULL, 'n', NULL);
                    """)
        }
    }

    private static func isChange(_ error: any Error, of type: String, to kind: DatabaseValue) -> Bool {
        guard case .kindChanged(let recordType, let found, _)? = error as? RecordError else { return false }
        return recordType == type && found == kind
    }

    private func names() throws -> [String] {
        try queue.read {
            try String.fetchAll(
                $0, sql: "SELECT kind || ' ' || name FROM animal WHERE kind NOT NULL ORDER BY id")
        }
    }

    // MARK: - Upserts

    @Test(
        "An upsert that meets a row of another kind throws, whichever index has found it",
        arguments: [
            "name) WHERE deletedAt IS NULL",
            "name COLLATE BINARY)",
            "lower(name)) WHERE animal.deletedAt IS NULL -- of those that live",
            "lower(name) COLLATE NOCASE DESC, length(name), kind IS NULL)",
            "\"odd \"\"name\" , name) WHERE \"odd \"\"name\" = '7'",
            "name) WHERE name = 'X' AND deletedAt IS NULL",
            "\"odd \"\"name\" + 1, name)",
        ])
    func upserts(_ index: String) throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX \"an \"\"index\" ON animal (\(index)")
            let dog = Dog()
            dog.name = "x"
            let before = db.totalChangesCount
            #expect { try dog.upsert(db) } throws: { Self.isChange($0, of: "Dog", to: "cat".databaseValue) }
            #expect(db.totalChangesCount == before)
            #expect(dog.id == nil && dog.hasDatabaseChanges)
        }
        try #expect(names().first == "cat x")
    }

    @Test("An upsert and fetch, and one of some columns, throw so, too")
    func fetchingUpserts() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX an ON animal (name) WHERE deletedAt IS NULL")
            let dog = Dog()
            dog.name = "x"
            #expect {
                _ = try dog.upsertAndFetch(db, as: Dog.self)
            } throws: {
                Self.isChange($0, of: "Dog", to: "cat".databaseValue)
            }
            #expect {
                _ = try dog.upsertAndFetch(
                    db, as: Dog.self, doUpdate: { _ in [Column("name").set(to: "q")] })
            } throws: {
                Self.isChange($0, of: "Dog", to: "cat".databaseValue)
            }
            // A deleted row causes no conflict, nor does one that the condition of the index leaves
            // out.
            try db.execute(sql: "UPDATE animal SET deletedAt = '2020-01-01' WHERE id = 1")
            try dog.upsert(db)
            #expect(dog.id == 5)
        }
        try #expect(names() == ["cat x", "dog y", "lion z", "dog x"])
    }

    @Test("The row in the way of a kind's own index is found by what the insertion would store")
    func kindInIndex() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX an ON animal (name) WHERE kind IN ('dog', 'cat')")
            let (lion, dog) = (Lion(), Dog())
            lion.name = "x"
            try lion.upsert(db)
            #expect(lion.id == 5)
            dog.name = "X"
            #expect { try dog.upsert(db) } throws: { Self.isChange($0, of: "Dog", to: "cat".databaseValue) }
            dog.name = "Y"
            try dog.upsert(db)
            #expect(dog.id == 2)
        }
    }

    @Test("Where the row in the way is not found, an error says that nothing was written")
    func notFound() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    ALTER TABLE animal ADD COLUMN twice TEXT AS (name || name);
                    CREATE UNIQUE INDEX an ON animal (twice);
                    """)
            let dog = Dog()
            dog.name = "x"
            let error = #expect(throws: DatabaseError.self) { try dog.upsert(db) }
            let message = error?.message ?? ""
            #expect(message.contains("Dog was not upserted") && message.contains("index an"), "\(message)")
            expectError(
                "a Dog was not upserted, and nothing was written: a row of another kind is in its way in "
                    + "the table animal, and cannot be shown, as it cannot be looked up in the index an"
            ) { _ = try dog.upsertAndFetch(db, as: Dog.self) }
            dog.name = "y"
            try dog.upsert(db)
            #expect(dog.id == 2)
        }
        try #expect(names() == ["cat x", "dog y", "lion z"])
    }

    @Test("The row in the way is found by the row id, beside one of the record's own key")
    func rowID() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX an ON animal (code)")
            let dog = CodedDog()
            (dog.id, dog.code, dog.name) = (1, "d9", "x")
            #expect {
                try dog.upsert(db)
            } throws: {
                Self.isChange($0, of: "CodedDog", to: "cat".databaseValue)
            }
            // With a row of its own beside that one, by the key of the class.
            dog.code = "d1"
            #expect {
                try dog.upsert(db)
            } throws: {
                Self.isChange($0, of: "CodedDog", to: "cat".databaseValue)
            }
            (dog.id, dog.code) = (2, "d1")
            try dog.upsert(db)
        }
        try #expect(names() == ["cat x", "dog x", "lion z"])
    }

    @Test("A row of the record's own kind does not hide that nothing was written because of another one")
    func ownRowBeside() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    ALTER TABLE animal ADD COLUMN twice TEXT AS (name || name);
                    CREATE UNIQUE INDEX an ON animal (twice);
                    CREATE UNIQUE INDEX codes ON animal (code);
                    """)
            let dog = CodedDog()
            (dog.code, dog.name) = ("d1", "x")
            expectError("UNIQUE constraint failed: animal.twice") { try dog.upsert(db) }
        }
        try #expect(names() == ["cat x", "dog y", "lion z"])
    }

    @Test("An upsert that a trigger of the program ignores is still no error")
    func ignored() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX an ON animal (lower(name)) WHERE deletedAt IS NULL;
                    CREATE TRIGGER t BEFORE INSERT ON animal WHEN NEW.name = 'no' BEGIN SELECT RAISE(IGNORE); END;
                    """)
            let dog = Dog()
            dog.name = "no"
            try dog.upsert(db)
            #expect(dog.id == nil)
            try #expect(Animal.fetchCount(db) == 4)
        }
    }

    // MARK: - Soft delete

    @Test("Kinds that are deleted in several ways are refused by whoever is asked")
    func softDeletes() throws {
        func refuses(_ type: AnimalRow.Type, _ sentence: String, _ line: Int = #line) throws {
            try queue.inDatabase { db in
                let all = [
                    #expect(throws: DatabaseError.self) { try type.fetchAll(db) },
                    #expect(throws: DatabaseError.self) { try type.filter(key: 3).deleteAll(db) },
                    #expect(throws: DatabaseError.self) { try type.deleteOne(db, key: 3) },
                ]
                for error in all {
                    #expect(error?.message?.contains(sentence) == true, "\(line) \(error as Any)")
                }
                let drift = #expect(throws: SchemaDriftError.self) { try db.checkSchema(of: type) }
                #expect(drift?.description.contains(sentence) == true)
            }
        }
        try refuses(
            OneWay.self, "StayingCat has another databaseSoftDelete than OneWay (deletedAt, and not none)")
        try refuses(
            StayingCat.self, "StayingCat has another databaseSoftDelete than OneWay (deletedAt, and not none)"
        )
        try refuses(
            OtherWay.self,
            "OtherCat has another databaseSoftDelete than OtherWay (code, and not deletedAt)")
        try refuses(
            NoWay.self, "GoneCat has another databaseSoftDelete than NoWay (none, and not deletedAt)")
        try refuses(
            Taking.self,
            "TakingCat has another databaseSoftDelete than Taking (deletedAt cascading Taking.kittens, and not deletedAt)"
        )
        try queue.inDatabase { db in try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM animal") == 4) }
    }

    @Test("A column in another case, and one relation said twice, are the same soft delete")
    func sameSoftDelete() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE kitten (id INTEGER PRIMARY KEY, animalID INTEGER REFERENCES animal, deletedAt TEXT)"
            )
            try #expect(Same.fetchAll(db).count == 4)
            try #expect(Same.filter(key: 1).deleteAll(db) == 1)
            try #expect(SameCat.fetchCount(db) == 0)
        }
    }

    // MARK: - Subclasses that are not listed

    @Test("An unlisted subclass of a listed class takes its rows, as itself, and is not saved")
    func adHoc() throws {
        try queue.inDatabase { db in
            let all = try AdHoc.fetchAll(db)
            #expect(all.map { "\(type(of: $0)) \($0.name)" } == ["AdHoc x"])
            #expect(all.allSatisfy { !$0.hasDatabaseChanges })
            try #expect(AdHoc.fetchCount(db) == 1)
            try #expect(AdHoc.find(db, key: 1).name == "x")
            // A lion is a cat, and no ad hoc one.
            try #expect(AdHoc.fetchOne(db, key: 3) == nil)
            try #expect(AdHoc.filter(Column("name") == "x").fetchCount(db) == 1)
            let counted = try AdHoc.fetchAll(
                db, sql: "SELECT *, 5 AS extra FROM animal WHERE kind = 'cat'")
            #expect(counted.map(\.extra) == [5])
            let row = try Row.fetchOne(db, sql: "SELECT * FROM animal WHERE id = 1")
            let byRow = try AdHoc.made(of: #require(row))
            #expect(byRow.name == "x")
            #expect {
                _ = try AdHoc.fetchAll(db, sql: "SELECT * FROM animal")
            } throws: {
                Self.isChange($0, of: "AdHoc", to: "dog".databaseValue)
            }
            // A request for others returns none.
            try #expect(Cat.fetchAll(db).map { "\(type(of: $0))" } == ["Cat", "Lion"])
            try #expect(Animal.fetchAll(db).map { "\(type(of: $0))" } == ["Cat", "Dog", "Lion", "Animal"])
            let record = try #require(all.first)
            try db.execute(sql: "UPDATE animal SET name = 'w' WHERE id = 1")
            try record.reload(db)
            #expect(record.name == "w")
            record.name = "v"
            for save in [record.update, record.save, record.upsert, record.insert]
                as [(Database) throws -> Void]
            {
                let error = #expect(throws: DatabaseError.self) { try save(db) }
                #expect(error?.message?.contains("AdHoc is not among the databaseKinds of Animal") == true)
            }
            try db.execute(sql: "UPDATE animal SET kind = 'dog' WHERE id = 1")
            #expect {
                try record.reload(db)
            } throws: {
                Self.isChange($0, of: "AdHoc", to: "dog".databaseValue)
            }
        }
    }

    @Test(
        "Subclasses of an unlisted one take the rows of the nearest listed class, and a class between takes its own"
    )
    func between() throws {
        try queue.inDatabase { db in
            try #expect(DeepAdHoc.fetchAll(db).map { "\(type(of: $0)) \($0.name)" } == ["DeepAdHoc z"])
            // A class between, whose subclasses are listed, goes by these alone.
            try #expect(Between.fetchAll(db).map { "\(type(of: $0)) \($0.name)" } == ["Below y"])
            // The base is listed: its own rows are those of its kind.
            try #expect(OfBase.fetchAll(db).map { "\(type(of: $0)) \($0.name)" } == ["OfBase x"])
            // The base is not listed, and has no kind to take the rows of.
            try #expect(Loose.fetchAll(db).isEmpty && Loose.fetchCount(db) == 0)
        }
    }

    @Test("Live values of an unlisted subclass are records of it")
    func adHocLive() async throws {
        for try await cats in queue.values(of: AdHoc.all()) {
            #expect(cats.map { "\(type(of: $0)) \($0.name)" } == ["AdHoc x"])
            break
        }
    }

    // MARK: - Triggers

    @Test("A trigger that inserts a row of a class writes its kind")
    func triggerInserts() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE source (id INTEGER PRIMARY KEY)")
            try db.create(trigger: "t", .after, .insert, on: "source") { t in
                try t.insert(into: Cat.self, Column("name").set(to: "by trigger"))
                try t.insert(into: Animal.self, Column("name").set(to: "of none"))
                try t.insert(into: "animal", Column("kind").set(to: "dog"), Column("name").set(to: "by name"))
            }
            try db.execute(sql: "INSERT INTO source VALUES (1)")
            try #expect(
                Animal.filter(Column("id") > 4).fetchAll(db).map { "\(type(of: $0)) \($0.name)" }
                    == ["Cat by trigger", "Animal of none", "Dog by name"])
            func refuses(_ sentence: String, _ body: (TriggerDefinition) throws -> Void) {
                let error = #expect(throws: DatabaseError.self) {
                    try db.create(trigger: "no", .after, .insert, on: "source", body: body)
                }
                #expect(error?.message?.contains(sentence) == true, "\(error as Any)")
            }
            refuses("Loose is not among the databaseKinds of LooseBase") {
                try $0.insert(into: Loose.self, Column("name").set(to: "a"))
            }
            refuses("sets the column KIND") {
                try $0.insert(into: Cat.self, Column("KIND").set(to: "dog"))
            }
            refuses("StayingCat has another databaseSoftDelete") {
                try $0.insert(into: OneWay.self, Column("name").set(to: "a"))
            }
        }
    }

    @Test("A trigger does not delete rows for good that are to stay, unless it says so", .behaviour(72))
    func triggerDeletes() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE source (id INTEGER PRIMARY KEY)")
            for isWhole in [false, true] {
                let error = #expect(throws: DatabaseError.self) {
                    try db.create(trigger: "t", .after, .insert, on: "source") { t in
                        if isWhole {
                            try t.deleteAll(Plain.self)
                        } else {
                            try t.deleteAll(Plain.filter(Column("name") == "x"))
                        }
                    }
                }
                let message = error?.message ?? ""
                #expect(
                    message.contains("Plain") && message.contains("updateAll")
                        && message.contains("deletedAt")
                        && message.contains("destroyAll"), "\(message)")
            }
            try db.create(trigger: "t", .after, .insert, on: "source") { t in
                try t.updateAll(
                    Plain.filter(Column("name") == "x"), Column("deletedAt").set(to: "2020-01-01"))
                try t.destroyAll(Plain.ignoringDefaultFilter(.deleted).filter(Column("name") == "y"))
                try t.destroyAll(Other.self)
            }
            try db.execute(
                sql: """
                    CREATE TABLE other (deletedAt TEXT); INSERT INTO other VALUES (NULL), ('2020-01-01');
                    UPDATE animal SET deletedAt = '2019-01-01' WHERE name = 'y';
                    INSERT INTO source VALUES (1);
                    """)
            try #expect(Plain.order(Column("id")).fetchAll(db).map(\.name) == ["z", "n"])
            try #expect(Plain.ignoringDefaultFilter(.deleted).fetchCount(db) == 3)
            // Rows that a default filter leaves out stay, as they do in a request.
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other") == 1)
        }
    }
}

// MARK: - Classes

private class AnimalRow: Record {
    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "animal" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class Animal: AnimalRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": Cat.self, "dog": Dog.self, "lion": Lion.self])
    }
}
private class Cat: Animal {}
private class Lion: Cat {}
private class Dog: Animal {}

private class CodedAnimal: AnimalRow {
    var code: String?

    override class var databasePrimaryKey: [String]? { ["code"] }
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": CodedCat.self, "dog": CodedDog.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("code", code) { code = $0 }
    }
}
private class CodedCat: CodedAnimal {}
private class CodedDog: CodedAnimal {}

private class AdHoc: Cat {
    var extra = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column.reading("extra", as: Int?.self) { extra = $0 ?? 0 }
    }
}
private class MiddleAdHoc: Lion {}
private class DeepAdHoc: MiddleAdHoc {}

private class BetweenBase: AnimalRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": BetweenBase.self, "dog": Below.self])
    }
}
private class Between: BetweenBase {}
private class Below: Between {}
private class OfBase: BetweenBase {}

private class LooseBase: AnimalRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["dog": LooseDog.self]) }
}
private class LooseDog: LooseBase {}
private class Loose: LooseBase {}

private class Plain: AnimalRow {
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private class Other: Record {
    override class var databaseTableName: String { "other" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

// Declarations without a meaning.

private class Kitten: Record {
    override class var databaseTableName: String { "kitten" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private class OneWay: AnimalRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": StayingCat.self]) }
}
private class StayingCat: OneWay {
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private class OtherWay: AnimalRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": OtherCat.self]) }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
private class OtherCat: OtherWay {
    override class var databaseSoftDelete: SoftDelete? { "code" }
}

private class NoWay: AnimalRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": GoneCat.self]) }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
private class GoneCat: NoWay {
    override class var databaseSoftDelete: SoftDelete? { nil }
}

private class Taking: AnimalRow {
    static let kittens = hasMany(Kitten.self)

    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": TakingCat.self]) }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
private class TakingCat: Taking {
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Taking.kittens) }
}

private class Same: AnimalRow {
    static let kittens = hasMany(Kitten.self)

    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": SameCat.self]) }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Same.kittens) }
}
private class SameCat: Same {
    override class var databaseSoftDelete: SoftDelete? { .column("DELETEDAT", cascading: Same.kittens) }
}
