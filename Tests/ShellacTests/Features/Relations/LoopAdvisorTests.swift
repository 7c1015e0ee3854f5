import Foundation
import Shellac
import TestSupport
import Testing

#if DEBUG
/// A loop that asks for what belongs to one record after the other.
@Suite("The loop advisor") struct LoopAdvisorTests {
    final class Quiet: Record {
        static let players = hasMany(Guild.Player.self, using: "teamID")
        var id: Int64?
        override class var databaseTableName: String { "team" }
        override class var warnsOfRepeatedLoads: Bool { false }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    /// Returns the messages in the log while a function runs.
    private static func log(_ body: (DatabaseQueue) throws -> Void) throws -> [String] {
        let log = Recorder<String>()
        Database.logError = { _, message in log.record(message) }
        try body(Guild.database())
        return log.elements.filter { $0.contains("one record after the other") }
    }

    private static func load(_ queue: DatabaseQueue) throws {
        try queue.read { db in
            let teams = try Guild.Team.fetchAll(db)
            for _ in 1...40 { for team in teams { try team.load(Guild.Team.players, db, .single) } }
            for _ in 1...40 { try db.load(teams, Guild.Team.captain) }
            // The first of a fetch is loaded alone.
            for _ in 1...20 {
                for team in try Guild.Team.fetchAll(db) { try team.load(Guild.Team.captain, db) }
            }
        }
    }

    @Test("tells once of a relation that a loop loads for one record after the other", .behaviour(63))
    func loads() async throws {
        await #expect(processExitsWith: .success) {
            let found = try Self.log(Self.load)
            #expect(found.count == 1)
            #expect(
                found.first?.contains(
                    "Team.including(Team.players), or load it with db.load(records, Team.players)") == true,
                "\(found)")
        }
    }

    @Test(
        "tells of requests for one record after the other, and of no class that does not want it",
        .behaviour(63))
    func requests() async throws {
        await #expect(processExitsWith: .success) {
            let found = try Self.log { queue in
                try queue.read { db in
                    let (team, quiet) = (try Guild.Team.find(db, key: 1), try Quiet.find(db, key: 1))
                    for _ in 1...100 {
                        _ = try team.request(for: Guild.Team.players).fetchCount(db)
                        _ = try quiet.request(for: Quiet.players).fetchCount(db)
                        try quiet.load(Quiet.players, db, .single)
                    }
                }
            }
            #expect(found.count == 1)
        }
    }

    @Test("counts in each access for itself", .behaviour(63))
    func accesses() async throws {
        await #expect(processExitsWith: .success) {
            let found = try Self.log { queue in
                for _ in 1...40 {
                    try queue.read { db in
                        _ = try Guild.Team.find(db, key: 1).request(for: Guild.Team.players).fetchCount(db)
                    }
                }
            }
            #expect(found == [])
        }
    }
}
#endif
