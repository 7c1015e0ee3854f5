import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Values of a request", .behaviour(75))
struct LiveRequestTests {
    @Test(
        "are class records, which arrive in the isolation of the loop, without an annotation",
        arguments: LiveKind.allCases)
    @MainActor
    func records(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var kept: [LivePlayer] = []
        for try await players in queue.values(of: LivePlayer.order(Column("id"))) {
            MainActor.preconditionIsolated()
            kept += players
            // They are the loop's own, clean, and can be changed.
            #expect(players.allSatisfy { !$0.hasDatabaseChanges })
            for player in players { player.name += "!" }
            if players.count == 2 { break }
            try await queue.run("INSERT INTO livePlayer (name) VALUES ('b')")
        }
        #expect(kept.map(\.name) == ["a!", "a!", "b!"])
        #expect(kept[0] !== kept[1])
    }

    @Test(
        "are any elements: structs, values, optional values, rows, in SQL as well",
        arguments: LiveKind.allCases)
    func elements(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a", "b")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        for try await players in queue.values(of: PlayerValue.all()) {
            #expect(players.map(\.name) == ["a", "b"])
            break
        }
        for try await names in queue.values(of: PlayerValue.select(Column("name"), as: String.self)) {
            #expect(names == ["a", "b"])
            break
        }
        for try await teams in queue.values(of: PlayerValue.select(Column("teamID"), as: Int?.self)) {
            #expect(teams == [nil, nil])
            break
        }
        for try await rows in queue.values(
            of: SQLRequest<Row>(sql: "SELECT * FROM livePlayer WHERE id > ?", arguments: [1]))
        {
            try #expect(rows.map { try $0["name"] as String } == ["b"])
            break
        }
        // An error of one reader's elements ends this reader alone.
        var sound = queue.values(of: Table<Row>("livePlayer").all()).makeAsyncIterator()
        try #expect(await sound.next()?.count == 2)
        await #expect(throws: RowDecodingError.self) {
            for try await _ in queue.values(of: PlayerValue.select(Column("teamID"), as: Int.self)) {}
        }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('c')")
        try #expect(await sound.next()?.count == 3)
    }

    @Test("which are equal wake nobody", arguments: LiveKind.allCases)
    func equal(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a", "b")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let seen = Recorder<Int>()
        let task = Task {
            for try await players in queue.values(
                of: SQLRequest<LivePlayer>(sql: "SELECT * FROM livePlayer WHERE score > 0"))
            {
                seen.record(players.count)
            }
        }
        try await waitUntil { seen.elements == [0] }
        try await queue.run("INSERT INTO livePlayer (name) VALUES ('c')")
        try await queue.run("UPDATE livePlayer SET score = 0")
        try await queue.settle()
        #expect(seen.elements == [0])
        try await queue.run("UPDATE livePlayer SET score = 1 WHERE id = 1")
        try await waitUntil { seen.elements == [0, 1] }
        task.cancel()
        try await task.value
    }

    @Test("differ where SQLite tells their values apart, and no others do")
    func differences() async throws {
        let queue = try DatabaseQueue()
        try await queue.run("CREATE TABLE t (a); INSERT INTO t VALUES (NULL)")
        let seen = Recorder<[DatabaseValue]>()
        let task = Task {
            for try await values in queue.values(of: SQLRequest<DatabaseValue>(sql: "SELECT a FROM t")) {
                seen.record(values)
            }
        }
        let values = [
            "1", "1.0", "'1'", "x'31'", "''", "x''", "'\u{e9}'", "'e\u{301}'", "9007199254740993",
            "9007199254740992.0",
            "'\(String(repeating: "x", count: 10_000))'", "'\(String(repeating: "x", count: 9_999))y'",
        ]
        for (number, value) in values.enumerated() {
            try await waitUntil { seen.elements.count == number + 1 }
            try await queue.run("UPDATE t SET a = \(value)")
            try await waitUntil { seen.elements.count == number + 2 }
            try await queue.run("UPDATE t SET a = \(value)")
        }
        try await queue.settle()
        #expect(seen.elements.count == values.count + 1)
        task.cancel()
        try await task.value
    }

    @Test("of equal SQL and arguments are fetched once for all readers, each with objects of its own")
    func sharing() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.inDatabase { db in
            try db.createLivePlayers()
            try db.addPlayer("a", teamID: 1)
        }
        func isFetch(_ sql: String) -> Bool { sql.hasPrefix("SELECT * FROM \"livePlayer\"") }
        spy.removeAll()
        let objects = Shared<[ObjectIdentifier: LivePlayer]>([:])
        let counts = Recorder<Int>()
        let tasks = (0..<10).map { number in
            Task {
                // Different ways to the same statement.
                let request = LivePlayer.filter(Column("teamID") == (number % 5 == 0 ? 2 : 1))
                for try await players in queue.values(of: request) {
                    objects.withLock { objects in
                        for player in players {
                            #expect(objects.updateValue(player, forKey: ObjectIdentifier(player)) == nil)
                        }
                    }
                    counts.record(players.count)
                }
            }
        }
        try await waitUntil { counts.elements.count == 10 }
        #expect(spy.sql.filter(isFetch).count == 2)
        spy.removeAll()
        try await queue.run("INSERT INTO livePlayer (name, teamID) VALUES ('b', 1)")
        try await waitUntil { counts.elements.count == 18 }
        try await queue.settle()
        #expect(spy.sql.filter(isFetch).count <= 2)
        #expect(counts.elements.reduce(0, +) == 8 + 16)
        // All but one leave: it goes on.
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() { try await task.value }
        try await queue.run("INSERT INTO livePlayer (name, teamID) VALUES ('c', 1)")
        try await waitUntil { counts.elements.count == 19 }
        tasks[9].cancel()
        try await tasks[9].value
        try await queue.run("INSERT INTO livePlayer (name, teamID) VALUES ('d', 1)")
        try queue.inDatabase { db in #expect(LiveHosts.of(db).rowsCount == 0) }
    }

    @Test("go separate ways when a change of the schema makes equal requests different")
    func regrouping() async throws {
        struct Pair: TableRecord, FetchableRecord, Sendable {
            static let databaseTableName = "t"
            let a: Int
            init(row: Row) throws { a = try row["a"] }
        }
        let queue = try DatabaseQueue()
        try await queue.run(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, k, a); INSERT INTO t VALUES (1, 2, 10), (2, 1, 20)")
        var byKey = queue.values(of: Pair.filter(key: 1)).makeAsyncIterator()
        try #expect(await byKey.next()?.map(\.a) == [10])
        var byColumn = queue.values(of: Pair.filter(Column("id") == 1)).makeAsyncIterator()
        try #expect(await byColumn.next()?.map(\.a) == [10])
        try queue.inDatabase { db in #expect(LiveHosts.of(db).rowsCount == 1) }
        try await queue.run(
            "DROP TABLE t; CREATE TABLE t (id, k INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2, 30), (2, 1, 40)"
        )
        try #expect(await byKey.next()?.map(\.a) == [40])
        try #expect(await byColumn.next()?.map(\.a) == [30])
        try queue.inDatabase { db in #expect(LiveHosts.of(db).rowsCount == 2) }
        try await queue.run("UPDATE t SET a = a + 1")
        try #expect(await byKey.next()?.map(\.a) == [41])
        try #expect(await byColumn.next()?.map(\.a) == [31])
    }

    @Test("and what was loaded for them are fetched for each reader")
    func relations() async throws {
        let queue = try DatabaseQueue()
        try await queue.run(
            """
            CREATE TABLE liveTeam (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE liveMember (id INTEGER PRIMARY KEY, name TEXT NOT NULL, teamID INTEGER REFERENCES liveTeam(id));
            INSERT INTO liveTeam VALUES (1, 'red');
            """)
        var values = queue.values(of: LiveTeam.including(LiveTeam.members)).makeAsyncIterator()
        try #expect(await values.next()?.first?.members.count == 0)
        try await queue.run("INSERT INTO liveMember (name, teamID) VALUES ('a', 1)")
        try #expect(await values.next()?.first?.members.map(\.name) == ["a"])
    }

    @Test("a loop reads on while its objects are changed, and saved", arguments: LiveKind.allCases)
    func saving(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var rounds = 0
        for try await players in queue.values(of: LivePlayer.all()) {
            rounds += 1
            if rounds == 5 { break }
            guard let player = players.first else { continue }
            player.score += 1
            try await queue.write(sending: player) { db, player in try player.update(db) }
        }
        try await queue.read { db in try #expect(LivePlayer.fetchOne(db)?.score == 4) }
    }

    @Test("objects may be changed while the next ones are made", arguments: LiveKind.allCases)
    func changing(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a", "b", "c")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let readers = (0..<4).map { _ in
            Task {
                var last = 0
                for try await players in queue.values(of: LivePlayer.order(Column("id"))) {
                    for round in 0..<50 {
                        for player in players {
                            player.name = "\(round)"
                            player.score += 1
                            _ = try player.databaseChanges
                        }
                    }
                    last = players.map(\.score).min() ?? 0
                    if last >= 150 { break }
                }
                return last
            }
        }
        let observation = ValueObservation<[LivePlayer]>.tracking { db in try LivePlayer.fetchAll(db) }
            .map { players in
                for player in players { player.name = "mapped" }
                return players
            }
        let seen = Recorder<Int>()
        let running = observation.start(in: queue, scheduling: .task) { _ in
        } onChange: { players in
            for player in players { player.score += 1000 }
            seen.record(players.map(\.score).max() ?? 0)
        }
        for _ in 0..<100 { try await queue.run("UPDATE livePlayer SET score = score + 1") }
        for reader in readers { try #expect(await reader.value >= 150) }
        try await waitUntil { seen.elements.last == 1100 }
        withExtendedLifetime(running) {}
    }

    @Test("a request whose SQL is wrong throws, and one whose table is dropped", arguments: LiveKind.allCases)
    func errors(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind, "a")
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        await expectError(#"near "SELEC": syntax error"#) {
            for try await _ in queue.values(of: SQLRequest<Row>(sql: "SELEC 1")) {}
        }
        var values = queue.values(of: PlayerValue.all()).makeAsyncIterator()
        var others = queue.values(of: LivePlayer.all()).makeAsyncIterator()
        try #expect(await values.next()?.count == 1)
        try #expect(await others.next()?.count == 1)
        try await queue.run("DROP TABLE livePlayer")
        var error = await #expect(throws: DatabaseError.self) { try await values.next() }
        #expect(error?.message?.hasPrefix("no such table: livePlayer") == true)
        error = await #expect(throws: DatabaseError.self) { try await others.next() }
        #expect(error?.message?.hasPrefix("no such table: livePlayer") == true)
    }
}

private final class LiveTeam: Record {
    var id: Int64?
    var name = ""
    static let members = hasMany(LiveMember.self)
    var members: [LiveMember] { get throws { try self[Self.members] } }
    override class var databaseTableName: String { "liveTeam" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class LiveMember: Record {
    var id: Int64?
    var name = ""
    var teamID: Int64?
    override class var databaseTableName: String { "liveMember" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}
