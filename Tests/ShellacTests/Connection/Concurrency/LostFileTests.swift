import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("A file with a log that was moved, deleted or replaced", .behaviour(135))
struct LostFileTests {
    /// The ways to lose the file.
    enum Loss: String, CaseIterable, Codable, Sendable {
        case moved, deleted, replaced, movedAndReplaced
    }

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("test.sqlite")
    }

    private func open(
        _ writer: Writer, configure: (inout Configuration) -> Void = { _ in }
    ) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.label = "test"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configure(&configuration)
        switch writer {
        case .pool: return try DatabasePool(path: path, configuration: configuration)
        case .queue: return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// Makes a file with a table of 500 rows, and returns its path.
    private func makeBackup() throws -> String {
        let path = folder.path("backup.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE u (a);
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                    INSERT INTO u SELECT randomblob(300) FROM n
                    """)
        }
        try queue.close()
        return path
    }

    private func lose(_ loss: Loss) throws {
        let backup = try makeBackup()
        let files = FileManager.default
        switch loss {
        case .moved: try files.moveItem(atPath: path, toPath: folder.path("elsewhere"))
        case .deleted: try files.removeItem(atPath: path)
        case .replaced: #expect(rename(backup, path) == 0)
        case .movedAndReplaced:
            try files.moveItem(atPath: path, toPath: folder.path("elsewhere"))
            try files.copyItem(atPath: backup, toPath: path)
        }
    }

    private func sentence(_ loss: Loss) -> String {
        let isReplaced = loss == .replaced || loss == .movedAndReplaced
        return
            "the database test has lost its file: what is at \(path) now is \(isReplaced ? "another file" : "nothing"). Close it, "
            + "and open it again"
    }

    /// Expects the restored contents, whichever connection has looked at them.
    private func expectBackup(_ path: String) throws {
        let restored = try DatabaseQueue(path: path)
        try restored.write { db in
            try #expect(String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == ["u"])
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM u") == 500)
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            try db.execute(sql: "UPDATE u SET a = a")
        }
        try restored.close()
    }

    @Test(
        "The next write is refused, and each later one; reading goes on; and what has taken the place stays as it is",
        arguments: Writer.allCases, Loss.allCases)
    func refused(writer: Writer, loss: Loss) async throws {
        let database = try open(writer)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        let count = try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        #expect(count == 1)
        try lose(loss)
        for number in 1...5 {
            let error = databaseError {
                try database.write { db in
                    try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number])
                }
            }
            #expect(error?.message == sentence(loss), "\(number)")
            #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        }
        let lone = databaseError {
            try database.writeWithoutTransaction { db in try db.execute(sql: "DELETE FROM t") }
        }
        #expect(lone?.message == sentence(loss))
        let kept = try await database.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") }
        #expect(kept == [0])
        // One connection opens it before it is closed, and one afterwards.
        let isReplaced = loss == .replaced || loss == .movedAndReplaced
        if isReplaced { try expectBackup(path) }
        try await database.close()
        if isReplaced {
            try expectBackup(path)
        } else {
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        // The moved file has all commits.
        if loss == .moved || loss == .movedAndReplaced {
            let values = try await DatabaseQueue(path: folder.path("elsewhere")).read { db in
                try Int.fetchAll(db, sql: "SELECT a FROM t")
            }
            #expect(values == [0])
        }
    }

    @Test(
        "Without another write, closing and letting go leave alone what has taken the place",
        arguments: Writer.allCases, [false, true])
    func closing(writer: Writer, isClosed: Bool) throws {
        var database: (any DatabaseWriter)? = try open(writer)
        try database?.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        try lose(.replaced)
        if isClosed { try database?.close() }
        database = nil
        try expectBackup(path)
    }

    @Test("It is refused for good, also when the file comes back", arguments: Writer.allCases)
    func comingBack(writer: Writer) throws {
        let database = try open(writer)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        try lose(.moved)
        expectError(sentence(.moved)) {
            try database.write { db in try db.execute(sql: "DELETE FROM t") }
        }
        try FileManager.default.moveItem(atPath: folder.path("elsewhere"), toPath: path)
        let error = databaseError { try database.write { db in try db.execute(sql: "DELETE FROM t") } }
        #expect(error?.message == sentence(.moved))
        try database.close()
        let again = try open(writer)
        try again.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        let values = try again.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") }
        #expect(values == [0, 1])
    }

    @Test("A log that somebody else has written to meanwhile is left to them", arguments: Writer.allCases)
    func foreignLog(writer: Writer) async throws {
        let database = try open(writer)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        // Another process goes on with the log, under a name of the file that is not ours.
        #expect(link(path, folder.path("second")) == 0)
        #expect(link(path + "-wal", folder.path("second-wal")) == 0)
        #expect(link(path + "-shm", folder.path("second-shm")) == 0)
        try await SecondProcess.execute("INSERT INTO t VALUES (1)", path: folder.path("second"))
        let size = try #require(FileIdentity.size(path + "-wal"))
        #expect(size > 0)
        try FileManager.default.removeItem(atPath: path)
        let error = databaseError { try database.write { db in try db.execute(sql: "DELETE FROM t") } }
        #expect(error?.message == sentence(.deleted))
        try await database.close()
        #expect(FileIdentity.size(path + "-wal") == size)
        let values = try await DatabaseQueue(path: folder.path("second")).read { db in
            try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a")
        }
        #expect(values == [0, 1])
    }

    @Test("Neither checkpoints nor backups touch what has taken the place, and the status says so")
    func otherWays() throws {
        let pool = try #require(try open(.pool) as? DatabasePool)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        _ = try pool.walStatus
        try lose(.replaced)
        #expect(databaseError { _ = try pool.walStatus }?.message == sentence(.replaced))
        let checkpoint = databaseError {
            try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        }
        #expect(checkpoint?.message == sentence(.replaced))
        let source = try DatabaseQueue.withPlayers()
        #expect(databaseError { try source.backup(to: pool) }?.message == sentence(.replaced))
        #expect(databaseError { _ = try pool.makeSnapshot() }?.message == sentence(.replaced))
        try pool.close()
        try expectBackup(path)
    }

    @Test(
        "A transaction whose file goes while it runs is rolled back, and told as rolled back",
        arguments: Writer.allCases)
    func whileItRuns(writer: Writer) throws {
        let database = try open(writer)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        var ends: [String] = []
        let error = databaseError {
            try database.write { db in
                db.afterNextTransaction(
                    onCommit: { _ in ends.append("committed") },
                    onRollback: { _ in ends.append("rolled back") })
                try db.execute(sql: "INSERT INTO t VALUES (1)")
                try lose(.replaced)
            }
        }
        #expect(error?.message == sentence(.replaced))
        #expect(error?.sql == "COMMIT TRANSACTION")
        #expect(ends == ["rolled back"])
        let count = try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        #expect(count == 0)
        try database.close()
        try expectBackup(path)
    }

    @Test("With a rollback journal, SQLite refuses the write, with our sentence")
    func journal() throws {
        let database = try open(.queue) { $0.journalMode = .delete }
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try lose(.replaced)
        let error = databaseError {
            try database.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error?.message == sentence(.replaced))
        try database.close()
        try expectBackup(path)
    }

    @Test(
        "A write to an attached database whose file is gone is refused, and names it",
        arguments: Writer.allCases)
    func attached(writer: Writer) throws {
        let other = folder.path("other.sqlite")
        let database = try open(writer)
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); ATTACH ? AS other", arguments: [other])
            try db.execute(sql: "PRAGMA other.journal_mode = wal; CREATE TABLE other.u (a)")
        }
        try FileManager.default.removeItem(atPath: other)
        func write(_ table: String) throws {
            try database.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO \(table) VALUES (1)")
            }
        }
        let error = databaseError { try write("other.u") }
        #expect(
            error?.message
                == "the database other of test has lost its file: what is at \(other) now is nothing. Close it, and open it again"
        )
        // Writes to the database whose file is there are not lost.
        try write("t")
    }

    /// The action on an attached database once its file was replaced.
    enum Ending: String, CaseIterable { case write, close }

    @Test(
        "The log of an attached database whose file was replaced does no harm to what has taken its place",
        arguments: [true, false], Ending.allCases)
    func replacedAttachment(isMainAFile: Bool, ending: Ending) throws {
        let other = folder.path("other.sqlite")
        let queue = isMainAFile ? try open(.queue) : try DatabaseQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); ATTACH ? AS other", arguments: [other])
            try db.execute(sql: "PRAGMA other.journal_mode = wal; CREATE TABLE other.v (a)")
            try db.execute(sql: "INSERT INTO other.v VALUES (randomblob(20000))")
        }
        #expect(try FileManager.default.attributesOfItem(atPath: other + "-wal")[.size] as? Int ?? 0 > 0)
        let mine = folder.path("mine.sqlite")
        try FileManager.default.linkItem(atPath: other, toPath: mine)
        let backup = try makeBackup()
        #expect(rename(backup, other) == 0)
        switch ending {
        case .write:
            let error = databaseError {
                try queue.write { db in try db.execute(sql: "INSERT INTO other.v VALUES (1)") }
            }
            #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
            #expect(error?.message?.contains("other of") == true)
            // Writes to the database whose file is there are not lost. (BEGIN IMMEDIATE begins to
            // write in all databases.)
            try queue.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        case .close: try queue.close()
        }
        try DatabaseQueue(path: other).write { db in
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM u") == 500)
        }
        if ending == .write { try queue.close() }
        try DatabaseQueue(path: other).read { db in
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM u") == 500)
        }
        // Earlier commits have gone to the file that they belong to.
        try DatabaseQueue(path: mine).read { db in
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM v") == 1)
        }
    }

    // MARK: - The log

    @Test("A log that is gone: readers and writes are refused, and closing copies what it has")
    func lostLog() throws {
        for names in [["-wal"], ["-shm"], ["-wal", "-shm"]] {
            let pool = try #require(try open(.pool) as? DatabasePool)
            try pool.write { db in
                try db.execute(sql: "DROP TABLE IF EXISTS t; CREATE TABLE t (a); INSERT INTO t VALUES (0)")
            }
            for name in names { try FileManager.default.removeItem(atPath: path + name) }
            let sentence =
                "the database test has lost its log: what is at \(path + names[0]) now is nothing. Close it, and open it again"
            pool.invalidateReadOnlyConnections()
            #expect(databaseError { try pool.read { _ in } }?.message == sentence)
            // It is looked for now and then.
            usleep(110_000)
            for _ in 0..<2 {
                let error = databaseError {
                    try pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
                }
                #expect(error?.message == sentence)
            }
            try pool.close()
            let values = try DatabaseQueue(path: path).read { db in
                try Int.fetchAll(db, sql: "SELECT a FROM t")
            }
            #expect(values == [0])
        }
    }

    @Test("A log that another one has taken the place of is not copied")
    func replacedLog() throws {
        let pool = try open(.pool)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
        let foreign = Data(repeating: 7, count: 100)
        try FileManager.default.removeItem(atPath: path + "-wal")
        try foreign.write(to: URL(filePath: path + "-wal"))
        usleep(110_000)
        let error = databaseError { try pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") } }
        #expect(
            error?.message?.contains("has lost its log: what is at \(path)-wal now is another file") == true)
        let size = FileIdentity.size(path)
        try pool.close()
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")) == foreign)
        #expect(FileIdentity.size(path) == size)
    }

    // MARK: - Confirmed commits

    /// Moves the file when a commit is about to be made, behind the last look at it.
    private final class Mover: TransactionObserver {
        let move: () throws -> Void
        private(set) var ends: [String] = []
        init(_ move: @escaping () throws -> Void) { self.move = move }
        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws { try move() }
        func databaseDidCommit(_ db: Database) { ends.append("committed") }
        func databaseDidRollback(_ db: Database) { ends.append("rolled back") }
    }

    @Test(
        "A commit is not confirmed to a file that has no name any more", .behaviour(107),
        arguments: Writer.allCases, [JournalMode.wal, .delete])
    func confirmed(writer: Writer, mode: JournalMode) throws {
        if writer == .pool, mode == .delete { return }
        let database = try open(writer) {
            $0.verifiesCommits = true
            $0.journalMode = mode
        }
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let (folder, path) = (folder, path)
        let mover = Mover { try FileManager.default.moveItem(atPath: path, toPath: folder.path("elsewhere")) }
        database.add(transactionObserver: mover)
        // (For a statement alone, SQLite's hook notifies observers.)
        let error = databaseError {
            try database.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error?.leavesOutcomeUnknown == true)
        #expect(
            error?.message
                == "a commit to test could not be confirmed, and its outcome is unknown: its file was "
                + "moved, deleted or replaced. Close the database, and check what it contains before you "
                + "write that again")
        #expect(mover.ends == ["rolled back"])
        expectError(
            "a commit to test could not be confirmed, and its outcome is unknown: its file was moved, "
                + "deleted or replaced. Close the database, and check what it contains before you write that "
                + "again"
        ) { try database.read { _ in } }
        try database.close()
    }

    @Test("A VACUUM of it is refused before it writes, and its outcome is known", .behaviour(107))
    func confirmedVacuum() throws {
        let database = try open(.queue) { $0.verifiesCommits = true }
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try lose(.moved)
        let error = databaseError {
            try database.writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
        }
        #expect(error?.message == sentence(.moved) && error?.leavesOutcomeUnknown == false)
        try database.close()
    }

    @Test("A commit is refused that comes at once, when the last one has just looked")
    func atOnce() throws {
        for round in 0..<20 {
            let queue = try open(.queue)
            try queue.write { db in
                try db.execute(sql: "DROP TABLE IF EXISTS t; CREATE TABLE t (a)")
            }
            // The entry of the file has an earlier time than now.
            usleep(10_000)
            for value in 0..<3 {
                try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
            }
            #expect(rename(path, folder.path("elsewhere\(round)")) == 0)
            expectError(sentence(.moved)) {
                try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES ('lost')") }
            }
            try queue.close()
            let moved = try DatabaseQueue(path: folder.path("elsewhere\(round)"))
            try moved.read { db in try #expect(Int.fetchAll(db, sql: "SELECT a FROM t") == [0, 1, 2]) }
            try moved.close()
        }
    }

    @Test(
        "VACUUM, which SQLite's commit hook is not called for, is refused, too",
        arguments: [Loss.replaced, .moved])
    func vacuum(loss: Loss) throws {
        let queue = try open(.queue)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        try lose(loss)
        let error = databaseError { try queue.vacuum() }
        #expect(error?.message == sentence(loss))
        if loss == .replaced { try expectBackup(path) }
        try queue.close()
    }

    @Test(
        "A commit that is refused beside an open cursor, or in a savepoint of SQL, leaves no log that another file would take for its own"
    )
    func heldLog() throws {
        for isSavepoint in [false, true] {
            let queue = try open(.queue)
            try queue.write { db in
                try db.execute(
                    sql: "DROP TABLE IF EXISTS u; CREATE TABLE t (a); INSERT INTO t VALUES (0), (5)")
            }
            try lose(.replaced)
            expectError(containing: sentence(.replaced)) {
                try queue.writeWithoutTransaction { db in
                    if isSavepoint {
                        try db.execute(sql: "SAVEPOINT s; INSERT INTO t VALUES (1)")
                        defer { try? db.execute(sql: "ROLLBACK TO s; RELEASE s") }
                        try db.execute(sql: "RELEASE s")
                    } else {
                        let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                        while try cursor.next() != nil { try db.execute(sql: "INSERT INTO t VALUES (1)") }
                    }
                }
            }
            try expectBackup(path)
            try queue.close()
        }
    }
}
