import TestSupport
import Testing

@testable import Shellac

@Suite("Copies and rollbacks")
struct RecordJournalCopyTests {
    private func withHeroes(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try body(db)
        }
    }

    @Test(
        "A copy made inside a transaction follows its rollback like the original, whatever was done",
        .behaviour(99),
        arguments: RecordStyle.each(["insert", "update", "delete", "flag", "many", "nothing"]),
        Undoing.allCases)
    func follows(_ first: (style: RecordStyle, action: String), _ undoing: Undoing) throws {
        try follows(first.style.hero, first.action, undoing)
    }

    private func follows<Hero: HeroRecord>(_: Hero.Type, _ action: String, _ undoing: Undoing) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue.withHeroes(path: folder.path("heroes.sqlite"))
        try queue.inDatabase { try $0.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)") }
        let new = action == "insert" || action == "many"
        let hero = new ? Hero("Barbara") : try queue.inDatabase { try Hero.find($0, key: 1) }
        var copies: [Hero] = []
        try undoing.run(queue) { db in
            switch action {
            case "insert": try hero.insert(db)
            case "many": try Hero.insertAll(db, [hero, Hero("Craig")])
            case "update":
                hero.score = 11
                try hero.update(db)
            case "delete": try hero.delete(db)
            case "flag": hero.hasDatabaseChanges = true
            default: break
            }
            copies.append(try hero.copy())
            // One that goes its own way, and a copy of a copy.
            copies.append(try hero.copy())
            if action == "update" {
                copies[1].score = 12
                try copies[1].update(db)
            }
            copies.append(try copies[0].copy())
        }
        try queue.inDatabase { db in
            for (number, copy) in copies.enumerated() {
                if number != 1 || action != "update" { #expect(copy.score == hero.score) }
                #expect(copy.id == hero.id, "copy \(number)")
                #expect(copy.hasDatabaseChanges == hero.hasDatabaseChanges, "copy \(number)")
                let (own, others) = (try copy.remembered, try hero.remembered)
                #expect(own == others, "copy \(number)")
            }
        }
    }

    @Test(
        "A copy goes back with what its original has had before it was copied, one savepoint at a time",
        .behaviour(99), arguments: RecordStyle.allCases)
    func levels(style: RecordStyle) throws { try levels(style.hero) }

    private func levels<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = Hero("Barbara")
            var (early, late) = (Hero(), Hero())
            try db.inTransaction {
                try hero.insert(db)
                early = try hero.copy()
                for _ in 0..<2 {
                    try db.inSavepoint {
                        hero.score = 1
                        try hero.update(db)
                        late = try hero.copy()
                        #expect(!late.hasDatabaseChanges)
                        return .rollback
                    }
                    #expect(try late.remembered == ["name": "Barbara", "score": 0])
                    #expect(try late.databaseChanges == ["score": 0])
                    #expect(late.id == 2)
                    #expect(!early.hasDatabaseChanges && early.id == 2)
                }
                // After the copy, the original goes its own way.
                try db.inSavepoint {
                    hero.score = 2
                    try hero.update(db)
                    return .commit
                }
                #expect(!early.hasDatabaseChanges)
                return .rollback
            }
            for copy in [hero, early, late] {
                #expect(copy.id == nil)
                #expect(try copy.databaseChanges == Hero.allUnknown)
            }
        }
    }

    @Test(
        "A copy of a stamped record gives its stamps back, too", .behaviour(99),
        arguments: RecordStyle.allCases)
    func stamps(style: RecordStyle) throws { try stamps(style.memo) }

    private func stamps<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase()
        try memos.queue.inDatabase { db in
            let memo = Memo("a")
            var copy = Memo()
            try db.inTransaction {
                try memo.insert(db)
                copy = try memo.copy()
                #expect(copy.stamps == "0 0 -")
                return .rollback
            }
            #expect(memo.stamps == "- - -" && copy.stamps == "- - -" && copy.id == nil)
        }
    }

    @Test(
        "A commit keeps what a copy has, and the connection keeps no copy alive", .behaviour(99),
        arguments: RecordStyle.allCases)
    func commit(style: RecordStyle) throws { try commit(style.hero) }

    private func commit<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = Hero("Barbara")
            weak var copy: Hero?
            try db.inTransaction {
                try hero.insert(db)
                copy = try hero.copy()
                #expect(copy == nil)
                return .commit
            }
            #expect(hero.id == 2 && !hero.hasDatabaseChanges)
        }
    }

    // MARK: - Playing back

    @Test(
        "All records have their state again before the program is asked to take an id away", .behaviour(15),
        arguments: RecordStyle.allCases)
    func twoPasses(style: RecordStyle) throws { try twoPasses(style.watcher) }

    private func twoPasses<Watcher: WatchingHero & HeroRecord>(_: Watcher.Type) throws {
        try withHeroes { db in
            let (first, watcher) = (PairHero("Barbara"), Watcher())
            watcher.name = "Craig"
            watcher.other = first
            try db.inTransaction {
                try first.insert(db)
                try watcher.insert(db)
                watcher.seen = []
                return .rollback
            }
            #expect(watcher.seen == [true] && watcher.id == nil && first.id == nil)
        }
    }

    @Test(
        "A record that cannot be compared with the database after a failed statement knows nothing of its row",
        .behaviour(15), arguments: RecordStyle.allCases)
    func unknownTruth(style: RecordStyle) throws { try unknownTruth(style.fickleHero) }

    private func unknownTruth<Fickle: FickleHero>(_: Fickle.Type) throws {
        for fails in [true, false] {
            try withHeroes { db in
                let hero = try #require(try Fickle.fetchOne(db))
                try db.addFunction("meddle") {
                    try hero.delete(db)
                    hero.fails = fails
                }
                try db.execute(sql: "CREATE TABLE t (a NOT NULL)")
                // The deletion stays: what a statement has not written itself, OR FAIL does not
                // undo.
                let error = databaseError {
                    try db.inTransaction {
                        try? db.execute(sql: "INSERT OR FAIL INTO t SELECT meddle() UNION ALL SELECT NULL")
                        hero.fails = false
                        let isThere = try hero.exists(db)
                        #expect(
                            try isThere
                                ? hero.databaseChanges.isEmpty || fails
                                : hero.databaseChanges == Fickle.allUnknown)
                        if fails { #expect(try hero.databaseChanges == Fickle.allUnknown) }
                        return .rollback
                    }
                }
                #expect(error == nil)
                // The note is kept: the rollback restores the record's state.
                #expect(!hero.hasDatabaseChanges)
            }
        }
    }
}

/// A hero that looks at another one when its id is taken away.
private class WatchingHero: TabledHero {
    final weak var other: Record?
    final var seen: [Bool] = []

    final func look(_ id: Int64?) {
        if id == nil, let other { seen.append(other.hasDatabaseChanges) }
    }
}

private final class PairWatching: WatchingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws {
        try readColumns(of: row)
        look(id)
    }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedWatching: WatchingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("id", id) {
            id = $0
            look(id)
        }
    }
}

private class IdentifiedWatching: WatchingHero {
    final var id: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            id = $0
            look(id)
        }
    }
}

private final class CodedWatching: IdentifiedWatching, HeroRecord, Codable {
    var name = ""
    var score = 0
}

extension RecordStyle {
    fileprivate var watcher: any (WatchingHero & HeroRecord).Type {
        choose(PairWatching.self, ListedWatching.self, CodedWatching.self)
    }
}
