import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: opening", .behaviour(79))
struct PoolOpeningTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// Makes a file with a table of players.
    @discardableResult
    private func makeFile(_ name: String = "test.sqlite", _ mode: JournalMode = .delete) throws -> String {
        let path = folder.path(name)
        var configuration = Configuration()
        configuration.journalMode = mode
        try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in try db.createPlayers()
        }
        return path
    }

    private func expectFailure(
        _ path: String, _ sentence: String, location: SourceLocation = #_sourceLocation,
        configure: (inout Configuration) -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        configure(&configuration)
        let error = databaseError { _ = try DatabasePool(path: path, configuration: configuration) }
        #expect(
            error?.message?.contains(sentence) == true, "\(error?.description ?? "no error")",
            sourceLocation: location)
        let open = try folder.openFiles()
        #expect(open == [], "What could not be opened keeps files open.", sourceLocation: location)
    }

    @Test("A file in another journal mode gets a log", arguments: [JournalMode.delete, .truncate, .persist])
    func converted(mode: JournalMode) throws {
        let pool = try DatabasePool(path: makeFile("test.sqlite", mode))
        try pool.write { db in try db.insert("Arthur") }
        let found = try pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(found == "wal")
    }

    @Test("A file without a log cannot be opened for reading only, and the error says what to do")
    func readonlyWithoutLog() throws {
        try expectFailure(
            makeFile(),
            "a pool needs a write-ahead log, and the database has none (its journal mode is delete). A "
                + "read-only connection cannot create one: open the database for writing once, or use a "
                + "DatabaseQueue"
        ) { $0.readonly = true }
        let mode = try DatabaseQueue(path: folder.path("test.sqlite")).inDatabase { db in
            try String.fetchOne(db, sql: "PRAGMA journal_mode")
        }
        #expect(mode == "delete")
    }

    @Test("A pool that only reads sees what others write, and cannot write")
    func readonly() throws {
        let path = try makeFile("test.sqlite", .wal)
        let pool = try DatabasePool(path: path)
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in try db.insert("Arthur") }
        let names = try reader.read { db in try db.names() }
        #expect(names == ["Arthur"])
        #expect(
            databaseError { try reader.write { db in try db.insert("Barbara") } }?.resultCode
                == .SQLITE_READONLY)
        try reader.close()
        try pool.close()
        // The log stays, and so the file can be opened for reading only.
        let again = try DatabasePool(path: path, configuration: configuration)
        let kept = try again.read { db in try db.names() }
        #expect(kept == ["Arthur"])
    }

    @Test(
        "A configuration of another journal mode is refused",
        arguments: [JournalMode.delete, .memory, .off, .truncate])
    func journalMode(mode: JournalMode) throws {
        try expectFailure(
            folder.path("test.sqlite"),
            "a pool needs the journal mode WAL, and its configuration says \(mode.rawValue): use a DatabaseQueue"
        ) { $0.journalMode = mode }
    }

    @Test(
        "What is no file is refused",
        arguments: [
            ("", "a temporary database has none"), (":memory:", ":memory: has none"),
            ("file::memory:", "has none"),
            ("file:x?mode=memory&cache=shared", "has none"),
            ("file:x?cache=shared&mode=memory#part", "has none"),
            ("file:/x?vfs=memdb", "cannot have a write-ahead log"),
            ("file:", "cannot have a write-ahead log"),
            ("file:?cache=private", "cannot have a write-ahead log"),
        ])
    func memory(path: String, sentence: String) throws { try expectFailure(path, sentence) }

    @Test(
        "Connections that would share a cache, or write without locks, are refused",
        arguments: ["cache=shared", "cache=shared#part", "nolock=1"])
    func parameters(parameter: String) throws {
        let path = try makeFile("test.sqlite", .wal)
        let error = databaseError { _ = try DatabasePool(path: "file:\(path)?\(parameter)") }
        #expect(error?.resultCode == .SQLITE_CANTOPEN, "\(error?.description ?? "no error")")
        #expect(try folder.openFiles() == [])
    }

    @Test(
        "URIs name the same file for all connections, whatever its name is made of",
        arguments: ["a b.sqlite", "100%.sqlite", "what?.sqlite", "a#b.sqlite", "ä&ö=ü.sqlite", "%20.sqlite"])
    func uris(name: String) async throws {
        let path = folder.path(name)
        let escaped =
            path.addingPercentEncoding(
                withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "/-._"))) ?? ""
        for uri in [
            "file:\(escaped)", "file://\(escaped)?mode=rwc", "file:\(escaped)?cache=private&psow=1#part",
        ] {
            let pool = try DatabasePool(path: uri)
            try await pool.write { db in if try !db.tableExists("player") { try db.createPlayers() } }
            try await HeldReads(pool).release()
            #expect(pool.opening.path == path)
            try await pool.close()
        }
        // A path is no URI.
        let pool = try DatabasePool(path: path)
        try await HeldReads(pool).release()
        try await pool.close()
        #expect(try folder.fileNames().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } == [name])
    }

    @Test("The mode of a URI holds for the writer, and readers read", arguments: ["ro", "rw"])
    func uriMode(mode: String) throws {
        let path = try makeFile("test.sqlite", .wal)
        let keeper = try DatabasePool(path: path)
        let pool = try DatabasePool(path: "file:\(path)?mode=\(mode)")
        let error = databaseError { try pool.write { db in try db.insert("Arthur") } }
        #expect(error?.resultCode == (mode == "ro" ? .SQLITE_READONLY : nil))
        let names = try pool.read { db in try db.names() }
        #expect(names == (mode == "ro" ? [] : ["Arthur"]))
        withExtendedLifetime(keeper) {}
    }

    @Test("A writer that locks the file for itself is refused")
    func exclusive() throws {
        try makeFile("test.sqlite", .wal)
        try expectFailure(folder.path("test.sqlite"), "PRAGMA locking_mode = EXCLUSIVE") { configuration in
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        }
    }

    @Test(
        "Other ways to lock either work or are refused with a sentence",
        arguments: ["unix-excl", "unix-none", "unix-dotfile", "nothing"])
    func vfs(name: String) async throws {
        let path = try makeFile("test.sqlite", .wal)
        let pool: DatabasePool
        do { pool = try DatabasePool(path: "file:\(path)?vfs=\(name)") } catch let error as DatabaseError {
            #expect(error.message?.isEmpty == false)
            #expect(try folder.openFiles() == [])
            return
        }
        try await pool.write { db in try db.insert("Arthur") }
        let names = try await pool.read { db in try db.names() }
        #expect(names == ["Arthur"])
        try await expectAllPlaces(of: pool)
    }

    @Test("There is one reader at least", arguments: [0, -1, Int.min])
    func readerCount(count: Int) async throws {
        let path = try makeFile()
        var configuration = Configuration()
        configuration.maximumReaderCount = count
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await HeldReads(pool, count: 1).release()
        let snapshots = try pool.makeSnapshotPool()
        let names = try await snapshots.read { db in try db.names() }
        #expect(names == [])
    }

    @Test("What is no database is refused, and so are a folder and a path that leads nowhere")
    func noDatabase() throws {
        let text = try folder.write(Array(repeating: UInt8(ascii: "x"), count: 4096), to: "text")
        try expectFailure(text, "file is not a database")
        try expectFailure(folder.path, "could not open the database at")
        try expectFailure(folder.path("nowhere/test.sqlite"), "could not open the database at")
        expectError("there is a NUL character in the path of the database") {
            _ = try DatabasePool(path: "a\0b")
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db in if db.configuration.readonly { throw TestError(5) } }
        #expect(throws: TestError(5)) {
            _ = try DatabasePool(path: folder.path("new.sqlite"), configuration: configuration)
        }
        #expect(try folder.openFiles() == [])
    }

    @Test(
        "A folder that nobody may write to: a pool opens where the log is there, and says so where it is not")
    func readonlyFolder() throws {
        let path = try makeFile("test.sqlite", .wal)
        let files = FileManager.default
        func protect(_ mode: Int) throws {
            for name in try folder.fileNames() {
                try files.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
            }
            try files.setAttributes([.posixPermissions: mode | 0o111], ofItemAtPath: folder.path)
        }
        try protect(0o444)
        var configuration = Configuration()
        configuration.readonly = true
        let missing = databaseError {
            _ = try OwnThread.run(unprivileged: true) { [configuration] in
                try DatabasePool(path: path, configuration: configuration)
            }
        }
        #expect(
            [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(missing?.resultCode),
            "\(missing?.description ?? "no error")")
        #expect(missing?.message?.contains(path) == true)
        try protect(0o644)
        try DatabasePool(path: path).write { db in try db.insert("Arthur") }
        try protect(0o444)
        let names = try OwnThread.run(unprivileged: true) { [configuration] in
            let pool = try DatabasePool(path: path, configuration: configuration)
            return try pool.read { db in try db.names() }
        }
        #expect(names == ["Arthur"])
        try protect(0o644)
    }

    // MARK: - The file goes

    @Test(
        "A file that is deleted or replaced underneath: connections that are opened later say so",
        arguments: [false, true])
    func lostFile(isReplaced: Bool) async throws {
        let path = try makeFile("test.sqlite", .wal)
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.label = "test"
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await pool.write { db in try db.insert("Arthur") }
        try FileManager.default.moveItem(atPath: path, toPath: folder.path("elsewhere"))
        if isReplaced { try makeFile("test.sqlite") }
        // Open connections go on.
        let names = try await pool.read { db in try db.names() }
        #expect(names == ["Arthur"])
        let sentence =
            "the database test has lost its file: what is at \(path) now is \(isReplaced ? "another file" : "nothing"). Close it, "
            + "and open it again"
        #expect(databaseError { _ = try pool.makeSnapshot() }?.message == sentence)
        pool.invalidateReadOnlyConnections()
        #expect(databaseError { try pool.read { _ in } }?.message == sentence)
        let error = await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        #expect(error?.message == sentence)
        // It comes back, unless a program has opened another file beside its log, which is lost by
        // that.
        if isReplaced { return }
        try FileManager.default.moveItem(atPath: folder.path("elsewhere"), toPath: path)
        try await expectAllPlaces(of: pool)
    }

    @Test("A relative path is that of the folder in which the pool was opened")
    func relativePath() async throws {
        let result = await #expect(processExitsWith: .success) {
            let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
            for path in ["relative.sqlite", "./also.sqlite", "file:uri.sqlite?psow=1"] {
                guard chdir(first.path) == 0 else { exit(2) }
                let pool = try DatabasePool(path: path)
                try await pool.write { db in try db.createPlayers() }
                guard chdir(second.path) == 0 else { exit(3) }
                try await HeldReads(pool).release()
                let names = try await pool.makeSnapshot().read { db in try db.names() }
                guard names == [] else { exit(5) }
            }
            let left = try second.fileNames()
            exit(left.isEmpty ? 0 : 4)
        }
        #expect(result != nil)
    }
}
