import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo of random work")
struct RandomUndoTests {
    @Test(
        "Undo of everything gives the start, redo of everything the end, and each step in between what was there",
        arguments: 1...24)
    func walk(seed: Int) throws {
        let fixture = try UndoFixture(recursiveTriggers: seed % 3 == 0)
        if seed % 2 == 0 {
            // A temporary trigger, which may run before those that record, and a callback that
            // writes.
            try fixture.execute(
                """
                CREATE TEMP TRIGGER cap AFTER INSERT ON loose WHEN (SELECT COUNT(*) FROM loose) > 3
                BEGIN DELETE FROM loose WHERE _rowid_ = NEW._rowid_; END
                """)
            try fixture.queue.after(.insert, .delete, on: "team") { db, change in
                try db.execute(
                    sql: "INSERT OR REPLACE INTO total VALUES (2, ?)", arguments: [change.old == nil])
            }
        }
        if seed % 4 < 2 {
            // Callbacks that change the new row inside of its insertion.
            try fixture.queue.after(.insert, on: "team") { db, change in
                let id: Int64 = try #require(change.new)["id"]
                try db.execute(
                    sql: "UPDATE OR IGNORE team SET name = name || '*' WHERE id = ?", arguments: [id])
                if id % 3 == 2 { try db.execute(sql: "DELETE FROM team WHERE id = ?", arguments: [id]) }
            }
            try fixture.queue.after(.insert, on: "loose") { db, _ in
                try db.execute(sql: "UPDATE loose SET a = 'called' WHERE a = 1")
            }
        }
        var workload = UndoWorkload(seed: seed)
        var states = [try fixture.dump()]
        for step in 0..<30 {
            let count = fixture.undo.undoCount
            try workload.work(fixture)
            let dump = try fixture.dump()
            let made = fixture.undo.undoCount - count
            // One access may hold several transactions, whose states are not known here.
            if made == 0 {
                try #require(
                    dump == states.last,
                    "seed \(seed), step \(step): \(workload.log), \(states.last?.difference(from: dump) as Any)"
                )
            } else {
                if made > 1 { for _ in 1..<made { states.append([]) } }
                states.append(dump)
            }
        }
        func check(_ index: Int, _ what: String) throws {
            let dump = try fixture.dump()
            if states[index].isEmpty { states[index] = dump }
            let expected = states[index]
            let difference = dump.difference(from: expected)
            try #require(difference.isEmpty, "seed \(seed), \(what) to \(index): \(difference)")
            #expect(fixture.undo.undoCount == index)
            #expect(fixture.undo.redoCount == states.count - 1 - index)
        }
        let end = states.count - 1
        #expect(end > 5, "seed \(seed)")
        try check(end, "the end")
        for index in (0..<end).reversed() {
            fixture.clock.advance()
            #expect(try fixture.undo.undo(), "seed \(seed)")
            try check(index, "undo")
        }
        #expect(try !fixture.undo.undo())
        for index in 1...end {
            #expect(try fixture.undo.redo(), "seed \(seed)")
            try check(index, "redo")
        }
        #expect(try !fixture.undo.redo())
        var index = end
        for _ in 0..<30 {
            if workload.number(0...1) == 0 {
                if try fixture.undo.undo() { index -= 1 }
            } else {
                if try fixture.undo.redo() { index += 1 }
            }
            try check(index, "walk")
        }
        let problems = try fixture.queue.inDatabase { db in
            try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
        }
        #expect(problems == 0)
    }

    @Test(
        "Nothing that another connection has written is ever overwritten by undo: not where it writes between statements outside of transactions, nor where it changes the schema",
        arguments: 1...16)
    func besideAnother(seed: Int) throws {
        let file = try TemporaryDatabase()
        let fixture = try UndoFixture(
            path: file.path, schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, n, m DEFAULT 0)", tables: ["t"])
        let other = try file.queue()
        var random = SeededGenerator(seed: UInt64(seed))
        func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
        var count = 0
        /// Returns a write whose values name their writer.
        func write(_ who: String) -> String {
            count += 1
            let id = number(1...4)
            switch number(0...5) {
            case 0, 1: return "INSERT OR REPLACE INTO t (id, n) VALUES (\(id), '\(who)\(count)')"
            case 2:
                return who == "own" ? "DELETE FROM t WHERE id = \(id)" : "UPDATE t SET n = '\(who)\(count)'"
            case 3: return "UPDATE t SET n = '\(who)\(count)' WHERE id = \(id)"
            case 4 where who == "own": return "UPDATE t SET m = \(count) WHERE id = \(id)"
            default: return "INSERT INTO t (n) VALUES ('\(who)\(count)')"
            }
        }
        func elsewhere() throws {
            var sql = write("other")
            if number(0...5) == 0 { sql = "ALTER TABLE t ADD COLUMN c\(count) DEFAULT 7" }
            try other.inDatabase { try $0.execute(sql: sql) }
        }
        func texts() throws -> Set<String> {
            try Set(
                other.inDatabase { try String.fetchAll($0, sql: "SELECT n FROM t WHERE n LIKE 'other%'") })
        }
        for _ in 0..<60 {
            if number(0...3) == 0 { try elsewhere() }
            switch number(0...4) {
            case 0: try fixture.write(write("own"))
            case 1, 2:
                try fixture.queue.inDatabase { db in
                    for _ in 0...number(0...2) {
                        let before = db.totalChangesCount
                        try db.execute(sql: write("own"))
                        if db.totalChangesCount > before, number(0...3) == 0 { try elsewhere() }
                    }
                }
            default:
                let (kept, dump) = (try texts(), try fixture.dump())
                do {
                    try fixture.undo.undo()
                    let lost = kept.subtracting(try texts())
                    try #require(lost.isEmpty, "seed \(seed)")
                } catch is DatabaseUndoConflict {
                    try #require(try fixture.dump() == dump, "seed \(seed)")
                    try fixture.undo.removeAll()
                }
            }
        }
        #expect(try fixture.queue.inDatabase { try $0.isUsable() }, "seed \(seed)")
    }
}
