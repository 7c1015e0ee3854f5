import Shellac
import TestSupport
import Testing

/// A key shape, and whether its records are classes.
struct ShapedKind: Sendable, CustomTestStringConvertible {
    let shape: KeyShape
    let isClass: Bool

    var testDescription: String { "\(shape.testDescription), \(isClass ? "class" : "struct")" }

    static let all = KeyShape.all.flatMap { shape in
        [true, false].map { ShapedKind(shape: shape, isClass: $0) }
    }

    /// Runs a test with the record type.
    func run(_ test: any ShapeTest) throws {
        func open<Traits: ThingTraits>(_ traits: Traits.Type) throws {
            try shape.database().write { db in
                if isClass {
                    try test.run(ClassThing<Traits>.self, shape, db)
                } else {
                    try test.run(StructThing<Traits>.self, shape, db)
                }
            }
        }
        try open(shape.traits)
    }
}

protocol ShapeTest {
    func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws
}

extension ShapeTest {
    /// Inserts a thing for each key of the shape, with the values "0", "1", "2".
    func things<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws -> [T] {
        try shape.keys.enumerated().map { index, key in
            var thing = T(key: key, value: "\(index)")
            try thing.insert(db)
            return thing
        }
    }

    /// A key that no row has.
    func unknownKey(_ key: [String: DatabaseValue]) -> [String: DatabaseValue] {
        key.mapValues { value in
            switch value.storage {
            case .string: "nobody"
            case .blob: DatabaseValue(.blob(.init([1, 2, 3])))
            default: 999
            }
        }
    }

    func values(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT value FROM thing ORDER BY value")
    }

    func isAbsence(_ error: any Error, of key: [String: DatabaseValue]) -> Bool {
        error as? RecordError == .recordNotFound(databaseTableName: "thing", key: key)
    }
}

