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
    ]

    static let refused = [
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
