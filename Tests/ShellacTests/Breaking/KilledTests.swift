// Needs Exchange, Journal.
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A process that is killed in the middle of its work leaves all acknowledged steps, and no partial
/// step.
///
/// `SHELLAC_KILLS` says how often each kind of work is killed, and `SHELLAC_KILLS_SEED` at which
/// moments.
@Suite("A process that is killed")
struct KilledTests {
    @Test(
        "leaves all that it has acknowledged, and no step in part",
        arguments: ["save", "migrate", "rebuild", "vacuum", "backup", "import"])
    func killed(_ work: String) async throws { try await onThread { try killedNow(work) } }

    private func killedNow(_ work: String) throws {
        var generator = SeededGenerator(seed: UInt64(environmentNumber("SHELLAC_KILLS_SEED") ?? 1))
        let kills = environmentNumber("SHELLAC_KILLS")
        for _ in 0..<(kills ?? 3) {
            let (steps, pause) = (
                Int.random(in: 0...3, using: &generator), Int.random(in: 0...8000, using: &generator)
            )
            try kill(work, after: steps, microseconds: pause)
        }
        if let kills { print("\(work): killed \(kills) times") }
    }

    private func kill(_ work: String, after steps: Int, microseconds: Int) throws {
        let file = try TemporaryDatabase()
        try file.queue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, name NOT NULL);
                    CREATE TABLE done (number INTEGER);
                    INSERT INTO done VALUES (0);
                    INSERT INTO item (name)
                        WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'item ' || i FROM n;
                    """)
        }
        let process = try WritingProcess(path: file.path, steps: work)
        try sleepUntil { process.acknowledgedCount >= steps }
        usleep(UInt32(microseconds))
        try process.kill()
        let acknowledged = process.acknowledgedCount

        let what = "\(work), killed after \(acknowledged) steps"
        let queue = try file.queue()
        let done = try queue.inDatabase { db in
            try #expect(db.isUsable(), "\(what)")
            return try #require(try Int.fetchOne(db, sql: "SELECT number FROM done"))
        }
        #expect(done == acknowledged || done == acknowledged + 1, "\(what): \(done)")
        let count = try queue.inDatabase { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item") ?? 0 }
        switch work {
        case "save": #expect(count == 1000 + 2 * done, "\(what)")
        case "import": #expect(count == 1000 + 200 * done, "\(what)")
        case "migrate":
            let tables = try queue.inDatabase { db in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'step%'")
            }
            let names = try queue.inDatabase { db in
                done == 0
                    ? ["item 1"]
                    : try String.fetchAll(
                        db, sql: "SELECT DISTINCT name FROM item WHERE id = 1 OR name LIKE 'step%'")
            }
            #expect(tables == done && (done == 0 || names == ["step \(done)"]), "\(what): \(names)")
        case "rebuild":
            let columns = try queue.inDatabase { db in try db.columns(in: "item").map(\.name) }
            #expect(columns == ["id", "name"] + (done == 0 ? [] : ["step\(done)"]), "\(what)")
            #expect(count == 1000, "\(what)")
        case "backup":
            #expect(count == 1000, "\(what)")
            let copy = try DatabaseQueue(path: file.path + ".copy")
            let number = try copy.inDatabase { db in
                try #expect(db.isUsable(), "\(what)")
                return try db.tableExists("done") ? Int.fetchOne(db, sql: "SELECT number FROM done") : nil
            }
            // The copy belongs to the last step or to the step before, or does not exist.
            #expect(
                number == nil ? acknowledged == 0 : acknowledged...done ~= (number ?? 0),
                "\(what): \(number as Any)")
        default: #expect(count == 1000, "\(what)")
        }
    }
}
