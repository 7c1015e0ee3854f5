import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo of random work")
struct RandomUndoTests {
    @Test(
        "Undo of everything gives the start, redo of everything the end, and each step in between what was there",
        arguments: 1...12)
    func walk(seed: Int) throws {
        let fixture = try UndoFixture(recursiveTriggers: seed % 3 == 0)
        if seed % 2 == 0 {
            // A temporary trigger, which may run before those that record, and a callback that writes.
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
}
