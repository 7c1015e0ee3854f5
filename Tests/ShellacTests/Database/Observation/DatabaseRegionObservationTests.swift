import TestSupport
import Testing

@testable import Shellac

@Suite("Observed regions")
struct DatabaseRegionObservationTests {
    private func start(
        _ region: some DatabaseRegionConvertible & Sendable, in queue: DatabaseQueue,
        _ recorder: Recorder<String>
    ) -> AnyDatabaseCancellable {
        DatabaseRegionObservation(tracking: region).start(in: queue) { _ in
            recorder.record("error")
        } onChange: { db in
            recorder.record(((try? db.names()) ?? []).joined(separator: ","))
        }
    }

    @Test("Each transaction that changes the region is told once, after its commit, and no other")
    func changes() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN score") }
        let recorder = Recorder<String>()
        let cancellable = start(SQL("SELECT name FROM player"), in: queue, recorder)
        try queue.write { db in
            try db.insert("Arthur")
            try db.insert("Barbara")
            #expect(recorder.elements == [])
        }
        #expect(recorder.removeAll() == ["Arthur,Barbara"])
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 1") }
        try queue.inTransaction { db in
            try db.insert("Craig")
            return .rollback
        }
        try queue.read { db in _ = try db.names() }
        #expect(recorder.removeAll() == [])
        try queue.inDatabase { db in try db.execute(sql: "DELETE FROM player") }
        #expect(recorder.removeAll() == [""])
        try queue.write { db in try db.notifyChanges(in: DatabaseRegion(table: "player")) }
        #expect(recorder.removeAll() == [""])
        cancellable.cancel()
        cancellable.cancel()
        try queue.write { db in try db.insert("David") }
        #expect(recorder.elements == [])
    }

    @Test("An observation ends when what it returned is freed, also inside of a transaction")
    func freed() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        var cancellable: AnyDatabaseCancellable? = start(.fullDatabase, in: queue, recorder)
        try queue.write { db in
            try db.insert("Arthur")
            cancellable = nil
        }
        _ = cancellable
        try queue.write { db in try db.insert("Barbara") }
        #expect(recorder.elements == [])
    }

    @Test("A region that cannot be found out is told as an error, and nothing is observed")
    func errors() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        let cancellable = start(SQL("SELECT x FROM nowhere"), in: queue, recorder)
        #expect(recorder.removeAll() == ["error"])
        try queue.write { db in try db.insert("Arthur") }
        #expect(recorder.elements == [])
        cancellable.cancel()
        try queue.close()
        withExtendedLifetime(start(.fullDatabase, in: queue, recorder)) {
            #expect(recorder.elements == ["error"])
        }
    }

    @Test(
        "REPLACE's deletions and WITHOUT ROWID tables are seen where SQLite has the hook",
        arguments: [true, false])
    func hidden(hasHook: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID")
            try db.execute(sql: "ALTER TABLE player ADD COLUMN score")
            try db.execute(sql: "CREATE UNIQUE INDEX u ON player (score)")
            try db.execute(sql: "INSERT INTO player VALUES (1, 'A', 1), (2, 'B', 2)")
        }
        let recorder = Recorder<String>()
        let cancellable = Features.hiddenOptions.withValue(hasHook ? [] : ["ENABLE_PREUPDATE_HOOK"]) {
            start(
                DatabaseRegion(table: "w").union(DatabaseRegion(table: "player", columns: ["name"])),
                in: queue, recorder)
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO w VALUES (1, 2)") }
        #expect(recorder.removeAll() == (hasHook ? ["A,B"] : []))
        try queue.write { db in try db.execute(sql: "UPDATE OR REPLACE player SET score = 1 WHERE id = 2") }
        #expect(recorder.removeAll() == (hasHook ? ["B"] : []))
        cancellable.cancel()
    }

    private static let queries = [
        "SELECT COUNT(*) FROM a", "SELECT v FROM a ORDER BY v", "SELECT id FROM a ORDER BY id",
        "SELECT MAX(u) FROM a", "SELECT a.v, b.v FROM a JOIN b ON b.a = a.id ORDER BY 1, 2",
        "SELECT g FROM w ORDER BY g", "SELECT k FROM w ORDER BY k", "SELECT SUM(r) FROM w",
        "SELECT rowid FROM b ORDER BY 1", "SELECT EXISTS (SELECT 1 FROM b WHERE v > 50)",
        "SELECT v FROM b WHERE id = 3", "SELECT COUNT(*) FROM w", "SELECT g2 FROM views ORDER BY 1",
        "SELECT COUNT(*) FROM a UNION ALL SELECT COUNT(*) FROM b",
        "SELECT (SELECT COUNT(*) FROM b WHERE b.a = a.id) FROM a ORDER BY 1", "SELECT u FROM w WHERE v = 4",
    ]

    @Test("Whenever a random change alters the result of a query, its region says so", arguments: 1...5)
    func random(seed: Int) throws {
        let queue = try ReplicaWorkload.queue(seed: seed)
        try queue.inDatabase { db in try db.execute(sql: "CREATE VIEW views (g2) AS SELECT g FROM w") }
        let told = Recorder<Int>()
        var cancellables: [AnyDatabaseCancellable] = []
        func result(_ query: Int, _ db: Database) throws -> [[DatabaseValue]] {
            try Row.fetchAll(db, sql: Self.queries[query]).map(\.databaseValues)
        }
        for query in Self.queries.indices {
            let region = try queue.inDatabase { db in
                let region = try SQL(sql: Self.queries[query]).databaseRegion(db)
                let row = DatabaseRegion(table: "b", rowIDs: [3])
                return Self.queries[query].hasSuffix("FROM b WHERE id = 3")
                    ? region.intersection(row) : region
            }
            let observation = DatabaseRegionObservation(tracking: region)
            cancellables.append(
                observation.start(in: queue) { _ in
                    told.record(-1)
                } onChange: { _ in
                    told.record(query)
                })
        }
        var workload = ReplicaWorkload(random: SeededGenerator(seed: UInt64(seed)), hasHiddenChanges: true)
        var (changeCount, silentCount) = (0, 0)
        for number in 0..<100 {
            let before = try queue.inDatabase { db in try Self.queries.indices.map { try result($0, db) } }
            told.removeAll()
            let statements = try queue.inDatabase { db in try workload.transaction(db) }
            let after = try queue.inDatabase { db in try Self.queries.indices.map { try result($0, db) } }
            let heard = Set(told.elements)
            for query in Self.queries.indices {
                let isChanged = before[query] != after[query]
                if isChanged { changeCount += 1 }
                if !heard.contains(query) { silentCount += 1 }
                try #require(
                    !isChanged || heard.contains(query),
                    "seed \(seed), transaction \(number), \(Self.queries[query]): \(statements)")
            }
        }
        #expect(changeCount > 100)
        #expect(silentCount > 100, "the regions are not all told all the time")
        withExtendedLifetime(cancellables) {}
    }
}
