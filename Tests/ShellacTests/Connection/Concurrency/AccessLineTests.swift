import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Access in order")
struct AccessLineTests {
    /// The kinds of waiters.
    enum Waiter: CaseIterable {
        case thread, task, cancelledTask
    }

    /// Sends a waiter into the line, and returns once it waits.
    private func send(
        _ waiter: Waiter, _ number: Int, to queue: any DatabaseWriter, order: Shared<[Int]>
    ) async throws -> Task<Void, any Error> {
        let count = queue.waitingWriterCount
        let task =
            switch waiter {
            case .thread: Task { try await onThread { try queue.write { _ in order.append(number) } } }
            case .task, .cancelledTask: Task { try await queue.write { _ in order.append(number) } }
            }
        try await waitUntil { queue.waitingWriterCount == count + 1 }
        return task
    }

    @Test(
        "Threads and tasks that wait are served in the order of their arrival", arguments: UInt64(1)...5,
        Writer.allCases)
    func order(seed: UInt64, writer: Writer) async throws {
        var generator = SeededGenerator(seed: seed)
        let queue = try writer.withPlayers()
        let order = Shared<[Int]>([])
        let hold = try await Hold(queue)
        var waiters: [(waiter: Waiter, task: Task<Void, any Error>)] = []
        for number in 0..<200 {
            let waiter = Waiter.allCases.randomElement(using: &generator) ?? .thread
            waiters.append((waiter, try await send(waiter, number, to: queue, order: order)))
            // Some leave while others come.
            if number % 16 == 15 {
                let count = queue.waitingWriterCount
                let left = waiters.indices.suffix(16).filter { waiters[$0].waiter == .cancelledTask }
                for index in left.shuffled(using: &generator) { waiters[index].task.cancel() }
                #expect(queue.waitingWriterCount == count - left.count, "seed \(seed)")
            }
        }
        for (waiter, task) in waiters where waiter == .cancelledTask { task.cancel() }
        #expect(order.value == [])
        try await hold.release()
        var expected: [Int] = []
        for (number, (waiter, task)) in waiters.enumerated() {
            if waiter == .cancelledTask {
                await #expect(throws: CancellationError.self, "seed \(seed)") { try await task.value }
            } else {
                try await task.value
                expected.append(number)
            }
        }
        #expect(order.value == expected, "seed \(seed)")
        #expect(queue.waitingWriterCount == 0)
    }

    @Test(
        "Those who leave while others are served do not change the order", arguments: UInt64(1)...5,
        Writer.allCases)
    func leaving(seed: UInt64, writer: Writer) async throws {
        var generator = SeededGenerator(seed: seed)
        let queue = try writer.withPlayers()
        let order = Shared<[Int]>([])
        let hold = try await Hold(queue)
        let steps = (0..<150).map { _ in Gate() }
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<150 {
            tasks.append(
                Task {
                    try await queue.writeWithoutTransaction { _ in
                        order.append(number)
                        try steps[number].wait()
                    }
                })
            try await waitUntil { queue.waitingWriterCount == number + 1 }
        }
        try await hold.release()
        // The line gets shorter at its head, and at any place behind it.
        var cancelled: Set<Int> = []
        for number in 0..<150 where !cancelled.contains(number) {
            try await waitUntil { order.value.last == number }
            for _ in 0..<Int.random(in: 0...2, using: &generator) where number < 148 {
                let other = Int.random(in: (number + 1)..<149, using: &generator)
                tasks[other].cancel()
                cancelled.insert(other)
            }
            steps[number].open()
        }
        for (number, task) in tasks.enumerated() {
            let result = await task.result
            if cancelled.contains(number) {
                #expect(throws: CancellationError.self, "seed \(seed)") { try result.get() }
            } else {
                #expect(throws: Never.self, "seed \(seed)") { try result.get() }
            }
        }
        #expect(order.value == (0..<150).filter { !cancelled.contains($0) }, "seed \(seed)")
    }

    @Test("Who comes back at once comes after those who wait", arguments: Writer.allCases)
    func comingBack(writer: Writer) async throws {
        let queue = try writer.withPlayers()
        let order = Shared<[Int]>([])
        let (inside, end) = (Gate(), Gate())
        let holder = Task {
            try await onThread {
                try queue.inDatabase { _ in
                    inside.open()
                    try end.wait()
                }
                for _ in 0..<3 { try queue.inDatabase { _ in order.append(-1) } }
            }
        }
        try await waitUntil { inside.isOpen }
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<10 {
            tasks.append(try await send(number % 2 == 0 ? .thread : .task, number, to: queue, order: order))
        }
        end.open()
        for task in tasks + [holder] { try await task.value }
        #expect(order.value == Array(0..<10) + [-1, -1, -1])
    }

    @Test("One access runs at a time, of many threads and tasks, and none is lost", arguments: [false, true])
    func stress(isInMemory: Bool) async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let queue = isInMemory ? try DatabaseQueue.withPlayers() : try file.queue()
        // Not atomic: the thread sanitizer would see two accesses at once.
        nonisolated(unsafe) var inside = 0
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (0)")
        }
        /// Reads and writes in two statements: another access in between would lose an increment.
        @Sendable func increment(_ db: Database) throws {
            inside += 1
            #expect(inside == 1)
            let value = try Int.fetchOne(db, sql: "SELECT value FROM counter") ?? -1
            try db.execute(sql: "UPDATE counter SET value = ?", arguments: [value + 1])
            inside -= 1
        }
        let (workers, rounds) = (8, 40)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    try await onThread {
                        for round in 0..<rounds {
                            switch (worker + round) % 4 {
                            case 0: try queue.write(increment)
                            case 1: try queue.unsafeReentrantWrite(increment)
                            case 2:
                                try queue.read { db in
                                    _ = try Int.fetchOne(db, sql: "SELECT value FROM counter")
                                }
                            default:
                                try queue.inTransaction { db in
                                    try increment(db)
                                    return .commit
                                }
                            }
                        }
                    }
                }
                group.addTask {
                    for round in 0..<rounds {
                        switch (worker + round) % 4 {
                        case 0: try await queue.write { db in try increment(db) }
                        case 1: try await queue.writeWithoutTransaction { db in try increment(db) }
                        case 2:
                            _ = try await queue.read { db in
                                try Int.fetchOne(db, sql: "SELECT value FROM counter")
                            }
                        default:
                            await #expect(throws: TestError()) {
                                try await queue.write { db in
                                    try increment(db)
                                    throw TestError()
                                }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let value = try await queue.read { db in try Int.fetchOne(db, sql: "SELECT value FROM counter") }
        // Three of four rounds of the threads, two of four of the tasks.
        #expect(value == workers * rounds * 3 / 4 + workers * rounds * 2 / 4)
        #expect(queue.line.waitingCount == 0)
    }
}
