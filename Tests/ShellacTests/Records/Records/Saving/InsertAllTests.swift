import Shellac
import TestSupport
import Testing

@Suite("Inserting many records")
struct InsertAllTests {
    private let spy = SQLSpy()

    // MARK: - One statement

    @Test("is one statement, and fills the row ids of structs in")
    func structs() throws {
        try Crew.database(spy).inDatabase { db in
            var sailors = Crew.sailors(1...3)
            try Crew.Sailor.insertAll(db, &sailors)  // finds out that the struct has no callback
            spy.removeAll()
            var others = Crew.sailors(4...6)
            try Crew.Sailor.insertAll(db, &others)
            #expect(
                spy.sql.filter { $0.hasPrefix("INSERT") } == [
                    #"INSERT INTO "sailor" ("id", "name", "rank") VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)"#
                ])
            #expect((sailors + others).map(\.id) == [1, 2, 3, 4, 5, 6])
            #expect(try Crew.Sailor.fetchAll(db) == sailors + others)
        }
    }

    @Test(
        "is one statement for class records, which then remember their rows", arguments: RecordStyle.allCases)
    func classes(style: RecordStyle) throws { try classes(style.mate) }

    private func classes<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            let mates = Mate.crew(1...3)
            try Mate.insertAll(db, mates)
            #expect(spy.insertions == ["3"])
            #expect(mates.map(\.id) == [1, 2, 3])
            #expect(mates.allSatisfy { !$0.hasDatabaseChanges })
            #expect(mates[0].savedDatabaseChanges.keys.sorted() == ["id", "name", "rank"])
            #expect(try Crew.rows(db) == ["1 1", "2 2", "3 3"])
            mates[1].rank = 9
            #expect(try mates[1].databaseChanges == ["rank": 2])
            try mates[1].updateChanges(db)
            #expect(try Mate.find(db, key: 2).rank == 9)
        }
    }

    @Test("takes any sequence of records that know their ids")
    func known() throws {
        try Crew.database(spy).write { db in
            let names = ["a": 30, "b": -20, "c": 10].sorted { $0.key < $1.key }
            let sailors = names.lazy.map { Crew.KnownSailor(id: Int64($0.value), name: $0.key) }
            try Crew.KnownSailor.insertAll(db, sailors)
            #expect(try Crew.rows(db) == ["-20 b", "10 c", "30 a"])
            spy.removeAll()
            let more = [Crew.KnownSailor(id: 1, name: "d"), Crew.KnownSailor(id: 2, name: "e")]
            try Crew.KnownSailor.insertAll(db, more)
            #expect(spy.sql == [#"INSERT INTO "sailor" ("id", "name") VALUES (?, ?), (?, ?)"#])
        }
    }

    @Test("of none runs no SQL, and of one is its insertion", arguments: RecordStyle.allCases)
    func few(style: RecordStyle) throws { try few(style.mate) }

    private func few<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            spy.removeAll()
            var none: [Crew.Sailor] = []
            try Crew.Sailor.insertAll(db, &none)
            try Mate.insertAll(db, [])
            try Crew.KnownSailor.insertAll(db, [])
            #expect(try Crew.KnownSailor.insertAndFetchAll(db, []).isEmpty)
            #expect(spy.sql.isEmpty)
            var one = Crew.sailors(1...1)
            try Crew.Sailor.insertAll(db, &one)
            let mate = Mate("mate")
            try Mate.insertAll(db, [mate])
            #expect(one[0].id == 1 && mate.id == 2 && !mate.hasDatabaseChanges)
        }
    }

    @Test(
        "is several statements where there are many, and all records get their ids",
        arguments: RecordStyle.allCases)
    func chunks(style: RecordStyle) throws { try chunks(style.mate) }

    private func chunks<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            let mates = Mate.crew(1...150)
            try Mate.insertAll(db, mates)
            #expect(spy.insertions == ["64", "64", "22"])
            #expect(mates.map(\.id) == Array(1...150))
            spy.removeAll()
            var sailors = Crew.sailors(151...400)
            try Crew.Sailor.insertAll(db, &sailors)
            #expect(spy.insertions == ["1", "64", "64", "64", "57"])
            #expect(sailors.map(\.id) == Array(151...400))
            #expect(try Crew.Sailor.fetchAll(db).suffix(250) == sailors[...])
            #expect(try mates.allSatisfy { try Mate.find(db, key: $0.id).name == $0.name })
        }
    }

    @Test("keeps to the number of values that SQLite takes", arguments: RecordStyle.allCases)
    func variableLimit(style: RecordStyle) throws { try variableLimit(style.mate) }

    private func variableLimit<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            limitVariables(of: db, to: 10)
            let mates = Mate.crew(1...10)
            try Mate.insertAll(db, mates)
            #expect(spy.insertions == ["3", "3", "3", "1"])
            #expect(mates.map(\.id) == Array(1...10))
        }
        try Crew.database(spy).write { db in
            limitVariables(of: db, to: 2)
            let error = databaseError { try Mate.insertAll(db, Mate.crew(20...21)) }
            #expect(error?.message?.contains("variable") == true)
            #expect(error?.sql?.hasPrefix("INSERT INTO") == true)
            let count = try Mate.fetchCount(db)
            #expect(count == 0)
        }
    }

    // MARK: - Row ids

    @Test(
        "counts on from what the table holds, and knows the ids that were given",
        arguments: RecordStyle.allCases)
    func mixedIDs(style: RecordStyle) throws { try mixedIDs(style.mate) }

    private func mixedIDs<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            let mates = [
                Mate("a"), Mate("b"), Mate("c", id: 100), Mate("d", id: 7),
                Mate("e"), Mate("f"),
            ]
            try Mate.insertAll(db, mates)
            #expect(spy.insertions == ["2", "2", "2"])
            #expect(mates.map(\.id) == [1, 2, 100, 7, 101, 102])
            #expect(mates.allSatisfy { !$0.hasDatabaseChanges })
            #expect(try Crew.rows(db) == ["1 a", "2 b", "7 d", "100 c", "101 e", "102 f"])
        }
    }

    @Test("knows the ids that SQLite made of texts, which it then inserts one by one")
    func textualIDs() throws {
        struct Textual: MutablePersistableRecord {
            static let databaseTableName = "sailor"
            var key: String
            var name: String
            var id: Int64?
            func encode(to container: inout PersistenceContainer) {
                container["id"] = key
                container["name"] = name
            }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try Crew.database(spy).inDatabase { db in
            var warmUp = [Textual(key: "1", name: "a"), Textual(key: "2", name: "b")]
            try Textual.insertAll(db, &warmUp)
            spy.removeAll()
            var more = [Textual(key: "30", name: "c"), Textual(key: "4.0", name: "d")]
            try Textual.insertAll(db, &more)
            #expect((warmUp + more).map(\.id) == [1, 2, 30, 4])
            #expect(spy.insertions == ["1", "1"])
            // None of several statements is left when one fails.
            var failing = [Textual(key: "50", name: "e"), Textual(key: "x", name: "f")]
            let error = databaseError { try Textual.insertAll(db, &failing) }
            #expect(error?.message == "datatype mismatch")
            #expect(failing.map(\.id) == [nil, nil])
            let count = try Crew.PairMate.fetchCount(db)
            #expect(count == 4)
        }
    }

    @Test("inserts objects that are no class records one by one, each into the table of its class")
    func otherObjects() throws {
        class Person: PersistableRecord {
            class var databaseTableName: String { "sailor" }
            let name: String
            required init(_ name: String) { self.name = name }
            func encode(to container: inout PersistenceContainer) { container["name"] = name }
        }
        final class Pirate: Person {
            override class var databaseTableName: String { "pirate" }
        }
        try Crew.database(spy).write { db in
            try db.execute(sql: "CREATE TABLE pirate (id INTEGER PRIMARY KEY, name TEXT)")
            try Person.insertAll(db, [Person("a"), Pirate("b"), Person("c")])
            #expect(try Crew.rows(db) == ["1 a", "2 c"])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM pirate") == ["b"])
        }
    }

    @Test(
        "knows the ids that SQLite gives at random, once the largest one is taken",
        arguments: RecordStyle.allCases)
    func largestRowID(style: RecordStyle) throws { try largestRowID(style.mate) }

    private func largestRowID<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            try Mate("last", id: .max).insert(db)
            let mates = Mate.crew(1...20)
            try Mate.insertAll(db, mates)
            #expect(try mates.allSatisfy { try Mate.find(db, key: $0.id).name == $0.name })
            try db.execute(sql: "DELETE FROM sailor")
            try Mate("last but five", id: .max - 5).insert(db)
            let more = Mate.crew(1...20)
            try Mate.insertAll(db, more)
            #expect(try more.allSatisfy { try Mate.find(db, key: $0.id).name == $0.name })
        }
    }

    @Test("knows the ids where ids are never used again", arguments: RecordStyle.allCases)
    func autoincrement(style: RecordStyle) throws { try autoincrement(style.mate) }

    private func autoincrement<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(
            spy, "CREATE TABLE sailor (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, rank INTEGER)"
        ).write { db in
            try Mate.insertAll(db, Mate.crew(1...5))
            try db.execute(sql: "DELETE FROM sailor WHERE id > 2")
            let mates = Mate.crew(6...8)
            try Mate.insertAll(db, mates)
            #expect(mates.map(\.id) == [6, 7, 8])
            #expect(try Crew.rows(db) == ["1 1", "2 2", "6 6", "7 7", "8 8"])
        }
    }

    @Test(
        "knows the ids where triggers insert rows in between, which it then does one by one",
        arguments: RecordStyle.allCases)
    func triggers(style: RecordStyle) throws { try triggers(style.mate) }

    private func triggers<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER shadow AFTER INSERT ON sailor WHEN NEW.rank < 100 BEGIN
                        INSERT INTO sailor (name, rank) VALUES (NEW.name || ' shadow', 100);
                    END
                    """)
            spy.removeAll()
            let mates = Mate.crew(1...4)
            try Mate.insertAll(db, mates)
            #expect(mates.map(\.id) == [1, 3, 5, 7])
            #expect(spy.insertions.prefix(1) == ["1"])
            var sailors = Crew.sailors(5...6)
            try Crew.Sailor.insertAll(db, &sailors)
            #expect(sailors.map(\.id) == [9, 11])
            #expect(try Mate.find(db, key: 11).name == "6")
        }
    }

    @Test(
        "goes one by one where a temporary trigger is there, and many at a time once it is gone",
        arguments: RecordStyle.allCases)
    func temporaryTrigger(style: RecordStyle) throws { try temporaryTrigger(style.mate) }

    private func temporaryTrigger<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            try Mate.insertAll(db, Mate.crew(1...2))
            try db.execute(
                sql: "CREATE TEMP TRIGGER t AFTER INSERT ON main.SAILOR BEGIN SELECT 1; END")
            try Mate.insertAll(db, Mate.crew(3...4))
            try db.execute(sql: "DROP TRIGGER t")
            try Mate.insertAll(db, Mate.crew(5...6))
            #expect(spy.insertions == ["2", "1", "1", "2"])
        }
    }

    @Test("knows which rows a conflict clause of the table has left out", arguments: RecordStyle.allCases)
    func conflictClauses(style: RecordStyle) throws { try conflictClauses(style.mate) }

    private func conflictClauses<Mate: MateRecord>(_: Mate.Type) throws {
        let sql =
            "CREATE TABLE sailor (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE, rank INTEGER)"
        try Crew.database(spy, sql).write { db in
            let mates = [Mate("a"), Mate("a"), Mate("b")]
            try Mate.insertAll(db, mates)
            #expect(mates.map(\.id) == [1, nil, 2])
            #expect(mates.map(\.hasDatabaseChanges) == [false, true, false])
            var sailors = [Crew.Sailor(name: "b"), Crew.Sailor(name: "c")]
            try Crew.Sailor.insertAll(db, &sailors)
            #expect(sailors.map(\.id) == [nil, 3])
        }
    }

    @Test("resolves conflicts as it is asked, one by one", arguments: RecordStyle.allCases)
    func resolutions(style: RecordStyle) throws { try resolutions(style.mate) }

    private func resolutions<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            let mates = [Mate("a"), Mate("a"), Mate("b")]
            try Mate.insertAll(db, mates, onConflict: .ignore)
            #expect(mates.map(\.id) == [1, nil, 2])
            var sailors = [Crew.Sailor(name: "a", rank: 5), Crew.Sailor(name: "c")]
            try Crew.Sailor.insertAll(db, &sailors, onConflict: .replace)
            #expect(sailors.map(\.id) == [3, 4])
            #expect(try Crew.rows(db) == ["2 b", "3 a", "4 c"])
            var failing = [Crew.Sailor(name: "d"), Crew.Sailor(name: "c")]
            let error = databaseError { try Crew.Sailor.insertAll(db, &failing, onConflict: .fail) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(failing.map(\.id) == [nil, nil])
            #expect(try Crew.rows(db) == ["2 b", "3 a", "4 c"])
        }
    }

    @Test("goes by groups where records encode other columns")
    func columnSets() throws {
        struct Loose: MutablePersistableRecord {
            static let databaseTableName = "sailor"
            var name: String
            var rank: Int?
            var id: Int64?
            func encode(to container: inout PersistenceContainer) {
                container["name"] = name
                if let rank { container["rank"] = rank }
            }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try Crew.database(spy).inDatabase { db in
            var warmUp = [Loose(name: "x"), Loose(name: "y")]
            try Loose.insertAll(db, &warmUp)
            spy.removeAll()
            var loose = [
                Loose(name: "a"), Loose(name: "b"), Loose(name: "c", rank: 1), Loose(name: "d", rank: 2),
                Loose(name: "e"),
            ]
            try Loose.insertAll(db, &loose)
            #expect(
                spy.sql.filter { $0.hasPrefix("INSERT") } == [
                    #"INSERT INTO "sailor" ("name") VALUES (?), (?)"#,
                    #"INSERT INTO "sailor" ("name", "rank") VALUES (?, ?), (?, ?)"#,
                    #"INSERT INTO "sailor" ("name") VALUES (?)"#,
                ])
            #expect(loose.map(\.id) == [3, 4, 5, 6, 7])
            #expect(try Crew.rows(db).suffix(5) == ["3 a", "4 b", "5 c", "6 d", "7 e"])
            // Nothing is left of the first group when the last one fails.
            var failing = [Loose(name: "f"), Loose(name: "g", rank: 1), Loose(name: "a")]
            #expect(databaseError { try Loose.insertAll(db, &failing) } != nil)
            #expect(failing.map(\.id) == [nil, nil, nil])
            #expect(try Crew.PairMate.fetchCount(db) == 7)
            #expect(try db.isUsable())
        }
    }
}
