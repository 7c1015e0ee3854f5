import TestSupport
import Testing

/// The columns that the closures of requests get, as the compiler sees them.
@Suite("The columns that a type declares")
struct RecordColumnsTests {
    private func compile(_ columns: String, _ statement: String) async throws -> Command {
        try await SwiftScript.compile(
            source: """
                import Shellac

                struct Player: FetchableRecord, PersistableRecord {
                    \(columns)
                    init(row: Row) throws {}
                    func encode(to container: inout PersistenceContainer) {}
                }

                func update(_ db: Database) throws { \(statement) }
                """)
    }

    private let score = #"enum Columns { static let score = Column("player_score") }"#

    @Test("are those of closures")
    func declared() async throws {
        let command = try await compile(
            score, "try Player.filter { $0.score > 1 }.updateAll(db) { $0.score += 1 }")
        #expect(command.succeeded, "\(command.output)")
    }

    @Test("are all there are: another name does not compile")
    func unknown() async throws {
        let command = try await compile(score, "try Player.updateAll(db) { $0.scor += 1 }")
        #expect(command.output.contains("has no member 'scor'"), "\(command.output)")
    }

    @Test("are any name where none are declared")
    func none() async throws {
        let command = try await compile("", "try Player.updateAll(db) { $0.anything += 1 }")
        #expect(command.succeeded, "\(command.output)")
    }

    // An associated type is found by its name, whichever code may see it. With a protocol of its
    // own, to which a type would conform to have its columns checked, this would compile. But users
    // who do not know that protocol would have no check: `$0.score` would be a column "score", and
    // not "player_score".
    @Test("cannot be private: the compiler says what to write instead")
    func privateColumns() async throws {
        let command = try await compile("private " + score, "try Player.updateAll(db) { $0.score += 1 }")
        #expect(!command.succeeded)
        #expect(
            command.output.contains(
                "'Columns' must be as accessible as its enclosing type because it matches a requirement"),
            "\(command.output)")
    }

    @Test("may be private in a class, whose closures take any name")
    func classes() async throws {
        let command = try await SwiftScript.compile(
            source: """
                import Shellac

                class Player: Record {
                    private enum Columns { static let score = Column("score") }
                    override class var databaseTableName: String { "player" }
                    override func encode(to container: inout PersistenceContainer) { container[Columns.score] = 1 }
                }

                func update(_ db: Database) throws { try Player.updateAll(db) { $0.score += 1 } }
                """)
        #expect(command.succeeded, "\(command.output)")
    }
}
