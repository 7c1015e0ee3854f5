import TestSupport
import Testing

@testable import Shellac

@Suite("Places in line")
struct WaitingLineTests {
    private final class Waiter: LeavingWaiter {
        let number: Int
        var hasLeft = false
        init(_ number: Int) { self.number = number }
    }

    @Test(
        "Whoever comes, leaves and is served, the line is as a simple array says",
        arguments: 1...8 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var line = WaitingLine<Waiter>()
        var model: [Waiter] = []
        for number in 0..<20_000 {
            // Sometimes the line grows, sometimes it shrinks.
            let growth = number / 1000 % 2 == 0 ? 60 : 25
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<growth:
                let waiter = Waiter(number)
                line.append(waiter)
                model.append(waiter)
            case ..<80:
                guard let index = model.indices.randomElement(using: &generator) else { break }
                model.remove(at: index).hasLeft = true
                line.noteLeaving()
            default:
                let first = model.isEmpty ? nil : model.removeFirst()
                let served = line.popFirst()
                #expect(served === first, "seed \(seed), step \(number)")
            }
            #expect(line.count == model.count, "seed \(seed), step \(number)")
            #expect(line.isEmpty == model.isEmpty, "seed \(seed), step \(number)")
        }
    }

    #if DEBUG
    @Test("The work for those who leave grows as their number does", arguments: ["first", "last", "random"])
    func linear(order: String) {
        func moves(_ count: Int) -> Int {
            var line = WaitingLine<Waiter>()
            let waiters = (0..<count).map(Waiter.init)
            for waiter in waiters { line.append(waiter) }
            var generator = SeededGenerator(seed: 1)
            let leaving =
                switch order {
                case "first": waiters
                case "last": Array(waiters.reversed())
                default: waiters.shuffled(using: &generator)
                }
            for waiter in leaving {
                waiter.hasLeft = true
                line.noteLeaving()
            }
            #expect(line.isEmpty)
            return line.moveCount
        }
        for count in [100, 1_000, 10_000, 100_000] { #expect(moves(count) <= 4 * count) }
    }

    @Test("Tasks that are cancelled while they wait leave with work that grows as their number does")
    func cancelled() async throws {
        let queue = try DatabaseQueue()
        let hold = try await Hold(queue)
        let count = 2_000
        let tasks = (0..<count).map { _ in Task { try await queue.read { _ in } } }
        try await waitUntil { queue.line.waitingCount == count }
        let before = queue.line.moveCount
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(queue.line.waitingCount == 0)
        #expect(queue.line.moveCount - before <= 4 * count)
        try await hold.release()
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
    }
    #endif

    @Test("Who has left is not kept: neither one by one, nor where nobody is served for long")
    func memory() {
        var line = WaitingLine<Waiter>()
        line.append(Waiter(-1))
        weak var last: Waiter?
        for number in 0..<10_000 {
            let waiter = Waiter(number)
            last = waiter
            line.append(waiter)
            waiter.hasLeft = true
            line.noteLeaving()
        }
        for _ in 0..<128 {
            let waiter = Waiter(0)
            line.append(waiter)
            waiter.hasLeft = true
            line.noteLeaving()
        }
        #expect(last == nil)
        #expect(line.popFirst()?.number == -1)
        #expect(line.popFirst() == nil)
    }
}
