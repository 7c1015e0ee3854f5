import Foundation
import TestSupport
import Testing

@testable import Shellac

/// SQL that runs for so long that only an interrupt ends it in time. It opens the gate `started`.
private let longQuery = """
    WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 30000000)
    SELECT COUNT(*) FROM n
    """

private let longWrite = """
    WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 30000000)
    INSERT INTO player (name) SELECT 'long' FROM (SELECT COUNT(*) AS c FROM n) WHERE c > 0
    """

/// Fails the test: called in functions that are cancelled before they can run.
private func neverRuns() { Issue.record("The function ran after the cancellation.") }

@Suite("Cancellation")
struct CancellationTests {
    private let started = Gate()

    private func makeQueue(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        let queue = try DatabaseQueue.withPlayers { configuration in
            configure(&configuration)
            configuration.prepareDatabase { [started] db in
                try db.add(
                    function: DatabaseFunction("started", argumentCount: 0) { _ in
                        started.open()
                        return 1
                    })
                try db.add(function: .pause)
            }
        }
        try queue.inDatabase { db in for name in ["Arthur", "Barbara"] { try db.insert(name) } }
        return queue
    }

    /// Expects that the queue works, and that there are no other players than these.
    private func expectUsable(_ queue: DatabaseQueue, _ names: [String] = ["Arthur", "Barbara"]) async throws
    {
        #expect(try await queue.read { db in try db.names() } == names)
        let state = try await queue.writeWithoutTransaction { db in
            [db.isInsideTransaction, db.access.isStopped, db.lostTransaction != nil]
        }
        #expect(state == [false, false, false])
        try await queue.write { db in try db.insert("next") }
        #expect(try queue.names() == names + ["next"])
    }

    // MARK: - In line

    /// The kinds of holders of the access.
    enum Holder: String, CaseIterable {
        case thread, task
    }

    /// Runs a body while another access is held.
    private func whileHeld(
        _ queue: DatabaseQueue, by holder: Holder, _ body: () async throws -> Void
    ) async throws {
        let (inside, end) = (Gate(), Gate())
        let holding = Task {
            switch holder {
            case .thread:
                try await onThread {
                    try queue.inDatabase { _ in
                        inside.open()
                        try end.wait()
                    }
                }
            case .task:
                try await queue.writeWithoutTransaction { _ in
                    inside.open()
                    try end.wait()
                }
            }
        }
        try await waitUntil { inside.isOpen }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.open()
        try await holding.value
        try result.get()
    }

