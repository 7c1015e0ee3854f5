import CSQLite
import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

private class Player: Record {
    var id: Int64?
    var name = ""

    convenience init(name: String) {
        self.init()
        self.name = name
    }

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

@Suite("What a refused commit leaves", .behaviour(107))
struct UnconfirmedCommitTests {
    // MARK: - Records

    enum Saving: String, CaseIterable, Codable {
        case insertInTransaction, insertAlone, insertRefreshing, save, updateAlone, updateInTransaction,
            batch, delete
    }

    @Test("A record whose commit was refused is what it was, and dirty", arguments: Saving.allCases)
    func records(saving: Saving) throws {
        let taken = try TakenOver()
        let player = try #require(try taken.queue.read { db in try Player.fetchOne(db) })
        let new = Player(name: "Barbara")
        player.name = "Craig"
        let fence = { taken.storage.fenceAtNextWrite() }
        let error = try #require(
            databaseError {
                switch saving {
                case .insertInTransaction:
                    try taken.queue.write { db in
                        try new.insert(db)
                        #expect(new.id == 2)
                        fence()
                    }
                case .insertAlone:
                    try taken.queue.inDatabase { db in
                        fence()
                        try new.insert(db)
                    }
                case .insertRefreshing:
                    try taken.queue.inDatabase { db in
                        fence()
                        try new.insert(db, refreshing: true)
                    }
                case .save:
                    try taken.queue.inDatabase { db in
                        fence()
                        try new.save(db)
                    }
                case .updateAlone:
                    try taken.queue.inDatabase { db in
                        fence()
                        try player.updateChanges(db)
                    }
                case .updateInTransaction:
                    try taken.queue.write { db in
                        try player.updateChanges(db)
                        #expect(!player.hasDatabaseChanges)
                        fence()
                    }
                case .batch:
                    try taken.queue.inDatabase { db in
                        try db.inSavepoint {
                            for saved in [new, player] { try saved.save(db) }
                            #expect(!new.hasDatabaseChanges && !player.hasDatabaseChanges)
                            fence()
                            return .commit
                        }
                    }
                case .delete:
                    try taken.queue.write { db in
                        try player.delete(db)
                        fence()
                    }
                }
            })
        #expect(error.leavesOutcomeUnknown)
        #expect(new.id == nil && new.hasDatabaseChanges)
        #expect(player.hasDatabaseChanges && player.id == 1)
        try #expect(player.databaseChanges.keys.sorted() == ["name"])
        try taken.queue.close()
        try #expect(taken.namesOnDisk() == ["Arthur"])
    }

    // MARK: - Which file is asked

    @Test(
        "The file that holds the commit is asked",
        arguments: [
            (TakenOver.Mode.logAlone, FaultyStorage.File.log, true), (.logAlone, .main, false),
            (.log, .log, true),
            (.persistAlone, .journal, true), (.persistAlone, .main, true),
        ])
    func files(mode: TakenOver.Mode, file: FaultyStorage.File, isRefused: Bool) throws {
        let taken = try TakenOver(mode)
        func insert() throws {
            try taken.queue.write { db in
                try db.insert("Barbara")
                taken.storage.refused = [file]
                // (SQLite reads eight bytes of a journal itself.)
                taken.storage.sparedCount = 8
            }
        }
        if isRefused {
            let error = try #require(databaseError { try insert() })
            #expect(error.leavesOutcomeUnknown && error.extendedResultCode == .SQLITE_IOERR_READ)
        } else {
            try insert()
        }
        taken.storage.refused = []
        try taken.queue.close()
        // The outcome was unknown, and this is it: what was written is there.
        try #expect(taken.namesOnDisk() == ["Arthur", "Barbara"])
    }

    @Test("A refused connection leaves the log as it is when it is closed")
    func log() throws {
        let taken = try TakenOver()
        taken.storage.refused = [.log]
        #expect(databaseError { try taken.queue.write { db in try db.insert("Barbara") } } != nil)
        taken.storage.refused = []
        let log = URL(filePath: taken.file.path + "-wal")
        let before = try Data(contentsOf: log)
        try taken.queue.close()
        try #expect(Data(contentsOf: log) == before)
    }

