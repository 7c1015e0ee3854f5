import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one crowd: readers that come and go at any time, while a number only grows. Each sees
/// it grow, and at last as it is.
@Suite("Random readers of live values", .behaviour(74, 75))
struct RandomReadersTests {
    /// The ways in which a reader reads.
    private enum Kind: CaseIterable { case rows, filteredRows, function, unbounded, shared, called }

    @Test(
        "see the states in their order, and the newest one at last, whoever comes and goes",
        arguments: LiveKind.allCases)
    func crowds(kind: LiveKind) async throws {
        for seed in SeededGenerator.seeds("LIVE", count: 20) {
            do {
                for problem in try await Self.run(seed, kind) { Issue.record("seed \(seed): \(problem)") }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// Returns what is wrong.
    private static func run(_ seed: UInt64, _ kind: LiveKind) async throws -> [String] {
        var random = SeededGenerator(seed: seed &* 7919)
        let live = try LiveDatabase(kind, configuration: Configuration())
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        try await queue.run(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, a); INSERT INTO t VALUES (1, 0, 1)")
        let shared = ValueObservation.tracking { db in try number(db) }.shared(in: queue, scheduling: .task)
        let readerCount = Int.random(in: 2...24, using: &random)
        let commitCount = Int.random(in: 5...60, using: &random)
        let problems = Recorder<String>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<readerCount {
                let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &random)]
                let delay = Int.random(in: 0..<4_000, using: &random)
                // Some leave: when they have seen a number, or at any time.
                let leaves = Int.random(in: 0..<3, using: &random)
                let last = leaves == 0 ? Int.random(in: 0..<commitCount, using: &random) : commitCount
                let patience = leaves == 1 ? Int.random(in: 0..<3_000, using: &random) : nil
                group.addTask {
                    try await Task.sleep(for: .microseconds(delay))
                    let reading = Task { try await read(kind, queue, shared, upTo: last) }
                    if let patience {
                        try await Task.sleep(for: .microseconds(patience))
                        reading.cancel()
                    }
                    let seen = try await value(of: reading)
                    if seen == nil || seen != seen?.sorted() {
                        problems.record("reader \(reader), of \(kind), has seen \(String(describing: seen))")
                    } else if patience == nil, seen?.last ?? -1 < last {
                        problems.record("reader \(reader), of \(kind), has missed \(last): \(seen ?? [])")
                    }
                }
            }
            let pauses = (1...commitCount).map { _ in Int.random(in: 0..<150, using: &random) }
            group.addTask {
                for pause in pauses {
                    try await queue.run("UPDATE t SET n = n + 1")
                    try await Task.sleep(for: .microseconds(pause))
                }
            }
            try await group.waitForAll()
        }
        return problems.elements
    }

    private static func number(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT n FROM t") ?? -1
    }

    /// Waits for what a reader has seen, but not for ever. Returns nil if that does not come.
    private static func value(of reading: Task<[Int], any Error>) async throws -> [Int]? {
        let isLate = Shared(false)
        let watch = Task {
            try await Task.sleep(for: .seconds(600))
            isLate.withLock { $0 = true }
            reading.cancel()
        }
        defer { watch.cancel() }
        let seen = try await reading.value
        return isLate.value ? nil : seen
    }

    /// Reads until a number has come, or the task is cancelled. Returns the numbers.
    private static func read(
        _ kind: Kind, _ queue: any DatabaseWriter, _ shared: SharedValueObservation<Int>, upTo last: Int
    ) async throws -> [Int] {
        var seen: [Int] = []
        let request = Table<Int>("t").select(Column("n"), as: Int.self)
        let filtered = request.filter(Column("a") == 1)
        let values: DatabaseValues<[Int]>
        switch kind {
        case .rows: values = queue.values(of: request)
        case .filteredRows: values = queue.values(of: filtered)
        case .unbounded: values = queue.values(of: request, bufferingPolicy: .unbounded)
        case .function: values = queue.values(tracking: { db in try [number(db)] })
        case .shared:
            for try await number in shared.values() {
                seen.append(number)
                if number >= last { break }
            }
            return seen
        case .called:
            let numbers = AsyncStream<Int>.makeStream()
            let running = ValueObservation.tracking { db in try number(db) }
                .start(in: queue, scheduling: .task) { _ in
                    numbers.continuation.finish()
                } onChange: {
                    numbers.continuation.yield($0)
                }
            for await number in numbers.stream {
                seen.append(number)
                if number >= last { break }
            }
            running.cancel()
            return seen
        }
        for try await numbers in values {
            seen += numbers
            if numbers[0] >= last { break }
        }
        return seen
    }
}
