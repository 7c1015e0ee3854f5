import Foundation
import Observation
import TestSupport
import Testing

@testable import Shellac

/// A record that is followed, and the states that came.
final class Following: Sendable {
    let states = Recorder<String>()
    private let task: Task<Void, Never>

    init(_ sequence: RecordStates) {
        let states = states
        task = Task {
            do {
                for try await state in sequence {
                    switch state {
                    case .changed(let row):
                        let values = row.databaseValues.map { $0 == .null ? "NULL" : "\($0)" }
                        states.record(values.joined(separator: " "))
                    case .deleted: states.record("deleted")
                    }
                }
                states.record("end")
            } catch {
                states.record("error: \(error)")
            }
        }
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }

    /// The states that came after a change, when all is quiet.
    func states(after sql: String, in queue: any DatabaseWriter) async throws -> [String] {
        states.removeAll()
        try await queue.run(sql)
        try await queue.settle()
        return states.removeAll()
    }

    /// Waits for the first states.
    func first() async throws -> [String] {
        try await waitUntil { !states.elements.isEmpty }
        return states.removeAll()
    }
}

extension SQLSpy {
    /// The statements that have fetched followed rows since this was asked last.
    func takeFetches() -> [String] {
        removeAll().filter(\.isFetchOfFollowed)
    }
}

extension String {
    /// Whether this SQL fetches followed rows.
    var isFetchOfFollowed: Bool { hasPrefix("SELECT *") || hasPrefix("WITH shellac_keys") }
}

@Suite("Records that follow their row", .behaviour(78))
struct FollowTests {
    private func player(_ queue: any DatabaseWriter, _ id: Int64 = 1) throws -> LivePlayer {
        try queue.read { db in try LivePlayer.find(db, key: id) }
    }

