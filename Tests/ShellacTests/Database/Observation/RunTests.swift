import TestSupport
import Testing

@testable import Shellac

@Suite("Runs")
struct RunTests {
    private func statements(_ count: Int, _ body: ([Statement]) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try body(try (0..<count).map { try db.makeStatement(sql: "SELECT \($0)") })
        }
    }

    private func begin(_ statement: Statement, in runs: inout RunStack) -> Unretained<Run> {
        let run = runs.add()
        run.use { $0.begin(statement, depth: 0, isInside: true, isSilent: false, nil) }
        return run
    }

    @Test("A run that has ended is used again, without what it knew")
    func reuse() throws {
        try statements(2) { statements in
            var runs = RunStack()
            let first = begin(statements[0], in: &runs)
            let audience = Audience([])
            first.use {
                $0.events.append(
                    RowEvent(audience: Unretained(audience), rowID: 1, table: 0, kind: .insert))
                $0.veto = TestError(1)
                $0.isCommitting = true
            }
            #expect(runs.remove(first) == nil && runs.last == nil)
            runs.recycle(first)
            let second = begin(statements[1], in: &runs)
            #expect(second.context == first.context)
            second.use { #expect($0.events.isEmpty && $0.veto == nil && !$0.isCommitting) }
            #expect(runs.run(of: statements[0]) == nil && runs.run(of: statements[1]) != nil)
        }
    }

    @Test("Runs end in any order, and each knows the one that it ran inside of", arguments: 0..<6)
    func order(permutation: Int) throws {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        try statements(3) { statements in
            var runs = RunStack()
            let begun = statements.map { begin($0, in: &runs) }
            var open = [0, 1, 2]
            for index in orders[permutation] {
                let place = try #require(open.firstIndex(of: index))
                let outer = runs.remove(begun[index])
                #expect(outer?.context == (place > 0 ? begun[open[place - 1]].context : nil))
                runs.recycle(begun[index])
                open.remove(at: place)
                #expect(runs.last?.context == open.last.map { begun[$0].context })
                for index in open {
                    #expect(runs.run(of: statements[index])?.context == begun[index].context)
                }
            }
            #expect(runs.last == nil)
        }
    }

    @Test("The events of a run keep their order and their values when there is no more room")
    func events() {
        var events = EventBuffer()
        let audience = Audience([])
        for rowID in 0..<1000 {
            events.append(
                RowEvent(
                    audience: Unretained(audience), rowID: Int64(rowID), table: 0, kind: .update,
                    marks: rowID == 500 ? .hidden : []))
        }
        #expect(events.events.map(\.rowID) == (0..<1000).map { Int64($0) })
        let shown = [499, 500, 500].map { events.show(rowID: $0, table: 0, kind: .update) }
        #expect(shown == [false, true, false])
        events.removeAll()
        #expect(events.count == 0 && events.events.isEmpty)
    }
}
