import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabaseQueue")
struct DatabaseQueueTests {
    /// A synchronous method that accesses a database.
    enum Method: String, CaseIterable, Codable, Sendable {
        case read, write, writeWithoutTransaction, inDatabase, inTransaction, inSavepoint
        case unsafeReentrantWrite, releaseMemory, vacuum, close, backup

        /// The methods that run a function.
        static let functions: [Method] = [
            .read, .write, .writeWithoutTransaction, .inDatabase, .inTransaction, .inSavepoint,
            .unsafeReentrantWrite,
        ]

        func run(_ queue: DatabaseQueue, _ body: (Database) throws -> Void = { _ in }) throws {
            switch self {
            case .read: try queue.read(body)
            case .write: try queue.write(body)
            case .writeWithoutTransaction: try queue.writeWithoutTransaction(body)
            case .inDatabase: try queue.inDatabase(body)
            case .inTransaction:
                try queue.inTransaction { db in
                    try body(db)
                    return .commit
                }
            case .inSavepoint:
                try queue.inSavepoint { db in
                    try body(db)
                    return .commit
                }
            case .unsafeReentrantWrite: try queue.unsafeReentrantWrite(body)
            case .releaseMemory: queue.releaseMemory()
            case .vacuum: try queue.vacuum()
            case .close: try queue.close()
            case .backup: try queue.backup(to: DatabaseQueue())
            }
        }
    }

    @Test("An access that throws gives its error, and the next one works", arguments: Method.functions)
    func throwing(method: Method) throws {
        let queue = try DatabaseQueue.withPlayers()
        for number in 1...3 {
            #expect(throws: TestError(number)) { try method.run(queue) { _ in throw TestError(number) } }
        }
        var hasRun = false
        try method.run(queue) { db in
            hasRun = true
            let names = try db.names()
            #expect(names == [])
        }
        #expect(hasRun)
    }

    @Test("An access may use another queue, however deep", arguments: Method.functions)
    func otherQueue(method: Method) throws {
        let (first, second) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try first.write { db in try db.insert("Arthur") }
        try method.run(first) { firstDB in
            try method.run(second) { secondDB in
                let third = try DatabaseQueue.withPlayers()
                try third.write { db in for name in try firstDB.names() { try db.insert(name) } }
                #expect(try third.names() == ["Arthur"])
                #expect(try secondDB.names() == [])
            }
            #expect(try firstDB.names() == ["Arthur"])
        }
    }

