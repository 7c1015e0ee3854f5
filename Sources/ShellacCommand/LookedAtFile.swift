// Opens a database for reading without changing the file, its WAL or its shared memory file.

import CSQLite
import Shellac

/// A database file that is read and stays unchanged: the file, its log and the log's index, byte by
/// byte.
///
/// ## The ways to read
///
/// A plain connection that reads changes files. It creates the `-wal` and the `-shm` of a database
/// in WAL mode, and marks its reads in the `-shm`. The last connection to close copies the log to
/// the file and deletes it. So, according to "Write-Ahead Logging" and "URI Filenames" in the
/// SQLite documentation:
///
/// - *There is a log, and its index*: `readonly_shm=1` reads beside the program that writes. If
///   there is none, since it was killed, SQLite makes an index of its own, in memory.
/// - *There is a log without its index*, as in a copy: the file and its log are copied to a private
///   folder, and read there.
/// - *There is no log, in WAL mode*: `immutable=1` makes SQLite ignore logs and take no lock. A
///   write meanwhile is noticed at the end, as the file has changed.
/// - *A rollback journal*: a reader's lock is enough, which is in no file. After a crash in the
///   middle of a transaction, a copy is read, in which SQLite can roll back the unfinished
///   transaction.
final class LookedAtFile {
    enum Way: Equatable {
        case locked, besideLog, still, copied
    }

    /// The path as the user gave it.
    let path: String
    /// The resolved path: the log is beside the file, and not beside a symbolic link.
    let location: String
    let queue: DatabaseQueue
    let way: Way
    private let copy: PrivateCopy?
    private let before: FileState

    /// The number of attempts at a file that another process is opening, closing or changing.
    private let attempts: Int
    private static let pause: useconds_t = 20_000

    /// - Parameter patience: The number of seconds to wait for another process that opens, closes,
    ///   changes or locks the file.
    /// - Parameter isDamaged: Whether to use what SQLite can read of a damaged schema.
    init(_ path: String, patience: Double = 5, isDamaged: Bool = false) throws {
        try Self.check(path)
        self.path = path
        let location = Self.resolved(path)
        self.location = location
        attempts = max(1, Int(patience * 1e6) / Int(Self.pause))
        var attempt = 0
        while true {
            attempt += 1
            let before = FileState(location)
            do {
                let way = before.way
                let copy = way == .copied ? try PrivateCopy(of: location, before) : nil
                let queue = try Self.open(location, way, copy, patience, isDamaged)
                (self.queue, self.way, self.copy, self.before) = (queue, way, copy, before)
                return
            } catch let error as DatabaseError where error.extendedResultCode.rawValue == Self.needsRollback {
                let copy = try PrivateCopy(of: location, before)
                queue = try Failure.telling(path) {
                    try Self.open(location, .copied, copy, patience, isDamaged)
                }
                (way, self.copy, self.before) = (.copied, copy, before)
                return
            } catch {
                // Files appear and disappear while a program opens or closes the database.
                let code = (error as? DatabaseError)?.resultCode
                guard attempt < attempts, code != .SQLITE_CORRUPT, code != .SQLITE_NOTADB,
                    before.way == .besideLog || FileState(location) != before
                else { throw Failure(error, path: path) }
                usleep(Self.pause)
            }
        }
    }

    /// SQLITE_READONLY_ROLLBACK.
    private static var needsRollback: Int32 { SQLITE_READONLY | (3 << 8) }