    @Test("the present state comes first, and then one for each commit that has changed the row")
    func states() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a", "b")
        let following = try Following(player(queue).follow(in: queue))
        try #expect(await following.first() == ["1 a 0 NULL"])
        func states(_ sql: String) async throws -> [String] {
            try await following.states(after: sql, in: queue)
        }
        try #expect(await states("UPDATE livePlayer SET score = 1 WHERE id = 1") == ["1 a 1 NULL"])
        // Another row, another table, and the same values.
        try #expect(await states("UPDATE livePlayer SET score = 1 WHERE id = 2") == [])
        try #expect(await states("INSERT INTO other (note) VALUES ('x')") == [])
        try #expect(await states("UPDATE livePlayer SET score = 1") == [])
        try #expect(
            await states("SAVEPOINT s; UPDATE livePlayer SET score = 7; ROLLBACK TO s; RELEASE s") == [])
        await #expect(throws: CancellationError.self) {
            try await queue.write { db in
                try db.execute(sql: "UPDATE livePlayer SET score = 7")
                throw CancellationError()
            }
        }
        try await queue.settle()
        #expect(following.states.elements == [])
        try #expect(await states("REPLACE INTO livePlayer VALUES (1, 'r', 2, 3)") == ["1 r 2 3"])
    }

    @Test("rows that are not examined as they change are known by their row ids, or not at all")
    func unexamined() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a", "b")
        let following = try Following(player(queue).follow(in: queue))
        _ = try await following.first()
        // Its condition is tested with the values of rows, of which a transaction holds a thousand.
        let scores = Recorder<Int>()
        let watching = Task {
            for try await players in queue.values(of: LivePlayer.filter { $0.score > 1_000_000 }) {
                scores.record(players.count)
            }
        }
        defer { watching.cancel() }
        try await waitUntil { scores.elements == [0] }
        func states(_ sql: String) async throws -> [String] {
            try await following.states(after: sql, in: queue)
        }
        let many = """
            WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                INSERT INTO livePlayer SELECT i, 'c', 0, NULL FROM n
            """
        try #expect(await states("\(many); UPDATE livePlayer SET score = 1 WHERE id = 2") == [])
        try #expect(
            await states("UPDATE livePlayer SET score = 2; UPDATE livePlayer SET score = 3 WHERE id = 1")
                == ["1 a 3 NULL"])
        // After a change of the schema, the places of columns are unknown until the next fetch.
        try #expect(
            await states(
                "ALTER TABLE livePlayer ADD COLUMN extra; UPDATE livePlayer SET score = 4 WHERE id = 1")
                == ["1 a 4 NULL NULL"])
    }

    @Test(
        "a deletion is a state, a row of the key that comes again is another one, and another key is a deletion"
    )
    func deletion() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a", "b")
        let following = try Following(player(queue).follow(in: queue))
        _ = try await following.first()
        func states(_ sql: String) async throws -> [String] {
            try await following.states(after: sql, in: queue)
        }
        try #expect(await states("DELETE FROM livePlayer WHERE id = 1") == ["deleted"])
        try #expect(await states("DELETE FROM livePlayer WHERE id = 2") == [])
        try #expect(await states("INSERT INTO livePlayer VALUES (1, 'c', 5, NULL)") == ["1 c 5 NULL"])
        try #expect(await states("UPDATE livePlayer SET id = 9 WHERE id = 1") == ["deleted"])
        try #expect(await states("UPDATE livePlayer SET id = 1 WHERE id = 9") == ["1 c 5 NULL"])
        // All at once, which SQLite does without reporting rows unless there is an observer.
        try #expect(await states("DELETE FROM livePlayer") == ["deleted"])
        // One whose row is gone when the loop begins.
        let gone = LivePlayer()
        gone.id = 77
        let other = Following(gone.follow(in: queue))
        try #expect(await other.first() == ["deleted"])
        try #expect(
            await other.states(after: "INSERT INTO livePlayer (id, name) VALUES (77, 'x')", in: queue)
                == ["77 x 0 NULL"])
    }

    @Test("a record that is followed twice tells both, and is fetched once")
    func twice() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.write { db in
            try db.createLivePlayers()
            try db.addPlayer("a")
        }
        let record = try player(queue)
        let (first, second) = (Following(record.follow(in: queue)), Following(record.follow(in: queue)))
        _ = try await (first.first(), second.first())
        spy.removeAll()
        try #expect(
            await first.states(after: "UPDATE livePlayer SET score = 1", in: queue) == ["1 a 1 NULL"])
        #expect(second.states.removeAll() == ["1 a 1 NULL"])
        #expect(spy.takeFetches().count == 1)
        // One leaves, and the other goes on.
        first.cancel()
        try await waitUntil { !first.states.elements.isEmpty }
        #expect(first.states.removeAll() == ["end"])
        try #expect(
            await second.states(after: "UPDATE livePlayer SET score = 2", in: queue) == ["1 a 2 NULL"])
        // A late follower has the newest state first, also if it is known.
        let third = Following(record.follow(in: queue))
        try #expect(await third.first() == ["1 a 2 NULL"])
        second.cancel()
        third.cancel()
        spy.removeAll()
        try await queue.settle()
        try await queue.run("UPDATE livePlayer SET score = 3")
        try await queue.settle()
        #expect(spy.takeFetches() == [])
    }

    @Test("a record without a key has the loop throw a sentence that says to save it first")
    func noKey() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let following = Following(LivePlayer().follow(in: queue))
        let states = try await following.first()
        #expect(states.count == 1)
        #expect(states[0].hasPrefix("error: ") && states[0].contains("save it first"))
        #expect(states[0].contains("livePlayer") && states[0].contains("id is NULL"))
        // Others are not disturbed.
        let other = try Following(player(queue).follow(in: queue))
        try #expect(await other.first() == ["1 a 0 NULL"])
        let again = Following(LivePlayer().follow(in: queue))
        try #expect(await again.first()[0].contains("save it first"))
        try #expect(
            await other.states(after: "UPDATE livePlayer SET score = 1", in: queue) == ["1 a 1 NULL"])
    }

    @Test(
        "a record whose own key is changed is followed by the key that it began with",
        arguments: LiveKind.allCases)
    func ownKey(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a", "b")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let record = try player(queue)
        let following = Following(record.follow(in: queue))
        _ = try await following.first()
        record.id = 2
        try #expect(
            await following.states(after: "UPDATE livePlayer SET score = id", in: queue) == ["1 a 1 NULL"])
        // Its snapshot counts, and so does its merge policy: see `merge`.
        let other = Following(record.follow(in: queue))
        try #expect(await other.first() == ["1 a 1 NULL"])
    }

    @Test("a slow reader has the newest state", arguments: LiveKind.allCases)
    func slowReader(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var iterator = try player(queue).follow(in: queue).makeAsyncIterator()
        _ = try await iterator.next()
        for score in 1...20 {
            try await queue.run("UPDATE livePlayer SET score = \(score)")
            try await queue.settle()
        }
        guard case .changed(let row)? = try await iterator.next() else {
            Issue.record("the row is there")
            return
        }
        try #expect(row["score"] == 20)
    }

    @Test("it ends when it is cancelled and with the database, and throws the error of a fetch, once")
    func ends() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let record = try player(queue)
        let cancelled = Following(record.follow(in: queue))
        _ = try await cancelled.first()
        cancelled.cancel()
        try #expect(await cancelled.first() == ["end"])
        let failing = Following(record.follow(in: queue))
        _ = try await failing.first()
        let states = try await failing.states(after: "DROP TABLE livePlayer", in: queue)
        #expect(states.count == 1 && states[0].contains("no such table: livePlayer"), "\(states)")
        try await queue.run("CREATE TABLE livePlayer (id INTEGER PRIMARY KEY, name)")
        let closed = Following(record.follow(in: queue))
        try #expect(await closed.first() == ["deleted"])
        try await queue.close()
        try #expect(await closed.first() == ["end"])
        var late = record.follow(in: queue).makeAsyncIterator()
        await expectError("the database :memory: is closed") { _ = try await late.next() }
        try #expect(await late.next() == nil)
    }

    // MARK: - Keys

    @Test(
        "rows are found by keys of all shapes, and other rows' changes fetch none", arguments: KeyedTable.all)
    private func shapes(_ table: KeyedTable) async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.writeWithoutTransaction { try $0.add(collation: .caseInsensitiveCompare) }
        try await queue.run(table.schema)
        try await queue.run("INSERT INTO \(table.name) (\(table.columns), note) VALUES (\(table.key), 'a')")
        try await queue.run("INSERT INTO \(table.name) (\(table.columns), note) VALUES (\(table.other), 'b')")
        let record = try table.fetch(queue)
        let following = Following(record.follow(in: queue))
        // Two of them, so that both statements are used.
        let second = try Following(table.fetch(queue, "b").follow(in: queue))
        let first = try await following.first()
        #expect(first.count == 1 && first[0].contains("a"))
        _ = try await second.first()
        func states(_ sql: String) async throws -> [String] {
            spy.removeAll()
            return try await following.states(after: sql, in: queue)
        }
        let (one, two) = ("(\(table.columns)) = (\(table.key))", "(\(table.columns)) = (\(table.other))")
        try #expect(
            await states("UPDATE \(table.name) SET note = 'c' WHERE \(one)").first?.contains("c") == true)
        #expect(spy.takeFetches().count == 1)
        try #expect(
            await states("UPDATE \(table.name) SET note = 'd' WHERE \(two)").count == (table.isTold ? 0 : 1))
        #expect(spy.takeFetches().count == 1)
        try #expect(await states("UPDATE \(table.name) SET note = note || '!'").first?.contains("c!") == true)
        #expect(second.states.elements.last?.contains("d!") == true)
        #expect(spy.takeFetches().map { $0.hasPrefix("WITH") } == [true])
        second.cancel()
        try await waitUntil { second.states.elements.last == "end" }
        // The record is not followed any more.
        try #expect(
            await states("UPDATE \(table.name) SET note = 'e' WHERE \(two)").count == (table.isTold ? 0 : 1))
        #expect(spy.takeFetches().count == (table.isTold ? 0 : 1))
        try #expect(await states("DELETE FROM \(table.name) WHERE \(two)").count == (table.isTold ? 0 : 1))
        let moved = "UPDATE \(table.name) SET (\(table.columns)) = (\(table.other)) WHERE \(one)"
        try #expect(await states(moved) == ["deleted"])
        let back = "UPDATE \(table.name) SET (\(table.columns)) = (\(table.key)) WHERE \(two)"
        try #expect(await states(back).first?.contains("c!") == true)
        // A row that takes its place.
        let replaced = "REPLACE INTO \(table.name) (\(table.columns), note) VALUES (\(table.key), 'f')"
        try #expect(await states(replaced).first?.contains("f") == true)
        try #expect(await states("DELETE FROM \(table.name)") == ["deleted"])
    }

    @Test("a row of a view is followed through its tables")
    func view() async throws {
        final class Shown: Record {
            var id: Int64?
            var name = ""
            override class var databaseTableName: String { "shown" }
            override class var databasePrimaryKey: [String]? { ["id"] }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
            }
        }
        let queue = try DatabaseQueue.withLivePlayers("a", "b")
        try await queue.run(
            "CREATE VIEW shown AS SELECT id, upper(name) AS name FROM livePlayer WHERE score < 5")
        let shown = try await queue.read { db in try Shown.find(db, key: 1) }
        let following = Following(shown.follow(in: queue))
        try #expect(await following.first() == ["1 A"])
        func states(_ sql: String) async throws -> [String] {
            try await following.states(after: sql, in: queue)
        }
        try #expect(await states("UPDATE livePlayer SET name = 'c' WHERE id = 1") == ["1 C"])
        // It cannot be known which row of a view that is.
        try #expect(await states("UPDATE livePlayer SET name = 'd' WHERE id = 2") == ["1 C"])
        try #expect(await states("INSERT INTO other (note) VALUES ('x')") == [])
        try #expect(await states("UPDATE livePlayer SET score = 5") == ["deleted"])
    }

    // MARK: - What is not told

    @Test("VACUUM, another schema, a backup over it and changes that nobody saw have all rows looked at")
    func anything() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        try await queue.write { db in
            try db.createLivePlayers()
            for name in ["a", "b"] { try db.addPlayer(name) }
        }
        let following = try Following(player(queue).follow(in: queue))
        let second = try Following(player(queue, 2).follow(in: queue))
        _ = try await (following.first(), second.first())
        try await queue.writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
        try await queue.settle()
        #expect(following.states.elements == [])
        try #expect(
            await following.states(after: "ALTER TABLE livePlayer ADD COLUMN rank DEFAULT 3", in: queue)
                == ["1 a 0 NULL 3"])
        try #expect(
            await following.states(after: "UPDATE livePlayer SET rank = 4 WHERE id = 1", in: queue)
                == ["1 a 0 NULL 4"])
        // Changes by another connection, which the program reports or polls for.
        // (Its commit must wait while the other connection reads for a poll.)
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let other = try DatabaseQueue(path: folder.path("a.sqlite"), configuration: configuration)
        try await other.run("UPDATE livePlayer SET score = 9 WHERE id = 1")
        try await queue.settle()
        #expect(following.states.elements == [])
        try await queue.write { db in try db.notifyChanges(in: Table<Row>("livePlayer")) }
        try await queue.settle()
        #expect(following.states.removeAll() == ["1 a 9 NULL 4"])
        let polling = try Following(
            player(queue).follow(in: queue).observingExternalChanges(every: .milliseconds(5)))
        _ = try await polling.first()
        try await other.run("UPDATE livePlayer SET score = 10 WHERE id = 1")
        try #expect(await polling.first() == ["1 a 10 NULL 4"])
        // Another commit of ours finds it, too.
        try #expect(
            await following.states(after: "UPDATE livePlayer SET score = 1 WHERE id = 2", in: queue)
                == ["1 a 10 NULL 4"])
        let source = try DatabaseQueue.withLivePlayers("x")
        try await source.backup(to: queue)
        try await queue.settle()
        #expect(following.states.removeAll() == ["1 x 0 NULL"])
        #expect(second.states.elements.last == "deleted")
    }

    // MARK: - Isolation

    @MainActor @Observable
    final class Model {
        @ObservationIgnored let player: ObservedPlayer
        var isDeleted = false
        init(_ player: ObservedPlayer) { self.player = player }

        func follow(_ queue: DatabaseQueue) async throws {
            for try await state in player.follow(in: queue) {
                switch state {
                case .changed(let row): try player.merge(row)
                case .deleted: isDeleted = true
                }
            }
        }
    }

    actor Keeper {
        let player: LivePlayer
        var changes: [String: DatabaseValue?] { get throws { try player.databaseChanges } }
        var values: [Int] { [player.score, Int(player.teamID ?? 0)] }
        init(_ queue: DatabaseQueue) throws {
            player = try queue.read { db in try LivePlayer.find(db, key: 1) }
        }

        func rank(_ score: Int) { player.score = score }

        func follow(_ queue: DatabaseQueue) async throws {
            for try await state in player.follow(in: queue) {
                if case .changed(let row) = state { try player.merge(row) }
            }
        }
    }

    @Test("an @Observable record on the main actor notifies of what it merges, and of nothing else")
    @MainActor
    func observable() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let model = Model(try await queue.read { db in try ObservedPlayer.find(db, key: 1) })
        let task = Task { try await model.follow(queue) }
        defer { task.cancel() }
        let (names, scores) = (Recorder<Int>(), Recorder<Int>())
        try await queue.settle()
        withObservationTracking {
            _ = model.player.name
        } onChange: {
            names.record(1)
        }
        withObservationTracking {
            _ = model.player.score
        } onChange: {
            scores.record(1)
        }
        try await queue.run("UPDATE livePlayer SET score = 5")
        for _ in 0..<1_000 where model.player.score != 5 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(model.player.score == 5 && scores.elements == [1] && names.elements.isEmpty)
        model.player.name = "mine"
        #expect(names.elements == [1])
        try await queue.run("UPDATE livePlayer SET name = 'theirs', score = 6")
        for _ in 0..<1_000 where model.player.score != 6 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(model.player.name == "mine" && model.player.score == 6)
        try #expect(model.player.databaseChanges == ["name": "theirs".databaseValue])
        try await queue.run("DELETE FROM livePlayer")
        for _ in 0..<1_000 where !model.isDeleted { try await Task.sleep(for: .milliseconds(1)) }
        #expect(model.isDeleted && model.player.name == "mine")
    }

    @Test("a record of an actor follows its row")
    func actors() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let keeper = try Keeper(queue)
        let task = Task { try await keeper.follow(queue) }
        defer { task.cancel() }
        try await queue.settle()
        await keeper.rank(3)
        try await queue.run("UPDATE livePlayer SET score = 1, teamID = 4")
        for _ in 0..<1_000 where await keeper.values != [3, 4] { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await keeper.values == [3, 4])
        try #expect(await keeper.changes == ["score": 1.databaseValue])
    }

    @Test(
        "a row that does not convert throws, naming the table, the column and the SQL, and leaves the record alone"
    )
    func wrongValue() async throws {
        let queue = try DatabaseQueue.withLivePlayers("a")
        let record = try player(queue)
        try await queue.run("UPDATE livePlayer SET score = 'many', name = 'b'")
        var iterator = record.follow(in: queue).makeAsyncIterator()
        guard case .changed(let row)? = try await iterator.next() else {
            Issue.record("the row is there")
            return
        }
        let error = #expect(throws: RowDecodingError.self) { try record.merge(row) }
        let sentence = try #require(error).description
        #expect(sentence.contains("\"score\"") && sentence.contains("FROM \"livePlayer\" WHERE \"id\" = ?"))
        #expect(record.name == "a" && record.score == 0 && !record.hasDatabaseChanges)
    }
}

