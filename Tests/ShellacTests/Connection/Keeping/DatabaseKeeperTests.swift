import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A keeper of databases opens them once, bounds them, and closes none in use.
@Suite("DatabaseKeeper")
struct DatabaseKeeperTests {
    /// The files of a keeper, and how often it has opened each of them.
    final class Files: Sendable {
        let folder: TemporaryFolder
        let opened = Recorder<Int>()
        /// The error of the next opening of a key.
        let failures = Shared<[Int: any Error]>([:])
        /// A gate that the opening of a key waits at.
        let gates = Shared<[Int: Gate]>([:])

        init() throws { folder = try TemporaryFolder() }

        func path(_ key: Int) -> String { folder.path("\(key).sqlite") }

        func open(_ key: Int) throws -> DatabaseQueue {
            opened.record(key)
            try gates.withLock { $0[key] }?.wait()
            if let failure = failures.withLock({ $0.removeValue(forKey: key) }) { throw failure }
            var configuration = Configuration()
            configuration.label = "tenant \(key)"
            let queue = try DatabaseQueue(path: path(key), configuration: configuration)
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { db in
                try db.execute(sql: "CREATE TABLE note (text); INSERT INTO note VALUES (\(key))")
            }
            try migrator.migrate(queue)
            return queue
        }

        func keeper(_ count: Int, _ timeout: Duration = .seconds(2_000)) -> DatabaseKeeper<Int, DatabaseQueue>
        {
            DatabaseKeeper(maximumCount: count, timeout: timeout) { key in try self.open(key) }
        }

        /// The number of files that this process has open.
        func openCount() throws -> Int { try Set(folder.openFiles()).count }
    }

    /// A use of a database that goes on until it is released.
    struct LongUse {
        private let access: LongAccess

        init(_ keeper: DatabaseKeeper<Int, DatabaseQueue>, _ key: Int) async throws {
            access = try await LongAccess { inside in try keeper.use(key) { _ in try inside() } }
        }

        func release() async throws { try await access.release() }
    }

    private func text(_ queue: DatabaseQueue) throws -> Int? {
        try queue.inDatabase { db in try Int.fetchOne(db, sql: "SELECT text FROM note") }
    }

    // MARK: - Opening

    @Test("A database is opened and prepared at its first use, and stays open")
    func opening() async throws {
        let files = try Files()
        let keeper = files.keeper(2)
        #expect(keeper.openKeys == [] && files.opened.elements == [])
        for _ in 1...3 {
            let first = try await onThread { try keeper.use(1) { try self.text($0) } }
            let second = try await keeper.use(2) { queue in
                try await queue.read { db in try Int.fetchOne(db, sql: "SELECT text FROM note") }
            }
            #expect(first == 1 && second == 2)
        }
        #expect(files.opened.elements == [1, 2] && keeper.openKeys == [1, 2])
    }

