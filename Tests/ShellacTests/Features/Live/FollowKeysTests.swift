import TestSupport
import Testing

@testable import Shellac

/// Followed records whose keys another connection writes in other letters.
@Suite("A followed record whose key changes in its letters alone", .behaviour(78, 109))
struct FollowKeysTests {
    /// The owner of a record, which follows it as *Live* shows.
    private actor Owner {
        private let queue: DatabaseQueue
        private var tag = ListedLooseTag()
        private(set) var stateCount = 0
        private(set) var end: String?

        init(_ queue: DatabaseQueue) { self.queue = queue }

        func fetch(_ key: DatabaseValue) throws {
            tag = try queue.read { try ListedLooseTag.find($0, key: key) }
        }

        func follow() async {
            do {
                for try await state in tag.follow(in: queue) {
                    if case .changed(let row) = state { try tag.merge(row) }
                    stateCount += 1
                }
                end = "end"
            } catch {
                end = "\(error)"
            }
        }

        var name: DatabaseValue { tag.name }
        var uses: Int { tag.uses }
        var isClean: Bool { !tag.hasDatabaseChanges }
    }

    @Test("takes the row, and is followed on", arguments: LooseKey.allCases, [false, true])
    func letters(key: LooseKey, isWithoutRowID: Bool) async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.writeWithoutTransaction { db in
            try db.add(collation: .caseInsensitiveCompare)
            try key.createTable(db, withoutRowID: isWithoutRowID)
        }
        let owner = Owner(queue)
        try await owner.fetch(key.values[0])
        let task = Task { await owner.follow() }
        try await eventually { await owner.stateCount == 1 }
        for (number, value) in [key.values[1], key.values[2]].enumerated() {
            try await queue.write { db in
                try db.execute(
                    sql: "UPDATE tag SET name = ?, uses = ? WHERE name = ?",
                    arguments: [value, number + 5, key.values[0]])
            }
            try await eventually {
                let (uses, end) = (await owner.uses, await owner.end)
                return uses == number + 5 || end != nil
            }
            let (name, isClean, end) = (await owner.name, await owner.isClean, await owner.end)
            #expect(name == value && isClean && end == nil)
        }
        // If Swift can tell which keys SQLite takes for equal, a change of another row causes no
        // fetch.
        try await queue.settle()
        _ = spy.takeFetches()
        try await queue.run("UPDATE tag SET uses = 9 WHERE code = 'b'")
        try await queue.settle()
        #expect(spy.takeFetches().isEmpty == (key != .added))
        task.cancel()
    }
}
