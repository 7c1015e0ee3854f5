// Needs Held.
import Foundation
import TestSupport
import Testing

/// A program about class records and concurrency, and what the compiler says of it.
struct IsolationProgram: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let source: String
    /// The number of the line that is wrong, and a part of what is said of it.
    let errors: [(line: Int, message: String)]

    init(_ description: String, _ source: String, errors: [(Int, String)] = []) {
        (testDescription, self.source) = (description, source)
        self.errors = errors.map { (line: $0.0, message: $0.1) }
    }

    /// The compiler's verdict. The lines are those of the source above.
    func compile() async throws -> Command {
        let prelude = """
            import Shellac
            final class Player: Record {
                var id: Int64?
                var name = ""
                override class var databaseTableName: String { "player" }
                override func updateFromRow(_ row: Row) throws { id = try row["id"]; name = try row["name"] }
                override func encode(to container: inout PersistenceContainer) throws {
                    container["id"] = id
                    container["name"] = name
                }
            }
            """
        return try await SwiftScript.compile(
            source: "\(prelude)\n#sourceLocation(file: \"program\", line: 1)\n\(source)\n")
    }
}

@Suite("Class records and the compiler", .serialized)
struct RecordIsolationTests {
    @Test("programs that hand class records over compile without an annotation", arguments: accepted)
    func compiles(_ program: IsolationProgram) async throws {
        let result = try await program.compile()
        #expect(result.succeeded, "\(result.output)")
    }

