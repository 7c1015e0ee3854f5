import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One table, a hierarchy of classes, and a column that says which class.
@Suite("Kinds of a table", .behaviour(70))
struct KindsTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try Self.create(in: queue)
    }

    private static func create(in writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE keeper (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE animal (
                        id INTEGER PRIMARY KEY, kind TEXT, name TEXT NOT NULL, lives INTEGER, tricks INTEGER, tag TEXT UNIQUE,
                        keeperID INTEGER REFERENCES keeper(id) ON DELETE CASCADE);
                    CREATE INDEX animalKeeper ON animal(keeperID);
                    INSERT INTO keeper VALUES (1, 'Arthur'), (2, 'Barbara');
                    INSERT INTO animal (id, kind, name, lives, tricks, tag, keeperID) VALUES
                        (1, 'cat', 'Tom', 9, NULL, 'a', 1), (2, 'dog', 'Rex', NULL, 3, 'b', 1),
                        (3, 'lion', 'Leo', 1, NULL, 'c', 2), (4, NULL, 'It', NULL, NULL, 'd', 2),
                        (5, 'unicorn', 'Uni', NULL, NULL, 'e', NULL), (6, 'cat', 'Kit', 8, NULL, 'f', 2);
                    """)
        }
    }

    /// Returns the class and the name of each animal.
    private func words(_ animals: [Animal]) -> [String] { animals.map { "\(type(of: $0)) \($0.name)" } }

    private func rows(_ sql: String) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: sql) }
    }

    private static let byID = Column("id")

    // MARK: - Fetching

    @Test("What is fetched as the base class are records of the classes of their rows")
    func fetching() throws {
        let all = ["Cat Tom", "Dog Rex", "Lion Leo", "Animal It", "Animal Uni", "Cat Kit"]
        try queue.inDatabase { db in
            try #expect(words(Animal.fetchAll(db)) == all)
            try #expect(words(Animal.order(Self.byID).fetchAll(db)) == all)
            try #expect(words(Animal.fetchAll(db, sql: "SELECT * FROM animal ORDER BY id")) == all)
            try #expect(words(Animal.fetchAll(db, keys: [1, 2, 3, 4, 5, 6])).sorted() == all.sorted())
            let cursor = try Animal.order(Self.byID).fetchCursor(db)
            var met: [Animal] = []
            while let animal = try cursor.next() { met.append(animal) }
            #expect(words(met) == all)
            let tom = try #require(try Animal.find(db, key: 1) as? Cat)
            #expect(tom.lives == 9 && !tom.hasDatabaseChanges)
            let rex = try #require(try Animal.fetchOne(db, key: ["tag": "b"]) as? Dog)
            #expect(rex.tricks == 3 && !rex.hasDatabaseChanges)
            try #expect(words([#require(try Animal.fetchOne(db))]) == ["Cat Tom"])
            let byRow = try Row.fetchAll(db, sql: "SELECT * FROM animal ORDER BY id").map {
                try Animal.made(of: $0)
            }
            #expect(words(byRow) == all)
            #expect(byRow.allSatisfy { !$0.hasDatabaseChanges })
        }
    }

    @Test("All that a class is asked goes by its own rows, and those of its listed subclasses")
    func conditions() throws {
        try queue.inDatabase { db in
            try #expect(words(Cat.fetchAll(db)) == ["Cat Tom", "Lion Leo", "Cat Kit"])
            try #expect(words(Lion.fetchAll(db)) == ["Lion Leo"])
            try #expect(words(Dog.order(Self.byID).fetchAll(db)) == ["Dog Rex"])
            try #expect(words(Cat.fetchAll(db, keys: [1, 2, 3])).sorted() == ["Cat Tom", "Lion Leo"])
            let some = try Cat.fetchCursor(db, keys: [1, 2])
            try #expect(words([#require(try some.next())]) == ["Cat Tom"])
            try #expect(some.next() == nil)
            try #expect(Cat.fetchOne(db, key: 2) == nil)
            try #expect(Cat.fetchOne(db, key: ["tag": "b"]) == nil)
            try #expect(Cat.fetchOne(db, key: ["tag": "c"]) is Lion)
            try #expect(words([#require(try Lion.fetchOne(db))]) == ["Lion Leo"])
            #expect(throws: RecordError.recordNotFound(databaseTableName: "animal", key: ["id": 2])) {
                try Cat.find(db, key: 2)
            }
            try #expect(Cat.fetchCount(db) == 3)
            try #expect(Animal.fetchCount(db) == 6)
            try #expect(Cat.filter(Column("name") != "Tom" || Column("id") == 2).fetchCount(db) == 2)
            try #expect(Cat.exists(db, key: 1) && !Cat.exists(db, key: 2))
            try #expect(Cat.exists(db, key: ["tag": "a"]) && !Cat.exists(db, key: ["tag": "b"]))
            try #expect(Dog.select(Column("name"), as: String.self).fetchAll(db) == ["Rex"])
            try #expect(Dog.select(max(Column("id")), as: Int.self).fetchOne(db) == 2)
            try #expect(!Dog.isEmpty(db) && Dog.filter(Column("name") == "Tom").isEmpty(db))
            // An unlisted class has no rows of its own.
            try #expect(Fish.fetchCount(db) == 0)
            try #expect(Fish.fetchAll(db).isEmpty)
        }
    }

    @Test("Queries inside of others, unions and joins have the condition, of the right table")
    func inside() throws {
        try queue.inDatabase { db in
            let cats = Cat.select(Column("id"))
            try #expect(
                Animal.filter(cats.contains(Column("id"))).order(Self.byID).fetchAll(db).map(\.id)
                    == [1, 3, 6])
            try #expect(
                words(Animal.filter(Column("id") == 2).union(Animal.filter(Column("id") == 3)).fetchAll(db))
                    .sorted() == ["Dog Rex", "Lion Leo"])
            try #expect(Cat.all().except(Lion.all()).fetchCount(db) == 2)
            let other = TableAlias("other")
            let pairs = Cat.all().join(
                Dog.all(), aliased: other,
                on: TableAlias("animal")[Column("keeperID")] == other[Column("keeperID")])
            try #expect(words(pairs.fetchAll(db)) == ["Cat Tom"])
            let left = Keeper.all().leftJoin(
                Lion.all(), on: TableAlias("keeper")[Column("id")] == TableAlias("animal")[Column("keeperID")]
            )
            try #expect(
                left.select(TableAlias("animal")[Column("name")], as: String?.self)
                    .order(TableAlias("keeper")[Column("id")]).fetchAll(db) == [nil, "Leo"])
            let common = CommonTableExpression("cats", Cat.all())
            try #expect(common.all().with(common).fetchCount(db) == 3)
        }
    }

    @Test("Rows without the column are of the class that was asked for")
    func rowsWithoutTheColumn() throws {
        try queue.inDatabase { db in
            let animals = try Animal.fetchAll(db, sql: "SELECT id, name FROM animal ORDER BY id LIMIT 2")
            #expect(words(animals) == ["Animal Tom", "Animal Rex"])
            let cats = try Cat.select(Column("id"), Column("name")).fetchAll(db)
            #expect(words(cats) == ["Cat Tom", "Cat Leo", "Cat Kit"])
            // Whose row is of another class is not overwritten.
            animals[0].name = "Tim"
            #expect { try animals[0].update(db) } throws: { Self.isChange($0, of: "Animal", to: "cat") }
            cats[1].name = "Lea"
            #expect { try cats[1].update(db) } throws: { Self.isChange($0, of: "Cat", to: "lion") }
        }
        try #expect(rows("SELECT name FROM animal WHERE id IN (1, 3) ORDER BY id") == ["Tom", "Leo"])
    }

    private static func isChange(_ error: any Error, of type: String, to kind: DatabaseValue) -> Bool {
        guard case RecordError.kindChanged(let recordType, let value, let row) = error else { return false }
        return recordType == type && value == kind && row.databaseTableName == "animal"
    }

    private static func isChange(_ error: any Error, of type: String, to kind: String) -> Bool {
        isChange(error, of: type, to: kind.databaseValue)
    }

    @Test("Raw SQL that finds a row of another class throws, and the cursor goes no further")
    func rawSQL() throws {
        try queue.inDatabase { db in
            #expect { try Cat.fetchAll(db, sql: "SELECT * FROM animal ORDER BY id") } throws: {
                Self.isChange($0, of: "Cat", to: "dog")
            }
            #expect { try Cat.fetchAll(db, sql: "SELECT * FROM animal WHERE id = 4") } throws: {
                Self.isChange($0, of: "Cat", to: .null)
            }
            #expect { try Lion.fetchOne(db, sql: "SELECT * FROM animal WHERE id = 1") } throws: {
                Self.isChange($0, of: "Lion", to: "cat")
            }
            try #expect(words(Cat.fetchAll(db, sql: "SELECT * FROM animal WHERE id = 3")) == ["Lion Leo"])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM animal WHERE id = 2"))
            #expect { try Cat.made(of: row) } throws: { Self.isChange($0, of: "Cat", to: "dog") }
            // The connection is usable.
            try #expect(Cat.fetchCount(db) == 3)
        }
    }

    @Test("What is unknown is of the base class, or an error")
    func unknown() throws {
        try queue.inDatabase { db in
            try #expect(words(Animal.fetchAll(db, keys: [4, 5])) == ["Animal It", "Animal Uni"])
            #expect { try StrictAnimal.filter(key: 4).fetchAll(db) } throws: { error in
                guard case RecordError.unknownKind("StrictAnimal", .null, let row) = error else {
                    return false
                }
                return row.databaseValues.first == 4.databaseValue
            }
            #expect(
                throws: RecordError.unknownKind(
                    recordType: "StrictAnimal", kind: "unicorn".databaseValue,
                    row: CurrentRow(
                        databaseTableName: "animal",
                        columns: [("id", 5.databaseValue), ("kind", "unicorn".databaseValue)]))
            ) { try StrictAnimal.fetchAll(db, sql: "SELECT id, kind FROM animal WHERE id = 5") }
            try #expect(
                StrictAnimal.filter(Column("kind") == "cat").fetchAll(db).allSatisfy { $0 is StrictCat })
            // Values that are no kinds at all.
            for kind in ["1", "1.5", "x'636174'", "'CAT'", "'cat '", "''"] {
                try db.execute(sql: "UPDATE animal SET kind = \(kind) WHERE id = 5")
                try #expect(words([Animal.find(db, key: 5)]) == ["Animal Uni"])
                try #expect(Cat.fetchOne(db, key: 5) == nil)
            }
        }
    }

    // MARK: - Saving

    @Test("Inserting writes the kind, and a base class that is not listed writes NULL")
    func inserting() throws {
        try queue.write { db in
            try db.execute(sql: "DELETE FROM animal")
            let (cat, dog, lion, animal) = (Cat(), Dog(), Lion(), Animal())
            for (index, one) in [cat, dog, lion, animal].enumerated() { one.name = "n\(index)" }
            (cat.lives, dog.tricks, lion.lives) = (7, 2, 1)
            try cat.insert(db)
            try dog.save(db)
            try lion.upsert(db)
            try animal.insert(db)
            #expect([cat, dog, lion, animal].allSatisfy { !$0.hasDatabaseChanges && $0.id != nil })
        }
        try #expect(
            rows("SELECT quote(kind) || name FROM animal ORDER BY id") == [
                "'cat'n0", "'dog'n1", "'lion'n2", "NULLn3",
            ])
        try queue.write { db in
            let many: [Animal] = (0..<200).map { index in
                let animal = index % 3 == 0 ? Cat() : index % 3 == 1 ? Dog() : Animal()
                animal.name = "m\(index)"
                return animal
            }
            try Animal.insertAll(db, many)
            try #expect(Cat.filter(Column("name").like("m%")).fetchCount(db) == 67)
            try #expect(Dog.filter(Column("name").like("m%")).fetchCount(db) == 67)
            try #expect(
                words(Animal.filter(Column("name").like("m%")).order(Self.byID).fetchAll(db)) == words(many))
        }
    }

    @Test("A column's default is no kind")
    func defaultKind() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE animal (id INTEGER PRIMARY KEY, kind TEXT DEFAULT 'dog', name TEXT, lives INTEGER, tricks INTEGER,
                        tag TEXT, keeperID INTEGER)
                    """)
            let animal = Animal()
            try animal.insert(db)
            try #expect(type(of: Animal.fetchAll(db)[0]) == Animal.self)
        }
    }

    @Test("Updates leave the kind alone, and find the row of the record's own class")
    func updating() throws {
        try queue.write { db in
            let animals = try Animal.order(Self.byID).fetchAll(db)
            for animal in animals { animal.name += "!" }
            for (index, animal) in animals.enumerated() {
                switch index % 3 {
                case 0: try animal.update(db)
                case 1: try animal.updateChanges(db)
                default: try animal.save(db)
                }
                try animal.upsert(db)
            }
        }
        try #expect(
            rows("SELECT quote(kind) || name FROM animal ORDER BY id") == [
                "'cat'Tom!", "'dog'Rex!", "'lion'Leo!", "NULLIt!", "'unicorn'Uni!", "'cat'Kit!",
            ])
    }

    @Test("A row that has become another kind is neither updated nor deleted, reloaded nor merged")
    func changedKind() throws {
        try queue.inDatabase { db in
            func change(_ kind: String) throws {
                try db.execute(sql: "UPDATE animal SET kind = \(kind) WHERE id = 1")
            }
            let cat = try Cat.find(db, key: 1)
            cat.name = "Tim"
            for kind in ["'dog'", "'lion'", "NULL", "'unicorn'"] {
                try change(kind)
                let value = try #require(try Row.fetchOne(db, sql: "SELECT kind FROM animal WHERE id = 1"))
                    .databaseValues[0]
                func refuses(_ body: () throws -> Void, _ line: Int = #line) {
                    #expect("line \(line)") { try body() } throws: { Self.isChange($0, of: "Cat", to: value) }
                }
                refuses { try cat.update(db) }
                refuses { try cat.updateChanges(db) }
                refuses { try cat.update(db, columns: ["name"]) }
                refuses { try cat.update(db, checking: .changedColumns) }
                refuses { try cat.updateChanges(db, retrying: 3) }
                refuses { try cat.save(db) }
                refuses { try cat.upsert(db) }
                refuses { _ = try cat.upsertAndFetch(db, as: Animal.self) }
                refuses { _ = try cat.updateAndFetch(db, as: Animal.self) }
                refuses { try cat.delete(db) }
                refuses { try cat.reload(db) }
                let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM animal WHERE id = 1"))
                refuses { try cat.merge(row) }
                try #expect(!cat.exists(db))
                #expect(cat.name == "Tim" && cat.hasDatabaseChanges && cat.lives == 9)
                try #expect(row["name"] == "Tom")
            }
            try change("'cat'")
            try #expect(cat.exists(db))
            try cat.updateChanges(db)
            try change("'dog'")
            #expect { try cat.delete(db) } throws: { Self.isChange($0, of: "Cat", to: "dog") }
            let dog = try Dog.find(db, key: 1)
            try #expect(dog.delete(db))
            try #expect(!dog.delete(db))
            #expect(throws: RecordError.recordNotFound(databaseTableName: "animal", key: ["id": 1])) {
                try cat.update(db)
            }
            // A kind that the base class takes for its own is listed now.
            let it = try Animal.find(db, key: 4)
            try db.execute(sql: "UPDATE animal SET kind = 'horse' WHERE id = 4")
            try it.reload(db)
            try it.update(db)
            try db.execute(sql: "UPDATE animal SET kind = 'cat' WHERE id = 4")
            #expect { try it.update(db) } throws: { Self.isChange($0, of: "Animal", to: "cat") }
            #expect { try it.delete(db) } throws: { Self.isChange($0, of: "Animal", to: "cat") }
            // A view of the error.
            #expect(
                "\(#expect(throws: RecordError.self) { try it.update(db) }!)".contains(
                    "is of the kind 'cat', which is not a kind of Animal"))
        }
    }

    @Test("An upsert that meets a row of another kind by a unique index writes nothing")
    func upserts() throws {
        try queue.inDatabase { db in
            let cat = Cat()
            (cat.name, cat.tag) = ("New", "b")
            #expect { try cat.upsert(db) } throws: { Self.isChange($0, of: "Cat", to: "dog") }
            #expect {
                try cat.upsertAndFetch(
                    db, as: Animal.self, onConflict: ["tag"], doUpdate: { _ in [Column("name").set(to: "x")] }
                )
            } throws: { Self.isChange($0, of: "Cat", to: "dog") }
            try #expect(Animal.fetchCount(db) == 6)
            cat.tag = "a"
            try cat.upsert(db)
            #expect(cat.id == 1)
        }
        try #expect(rows("SELECT name FROM animal WHERE id < 3 ORDER BY id") == ["New", "Rex"])
    }

    @Test("Bulk updates and deletions of a class leave the others alone")
    func bulk() throws {
        try queue.inDatabase { db in
            try #expect(Cat.updateAll(db, [Column("lives").set(to: 5)]) == 3)
            try #expect(Cat.filter(Column("id") < 3).updateAll(db, [Column("lives").set(to: 4)]) == 1)
            try #expect(Lion.limit(1).updateAll(db, [Column("name").set(to: "Lea")]) == 1)
            let fetched = try Cat.filter(Column("id") > 1).updateAndFetchAll(
                db, [Column("name").set(to: "x")])
            #expect(words(fetched).sorted() == ["Cat x", "Lion x"])
            try #expect(Cat.deleteOne(db, key: 2) == false)
            try #expect(Cat.deleteOne(db, key: ["tag": "b"]) == false)
            try #expect(Cat.deleteAll(db, keys: [1, 2, 4]) == 1)
            try #expect(Cat.deleteAll(db, keys: [["tag": "b"], ["tag": "c"]]) == 1)
            try #expect(Fish.deleteAll(db) == 0)
            try #expect(Dog.filter(Column("id") == 6).deleteAll(db) == 0)
            try #expect(Cat.deleteAll(db) == 1)
            try #expect(Dog.all().deleteAndFetchAll(db).map(\.name) == ["Rex"])
            try #expect(Animal.fetchCount(db) == 2)
            try #expect(Animal.deleteAll(db) == 2)
        }
    }

    @Test("A class that is not listed is not saved")
    func unlisted() throws {
        try queue.inDatabase { db in
            let fish = Fish()
            (fish.id, fish.name) = (4, "Nemo")
            for save in [fish.insert, fish.save, fish.upsert, fish.update] as [(Database) throws -> Void] {
                let error = #expect(throws: DatabaseError.self) { try save(db) }
                #expect(error?.message?.contains("Fish is not among the databaseKinds of Animal") == true)
            }
            expectError(
                "Fish is not among the databaseKinds of Animal: its rows could not be distinguished from those of "
                    + "others. List it there"
            ) { try Fish.insertAll(db, [Fish(), Fish()]) }
            // A base class whose rows could not be fetched.
            let strict = StrictAnimal()
            let error = #expect(throws: DatabaseError.self) { try strict.insert(db) }
            #expect(error?.message?.contains("not among its own databaseKinds") == true)
            let cat = StrictCat()
            cat.name = "Strict"
            try cat.insert(db)
            try #expect(StrictAnimal.filter(key: cat.id).fetchAll(db).count == 1)
            try #expect(Animal.fetchCount(db) == 7)
        }
    }

    @Test("A class that stores the column itself is refused")
    func storedColumn() throws {
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) { try TellingCat().insert(db) }
            #expect(
                error?.message?.contains("stores the column kind, which holds the kinds of TellingAnimal")
                    == true)
            let animals = try TellingAnimal.filter(key: 1).fetchAll(db)
            #expect(animals.first is TellingCat)
            #expect((animals.first as? TellingCat)?.kind == "cat")
        }
    }

    // MARK: - Declarations

    @Test("A declaration that cannot be meant is refused, whatever is done", arguments: kindFaults)
    fileprivate func faults(_ type: BeastRow.Type, _ sentence: String) throws {
        try queue.inDatabase { db in
            func refuses(_ body: () throws -> Void, _ line: Int = #line) {
                let error = #expect(throws: DatabaseError.self, "line \(line)") { try body() }
                #expect(error?.message?.contains(sentence) == true, "\(error?.message ?? "") (line \(line))")
            }
            refuses { _ = try type.fetchAll(db) }
            refuses { _ = try type.fetchAll(db, sql: "SELECT * FROM animal") }
            refuses { _ = try type.filter(Column("id") == 1).fetchAll(db) }
            refuses { _ = try type.fetchCount(db) }
            refuses { _ = try type.filter(Column("id") == 1).deleteAll(db) }
            refuses { _ = try type.deleteAll(db) }
            refuses { try type.make(of: Row()).insert(db) }
            try #expect(Animal.fetchCount(db) == 6)
        }
    }

    @Test("A table that cannot tell the kinds is refused")
    func tables() throws {
        func refuses(_ declaration: String, _ sentence: String, _ line: Int = #line) throws {
            let queue = try DatabaseQueue()
            try queue.inDatabase { db in
                try db.execute(
                    sql:
                        "CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER, tricks INTEGER, tag TEXT, keeperID INTEGER\(declaration))"
                )
                let error = #expect(throws: DatabaseError.self) { try Cat().insert(db) }
                #expect(error?.message?.contains(sentence) == true, "\(error?.message ?? "") (line \(line))")
                let drift = #expect(throws: SchemaDriftError.self) { try Animal.checkSchema(db) }
                #expect(drift?.description.contains(sentence) == true)
            }
        }
        try refuses("", "the table animal has no column kind, which holds the kinds of Animal")
        try refuses(", kind TEXT COLLATE NOCASE", "is compared by NOCASE")
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE numbered (id INTEGER PRIMARY KEY, sort TEXT)")
            let error = #expect(throws: DatabaseError.self) { try Second().insert(db) }
            #expect(error?.message?.contains("does not store 1, a kind of Numbered, as it is") == true)
        }
    }

    @Test("Kinds may be integers, and the base class may be listed")
    func integers() throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE numbered (id INTEGER PRIMARY KEY, sort INTEGER)")
            try Numbered().insert(db)
            try Second().insert(db)
            try db.execute(sql: "INSERT INTO numbered (sort) VALUES (NULL), (99)")
            try #expect(Int?.fetchAll(db, sql: "SELECT sort FROM numbered ORDER BY id") == [1, -2, nil, 99])
            let all = try Numbered.fetchAll(db)
            #expect(all.map { "\(type(of: $0))" } == ["Numbered", "Second", "Numbered", "Numbered"])
            try #expect(Second.fetchCount(db) == 1)
            for numbered in all { try numbered.update(db) }
            try db.execute(sql: "UPDATE numbered SET sort = -2 WHERE id = 3")
            #expect(throws: RecordError.self) { try all[2].update(db) }
        }
    }

    @Test("A subclass with a table of its own may have no kinds")
    func optingOut() throws {
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE robot (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, tag TEXT, keeperID INTEGER)"
            )
            try Robot().insert(db)
            try #expect(Robot.fetchAll(db).count == 1)
            try #expect(Row.fetchOne(db, sql: "SELECT kind FROM robot")?.databaseValues == [.null])
        }
    }
}

