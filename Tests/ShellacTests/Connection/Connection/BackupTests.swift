import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Backups")
struct BackupTests {
    /// Fills a table with rows over many pages.
    private func fill(_ db: Database, rows: Int = 200) throws {
        try db.execute(
            sql: """
                CREATE TABLE page (id INTEGER PRIMARY KEY, content TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
                INSERT INTO page SELECT i, i || hex(zeroblob(500)) FROM n;
                """, arguments: ["rows": rows])
        try db.insert("Arthur")
    }

    /// All that a database holds.
    private func content(_ queue: DatabaseQueue) throws -> [String] {
        try queue.inDatabase { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            let schema = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try schema
                + tables.flatMap { table in
                    try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) ORDER BY 1")
                        .map { "\(table): \($0.databaseValues)" }
                }
        }
    }

    /// The place of a database.
    enum Place: String, CaseIterable {
        case file, wal, memory

        func queue(_ file: TemporaryDatabase) throws -> DatabaseQueue {
            switch self {
            case .memory: try DatabaseQueue.withPlayers()
            case .file: try file.queue()
            case .wal: try file.queue { $0.journalMode = .wal }
            }
        }
    }

    @Test(
        "A backup copies all content, to and from memory and files", arguments: Place.allCases, Place.allCases
    )
    func copies(from: Place, to: Place) throws {
        let (file, otherFile) = (try TemporaryDatabase(), try TemporaryDatabase())
        let (source, destination) = (try from.queue(file), try to.queue(otherFile))
        try source.write { db in try fill(db) }
        // The old content is lost, with the statements that were prepared for it.
        try destination.write { db in
            try db.execute(sql: "CREATE TABLE old (a, b, c); INSERT INTO old VALUES (1, 2, 3)")
            try db.insert("nobody")
            _ = try db.names()
        }
        let expected = try content(source)
        try source.backup(to: destination)
        #expect(try content(destination) == expected)
        #expect(try content(source) == expected)
        // Both go on, each on its own.
        try source.write { db in try db.insert("source") }
        try destination.write { db in try db.insert("destination") }
        #expect(try source.names() == ["Arthur", "source"])
        #expect(try destination.names() == ["Arthur", "destination"])
        let old = databaseError {
            try destination.inDatabase { db in try db.execute(sql: "SELECT * FROM old") }
        }
        #expect(old?.message == "no such table: old")
    }

    @Test("Another connection to the destination sees the copy")
    func otherConnection() throws {
        let file = try TemporaryDatabase()
        let source = try DatabaseQueue.withPlayers()
        try source.write { db in try fill(db) }
        let (destination, other) = (try file.queue(), try file.queue())
        #expect(try other.names() == [])
        try source.backup(to: destination)
        #expect(try content(other) == content(source))
    }

    @Test(
        "The progress tells how many pages there are and how many are left", arguments: [1, 7, 10_000, -1, 0])
    func progress(pagesPerStep: Int) throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue())
        try source.write { db in try fill(db) }
        let pages = try source.read { db in try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 }
        #expect(pages > 20)
        var heard: [DatabaseBackupProgress] = []
        try source.backup(to: destination, pagesPerStep: pagesPerStep) { heard.append($0) }
        let step = pagesPerStep <= 0 ? pages : pagesPerStep
        let counts = heard.map(\.completedPageCount)
        #expect(heard.allSatisfy { $0.totalPageCount == pages })
        #expect(heard.dropLast().allSatisfy { !$0.isCompleted && $0.remainingPageCount > 0 })
        #expect(heard.last?.isCompleted == true && heard.last?.remainingPageCount == 0)
        #expect(counts == Array(stride(from: step, to: pages, by: step)) + [pages])
        #expect(try content(destination) == content(source))
    }

    @Test("An empty database is copied over another one")
    func empty() throws {
        let (source, destination) = (try DatabaseQueue(), try DatabaseQueue.withPlayers())
        try source.backup(to: destination)
        #expect(try content(destination) == [])
    }

    @Test(
        "A backup takes the page size of its source, where the destination can change it",
        arguments: [512, 16384])
    func pageSize(size: Int) throws {
        func pageSize(_ queue: DatabaseQueue) throws -> Int? {
            try queue.inDatabase { db in try Int.fetchOne(db, sql: "PRAGMA page_size") }
        }
        let source = try DatabaseQueue()
        try source.inDatabase { db in
            try db.execute(sql: "PRAGMA page_size = \(size)")
            try db.createPlayers()
            try fill(db)
        }
        #expect(try pageSize(source) == size)
        let file = try TemporaryDatabase()
        let destination = try file.queue()
        #expect(try destination.names() == [])
        try source.backup(to: destination, pagesPerStep: 3)
        #expect(try content(destination) == content(source))
        #expect(try pageSize(destination) == size)
        // Databases in memory, and in WAL mode, cannot: the error says so, and they stay as they
        // were.
        for place in [Place.memory, .wal] {
            let otherFile = try TemporaryDatabase()
            let fixed = try place.queue(otherFile)
            try fixed.write { db in try db.insert("Zoe") }
            let error = databaseError { try source.backup(to: fixed) }
            #expect(error?.extendedResultCode == .SQLITE_READONLY, "\(place)")
            #expect(
                error?.message?.hasPrefix(
                    "test cannot become a copy of :memory:, whose pages have \(size) bytes: ") == true,
                "\(place)")
            #expect(try fixed.names() == ["Zoe"], "\(place)")
        }
    }

    // MARK: - While others write

    /// The writers between the steps of a backup.
    enum Writer: String, CaseIterable {
        case sameQueue, otherConnection, otherThread
    }

    @Test(
        "A backup of a database that is being written has what was committed", arguments: Writer.allCases,
        Place.allCases)
    func written(writer: Writer, place: Place) throws {
        guard place != .memory || writer == .sameQueue else { return }
        let file = try TemporaryDatabase()
        let (source, destination) = (try place.queue(file), try DatabaseQueue())
        try source.write { db in try fill(db) }
        let other = try file.queue { $0.busyMode = .timeout(60) }
        var steps = 0
        try source.backup(to: destination, pagesPerStep: 1) { progress in
            steps += 1
            // The writes come to an end, so that the backup does.
            guard steps % 5 == 0, steps < 100, !progress.isCompleted else { return }
            let number = steps
            func update(_ db: Database) throws {
                try db.execute(sql: "UPDATE page SET content = ? || content", arguments: ["\(number)"])
                try db.insert("\(number)")
            }
            switch writer {
            case .sameQueue:
                try source.write(update)
                // The copy lacks the changes that were rolled back.
                try source.inTransaction { db in
                    try db.insert("nobody")
                    return .rollback
                }
            case .otherConnection: try other.write(update)
            case .otherThread:
                let gate = Gate()
                Thread {
                    try? source.write { db in
                        try db.execute(sql: "UPDATE page SET content = '' || content")
                        try db.insert("\(number)")
                    }
                    gate.open()
                }.start()
                try gate.wait()
            }
        }
        #expect(steps > 20)
        #expect(try source.names().count > 10)
        #expect(try content(destination) == content(source))
    }

    @Test("A backup waits in line at each step, as others do")
    func inLine() async throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue())
        try await source.write { db in try fill(db) }
        let hold = try await Hold(source)
        let backup = Task { try await onThread { try source.backup(to: destination, pagesPerStep: 10) } }
        try await waitUntil { source.line.waitingCount == 1 }
        let reader = Task { try await source.read { db in try db.names() } }
        try await waitUntil { source.line.waitingCount == 2 }
        try await hold.release()
        #expect(try await reader.value == ["Arthur"])
        try await backup.value
        #expect(try content(destination) == content(source))
    }

    // MARK: - Interrupted

    @Test(
        "An error thrown by the progress ends the backup, and leaves the destination as it was",
        arguments: Place.allCases, [1, 5])
    func interrupted(place: Place, steps: Int) throws {
        let (source, file) = (try DatabaseQueue.withPlayers(), try TemporaryDatabase())
        try source.write { db in try fill(db) }
        let destination = try place.queue(file)
        try destination.write { db in
            try db.insert("Zoe")
            try db.execute(sql: "CREATE TABLE old (a); INSERT INTO old VALUES (hex(zeroblob(20000)))")
        }
        let before = try content(destination)
        for _ in 1...2 {
            var count = 0
            #expect(throws: TestError(3)) {
                try source.backup(to: destination, pagesPerStep: 2) { _ in
                    count += 1
                    if count == steps { throw TestError(3) }
                }
            }
            #expect(try content(destination) == before)
        }
        try source.write { db in try db.insert("Barbara") }
        try destination.write { db in try db.insert("Yann") }
        #expect(try source.names() == ["Arthur", "Barbara"])
        #expect(try destination.names() == ["Zoe", "Yann"])
        try source.backup(to: destination)
        #expect(try destination.names() == ["Arthur", "Barbara"])
        try source.close()
        try destination.close()
    }

    @Test("An error thrown by the last progress comes too late, and is ignored", arguments: [true, false])
    func tooLate(isInside: Bool) throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue())
        try source.write { db in try fill(db) }
        var heard: [Bool] = []
        func hear(_ progress: DatabaseBackupProgress) throws {
            heard.append(progress.isCompleted)
            if progress.isCompleted { throw TestError(3) }
        }
        if isInside {
            try source.inDatabase { from in
                try destination.inDatabase { to in try from.backup(to: to, pagesPerStep: 5, progress: hear) }
            }
        } else {
            try source.backup(to: destination, pagesPerStep: 5, progress: hear)
        }
        #expect(heard.count > 1 && heard.filter { $0 }.count == 1)
        #expect(try content(destination) == content(source))
        try source.close()
        try destination.close()
    }

    @Test("A backup that would close a ring throws SQLITE_BUSY, and the others end", arguments: [2, 3, 5])
    func ring(length: Int) async throws {
        let queues = try (0..<length).map { _ in try DatabaseQueue.withPlayers() }
        try await queues[0].write { [self] db in try fill(db) }
        // Each database is copied over the one before it, which is held: all but the first wait for
        // their source.
        let (begun, end) = (Gate(), Gate())
        let first = Task {
            try await onThread {
                try queues[0].backup(to: queues[1], pagesPerStep: 1) { _ in
                    begun.open()
                    try end.wait()
                }
            }
        }
        try await waitUntil { begun.isOpen }
        var others: [Task<Void, any Error>] = []
        for number in queues.indices.dropFirst().dropLast() {
            others.append(
                Task { try await onThread { try queues[number].backup(to: queues[number + 1]) } })
            try await waitUntil { queues[number].line.waitingCount == 1 }
        }
        func close(_ queues: [DatabaseQueue]) -> DatabaseError? {
            databaseError { try queues[queues.count - 1].backup(to: queues[0]) }
        }
        let error = close(queues)
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(
            error?.message
                == (length == 2
                    ? "the destination of the backup is being copied over its source"
                    : "the destination of the backup is being copied over its source, through other "
                        + "databases: \(length) backups would wait for each other"))
        end.open()
        try await first.value
        for other in others { try await other.value }
        for queue in queues { #expect(try content(queue) == content(queues[0])) }
        // The ring is no more.
        #expect(close(queues) == nil)
    }

    // MARK: - Errors

    @Test(
        "A destination that another process has locked throws SQLITE_BUSY, and stays as it was",
        arguments: SecondProcess.Lock.allCases)
    func busyDestination(lock: SecondProcess.Lock) throws {
        let (source, file) = (try DatabaseQueue.withPlayers(), try TemporaryDatabase())
        try source.write { db in try fill(db) }
        let destination = try file.queue()
        try destination.write { db in try db.insert("Zoe") }
        let other = try SecondProcess(path: file.path, lock: lock)
        let error = databaseError { try source.backup(to: destination, pagesPerStep: 2) }
        #expect(error?.extendedResultCode == .SQLITE_BUSY)
        #expect(error?.description == "SQLite error 5: database is locked")
        other.release()
        #expect(try destination.names() == ["Zoe"])
        try source.backup(to: destination)
        #expect(try content(destination) == content(source))
    }

    @Test("A source that another process has locked throws SQLITE_BUSY, and the destination stays as it was")
    func busySource() throws {
        let file = try TemporaryDatabase()
        let (source, destination) = (try file.queue(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        let other = try SecondProcess(path: file.path, lock: .exclusive)
        let error = databaseError { try source.backup(to: destination, pagesPerStep: 2) }
        #expect(error?.description == "SQLite error 5: database is locked")
        other.release()
        #expect(try destination.names() == [])
        try source.backup(to: destination)
    }

    @Test(
        "A source that is locked in the middle of a backup throws SQLITE_BUSY, and the destination stays as it was"
    )
    func busyInTheMiddle() throws {
        let file = try TemporaryDatabase()
        let (source, destination) = (try file.queue(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        try destination.write { db in try db.insert("Zoe") }
        var other: SecondProcess?
        let error = databaseError {
            try source.backup(to: destination, pagesPerStep: 2) { _ in
                if other == nil { other = try SecondProcess(path: file.path, lock: .exclusive) }
            }
        }
        #expect(error?.description == "SQLite error 5: database is locked")
        other?.release()
        #expect(try destination.names() == ["Zoe"])
        try source.write { db in try db.insert("Barbara") }
    }

    @Test("A destination whose rows are being read is in use")
    func destinationInUse() throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try destination.write { db in for name in ["Zoe", "Yann"] { try db.insert(name) } }
        let error = databaseError {
            try source.inDatabase { sourceDB in
                try destination.inDatabase { destinationDB in
                    let cursor = try String.fetchCursor(destinationDB, sql: "SELECT name FROM player")
                    #expect(try cursor.next() != nil)
                    try sourceDB.backup(to: destinationDB)
                }
            }
        }
        #expect(error?.description == "SQLite error 1: destination database is in use")
        #expect(try destination.names() == ["Zoe", "Yann"])
        try source.backup(to: destination)
        #expect(try destination.names() == [])
    }

    @Test("A closed database cannot be copied, nor copied over", arguments: [true, false])
    func closed(isSource: Bool) throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try (isSource ? source : destination).close()
        let error = databaseError { try source.backup(to: destination) }
        #expect(error?.description == "SQLite error 21: the database test is closed")
    }

    @Test("A database cannot be closed during its backup", arguments: [true, false])
    func closing(isSource: Bool) throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        if isSource {
            var errors: [DatabaseError?] = []
            try source.backup(to: destination, pagesPerStep: 5) { progress in
                if !progress.isCompleted { errors.append(databaseError { try source.close() }) }
            }
            #expect(errors.count > 2)
            for error in errors {
                #expect(
                    error?.description
                        == "SQLite error 5: the database test cannot be closed: a backup is still running")
            }
        } else {
            // A close of the destination waits: the backup holds it.
            let ended = Gate()
            var hasBegun = false
            try source.backup(to: destination, pagesPerStep: 5) { _ in
                guard !hasBegun else { return }
                hasBegun = true
                Thread {
                    try? destination.close()
                    ended.open()
                }.start()
                while destination.line.waitingCount == 0 { Thread.sleep(forTimeInterval: 0.001) }
            }
            try ended.wait()
            #expect(databaseError { _ = try destination.names() }?.message == "the database test is closed")
        }
        try source.close()
    }

    @Test("A backup of a database over itself stops the program, with a sentence", arguments: [true, false])
    func itself(isInAccess: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isInAccess] in
            let queue = try DatabaseQueue.withPlayers()
            if isInAccess {
                try queue.inDatabase { db in try db.backup(to: db) }
            } else {
                try await queue.backup(to: queue)
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Shellac was misused: a database cannot be copied over itself."), "\(text)")
    }

    // MARK: - Inside accesses

    @Test("Inside accesses to both databases, one is copied over the other", arguments: [-1, 0, 3])
    func insideAccesses(pagesPerStep: Int) throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        var heard: [DatabaseBackupProgress] = []
        try source.read { sourceDB in
            try destination.writeWithoutTransaction { destinationDB in
                try sourceDB.backup(to: destinationDB, pagesPerStep: pagesPerStep) { heard.append($0) }
                #expect(try destinationDB.names() == ["Arthur"])
            }
            #expect(try sourceDB.names() == ["Arthur"])
        }
        #expect(heard.last?.isCompleted == true)
        #expect(heard.count == (pagesPerStep <= 0 ? 1 : (heard[0].totalPageCount + 2) / 3))
        #expect(try content(destination) == content(source))
    }

    @Test("A destination in an access that reads is left as it was")
    func intoReadAccess() throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try destination.write { db in try db.insert("Zoe") }
        let error = databaseError {
            try source.inDatabase { sourceDB in
                try destination.read { destinationDB in try sourceDB.backup(to: destinationDB) }
            }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(error?.message?.contains("is read-only here, and cannot become a copy of") == true)
        #expect(try destination.names() == ["Zoe"])
        try source.backup(to: destination)
        #expect(try destination.names() == [])
    }

    @Test("Inside accesses, too, a throwing progress leaves the destination as it was")
    func interruptedInsideAccesses() throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        try destination.write { db in try db.insert("Zoe") }
        let error = thrownError {
            try source.read { sourceDB in
                try destination.inDatabase { destinationDB in
                    #expect(throws: TestError(1)) {
                        try sourceDB.backup(to: destinationDB, pagesPerStep: 1) { _ in throw TestError(1) }
                    }
                    #expect(try destinationDB.names() == ["Zoe"])
                    try destinationDB.insert("Yann")
                }
            }
        }
        #expect(error == nil)
        #expect(try destination.names() == ["Zoe", "Yann"])
        try source.close()
        try destination.close()
    }

    @Test("A destination inside a transaction is in use, and a source that is being written is busy")
    func insideTransactions() throws {
        let (source, destination) = (try DatabaseQueue.withPlayers(), try DatabaseQueue.withPlayers())
        try source.write { db in try fill(db) }
        let inUse = databaseError {
            try source.inDatabase { sourceDB in
                try destination.write { destinationDB in
                    _ = try destinationDB.names()
                    try sourceDB.backup(to: destinationDB)
                }
            }
        }
        #expect(inUse?.description == "SQLite error 1: destination database is in use")
        let busy = databaseError {
            try source.write { sourceDB in
                try sourceDB.insert("Barbara")
                try destination.inDatabase { destinationDB in try sourceDB.backup(to: destinationDB) }
            }
        }
        #expect(busy?.resultCode == .SQLITE_BUSY)
        #expect(try destination.names() == [])
        #expect(try source.names() == ["Arthur"])
    }
}
