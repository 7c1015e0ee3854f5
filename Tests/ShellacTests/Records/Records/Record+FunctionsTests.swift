import TestSupport
import Testing

@testable import Shellac

/// Records that are saved in a function that SQLite calls, whose statement then fails. If SQLite
/// keeps a journal of the statement, it undoes the function's changes, and does not report this.
@Suite("Records saved in SQL functions")
struct RecordFunctionsTests {
    /// The places in which the statement runs.
    enum Place: String, CaseIterable, Sendable {
        case autocommit, transaction, savepoint

        func run(_ db: Database, _ body: () throws -> Void) throws {
            try db.execute(sql: ["", "BEGIN", "SAVEPOINT a"][Self.allCases.firstIndex(of: self) ?? 0])
            try body()
            try db.execute(sql: ["", "COMMIT", "RELEASE a"][Self.allCases.firstIndex(of: self) ?? 0])
        }
    }

    /// The callers of the function `save()`, which fail afterwards.
    enum Caller: String, CaseIterable, Sendable {
        case laterRow = "INSERT INTO t SELECT save() FROM json_each('[1, 2]')"
        case singleRow = "INSERT INTO t VALUES (save() AND NULL)"
        case singleRowUnique = "INSERT INTO t VALUES (save() + 8)"
        case orFail = "INSERT OR FAIL INTO t SELECT value + save() FROM json_each('[7, 8, 9]')"
        case orRollback = "INSERT OR ROLLBACK INTO t VALUES (save() + 8)"
        case trigger = "INSERT INTO s VALUES (1)"
        case update = "UPDATE t SET a = NULL WHERE save()"
        case delete = "DELETE FROM guarded WHERE save()"
        case select = "SELECT save(), fail()"
        case selectRows = "SELECT CASE value WHEN 1 THEN save() ELSE fail() END FROM json_each('[1, 2]')"
        case aggregate = "INSERT INTO t SELECT SUM(save()) + fail() FROM json_each('[1]')"
    }

    /// The actions of the function.
    enum Action: String, CaseIterable, Sendable {
        case insert, update, updateChanges, delete, deleteAndInsert, flagFalse, flagTrue, reload
    }

