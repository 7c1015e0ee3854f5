import Foundation
import TestSupport
import Testing

/// Modules whose default isolation is the main actor: see `Tests/MainActorClient`, which is such a
/// module. That it is built is half of the proof.
@Suite("Modules whose default isolation is the main actor", .serialized)
struct MainActorClientTests {
    @Test("records, values, observers, functions and requests work where the main actor is the default")
    func works() async throws {
        let program = try Repository.modules().deletingLastPathComponent().appending(path: "MainActorClient")
        let result = try await Command.run([program.path])
        #expect(result.succeeded, "\(result.output)")
        // The log is written to the other stream.
        let lines = result.output.split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("Shellac: ")
        }
        #expect(
            lines == [
                "King Arthur Camelot true false",
                #"["Lancelot"]"#,
                #"["Chess"]"#,
                #"["deleted: true"]"#,
                #"["insert", "willSave", "inserted", "update name", "willSave"]"#,
                "Main",
                #"["Red"]"#,
                "[MainActorClient.TeamColor.blue]",
                "1 true",
                "100.0",
                "abc",
                #"["Red"]"#,
                "true",
                #"["Galahad", "Lancelot", "Percival"] 2"#,
                "2",
                "true 1",
                "0",
                "true false",
                #"["Tristram", "Gawaine", "Bors"] true"#,
                "true 2",
            ], "\(result.output)")
    }

    /// Types that are declared on the main actor, and that the compiler therefore refuses. The
    /// database calls them on the threads of its accesses.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: String
        let message: String
    }

    @Test(
        "a type of the main actor, which the database would call elsewhere, is refused by the compiler",
        arguments: [
            Refused(
                testDescription: "an observer",
                source: """
                    @MainActor final class Audience: TransactionObserver {
                        var count = 0
                        func databaseDidChange(with event: DatabaseEvent) { count += 1 }
                        func databaseDidCommit(_ db: Database) {}
                        func databaseDidRollback(_ db: Database) {}
                    }
                    """,
                message: "crosses into main actor-isolated code and can cause data races"),
            Refused(
                testDescription: "a value",
                source: """
                    @MainActor struct Metres: DatabaseValueConvertible {
                        var databaseValue: DatabaseValue { 1.databaseValue }
                        static func fromDatabaseValue(_ value: DatabaseValue) -> Metres? { nil }
                    }
                    """,
                message: "crosses into main actor-isolated code and can cause data races"),
            Refused(
                testDescription: "a record",
                source: "@MainActor final class Player: Record {}",
                message: "has different actor isolation from nonisolated overridden declaration"),
        ])
    func refuses(_ program: Refused) async throws {
        let result = try await SwiftScript.compile(
            source: "import Shellac\n\(program.source)\n", options: ["-default-isolation", "MainActor"])
        #expect(!result.succeeded)
        #expect(result.output.contains(program.message), "\(result.output)")
    }
}