@Observable
final class ObservedPlayer: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "livePlayer" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

// MARK: - Tables

/// A table of a shape of keys, with two rows of them.
private struct KeyedTable: Sendable, CustomTestStringConvertible {
    let name: String
    let schema: String
    let columns: String
    let key: String
    let other: String
    /// Whether it is notified of the rows that change.
    let isTold: Bool
    private let fetchNoted: @Sendable (DatabaseQueue, String) throws -> Record

    var testDescription: String { name }

    init<Fetched: NotedRecord>(
        type: Fetched.Type, schema: String, columns: String, key: String, other: String, isTold: Bool = true
    ) {
        (name, self.schema, self.columns) = (type.databaseTableName, schema, columns)
        (self.key, self.other, self.isTold) = (key, other, isTold)
        fetchNoted = { queue, note in
            try queue.read { db in try #require(try Fetched.filter(Column("note") == note).fetchOne(db)) }
        }
    }

    func fetch(_ queue: DatabaseQueue, _ note: String = "a") throws -> Record { try fetchNoted(queue, note) }

    static let all = [
        KeyedTable(
            type: IntegerNoted.self, schema: "CREATE TABLE integerNoted (id INTEGER PRIMARY KEY, note TEXT)",
            columns: "id", key: "-3", other: "4"),
        KeyedTable(
            type: HiddenNoted.self, schema: "CREATE TABLE hiddenNoted (note TEXT)", columns: "rowid",
            key: "5",
            other: "6"),
        KeyedTable(
            type: TextNoted.self, schema: "CREATE TABLE textNoted (code TEXT PRIMARY KEY, note TEXT)",
            columns: "code", key: "'x''y'", other: "'é'"),
        KeyedTable(
            type: CasedNoted.self,
            schema: "CREATE TABLE casedNoted (code TEXT PRIMARY KEY COLLATE NOCASE, note TEXT)",
            columns: "code", key: "'x'", other: "'y'"),
        // Only SQLite can look up the values that such a collation treats as equal.
        KeyedTable(
            type: FoldedNoted.self,
            schema:
                "CREATE TABLE foldedNoted (code TEXT PRIMARY KEY COLLATE swiftCaseInsensitiveCompare, note TEXT)",
            columns: "code", key: "'x'", other: "'y'", isTold: false),
        KeyedTable(
            type: PairNoted.self,
            schema:
                "CREATE TABLE pairNoted (note TEXT, a INTEGER, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID",
            columns: "a, b", key: "1, 'x'", other: "2, 'x'"),
        KeyedTable(
            type: BlobNoted.self,
            schema: "CREATE TABLE blobNoted (code BLOB PRIMARY KEY, note TEXT) WITHOUT ROWID",
            columns: "code",
            key: "X'00FF'", other: "X'00'"),
        KeyedTable(
            type: RealNoted.self, schema: "CREATE TABLE realNoted (code REAL PRIMARY KEY, note TEXT)",
            columns: "code", key: "3", other: "2.5"),
    ]
}

private class NotedRecord: Record {
    var note = ""
    override func columns(_ column: borrowing RecordColumns) throws { try column("note", note) { note = $0 } }
}

private final class IntegerNoted: NotedRecord {
    var id: Int64?
    override class var databaseTableName: String { "integerNoted" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("id", id) { id = $0 }
    }
}

private final class HiddenNoted: NotedRecord {
    var id: Int64?
    override class var databaseTableName: String { "hiddenNoted" }
    override class var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("rowid", id) { id = $0 }
    }
}

private class CodeNoted: NotedRecord {
    var code = DatabaseValue.null
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("code", code) { code = $0 }
    }
}

private final class TextNoted: CodeNoted {
    override class var databaseTableName: String { "textNoted" }
}
private final class CasedNoted: CodeNoted {
    override class var databaseTableName: String { "casedNoted" }
}
private final class FoldedNoted: CodeNoted {
    override class var databaseTableName: String { "foldedNoted" }
}
private final class BlobNoted: CodeNoted {
    override class var databaseTableName: String { "blobNoted" }
}
private final class RealNoted: CodeNoted {
    override class var databaseTableName: String { "realNoted" }
}

private final class PairNoted: NotedRecord {
    var (a, b) = (0, "")
    override class var databaseTableName: String { "pairNoted" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("a", a) { a = $0 }
        try column("b", b) { b = $0 }
    }
}