    @Test("Many tasks and threads that ask at the same time share one opening")
    func sharedOpening() async throws {
        let files = try Files()
        let keeper = files.keeper(1)
        let gate = Gate()
        files.gates.withLock { $0[7] = gate }
        let threads = (1...5).map { _ in RunningThread { try keeper.use(7) { ObjectIdentifier($0) } } }
        try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 1...200 { group.addTask { try await keeper.use(7) { ObjectIdentifier($0) } } }
            try await waitUntil { !files.opened.elements.isEmpty }
            gate.open()
            var found: Set<ObjectIdentifier> = []
            for try await queue in group { found.insert(queue) }
            for thread in threads { found.insert(try thread.join()) }
            #expect(found.count == 1 && files.opened.elements == [7])
        }
    }

    @Test("An error of opening goes to all that wait for it, and the next request tries again")
    func failingOpening() async throws {
        let files = try Files()
        let keeper = files.keeper(1)
        let gate = Gate()
        files.gates.withLock { $0[1] = gate }
        files.failures.withLock { $0[1] = TestError(4) }
        let tasks = (1...20).map { _ in Task { try await keeper.use(1) { _ in } } }
        try await waitUntil { !files.opened.elements.isEmpty }
        // A task that comes after the failure would open it again.
        try await waitUntil { keeper.waiterCount == 19 }
        gate.open()
        for task in tasks {
            await #expect(throws: TestError(4)) { try await task.value }
        }
        #expect(keeper.openKeys == [])
        // Its room is free, for itself and for others.
        let texts = try await [keeper.use(2) { try text($0) }, keeper.use(1) { try text($0) }]
        #expect(texts == [2, 1] && files.opened.elements == [1, 2, 1])
    }

    @Test("A migration that fails leaves no file open")
    func failingMigration() throws {
        let folder = try TemporaryFolder()
        let keeper = DatabaseKeeper(maximumCount: 3) { (name: String) in
            let pool = try DatabasePool(path: folder.path(name))
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE note (text") }
            try migrator.migrate(pool)
            return pool
        }
        #expect(throws: DatabaseError.self) { try keeper.use("a") { _ in } }
        let open = try folder.openFiles()
        #expect(open == [] && keeper.openKeys == [])
    }

    @Test("Databases of different keys are opened at the same time")
    func openingTogether() async throws {
        let files = try Files()
        let keeper = files.keeper(3)
        let gate = Gate()
        files.gates.withLock { $0 = [1: gate, 2: gate] }
        let tasks = [1, 2].map { key in Task { try await keeper.use(key) { _ in } } }
        try await waitUntil { files.opened.elements.count == 2 }
        // A third one waits for neither.
        try await keeper.use(3) { _ in }
        gate.open()
        for task in tasks { try await task.value }
    }

    // MARK: - Bounds

    @Test("The least recently used database makes room, and its file is closed first")
    func leastRecentlyUsed() throws {
        let files = try Files()
        let keeper = files.keeper(3)
        for key in [1, 2, 3, 1, 4] { try keeper.use(key) { _ in } }
        #expect(keeper.openKeys == [3, 1, 4])
        for key in [3, 5, 6] { try keeper.use(key) { _ in } }
        #expect(keeper.openKeys == [3, 5, 6])
        #expect(files.opened.elements == [1, 2, 3, 4, 5, 6])
        let count = try files.openCount()
        #expect(count == 3)
        // A written value is there when the database is opened again.
        try keeper.use(3) { queue in
            try queue.write { db in try db.execute(sql: "UPDATE note SET text = 30") }
        }
        for key in 7...9 { try keeper.use(key) { _ in } }
        let found = try keeper.use(3) { try text($0) }
        #expect(found == 30)
    }

    @Test("A database in use is not closed, and one that is not makes room")
    func inUse() async throws {
        let files = try Files()
        let keeper = files.keeper(2)
        let use = try await LongUse(keeper, 1)
        for key in 2...4 { try await keeper.use(key) { _ in } }
        #expect(keeper.openKeys == [4, 1] && files.opened.elements == [1, 2, 3, 4])
        try await use.release()
        // The end of the use counts, and not its beginning.
        try await keeper.use(5) { _ in }
        #expect(keeper.openKeys == [1, 5])
    }

    @Test("A use inside of a use is of the same database, or of another one")
    func nested() throws {
        let files = try Files()
        let keeper = files.keeper(2)
        try keeper.use(1) { outer in
            try keeper.use(1) { inner in #expect(inner === outer) }
            try keeper.use(2) { _ in }
            // The inner use has ended, the outer one has not.
            try keeper.use(3) { _ in }
            #expect(keeper.openKeys == [3, 1])
            #expect(try text(outer) == 1)
        }
    }

    @Test("Who finds no room waits, in the order of arrival", arguments: [true, false])
    func waiting(isTask: Bool) async throws {
        let files = try Files()
        let keeper = files.keeper(1)
        let use = try await LongUse(keeper, 1)
        let order = Recorder<Int>()
        var tasks: [Task<Void, any Error>] = []
        for key in [2, 3, 2, 4] {
            let count = keeper.waiterCount
            tasks.append(
                Task {
                    if isTask {
                        try await keeper.use(key) { _ in order.record(key) }
                    } else {
                        try await onThread { try keeper.use(key) { _ in order.record(key) } }
                    }
                })
            try await waitUntil { keeper.waiterCount == count + 1 }
        }
        #expect(order.elements == [] && keeper.openKeys == [1])
        try await use.release()
        for task in tasks { try await task.value }
        // Both requests for 2 are granted together.
        #expect(order.elements == [2, 2, 3, 4])
        #expect(files.opened.elements == [1, 2, 3, 4])
        let count = try files.openCount()
        #expect(count == 1)
    }

    @Test("Who waits for too long gets an error, and others are served", arguments: [true, false])
    func timeout(isTask: Bool) async throws {
        let files = try Files()
        let keeper = files.keeper(1, .milliseconds(50))
        let use = try await LongUse(keeper, 1)
        let sentence =
            "the database of 2 cannot be opened: 1 databases are in use, as many as their keeper allows"
        if isTask {
            await expectError(sentence) { try await keeper.use(2) { _ in } }
        } else {
            try await onThread { expectError(sentence) { try keeper.use(2) { _ in } } }
        }
        #expect(keeper.waiterCount == 0)
        // The database that is open does not need room.
        try await keeper.use(1) { _ in }
        try await use.release()
        try await keeper.use(2) { _ in }
        #expect(keeper.openKeys == [2] && files.opened.elements == [1, 2])
    }

    @Test("With fewer file descriptors than databases, the error says so, and unused ones are closed")
    func descriptors() async throws {
        let folder = try TemporaryFolder()
        let lines = try await SecondProcess.keep(60, in: folder.path, descriptors: 100)
        #expect(lines.count == 2)
        let words = lines.first?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        let used = words.first.flatMap { Int($0) } ?? 0
        #expect((10..<60).contains(used), "\(lines)")
        #expect(
            lines.first?.contains("the process has too few file descriptors for the \(used) databases")
                ?? false,
            "\(lines)")
        // One after the other, all can be used.
        let last = lines.last?.split(separator: " ").compactMap { Int($0) } ?? []
        #expect(last.first == 60 && (10..<60).contains(last.last ?? 0), "\(lines)")
    }

    @Test("Without patience, the error comes at once")
    func noPatience() async throws {
        let files = try Files()
        let keeper = files.keeper(1, .zero)
        let use = try await LongUse(keeper, 1)
        let error = try await onThread { databaseError { try keeper.use(2) { _ in } } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try await use.release()
        try await keeper.use(2) { _ in }
    }

    @Test("A slow opening is no reason for an error of those that wait for it")
    func slowOpening() async throws {
        let files = try Files()
        let keeper = files.keeper(1, .milliseconds(20))
        let gate = Gate()
        files.gates.withLock { $0[1] = gate }
        let opener = Task { try await keeper.use(1) { _ in } }
        try await waitUntil { files.opened.elements == [1] }
        let other = Task { try await keeper.use(1) { _ in } }
        let third = Task { try await keeper.use(2) { _ in } }
        await #expect(throws: DatabaseError.self) { try await third.value }
        #expect(keeper.waiterCount == 1)
        gate.open()
        try await opener.value
        try await other.value
        #expect(files.opened.elements == [1])
    }

    @Test("Cancelling a task ends its waiting, for room and for an opening")
    func cancelling() async throws {
        let files = try Files()
        let keeper = files.keeper(1)
        let gate = Gate()
        files.gates.withLock { $0[1] = gate }
        let opener = Task { try await keeper.use(1) { _ in } }
        try await waitUntil { files.opened.elements == [1] }
        let tasks = [1, 2].map { key in Task { try await keeper.use(key) { _ in } } }
        try await waitUntil { keeper.waiterCount == 2 }
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(keeper.waiterCount == 0)
        // The opening goes on, as others may need it.
        opener.cancel()
        gate.open()
        try await opener.value
        #expect(keeper.openKeys == [1])
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await keeper.use(3) { _ in }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(files.opened.elements == [1])
    }

    // MARK: - Closing

    @Test("A database that cannot be closed stays open, and another one makes room")
    func unclosable() throws {
        let files = try Files()
        let pools = DatabaseKeeper(maximumCount: 2) { (key: Int) in try DatabasePool(path: files.path(key)) }
        var snapshot: DatabaseSnapshot?
        try pools.use(1) { pool in
            try pool.write { db in try db.execute(sql: "CREATE TABLE a (b)") }
            snapshot = try pool.makeSnapshot()
        }
        try pools.use(2) { _ in }
        try pools.use(3) { _ in }
        #expect(Set(pools.openKeys) == [1, 3])
        let count = try snapshot?.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM a") }
        #expect(count == 0)
        try pools.use(1) { pool in
            try pool.write { db in try db.execute(sql: "INSERT INTO a VALUES (1)") }
            // The other one can be closed, and this one is in use.
            try pools.use(4) { _ in }
        }
        // All are unused, and none can be closed.
        var second: DatabaseSnapshot?
        try pools.use(4) { second = try $0.makeSnapshot() }
        let error = databaseError { try pools.use(5) { _ in } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("the database of 5 cannot be opened: 2 databases are open") ?? false)
        #expect(error?.message?.contains("snapshot") ?? false)
        #expect(Set(pools.openKeys) == [1, 4])
        withExtendedLifetime(second) {}
        (snapshot, second) = (nil, nil)
        try pools.use(5) { _ in }
        #expect(pools.openKeys.count == 2 && pools.openKeys.last == 5)
    }

    @Test("Who needs the room of one that cannot be closed waits for one that is in use")
    func unclosableBesideUse() async throws {
        let files = try Files()
        let pools = DatabaseKeeper(maximumCount: 2, timeout: .seconds(2_000)) { (key: Int) in
            try DatabasePool(path: files.path(key))
        }
        let snapshot = try await pools.use(1) { pool in try pool.makeSnapshot() }
        let use = try await LongAccess { inside in try pools.use(2) { _ in try inside() } }
        let task = Task { try await pools.use(3) { _ in } }
        try await waitUntil { pools.waiterCount == 1 }
        try await use.release()
        try await task.value
        #expect(Set(pools.openKeys) == [1, 3])
        withExtendedLifetime(snapshot) {}
    }

    @Test("One database is closed when its uses have ended, and stays closed while a function runs")
    func closingOne() async throws {
        let files = try Files()
        let keeper = files.keeper(3)
        let use = try await LongUse(keeper, 1)
        let (closed, end) = (Gate(), Gate())
        let path = files.path(1)
        let closing = Task {
            try await keeper.close(1) {
                closed.open()
                try FileManager.default.removeItem(atPath: path)
                try end.wait()
            }
        }
        try await waitUntil { keeper.waiterCount == 1 }
        // A new use waits, too. Otherwise the closing might never come.
        let task = Task { try await keeper.use(1) { queue in try text(queue) } }
        try await waitUntil { keeper.waiterCount == 2 }
        #expect(!closed.isOpen)
        try await use.release()
        try await waitUntil { closed.isOpen }
        #expect(keeper.openKeys == [] && files.opened.elements == [1])
        end.open()
        try await closing.value
        let found = try await task.value
        #expect(found == 1 && files.opened.elements == [1, 1])
        // Without an open database, the function runs, and its error is thrown.
        await #expect(throws: TestError(2)) { try await keeper.close(9) { throw TestError(2) } }
        #expect(throws: TestError(3)) { try keeper.close(1) { throw TestError(3) } }
        #expect(keeper.openKeys == [])
    }

    @Test("While a function runs in place of a closed database, another one has its room")
    func roomOfClosed() async throws {
        let files = try Files()
        let keeper = files.keeper(1)
        let use = try await LongUse(keeper, 1)
        let (closed, end) = (Gate(), Gate())
        let closing = Task {
            try await keeper.close(1) {
                closed.open()
                try end.wait()
            }
        }
        try await waitUntil { keeper.waiterCount == 1 }
        let task = Task { try await keeper.use(2) { queue in try text(queue) } }
        try await waitUntil { keeper.waiterCount == 2 }
        try await use.release()
        try await waitUntil { closed.isOpen }
        try await waitUntil { keeper.openKeys == [2] }
        end.open()
        try await closing.value
        let found = try await task.value
        #expect(found == 2 && keeper.openKeys == [2])
    }

    @Test("A database that is used for too long is not closed, and its uses go on")
    func closingTooLong() async throws {
        let files = try Files()
        let keeper = files.keeper(3, .milliseconds(40))
        let use = try await LongUse(keeper, 1)
        let closing = Task { try await keeper.close(1) { Issue.record("it was closed") } }
        await expectError("the database of 1 cannot be closed: it is still in use") {
            try await closing.value
        }
        try await keeper.use(1) { _ in }
        try await use.release()
        #expect(files.opened.elements == [1] && keeper.openKeys == [1])
    }

    @Test("close() closes all, after their uses, and refuses those that wait and those that come")
    func closingAll() async throws {
        let files = try Files()
        let keeper = files.keeper(2)
        try await keeper.use(1) { _ in }
        let uses = try await [LongUse(keeper, 2), LongUse(keeper, 3)]
        let waiting = Task { try await keeper.use(4) { _ in } }
        try await waitUntil { keeper.waiterCount == 1 }
        let closing = Task { try await keeper.close() }
        await expectError("the keeper of databases is closed, or is being closed") { try await waiting.value }
        for use in uses { try await use.release() }
        try await closing.value
        let count = try files.openCount()
        #expect(keeper.openKeys == [] && count == 0)
        expectError("the keeper of databases is closed, or is being closed") { try keeper.use(1) { _ in } }
        try await keeper.close()
    }

    @Test("close() that fails for one closes the others, and can be repeated")
    func closingSome() throws {
        let files = try Files()
        let pools = DatabaseKeeper(maximumCount: 3) { (key: Int) in try DatabasePool(path: files.path(key)) }
        var snapshot = try pools.use(2) { pool in Optional(try pool.makeSnapshot()) }
        for key in [1, 3] { try pools.use(key) { _ in } }
        let error = databaseError { try pools.close() }
        #expect(error?.resultCode == .SQLITE_BUSY && error?.message?.contains("snapshot") ?? false)
        #expect(pools.openKeys == [2])
        // Nothing is lost: it can be used, and so can others.
        try pools.use(2) { pool in try pool.write { db in try db.execute(sql: "CREATE TABLE a (b)") } }
        try pools.use(1) { _ in }
        withExtendedLifetime(snapshot) {}
        snapshot = nil
        try pools.close()
        let count = try files.openCount()
        #expect(pools.openKeys == [] && count == 0)
    }

    @Test("A keeper that is let go of closes its databases")
    func release() throws {
        let files = try Files()
        var keeper: DatabaseKeeper? = files.keeper(3)
        for key in 1...3 { try keeper?.use(key) { _ in } }
        let before = try files.openCount()
        keeper = nil
        let after = try files.openCount()
        #expect(before == 3 && after == 0)
    }

    // MARK: - Random programs

    @Test(
        "Random uses, failures, cancellations and closings keep all its promises",
        arguments: 1...(environmentNumber("SHELLAC_KEEPER_SEEDS", as: UInt64.self) ?? 4))
    func random(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let limit = 3
        // The databases of each key that are open now, and how many there are in all.
        let open = Shared<[Int: Int]>([:])
        let most = Shared(0)
        let inUse = Shared<[Int: Int]>([:])
        let keeper = DatabaseKeeper(maximumCount: limit, timeout: .seconds(2_000)) { (key: Int) in
            if UInt8.random(in: 0...9) == 0 { throw TestError(key) }
            let queue = try DatabaseQueue(path: folder.path("\(key).sqlite"))
            try queue.inDatabase { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS note (text)")
                // It ends with the connection.
                let life = Life {
                    open.withLock { $0[key, default: 0] -= 1 }
                    let uses = inUse.withLock { $0[key] ?? 0 }
                    #expect(uses == 0, "the database \(key) was closed in use")
                }
                try db.add(
                    function: DatabaseFunction("life", argumentCount: 0) { _ in
                        withExtendedLifetime(life) { 1 }
                    })
            }
            let counts = open.withLock { counts in
                counts[key, default: 0] += 1
                return counts
            }
            #expect(counts[key] == 1, "the database \(key) is open twice")
            most.withLock { $0 = max($0, counts.values.reduce(0, +)) }
            return queue
        }
        let written = Shared<[Int: Int]>([:])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                var generator = SeededGenerator(seed: seed * 100 + UInt64(number))
                group.addTask {
                    for _ in 0..<60 {
                        let key = Int.random(in: 0..<7, using: &generator)
                        let kind = Int.random(in: 0..<10, using: &generator)
                        let task = Task {
                            if kind == 0 { return try await keeper.close(key) }
                            try await keeper.use(key) { queue in
                                inUse.withLock { $0[key, default: 0] += 1 }
                                defer { inUse.withLock { $0[key, default: 0] -= 1 } }
                                try await queue.write { db in
                                    try db.execute(sql: "INSERT INTO note VALUES (1)")
                                }
                                written.withLock { $0[key, default: 0] += 1 }
                            }
                        }
                        if kind == 1 { task.cancel() }
                        do { try await task.value } catch is TestError {} catch is CancellationError {} catch
                        {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
        }
        #expect(most.value <= limit)
        #expect(keeper.openKeys.count <= limit && keeper.waiterCount == 0)
        try await keeper.close()
        #expect(open.value.values.allSatisfy { $0 == 0 })
        for (key, count) in written.value {
            let queue = try DatabaseQueue(path: folder.path("\(key).sqlite"))
            let found = try await queue.read { db in
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note") ?? 0
            }
            // A cancelled write may have been committed without a word.
            #expect(found >= count, "seed \(seed)")
        }
    }

    /// An object that reports its end.
    private final class Life: Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }
}
