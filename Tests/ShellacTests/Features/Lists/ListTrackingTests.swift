import Foundation
import TestSupport
import Testing

@testable import Shellac

private let byName = ListPlayer.order(Column("name"))

/// A list on the main actor, and the changes that it was notified of.
@MainActor
private final class MainList {
    let controller: FetchedRecordsController<ListPlayer>
    private(set) var told: [String] = []
    private(set) var errors: [String] = []

    init(
        _ queue: DatabaseQueue, _ request: QueryInterfaceRequest<ListPlayer> = byName,
        sectionNameKey: String? = nil
    ) throws {
        controller = FetchedRecordsController(queue, request: request, sectionNameKey: sectionNameKey)
        try controller.performFetch()
        controller.trackErrors { [weak self] _, error in self?.errors.append("\(type(of: error))") }
        controller.trackChanges(
            willChange: { [weak self] controller in
                MainActor.assertIsolated()
                self?.told.append("will \(controller.fetchedRecords.count)")
            },
            onChange: { [weak self] _, player, change in
                MainActor.assertIsolated()
                self?.told.append("\(player.name) \(change.short)")
            },
            didChange: { [weak self] controller in self?.told.append("did \(controller.fetchedRecords.count)")
            })
    }

    func take() -> [String] {
        defer { told = [] }
        return told
    }
}

/// A list in an actor.
private actor ListActor {
    let controller: FetchedRecordsController<ListPlayer>
    private(set) var told = 0

    init(_ queue: DatabaseQueue) { controller = FetchedRecordsController(queue, request: byName) }

    func track() throws {
        try controller.performFetch()
        controller.trackChanges(onChange: { controller, player, _ in
            self.assertIsolated()
            // It is the actor's own, and may be changed.
            player.score += 1
            self.told += 1
        })
    }

    var names: [String] { controller.fetchedRecords.map(\.name) }
}

extension FetchedRecordChange {
    /// The places, with a star for old values.
    fileprivate var short: String {
        switch self {
        case .insertion(let new): "+\(new)"
        case .deletion(let old): "-\(old)"
        case .move(let old, let new, let values): "\(old)>\(new)\(values == nil ? "" : "*")"
        case .update(let old, let new, let values):
            "\(old)=\(new) was \((try? values["score"] as Int).map(String.init) ?? "?")"
        }
    }
}

