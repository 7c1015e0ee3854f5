import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The queue of jobs of the article *Servers*, with workers that are killed.
///
/// `SHELLAC_KILLS` says how often a worker is killed, and `SHELLAC_KILLS_SEED` at which moments.
@Suite("Workers that are killed")
struct KilledWorkersTests {
    @Test("lose no job, and do none twice")
    func killed() async throws { try await onThread { try killedNow() } }

    private func killedNow() throws {
        let seed = environmentNumber("SHELLAC_KILLS_SEED", as: UInt64.self) ?? 1
        var generator = SeededGenerator(seed: seed)
        let kills = environmentNumber("SHELLAC_KILLS")
        let count = kills ?? 6
        let file = try TemporaryDatabase(journalMode: .wal)
        let pool = try file.pool { $0.busyMode = .timeout(60) }
        let kinds = ["plain", "plain", "plain", "flaky", "slow", "torn", "parent", "poison"]
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, payload TEXT NOT NULL, runAt TEXT NOT NULL,
                        attempts INTEGER NOT NULL DEFAULT 0, error TEXT);
                    CREATE INDEX jobRunAt ON job (runAt);
                    CREATE TABLE done (job INTEGER NOT NULL, process INTEGER NOT NULL);
                    CREATE TABLE given (id INTEGER PRIMARY KEY, payload TEXT NOT NULL);
                    CREATE TRIGGER give AFTER INSERT ON job BEGIN
                        INSERT INTO given VALUES (NEW.id, NEW.payload);
                    END;
                    """)
        }
        /// Adds jobs while the workers work, so that a killed one mostly has something to do.
        func add(_ number: Int) throws {
            try pool.write { db in
                for _ in 0..<number {
                    let kind = kinds[Int.random(in: kinds.indices, using: &generator)]
                    try db.execute(
                        sql: "INSERT INTO job (payload, runAt) VALUES (?, ?)", arguments: [kind, Date()])
                }
            }
        }
        try add(60)
        var workers = try (0..<3).map { try WritingProcess(path: file.path, jobsOf: $0) }
        for number in 0..<count {
            let index = Int.random(in: workers.indices, using: &generator)
            try sleepUntil { workers[index].acknowledgedCount == 1 }
            try add(10)
            usleep(UInt32.random(in: 0...60_000, using: &generator))
            try workers[index].kill()
            workers[index] = try WritingProcess(path: file.path, jobsOf: 3 + number)
        }
        // A job is left over if it was given up, after as many attempts as are allowed.
        try sleepUntil {
            try pool.read { db in
                try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM job WHERE attempts < 8 OR runAt > ?", arguments: [Date()])
            } == 0
        }
        for worker in workers {
            let hasFinished = try worker.finish()
            #expect(hasFinished)
        }
        try pool.inDatabase { db in
            try #expect(db.isUsable())
            let lost = try Int.fetchAll(
                db,
                sql:
                    "SELECT id FROM given WHERE id NOT IN (SELECT id FROM job UNION ALL SELECT job FROM done)"
            )
            let twice = try Int.fetchAll(db, sql: "SELECT job FROM done GROUP BY job HAVING COUNT(*) > 1")
            let both = try Int.fetchAll(db, sql: "SELECT id FROM job WHERE id IN (SELECT job FROM done)")
            #expect(lost == [] && twice == [] && both == [], "seed \(seed)")
            let dead = try Row.fetchAll(db, sql: "SELECT payload, error FROM job WHERE payload <> 'poison'")
            #expect(dead == [], "seed \(seed)")
            let poison = try Int.fetchAll(
                db,
                sql: "SELECT COUNT(*) FROM given WHERE payload = 'poison' UNION ALL SELECT COUNT(*) FROM job")
            #expect(poison.first == poison.last && poison.first != 0)
            // A job that a killed worker had at its last attempt has no error of that attempt.
            let errors = try Set(String.fetchAll(db, sql: "SELECT error FROM job"))
            #expect(errors == ["Refused()"])
            let children = try Int.fetchAll(
                db,
                sql: """
                    SELECT COUNT(*) FROM given WHERE payload = 'child'
                    UNION ALL SELECT COUNT(*) FROM given WHERE payload = 'parent'
                    """)
            #expect(children.first == children.last && children.first != 0)
            if kills != nil {
                let done = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM done") ?? 0
                print("jobs: killed \(count) workers, \(done) jobs done, \(poison[0]) given up")
            }
        }
    }

    @Test("are those of the article Servers, in 60 lines at the most")
    func article() throws {
        let file = Repository.root.appending(path: "Tests/SecondProcess/Jobs.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let code = try #require(source.range(of: "import Shellac\n\n")).upperBound
        let article = try String(
            contentsOf: Repository.root.appending(path: "Sources/Shellac/Shellac.docc/Servers.md"),
            encoding: .utf8)
        #expect(article.contains("```swift\n\(source[code...])```\n"))
        #expect(source[code...].split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
    }
}
