import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Saving records")
struct RecordPersistenceTests {
    private let spy = SQLSpy()

    private func queue() throws -> DatabaseQueue {
        let dbQueue = try DatabaseQueue(configuration: spy.configuration())
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER,
                        team INTEGER REFERENCES team(id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TABLE other (id INTEGER PRIMARY KEY);
                    """)
        }
        spy.removeAll()
        return dbQueue
    }

    /// The statements that were executed, without those that read the schema.
    private var executed: [String] {
        spy.sql.filter { !$0.hasPrefix("PRAGMA") && !$0.contains("sqlite_") }
    }

    private static let insertSQL =
        #"INSERT INTO "player" ("id", "name", "score", "team") VALUES (?, ?, ?, ?)"#

    // MARK: - 18

    @Test(
        "an insertion under IGNORE that ignored the row: no didInsert, dirty, a nil id, and no error",
        .behaviour(18), arguments: RecordStyle.allCases)
    func ignoredInsertion(style: RecordStyle) throws {
        try ignoredInsertion(style.player, style.notingPlayer)
    }

    private func ignoredInsertion<Player: PlayerRecord, Noting: NotingPlayer & PlayerRecord>(
        _: Player.Type, _: Noting.Type
    ) throws {
        try queue().write { db in
            try Player(name: "Arthur", id: 7).insert(db)
            // Then the last row id is another table's.
            try db.execute(sql: "INSERT INTO other VALUES (99)")
            let ignored = Noting()
            ignored.name = "Arthur"
            spy.removeAll()
            try ignored.insert(db, onConflict: .ignore)
            #expect(executed == [Self.insertSQL.replacing("INSERT INTO", with: "INSERT OR IGNORE INTO")])
            #expect(ignored.inserted == [])
            #expect(ignored.id == nil)
            #expect(ignored.hasDatabaseChanges)
            #expect(try ignored.databaseChanges == ["id": nil, "name": nil, "score": nil, "team": nil])
            #expect(throws: RecordError.recordNotFound(databaseTableName: "player", key: ["id": .null])) {
                try ignored.insertAndFetch(db, onConflict: .ignore)
            }
            #expect(ignored.id == nil)
            let fresh = Noting()
            fresh.name = "Barbara"
            try fresh.insert(db, onConflict: .ignore)
            #expect(fresh.inserted.map(\.rowID) == [8])
            #expect(fresh.inserted.map(\.rowIDColumn) == ["id"])
            #expect(fresh.id == 8)
            #expect(!fresh.hasDatabaseChanges)
        }
    }

    @Test(
        "a row is ignored as well by the table's own clause, and by a trigger", .behaviour(18),
        arguments: RecordStyle.allCases)
    func rowsIgnoredByTheTable(style: RecordStyle) throws { try rowsIgnoredByTheTable(style.player) }

    private func rowsIgnoredByTheTable<Player: PlayerRecord>(_: Player.Type) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE, score INTEGER, team INTEGER);
                    CREATE TRIGGER t BEFORE INSERT ON player WHEN NEW.score < 0 BEGIN SELECT RAISE(IGNORE); END;
                    """)
            try Player(name: "Arthur").insert(db)
            let (twin, negative) = (Player(name: "Arthur"), Player(name: "Barbara"))
            negative.score = -1
            for ignored in [twin, negative] {
                try ignored.insert(db)
                #expect(ignored.id == nil)
                #expect(ignored.hasDatabaseChanges)
            }
            #expect(try Player.fetchCount(db) == 1)
        }
    }

    // MARK: - 19

    @Test(
        "the row id is filled in by updateFromRow, with a row of all that was encoded, and only where it was nil",
        .behaviour(19)
    )
    func backFill() throws {
        final class Seeing: PairMember {
            var rows: [[String: DatabaseValue]] = []
            override func updateFromRow(_ row: Row) throws {
                rows.append(row.dictionary)
                try super.updateFromRow(row)
            }
        }
        try queue().write { db in
            let player = Seeing()
            (player.name, player.score) = ("Arthur", 5)
            try player.insert(db)
            #expect(player.rows == [["id": 1, "name": "Arthur", "score": 5, "team": .null]])
            #expect(player.id == 1)
            #expect(!player.hasDatabaseChanges)
            let given = Seeing()
            (given.name, given.id) = ("Barbara", 20)
            try given.insert(db)
            #expect(given.rows == [])
            #expect(given.id == 20)
            // The second time, when it is known that the class takes its id here.
            let third = Seeing()
            third.name = "Craig"
            try third.insert(db)
            #expect(third.rows.count == 1)
            #expect(third.id == 21)
        }
    }

    @Test("where updateFromRow throws, the insertion stands, and the error names the class", .behaviour(19))
    func backFillThatThrows() throws {
        final class Throwing: PairMember {
            struct Refusal: Error {}
            override func updateFromRow(_ row: Row) throws { throw Refusal() }
        }
        try queue().write { db in
            let player = Throwing()
            player.name = "Arthur"
            let error = try #require(thrownError { try player.insert(db) })
            guard case RecordError.rowNotTaken("Throwing", let reason) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("Refusal"))
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 1)
        }
    }

    @Test("a class that takes its row id nowhere is told so, once, in the log", .behaviour(19))
    func noBackFill() throws {
        for style in RecordStyle.allCases {
            if let forgetful = style.forgetfulOther { try noBackFill(forgetful) }
        }
    }

    private func noBackFill(_ forgetful: TabledOther.Type) throws {
        let recorder = Recorder<String>()
        Database.logError = { code, message in
            if code == .SQLITE_WARNING, message.contains("\(forgetful)") { recorder.record(message) }
        }
        defer { Database.logError = nil }
        try queue().write { db in
            for _ in 0..<3 { try forgetful.init().insert(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other") == 3)
        }
        #expect(recorder.elements.count == 1)
        #expect(recorder.elements.first?.contains("did not take its row id (id)") == true)
    }

    // MARK: - 20

    @Test(
        "no method passes by an override that validates, but upsert", .behaviour(20),
        arguments: RecordStyle.allCases)
    func validation(style: RecordStyle) throws { try validation(style.player, style.validPlayer) }

    private func validation<Player: PlayerRecord, Valid: ValidPlayer & PlayerRecord>(
        _: Player.Type, _: Valid.Type
    ) throws {
        func generically<R: MutablePersistableRecord>(_ record: R, _ db: Database) throws {
            var record = record
            try record.insert(db)
        }
        func generically<R: PersistableRecord>(constant record: R, _ db: Database) throws {
            try record.save(db)
        }
        try queue().write { db in
            let invalid = Valid()
            let insertions: [(Database) throws -> Void] = [
                { try invalid.insert($0) }, { try invalid.insert($0, onConflict: .replace) },
                { try invalid.insert($0, refreshing: true) }, { try invalid.save($0) },
                { try invalid.save($0, onConflict: .ignore) }, { _ = try invalid.insertAndFetch($0) },
                { _ = try invalid.insertAndFetch($0, as: Player.self) }, { _ = try invalid.saveAndFetch($0) },
                { _ = try invalid.inserted($0) }, { try generically(invalid, $0) },
                { try generically(constant: invalid, $0) }, { try (invalid as Record).insert($0) },
            ]
            for (index, insertion) in insertions.enumerated() {
                #expect(throws: ValidPlayer.Invalid.self, "insertion \(index)") { try insertion(db) }
                #expect(invalid.validations == index + 1)
            }
            #expect(try Player.fetchCount(db) == 0)
            invalid.name = "Arthur"
            try invalid.save(db)
            #expect(invalid.id == 1)
            invalid.name = ""
            let updates: [(Database) throws -> Void] = [
                { try invalid.update($0) }, { try invalid.update($0, onConflict: .replace) },
                { try invalid.update($0, columns: ["score"]) }, { try invalid.updateChanges($0) },
                { _ = try invalid.updateChanges($0) { $0.score += 1 } }, { try invalid.save($0) },
                { _ = try invalid.updateAndFetch($0) }, { _ = try invalid.saveAndFetch($0) },
                { try generically(constant: invalid, $0) },
            ]
            for (index, update) in updates.enumerated() {
                #expect(throws: ValidPlayer.Invalid.self, "update \(index)") { try update(db) }
            }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player") == ["Arthur"])
            try invalid.upsert(db)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player") == [""])
            invalid.name = "undeletable"
            #expect(throws: ValidPlayer.Invalid.self) { try invalid.delete(db) }
        }
    }

    @Test(
        "an override may save other records on the way, and what was asked of it stays its own",
        .behaviour(20), arguments: RecordStyle.allCases)
    func nestedSaves(style: RecordStyle) throws { try nestedSaves(style.player, style.chainedPlayer) }

    private func nestedSaves<Player: PlayerRecord, Chained: ChainedPlayer & PlayerRecord>(
        _: Player.Type, _: Chained.Type
    ) throws {
        try queue().write { db in
            try Player(name: "Arthur").insert(db)
            let chained = Chained()
            (chained.name, chained.friend) = ("Barbara", Player(name: "Arthur"))
            // The friend is inserted without IGNORE.
            let error = try #require(thrownError { try chained.insert(db, onConflict: .ignore) })
            #expect((error as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            chained.friend = Player(name: "Craig")
            let fetched = try chained.insertAndFetch(db)
            #expect(fetched.name == "Barbara")
            #expect(chained.friend?.id == 2)
            #expect(fetched.id == 3)
        }
    }

    @Test(
        "save updates where there is a row, inserts where there is none, and lets another record's absence through",
        .behaviour(20), arguments: RecordStyle.allCases)
    func saving(style: RecordStyle) throws { try saving(style.player, style.dependentPlayer) }

    private func saving<Player: PlayerRecord, Dependent: DependentPlayer & PlayerRecord>(
        _: Player.Type, _: Dependent.Type
    ) throws {
        try queue().write { db in
            let player = Player(name: "Arthur", id: 5)
            spy.removeAll()
            try player.save(db)
            #expect(
                executed == [
                    #"UPDATE "player" SET "name" = ?, "score" = ?, "team" = ? WHERE "id" = ?"#,
                    #"SELECT 1 FROM "player" WHERE "id" = ?"#, Self.insertSQL,
                ])
            spy.removeAll()
            try player.save(db)
            #expect(executed.count == 1)
            let nilKey = Player(name: "Barbara")
            spy.removeAll()
            try nilKey.save(db)
            #expect(executed == [Self.insertSQL])
            let dependent = Dependent()
            (dependent.id, dependent.name) = (5, "Arthur")
            dependent.friend = Player(name: "nobody", id: 4000)
            #expect(throws: RecordError.recordNotFound(databaseTableName: "player", key: ["id": 4000])) {
                try dependent.save(db)
            }
        }
    }

    // MARK: - 21 to 25

    @Test(
        "delete returns whether a row went, and the record is dirty afterwards, always", .behaviour(21),
        arguments: RecordStyle.allCases)
    func deletion(style: RecordStyle) throws {
        try deletion(style.player)
        try deletion(style.validPlayer)
    }

    private func deletion<Player: PlayerRecord>(_: Player.Type) throws {
        try queue().write { db in
            let saved = try Player(row: ["name": "Arthur"])
            let absent = try Player(row: ["id": 90, "name": "Barbara"])
            let keyless = try Player(row: ["name": "Barbara"])
            try saved.insert(db)
            #expect(!saved.hasDatabaseChanges)
            for isThere in [true, false] {
                #expect(try saved.delete(db) == isThere)
                #expect(saved.hasDatabaseChanges)
                #expect(
                    try saved.databaseChanges.values.allSatisfy { $0 == nil }, "nothing is known of it")
                saved.hasDatabaseChanges = false
            }
            for record in [absent, keyless] {
                record.hasDatabaseChanges = false
                #expect(try !record.delete(db))
                #expect(record.hasDatabaseChanges)
            }
            let gone = try Player(row: ["name": "Craig"])
            try gone.insert(db)
            try db.execute(sql: "DELETE FROM player")
            #expect(try !gone.delete(db), "somebody else has deleted it")
            #expect(gone.hasDatabaseChanges)
        }
    }

    @Test(
        "update and reload of a row that is not there throw recordNotFound, with table and key",
        .behaviour(22), arguments: RecordStyle.allCases)
    func missingRow(style: RecordStyle) throws { try missingRow(style.player) }

    private func missingRow<Player: PlayerRecord>(_: Player.Type) throws {
        try queue().write { db in
            let player = Player(name: "a")
            try player.insert(db)
            let id = try #require(player.id)
            try db.execute(sql: "DELETE FROM player")
            player.name = "b"
            let missing = RecordError.recordNotFound(
                databaseTableName: "player", key: ["id": id.databaseValue])
            #expect(throws: missing) { try player.update(db) }
            #expect(throws: missing) { try player.update(db, columns: ["name"]) }
            #expect(throws: missing) { try player.reload(db) }
            #expect((player.id, player.name) == (id, "b"))
        }
    }

    @Test(
        "update looks the row up by the record's current primary key", .behaviour(22),
        arguments: RecordStyle.allCases)
    func currentKey(style: RecordStyle) throws { try currentKey(style.player) }

    private func currentKey<Player: PlayerRecord>(_: Player.Type) throws {
        try queue().write { db in
            let (a, b) = (Player(name: "a"), Player(name: "b"))
            try a.insert(db)
            try b.insert(db)
            a.id = b.id
            a.name = "c"
            try a.update(db)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id") == ["a", "c"])
            #expect(!a.hasDatabaseChanges)
        }
    }

    @Test(
        "a table of key columns alone runs its UPDATE, which triggers hear of, and finds a missing row out",
        .behaviour(23), arguments: RecordStyle.allCases)
    func keyColumnsAlone(style: RecordStyle) throws { try keyColumnsAlone(style.other) }

    private func keyColumnsAlone<Other: OtherRecord>(_: Other.Type) throws {
        try queue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE heard (id); INSERT INTO other VALUES (1);
                    CREATE TRIGGER t AFTER UPDATE ON other BEGIN INSERT INTO heard VALUES (NEW.id); END;
                    """)
            let other = Other()
            spy.removeAll()
            try other.update(db)
            #expect(executed.first == #"UPDATE "other" SET "id" = ? WHERE "id" = ?"#)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM heard") == [1])
            other.id = 2
            #expect(throws: RecordError.recordNotFound(databaseTableName: "other", key: ["id": 2])) {
                try other.update(db)
            }
        }
    }

    @Test(
        "a class without a table is fetched by SQL, copied and asked for changes", .behaviour(24),
        arguments: RecordStyle.allCases)
    func withoutTable(style: RecordStyle) throws { try withoutTable(style.sum) }

    private func withoutTable<Sum: SumRecord>(_: Sum.Type) throws {
        try queue().write { db in
            let sum = try #require(try Sum.fetchOne(db, sql: "SELECT 3 AS total"))
            #expect(sum.total == 3)
            #expect(!sum.hasDatabaseChanges)
            #expect(Sum().hasDatabaseChanges)
            #expect(try sum.databaseChanges == [:])
        }
    }

    @Test(
        "an encoding without columns stops the program that saves it, and so does one without a key",
        .behaviour(24),
        arguments: RecordStyle.allCases, ["no columns", "no key"])
    func misuse(style: RecordStyle, _ what: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [style = style as RecordStyle, what = what as String] in
            crashWithoutBacktrace()
            try DatabaseQueue().write { db in
                try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT)")
                switch what {
                case "no columns": try style.columnless.init().insert(db)
                default: try style.keyless.init().update(db)
                }
            }
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let sentences = [
            "no columns":
                "a record of the table other encodes no columns, so it cannot be saved. List its columns in columns(_:), or implement encode(to:)",
            "no key": "a record of the table other does not encode its primary key (id)",
        ]
        #expect(said.contains(try #require(sentences[what])))
    }

    // MARK: - 28

    private struct PlainPlayer: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
        static let databaseTableName = "player"
        var id: Int64
        var name: String
    }

    @Test("each way to update a struct throws recordNotFound where its row is not there")
    func missingRowOfStruct() throws {
        let attempts: [(inout PlainPlayer, Database) throws -> Void] = [
            { try $0.update($1) }, { try $0.update($1, onConflict: .replace) },
            { try $0.update($1, columns: ["name"]) }, { try $0.update($1, columns: [Column("name")]) },
            { try $0.update($1, onConflict: .ignore, columns: ["name"]) },
            { try $0.updateChanges($1) { $0.name += "b" } },
            { try $0.updateChanges($1, from: PlainPlayer(id: 7, name: "other")) },
            { _ = try $0.updateAndFetch($1) }, { _ = try $0.updateAndFetch($1, as: PlainPlayer.self) },
            { _ = try $0.updateChangesAndFetch($1) { $0.name += "b" } },
            { _ = try $0.updateChangesAndFetch($1, as: PlainPlayer.self) { $0.name += "b" } },
        ]
        let missing = RecordError.recordNotFound(databaseTableName: "player", key: ["id": 7])
        try queue().write { db in
            for (number, attempt) in attempts.enumerated() {
                var player = PlainPlayer(id: 7, name: "a")
                #expect(throws: missing, "\(number)") { try attempt(&player, db) }
            }
            try #expect(PlainPlayer.fetchCount(db) == 0)
        }
    }

    @Test("a struct updates the columns in which it differs from another one")
    func changesFromOther() throws {
        try queue().write { db in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (7, 'a'), (8, 'c')")
            let old = PlainPlayer(id: 7, name: "a")
            let new = PlainPlayer(id: 7, name: "b")
            spy.removeAll()
            try #expect(!old.updateChanges(db, from: old))
            #expect(executed == [])
            try #expect(new.updateChanges(db, from: old))
            #expect(executed == [#"UPDATE "player" SET "name" = ? WHERE "id" = ?"#])
            try #expect(PlainPlayer.fetchOne(db, key: 7) == new)
            let taken = PlainPlayer(id: 7, name: "c")
            let error = databaseError { try taken.updateChanges(db, from: new) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            try #expect(PlainPlayer.fetchOne(db, key: 7) == new)
        }
    }

    @Test("what saves and fetches throws recordNotFound where a conflict was resolved by ignoring the record")
    func ignoredFetches() throws {
        struct Known: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "player"
            var id: Int64
            var name: String
        }
        typealias Plain = PlainPlayer
        let attempts: [(Int64, (inout Plain, Database) throws -> Void)] = [
            (2, { _ = try $0.updateAndFetch($1, onConflict: .ignore) }),
            (2, { _ = try $0.updateAndFetch($1, onConflict: .ignore, as: Plain.self) }),
            (2, { _ = try $0.saveAndFetch($1, onConflict: .ignore) }),
            (2, { _ = try $0.saveAndFetch($1, onConflict: .ignore, as: Plain.self) }),
            (
                2,
                { player, db in
                    player.name = "Barbara"
                    _ = try player.updateChangesAndFetch(db, onConflict: .ignore) { $0.name = "Arthur" }
                }
            ),
            (3, { _ = try $0.insertAndFetch($1, onConflict: .ignore) }),
            (3, { _ = try $0.insertAndFetch($1, onConflict: .ignore, as: Plain.self) }),
            (3, { _ = try $0.saveAndFetch($1, onConflict: .ignore) }),
            (3, { _ = try $0.saveAndFetch($1, onConflict: .ignore, as: Plain.self) }),
            (3, { _ = try Known(id: $0.id, name: $0.name).insertAndFetch($1, onConflict: .ignore) }),
            (
                3,
                { player, db in
                    let known = Known(id: player.id, name: player.name)
                    _ = try known.insertAndFetch(db, onConflict: .ignore, as: Plain.self)
                }
            ),
            (
                3,
                { player, db in
                    let known = Known(id: player.id, name: player.name)
                    _ = try known.saveAndFetch(db, onConflict: .ignore, as: Plain.self)
                }
            ),
        ]
        try queue().write { db in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (1, 'Arthur'), (2, 'Barbara')")
            for (number, (id, attempt)) in attempts.enumerated() {
                var player = Plain(id: id, name: "Arthur")
                let ignored = RecordError.recordNotFound(
                    databaseTableName: "player", key: ["id": id.databaseValue])
                #expect(throws: ignored, "\(number)") { try attempt(&player, db) }
            }
            try #expect(
                Plain.fetchAll(db) == [Plain(id: 1, name: "Arthur"), Plain(id: 2, name: "Barbara")])
        }
    }

    @Test(
        "an update on a view is judged by what its triggers can tell, and finds each row that is there",
        .behaviour(28),
        arguments: [
            "UPDATE player SET name = NEW.name WHERE id = OLD.id", "SELECT 1", "SELECT RAISE(IGNORE)",
        ],
        RecordStyle.each([false, true]))
    func views(body: String, second: (style: RecordStyle, overrides: Bool)) throws {
        try views(second.style.viewedPlayer(overrides: second.overrides), body: body)
    }

    private func views<Viewed: ViewedPlayer & PlayerRecord>(_: Viewed.Type, body: String) throws {
        try queue().write { db in
            try db.execute(
                sql: """
                    CREATE VIEW playerView AS SELECT * FROM player WHERE id < 50;
                    CREATE TRIGGER t INSTEAD OF UPDATE ON playerView BEGIN \(body); END;
                    INSERT INTO player (id, name, score) VALUES (1, 'Arthur', 0), (50, 'Barbara', 0)
                    """)
            let player = try #require(try Viewed.fetchOne(db, key: 1))
            let saves: [(Viewed) throws -> Void] = [
                { try $0.update(db) }, { try $0.update(db, columns: ["name"]) }, { try $0.save(db) },
                { _ = try $0.updateChanges(db) },
            ]
            let writes = body.hasPrefix("UPDATE")
            for (number, save) in saves.enumerated() {
                player.name = "Arthur \(number)"
                try save(player)
                let held = try String.fetchOne(db, sql: "SELECT name FROM player WHERE id = 1")
                #expect(held == (writes ? player.name : "Arthur"))
                #expect(!player.hasDatabaseChanges, "the trigger took it, as far as anybody can tell")
            }
            let absent = try Viewed(row: ["id": 50])
            for (number, save) in saves.enumerated() where number != 2 {
                let error = RecordError.recordNotFound(databaseTableName: "playerView", key: ["id": 50])
                #expect(throws: error) { try save(absent) }
            }
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player WHERE id = 50") == "Barbara")
        }
    }

    // MARK: - 40

    @Test(
        "init(row:) calls updateFromRow once, and a class that overrides the pair has all the rest",
        .behaviour(40))
    func inheritance() throws {
        final class Plain: PairMember {
            var readings = 0
            override func updateFromRow(_ row: Row) throws {
                readings += 1
                try super.updateFromRow(row)
            }
        }
        try queue().write { db in
            let made = Plain()
            #expect(made.readings == 0)
            let read = try Plain(row: ["id": 5, "name": "Arthur", "score": 1, "team": nil])
            #expect(read.readings == 1)
            #expect((read.id, read.name, read.score) == (5, "Arthur", 1))
            made.name = "Barbara"
            try made.insert(db)
            #expect(made.id == 1)
            for fetched in [
                try Plain.fetchOne(db, key: 1), try Plain.fetchOne(db),
                try Plain.fetchOne(db, sql: "SELECT * FROM player"), try Plain.fetchCursor(db).next(),
                try Row.fetchOne(db, sql: "SELECT * FROM player").map { try Plain(row: $0) },
            ] {
                let fetched = try #require(fetched)
                #expect(fetched.readings == 1)
                #expect(fetched.name == "Barbara")
                #expect(!fetched.hasDatabaseChanges)
            }
            try db.execute(sql: "UPDATE player SET name = 'Craig'")
            let readings = made.readings
            try made.reload(db)
            #expect(made.readings == readings + 1)
            #expect(made.name == "Craig")
            #expect(!made.hasDatabaseChanges)
        }
    }

    @Test(
        "reload on a class that does not override updateFromRow throws an error that says so", .behaviour(40))
    func reloadWithoutReading() throws {
        final class Deaf: Record {
            var id: Int64?
            var name: String
            override class var databaseTableName: String { "player" }
            init(name: String) {
                self.name = name
                super.init()
            }
            required init(row: Row) throws {
                id = try row["id"]
                name = try row["name"]
                try super.init(row: row)
            }
            override func encode(to container: inout PersistenceContainer) throws {
                container["id"] = id
                container["name"] = name
            }
        }
        try queue().write { db in
            try PairMember(name: "Arthur").insert(db)
            let deaf = try #require(try Deaf.fetchOne(db, key: 1))
            try db.execute(sql: "UPDATE player SET name = 'Barbara'")
            let error = try #require(thrownError { try deaf.reload(db) })
            guard case RecordError.rowNotTaken("Deaf", let reason) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("read them in updateFromRow(_:)"))
            #expect(deaf.name == "Arthur")
            deaf.name = "Craig"
            #expect(try deaf.databaseChanges == ["name": "Arthur"], "it remembers what it read")
            // An insertion stays all the same.
            let refreshing = try #require(
                thrownError { try Deaf(name: "David").insert(db, refreshing: true) })
            guard case RecordError.rowNotTaken("Deaf", reason) = refreshing else {
                Issue.record("\(refreshing)")
                return
            }
            try #expect(
                String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id") == ["Barbara", "David"])
        }
    }

    // MARK: - 29

    private struct Persisted: FetchableRecord, TableRecord {
        static let databaseTableName = "player"
        static var databaseSelection: [any SQLSelectable] { [Column("name"), Column("id")] }
        let id: Int64
        let name: String
        init(row: Row) throws {
            (id, name) = (try row["id"], try row["name"])
            #expect(row.columnNames.prefix(2) == ["name", "id"])
        }
    }

    @Test(
        "…AndFetch uses RETURNING, as another type, too, and takes what the database made of the row",
        .behaviour(29), arguments: RecordStyle.allCases)
    func andFetch(style: RecordStyle) throws { try andFetch(style.player) }

    private func andFetch<Player: PlayerRecord>(_: Player.Type) throws {
        try queue().write { db in
            let player = Player(name: "Arthur")
            spy.removeAll()
            let persisted = try player.insertAndFetch(db, as: Persisted.self)
            #expect(executed == [Self.insertSQL + #" RETURNING "name", "id""#])
            #expect(persisted.id == 1)
            #expect(player.id == 1)
            #expect(!player.hasDatabaseChanges)
            player.name = "Barbara"
            #expect(try player.updateAndFetch(db, as: Persisted.self).name == "Barbara")
            #expect(try player.saveAndFetch(db, as: Persisted.self).name == "Barbara")
            player.name = "Craig"
            #expect(try player.upsertAndFetch(db, as: Persisted.self).name == "Craig")
            let record: Record = player
            #expect(try record.saveAndFetch(db) is Player)
        }
    }

    @Test(
        "a commit that fails at the end of INSERT … RETURNING is thrown, and the record is as it was",
        .behaviour(29), arguments: RecordStyle.allCases)
    func failedLoneCommit(style: RecordStyle) throws { try failedLoneCommit(style.player) }

    private func failedLoneCommit<Player: PlayerRecord>(_: Player.Type) throws {
        try queue().writeWithoutTransaction { db in
            let player = Player(name: "Arthur")
            player.team = 99
            let error = try #require(thrownError { _ = try player.insertAndFetch(db) })
            #expect((error as? DatabaseError)?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(player.id == nil)
            #expect(player.hasDatabaseChanges)
            #expect(try Player.fetchCount(db) == 0)
            player.team = nil
            #expect(try player.insertAndFetch(db).id == 1)
        }
    }

    @Test(
        "insert(_:refreshing:) brings default values and generated columns into the same instance",
        .behaviour(29), arguments: RecordStyle.allCases)
    func refreshing(style: RecordStyle) throws { try refreshing(style.item) }

    private func refreshing<Item: ItemRecord>(_: Item.Type) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY, price REAL, currency TEXT DEFAULT 'EUR',
                        total REAL GENERATED ALWAYS AS (price * 1.5))
                    """)
            let item = Item()
            item.price = 2
            try item.insert(db, refreshing: true)
            #expect(item.id == 1)
            #expect(item.currency == "EUR")
            #expect(item.total == 3)
            #expect(!item.hasDatabaseChanges)
            item.price = 4
            try item.update(db)
            try item.reload(db)
            #expect(item.total == 6)
        }
    }

    // MARK: - 30

    @Test(
        "subclasses of any depth, ad hoc ones with other columns too, fetch as themselves", .behaviour(30),
        arguments: RecordStyle.allCases)
    func subclasses(style: RecordStyle) throws {
        try subclasses(style.player, style.validPlayer, style.rankedPlayer)
    }

    private func subclasses<Player: PlayerRecord, Valid: ValidPlayer & PlayerRecord, Ranked: RankedPlayer>(
        _: Player.Type, _: Valid.Type, _: Ranked.Type
    ) throws {
        try queue().write { db in
            for name in ["Arthur", "Barbara"] { try Player(name: name).insert(db) }
            #expect(try Valid.fetchAll(db).map(\.name) == ["Arthur", "Barbara"])
            let ranked = try Ranked.fetchAll(
                db, sql: "SELECT *, ROW_NUMBER() OVER (ORDER BY name DESC) AS rank FROM player ORDER BY rank")
            #expect(ranked.map(\.name) == ["Barbara", "Arthur"])
            #expect(ranked.map(\.rank) == [1, 2])
            #expect(ranked.allSatisfy { !$0.hasDatabaseChanges })
            let one: Ranked? = try Ranked.fetchOne(db, sql: "SELECT *, 7 AS rank FROM player")
            #expect(one?.rank == 7)
            let cursor = try Ranked.fetchCursor(db, sql: "SELECT *, 7 AS rank FROM player")
            #expect(try cursor.next()?.rank == 7)
            let found: Valid = try Valid.find(db, key: 1)
            #expect(found.name == "Arthur")
            let type: any PlayerRecord.Type = Valid.self
            #expect(try type.init(row: ["name": "x"]) is Valid)
        }
    }
}