@Suite("Changes of a list", .behaviour(77))
struct ListTrackingTests {
    @Test("are told on the main actor, those of a transaction at once, with the records") @MainActor
    func mainActor() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c", "d")
        let list = try MainList(queue)
        try await queue.change(
            """
            DELETE FROM listPlayer WHERE name = 'b';
            INSERT INTO listPlayer (name) VALUES ('bb');
            UPDATE listPlayer SET name = 'z' WHERE name = 'a';
            UPDATE listPlayer SET score = 3 WHERE name = 'd';
            """)
        try await eventually { list.told.last == "did 4" }
        #expect(
            list.take() == [
                "will 4", "b -[0, 1]", "bb +[0, 0]", "d [0, 3]=[0, 2] was 0", "z [0, 0]>[0, 3]*", "did 4",
            ])
        #expect(list.controller.fetchedRecords.map(\.name) == ["bb", "c", "d", "z"])
        // Nothing that the list shows.
        try await queue.change("UPDATE listPlayer SET name = name")
        try await queue.change("UPDATE listPlayer SET score = 4 WHERE name = 'd'")
        try await eventually { list.told.last == "did 4" }
        #expect(list.take() == ["will 4", "d [0, 2]=[0, 2] was 3", "did 4"])
    }

    @Test("are told in an actor, whose records they are")
    func actor() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let list = ListActor(queue)
        try await list.track()
        for number in 0..<20 { try await queue.change("INSERT INTO listPlayer (name) VALUES ('p\(number)')") }
        try await eventually { await list.names.count == 21 }
        await #expect(list.told == 20)
    }

    @Test("are a sequence for any function, which makes them in the list")
    func sequence() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        var iterator = controller.changes.makeAsyncIterator()
        try await queue.change("DELETE FROM listPlayer WHERE name = 'a'")
        try #expect(await iterator.next()?.changes.map(\.short) == ["-[0, 0]"])
        #expect(controller.fetchedRecords.map(\.name) == ["b"])
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('a')")
        try #expect(await iterator.next()?.changes.map(\.short) == ["+[0, 0]"])
        #expect(controller.fetchedRecords.map(\.name) == ["a", "b"])
        try await queue.close()
        try #expect(await iterator.next() == nil)
    }

    @Test("begin with all rows, where nothing was fetched")
    func first() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let controller = FetchedRecordsController(queue, request: byName)
        var iterator = controller.changes.makeAsyncIterator()
        try #expect(await iterator.next()?.changes.map(\.short) == ["+[0, 0]", "+[0, 1]"])
        #expect(controller.outline == [":2"])
    }

    @Test("of sections come and go with their rows") @MainActor
    func sections() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        try await queue.change("UPDATE listPlayer SET team = CASE name WHEN 'c' THEN 'red' ELSE 'blue' END")
        let controller = FetchedRecordsController(
            queue, request: ListPlayer.order(Column("team"), Column("name")), sectionNameKey: "team")
        try controller.performFetch()
        #expect(controller.outline == ["blue:2", "red:1"])
        var iterator = controller.changes.makeAsyncIterator()
        try await queue.change("UPDATE listPlayer SET team = 'amber' WHERE name = 'c'")
        var changes = try await iterator.next()
        #expect(changes?.deletedSections == [1] && changes?.insertedSections == [0])
        #expect(changes?.changes.map(\.short) == ["[1, 0]>[0, 0]*"])
        try await queue.change("UPDATE listPlayer SET team = 'amber' WHERE name = 'a'")
        changes = try await iterator.next()
        #expect(changes?.deletedSections == [] && changes?.insertedSections == [])
        #expect(changes?.changes.map(\.short) == ["[1, 0]>[0, 0]*"])
        #expect(controller.outline == ["amber:2", "blue:1"])
        try await queue.change("DELETE FROM listPlayer WHERE team = 'blue'")
        changes = try await iterator.next()
        #expect(changes?.deletedSections == [1] && changes?.changes.map(\.short) == ["-[1, 0]"])
    }

    @Test("from a request to another one are told where it is replaced, also while changes are on their way")
    @MainActor
    func replacedRequest() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        let list = try MainList(queue)
        list.controller.setRequest(ListPlayer.filter(Column("name") != "b").order(Column("name").desc))
        try await eventually { list.told.last == "did 2" }
        #expect(list.take() == ["will 3", "b -[0, 1]", "c [0, 2]>[0, 0]", "did 2"])
        // The list ends with the last request, with any fetch under way.
        for number in 0..<30 {
            try await queue.change("INSERT INTO listPlayer (name) VALUES ('n\(number)')")
            list.controller.setRequest(number % 2 == 0 ? byName : byName.reversed())
        }
        let names = try await queue.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM listPlayer ORDER BY name DESC")
        }
        try await eventually { list.controller.fetchedRecords.map(\.name) == names }
        #expect(list.errors == [])
    }

    @Test("Fetching while changes are tracked goes on from what was fetched") @MainActor
    func fetchingMeanwhile() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let list = try MainList(queue)
        for number in 0..<20 {
            try await queue.change("INSERT INTO listPlayer (name) VALUES ('n\(number)')")
            try list.controller.performFetch()
            #expect(list.controller.fetchedRecords.count == number + 2)
        }
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('z')")
        try await eventually { list.told.last == "did 22" }
        // The list never went back.
        let counts = list.told.filter { $0.hasPrefix("did") }.compactMap { Int($0.dropFirst(4)) }
        #expect(counts == counts.sorted())
    }

    @Test("end with an error, which is told once, and leave the list as it was") @MainActor
    func errors() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let list = try MainList(queue)
        try await queue.change("UPDATE listPlayer SET score = 'many' WHERE name = 'b'")
        try await eventually { list.errors.count == 1 }
        #expect(list.errors == ["RowDecodingError"] && list.told == [])
        #expect(list.controller.fetchedRecords.map(\.name) == ["a", "b"])
        try await queue.change("UPDATE listPlayer SET score = 1; DELETE FROM listPlayer WHERE name = 'a'")
        try list.controller.performFetch()
        #expect(list.controller.fetchedRecords.map(\.name) == ["b"])
        #expect(list.errors.count == 1 && list.told == [])
        let controller = FetchedRecordsController(queue, request: ListPlayer.select(Column("name")))
        await expectError(
            "a list identifies its rows by the primary key of table listPlayer: id. The request does not "
                + "fetch all of these: select them, too, or pass other key columns to the list"
        ) { for try await _ in controller.changes {} }
    }

    @Test("A newer tracking takes over from an older one, and stopping ends it")
    func takingOver() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        var first = controller.changes.makeAsyncIterator()
        var second = controller.changes.makeAsyncIterator()
        try #expect(await first.next() == nil)
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('b')")
        try #expect(await second.next()?.changes.count == 1)
        controller.stopTracking()
        try #expect(await second.next() == nil)
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('c')")
        #expect(controller.fetchedRecords.count == 2)
    }

    @Test("A list that is freed, or whose loop is cancelled, leaves nothing behind") @MainActor
    func freed() async throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        weak var freed: FetchedRecordsController<ListPlayer>?
        do {
            let list = try MainList(queue)
            freed = list.controller
            try await queue.change("INSERT INTO listPlayer (name) VALUES ('b')")
            try await eventually { !list.told.isEmpty }
        }
        try await eventually { freed == nil }
        let task = Task { @MainActor in
            let controller = FetchedRecordsController(queue, request: byName)
            for try await _ in controller.changes {}
            return controller.fetchedRecords.count
        }
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('c')")
        task.cancel()
        _ = try await task.value
        // The last query goes with the next commits.
        for number in 0..<3 { try await queue.change("INSERT INTO listPlayer (name) VALUES ('x\(number)')") }
    }

    @Test("A loop that is left fetches no more, and the next one goes on from the list as it is")
    func leftLoop() async throws {
        let fetches = Shared(0)
        var configuration = Configuration()
        configuration.trace = { event in
            if event.kind == .statement, event.sql.hasPrefix("SELECT * FROM \"listPlayer\"") {
                fetches.withLock { $0 += 1 }
            }
        }
        let queue = try DatabaseQueue.withListPlayers("a", configuration: configuration)
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        for number in 0..<3 {
            try await queue.change("INSERT INTO listPlayer (name) VALUES ('b\(number)')")
            for try await changes in controller.changes {
                #expect(changes.changes.map(\.short) == ["+[0, \(number + 1)]"])
                break
            }
            fetches.withLock { $0 = 0 }
            try await queue.change("UPDATE listPlayer SET score = score + 1 WHERE name = 'none'")
            try await queue.change("UPDATE listPlayer SET score = score + 1 WHERE name = 'a'")
            try await queue.change("UPDATE listPlayer SET score = score - 1 WHERE name = 'a'")
            for _ in 0..<5 {
                try await queue.writeWithoutTransaction { _ in }
                await Task.yield()
            }
            #expect(fetches.value == 0)
        }
    }

    @Test("Whoever is told changes may fetch again, and replace the request") @MainActor
    func reentrance() async throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        var told: [String] = []
        controller.trackChanges(
            onChange: { controller, player, change in
                told.append("\(player.name) \(change.short)")
                if told.count == 1 { controller.setRequest(byName.reversed()) }
                try? controller.performFetch()
            },
            didChange: { controller in
                if controller.fetchedRecords.isEmpty { controller.stopTracking() }
            })
        try await queue.change("INSERT INTO listPlayer (name) VALUES ('c'), ('d')")
        try await eventually { told.count == 2 }
        #expect(told == ["c +[0, 2]", "d +[0, 3]"])
        #expect(controller.fetchedRecords.map(\.name) == ["d", "c", "b", "a"])
        try await queue.change("DELETE FROM listPlayer")
        try await eventually { controller.tracking == nil }
    }

    @Test("What a slow owner has not taken comes at once, and makes the list of the last state") @MainActor
    func slowOwner() async throws {
        let queue = try DatabaseQueue.withListPlayers()
        let list = try MainList(queue)
        for number in 0..<200 {
            try queue.inDatabase { try $0.execute(sql: "INSERT INTO listPlayer (name) VALUES ('\(number)')") }
        }
        try await eventually { list.controller.fetchedRecords.count == 200 }
        #expect(list.told.count { $0.hasPrefix("did") } < 200)
    }

    @Test("Changes of another process are told where they are asked for") @MainActor
    func otherProcess() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = try file.queue { $0.busyMode = .timeout(60) }
        try await queue.change(
            "CREATE TABLE IF NOT EXISTS listPlayer (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER NOT NULL DEFAULT 0)"
        )
        let controller = FetchedRecordsController(queue, request: byName)
        controller.observeExternalChanges(every: .milliseconds(5))
        try controller.performFetch()
        var iterator = controller.changes.makeAsyncIterator()
        try await SecondProcess.execute("INSERT INTO listPlayer (name) VALUES ('a')", path: file.path)
        try #expect(await iterator.next()?.changes.map(\.short) == ["+[0, 0]"])
    }
}
