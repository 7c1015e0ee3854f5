import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A class of players, which is not Sendable.
class LivePlayer: Record {
    var id: Int64?
    var name = ""
    var score = 0
    var teamID: Int64?

    override class var databaseTableName: String { "livePlayer" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}

/// The same row, as a value.
struct PlayerValue: Codable, FetchableRecord, TableRecord, MutablePersistableRecord, Hashable, Sendable {
    static let databaseTableName = "livePlayer"
    var id: Int64?
    var name = ""
    var score = 0
    var teamID: Int64?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A request that is followed, and the number of times that its statement was run.
final class WatchedRequest: Sendable {
    let queue: DatabaseQueue
    let spy = SQLSpy()
    let deliveries = Recorder<[[DatabaseValue]]>()
    private let task = Shared<Task<Void, any Error>?>(nil)

    init(
        _ schema: String, encoding: String? = nil,
        setUp: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws {
        var configuration = spy.configuration()
        if let encoding {
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA encoding = '\(encoding)'") }
        }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try setUp(db)
            try db.execute(sql: schema)
        }
    }

    deinit { task.value?.cancel() }

    func follow(_ request: QueryInterfaceRequest<Row>) async throws {
        let (queue, deliveries) = (queue, deliveries)
        task.withLock { task in
            task = Task {
                do {
                    for try await rows in queue.values(of: request) {
                        deliveries.record(rows.map { Array($0.databaseValues) })
                    }
                } catch {
                    Issue.record("the request ended with \(error)")
                }
            }
        }
        try await waitUntil { !deliveries.elements.isEmpty }
        try await queue.settle()
        spy.removeAll()
    }

    /// Returns the number of fetches that a change causes.
    ///
    /// - Parameter count: The number to wait for, however busy the machine is.
    func fetches(after sql: String, atLeast count: Int = 0) async throws -> Int {
        spy.removeAll()
        try await queue.run(sql)
        try await waitUntil { fetchCount >= count }
        try await queue.settle()
        return fetchCount
    }

    private var fetchCount: Int {
        spy.sql.filter { $0.hasPrefix("SELECT") && $0.contains("FROM \"t\"") }.count
    }
}

extension Database {
    func createLivePlayers() throws {
        try execute(
            sql: """
                CREATE TABLE livePlayer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL DEFAULT 0, teamID INTEGER);
                CREATE TABLE other (id INTEGER PRIMARY KEY, note TEXT);
                """)
    }

    func addPlayer(_ name: String, score: Int = 0, teamID: Int64? = nil) throws {
        try execute(
            sql: "INSERT INTO livePlayer (name, score, teamID) VALUES (?, ?, ?)",
            arguments: [name, score, teamID])
    }
}

/// The databases that live values are tested with.
enum LiveKind: String, CaseIterable, Sendable {
    case queue, pool
}

/// A database of players, of some kind. Its file goes with it.
final class LiveDatabase: Sendable {
    let writer: any DatabaseWriter
    private let folder: TemporaryFolder?

    init(_ kind: LiveKind, configuration: Configuration) throws {
        switch kind {
        case .queue: (writer, folder) = (try DatabaseQueue(configuration: configuration), nil)
        case .pool:
            let folder = try TemporaryFolder()
            var configuration = configuration
            // The file is not to outlive the machine.
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
            let path = folder.url.appending(path: "live.sqlite").path
            (writer, self.folder) = (try DatabasePool(path: path, configuration: configuration), folder)
        }
    }

    convenience init(_ kind: LiveKind, _ names: String...) throws {
        try self.init(kind, configuration: Configuration())
        try writer.inDatabase { db in
            try db.createLivePlayers()
            for name in names { try db.addPlayer(name) }
        }
    }
}

extension DatabaseQueue {
    static func withLivePlayers(_ names: String...) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.createLivePlayers()
            for name in names { try db.addPlayer(name) }
        }
        return queue
    }
}

extension DatabaseWriter {
    /// Writes from a task, without blocking it.
    func run(_ sql: String) async throws { try await write { db in try db.execute(sql: sql) } }

    /// Lets all that is in line before have its turn, and what wakes up then.
    func settle() async throws {
        for _ in 0..<5 {
            try await writeWithoutTransaction { _ in }
            await Task.yield()
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// The names, as they are observed.
let playerNames = ValueObservation<[String]>.tracking { db in
    try String.fetchAll(db, sql: "SELECT name FROM livePlayer ORDER BY id")
}
