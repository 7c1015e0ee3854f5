import Foundation
import Shellac
import Synchronization

/// Writing beside live values, over the same beside none; and live values that are written for.
enum LiveWorkloads {
    static let all = [
        Workload("live.idle", gate: 1.2, goal: 1.1, sides: idle),
        Workload("live.thousand", gate: 2.5, goal: 2, sides: thousand),
        Workload("live.list", gate: 1, goal: 0.5) { try list($0, isShuffled: false) },
        Workload("live.list.shuffled", gate: 2, goal: 1) { try list($0, isShuffled: true) },
    ]

    private struct Member: TableRecord, FetchableRecord, Codable {
        static let databaseTableName = "member"
        var id: Int64
        var name: String
        var score: Int
        var teamID: Int64
    }

    private static let teams = 1_000

    /// Opens a file as programs do, in WAL mode, with ten members of each team.
    private static func open(
        _ path: String, _ configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        var configuration = configuration
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL, teamID INTEGER NOT NULL);
                    CREATE INDEX memberTeam ON member(teamID);
                    """)
            for number in 0..<teams * 10 {
                try db.execute(
                    sql: "INSERT INTO member (name, score, teamID) VALUES (?, ?, ?)",
                    arguments: ["Arthur \(number)", number, number % teams + 1])
            }
        }
        return queue
    }

    /// Reads the values of 1,000 requests `teamID = k`, as long as it lives.
    private final class Readers: Sendable {
        private let tasks: [Task<Void, any Error>]
        /// The number of arrays that have arrived.
        let count: Counter

        init(_ queue: DatabaseQueue) {
            let count = Counter()
            self.count = count
            tasks = (1...teams).map { team in
                Task {
                    for try await members in queue.values(of: Member.filter(Column("teamID") == team)) {
                        count.add(members.isEmpty ? 0 : 1)
                    }
                }
            }
            count.wait(for: teams)
        }

        deinit { for task in tasks { task.cancel() } }
    }

    /// Counts, and has others wait until it has counted far enough.
    private final class Counter: Sendable {
        private let number = Atomic(0)
        private let changed = DispatchSemaphore(value: 0)

        var value: Int { number.load(ordering: .acquiring) }

        func add(_ more: Int) {
            number.add(more, ordering: .releasing)
            changed.signal()
        }

        func wait(for wanted: Int) {
            while value < wanted { changed.wait() }
        }
    }

    /// Insertions and updates by id, each a transaction, and a transaction of 1,000 rows. All write
    /// teams, which no reader follows.
    private static func idle(_ fixture: Fixture) throws -> Sides {
        let count = 1_000
        func side(isObserved: Bool) throws -> Side {
            let queue = try open(fixture.path(of: isObserved ? "live" : "idle"))
            let readers = isObserved ? Readers(queue) : nil
            return Side {
                defer { withExtendedLifetime(readers) {} }
                return try queue.writeWithoutTransaction { db in
                    let insertion = try db.cachedStatement(
                        sql: "INSERT INTO member (name, score, teamID) VALUES (?, ?, ?)")
                    let update = try db.cachedStatement(
                        sql: "UPDATE member SET name = ?, score = ?, teamID = ? WHERE id = ?")
                    for number in 0..<count {
                        try insertion.execute(arguments: ["Barbara \(number)", number, teams + 1 + number])
                    }
                    for number in 0..<count {
                        try update.execute(arguments: [
                            "Craig \(number)", number, teams + 5, teams * 10 + 1 + number,
                        ])
                    }
                    try db.inTransaction {
                        for number in 0..<count {
                            try insertion.execute(arguments: ["Diane \(number)", number, teams + 1 + number])
                        }
                        return .commit
                    }
                    let sum =
                        try Int.fetchOne(
                            db, sql: "SELECT COUNT(*) + SUM(length(name) + score + teamID) FROM member") ?? 0
                    try db.execute(sql: "DELETE FROM member WHERE id > ?", arguments: [teams * 10])
                    return UInt64(sum)
                }
            }
        }
        return Sides(
            operations: count * 3, c: try side(isObserved: false), shellac: try side(isObserved: true))
    }

    /// Changes of one row, one after the other, each of which concerns one of 1,000 requests, until
    /// its reader has the new array. The other side has no observation: a thread fetches the
    /// requests that it is sent. The checksum says that each had one fetch, or two.
    private static func thousand(_ fixture: Fixture) throws -> Sides {
        let count = 200
        let fetches = Counter()
        var configuration = Configuration()
        configuration.trace = { event in
            if event.kind == .statement, event.sql.hasPrefix("SELECT * FROM \"member\"") { fetches.add(1) }
        }
        let queue = try open(fixture.path(of: "thousand"), configuration)
        let readers = Readers(queue)
        let shellac = Side {
            let before = fetches.value
            for number in 0..<count {
                let arrived = readers.count.value
                try queue.write { db in
                    try db.cachedStatement(sql: "UPDATE member SET score = score + 1 WHERE id = ?")
                        .execute(arguments: [number * 7 + 1])
                }
                readers.count.wait(for: arrived + 1)
            }
            let made = fetches.value - before
            return made >= count && made <= 2 * count ? 1 : UInt64(made)
        }
        return Sides(operations: count, c: try byHand(fixture, count), shellac: shellac)
    }

    private static func byHand(_ fixture: Fixture, _ count: Int) throws -> Side {
        let path = fixture.path(of: "hand")
        try open(path).close()
        let connection = try CConnection(path)
        try connection.execute("PRAGMA synchronous = NORMAL")
        let begin = try connection.prepare("BEGIN IMMEDIATE")
        let update = try connection.prepare("UPDATE member SET score = score + 1 WHERE id = ?")
        let commit = try connection.prepare("COMMIT")
        // It is used by one thread at a time: they wait for each other.
        nonisolated(unsafe) let fetch = try connection.prepare("SELECT * FROM member WHERE teamID = ?")
        let thread = DispatchQueue(label: "hand")
        let arrived = Counter()
        return Side {
            for number in 0..<count {
                try begin.run()
                update.bind(number * 7 + 1, 1)
                try update.run()
                try commit.run()
                let wanted = arrived.value + 1
                thread.async {
                    fetch.bind((number * 7) % teams + 1, 1)
                    let members = try? fetch.array {
                        Member(
                            id: Int64($0.int(0)), name: $0.text(1), score: $0.int(2), teamID: Int64($0.int(3))
                        )
                    }
                    arrived.add(members?.count == 10 ? 1 : 0)
                }
                arrived.wait(for: wanted)
            }
            return 1
        }
    }

    /// The changes of a list of 10,000 rows, of which some or all are in another place. The other
    /// side compares the keys, as one writes it by hand, and finds which are gone and which are
    /// new.
    private static func list(_ fixture: Fixture, isShuffled: Bool) throws -> Sides {
        let queue = try open(fixture.path(of: "list"))
        let old = Member.filter(sql: "id <= 9900").order(sql: "id")
        // A hundred are gone, a hundred are new, and a hundred are in another place.
        let new = Member.filter(sql: "id > 100").order(
            sql: isShuffled
                ? "id * 7919 % 10007" : "CASE WHEN id % 97 = 5 THEN id * 31 % 10007 ELSE id END, id")
        let comparison = try ListComparison(old, new, in: queue)
        let keys = comparison.keys
        let c = Side {
            let (before, after) = (Set(keys.old), Set(keys.new))
            return UInt64(before.subtracting(after).count + after.subtracting(before).count)
        }
        let shellac = Side {
            UInt64(
                comparison.changes().changes.count { change in
                    switch change {
                    case .insertion, .deletion: true
                    case .move, .update: false
                    }
                })
        }
        return Sides(operations: keys.new.count, c: c, shellac: shellac)
    }
}