    /// Checks for errors that SQLite would explain less clearly.
    private static func check(_ path: String) throws {
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else {
            throw Failure(.unreadable, "there is no file \(path)")
        }
        if shellac_is_folder(status.st_mode) { throw Failure(.unreadable, "\(path) is a folder") }
        // Opening a pipe would block.
        guard shellac_is_regular(status.st_mode) else {
            throw Failure(.unreadable, "\(path) is not a regular file")
        }
        guard access(path, R_OK) == 0 else {
            throw Failure(.unreadable, "\(path) cannot be read: \(String(cString: shellac_error_text()))")
        }
        let header = FileState.bytes(of: path, count: 100)
        guard header.isEmpty || header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw Failure(.noDatabase, "\(path) is not an SQLite database, or it is encrypted")
        }
        if header.count < 100, !header.isEmpty {
            throw Failure(.noDatabase, "\(path) is damaged: it is too short")
        }
    }

    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func open(
        _ path: String, _ way: Way, _ copy: PrivateCopy?, _ patience: Double, _ isDamaged: Bool
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = way != .copied
        configuration.busyMode = .timeout(patience)
        configuration.label = path
        configuration.foreignKeysEnabled = false
        configuration.advisesIndexes = false
        configuration.toleratesDamage = isDamaged
        configuration.prepareDatabase { db in
            // No checkpoint at the end, in any of the ways.
            guard let connection = db.sqliteConnection else { return }
            _ = shellac_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        }
        return try DatabaseQueue(path: copy?.path ?? uri(path, way), configuration: configuration)
    }

    /// Returns the file as a URI with the parameters of a way.
    static func uri(_ path: String, _ way: Way) -> String {
        var uri = "file:"
        // Two slashes would begin a host name.
        if path.hasPrefix("//") { uri += "//" }
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        switch way {
        case .locked: return uri + "?mode=ro"
        case .besideLog: return uri + "?mode=ro&readonly_shm=1"
        case .still: return uri + "?immutable=1"
        case .copied: return uri
        }
    }

    /// The name under which `ATTACH` opens the file.
    var attachedName: String { copy?.path ?? Self.uri(location, way) }

    /// Reads the database. If no lock keeps writers away, checks that there was no write meanwhile.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            let result = try queue.read { db in
                beginBesideLog(db)
                return try body(db)
            }
            try checkStill()
            return result
        } catch let error as OutputClosed {
            throw error
        } catch {
            try checkStill()
            throw Failure(error, path: path)
        }
    }

    /// Begins to see one state of a database with a log.
    ///
    /// While another process changes the log's index, SQLite may find it damaged. This connection
    /// may not repair it, so SQLite throws `SQLITE_READONLY_RECOVERY` or
    /// `SQLITE_READONLY_CANTINIT`. A moment later, the read succeeds.
    private func beginBesideLog(_ db: Database) {
        guard way == .besideLog else { return }
        for _ in 0..<attempts {
            do {
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
                return
            } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
                usleep(Self.pause)
            } catch {
                // The function that reads meets the error itself.
                return
            }
        }
    }

    func checkStill() throws {
        guard way == .still, !FileState(location).hasSameFile(as: before) else { return }
        throw Failure(.busy, "\(path) was written to while it was read: try again")
    }
}

extension Failure {
    fileprivate static func telling<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw Failure(error, path: path) }
    }
}

/// A fingerprint of a database's state, which is taken without opening the database.
struct FileState: Equatable {
    private struct File: Equatable {
        let size: Int
        let (seconds, nanoseconds): (Int, Int)
        let start: [UInt8]
    }

    private let main: File?
    private let log: File?
    private let index: File?
    private let journal: File?

    init(_ path: String) {
        main = Self.file(path, 100)
        log = Self.file(path + "-wal", 32)
        // The first bytes of the log's index change with each commit: see "WAL-mode File Format" in
        // the SQLite documentation.
        index = Self.file(path + "-shm", 136)
        journal = Self.file(path + "-journal", 28)
    }

    /// The way to read the file.
    var way: LookedAtFile.Way {
        if let log, log.size > 0 { return index.map { $0.size > 0 } ?? false ? .besideLog : .copied }
        guard isInLogMode else { return .locked }
        return log != nil && index.map { $0.size > 0 } ?? false ? .besideLog : .still
    }

    /// Whether the file header says WAL mode.
    var isInLogMode: Bool {
        main.map { $0.start.count > 19 && ($0.start[18] == 2 || $0.start[19] == 2) } ?? false
    }

    var size: Int { main?.size ?? 0 }
    var logSize: Int { log?.size ?? 0 }
    var journalSize: Int { journal?.size ?? 0 }

    func hasSameFile(as other: FileState) -> Bool { main == other.main }

    func hasSameFileAndLog(as other: FileState) -> Bool {
        main == other.main && log == other.log && journal == other.journal
    }

    private static func file(_ path: String, _ count: Int) -> File? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let time = shellac_modified(&status)
        return File(
            size: Int(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec),
            start: bytes(of: path, count: count))
    }

    /// Returns the first bytes of a file.
    static func bytes(of path: String, count: Int) -> [UInt8] {
        let descriptor = shellac_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, 0))
        }
    }
}
