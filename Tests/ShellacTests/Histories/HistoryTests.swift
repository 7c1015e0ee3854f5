import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one history: random programs on class records, beside a model of what is to come of
/// them.
@Suite("Random histories")
struct HistoryTests {
    @Test(
        "Rows, records, changes, ids, stamps, events and undo are what the model says, after each step of any program",
        arguments: [
            PairAdventurer.self, ListedAdventurer.self, CodedAdventurer.self, CallingAdventurer.self,
            StubbornAdventurer.self, TalkativeAdventurer.self, StampedPairAdventurer.self,
            StampedListedAdventurer.self, StampedCodedAdventurer.self, StampedCallingAdventurer.self,
        ])
    func histories(type: Adventurer.Type) async throws {
        for seed in SeededGenerator.seeds("HISTORY", count: 32) {
            let history = History(seed: seed, for: type, count: 60)
            do {
                try await HistoryWorld.run(history, type)
            } catch {
                let shrunk = await history.shrunk { history in
                    do { try await HistoryWorld.run(history, type) } catch { return true }
                    return false
                }
                var reason = "\(error)"
                do { try await HistoryWorld.run(shrunk, type) } catch { reason = "\(error)" }
                Issue.record("seed \(seed), \(type):\n\(shrunk)\n→ \(reason)")
                return
            }
        }
    }
}