@Suite("Key shapes")
struct KeyShapesTests {
    @Test(
        "records of each key shape are inserted, and found by their keys", .behaviour(31),
        arguments: ShapedKind.all)
    func finding(_ kind: ShapedKind) throws {
        struct Finding: ShapeTest {
            func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws {
                let things = try things(type, shape, db)
                #expect(try values(db) == ["0", "1", "2"])
                #expect(try T.fetchCount(db) == 3)
                #expect(Set(try T.fetchAll(db).map(\.value)) == ["0", "1", "2"])
                #expect(things.allSatisfy { !$0.key.values.contains(.null) })
                for thing in things {
                    let key: [String: (any DatabaseValueConvertible)?] = thing.key.mapValues { $0 }
                    #expect(try T.fetchOne(db, key: key)?.value == thing.value)
                    #expect(try T.find(db, key: key).value == thing.value)
                    #expect(try T.exists(db, key: key))
                    #expect(try thing.exists(db))
                    if let value = thing.key.values.first, thing.key.count == 1 {
                        #expect(try T.fetchOne(db, key: value)?.value == thing.value)
                        #expect(try T.find(db, key: value).value == thing.value)
                        #expect(try T.exists(db, key: value))
                    } else {
                        #expect(throws: RecordError.self) { try T.fetchOne(db, key: 1) }
                    }
                }
                let unknown = unknownKey(things[0].key)
                let key: [String: (any DatabaseValueConvertible)?] = unknown.mapValues { $0 }
                #expect(try T.fetchOne(db, key: key) == nil)
                #expect(try !T.exists(db, key: key))
                #expect(throws: RecordError.recordNotFound(databaseTableName: "thing", key: unknown)) {
                    try T.find(db, key: key)
                }
                #expect(try !T(key: unknown, value: "").exists(db))
                let keys = things.map { thing in
                    thing.key.mapValues { Optional<any DatabaseValueConvertible>.some($0) }
                }
                #expect(try T.fetchAll(db, keys: Array(keys.prefix(2)) + [key]).map(\.value) == ["0", "1"])
            }
        }
        try kind.run(Finding())
    }

    @Test(
        "records of each key shape are updated, in whole and in part", .behaviour(31),
        arguments: ShapedKind.all)
    func updating(_ kind: ShapedKind) throws {
        struct Updating: ShapeTest {
            func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws {
                var thing = try things(type, shape, db)[1]
                thing.value = "updated"
                try thing.update(db)
                #expect(try values(db) == ["0", "2", "updated"])
                thing.value = "updated in part"
                try thing.update(db, columns: ["value"])
                #expect(try values(db) == ["0", "2", "updated in part"])
                #expect(try thing.updateChanges(db) { $0.value = "changed" })
                #expect(try !thing.updateChanges(db) { $0.value = "changed" })
                #expect(try values(db) == ["0", "2", "changed"])
                #expect(try thing.updateAndFetch(db).value == "changed")
                // By its key alone.
                try thing.update(db, columns: Set(thing.key.keys))
                #expect(try values(db) == ["0", "2", "changed"])
                let unknown = T(key: unknownKey(thing.key), value: "unknown")
                for update in [
                    { try unknown.update(db) }, { try unknown.update(db, columns: ["value"]) },
                    { _ = try unknown.updateAndFetch(db) },
                ] {
                    let error = try #require(thrownError(update))
                    #expect(isAbsence(error, of: unknown.key))
                }
                #expect(try values(db) == ["0", "2", "changed"])
            }
        }
        try kind.run(Updating())
    }

    @Test(
        "records of each key shape are saved: updated where there is a row, else inserted", .behaviour(31),
        arguments: ShapedKind.all)
    func saving(_ kind: ShapedKind) throws {
        struct Saving: ShapeTest {
            func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws {
                var thing = T(key: shape.keys[0], value: "inserted")
                try thing.save(db)
                #expect(try values(db) == ["inserted"])
                thing.value = "updated"
                try thing.save(db)
                #expect(try values(db) == ["updated"])
                #expect(try Set(thing.saveAndFetch(db).key.values) == Set(thing.key.values))
                var other = T(key: shape.keys[1], value: "other")
                if !shape.isFilledIn {
                    #expect(try other.saveAndFetch(db).value == "other")
                } else {
                    try other.save(db)
                }
                #expect(try values(db) == ["other", "updated"])
                if shape.canUpsert {
                    thing.value = "upserted"
                    try thing.upsert(db)
                    #expect(try values(db) == ["other", "upserted"])
                    var third = T(key: shape.keys[2], value: "third")
                    try third.upsert(db)
                    #expect(try values(db) == ["other", "third", "upserted"])
                    #expect(!third.key.values.contains(.null))
                    third.value = "upserted, too"
                    #expect(try third.upsertAndFetch(db).value == "upserted, too")
                    #expect(try values(db) == ["other", "upserted", "upserted, too"])
                }
            }
        }
        try kind.run(Saving())
    }

    @Test("records of each key shape are deleted, one and many", .behaviour(31), arguments: ShapedKind.all)
    func deleting(_ kind: ShapedKind) throws {
        struct Deleting: ShapeTest {
            func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws {
                let things = try things(type, shape, db)
                #expect(try things[0].delete(db))
                #expect(try values(db) == ["1", "2"])
                #expect(try !things[0].delete(db))
                #expect(try !T(key: things[1].key.mapValues { _ in .null }, value: "").delete(db))
                let error = try #require(thrownError { try things[0].update(db) })
                #expect(isAbsence(error, of: things[0].key))
                let keys = things.map { thing in
                    thing.key.mapValues { Optional<any DatabaseValueConvertible>.some($0) }
                }
                // (What happens to a view counts for nothing.)
                let isView = shape.traits == ViewTraits.self
                #expect(try T.deleteOne(db, key: keys[1]) == !isView)
                #expect(try values(db) == ["2"])
                #expect(try !T.deleteOne(db, key: keys[1]))
                #expect(try T.deleteAll(db, keys: keys) == (isView ? 0 : 1))
                #expect(try values(db).isEmpty)
                _ = try self.things(type, shape, db)
                #expect(try T.deleteAll(db) == (isView ? 0 : 3))
                #expect(try T.fetchCount(db) == 0)
            }
        }
        try kind.run(Deleting())
    }

    @Test("the state of class records of each key shape is right", .behaviour(31), arguments: KeyShape.all)
    func state(_ shape: KeyShape) throws {
        func open<Traits: ThingTraits>(_ traits: Traits.Type) throws {
            try shape.database().write { db in
                let thing = ClassThing<Traits>(key: shape.keys[0], value: "a")
                #expect(thing.hasDatabaseChanges)
                try thing.insert(db)
                #expect(!thing.hasDatabaseChanges)
                thing.value = "b"
                #expect(try thing.databaseChanges == ["value": "a"])
                #expect(try thing.updateChanges(db))
                #expect(thing.savedDatabaseChanges == ["value": "a"])
                try db.execute(sql: "UPDATE thing SET value = 'c'")
                try thing.reload(db)
                #expect(thing.value == "c")
                #expect(!thing.hasDatabaseChanges)
                let fetched = try #require(try ClassThing<Traits>.fetchOne(db))
                #expect(fetched.value == "c")
                // The view's own name of a column may be spelled otherwise: it is the same column.
                #expect(!fetched.hasDatabaseChanges)
                #expect(try thing.delete(db))
                #expect(thing.hasDatabaseChanges)
                let error = try #require(thrownError { try thing.reload(db) })
                #expect(error as? RecordError == .recordNotFound(databaseTableName: "thing", key: thing.key))
            }
        }
        try open(shape.traits)
    }

    @Test("the columns of a unique index find a record, and no others do", .behaviour(27))
    func uniqueIndex() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE thing (id INTEGER PRIMARY KEY, value TEXT UNIQUE, a INTEGER, b INTEGER, c INTEGER);
                    CREATE UNIQUE INDEX ab ON thing (a, b);
                    CREATE UNIQUE INDEX partial ON thing (c) WHERE c > 0;
                    INSERT INTO thing VALUES (1, 'x', 1, 2, 3), (2, 'y', 1, 3, 3 + 1), (3, NULL, NULL, 3, 5);
                    """)
            func id(_ key: [String: (any DatabaseValueConvertible)?]) throws -> DatabaseValue? {
                try StructThing<PlainTraits>.fetchOne(db, key: key)?.key["id"]
            }
            #expect(try id(["VALUE": "y"]) == 2)
            #expect(try id(["b": 3, "A": 1]) == 2)
            #expect(try id(["rowid": 1]) == 1)
            #expect(try id(["value": nil]) == nil)
            #expect(try id(["a": nil, "b": 3]) == nil)
            for columns in [["a"], ["c"], ["a", "b", "c"], ["nothing"], []] {
                let key = Dictionary(
                    uniqueKeysWithValues: columns.map { ($0, Optional<any DatabaseValueConvertible>.some(1)) }
                )
                for attempt in [
                    { _ = try id(key) }, { _ = try StructThing<PlainTraits>.exists(db, key: key) },
                    { _ = try StructThing<PlainTraits>.deleteOne(db, key: key) },
                ] as [() throws -> Void] {
                    let error = try #require(thrownError { try attempt() })
                    switch error {
                    case RecordError.partialUniqueKey("thing", ["c"], "partial", "c > 0"):
                        #expect(columns == ["c"])
                    case RecordError.notAUniqueKey("thing", let named):
                        #expect(columns != ["c"] && Set(named) == Set(columns))
                    default: Issue.record("\(error)")
                    }
                }
            }
            #expect(try StructThing<PlainTraits>.fetchCount(db) == 3)
        }
    }

    @Test("find throws recordNotFound for an id that no row has, of structs and of classes")
    func missingID() throws {
        struct Hero: Codable, Identifiable, FetchableRecord, TableRecord { var id: Int64 }
        let missing = RecordError.recordNotFound(databaseTableName: "hero", key: ["id": 7])
        try DatabaseQueue.withHeroes().inDatabase { db in
            #expect(throws: missing) { try Hero.find(db, id: 7) }
            #expect(throws: missing) { try PairHero.find(db, id: 7) }
            try db.execute(sql: "INSERT INTO hero VALUES (7, 'Arthur', 10)")
            try #expect(Hero.find(db, id: 7).id == 7)
            try #expect(PairHero.find(db, id: 7).id == 7)
        }
    }

    @Test("a nil key finds nothing, and many keys are found without duplicates", .behaviour(27))
    func manyKeys() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY, value TEXT)")
            for id in 1...2000 {
                var thing = StructThing<PlainTraits>(key: ["id": id.databaseValue], value: "\(id)")
                try thing.insert(db)
            }
            typealias T = StructThing<PlainTraits>
            #expect(try T.fetchOne(db, key: nil as Int?) == nil)
            #expect(throws: RecordError.recordNotFound(databaseTableName: "thing", key: ["id": .null])) {
                try T.find(db, key: nil as Int?)
            }
            #expect(try !T.exists(db, key: nil as Int?))
            #expect(try !T.deleteOne(db, key: nil as Int?))
            let keys: [Int?] = (1...1500).flatMap { [$0, $0, nil, -$0] }
            #expect(try Set(T.fetchAll(db, keys: keys).compactMap(\.key["id"])).count == 1500)
            #expect(try T.fetchAll(db, keys: keys).count == 1500)
            var count = 0
            let cursor = try T.fetchCursor(db, keys: keys)
            while try cursor.next() != nil { count += 1 }
            #expect(count == 1500)
            #expect(try T.fetchAll(db, keys: [Int]()).isEmpty)
            #expect(try T.deleteAll(db, keys: keys) == 1500)
            #expect(try T.fetchCount(db) == 500)
        }
    }
}