// MARK: - Classes

private class Keeper: Record {
    static let animals = hasMany(Animal.self)
    static let cats = hasMany(Cat.self)

    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "keeper" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class AnimalRow: Record {
    var id: Int64?
    var name = ""
    var tag: String?
    var keeperID: Int64?

    override class var databaseTableName: String { "animal" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("tag", tag) { tag = $0 }
        try column("keeperID", keeperID) { keeperID = $0 }
    }
}

private class Animal: AnimalRow {
    static let keeper = belongsTo(Keeper.self)

    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": Cat.self, "dog": Dog.self, "lion": Lion.self])
    }
}

private class Cat: Animal {
    var lives: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("lives", lives) { lives = $0 }
    }
}

private class Lion: Cat {}
private class Fish: Animal {}

/// A class that has the older pair of methods.
private class Dog: Animal {
    var tricks: Int?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("tricks") { tricks = try row["tricks"] }
    }
    override func encode(to container: inout PersistenceContainer) throws { container["tricks"] = tricks }
}

private class Robot: Animal {
    override class var databaseTableName: String { "robot" }
    override class var databaseKinds: DatabaseKinds { DatabaseKinds() }
}

private class StrictAnimal: AnimalRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": StrictCat.self], unknown: .error)
    }
}
private class StrictCat: StrictAnimal {}

