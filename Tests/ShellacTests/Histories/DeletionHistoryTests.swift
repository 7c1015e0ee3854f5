import Shellac
import TestSupport
import Testing

/// Random programs on records whose rows are deleted and stay: see ``DeletionHistory``.
@Suite("Random histories of soft deletion", .behaviour(110), .behaviour(93), .behaviour(100))
struct DeletionHistoryTests {
    @Test(
        "Rows hold what records give, and records remember what they have read and given",
        arguments: [DeletableHero.self, CalledDeletableHero.self, StubbornDeletableHero.self]
            as [DeletableHero.Type])
    func histories(_ type: DeletableHero.Type) throws {
        for seed in SeededGenerator.seeds("DELETION", count: 150) {
            var history = DeletionHistory(seed: seed, type)
            let difference = try DatabaseQueue().inDatabase { db in
                try db.execute(sql: DeletableHero.schema)
                return try history.run(60, in: db)
            }
            #expect(
                difference == nil,
                "\(type), seed \(seed): \(difference ?? "")\n\(history.text.joined(separator: "\n"))")
            if difference != nil { return }
        }
    }
}
