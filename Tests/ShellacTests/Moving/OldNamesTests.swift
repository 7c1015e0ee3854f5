import TestSupport
import Testing

/// Names that have changed before the first version.
@Suite("Old names")
struct OldNamesTests {
    @Test("do not compile, and the compiler names the new ones")
    func renamed() async throws {
        let names = [
            ("_ = try player.update(db, ifUnchanged: .all)", "update(_:checking:)"),
            ("let _: UnchangedColumns?", "ConflictCheck"), ("let _: NewerRow?", "CurrentRow"),
            ("let _: SQLChoice?", "CaseExpression"),
            ("_ = Player.unfiltered(by: .deleted)", "ignoringDefaultFilter(_:)"),
            ("_ = Player.all().unfiltered(by: .deleted)", "ignoringDefaultFilter(_:)"),
            ("_ = Team.players.toDepth(3)", "recursively(depth:)"),
            ("try player.load(Player.players, db, .alone)", "single"),
            ("try player.load(Player.players, db, .peers)", "siblings"),
            ("_ = try db.miscounted(\"team\", \"n\")", "inaccurateCounters(_:_:in:)"),
            ("try db.withoutCallbacks {}", "withoutTableCallbacks(_:)"),
            ("settings.confirmsCommits = true", "verifiesCommits"),
            ("settings.closingDeadline = .seconds(1)", "shutdownTimeout"),
            ("settings.carry = nil", "taskContext"), ("settings.report = nil", "reportHandler"),
        ]
        let source = """
            import Shellac
            class Player: Record { static let players = hasMany(Player.self) }
            class Team: Record { static let players = hasMany(Player.self) }
            func use(_ db: Database, _ player: Player, _ settings: inout Configuration) throws {
            \(names.map(\.0).joined(separator: "\n"))
            }
            """
        let result = try await SwiftScript.compile(source: source)
        #expect(!result.succeeded)
        for (code, name) in names {
            #expect(result.output.contains("has been renamed to '\(name)'"), "\(code): \(result.output)")
        }
    }

    @Test("that have no new one do not compile, and the compiler says what to write")
    func replaced() async throws {
        let replacements = [
            ("_ = try DatabaseSnapshotPool(db)", "write `dbPool.makeSnapshotPool()`"),
            ("let _: (any StatementBinding)?", "conform to DatabaseValueConvertible"),
        ]
        let source = """
            import Shellac
            func use(_ db: Database) throws {
            \(replacements.map(\.0).joined(separator: "\n"))
            }
            """
        let result = try await SwiftScript.compile(source: source)
        #expect(!result.succeeded)
        for (code, sentence) in replacements {
            #expect(result.output.contains(sentence), "\(code): \(result.output)")
        }
    }
}