    @Test("programs that share class records do not compile, and the compiler says why", arguments: refused)
    func doesNotCompile(_ program: IsolationProgram) async throws {
        let result = try await program.compile()
        #expect(!result.succeeded)
        let said = result.output.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(said.count == program.errors.count, "\(result.output)")
        for error in program.errors {
            #expect(
                said.contains { $0.hasPrefix("program:\(error.line):") && $0.contains(error.message) },
                "\(result.output)")
        }
    }

    static let accepted = [
        IsolationProgram(
            "records are fetched",
            """
            @MainActor func players(_ dbQueue: DatabaseQueue) async throws -> [Player] {
                try await dbQueue.read { db in try Player.fetchAll(db) }
            }
            @MainActor final class Model {
                var players: [Player] = []
                func load(_ dbQueue: DatabaseQueue) async throws {
                    players = try await dbQueue.read { db in try Player.fetchAll(db) }
                }
            }
            actor Store {
                var player: Player?
                func load(_ dbQueue: some DatabaseReader) async throws {
                    player = try await dbQueue.read { db in try Player.fetchOne(db, key: 1) }
                }
            }
            """),
        IsolationProgram(
            "a record is handed over, and comes back",
            """
            func insert(_ dbQueue: DatabaseQueue) async throws -> Int64? {
                let player = Player()
                player.name = "Arthur"
                return try await dbQueue.write(sending: player) { db, player in
                    try player.insert(db)
                    return player.id
                }
            }
            actor Store {
                var player: Player?
                func insert(_ dbWriter: any DatabaseWriter) async throws {
                    player = try await dbWriter.write(sending: Player()) { db, player in
                        try player.insert(db)
                        return player
                    }
                }
            }
            """),
        IsolationProgram(
            "several records are handed over",
            """
            func insert(_ dbQueue: DatabaseQueue) async throws {
                let players = [Player(), Player()]
                try await dbQueue.write(sending: players) { db, players in
                    for player in players { try player.save(db) }
                }
            }
            """),
        IsolationProgram(
            "a record that stays with its owner is saved",
            """
            @MainActor final class Editor {
                let player = Player()
                func commit(_ dbQueue: DatabaseQueue) async throws { try await player.save(in: dbQueue) }
            }
            actor Store {
                let player = Player()
                func commit(_ dbQueue: some DatabaseWriter) async throws { try await player.save(in: dbQueue) }
            }
            """),
        IsolationProgram(
            "all that is done to records that stay with their owner: the way out of the first four below",
            """
            @MainActor final class Model {
                var players: [Player] = []
                let dbQueue: any DatabaseWriter
                init(_ dbQueue: any DatabaseWriter) { self.dbQueue = dbQueue }
                func all() async throws {
                    let new = Player()
                    try await new.insert(in: dbQueue)
                    players.append(new)
                    try await players[0].update(in: dbQueue)
                    try await players[0].update(in: dbQueue, columns: ["name"])
                    if try await players[0].updateChanges(in: dbQueue) { print("changed") }
                    try await players[0].reload(in: dbQueue)
                    try await dbQueue.save(players)
                    try await dbQueue.updateChanges(players)
                    try await dbQueue.reload(players)
                    try await players[0].delete(in: dbQueue)
                    try await dbQueue.delete(players)
                }
            }
            actor Store {
                var players: [Player] = []
                func all(_ dbPool: DatabasePool) async throws {
                    let new = Player()
                    try await new.insert(in: dbPool)
                    players.append(new)
                    try await players[0].updateChanges(in: dbPool)
                    try await players[0].reload(in: dbPool)
                    try await dbPool.save(players)
                    try await dbPool.update(players)
                    try await dbPool.insert(players)
                    for player in players { try await player.delete(in: dbPool) }
                }
            }
            """),
        IsolationProgram(
            "a copy of a record that is held is handed over",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func validate(_ dbQueue: DatabaseQueue) async throws {
                    let copy = try players[0].copy()
                    players[0] = try await dbQueue.write(sending: copy) { db, player in
                        try player.save(db)
                        return player
                    }
                }
            }
            actor Store {
                var player: Player?
                func giveAway() throws -> sending Player? {
                    defer { player = nil }
                    return try player?.copy()
                }
            }
            """),
        IsolationProgram(
            "a new record is inserted, and kept",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func add(_ dbQueue: DatabaseQueue) async throws {
                    players.append(
                        try await dbQueue.write(sending: Player()) { db, player in
                            try player.insert(db)
                            return player
                        })
                }
            }
            """),
        IsolationProgram(
            "a request of the main actor is read by a capture list",
            """
            @MainActor final class Model {
                var request = Player.all()
                var players: [Player] = []
                func load(_ dbQueue: DatabaseQueue) async throws {
                    players = try await dbQueue.read { [request] db in try request.fetchAll(db) }
                }
            }
            """),
    ]

    static let refused = [
        IsolationProgram(
            "held records are updated in a closure",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func commit(_ dbQueue: DatabaseQueue) async throws {
                    try await dbQueue.write { [players] db in for player in players { try player.updateChanges(db) } }
                }
            }
            """, errors: [(4, "risks causing data races")]),
        IsolationProgram(
            "a held record is deleted in a closure",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func remove(_ dbQueue: DatabaseQueue) async throws {
                    let player = players[0]
                    _ = try await dbQueue.write { db in try player.delete(db) }
                }
            }
            """, errors: [(5, "risks causing data races")]),
        IsolationProgram(
            "a held record is reloaded in a closure",
            """
            actor Store {
                let player = Player()
                func refresh(_ dbQueue: DatabaseQueue) async throws {
                    try await dbQueue.read { db in try self.player.reload(db) }
                }
            }
            """, errors: [(4, "cannot exit actor-isolated context")]),
        IsolationProgram(
            "a new record is inserted in a closure, and kept",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func add(_ dbQueue: DatabaseQueue) async throws {
                    let player = Player()
                    try await dbQueue.write { db in try player.insert(db) }
                    players.append(player)
                }
            }
            """, errors: [(5, "risks causing data races")]),
        IsolationProgram(
            "a record that was handed over is kept",
            """
            @MainActor final class Model {
                var players: [Player] = []
                func add(_ dbQueue: DatabaseQueue) async throws {
                    let player = Player()
                    try await dbQueue.write(sending: player) { db, player in try player.insert(db) }
                    players.append(player)
                }
            }
            """, errors: [(5, "sending 'player' risks causing data races")]),
        IsolationProgram(
            "a request of the main actor is read in a closure",
            """
            @MainActor final class Model {
                var request = Player.all()
                var players: [Player] = []
                func load(_ dbQueue: DatabaseQueue) async throws {
                    players = try await dbQueue.read { db in try self.request.fetchAll(db) }
                }
            }
            """,
            errors: [
                (5, "main actor-isolated property 'request' can not be referenced from a nonisolated context")
            ]),
        IsolationProgram(
            "use after it was handed over",
            """
            func insert(_ dbQueue: DatabaseQueue) async throws {
                let player = Player()
                try await dbQueue.write(sending: player) { db, player in try player.insert(db) }
                player.name = "Arthur"
            }
            """, errors: [(3, "sending 'player' risks causing data races")]),
        IsolationProgram(
            "a captured record is used outside",
            """
            func insert(_ dbQueue: DatabaseQueue) async throws {
                let player = Player()
                try await dbQueue.write { db in try player.insert(db) }
                print(player.name)
            }
            """, errors: [(3, "risks causing data races")]),
        IsolationProgram(
            "a fetched record is kept by somebody else, too",
            """
            final class Box { var player: Player? }
            func load(_ dbQueue: DatabaseQueue, _ box: Box) async throws {
                let player = try await dbQueue.read { db in
                    let player = try Player.find(db, key: 1)
                    box.player = player
                    return player
                }
                print(player.name)
            }
            """,
            errors: [(3, "risks causing data races"), (6, "returning task-isolated 'player'")]),
        IsolationProgram(
            "a record of an actor is handed over",
            """
            actor Store {
                let player = Player()
                func insert(_ dbQueue: DatabaseQueue) async throws {
                    try await dbQueue.write(sending: player) { db, player in try player.insert(db) }
                }
            }
            """, errors: [(4, "sending 'self.player' risks causing data races")]),
        IsolationProgram(
            "a record that an actor has kept is handed over",
            """
            actor Store {
                var player: Player?
                func insert(_ dbQueue: DatabaseQueue) async throws {
                    let new = Player()
                    player = new
                    try await dbQueue.write(sending: new) { db, player in try player.insert(db) }
                }
            }
            """, errors: [(6, "sending 'new' risks causing data races")]),
        IsolationProgram(
            "a record of the main actor is captured",
            """
            @MainActor final class Model {
                let player = Player()
                func insert(_ dbQueue: DatabaseQueue) async throws {
                    try await dbQueue.write { [player] db in try player.insert(db) }
                }
            }
            """, errors: [(4, "risks causing data races")]),
        IsolationProgram(
            "fetched records are shared with a task",
            """
            func load(_ dbQueue: DatabaseQueue) async throws {
                let players = try await dbQueue.read { db in try Player.fetchAll(db) }
                Task.detached { for player in players { player.name = "" } }
                print(players.map(\\.name))
            }
            """, errors: [(3, "risks causing data races")]),
        IsolationProgram(
            "a record is no Sendable value, for the reason that is told",
            """
            func share<Value: Sendable>(_ value: Value) {}
            func share(player: Player) { share(player) }
            """, errors: [(2, "conformance of 'Record' to 'Sendable' is unavailable: a record has no lock")]),
    ]
}
