// An operator of columns is no assignment of Swift's.
// swift-format-ignore-file: NoAssignmentInExpressions

import Shellac
import TestSupport
import Testing

@Suite("Upserts that say what is done")
struct UpsertTests {
    typealias Sailor = Crew.Sailor

    private static let rank = Column("rank")

    /// An upsert of a sailor "a" of rank 5, if there is one of rank 2: its SQL behind the
    /// insertion, and the rank.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rank: Int
        let run: @Sendable (inout Sailor, Database) throws -> Void
        init(
            _ sql: String, _ rank: Int, _ run: @escaping @Sendable (inout Sailor, Database) throws -> Void
        ) {
            (testDescription, self.rank, self.run) = (sql, rank, run)
        }
    }

    static let cases: [Case] = [
        Case(
            #"ON CONFLICT ("name") DO UPDATE SET "name" = "excluded"."name", "rank" = "excluded"."rank""#, 5
        ) { try $0.upsert($1, onConflict: ["name"]) },
        Case(
            #"ON CONFLICT ("name") DO UPDATE SET "rank" = "rank" + ?, "name" = "excluded"."name""#, 12
        ) { try $0.upsert($1, onConflict: ["name"]) { _ in [rank += 10] } },
        Case(
            #"ON CONFLICT DO UPDATE SET "rank" = "rank" + "excluded"."rank", "name" = "excluded"."name""#, 7
        ) {
            try $0.upsert($1) { excluded in
                rank += excluded[rank]
            }
        },
        Case(#"ON CONFLICT ("name") DO UPDATE SET "name" = "excluded"."name""#, 2) {
            try $0.upsert($1, onConflict: ["name"]) { _ in rank.noOverwrite }
        },
        Case(#"ON CONFLICT ("name") DO UPDATE SET "rank" = ?"#, 9) {
            try $0.upsert($1, onConflict: ["name"], updating: .noColumnUnlessSpecified) { _ in
                rank.set(to: 9)
            }
        },
        Case(#"ON CONFLICT ("name") DO UPDATE SET "id" = "id""#, 2) {
            try $0.upsert($1, onConflict: ["name"], updating: .noColumnUnlessSpecified)
        },
        Case(
            #"ON CONFLICT ("name") DO UPDATE SET "rank" = MAX("rank", "excluded"."rank"), "name" = "excluded"."name""#,
            5
        ) {
            try $0.upsert($1, onConflict: ["name"]) { [rank.set(to: greatest(rank, $0[rank]))] }
        },
    ]

    @Test("are one statement, and take the id of the row", arguments: cases)
    func sql(_ test: Case) throws {
        let spy = SQLSpy()
        try Crew.database(spy).write { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2), (8, 'b', 2)")
            spy.removeAll()
            var sailor = Sailor(name: "a", rank: 5)
            try test.run(&sailor, db)
            let insertion = #"INSERT INTO "sailor" ("id", "name", "rank") VALUES (?, ?, ?) "#
            let executed = spy.sql.filter { $0.hasPrefix("INSERT") }
            #expect(
                executed.map { $0.components(upTo: " RETURNING") } == [insertion + test.testDescription])
            #expect(sailor == Sailor(id: 7, name: "a", rank: 5))
            #expect(try Int.fetchOne(db, sql: "SELECT rank FROM sailor WHERE id = 7") == test.rank)
            #expect(try Crew.rows(db) == ["7 a", "8 b"])
            // Without a conflict, it is an insertion.
            var other = Sailor(name: "c", rank: 5)
            try test.run(&other, db)
            #expect(other.id == 9)
            #expect(try Int.fetchOne(db, sql: "SELECT rank FROM sailor WHERE id = 9") == 5)
        }
    }

    @Test(
        "leave a class record with what the row has become, until they are rolled back",
        arguments: RecordStyle.allCases)
    func classes(style: RecordStyle) throws { try classes(style.mate) }

    private func classes<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database().inDatabase { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
            let mate = Mate("a", rank: 5)
            try db.inTransaction {
                try mate.upsert(db, onConflict: ["name"]) { _ in Self.rank += 1 }
                #expect(mate.id == 7 && mate.rank == 3)
                #expect(try mate.databaseChanges.isEmpty && !mate.hasDatabaseChanges)
                return .rollback
            }
            #expect(mate.id == nil && mate.rank == 5 && mate.hasDatabaseChanges)
            try mate.upsert(db, onConflict: ["name"]) { _ in Self.rank += 3 }
            #expect(mate.rank == 5)
            #expect(try mate.databaseChanges.isEmpty && !mate.hasDatabaseChanges)
            let new = Mate("b", rank: 5)
            try new.upsert(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(new.id == 8 && !new.hasDatabaseChanges)
            try mate.reload(db)
            #expect(mate.rank == 5)
            // The next save does not undo the sum, and writes what the record was given since.
            try mate.upsert(db, onConflict: ["name"]) { excluded in Self.rank += excluded[Self.rank] }
            #expect(mate.rank == 10)
            #expect(try !mate.updateChanges(db))
            mate.rank += 1
            #expect(try mate.updateChanges(db))
            #expect(try Int.fetchAll(db, sql: "SELECT rank FROM sailor ORDER BY id") == [11, 5])
            // Columns that are not overwritten stay, and so do those that no assignment names.
            let other = Mate("a", rank: 50)
            try other.upsert(db, onConflict: ["name"], updating: .noColumnUnlessSpecified)
            #expect(other.id == 7 && other.rank == 11 && !other.hasDatabaseChanges)
            let third = Mate("a", rank: 60)
            try third.upsert(db, onConflict: ["name"]) { _ in Self.rank.noOverwrite }
            #expect(third.rank == 11 && !third.hasDatabaseChanges)
            _ = try third.upsertAndFetch(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(third.rank == 12 && !third.hasDatabaseChanges)
        }
    }

    /// A class that does not read its rank, or that refuses a row.
    private final class DeafMate: Record {
        private let refuses: Bool

        init(refusing refuses: Bool) {
            self.refuses = refuses
            super.init()
        }
        required init(row: Row) throws { fatalError("not fetched") }

        override class var databaseTableName: String { "sailor" }
        override func encode(to container: inout PersistenceContainer) throws {
            container["name"] = "a"
            container["rank"] = 5
        }
        override func updateFromRow(_ row: Row) throws { if refuses { throw TestError(7) } }
    }

    @Test("name the columns in the error log that a class does not read back")
    func notTaken() async {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try Crew.database().inDatabase { db in
                try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
                for refuses in [false, true] {
                    let mate = DeafMate(refusing: refuses)
                    try mate.upsert(db, onConflict: ["name"]) { _ in Self.rank += 1 }
                }
            }
            let start = "DeafMate was upserted, but did not take the stored values of rank: "
            #expect(
                log.elements == [
                    start + "list it in columns(_:), or read it in updateFromRow(_:)",
                    start + "TestError(number: 7)",
                ])
        }
    }

    @Test(
        "of a class that has callbacks call those of an insertion, and remember the row, too",
        arguments: RecordStyle.allCases)
    func callbacks(style: RecordStyle) throws { try callbacks(style.heardMate) }

    private func callbacks<Heard: HeardMate & MateRecord>(_: Heard.Type) throws {
        try Crew.database().write { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
            let mate = Heard("a", rank: 5)
            try mate.upsert(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(mate.calls == ["willInsert", "did 7"])
            #expect(mate.rank == 3 && !mate.hasDatabaseChanges)
        }
    }

    @Test(
        "An upsert that met a row of another id leaves the record with that id, until it is rolled back",
        .behaviour(100), arguments: RecordStyle.each([false, true]), [false, true])
    func otherID(_ first: (style: RecordStyle, isClause: Bool), isCalled: Bool) throws {
        let mate: any MateRecord.Type = isCalled ? first.style.calledMate : first.style.mate
        try otherID(mate, isClause: first.isClause)
    }

    private func otherID<Mate: MateRecord>(_: Mate.Type, isClause: Bool) throws {
        try Crew.database().inDatabase { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (1, 'a', 2)")
            for isRolledBack in [true, false] {
                let mate = Mate("a", id: 77, rank: 5)
                try db.inTransaction {
                    if isClause {
                        try mate.upsert(db, onConflict: ["name"]) { _ in Column("rank").noOverwrite }
                    } else {
                        try mate.upsert(db)
                    }
                    #expect(mate.id == 1)
                    #expect(mate.rank == (isClause ? 2 : 5))
                    #expect(try mate.databaseChanges.isEmpty)
                    return isRolledBack ? .rollback : .commit
                }
                #expect(mate.id == (isRolledBack ? 77 : 1))
                if isRolledBack {
                    #expect(mate.rank == 5)
                    #expect(try mate.databaseChanges.values.allSatisfy { $0 == nil })
                } else {
                    mate.rank = 6
                    try mate.update(db)
                    #expect(try Int.fetchAll(db, sql: "SELECT rank FROM sailor") == [6])
                }
            }
            var sailor = Crew.Sailor(id: 78, name: "a")
            try sailor.upsert(db)
            #expect(sailor.id == 1)
            sailor.id = 79
            try sailor.upsert(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(sailor.id == 1)
        }
    }

    @Test(
        "The same where the key is a text, or of two columns", .behaviour(100),
        arguments: ["", " WITHOUT ROWID"], RecordStyle.allCases)
    func otherKey(withoutRowID: String, style: RecordStyle) throws {
        try otherKey(style.badge, withoutRowID: withoutRowID)
    }

    private func otherKey<Badge: BadgeRecord>(_: Badge.Type, withoutRowID: String) throws {
        for key in ["country, number", "country"] {
            try DatabaseQueue().inDatabase { db in
                try db.execute(
                    sql:
                        "CREATE TABLE badge (country TEXT, number INTEGER, name TEXT UNIQUE, PRIMARY KEY (\(key)))"
                        + withoutRowID)
                try Badge("FR", 1, "a").insert(db)
                let badge = Badge("IT", 1, "a")
                try db.inTransaction {
                    try badge.upsert(db)
                    #expect(badge.country == "FR" && !badge.hasDatabaseChanges)
                    try badge.update(db)
                    return .rollback
                }
                #expect(badge.country == "IT" && badge.hasDatabaseChanges)
                let own = Badge("FR", 1, "b")
                try own.upsert(db)
                #expect(own.country == "FR" && own.number == 1 && !own.hasDatabaseChanges)
            }
        }
    }

    @Test("and fetching give what the row has become", arguments: RecordStyle.allCases)
    func fetching(style: RecordStyle) throws { try fetching(style.mate) }

    private func fetching<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database().write { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
            var sailor = Sailor(name: "a", rank: 5)
            let fetched = try sailor.upsertAndFetch(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(fetched == Sailor(id: 7, name: "a", rank: 3))
            let kept = try sailor.upsertAndFetch(
                db, onConflict: ["name"], updating: .noColumnUnlessSpecified)
            #expect(kept == fetched)
            #expect(try sailor.upsertAndFetch(db, onConflict: ["name"]).rank == 5)
            let mate = try Mate("a").upsertAndFetch(db, onConflict: ["name"]) { _ in Self.rank += 1 }
            #expect(mate.rank == 6 && !mate.hasDatabaseChanges)
            let named = try Mate("b").upsertAndFetch(db, as: Named.self, onConflict: ["name"])
            #expect(named.text == "b 8")
            let known = Crew.KnownSailor(id: 8, name: "c")
            try known.upsert(db, onConflict: ["id"])
            try known.upsert(db) { _ in Column("name").set(to: "d") }
            let last = try known.upsertAndFetch(db, as: Named.self, onConflict: ["id"]) { _ in
                Column("name").noOverwrite
            }
            #expect(last.text == "d 8")
            #expect(try known.upsertAndFetch(db, onConflict: ["id"]).name == "c")
        }
    }

    @Test(
        "stamp the row in the way, unless an assignment names the stamp", .behaviour(38),
        arguments: RecordStyle.allCases)
    func stamps(style: RecordStyle) throws { try stamps(style.memo) }

    private func stamps<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase(
            "CREATE TABLE memo (id INTEGER PRIMARY KEY, title TEXT UNIQUE, score INTEGER NOT NULL DEFAULT 0, "
                + "createdAt TEXT, updatedAt TEXT, titleChangedAt TEXT)")
        try memos.later { try Memo("a").insert($0) }
        try memos.later { db in
            let memo = Memo("a")
            try memo.upsert(db, onConflict: ["title"]) { _ in Column("score") += 1 }
            #expect(try db.memoStamps() == "1 2 -")
            #expect(memo.stamps == "1 2 -")
            #expect(try memo.databaseChanges.isEmpty)
        }
        try memos.later { db in
            let date = memos.clock.date(9)
            try Memo("a").upsert(db, onConflict: ["title"]) { _ in Column("updatedAt").set(to: date) }
            #expect(try db.memoStamps() == "1 9 -")
            var value = MemoValue(title: "a")
            try value.upsert(db, onConflict: ["title"]) { _ in Column("score").set(to: 4) }
            #expect(try db.memoStamps() == "1 3 -")
        }
    }

    // MARK: - Errors

    @Test(
        "throw what SQLite says, with the SQL, and leave the record as it was",
        arguments: RecordStyle.allCases)
    func errors(style: RecordStyle) throws { try errors(style.mate) }

    private func errors<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database().write { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2), (8, 'b', 2)")
            var sailor = Sailor(name: "a")
            let noIndex = databaseError { try sailor.upsert(db, onConflict: ["rank"]) }
            #expect(
                noIndex?.message
                    == "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint")
            #expect(noIndex?.sql?.contains(#"ON CONFLICT ("rank") DO UPDATE"#) == true)
            // The conflict is with another index than the one that was named.
            let other = databaseError { try sailor.upsert(db, onConflict: ["id"]) }
            #expect(other?.message == "UNIQUE constraint failed: sailor.name")
            let unknown = databaseError {
                try sailor.upsert(db, onConflict: ["name"]) { _ in Column("nope").set(to: 1) }
            }
            #expect(unknown?.message == "no such column: nope")
            let excluded = databaseError {
                try sailor.upsert(db, onConflict: ["name"]) { [Self.rank.set(to: $0[Column("nope")])] }
            }
            #expect(excluded?.message == "no such column: excluded.nope")
            let null = databaseError {
                try sailor.upsert(db, onConflict: ["name"]) { _ in Self.rank.set(to: nil) }
            }
            #expect(null?.message == "NOT NULL constraint failed: sailor.rank")
            #expect(throws: Boom()) { try sailor.upsert(db) { _ in try Self.fail() } }
            let mate = Mate("a")
            #expect(databaseError { try mate.upsert(db, onConflict: ["rank"]) } != nil)
            #expect(mate.id == nil && mate.hasDatabaseChanges)
            #expect(sailor.id == nil)
            #expect(try Crew.rows(db) == ["7 a", "8 b"])
        }
    }

    private static func fail() throws -> ColumnAssignment { throw Boom() }

    @Test("name their columns, whatever these are called")
    func hostileNames() throws {
        let sql =
            #"CREATE TABLE sailor (id INTEGER PRIMARY KEY, "a"") DO NOTHING; --" TEXT UNIQUE, "ö x" INTEGER)"#
        struct Odd: PersistableRecord {
            static let databaseTableName = "sailor"
            func encode(to container: inout PersistenceContainer) {
                container["a\") DO NOTHING; --"] = "'; DROP TABLE sailor; --"
                container["ö x"] = 1
            }
        }
        try Crew.database(nil, sql).write { db in
            for _ in 0..<2 {
                try Odd().upsert(db, onConflict: ["a\") DO NOTHING; --"]) { _ in Column("ö x") += 1 }
            }
            #expect(try Int.fetchAll(db, sql: #"SELECT "ö x" FROM sailor"#) == [2])
        }
    }

    @Test("leave a column alone that an update does not overwrite")
    func noOverwrite() throws {
        try Crew.database().write { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
            #expect(try Sailor.updateAll(db, Self.rank.noOverwrite) == 0)
            #expect(try Sailor.updateAll(db, Self.rank.noOverwrite, Column("name").set(to: "b")) == 1)
            #expect(try Sailor.all().updateAndFetchAll(db, [Self.rank.noOverwrite]).isEmpty)
            #expect(try Sailor.find(db, key: 7) == Sailor(id: 7, name: "b", rank: 2))
        }
    }
}

extension String {
    fileprivate func components(upTo end: String) -> String {
        firstRange(of: end).map { String(self[..<$0.lowerBound]) } ?? self
    }
}

private struct Named: FetchableRecord, TableRecord {
    static let databaseTableName = "sailor"
    static let databaseSelection: [any SQLSelectable] = [Column("name"), Column("id")]
    let text: String
    init(row: Row) throws { text = try "\(row["name"] as String) \(row["id"] as Int)" }
}
