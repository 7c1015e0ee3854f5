import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Keeps the reports of a database.
struct ReportSpy {
    let recorder = Recorder<DatabaseReport>()

    func listen(_ configuration: inout Configuration) {
        configuration.reportHandler = { [recorder] report in recorder.record(report) }
    }

    /// A configuration whose database's reports are kept.
    var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "test"
        listen(&configuration)
        return configuration
    }

    var statements: [StatementReport] {
        recorder.elements.compactMap { if case .statement(let run) = $0.event { run } else { nil } }
    }
    var accesses: [AccessReport] {
        recorder.elements.compactMap { if case .access(let access) = $0.event { access } else { nil } }
    }
    var transactions: [TransactionReport] {
        recorder.elements.compactMap {
            if case .transaction(let transaction) = $0.event { transaction } else { nil }
        }
    }
    var checkpoints: [CheckpointReport] {
        recorder.elements.compactMap {
            if case .checkpoint(let checkpoint) = $0.event { checkpoint } else { nil }
        }
    }
    var advice: [IndexAdvice] {
        recorder.elements.compactMap { if case .advice(let advice) = $0.event { advice } else { nil } }
    }
}

@Suite("Reports")
struct ReportTests {
    private let spy = ReportSpy()

    // MARK: - Statements

    /// Runs a function in a database in memory with players, and returns the statements that it has
    /// run.
    private func statements(
        _ body: (Database) throws -> Void
    ) throws -> [StatementReport] {
        let queue = try DatabaseQueue.withPlayers(configure: spy.listen)
        return try queue.inDatabase { db in
            spy.recorder.removeAll()
            try body(db)
            return spy.statements
        }
    }