private class TellingAnimal: AnimalRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["cat": TellingCat.self]) }
}
private class TellingCat: TellingAnimal {
    var kind = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("KIND", kind) { kind = $0 }
    }
}

private class Numbered: Record {
    var id: Int64?

    override class var databaseTableName: String { "numbered" }
    override class var databaseKinds: DatabaseKinds {
        .column("sort", [1: Numbered.self, -2: Second.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
    }
}
private class Second: Numbered {}

// Declarations without a meaning.

private let kindFaults: [(BeastRow.Type, String)] = [
    (TwiceBeast.self, "both OneBeast and OtherBeast claim the kind 'one'"),
    (TwoNamesBeast.self, "TwoNamesBeast has two kinds of TwoNamesBeast, 'one' and 'two'"),
    (StrangeBeast.self, "OneBeast is among the databaseKinds of StrangeBeast, and is no subclass of it"),
    (
        ElsewhereBeast.self,
        "Somewhere is among the databaseKinds of ElsewhereBeast, and has a table of its own"
    ),
    (NestedBeast.self, "InnerBeast declares other databaseKinds than its superclass NestedBeast"),
    (InnerBeast.self, "InnerBeast declares other databaseKinds than its superclass NestedBeast"),
    (RealBeast.self, "a kind of RealBeast is 1.5: a kind is a text or an integer"),
    (OwnTableBeast.self, "OwnTableBeast inherits the databaseKinds of BeastBase, and has a table of its own"),
]

private class BeastRow: AnimalRow {}
private class OneBeast: TwiceBeast {}
private class OtherBeast: TwiceBeast {}
private class TwiceBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["one": OneBeast.self, "one": OtherBeast.self])
    }
}
private class TwoNamesBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["one": TwoNamesBeast.self, "two": TwoNamesBeast.self])
    }
}
private class StrangeBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["one": OneBeast.self]) }
}
private class ElsewhereBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["one": Somewhere.self]) }
}
private class Somewhere: ElsewhereBeast {
    override class var databaseTableName: String { "keeper" }
}
private class NestedBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["inner": InnerBeast.self]) }
}
private class InnerBeast: NestedBeast {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["own": InnerBeast.self]) }
}
private class RealBeast: BeastRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", [DatabaseKinds.Value(1.5): RealBeast.self])
    }
}
private class BeastBase: BeastRow {
    override class var databaseKinds: DatabaseKinds { .column("kind", ["base": BeastBase.self]) }
}
private class OwnTableBeast: BeastBase {
    override class var databaseTableName: String { "keeper" }
}
