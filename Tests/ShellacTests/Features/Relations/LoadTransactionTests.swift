import TestSupport
import Testing

@testable import Shellac

@Suite("The transaction of a load") struct LoadTransactionTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    /// The operations that read in a transaction of their own, outside of any other.
    enum Load: CaseIterable, Sendable {
        case including, database, record

        func run(_ db: Database) throws {
            switch self {
            case .including: _ = try Team.including(Team.players).fetchAll(db)
            case .database: try db.load(Team.fetchAll(db), Team.players)
            case .record: for team in try Team.fetchAll(db) { try team.load(Team.players, db) }
            }
        }
    }

    @Test(
        "is not the one that a function waits for which was registered outside of one", .behaviour(54),
        arguments: Load.allCases)
    func waiting(_ load: Load) throws {
        let recorder = Recorder<String>()
        try Guild.database().inDatabase { db in
            db.afterNextTransaction { _ in recorder.record("committed") }
            try load.run(db)
            #expect(recorder.elements == [])
            try db.execute(sql: "DELETE FROM weapon")
            #expect(recorder.removeAll() == ["committed"])

            db.afterNextTransaction { _ in
                recorder.record("committed")
            } onRollback: { _ in
                recorder.record("rolled back")
            }
            // One that fails is rolled back, and is none to wait for, either.
            expectError("no such column: nonsense, in the table player") {
                try Team.including(Team.players.filter(sql: "nonsense = 1")).fetchAll(db)
            }
            #expect(recorder.elements == [])
            try db.inTransaction { .rollback }
            #expect(recorder.removeAll() == ["rolled back"])
        }
    }

    @Test(
        "keeps nobody from writing who is told of the transaction before", .behaviour(54),
        arguments: Load.allCases)
    func told(_ load: Load) throws {
        let recorder = Recorder<String>()
        let queue = try Guild.database()
        try queue.write { db in
            db.afterNextTransaction { db in
                do {
                    try load.run(db)
                    recorder.record("loaded")
                } catch {
                    Issue.record(error)
                }
            }
            db.afterNextTransaction { db in
                do {
                    try db.inTransaction {
                        try db.execute(sql: "DELETE FROM weapon")
                        db.afterNextTransaction { _ in recorder.record("committed") }
                        return .commit
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        // All are notified before the next transaction begins.
        #expect(recorder.elements == ["committed", "loaded"])
        try #expect(queue.read { try Guild.Weapon.fetchCount($0) } == 0)
    }
}