    @Test("An access to a closed database throws a sentence", arguments: Method.allCases)
    func closed(method: Method) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.close()
        var hasRun = false
        let error = databaseError { try method.run(queue) { _ in hasRun = true } }
        #expect(!hasRun)
        guard method != .close, method != .releaseMemory else {
            #expect(error == nil)
            return
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "the database test is closed")
    }

    @Test("An asynchronous access to a closed database throws a sentence")
    func closedAsynchronous() async throws {
        let queue = try DatabaseQueue.withPlayers()
        try await queue.close()
        for access in Access.allCases {
            let error = await #expect(throws: DatabaseError.self) { try await access.run(queue) { _ in } }
            #expect(error?.description == "SQLite error 21: the database test is closed")
        }
    }

    @Test("An interrupt without an access does nothing, nor does it after the database was closed")
    func interruptAfterClose() throws {
        let queue = try DatabaseQueue.withPlayers()
        queue.interrupt()
        #expect(try queue.names() == [])
        try queue.close()
        queue.interrupt()
    }

    @Test(
        "A database that has virtual tables closes, and stays as it was where it cannot",
        arguments: Writer.allCases)
    func closesVirtualTables(kind: Writer) throws {
        let writer = try kind.withPlayers()
        try writer.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE search USING fts5(text);
                    INSERT INTO search VALUES ('one');
                    CREATE VIRTUAL TABLE place USING rtree(id, low, high);
                    INSERT INTO place VALUES (1, 2, 3)
                    """)
        }
        func use(_ db: Database) throws {
            #expect(
                try String.fetchAll(db, sql: "SELECT text FROM search WHERE search MATCH 'one'") == ["one"])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM place WHERE low > 1") == [1])
        }
        try writer.read(use)
        var statements: [Statement] = []
        try writer.inDatabase { db in
            try use(db)
            statements.append(try db.makeStatement(sql: "SELECT text FROM search WHERE search MATCH ?"))
            #expect(try String.fetchAll(statements[0], arguments: ["one"]) == ["one"])
        }
        let error = #expect(throws: DatabaseError.self) { try writer.close() }
        #expect(error?.sql == "SELECT text FROM search WHERE search MATCH ?")
        try writer.inDatabase { db in
            try use(db)
            try db.execute(sql: "INSERT INTO search VALUES ('one more'); INSERT INTO place VALUES (2, 2, 3)")
            #expect(try String.fetchAll(statements[0], arguments: ["more"]) == ["one more"])
        }
        statements = []
        try writer.close()
    }

    @Test("A database is not closed while a statement is in use, and is usable then")
    func closeInUse() throws {
        let queue = try DatabaseQueue.withPlayers()
        var statement: Statement? = try queue.inDatabase { db in try db.makeStatement(sql: "SELECT 1") }
        let error = #expect(throws: DatabaseError.self) { try queue.close() }
        #expect(
            error?.description == "SQLite error 5: the database test cannot be closed: "
                + "a statement is still in use - while executing `SELECT 1`")
        try queue.write { db in try db.insert("Arthur") }
        #expect(try queue.names() == ["Arthur"])
        withExtendedLifetime(statement) {}
        statement = nil
        try queue.close()
    }

    // MARK: - Reentrance

    @Test(
        "An access inside an access to the same queue stops the program, with a sentence",
        arguments: Method.allCases.filter { $0 != .unsafeReentrantWrite })
    func reentrance(method: Method) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [method] in
            let queue = try DatabaseQueue.withPlayers()
            try queue.write { _ in try method.run(queue) }
        }
        result.expectSentence(
            "the database test was accessed from inside an access to it, and the access would wait for "
                + "itself. Pass the Database on to the functions that need it, or use unsafeReentrantWrite or "
                + "unsafeReentrantRead."
        )
    }

    @Test("An access inside an asynchronous access to the same queue stops the program, with a sentence")
    func reentranceInTask() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue.withPlayers()
            try await queue.write { _ in try queue.read { _ in } }
        }
        result.expectSentence(
            "the database test was accessed from inside an access to it, and the access would wait")
    }

    @Test("A reentrant write works inside any access, and outside")
    func reentrantWrite() throws {
        let queue = try DatabaseQueue.withPlayers()
        for method in Method.functions {
            try method.run(queue) { outer in
                let isInside = try queue.unsafeReentrantWrite { inner in
                    #expect(inner === outer)
                    return inner.isInsideTransaction
                }
                #expect(isInside == outer.isInsideTransaction)
                #expect(throws: TestError()) { try queue.unsafeReentrantWrite { _ in throw TestError() } }
            }
        }
        try queue.unsafeReentrantWrite { db in try db.insert("Arthur") }
        let error = databaseError {
            try queue.unsafeReentrantWrite { db in
                try queue.unsafeReentrantWrite { db in try db.beginTransaction() }
                // Only the outermost access must leave no transaction open.
                try db.insert("nobody")
            }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("A reentrant write on another thread waits for its turn")
    func reentrantWriteOnThread() throws {
        let queue = try DatabaseQueue.withPlayers()
        let order = Shared<[String]>([])
        let done = Gate()
        try queue.write { _ in
            Thread {
                try? queue.unsafeReentrantWrite { _ in order.append("other") }
                done.open()
            }.start()
            while queue.line.waitingCount == 0 { Thread.sleep(forTimeInterval: 0.001) }
            order.append("first")
        }
        try done.wait()
        #expect(order.value == ["first", "other"])
    }

    // MARK: - Use outside of an access

    /// Something to use outside of the access that made it.
    enum Escapee: String, CaseIterable, Codable, Sendable {
        case execute, fetch, names, date, changes, lastRowID, isInsideTransaction, makeStatement,
            allStatements
        case begin, commit, rollback, readOnly, savepoint, transaction, function, interrupt, trace
        case statement, arguments, columnNames, cursor, newCursor

        /// Makes the use of it, for outside of the access.
        func escape(_ db: Database) throws -> () throws -> Void {
            let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE id > ?")
            try statement.setArguments([0])
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
            _ = try cursor.next()
            switch self {
            case .execute: return { try db.execute(sql: "SELECT 1") }
            case .fetch: return { _ = try Int.fetchOne(db, sql: "SELECT 1") }
            case .names: return { _ = try Row.fetchAll(db, sql: "SELECT 1") }
            case .date: return { _ = try db.transactionDate }
            case .changes: return { _ = db.changesCount + db.totalChangesCount }
            case .lastRowID: return { _ = db.lastInsertedRowID }
            case .isInsideTransaction: return { _ = db.isInsideTransaction }
            case .makeStatement: return { _ = try db.makeStatement(sql: "SELECT 1") }
            case .allStatements: return { _ = try db.allStatements(sql: "SELECT 1") }
            case .begin: return { try db.beginTransaction() }
            case .commit: return { try db.commit() }
            case .rollback: return { try db.rollback() }
            case .readOnly: return { db.readOnly {} }
            case .savepoint: return { try db.inSavepoint { .commit } }
            case .transaction: return { try db.inTransaction { .commit } }
            case .function:
                return { try db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in nil }) }
            case .interrupt: return { db.interrupt() }
            case .trace: return { db.trace(nil) }
            case .statement: return { try statement.execute() }
            case .arguments: return { try statement.setArguments([1]) }
            case .columnNames: return { _ = statement.columnNames }
            case .cursor: return { _ = try cursor.next() }
            case .newCursor: return { _ = try String.fetchCursor(statement) }
            }
        }
    }

    /// The places in which something is used that belongs to an access.
    enum Place: String, CaseIterable, Codable, Sendable {
        case afterwards, otherThread, duringAnotherAccess
    }

    @Test(
        "What belongs to an access stops the program with a sentence when it is used elsewhere",
        arguments: Escapee.allCases, Place.allCases)
    func escape(escapee: Escapee, place: Place) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [escapee, place] in
            let queue = try DatabaseQueue.withPlayers()
            nonisolated(unsafe) var use: (() throws -> Void)?
            try queue.inDatabase { db in
                for name in ["Arthur", "Barbara", "Craig"] { try db.insert(name) }
                use = try escapee.escape(db)
                if place == .otherThread {
                    let gate = Gate()
                    Thread {
                        try? use?()
                        gate.open()
                    }.start()
                    try gate.wait()
                }
            }
            switch place {
            case .afterwards: try use?()
            case .otherThread: break
            case .duringAnotherAccess:
                // Another thread has the access now.
                let (inside, end) = (Gate(), Gate())
                Thread {
                    try? queue.inDatabase { _ in
                        inside.open()
                        try end.wait()
                    }
                }.start()
                try inside.wait()
                try use?()
            }
        }
        result.expectSentence(
            "the Database of test was used outside of its access, or on another thread. Use a database, its "
                + "statements and its cursors inside the closure that received it, and return what you need")
    }

    @Test(
        "A cursor of an access that has ended stops the program with a sentence inside the next access, too")
    func cursorInNextAccess() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue.withPlayers()
            try queue.write { db in for name in ["Arthur", "Barbara"] { try db.insert(name) } }
            let cursor = try queue.read { db in
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                _ = try cursor.next()
                return cursor
            }
            try queue.read { _ in _ = try cursor.next() }
        }
        result.expectSentence("outside of its access")
    }

    /// It would hang where what was let go of went on holding the database.
    @Test(
        "Statements and cursors may be let go of outside of their access, on any thread",
        .timeLimit(.minutes(10)))
    func letGo() async throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try await queue.write { db in for name in ["Arthur", "Barbara"] { try db.insert(name) } }
        for _ in 1...50 {
            let kept = Shared<[AnyObject]>([])
            try await onThread {
                try queue.inDatabase { db in
                    let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                    _ = try cursor.next()
                    let statement = try db.makeStatement(sql: "SELECT 1")
                    kept.withLock { $0 = [cursor, statement] }
                }
            }
            async let access: Void = onThread { try queue.inDatabase { db in _ = try db.names() } }
            kept.withLock { $0 = [] }
            try await access
        }
        // The next access has ended what was let go of: nothing is locked.
        try await onThread {
            try queue.inDatabase { _ in }
            try other.inTransaction(.exclusive) { _ in .commit }
        }
        try await queue.close()
    }

    // MARK: - Lifetime

    @Test("The connection closes when the queue is freed, and whatever is still in use")
    func freed() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        var kept: [AnyObject] = []
        weak var weakQueue: DatabaseQueue?
        do {
            let queue = try file.queue()
            weakQueue = queue
            try queue.write { db in try db.insert("Arthur") }
            try queue.inDatabase { db in
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                _ = try cursor.next()
                kept = [cursor, try db.makeStatement(sql: "SELECT 1")]
            }
        }
        #expect(weakQueue == nil)
        #expect(kept.count == 2)
        kept = []
        // The last connection to a WAL database removes the log when it closes.
        #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    }

    @Test("Statements of a freed queue may be let go of by many threads at once")
    func freedOnThreads() async throws {
        for _ in 1...20 {
            let file = try TemporaryDatabase(journalMode: .wal)
            let kept = try await onThread {
                let queue = try file.queue()
                return try queue.inDatabase { db in
                    try (0..<16).map { number in
                        nonisolated(unsafe) let statement = try db.makeStatement(sql: "SELECT \(number)")
                        return Shared<Statement?>(statement)
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for statement in kept {
                    group.addTask { try await onThread { statement.withLock { $0 = nil } } }
                }
                try await group.waitForAll()
            }
            #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
        }
    }

    @Test("A queue that is freed on another thread than it was made closes its connection")
    func freedElsewhere() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let box = Shared<DatabaseQueue?>(try file.queue())
        try box.withLock { queue in try queue?.write { db in try db.insert("Arthur") } }
        #expect(FileManager.default.fileExists(atPath: file.path + "-wal"))
        try await onThread { box.withLock { $0 = nil } }
        #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    }

    @Test("A queue that cannot be prepared gives its connection back")
    func failedPreparation() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        #expect(throws: TestError(4)) {
            try file.queue { configuration in
                configuration.prepareDatabase { db in
                    try db.insert("Arthur")
                    throw TestError(4)
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    }

    @Test("Those who wait when the database is closed get the sentence, and nobody waits for ever")
    func closeWhileWaiting() async throws {
        let queue = try DatabaseQueue.withPlayers()
        let (inside, end) = (Gate(), Gate())
        async let holder: Void = onThread {
            try queue.inDatabase { _ in
                inside.open()
                try end.wait()
            }
        }
        try await waitUntil { inside.isOpen }
        async let closing: Void = onThread { try queue.close() }
        try await waitUntil { queue.line.waitingCount == 1 }
        let thread = Task { try await onThread { try queue.write { _ in } } }
        try await waitUntil { queue.line.waitingCount == 2 }
        let task = Task { try await queue.write { _ in } }
        try await waitUntil { queue.line.waitingCount == 3 }
        end.open()
        try await holder
        try await closing
        let threadError = await #expect(throws: DatabaseError.self) { try await thread.value }
        let taskError = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(threadError?.message == "the database test is closed")
        #expect(taskError?.message == "the database test is closed")
    }

    @Test("What a writing access returns may be left unused, in each form", arguments: RecordStyle.allCases)
    func unusedResults(style: RecordStyle) async throws { try await unusedResults(style.hero) }

    private func unusedResults<Hero: HeroRecord>(_: Hero.Type) async throws {
        let queue = try DatabaseQueue.withHeroes()
        func insert(_ db: Database) throws -> Bool {
            try Hero("hero \(try db.heroes().count)").insert(db)
            return true
        }
        try await queue.write { db in try insert(db) }
        try await queue.writeWithoutTransaction { db in try insert(db) }
        try await queue.write(sending: Hero("sent")) { db, hero in
            try hero.insert(db)
            return hero.id
        }
        func synchronous() throws {
            try queue.write { db in try insert(db) }
            try queue.writeWithoutTransaction { db in try insert(db) }
            try queue.inDatabase { db in try insert(db) }
            try queue.unsafeReentrantWrite { db in try insert(db) }
        }
        try synchronous()
        #expect(try await queue.read { db in try db.heroes().count } == 7)
    }
}
