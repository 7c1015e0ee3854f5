import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

@Suite("What is said before a file is first read", .behaviour(106))
struct StorageConfigurationTests {
    private func pragma(_ name: String, _ queue: DatabaseQueue) throws -> String? {
        try queue.inDatabase { db in
            try String.fetchOne(db, sql: "SELECT CAST(\(name) AS TEXT) FROM pragma_\(name)")
        }
    }

    @Test("A file is opened by the VFS that is asked for")
    func vfs() throws {
        let folder = try TemporaryFolder()
        let storage = FaultyStorage()
        var configuration = Configuration()
        configuration.vfs = storage.name
        var reads: [FaultyStorage.Read] = []
        reads = try storage.reads {
            let queue = try DatabaseQueue(path: folder.path("a.sqlite"), configuration: configuration)
            try queue.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try queue.close()
        }
        #expect(!reads.isEmpty)
        // It forwards to the system's.
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [1])
    }

    @Test(
        "A VFS that is not registered is named, and so is one whose name has a NUL",
        arguments: ["nope", "unix\0"])
    func missingVFS(name: String) throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.vfs = name
        let path = folder.path("a.sqlite")
        let error = try #require(
            databaseError {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            })
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(
            error.message
                == "could not open the database at \(path): no VFS is registered with the name \(name): "
                + "first load the extension that provides it, with Database.loadExtension")
        try #expect(folder.fileNames() == [])
    }

    @Test("A file that a VFS cannot open is not looked for in the folders of the system")
    func otherFolders() throws {
        let storage = FaultyStorage()
        var configuration = Configuration()
        configuration.vfs = storage.name
        let path = "/nowhere-\(UUID().uuidString)/a.sqlite"
        let error = try #require(
            databaseError {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            })
        #expect(error.message == "could not open the database at \(path): unable to open database file")
    }

    @Test("A lock that is kept is taken at the opening, and keeps others out until the closing")
    func exclusiveLock() throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue { $0.lockingMode = .exclusive }
        try #expect(pragma("locking_mode", queue) == "exclusive")
        try queue.write { db in try db.insert("Arthur") }
        let error = try #require(databaseError { _ = try file.queue().names() })
        #expect(error.resultCode == .SQLITE_BUSY)
        try queue.close()
        try #expect(file.queue().names() == ["Arthur"])
    }

    @Test("A database with a write-ahead log and without shared memory is opened again, with the lock alone")
    func reopeningLog() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let storage = FaultyStorage(sharesMemory: false)
        var configuration = Configuration()
        configuration.vfs = storage.name
        configuration.lockingMode = .exclusive
        configuration.journalMode = .wal
        for number in 1...3 {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try #expect(pragma("journal_mode", queue) == "wal")
            try queue.write { db in
                try db.execute(
                    sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (?)", arguments: [number])
            }
            try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == Array(1...number))
            try queue.close()
            try #expect(folder.fileNames() == ["a.sqlite"])
        }
        // Without the lock it cannot be: this shows that it is what matters.
        configuration.lockingMode = .normal
        configuration.journalMode = .default
        let refused = configuration
        let error = try #require(
            databaseError {
                _ = try DatabaseQueue(path: path, configuration: refused)
            })
        #expect(error.resultCode == .SQLITE_CANTOPEN)
    }

    @Test("Temporary tables are where they are to be", arguments: TemporaryStorage.allCases)
    func temporaryStorage(storage: TemporaryStorage) throws {
        var configuration = Configuration()
        configuration.temporaryStorage = storage
        let queue = try DatabaseQueue(configuration: configuration)
        try #expect(
            pragma("temp_store", queue) == ["default": "0", "file": "1", "memory": "2"][storage.rawValue])
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TEMP TABLE t (a); INSERT INTO t VALUES (1)")
            try #expect(db.integers("SELECT a FROM t") == [1])
        }
    }

    @Test(
        "A file that is created gets the pages that are asked for, in each journal mode, and keeps them",
        arguments: [512, 1024, 65536], [JournalMode.default, .wal, .persist])
    func pageSize(size: Int, mode: JournalMode) throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.pageSize = size
        configuration.journalMode = mode
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"), configuration: configuration)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try #expect(pragma("page_size", queue) == "\(size)")
        try queue.close()
        configuration.pageSize = 4096
        try #expect(
            pragma("page_size", DatabaseQueue(path: folder.path("a.sqlite"), configuration: configuration))
                == "\(size)")
    }

    @Test(
        "A size of pages that is none throws a sentence",
        arguments: [0, -4096, 1, 256, 1000, 131072, Int.max])
    func wrongPageSize(size: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        var configuration = Configuration()
        configuration.pageSize = size
        let error = try #require(
            databaseError {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            })
        #expect(error.resultCode == .SQLITE_MISUSE)
        #expect(
            error.message
                == "could not open the database at \(path): a page cannot have \(size) bytes: the size "
                + "must be a power of two from 512 to 65536"
        )
    }

    @Test(
        "The cache of pages has the size that is asked for, in whole kilobytes",
        arguments: [1, 1 << 20, 256 << 20])
    func cacheSize(size: Int) throws {
        var configuration = Configuration()
        configuration.cacheSize = size
        try #expect(
            pragma("cache_size", DatabaseQueue(configuration: configuration)) == "\(-max(1, size / 1024))")
    }

    @Test("A lock of another connection is waited for where the size of the cache is set")
    func cacheSizeOfLockedFile() throws {
        let file = try TemporaryDatabase()
        let holder = try file.queue { $0.lockingMode = .exclusive }
        try holder.write { db in try db.insert("Arthur") }
        let error = databaseError { _ = try file.queue { $0.cacheSize = 1 << 20 } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try holder.close()
        try #expect(file.queue { $0.cacheSize = 1 << 20 }.names() == ["Arthur"])
    }

    @Test("A cache without a size throws a sentence", arguments: [0, -1])
    func wrongCacheSize(size: Int) throws {
        var configuration = Configuration()
        configuration.cacheSize = size
        let error = try #require(
            databaseError {
                _ = try DatabaseQueue(configuration: configuration)
            })
        #expect(
            error.message
                == "could not open the database at :memory:: the page cache cannot have \(size) bytes")
    }

    @Test("What is prepared comes after all that, and can say something else")
    func preparation() throws {
        var configuration = Configuration()
        configuration.cacheSize = 1 << 20
        configuration.prepareDatabase { db in
            try #expect(db.integers("PRAGMA cache_size") == [-1024])
            try db.execute(sql: "PRAGMA cache_size = -5")
        }
        try #expect(pragma("cache_size", DatabaseQueue(configuration: configuration)) == "-5")
    }

    @Test("The configuration for Ceph says what its comment says")
    func ceph() throws {
        let configuration = Configuration.ceph()
        #expect(configuration.vfs == "ceph")
        #expect(configuration.lockingMode == .exclusive)
        #expect(configuration.journalMode == .wal)
        #expect(configuration.temporaryStorage == .memory)
        #expect(configuration.cacheSize == 256 << 20)
        #expect(configuration.pageSize == nil)
        #expect(configuration.verifiesCommits)
    }

    // MARK: - Pools

    @Test("A pool over a lock that is kept is refused before the file is touched")
    func poolOverLock() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.label = "test"
        configuration.lockingMode = .exclusive
        let error = try #require(
            databaseError {
                _ = try DatabasePool(path: folder.path("a.sqlite"), configuration: configuration)
            })
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(
            error.message
                == "could not open the pool test: with the lockingMode of its configuration, exclusive, "
                + "the writer keeps the lock of the file, and so no other connection could read. Leave "
                + "that out, or use a DatabaseQueue")
        for file in try folder.fileNames() {
            try #expect(Data(contentsOf: URL(filePath: folder.path(file))).isEmpty)
        }
    }

    @Test(
        "A pool over a VFS that allows one connection is refused, also where others would wait for the lock")
    func poolOverOneConnection() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let storage = FaultyStorage(sharesMemory: false)
        var configuration = Configuration()
        configuration.label = "test"
        configuration.vfs = storage.name
        let refused = configuration
        configuration.lockingMode = .exclusive
        configuration.journalMode = .wal
        let holder = try DatabaseQueue(path: path, configuration: configuration)
        var error: DatabaseError?
        let reads = storage.reads {
            error = databaseError { _ = try DatabasePool(path: path, configuration: refused) }
        }
        // (SQLite reads the header as it opens a file, without a lock.)
        #expect(reads.map(\.count) == [100])
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(
            error?.message
                == "could not open the pool test: its connections cannot have a write-ahead log, as the "
                + "VFS of \(path) has no shared memory. Use a DatabaseQueue")
        try holder.close()
    }

    @Test("A pool over a VFS whose connections share memory reads and writes")
    func poolOverVFS() throws {
        let folder = try TemporaryFolder()
        let storage = FaultyStorage()
        var configuration = Configuration()
        configuration.vfs = storage.name
        configuration.cacheSize = 1 << 20
        let pool = try DatabasePool(path: folder.path("a.sqlite"), configuration: configuration)
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try #expect(pool.read { db in try db.integers("SELECT a FROM t") } == [1])
        try #expect(pool.read { db in try db.integers("PRAGMA cache_size") } == [-1024])
        try pool.close()
    }
}
