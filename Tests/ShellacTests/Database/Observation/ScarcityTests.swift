import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Statements that only read, and find no memory, or no room for their temporary files: SQLite then
/// ends the transaction around them. The limits are those of a process, so each history has one of
/// its own.
@Suite("Where memory or room for files ends")
struct ScarcityTests {
    enum Scarcity: String, CaseIterable, Sendable, Codable {
        case memory, files

        func begin(_ db: Database) throws {
            switch self {
            case .memory:
                try db.execute(sql: "PRAGMA hard_heap_limit = 24000000")
            case .files:
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                try db.execute(sql: "PRAGMA temp_store = FILE; PRAGMA cache_size = 10")
            }
        }

        /// A statement that fails, and ends the transaction around it: one that reads no table
        /// would not.
        var sql: String {
            switch self {
            case .memory: "SELECT hex(zeroblob(50000000)) FROM hero LIMIT 1"
            case .files:
                """
                WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30000)
                SELECT x FROM n, (SELECT id FROM hero LIMIT 1) ORDER BY hex(x * 7919 % 30011) || hex(zeroblob(100))
                """
            }
        }

        var resultCode: ResultCode { self == .memory ? .SQLITE_NOMEM : .SQLITE_IOERR }
    }

    @Test(
        "What is lost in statements that read, for want of memory or room, never was: for all who are told",
        .behaviour(15, 45, 102),
        arguments: Scarcity.allCases, RecordStyle.allCases)
    func histories(scarcity: Scarcity, style: RecordStyle) async {
        await #expect(processExitsWith: .success) { [scarcity, style] in
            let hero: any HeroRecord.Type = style.hero
            try ScarcityTests.runHistories(hero, scarcity)
        }
    }

    private static func runHistories<Hero: HeroRecord>(_: Hero.Type, _ scarcity: Scarcity) throws {
        for seed in 1...12 { try ScarceHistory<Hero>(scarcity, seed: UInt64(seed)).run() }
    }
}

private final class ScarceHistory<Hero: HeroRecord> {
    private let scarcity: ScarcityTests.Scarcity
    private let seed: UInt64
    private var random: SeededGenerator
    private let queue: DatabaseQueue
    private let mirror = Mirror()
    private var heroes: [Hero] = []
    private var expected: Set<Int64> = []
    private var names = 0
    private var ends = (commits: 0, rollbacks: 0)
    private var told = (commits: 0, rollbacks: 0)
    private var lossCount = 0

    /// The rows according to the committed events.
    private final class Mirror: TransactionObserver {
        var ids: Set<Int64> = []
        private var pending: [DatabaseEvent] = []

        func databaseDidChange(with event: DatabaseEvent) { pending.append(event.copy()) }
        func databaseDidCommit(_ db: Database) {
            for event in pending where event.tableName == "hero" {
                switch event.kind {
                case .insert: ids.insert(event.rowID)
                case .delete: ids.remove(event.rowID)
                case .update: break
                }
            }
            pending = []
        }
        func databaseDidRollback(_ db: Database) { pending = [] }
    }

    init(_ scarcity: ScarcityTests.Scarcity, seed: UInt64) throws {
        (self.scarcity, self.seed) = (scarcity, seed)
        random = SeededGenerator(seed: seed)
        queue = try DatabaseQueue.withHeroes()
        queue.add(transactionObserver: mirror)
        try queue.inDatabase { db in
            try scarcity.begin(db)
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'the first one', 0)")
        }
        expected = [1]
    }

    private func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    func run() throws {
        for step in 0..<30 {
            let comment: Comment = "\(scarcity), seed \(seed), step \(step)"
            try queue.inDatabase { db in
                switch number(4) {
                case 0: try failOutside(db, comment)
                default: try transact(db, comment)
                }
                try #expect(db.isUsable(), comment)
                let ids = try Int64.fetchSet(db, sql: "SELECT id FROM hero")
                #expect(ids == expected, comment)
                #expect(mirror.ids == expected, comment)
                for hero in heroes { try #expect(hero.tellsTheTruth(on: db), comment) }
            }
            #expect(told == ends, comment)
        }
        #expect(lossCount > 3, "\(scarcity), seed \(seed)")
    }

    /// A statement outside of a transaction is no transaction that is lost.
    private func failOutside(_ db: Database, _ comment: Comment) throws {
        let error = #expect(throws: DatabaseError.self, comment) {
            _ = try Row.fetchAll(db, sql: scarcity.sql)
        }
        #expect(error?.resultCode == scarcity.resultCode, comment)
        #expect(error?.sql == scarcity.sql, comment)
    }

    private func transact(_ db: Database, _ comment: Comment) throws {
        let before = expected
        let fails = number(2) == 0
        let isSwallowed = number(2) == 0
        do {
            try db.inTransaction {
                db.afterNextTransaction { [self] _ in
                    told.commits += 1
                } onRollback: { [self] _ in
                    told.rollbacks += 1
                }
                for _ in 0...number(3) { try save(db) }
                guard fails else { return .commit }
                func lose() throws {
                    do { _ = try Row.fetchAll(db, sql: scarcity.sql) } catch {
                        if !isSwallowed { throw error }
                    }
                }
                if number(2) == 0 {
                    try lose()
                } else {
                    try db.inSavepoint {
                        try save(db)
                        try lose()
                        return .commit
                    }
                }
                try save(db)
                return .commit
            }
            #expect(!fails, comment)
            ends.commits += 1
        } catch {
            #expect(fails, "\(comment): \(error)")
            #expect((error as? DatabaseError)?.resultCode == scarcity.resultCode, comment)
            #expect((error as? DatabaseError)?.sql == scarcity.sql, comment)
            ends.rollbacks += 1
            lossCount += 1
            expected = before
        }
    }

    private func save(_ db: Database) throws {
        switch number(4) {
        case 0 where !heroes.isEmpty:
            let hero = heroes[number(heroes.count)]
            hero.score += 1
            try hero.save(db)
            if let id = hero.id { expected.insert(id) }
        case 1:
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES (?, 0)", arguments: [newName()])
            expected.insert(db.lastInsertedRowID)
        default:
            let hero = Hero(newName())
            heroes.append(hero)
            try hero.insert(db)
            if let id = hero.id { expected.insert(id) }
        }
    }

    private func newName() -> String {
        names += 1
        return "hero \(names)"
    }
}