    @Test("A task that is cancelled in line leaves it at once", arguments: Access.allCases, Holder.allCases)
    func waiting(access: Access, holder: Holder) async throws {
        let queue = try makeQueue()
        try await whileHeld(queue, by: holder) {
            let task = Task { try await access.run(queue) { _ in neverRuns() } }
            try await waitUntil { queue.line.waitingCount == 1 }
            task.cancel()
            #expect(queue.line.waitingCount == 0)
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await expectUsable(queue)
    }

    @Test(
        "A task that was cancelled before it comes throws at once", arguments: Access.allCases,
        Holder.allCases)
    func cancelledBefore(access: Access, holder: Holder) async throws {
        let queue = try makeQueue()
        let ended = Gate()
        var task: Task<Void, any Error>?
        try await whileHeld(queue, by: holder) {
            let cancelled = Gate()
            let newTask = Task {
                try await waitUntil { cancelled.isOpen }
                defer { ended.open() }
                try await access.run(queue) { _ in neverRuns() }
            }
            newTask.cancel()
            cancelled.open()
            task = newTask
            // The holder of the access keeps it.
            let isAtOnce = (try? await onThread { try ended.wait() }) != nil
            #expect(isAtOnce, "The task waited for the access to be free.")
        }
        await #expect(throws: CancellationError.self) { try await task?.value }
        try await expectUsable(queue)
    }

    @Test(
        "A task that was cancelled before it comes throws, also where nobody holds the access",
        arguments: Access.allCases)
    func cancelledBeforeFree(access: Access) async throws {
        let queue = try makeQueue()
        let cancelled = Gate()
        let task = Task {
            try await waitUntil { cancelled.isOpen }
            try await access.run(queue) { _ in neverRuns() }
        }
        task.cancel()
        cancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(queue)
    }

    // MARK: - A running statement

    @Test("Cancelling a task interrupts its statement", arguments: Access.allCases)
    func running(access: Access) async throws {
        let queue = try makeQueue()
        let task = Task { try await access.run(queue) { db in try Int.fetchOne(db, sql: longQuery) } }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(queue)
    }

    @Test(
        "Cancelling a write rolls it back, whatever it was doing", arguments: [longQuery, longWrite],
        Access.writing)
    func rollsBack(sql: String, access: Access) async throws {
        let queue = try makeQueue()
        let task = Task {
            try await access.run(queue) { db in
                if access == .writeWithoutTransaction { try db.beginTransaction() }
                try db.insert("nobody")
                try db.inSavepoint {
                    try db.insert("nobody either")
                    try db.execute(sql: sql)
                    return .commit
                }
                if access == .writeWithoutTransaction { try db.commit() }
            }
        }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(queue)
    }

    @Test("A cancellation that is caught goes on: nothing is committed", arguments: [longQuery, longWrite])
    func caught(sql: String) async throws {
        let queue = try makeQueue()
        let task = Task {
            try await queue.write { db in
                try db.insert("nobody")
                for _ in 0..<2 {
                    #expect(throws: CancellationError.self) { try db.execute(sql: sql) }
                    #expect(throws: CancellationError.self) { try db.insert("nobody") }
                    #expect(throws: CancellationError.self) { try db.inSavepoint { .commit } }
                    #expect(throws: CancellationError.self) { try db.names() }
                }
            }
        }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(queue)
    }

    @Test("Cancelling a task interrupts no statement of others", arguments: Holder.allCases)
    func othersRun(holder: Holder) async throws {
        let queue = try makeQueue()
        let end = Gate()
        // It runs until the gate is open.
        let sql =
            "WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n WHERE NOT ended()) SELECT MAX(i) FROM n"
        @Sendable func run(_ db: Database) throws -> Int? {
            try db.add(function: DatabaseFunction("ended", argumentCount: 0) { _ in end.isOpen })
            return try Int.fetchOne(db, sql: sql)
        }
        let running = Task {
            switch holder {
            case .thread: try await onThread { try queue.inDatabase(run) }
            case .task: try await queue.writeWithoutTransaction { db in try run(db) }
            }
        }
        try await waitUntil { started.isOpen }
        for _ in 0..<100 {
            let waiting = Task { try await queue.read { _ in } }
            try await waitUntil { queue.line.waitingCount == 1 }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        end.open()
        #expect(try await running.value != nil)
        try await expectUsable(queue)
    }

    // MARK: - Between statements

    /// The action of a task once it was cancelled.
    enum Next: String, CaseIterable {
        case nothing, select, insert, newSQL, step, firstStep, longFirstStep, newSQLWhileFetching
        case selectWhileFetching, savepoint, rawCommit, transactionWhileFetching
    }

    @Test("A task that is cancelled between two statements throws at the next", arguments: Next.allCases)
    func between(next: Next) async throws {
        let queue = try makeQueue()
        let (inside, cancelled) = (Gate(), Gate())
        let task = Task {
            try await queue.write { db in
                try db.insert("nobody")
                let names = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
                let unstepped = try Int.fetchCursor(db, sql: "SELECT 1")
                let long = try Int.fetchCursor(db, sql: longQuery)
                let statement = try db.makeStatement(sql: "SELECT COUNT(*) FROM player")
                switch next {
                case .step, .newSQLWhileFetching, .selectWhileFetching, .transactionWhileFetching:
                    _ = try names.next()
                default: break
                }
                inside.open()
                try cancelled.wait()
                switch next {
                case .nothing: break
                case .select: _ = try Int.fetchOne(statement)
                case .insert: try db.insert("nobody either")
                case .newSQL: try db.execute(sql: "SELECT 1, 2, 3")
                case .step: _ = try names.next()
                case .firstStep: _ = try unstepped.next()
                case .longFirstStep: _ = try long.next()
                case .newSQLWhileFetching: try db.execute(sql: "SELECT 1, 2, 3")
                case .selectWhileFetching: _ = try Int.fetchOne(statement)
                case .savepoint: try db.inSavepoint { .commit }
                case .rawCommit: try db.execute(sql: "COMMIT")
                case .transactionWhileFetching: try db.inTransaction { .commit }
                }
                if next != .nothing { Issue.record("The statement ran after the cancellation.") }
            }
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        cancelled.open()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error is CancellationError, "\(error.map { "\($0)" } ?? "no error")")
        try await expectUsable(queue)
    }

    @Test(
        "What was committed before the cancellation stays, and a function that needs no more statement gives its result"
    )
    func committed() async throws {
        let queue = try makeQueue()
        let (inside, cancelled) = (Gate(), Gate())
        let task = Task {
            try await queue.writeWithoutTransaction { db in
                try db.insert("Craig")
                inside.open()
                try cancelled.wait()
                return 7
            }
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        cancelled.open()
        #expect(try await task.value == 7)
        try await expectUsable(queue, ["Arthur", "Barbara", "Craig"])
    }

    @Test("An error of the function comes before the cancellation")
    func ownError() async throws {
        let queue = try makeQueue()
        let (inside, cancelled) = (Gate(), Gate())
        let task = Task {
            try await queue.write { db in
                try db.insert("nobody")
                inside.open()
                try cancelled.wait()
                throw TestError(1)
            }
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        cancelled.open()
        await #expect(throws: TestError(1)) { try await task.value }
        try await expectUsable(queue)
    }

    @Test(
        "A cancelled write rolls back while its rows are being read, and after", arguments: [true, false],
        [longQuery, longWrite])
    func openCursor(isKept: Bool, sql: String) async throws {
        let queue = try makeQueue()
        let kept = Shared<AnyObject?>(nil)
        let task = Task {
            try await queue.write { db in
                try db.insert("nobody")
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
                _ = try cursor.next()
                // A kept object outlives the access.
                if isKept { kept.withLock { $0 = cursor } }
                try db.execute(sql: sql)
                _ = try cursor.next()
            }
        }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expectUsable(queue)
        kept.withLock { $0 = nil }
    }

    @Test(
        "A cursor that outlives a cancelled access does not interrupt the next one", .timeLimit(.minutes(10)))
    func keptCursor() async throws {
        let queue = try makeQueue()
        let (kept, inside, cancelled) = (Shared<AnyObject?>(nil), Gate(), Gate())
        let task = Task {
            try await queue.writeWithoutTransaction { db in
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
                _ = try cursor.next()
                kept.withLock { $0 = cursor }
                inside.open()
                try cancelled.wait()
            }
        }
        try await waitUntil { inside.isOpen }
        task.cancel()
        cancelled.open()
        try await task.value
        try await expectUsable(queue)
        kept.withLock { $0 = nil }
    }

    // MARK: - Busy

    @Test("Cancelling a task ends its wait for a lock of another connection")
    func busy() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue { $0.busyMode = .timeout(300) }, try file.queue())
        let (inside, end) = (Gate(), Gate())
        let holding = Task {
            try await onThread {
                try other.inTransaction(.exclusive) { _ in
                    inside.open()
                    try end.wait()
                    return .commit
                }
            }
        }
        try await waitUntil { inside.isOpen }
        let (isWaiting, ended) = (Gate(), Gate())
        let task = Task {
            defer { ended.open() }
            try await queue.writeWithoutTransaction { db in
                isWaiting.open()
                try db.insert("nobody")
            }
        }
        try await waitUntil { isWaiting.isOpen }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        // The lock is held on.
        let isAtOnce = (try? await onThread { try ended.wait() }) != nil
        #expect(isAtOnce, "The task waited for the lock.")
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error is CancellationError, "\(error.map { "\($0)" } ?? "no error")")
        end.open()
        try await holding.value
        #expect(try queue.names() == [])
    }

    // MARK: - Stress

    @Test(
        "Of many tasks, those that were not cancelled succeed, and the others leave nothing",
        arguments: UInt64(1)...4)
    func stress(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let queue = try makeQueue()
        let count = 300
        // Thousands of steps, between which an interrupt can fall.
        let work =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) SELECT COUNT(*) FROM n"
        var plans: [(isCancelled: Bool, delay: Int, steps: Int, access: Access)] = []
        for _ in 0..<count {
            plans.append(
                (
                    Bool.random(using: &generator), Int.random(in: 0...40_000, using: &generator),
                    Int.random(in: 1...3_000, using: &generator),
                    Access.writing.randomElement(using: &generator) ?? .write
                ))
        }
        let outcomes = await withTaskGroup(of: (Int, Result<Void, any Error>).self) { group in
            for (number, plan) in plans.enumerated() {
                let task = Task {
                    try await plan.access.run(queue) { db in
                        func body() throws {
                            _ = try Int.fetchOne(db, sql: work, arguments: [plan.steps])
                            try db.insert("\(number)")
                            _ = try Int.fetchOne(db, sql: work, arguments: [plan.steps])
                        }
                        if plan.access == .write { return try body() }
                        try db.inTransaction {
                            try body()
                            return .commit
                        }
                    }
                }
                group.addTask {
                    if plan.isCancelled {
                        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(plan.delay)) {
                                task.cancel()
                                continuation.resume()
                            }
                        }
                    }
                    return (number, await task.result)
                }
                // A thread in the line, now and then: nothing cancels it.
                if number % 10 == 0 {
                    group.addTask {
                        let result: Result<Void, any Error>
                        do {
                            try await onThread {
                                try queue.write { db in _ = try Int.fetchOne(db, sql: work, arguments: [500])
                                }
                            }
                            result = .success(())
                        } catch { result = .failure(error) }
                        return (-1, result)
                    }
                }
            }
            var outcomes: [(Int, Result<Void, any Error>)] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        var expected: Set<String> = ["Arthur", "Barbara"]
        for (number, result) in outcomes {
            switch result {
            case .success: if number >= 0 { expected.insert("\(number)") }
            case .failure(let error):
                #expect(error is CancellationError, "seed \(seed): \(error)")
                #expect(number >= 0 && plans[number].isCancelled, "seed \(seed): nobody cancelled \(number)")
            }
        }
        #expect(try Set(queue.names()) == expected, "seed \(seed)")
        #expect(queue.line.waitingCount == 0)
        try queue.inDatabase { db in
            #expect(!db.isInsideTransaction)
            try db.execute(sql: "DELETE FROM player")
        }
    }
}