    @Test("A log that is cut after a commit of the C interface has its commit in the main file")
    func cutLog() throws {
        for isRefused in [false, true] {
            let taken = try TakenOver()
            func run() throws {
                try taken.queue.inDatabase { db in
                    let connection = try #require(db.sqliteConnection)
                    #expect(
                        Self.execute("INSERT INTO player (name) VALUES ('Barbara')", connection)
                            && Self.execute("PRAGMA wal_checkpoint(TRUNCATE)", connection))
                    if isRefused { taken.storage.refused = [.main] }
                }
            }
            if isRefused {
                let error = databaseError { try run() }
                #expect(error?.leavesOutcomeUnknown == true)
            } else {
                try run()
                try #expect(taken.queue.names() == ["Arthur", "Barbara"])
            }
        }
    }

    @Test("SQLite goes on to copy the log, at the number of frames that it is told", arguments: [nil, 20, 0])
    func automaticCheckpoints(frames: Int?) throws {
        let taken = try TakenOver()
        if let frames {
            try taken.queue.inDatabase { db in try db.execute(sql: "PRAGMA wal_autocheckpoint = \(frames)") }
        }
        for number in 1...400 {
            try taken.queue.write { db in try db.insert("\(number)" + String(repeating: " ", count: 3000)) }
        }
        let size = try #require(FileIdentity.size(taken.file.path + "-wal"))
        let mostFrames: ClosedRange<Int> =
            switch frames {
            case nil: 990...1010
            case 20: 20...30
            default: 1100...3000
            }
        #expect(mostFrames.contains(size / 4120), "\(size / 4120) frames")
        // The hook is there again: what is read is one frame.
        let reads = try taken.storage.reads { try taken.queue.write { db in try db.insert("Barbara") } }
        #expect(reads.filter { $0.file == .log && $0.count == 24 }.count == 1)
    }

    @Test("The commit after SQLite's hook was put in the place of ours is confirmed, too")
    func replacedHook() throws {
        let taken = try TakenOver()
        try taken.queue.inDatabase { db in try db.execute(sql: "PRAGMA wal_autocheckpoint = 1000") }
        taken.storage.fenceAtNextWrite()
        let error = databaseError { try taken.queue.write { db in try db.insert("Barbara") } }
        #expect(error?.leavesOutcomeUnknown == true)
    }

    // MARK: - Other connections and databases

    @Test("A backup is confirmed where it goes to", arguments: TakenOver.Mode.allCases)
    func backup(mode: TakenOver.Mode) throws {
        let taken = try TakenOver(mode)
        let source = try DatabaseQueue.withPlayers()
        try source.write { db in try db.insert("Zoe") }
        try source.backup(to: taken.queue)
        try #expect(taken.queue.names() == ["Zoe"])
        try source.write { db in try db.insert("Yves") }
        taken.storage.fenceAtNextWrite()
        let error = try #require(databaseError { try source.backup(to: taken.queue) })
        #expect(error.leavesOutcomeUnknown)
        #expect(databaseError { _ = try taken.queue.names() } == error)
        try #expect(source.names() == ["Zoe", "Yves"])
        try taken.queue.close()
    }

    @Test("A database that is attached is asked where it was written")
    func attached() throws {
        let folder = try TemporaryFolder()
        let storage = FaultyStorage(sharesMemory: false)
        let taken = try TakenOver()
        let odd = "\"o\"\"dd é\""
        try taken.queue.inDatabase { db in
            try db.execute(
                sql: "ATTACH ? AS \(odd)", arguments: ["file:\(folder.path("b.sqlite"))?vfs=\(storage.name)"])
            try db.execute(sql: "PRAGMA \(odd).journal_mode = wal; CREATE TABLE \(odd).t (a)")
        }
        var reads = try storage.reads { try taken.queue.write { db in try db.insert("Barbara") } }
        // (BEGIN IMMEDIATE has locked it, and it got no frames.)
        #expect(reads == [.init(file: .log, count: 32, offset: 0)])
        reads = try storage.reads {
            try taken.queue.write { db in try db.execute(sql: "INSERT INTO \(odd).t VALUES (1)") }
        }
        #expect(reads.filter { $0.file == .log }.map(\.count) == [24])
        storage.fenceAtNextWrite()
        let error = try #require(
            databaseError {
                try taken.queue.write { db in try db.execute(sql: "INSERT INTO \(odd).t VALUES (2)") }
            })
        #expect(error.leavesOutcomeUnknown)
    }

    @Test(
        "The readers of a pool are refused with its writer, and closing it ends that",
        arguments: [Checkpoints.background, .atCommit, .none])
    func pool(checkpoints: Checkpoints) throws {
        let file = try TemporaryDatabase()
        let storage = FaultyStorage()
        let pool = try file.pool {
            $0.vfs = storage.name
            $0.verifiesCommits = true
            $0.checkpoints = checkpoints
        }
        for name in ["Arthur", "Barbara"] { try pool.write { db in try db.insert(name) } }
        let reads = try storage.reads { try pool.write { db in try db.insert("Craig") } }
        #expect(reads.contains { $0.file == .log && $0.count == 24 })
        storage.refused = [.log]
        let error = try #require(databaseError { try pool.write { db in try db.insert("Dora") } })
        #expect(error.leavesOutcomeUnknown)
        storage.refused = []
        #expect(databaseError { try pool.read { _ in } } == error)
        #expect(databaseError { try pool.write { _ in } } == error)
        try pool.close()
        let closed = databaseError { try pool.read { _ in } }
        #expect(closed?.message == "the database test is closed")
    }

    // MARK: - Errors beside

    @Test("A constraint that is violated stays the error of who violates it")
    func constraint() throws {
        let taken = try TakenOver()
        for sql in [
            "INSERT INTO player (name) VALUES ('Arthur')",
            "INSERT OR FAIL INTO player (name) VALUES ('Barbara'), ('Arthur')",
        ] {
            let error = databaseError {
                try taken.queue.inDatabase { db in try db.execute(sql: sql) }
            }
            #expect(
                error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE && error?.leavesOutcomeUnknown == false
            )
        }
        try #expect(taken.queue.names() == ["Arthur", "Barbara"])
    }

    @Test("A veto is the error of the commit, which is not confirmed")
    func veto() throws {
        let taken = try TakenOver()
        let spy = ObserverSpy()
        spy.onWillCommit = { throw TestError(1) }
        taken.queue.add(transactionObserver: spy)
        for isAlone in [true, false] {
            let reads = taken.storage.reads {
                _ = #expect(throws: TestError(1)) {
                    if isAlone {
                        try taken.queue.inDatabase { db in try db.insert("Barbara") }
                    } else {
                        try taken.queue.write { db in try db.insert("Barbara") }
                    }
                }
            }
            #expect(reads.filter { $0.count == 24 } == [])
        }
        try #expect(taken.queue.names() == ["Arthur"])
    }

    @Test(
        "A commit that SQLite tells as failed leaves the outcome unknown where the storage is to blame, and the database goes on",
        arguments: TakenOver.Mode.allCases)
    func failingStorage(mode: TakenOver.Mode) throws {
        let taken = try TakenOver(mode) { configuration in
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        let spy = ObserverSpy()
        taken.queue.add(transactionObserver: spy)
        let player = Player(name: "Barbara")
        let error = databaseError {
            try taken.queue.write { db in
                try player.insert(db)
                taken.storage.fault = .lasting([.sync])
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_IOERR_FSYNC && error?.leavesOutcomeUnknown == true)
        #expect(player.id == nil && player.hasDatabaseChanges)
        #expect(spy.log.last == "didRollback")
        taken.storage.fault = nil
        try taken.queue.write { db in try player.insert(db) }
        try #expect(taken.queue.names() == ["Arthur", "Barbara"])
        // An error of another kind is none of the storage.
        let other = databaseError {
            try taken.queue.write { db in try db.execute(sql: "SELECT * FROM nope") }
        }
        #expect(other?.leavesOutcomeUnknown == false)
    }

    @Test(
        "A commit that SQLite tells as failed is refused for good where the storage does not answer any more",
        arguments: TakenOver.Mode.allCases)
    func goneStorage(mode: TakenOver.Mode) throws {
        let taken = try TakenOver(mode) { configuration in
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        }
        let error = try #require(
            databaseError {
                try taken.queue.write { db in
                    try db.insert("Barbara")
                    taken.storage.fault = .lasting([.sync])
                    taken.storage.refused = [.main, .journal, .log]
                    taken.storage.sparedCount = 8
                }
            })
        #expect(error.leavesOutcomeUnknown)
        taken.storage.fault = nil
        taken.storage.refused = []
        if error.message?.contains("could not be confirmed") == true {
            #expect(databaseError { try taken.queue.read { _ in } } == error)
        } else {
            // SQLite could not roll back either: it does so when it next reads, or throws.
            Issue.record("\(error)")
        }
    }

    @Test("A statement that is interrupted as it commits is confirmed all the same")
    func interrupted() throws {
        let taken = try TakenOver()
        let error = databaseError {
            try taken.queue.inDatabase { db in
                let rows = try Row.fetchCursor(
                    db, sql: "INSERT INTO player (name) VALUES ('Barbara'), ('Craig') RETURNING id")
                _ = try rows.next()
                // Another statement runs, so that the interruption stays in effect.
                let others = try Row.fetchCursor(db, sql: "SELECT * FROM player")
                _ = try others.next()
                taken.storage.refused = [.log]
                db.interrupt()
                withExtendedLifetime((rows, others)) {}
            }
        }
        #expect(error?.leavesOutcomeUnknown == true)
    }

    @Test(
        "A statement that commits inside of a function is refused there, and the statement around it fails of that"
    )
    func nestedCommit() throws {
        let taken = try TakenOver()
        let spy = ObserverSpy()
        taken.queue.add(transactionObserver: spy)
        var inner: DatabaseError?
        let outer = databaseError {
            try taken.queue.inDatabase { db in
                try db.add(
                    function: DatabaseFunction("write", argumentCount: 0) { _ in
                        taken.storage.fenceAtNextWrite()
                        try taken.queue.unsafeReentrantWrite { db in try db.insert("Barbara") }
                        return nil
                    })
                do { try db.execute(sql: "SELECT write()") } catch {
                    inner = error as? DatabaseError
                    throw error
                }
            }
        }
        #expect(inner?.leavesOutcomeUnknown == true)
        #expect(outer?.message == inner?.message)
        #expect(spy.log == ["insert player 2", "willCommit", "didRollback"])
    }

    @Test("A commit that fails by itself leaves the database usable")
    func failingCommit() throws {
        let taken = try TakenOver()
        try taken.queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE c (p REFERENCES player (id) DEFERRABLE INITIALLY DEFERRED)")
            let error = databaseError { try db.execute(sql: "INSERT INTO c VALUES (77)") }
            #expect(error?.leavesOutcomeUnknown == false)
            try #expect(db.isUsable())
        }
    }

    @Test("Who hears of the rollback cannot use the database, and learns why")
    func listening() throws {
        let taken = try TakenOver()
        let spy = ObserverSpy()
        var thrown: (any Error)?
        spy.onRollback = { db in
            do { try db.insert("Zoe") } catch { thrown = error }
        }
        taken.queue.add(transactionObserver: spy)
        let error = try #require(
            databaseError {
                try taken.queue.write { db in
                    try db.insert("Barbara")
                    taken.storage.fenceAtNextWrite()
                }
            })
        #expect(thrown as? DatabaseError == error)
        #expect(spy.log == ["insert player 2", "willCommit", "didRollback"])
    }

    @Test("The statements that follow in the same access are refused, and a rollback is none")
    func sameAccess() throws {
        let taken = try TakenOver()
        var errors: [DatabaseError] = []
        let last = databaseError {
            try taken.queue.inDatabase { db in
                taken.storage.fenceAtNextWrite()
                for sql in [
                    "INSERT INTO player (name) VALUES ('Barbara')", "SELECT 1", "BEGIN", "SAVEPOINT a",
                ] {
                    do { try db.execute(sql: sql) } catch let error as DatabaseError { errors.append(error) }
                }
                let error = databaseError { try db.checkpoint() }
                #expect(error == errors.first)
                try db.execute(sql: "SELECT 2")
            }
        }
        #expect(errors.count == 4 && Set(errors).count == 1)
        #expect(last == errors.first)
    }

    @Test("A lost transaction can be rolled back, as any other")
    func rollbackOfRefused() throws {
        let taken = try TakenOver()
        let error = databaseError {
            try taken.queue.inDatabase { db in
                try db.execute(sql: "BEGIN; INSERT INTO player (name) VALUES ('Barbara')")
                taken.storage.fenceAtNextWrite()
                #expect(databaseError { try db.execute(sql: "COMMIT") } != nil)
                try db.execute(sql: "ROLLBACK")
                try db.execute(sql: "SELECT 1")
            }
        }
        #expect(error?.leavesOutcomeUnknown == true)
    }

    @Test("An asynchronous write throws it, and so does one that waits in line")
    func asynchronous() async throws {
        let taken = try TakenOver()
        let queue = taken.queue
        await expectError(
            "a commit to test could not be confirmed, and its outcome is unknown: another machine may have "
                + "taken the database over. Close the database, and check what it contains before you write "
                + "that again"
        ) {
            try await queue.write { db in
                try db.insert("Barbara")
                taken.storage.fenceAtNextWrite()
            }
        }
        await expectError(
            "a commit to test could not be confirmed, and its outcome is unknown: another machine may have "
                + "taken the database over. Close the database, and check what it contains before you write "
                + "that again"
        ) { try await queue.read { _ in } }
        let error = await withCheckedContinuation { continuation in
            queue.asyncRead { result in
                if case .failure(let error) = result {
                    continuation.resume(returning: error as? DatabaseError)
                }
            }
        }
        #expect(error?.leavesOutcomeUnknown == true)
    }

    @Test("Whoever reads nobody's database is refused as the opening, where that commits")
    func opening() throws {
        let folder = try TemporaryFolder()
        let storage = FaultyStorage(sharesMemory: false)
        var configuration = Configuration()
        configuration.vfs = storage.name
        configuration.lockingMode = .exclusive
        configuration.journalMode = .wal
        configuration.verifiesCommits = true
        let opened = configuration
        storage.fenceAtNextWrite()
        #expect(
            databaseError {
                _ = try DatabaseQueue(path: folder.path("a.sqlite"), configuration: opened)
            } != nil)
    }

    @Test("A migration whose commit is refused stops there")
    func migration() throws {
        let taken = try TakenOver()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one") { db in try db.execute(sql: "CREATE TABLE one (a)") }
        migrator.registerMigration("two") { db in
            try db.execute(sql: "CREATE TABLE two (a)")
            taken.storage.fenceAtNextWrite()
        }
        migrator.registerMigration("three") { _ in Issue.record("it runs") }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(taken.queue) }
        #expect(error?.migration == "two")
        #expect(error?.leavesOutcomeUnknown == true)
        try taken.queue.close()
        let queue = try taken.file.queue()
        try queue.inDatabase { db in
            try #expect(db.tableExists("one"))
            try #expect(!db.tableExists("two"))
        }
    }

    private static func execute(_ sql: String, _ connection: OpaquePointer) -> Bool {
        sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
    }
}