    @Test("A statement is told of with its SQL, without values, its rows and what it changed")
    func statement() throws {
        let told = try statements { db in
            for name in ["a", "b", "c"] { try db.insert(name) }
            try #expect(db.names() == ["a", "b", "c"])
            try db.execute(sql: "UPDATE player SET name = name || ?", arguments: ["x"])
            try #expect(Int.fetchOne(db, sql: "SELECT id FROM player WHERE id = ?", arguments: [2]) == 2)
            try #expect(Int.fetchOne(db, sql: "SELECT id FROM player WHERE id = ?", arguments: [9]) == nil)
        }
        let insert = "INSERT INTO player (name) VALUES (?)"
        #expect(
            told.map(\.sql) == [
                insert, insert, insert, "SELECT name FROM player ORDER BY id",
                "UPDATE player SET name = name || ?", "SELECT id FROM player WHERE id = ?",
                "SELECT id FROM player WHERE id = ?",
            ])
        #expect(told.map(\.rowCount) == [0, 0, 0, 3, 0, 1, 0])
        #expect(told.map(\.changedRowCount) == [1, 1, 1, 0, 3, 0, 0])
        #expect(
            told.map(\.operation) == ["INSERT", "INSERT", "INSERT", "SELECT", "UPDATE", "SELECT", "SELECT"])
        #expect(told.allSatisfy { $0.resultCode == nil && $0.duration >= .zero })
        #expect("\(told[4])".hasSuffix(" ms, 0 rows, 3 changed, 2 read without an index: \(told[4].sql)"))
    }

    @Test("What Shellac asks by itself is told apart, and has an attribute of its own")
    func internalStatements() throws {
        let told = try statements { db in
            _ = try Table<Row>("player").filter(key: 1).fetchOne(db)
            _ = try db.columns(in: "player")
            _ = try Int.fetchOne(db, sql: "PRAGMA user_version")
        }
        let own = told.filter { !$0.isInternal }.map(\.sql)
        #expect(own == [#"SELECT * FROM "player" WHERE "id" = ?"#, "PRAGMA user_version"])
        #expect(told.count > own.count)
        #expect(
            told.filter(\.isInternal).allSatisfy {
                $0.sql.hasPrefix("PRAGMA") || $0.sql.contains("sqlite_master")
            })
        for report in spy.recorder.elements {
            guard case .statement(let run) = report.event else { continue }
            #expect(report.attributes["shellac.internal"] == (run.isInternal ? .int(1) : nil))
        }
    }

    @Test("The program hears of nothing that it has not asked for, in the life of a queue and of a pool")
    func life() throws {
        for kind in [Writer.queue, .pool] {
            let writer = try kind.withPlayers(configure: spy.listen)
            try writer.write { db in
                try db.insert("a")
                try db.execute(sql: "CREATE TABLE t (a)")
            }
            try writer.read { db in try #expect(db.names() == ["a"]) }
            try writer.close()
        }
        let own = spy.statements.filter { !$0.isInternal }.map(\.sql)
        let life = [
            "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
            "INSERT INTO player (name) VALUES (?)", "CREATE TABLE t (a)",
            "SELECT name FROM player ORDER BY id",
        ]
        #expect(own == life + life.dropFirst())
        #expect(spy.statements.count > own.count)
    }

    @Test("Full scans, sorts and automatic indexes are counted, for each run alone")
    func counters() throws {
        let told = try statements { db in
            for number in 1...200 { try db.insert("\(number)") }
            try db.execute(sql: "CREATE TABLE score (player, value); CREATE TABLE other (player, value)")
            try db.execute(sql: "INSERT INTO score SELECT id, id % 7 FROM player")
            try db.execute(sql: "INSERT INTO other SELECT id, id % 7 FROM player")
            spy.recorder.removeAll()
            for _ in 1...2 {
                _ = try Row.fetchAll(db, sql: "SELECT * FROM score WHERE value = 3")
                _ = try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY name || 'x'")
                _ = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE name = '7'")
                _ = try Row.fetchAll(db, sql: "SELECT * FROM score JOIN other USING (player, value)")
            }
        }
        #expect(told.count == 8)
        for (first, second) in zip(told[..<4], told[4...]) {
            #expect(
                first.fullScanSteps == second.fullScanSteps && first.sortCount == second.sortCount
                    && first.automaticIndexRows == second.automaticIndexRows
                    && first.rowCount == second.rowCount)
        }
        #expect(told[..<4].map { $0.fullScanSteps >= 199 } == [true, true, false, true])
        #expect(told[..<4].map(\.sortCount) == [0, 1, 0, 0])
        #expect(told[..<4].map { $0.automaticIndexRows >= 199 } == [false, false, false, true])
        #expect(told[..<4].map(\.rowCount) == [29, 200, 1, 200])
    }

    @Test("What triggers and foreign keys change belongs to the statement that has set it off")
    func triggers() throws {
        let told = try statements { db in
            try db.execute(
                sql: """
                    CREATE TABLE log (name);
                    CREATE TRIGGER t AFTER INSERT ON player BEGIN INSERT INTO log VALUES (new.name); END
                    """)
            spy.recorder.removeAll()
            try db.insert("a")
        }
        #expect(told.map(\.changedRowCount) == [2])
    }

    @Test("A statement that fails, or is not read to its end, is told of once, with what it has done")
    func failures() throws {
        let told = try statements { db in
            try db.insert("a")
            try db.insert("b")
            spy.recorder.removeAll()
            expectError("UNIQUE constraint failed: player.name") { try db.insert("a") }
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
            try #expect(cursor.next() == "a")
            func leave(_ cursor: consuming some Any) {}
            leave(cursor)
            expectError("integer overflow") {
                try db.execute(sql: "SELECT abs(?)", arguments: [Int64.min])
            }
            // A statement that does not run is not reported.
            expectError("no such table: nowhere") { try db.execute(sql: "SELECT * FROM nowhere") }
            expectError("attempt to write in a read-only access") { try db.readOnly { try db.insert("c") } }
            expectError("wrong number of arguments: 2 for 1 parameters") {
                try db.execute(sql: "SELECT ?", arguments: [1, 2])
            }
        }
        let failed = told.filter { $0.resultCode != nil }
        #expect(failed.map(\.resultCode) == [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_ERROR])
        #expect(failed.map(\.changedRowCount) == [0, 0])
        // (The cursor may live as long as its scope.)
        let all = spy.statements
        #expect(all.filter { $0.sql == "SELECT name FROM player" }.count <= 1)
    }

    @Test("A cursor that outlives its transaction, or its access, is told of when it is stopped")
    func stopped() throws {
        let queue = try DatabaseQueue.withPlayers(configure: spy.listen)
        try queue.write { db in for name in ["a", "b"] { try db.insert(name) } }
        spy.recorder.removeAll()
        var cursors: [DatabaseCursor<String>] = []
        try queue.read { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
            try #expect(cursor.next() == "a")
            cursors.append(cursor)
        }
        #expect(spy.statements.map(\.rowCount) == [1])
        cursors = []
        try queue.read { _ in }
        #expect(spy.statements.count == 1)
    }

    @Test("A statement that has not taken a step has not run")
    func noStep() throws {
        let told = try statements { db in
            func leave() throws { _ = try Row.fetchCursor(db, sql: "SELECT name FROM player") }
            try leave()
        }
        #expect(told.isEmpty)
    }

    @Test("What is changed while a cursor is open belongs to those who change it")
    func changesBesideCursor() throws {
        let told = try statements { db in
            for name in ["a", "b"] { try db.insert(name) }
            spy.recorder.removeAll()
            func move() throws {
                let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM player ORDER BY id")
                while let id = try cursor.next() {
                    try db.execute(sql: "UPDATE player SET name = name || 'x' WHERE id = ?", arguments: [id])
                }
                let inserted = try Int.fetchCursor(
                    db, sql: "INSERT INTO player (name) VALUES ('c'), ('d') RETURNING id")
                while let id = try inserted.next() {
                    try db.execute(sql: "UPDATE player SET name = name || 'y' WHERE id = ?", arguments: [id])
                }
            }
            try move()
        }
        #expect(told.filter { $0.operation == "UPDATE" }.map(\.changedRowCount) == [1, 1, 1, 1])
        #expect(told.filter { $0.operation == "SELECT" }.map(\.changedRowCount) == [0])
        #expect(told.filter { $0.operation == "INSERT" }.map(\.changedRowCount) == [2])
    }

    private final class CursorHolder: TransactionObserver {
        var cursor: DatabaseCursor<Int>?
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) { cursor = nil }
    }

    @Test("A cursor may be let go of where an observer hears of a change")
    func cursorOfObserver() throws {
        let holder = CursorHolder()
        let queue = try DatabaseQueue.withPlayers(configure: spy.listen)
        try queue.write { db in
            try db.insert("a")
            db.add(transactionObserver: holder, extent: .databaseLifetime)
            let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM player")
            #expect(try cursor.next() == 1)
            holder.cursor = cursor
        }
        func insert(_ db: Database) throws {
            holder.cursor = try Int.fetchCursor(db, sql: "SELECT id FROM player")
            try #expect(holder.cursor?.next() == 1)
            try db.insert("b")
        }
        try queue.write(insert)
        #expect(holder.cursor == nil && spy.statements.contains { $0.sql == "SELECT id FROM player" })
    }

    @Test("The SQL says what was written into it, and no value that was bound to it")
    func values() throws {
        let told = try statements { db in
            try db.execute(
                sql: "INSERT INTO player (name) VALUES (:secret)", arguments: ["secret": "swordfish"])
        }
        #expect(!"\(told)\(spy.recorder.elements.map(\.attributes))".contains("swordfish"))
    }

    // MARK: - Accesses

    @Test(
        "An access is told of with its file and line, how it was used, and what it has thrown",
        arguments: Writer.allCases)
    func access(kind: Writer) async throws {
        let writer = try kind.withPlayers(configure: spy.listen)
        spy.recorder.removeAll()
        var lines: [UInt] = []
        func here(_ line: UInt = #line) { lines.append(line) }
        try await onThread {
            try writer.read { _ in }
            try writer.unsafeRead { _ in }
            try writer.unsafeReentrantRead { _ in }
            try writer.write { _ in }
            try writer.write(priority: .urgent) { _ in }
            try writer.writeWithoutTransaction { _ in }
            try writer.barrierWriteWithoutTransaction { _ in }
            try writer.unsafeReentrantWrite { _ in }
            try writer.inDatabase { _ in }
            try writer.inTransaction { _ in .commit }
            try writer.inSavepoint { _ in .commit }
        }
        here()
        let last = lines[0] - 2
        let told = spy.accesses
        #expect(told.map(\.site.line) == Array(last - 10...last))
        #expect(told.allSatisfy { "\($0.site.fileID)" == #fileID })
        #expect(
            told.map(\.site.operation) == Array(repeating: .read, count: 3)
                + Array(repeating: .write, count: 8))
        #expect(told.allSatisfy { $0.errorType == nil && $0.waited >= .zero && $0.ran > .zero })
        let readers = kind == .pool ? writer.configuration.maximumReaderCount : 1
        #expect(
            told.map(\.occupancy)
                == told.map {
                    ConnectionOccupancy(
                        used: 1, maximum: $0.site.operation == .read ? readers : 1, waiting: 0)
                })
        let names = spy.recorder.elements.filter { $0.name == "access" }.map(\.connection)
        let (reader, other) = kind == .pool ? ("test.reader.1", "test.writer") : ("test", "test")
        #expect(names == Array(repeating: reader, count: 3) + Array(repeating: other, count: 8))
        #expect(spy.recorder.elements.allSatisfy { $0.database == "test" })
    }

    @Test("Asynchronous accesses, and later ones, are told of, too", arguments: Writer.allCases)
    func asynchronous(kind: Writer) async throws {
        let writer = try kind.withPlayers(configure: spy.listen)
        spy.recorder.removeAll()
        try await writer.read { _ in }
        try await writer.unsafeRead { _ in }
        try await writer.write { _ in }
        try await writer.writeWithoutTransaction { _ in }
        try await writer.barrierWriteWithoutTransaction { _ in }
        await #expect(throws: TestError.self) { try await writer.write { _ in throw TestError() } }
        #expect(spy.accesses.map(\.errorType) == [nil, nil, nil, nil, nil, "TestError"])
        #expect(Set(spy.accesses.map(\.site.line)).count == 6)

        spy.recorder.removeAll()
        writer.asyncRead { _ in }
        try await waitUntil { spy.accesses.count == 1 }
        writer.asyncUnsafeRead { _ in }
        try await waitUntil { spy.accesses.count == 2 }
        writer.asyncWriteWithoutTransaction { _ in }
        try await waitUntil { spy.accesses.count == 3 }
        writer.asyncWrite { _ in
        } completion: { _, _ in
        }
        try await waitUntil { spy.accesses.count == 4 }
        writer.asyncBarrierWriteWithoutTransaction { _ in }
        try await waitUntil { spy.accesses.count == 5 }
        #expect(Set(spy.accesses.map(\.site.line)).count == 5)
        #expect(spy.accesses.allSatisfy { "\($0.site.fileID)" == #fileID })
        #expect(spy.accesses.map(\.site.operation) == [.read, .read, .write, .write, .write])
    }

    @Test("Who stands in line is told of with the time, also who leaves it", arguments: Writer.allCases)
    func waiting(kind: Writer) async throws {
        let writer = try kind.withPlayers { configuration in
            spy.listen(&configuration)
            configuration.maximumReaderCount = 1
        }
        let hold = try await Hold(writer)
        let waiting = RunningThread { try writer.write { _ in } }
        let cancelled = Task { try await writer.write { _ in } }
        let line = (writer as? DatabaseQueue)?.line ?? (writer as? DatabasePool)?.writer.line
        try await waitUntil { line?.waitingCount == 2 }
        spy.recorder.removeAll()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(spy.accesses.map(\.errorType) == ["CancellationError"])
        #expect(spy.accesses.map(\.ran) == [.zero])
        try await Task.sleep(for: .milliseconds(30))
        try await hold.release()
        try await onThread { try waiting.join() }
        let told = try #require(spy.accesses.last { $0.errorType == nil && $0.waited >= .milliseconds(30) })
        #expect(told.ran > .zero)
    }

    @Test("An access that finds the database closed, or ended, is told of as one that failed")
    func closed() async throws {
        let queue = try DatabaseQueue(configuration: spy.configuration)
        try await onThread { try queue.close() }
        spy.recorder.removeAll()
        #expect(databaseError { try queue.read { _ in } }?.resultCode == .SQLITE_MISUSE)
        await expectError("the database test is closed") { try await queue.read { _ in } }
        #expect(spy.accesses.map(\.errorType) == ["DatabaseError", "DatabaseError"])
        #expect(spy.accesses.allSatisfy { $0.ran < .seconds(600) })

        let file = try TemporaryDatabase()
        let pool = try file.pool(configure: spy.listen)
        try await onThread { try pool.close() }
        spy.recorder.removeAll()
        #expect(databaseError { try pool.read { _ in } }?.resultCode == .SQLITE_MISUSE)
        await expectError("the database test is closed") { try await pool.read { _ in } }
        #expect(spy.accesses.map(\.errorType) == ["DatabaseError", "DatabaseError"])
        #expect(spy.accesses[0].ran == .zero && spy.accesses[1].ran < .seconds(600))
    }

    @Test("Who hears of a later access may wait for another database", arguments: Writer.allCases)
    func waitsForOther(kind: Writer) async throws {
        let log = try kind.withPlayers()
        let told = Gate()
        let queue = try kind.withPlayers { configuration in
            configuration.reportHandler = { report in
                guard case .access(let access) = report.event, access.site.operation == .read else { return }
                // This one waits in line before the other one.
                log.asyncWriteWithoutTransaction { db in try? db.insert("a") }
                try? log.write { db in try db.insert("b") }
                told.open()
            }
        }
        queue.asyncRead { _ in }
        try await waitUntil { told.isOpen }
        #expect(try await log.read { db in try db.names() } == ["a", "b"])
    }

    private final class Held: Record {
        var id: Int64?
        var name = "a"
        override class var databaseTableName: String { "player" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    @Test(
        "Records that stay with their owner are saved and reloaded at a line of their owner",
        arguments: Writer.allCases)
    func held(kind: Writer) async throws {
        let writer = try kind.withPlayers(configure: spy.listen)
        spy.recorder.removeAll()
        let record = Held()
        try await record.save(in: writer)
        try await record.update(in: writer)
        try await record.updateChanges(in: writer)
        try await record.reload(in: writer)
        try await writer.save([record])
        try await writer.reload([record])
        try await record.delete(in: writer)
        let first = try #require(spy.accesses.first).site.line
        #expect(spy.accesses.map(\.site.line) == Array(first..<first + 7))
        #expect(spy.accesses.allSatisfy { "\($0.site.fileID)" == #fileID })
        #expect(spy.accesses.map(\.site.operation) == [.write, .write, .write, .read, .write, .read, .write])
    }

    @Test("The readers of a pool that are in use are counted, and who waits for them")
    func occupancy() async throws {
        let pool = try #require(
            try Writer.pool.withPlayers { configuration in
                spy.listen(&configuration)
                configuration.maximumReaderCount = 2
            } as? DatabasePool)
        let first = try await LongAccess { inside in try pool.read { _ in try inside() } }
        let second = try await LongAccess { inside in try pool.read { _ in try inside() } }
        let third = RunningThread { try pool.read { _ in } }
        try await waitUntil { pool.readers.line.waitingCount == 1 }
        spy.recorder.removeAll()
        try await first.release()
        try await onThread { try third.join() }
        try await second.release()
        try await waitUntil { spy.accesses.count == 3 }
        #expect(
            Set(spy.accesses.map(\.occupancy)) == [
                ConnectionOccupancy(used: 1, maximum: 2, waiting: 0),
                ConnectionOccupancy(used: 2, maximum: 2, waiting: 0),
            ])
        #expect("\(spy.accesses[0].occupancy)".hasSuffix(" of 2 in use, 0 in line"))
    }

    @Test("A database is free for others before an access to it is told of")
    func afterwards() async throws {
        let held = Recorder<Bool>()
        let connection = Shared<Database?>(nil)
        var configuration = Configuration()
        configuration.reportHandler = { report in
            guard case .access = report.event, let database = connection.value else { return }
            held.record(database.access.isHeld || database.access.isHeldElsewhere)
        }
        let queue = try DatabaseQueue(configuration: configuration)
        connection.withLock { $0 = queue.connection.database }
        try await onThread { try queue.write { _ in } }
        try await queue.read { _ in }
        queue.asyncRead { _ in }
        try await waitUntil { held.elements.count == 3 }
        #expect(held.elements == [false, false, false])
    }

    // MARK: - Transactions and checkpoints

    @Test(
        "A transaction is told of at its end, whoever ends it, with what was changed",
        arguments: Writer.allCases)
    func transactions(kind: Writer) async throws {
        let writer = try kind.withPlayers(configure: spy.listen)
        spy.recorder.removeAll()
        try await onThread {
            try writer.write { db in for name in ["a", "b"] { try db.insert(name) } }
            try? writer.write { db in
                try db.insert("c")
                throw TestError()
            }
            try writer.read { db in try #expect(db.names() == ["a", "b"]) }
            try writer.inDatabase { db in
                try db.insert("lone")
                try db.execute(sql: "SAVEPOINT s; INSERT INTO player (name) VALUES ('d'); RELEASE s")
            }
            // SQLite ends it by itself.
            try? writer.write { db in
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('a')")
            }
        }
        let told = spy.transactions
        #expect(told.map(\.completion) == [.commit, .rollback, .commit, .commit, .rollback])
        #expect(told.map(\.isReadOnly) == [false, false, true, false, false])
        #expect(told.map(\.changedRowCount) == [2, 1, 0, 1, 0])
        #expect(told.map(\.resultCode) == [nil, nil, nil, nil, .SQLITE_CONSTRAINT_UNIQUE])
        #expect(told.allSatisfy { $0.ending <= $0.duration })
        #expect(told.map { $0.ending > .zero } == [true, true, true, true, false])
        // Their BEGIN and COMMIT are no statements of their own.
        #expect(
            !spy.statements.contains { ["BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"].contains($0.operation) })
        #expect(
            "\(told[0])".hasPrefix("committed after ")
                && "\(told[4])".hasSuffix("ms, for 2067 (constraint failed)"))
    }

    @Test("What begins or ends a transaction, and fails, is told of as a statement")
    func failingTransactions() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(configure: spy.listen), try file.queue())
        spy.recorder.removeAll()
        try other.write { db in
            try db.insert("a")
            #expect(databaseError { try queue.write { _ in } }?.resultCode == .SQLITE_BUSY)
        }
        #expect(spy.statements.map(\.sql) == ["BEGIN IMMEDIATE TRANSACTION"])
        #expect(spy.statements.map(\.resultCode) == [.SQLITE_BUSY] && spy.transactions.isEmpty)

        spy.recorder.removeAll()
        expectError("FOREIGN KEY constraint failed") {
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE score (player INTEGER REFERENCES player DEFERRABLE INITIALLY DEFERRED);
                        INSERT INTO score VALUES (9)
                        """)
            }
        }
        #expect(spy.statements.last?.sql == "COMMIT TRANSACTION")
        #expect(spy.statements.last?.resultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(spy.transactions.map(\.completion) == [.rollback])
    }

    @Test("A log that cannot be emptied is told of once in each commit that tries")
    func noFlood() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let pool = try file.pool(configure: spy.listen)
        // A reader of the pool would be known to stay, and no commit would try.
        let other = try file.queue()
        let reader = try await LongAccess { inside in
            try other.read { db in
                _ = try db.names()
                try inside()
            }
        }
        try await onThread {
            try pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE page (content);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 17000)
                        INSERT INTO page SELECT zeroblob(3900) FROM n
                        """)
            }
        }
        try await reader.release()
        // Each of its attempts begins with a passive one. (Others are made by a connection of the
        // checkpoints' own.)
        let told = spy.recorder.elements.filter { report in
            guard case .checkpoint(let checkpoint) = report.event else { return false }
            return checkpoint.mode == .passive && report.connection == "test.writer"
        }
        #expect(told.isEmpty, "\(told)")
        #expect(spy.checkpoints.contains { $0.mode == .restart && $0.resultCode == .SQLITE_BUSY })
    }

    @Test("A pool that is let go of by who hears of its checkpoint is closed")
    func letGo() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let owner = Shared<DatabasePool?>(nil)
        let told = Gate()
        func open() throws {
            let pool = try file.pool { configuration in
                configuration.reportHandler = { report in
                    guard report.connection == "test.checkpoints", case .checkpoint = report.event else {
                        return
                    }
                    // The last reference.
                    owner.withLock { owner in
                        defer { owner = nil }
                        return owner
                    }
                    .map { withExtendedLifetime($0) {} }
                    told.open()
                }
            }
            owner.withLock { $0 = pool }
        }
        try open()
        func write() throws {
            try owner.value?.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE page (content);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                        INSERT INTO page SELECT zeroblob(3900) FROM n
                        """)
            }
        }
        try write()
        try await waitUntil { told.isOpen }
        // The last connection to close keeps others out while it empties the log.
        try file.queue { $0.busyMode = .timeout(60) }.inDatabase { db in
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM page") == 2000)
        }
    }

    @Test("Checkpoints are told of: those that are asked for, and those of a pool")
    func checkpoints() async throws {
        let file = try TemporaryDatabase()
        let pool = try file.pool(configure: spy.listen)
        spy.recorder.removeAll()
        try await onThread {
            try pool.write { db in try db.insert("a") }
            try pool.writeWithoutTransaction { db in try db.checkpoint(.passive) }
        }
        let told = try #require(spy.checkpoints.first)
        #expect(told.mode == .passive && told.resultCode == nil)
        #expect(told.walFrameCount > 0 && told.checkpointedFrameCount == told.walFrameCount)
        let frames = told.walFrameCount
        #expect("\(told)".hasPrefix("passive checkpoint of \(frames) of \(frames) frames in "))
        try await onThread {
            for round in 1...40 {
                try pool.write { db in
                    for number in 1...300 {
                        try db.insert("\(round) \(number) " + String(repeating: "x", count: 400))
                    }
                }
            }
        }
        try await waitUntil { spy.recorder.elements.contains { $0.connection == "test.checkpoints" } }
        try await onThread { try pool.close() }
        #expect(spy.checkpoints.contains { $0.mode == .truncate })
    }

    // MARK: - Attributes

    @Test("The attributes have OpenTelemetry's names")
    func attributes() throws {
        let queue = try DatabaseQueue.withPlayers(configure: spy.listen)
        spy.recorder.removeAll()
        try queue.write { db in try db.insert("a") }
        try? queue.write { db in try db.insert("a") }
        let told = spy.recorder.elements
        #expect(
            told.map(\.name) == [
                "statement", "transaction", "access", "statement", "transaction", "access",
            ])
        for report in told {
            #expect(report.attributes["db.system.name"] == .string("sqlite"))
            #expect(report.attributes["db.namespace"] == .string("test"))
            #expect(report.attributes["db.client.connection.pool.name"] == .string("test"))
        }
        let (statement, access, failed) = (told[0].attributes, told[2].attributes, told[3].attributes)
        #expect(statement["db.query.text"] == .string("INSERT INTO player (name) VALUES (?)"))
        #expect(statement["db.operation.name"] == .string("INSERT"))
        #expect(statement["db.response.returned_rows"] == .int(0))
        #expect(statement["shellac.changed_rows"] == .int(1))
        #expect(statement["error.type"] == nil)
        #expect(failed["error.type"] == .string("2067"))
        #expect(failed["db.response.status_code"] == .string("2067"))
        #expect(access["code.file.path"] == .string(#fileID))
        #expect(access["db.operation.name"] == .string("write"))
        #expect(access["db.client.connection.max"] == .int(1))
        if case .double(let seconds)? = access["db.client.connection.use_time"] {
            #expect(seconds > 0 && seconds < 100)
        } else {
            Issue.record("there is no time of use")
        }
        #expect(told[1].attributes["db.operation.name"] == .string("COMMIT"))
        #expect(told[4].attributes["db.operation.name"] == .string("ROLLBACK"))
        #expect("\(told[2])".hasPrefix("test: write at \(#fileID):"))
    }

    // MARK: - Nobody listens, and somebody comes back

    @Test("Where nobody listens, nothing is measured", arguments: Writer.allCases)
    func idle(kind: Writer) throws {
        let writer = try kind.withPlayers()
        try writer.read { db in
            let statement = try db.cachedStatement(sql: "SELECT 1")
            try #expect(Int.fetchOne(statement) == 1)
            #expect(statement.measure == nil && db.reporter == nil && !db.owed.contains(.report))
            #expect(!db.group.needsAttention)
        }
    }

    /// The ways back into a database, from its own report.
    enum WayBack: String, CaseIterable, Codable {
        case read, write, reentrantWrite, asyncRead, database, close

        func run(_ writer: any DatabaseWriter, _ database: Database) throws {
            switch self {
            case .read: try writer.read { _ in }
            case .write: try writer.write { _ in }
            case .reentrantWrite: try writer.unsafeReentrantWrite { db in try db.insert("b") }
            case .asyncRead: writer.asyncRead { _ in }
            case .database: try database.insert("b")
            case .close: try writer.close()
            }
        }
    }

    @Test(
        "A report that uses its database stops the program, with a sentence", arguments: Writer.allCases,
        WayBack.allCases)
    func comesBack(kind: Writer, way: WayBack) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [kind = kind as Writer, way = way as WayBack] in
            crashWithoutBacktrace()
            let known = Shared<(any DatabaseWriter, Database)?>(nil)
            let writer = try kind.withPlayers { configuration in
                configuration.reportHandler = { report in
                    guard case .statement = report.event, let (writer, database) = known.value else { return }
                    try? way.run(writer, database)
                }
            }
            try writer.unsafeReentrantWrite { db in
                known.withLock { $0 = (writer, db) }
                try db.insert("a")
            }
        }
        // (A database can only be closed while no access is inside of it.)
        result.expectSentence("the database test was used by its own Configuration.reportHandler")
    }

    @Test("A report may use another database")
    func otherDatabase() async throws {
        let log = try DatabaseQueue.withPlayers()
        let queue = try DatabaseQueue.withPlayers { configuration in
            configuration.reportHandler = { report in
                try? log.write { db in try db.insert("\(UUID()) \(report)") }
            }
        }
        try await onThread {
            try queue.write { db in try db.insert("a") }
            try #expect(log.names().contains { $0.hasSuffix("INSERT INTO player (name) VALUES (?)") })
        }
    }
}