    private func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue.withHeroes()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a NOT NULL UNIQUE);
                    INSERT INTO t VALUES (9);
                    CREATE TABLE s (a);
                    CREATE TRIGGER s_insert AFTER INSERT ON s BEGIN
                        INSERT INTO t VALUES (save());
                        SELECT RAISE(ABORT, 'no');
                    END;
                    CREATE TABLE parent (a PRIMARY KEY);
                    CREATE TABLE guarded (a REFERENCES parent);
                    CREATE TRIGGER guarded_delete AFTER DELETE ON guarded BEGIN SELECT RAISE(ABORT, 'no'); END;
                    INSERT INTO parent VALUES (1);
                    INSERT INTO guarded VALUES (1);
                    """)
            try db.addFunction("fail") { throw TestError(1) }
        }
        return queue
    }

    @Test(
        "A record saved in a function whose statement fails agrees with the database", .behaviour(15),
        arguments: RecordStyle.each(Caller.allCases), Action.allCases)
    func agrees(_ first: (style: RecordStyle, caller: Caller), action: Action) throws {
        try agrees(first.style.hero, caller: first.caller, action: action)
    }

    private func agrees<Hero: HeroRecord>(_: Hero.Type, caller: Caller, action: Action) throws {
        for place in Place.allCases {
            let queue = try queue()
            try queue.inDatabase { db in
                try db.execute(sql: "INSERT INTO hero VALUES (7, 'Arthur', 10)")
                let hero = action == .insert ? Hero("Barbara") : try Hero.find(db, key: 7)
                try db.addFunction("save") {
                    hero.score += 1
                    switch action {
                    case .insert: try hero.insert(db)
                    case .update: try hero.update(db)
                    case .updateChanges: try hero.updateChanges(db)
                    case .delete: try hero.delete(db)
                    case .deleteAndInsert:
                        try hero.delete(db)
                        hero.id = nil
                        try hero.insert(db)
                    case .flagFalse, .flagTrue:
                        try hero.update(db)
                        hero.hasDatabaseChanges = action == .flagTrue
                    case .reload:
                        try db.execute(sql: "UPDATE hero SET score = 77")
                        try hero.reload(db)
                    }
                }
                let error = thrownError {
                    try place.run(db) {
                        #expect(throws: (any Error).self, "\(place)") { try db.execute(sql: caller.rawValue) }
                        if action != .flagTrue, action != .deleteAndInsert {
                            try #expect(hero.tellsTheTruth(on: db), "\(place), in its transaction")
                        }
                    }
                }
                #expect(error == nil || caller == .orRollback, "\(place)")
                // SQLite has ended the transaction: the ROLLBACK says that we know.
                if error != nil { try db.rollback() }
                // An id that was set to nil and given back, or a flag, is no business of the
                // database's.
                if action == .flagTrue, hero.hasDatabaseChanges { return }
                if action == .deleteAndInsert, hero.id == nil {
                    #expect(hero.hasDatabaseChanges, "\(place)")
                } else {
                    #expect(try hero.tellsTheTruth(on: db), "\(place)")
                }
            }
        }
    }

    @Test(
        "What a function saved stands where SQLite keeps it, and goes where SQLite undoes it", .behaviour(15),
        arguments: RecordStyle.allCases)
    func fates(style: RecordStyle) throws { try fates(style.hero) }

    private func fates<Hero: HeroRecord>(_: Hero.Type) throws {
        let fates: [(Caller, Place, isKept: Bool)] = [
            (.laterRow, .autocommit, false), (.laterRow, .transaction, false),
            (.singleRow, .autocommit, false), (.singleRow, .transaction, true),
            (.select, .autocommit, true), (.select, .transaction, true),
            (.orFail, .autocommit, true), (.orFail, .transaction, true),
            (.orRollback, .autocommit, false), (.trigger, .transaction, false),
        ]
        for (caller, place, isKept) in fates {
            try queue().inDatabase { db in
                let hero = Hero("Arthur")
                try db.addFunction("save") { try hero.save(db) }
                try place.run(db) {
                    #expect(throws: (any Error).self) { try db.execute(sql: caller.rawValue) }
                }
                let comment: Comment = "\(caller), \(place)"
                #expect(try db.heroes() == (isKept ? ["Arthur"] : []), comment)
                #expect(hero.id == (isKept ? 1 : nil), comment)
                #expect(hero.hasDatabaseChanges == !isKept, comment)
            }
        }
    }

    @Test(
        "A record whose table has another name when the statement around its save has failed knows nothing of its row",
        .behaviour(15), arguments: RecordStyle.allCases)
    func renamedTable(style: RecordStyle) throws { try renamedTable(style.hero) }

    private func renamedTable<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (7, 'Arthur', 10)")
            let hero = try Hero.find(db, key: 7)
            try db.addFunction("save") {
                hero.score = 11
                try hero.update(db)
                try db.execute(sql: "ALTER TABLE hero RENAME TO villain")
            }
            try db.inTransaction {
                // SQLite keeps what was done before the row that violates the constraint.
                expectError("NOT NULL constraint failed: t.a") {
                    try db.execute(sql: "INSERT OR FAIL INTO t SELECT save() UNION ALL SELECT NULL")
                }
                try #expect(db.tableExists("villain"))
                try #expect(hero.databaseChanges == Hero.allUnknown)
                return .rollback
            }
            // The transaction has undone both.
            #expect(try hero.databaseChanges == ["score": 10])
            #expect(try hero.tellsTheTruth(on: db))
        }
    }

    @Test(
        "A SELECT that fails leaves the flag as its function has set it", .behaviour(15),
        arguments: RecordStyle.each([Caller.select, .selectRows]), Place.allCases)
    func flagInSelect(_ first: (style: RecordStyle, caller: Caller), place: Place) throws {
        try flagInSelect(first.style.hero, caller: first.caller, place: place)
    }

    private func flagInSelect<Hero: HeroRecord>(_: Hero.Type, caller: Caller, place: Place) throws {
        try queue().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (7, 'Arthur', 10)")
            let hero = try Hero.find(db, key: 7)
            try db.addFunction("save") { hero.hasDatabaseChanges = true }
            try place.run(db) {
                #expect(throws: (any Error).self) { try db.execute(sql: caller.rawValue) }
            }
            #expect(try hero.databaseChanges == Hero.allUnknown)
        }
    }

    @Test(
        "A function that succeeds leaves what it saved, whatever fails later in the transaction",
        .behaviour(15), arguments: RecordStyle.allCases)
    func earlierFunction(style: RecordStyle) throws { try earlierFunction(style.hero) }

    private func earlierFunction<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue().inDatabase { db in
            let (inserted, updated) = (Hero("Arthur"), Hero("Barbara"))
            try updated.insert(db)
            try db.addFunction("save") {
                try inserted.save(db)
                updated.score = 5
                try updated.update(db)
            }
            for sql in [
                "SELECT save()", "INSERT INTO s SELECT 1 WHERE 0 AND save()", "UPDATE s SET a = save()",
            ] {
                try db.execute(sql: "BEGIN")
                try db.execute(sql: "SELECT save()")
                try db.execute(sql: sql)
                // Others write these rows, and the records do not know.
                try db.execute(sql: "UPDATE hero SET score = 99")
                expectError("UNIQUE constraint failed: t.a") {
                    try db.execute(sql: "INSERT INTO t VALUES (9)")
                }
                #expect(inserted.id == 2, "\(sql)")
                #expect(!inserted.hasDatabaseChanges && !updated.hasDatabaseChanges, "\(sql)")
                try db.execute(sql: "ROLLBACK")
                #expect(try inserted.id == nil && inserted.tellsTheTruth(on: db))
                #expect(try updated.remembered == ["name": "Barbara", "score": 0])
                updated.score = 0
            }
        }
    }

    @Test(
        "Functions called by functions: the record follows the statement that was undone", .behaviour(15),
        arguments: [true, false], RecordStyle.allCases)
    func nested(innerFails: Bool, style: RecordStyle) throws {
        try nested(style.hero, innerFails: innerFails)
    }

    private func nested<Hero: HeroRecord>(_: Hero.Type, innerFails: Bool) throws {
        try queue().inDatabase { db in
            let (outer, inner) = (Hero("outer"), Hero("inner"))
            try db.addFunction("save_inner") { try inner.save(db) }
            try db.addFunction("save") {
                try outer.save(db)
                try? db.execute(
                    sql: innerFails
                        ? "INSERT INTO t SELECT save_inner() FROM json_each('[1, 2]')"
                        : "INSERT INTO t SELECT save_inner() + 100")
            }
            try db.execute(sql: "BEGIN")
            try db.execute(
                sql: "INSERT INTO s SELECT 1 WHERE 0; CREATE TABLE u (a); INSERT INTO u SELECT save()")
            #expect(outer.id == 1 && !outer.hasDatabaseChanges)
            #expect(inner.id == (innerFails ? nil : 2))
            #expect(try outer.tellsTheTruth(on: db) && inner.tellsTheTruth(on: db))
            outer.score = 1
            inner.score = 1
            #expect(throws: TestError(1)) {
                try db.execute(
                    sql: "INSERT INTO u SELECT CASE value WHEN 1 THEN save() ELSE fail() END "
                        + "FROM json_each('[1, 2]')")
            }
            #expect(try outer.tellsTheTruth(on: db) && inner.tellsTheTruth(on: db))
            #expect(try outer.databaseChanges == ["score": 0])
            try db.execute(sql: "ROLLBACK")
            #expect([outer.id, inner.id] == [nil, nil])
        }
    }

    @Test(
        "A record fetched with columns that its table lacks stays saved, where SQLite keeps it",
        .behaviour(15), arguments: RecordStyle.allCases)
    func extraColumns(style: RecordStyle) throws { try extraColumns(style.hero) }

    private func extraColumns<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue().inDatabase { db in
            try Hero("Arthur").insert(db)
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT *, 1 AS more FROM hero"))
            try db.addFunction("save") {
                hero.score = 5
                try hero.updateChanges(db)
            }
            try db.execute(sql: "BEGIN")
            expectError("NOT NULL constraint failed: t.a") { try db.execute(sql: Caller.singleRow.rawValue) }
            #expect(try db.score("Arthur") == 5)
            #expect(!hero.hasDatabaseChanges)
            try db.execute(sql: "ROLLBACK")
            #expect(try hero.databaseChanges == ["score": 0])
        }
    }

    @Test("A record without a table whose flag is set in a function that fails harms nobody", .behaviour(15))
    func withoutTable() throws {
        final class Loose: Record {
            override func encode(to container: inout PersistenceContainer) throws { container["a"] = 1 }
        }
        try queue().inDatabase { db in
            let record = Loose()
            for flag in [false, true] {
                try db.addFunction("save") { record.hasDatabaseChanges = flag }
                expectError("NOT NULL constraint failed: t.a") {
                    try db.execute(sql: Caller.singleRow.rawValue)
                }
            }
            #expect(record.hasDatabaseChanges)
        }
    }

    @Test(
        "A SELECT that is interrupted keeps what its function saved and committed", .behaviour(15),
        arguments: RecordStyle.allCases)
    func interruptedSelect(style: RecordStyle) throws { try interruptedSelect(style.hero) }

    private func interruptedSelect<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try queue()
        try queue.inDatabase { db in
            let hero = Hero("Arthur")
            try db.addFunction("save") {
                try hero.save(db)
                db.interrupt()
            }
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "SELECT save() FROM json_each('[1, 2, 3]')")
            }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            #expect(try hero.id == 1 && hero.tellsTheTruth(on: db))
        }
    }
}
