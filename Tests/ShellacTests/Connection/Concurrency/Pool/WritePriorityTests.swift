import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Order and patience of writers", .behaviour(82))
struct WritePriorityTests {
    private let file: TemporaryDatabase

    init() throws { file = try TemporaryDatabase(journalMode: .wal) }

    /// Opens the file. No access of Shellac's own waits in the writer's line, in which the test
    /// counts.
    private func open(_ writer: Writer) throws -> any DatabaseWriter {
        try writer.open(file) { $0.checkpoints = .atCommit }
    }

    /// Sends writes into the line, each once the one before waits, and returns the order in which
    /// they ran.
    private func order(
        _ writer: any DatabaseWriter, _ priorities: [WritePriority], cancelling: Set<Int> = []
    ) async throws -> [Int] {
        let order = Recorder<Int>()
        let hold = try await Hold(writer)
        var tasks: [Task<Void, any Error>] = []
        for (number, priority) in priorities.enumerated() {
            // Threads and tasks wait in the same line.
            let task =
                number % 3 == 0 && !cancelling.contains(number)
                ? Task {
                    try await onThread { try writer.write(priority: priority) { _ in order.record(number) } }
                }
                : Task { try await writer.write(priority: priority) { _ in order.record(number) } }
            tasks.append(task)
            try await waitUntil { writer.waitingWriterCount == number + 1 }
        }
        for number in cancelling { tasks[number].cancel() }
        #expect(writer.waitingWriterCount == priorities.count - cancelling.count)
        try await hold.release()
        for (number, task) in tasks.enumerated() {
            let result = await task.result
            if cancelling.contains(number) {
                #expect(throws: CancellationError.self) { try result.get() }
            } else {
                try result.get()
            }
        }
        #expect(writer.waitingWriterCount == 0)
        return order.elements
    }

    @Test("Those of one priority come in the order of their arrival", arguments: Writer.allCases)
    func arrival(writer: Writer) async throws {
        let database = try open(writer)
        for priority in [WritePriority.normal, .urgent] {
            let found = try await order(database, Array(repeating: priority, count: 30))
            #expect(found == Array(0..<30))
        }
    }

    @Test(
        "Urgent ones go ahead, and after eight of them it is the turn of a normal one",
        arguments: Writer.allCases)
    func ageing(writer: Writer) async throws {
        let priorities: [WritePriority] =
            Array(repeating: .normal, count: 3) + Array(repeating: .urgent, count: 20) + [.normal]
        let found = try await order(open(writer), priorities)
        #expect(found == Array(3..<11) + [0] + Array(11..<19) + [1] + Array(19..<23) + [2, 23])
    }

    @Test(
        "Any mix is served as a plain model says, whoever leaves", arguments: Writer.allCases, UInt64(1)...4)
    func model(writer: Writer, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let priorities: [WritePriority] = (0..<60).map { _ in
            Int.random(in: 0..<3, using: &generator) == 0 ? .normal : .urgent
        }
        let leaving = Set(priorities.indices.filter { $0 % 3 != 0 && Bool.random(using: &generator) })
        var urgent = priorities.indices.filter { priorities[$0] == .urgent && !leaving.contains($0) }
        var normal = priorities.indices.filter { priorities[$0] == .normal && !leaving.contains($0) }
        var (expected, passed): ([Int], Int) = ([], 0)
        while !urgent.isEmpty || !normal.isEmpty {
            if urgent.isEmpty || passed == 8 && !normal.isEmpty {
                expected.append(normal.removeFirst())
                passed = 0
            } else {
                expected.append(urgent.removeFirst())
                passed = normal.isEmpty ? 0 : passed + 1
            }
        }
        let found = try await order(open(writer), priorities, cancelling: leaving)
        #expect(found == expected, "seed \(seed)")
    }

    @Test("Nobody who is normal starves beside urgent writes without a pause", arguments: Writer.allCases)
    func starvation(writer: Writer) async throws {
        let database = try open(writer)
        try await onThread {
            let isServed = Gate()
            let urgent = (0..<4).map { _ in
                RunningThread {
                    while !isServed.isOpen { try database.write(priority: .urgent) { _ in } }
                }
            }
            for number in 0..<20 { try database.write { db in try db.insert("\(number)") } }
            isServed.open()
            for thread in urgent { try thread.join() }
        }
        #expect(try database.names().count == 20)
    }

    @Test("A write begins IMMEDIATE, whatever it does, and a read DEFERRED")
    func kinds() throws {
        let spy = SQLSpy()
        let pool = try file.pool { $0.trace = spy.trace }
        spy.removeAll()
        try pool.write { db in _ = try db.names() }
        try pool.inTransaction { _ in .commit }
        #expect(
            spy.removeAll().filter { $0.hasPrefix("BEGIN") } == [
                "BEGIN IMMEDIATE TRANSACTION", "BEGIN IMMEDIATE TRANSACTION",
            ])
        try pool.read { db in _ = try db.names() }
        #expect(spy.removeAll().filter { $0.hasPrefix("BEGIN") } == ["BEGIN DEFERRED TRANSACTION"])
    }

    @Test("A pool waits for some seconds unless it is told, and a queue does not wait")
    func patience() throws {
        let (pool, queue) = (try file.pool(), try file.queue())
        guard case .timeout(let seconds) = pool.configuration.busyMode else {
            Issue.record("\(pool.configuration.busyMode)")
            return
        }
        #expect((1...10).contains(seconds))
        guard case .immediateError = queue.configuration.busyMode else {
            Issue.record("\(queue.configuration.busyMode)")
            return
        }
    }

    @Test("SQLITE_BUSY says what was attempted, and for how long", arguments: Writer.allCases)
    func busy(writer: Writer) throws {
        let database = try writer.open(file) { $0.busyMode = .timeout(0.03) }
        let other = try file.queue()
        try other.inTransaction(.immediate) { _ in
            let error = databaseError { try database.write { db in try db.insert("Arthur") } }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.sql == "BEGIN IMMEDIATE TRANSACTION")
            let message = error?.message ?? ""
            #expect(
                message.contains(
                    #/^database is locked \(another connection has kept its lock for [0-9.]+ m?s\)$/#),
                "\(message)")
            // A reader waits for no other access.
            let names = try database.read { db in try db.names() }
            #expect(names == [])
            return .commit
        }
        try database.write { db in try db.insert("Arthur") }
        let impatient = try writer.open(file) { $0.busyMode = .immediateError }
        try other.inTransaction(.immediate) { _ in
            let error = databaseError { try impatient.write { db in try db.insert("Barbara") } }
            #expect(error?.message == "database is locked")
            return .commit
        }
    }

    @Test("No write of a pool meets a lock because of a checkpoint of ours")
    func checkpoints() async throws {
        let pool = try file.pool { $0.busyMode = .immediateError }
        try await pool.write { db in try db.execute(sql: "CREATE TABLE big (a)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<60 {
                        try await pool.write { db in
                            for _ in 0..<40 { try db.execute(sql: "INSERT INTO big VALUES (zeroblob(4000))") }
                        }
                        _ = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM big")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM big") }
        #expect(count == 4 * 60 * 40)
        #expect(try pool.walStatus.checkpointFailure == nil)
    }
}
