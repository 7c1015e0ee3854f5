// Detects that a database file or its log was moved or replaced, and refuses commits then.

import CSQLite

/// The place of the file that a connection writes to: the name it was opened by, and the names of
/// its log and index.
///
/// SQLite finds a write-ahead log by the name of the database file. If the file is moved, deleted
/// or replaced, the connection keeps writing to that file. Its log, however, now lies beside
/// whatever has the name. The connection's commits are lost, and a connection that opens the other
/// file takes the log for its own. See "How To Corrupt An SQLite Database File", section 2.4.
/// SQLite checks this itself with a rollback journal, but not with a log.
///
/// ## The loss of a file
///
/// 1. SQLite calls its commit hook before it writes any part of the commit. The hook asks the VFS
///    whether the file has moved. It skips the question if it asked in the same few milliseconds
///    and the file's entry is unchanged: see ``FileMark``. From time to time it also checks the log
///    and its index.
/// 2. If the file is lost, the hook refuses the commit. The statement throws the error, and so does
///    each later statement that writes, until the connection is closed. The file may come back, but
///    the log may have changed its replacement in the meantime. Reads still work.
/// 3. The connection copies the log into the file that it belongs to, wherever that file is now,
///    and empties it. The log can then do no harm to the replacement. If another connection has
///    written to the log since this connection did, the log may belong to that one, and is left
///    alone.
/// 4. After a loss, closing the connection copies, truncates and deletes nothing either.
///
/// A log that has lost its name still contains the committed changes. Closing copies it into the
/// file, unless another log has taken its place.
///
/// An attached database is treated in the same way. The hook refuses a commit that writes to it
/// once its file has moved, and the connection empties its log. Statements that write elsewhere
/// still succeed. An immediate transaction fails, because it begins to write in all databases.
final class FilePlace {
    /// The part of the database that has lost its name.
    enum Part: String {
        case file, log
    }

    /// The part that was lost, if one was.
    private(set) var loss: Part?
    /// The error of the last refused commit.
    private(set) var refusal: DatabaseError?
    /// The pager's version number after the last commit, unless others have written since.
    private var version: UInt32
    private var isLogEmpty = false
    /// The version number of each attached database that was written to, by its path.
    private var attachedVersions: [String: UInt32] = [:]
    /// The names of the attached databases whose files were lost and whose logs must be emptied.
    private var lostAttachments: [String] = []
    /// Whether a log may still have to be emptied.
    private(set) var owesEmptyLog = false
    /// The log and its index. Another file in their place counts as a loss.
    private var companions: [Companion] = []
    private var lastLook: UInt64 = 0
    /// The file's entry at the last question to the VFS, whose time is `lastAnswer`.
    private var mark: FileMark?
    private var lastAnswer: UInt64 = 0

    /// A file that lies beside the database.
    private struct Companion {
        let path: String
        let identity: FileIdentity
    }

    init(_ database: Database) { version = database.pagerVersion() }

    /// The number of nanoseconds for which a found log is not checked again.
    private static var pause: UInt64 { 100_000_000 }

    /// Returns the path of a connection's file, or nil if it has none.
    static func path(of database: Database) -> String? {
        sqlite3_db_filename(database.pointer, "main").map(String.init(cString:)).flatMap {
            $0.isEmpty ? nil : $0
        }
    }

    /// Starts checking the log as well. It stays in place as long as the connection is open.
    func noteLog(of database: Database) {
        guard let path = Self.path(of: database) else { return }
        companions = ["-wal", "-shm"].compactMap { suffix in
            FileIdentity(path + suffix).map { Companion(path: path + suffix, identity: $0) }
        }
    }

    // MARK: - Writing

    /// Returns whether SQLite may commit. SQLite's commit hook calls this.
    func allowsCommit(_ database: Database) -> Bool {
        if loss != nil { return false }
        refusal = nil
        let written = database.attachments.filter(\.isWritten).map(\.name)
        if hasMoved(database) {
            refusal = lose(.file, database)
        } else if let name = written.first(where: { database.hasMoved($0) }) {
            refusal = lose(attached: name, database)
        } else if let companion = lostCompanion() {
            refusal = lose(.log, database, companion.path)
        }
        guard refusal == nil else { return false }
        version = database.pagerVersion() &+ 1
        for name in written {
            attachedVersions[database.path(of: name)] = database.pagerVersion(of: name) &+ 1
        }
        return true
    }

    /// Returns whether the file has moved. If a folder moves, its files move along and their
    /// entries stay unchanged. So this asks the VFS as soon as the clock has advanced.
    private func hasMoved(_ database: Database) -> Bool {
        let now = shellac_coarse_time()
        if now == lastAnswer, mark?.isUnchanged() == true { return false }
        lastAnswer = now
        if mark == nil { mark = Self.path(of: database).flatMap { FileMark($0) } }
        // Note the entry first, so that the next check finds a change made in the meantime.
        mark?.note()
        return database.hasMoved()
    }

    private func lose(_ part: Part, _ database: Database, _ path: String? = nil) -> DatabaseError {
        loss = part
        if part == .file { owesEmptyLog = true }
        database.updateObstruction()
        return .lost(part, of: database.description, at: path ?? database.path(of: "main"))
    }

    private func lose(attached name: String, _ database: Database) -> DatabaseError {
        if !lostAttachments.contains(name) { lostAttachments.append(name) }
        owesEmptyLog = true
        return .lost(.file, of: "\(name) of \(database.description)", at: database.path(of: name))
    }

    private func lostCompanion() -> Companion? {
        if companions.isEmpty { return nil }
        let now = shellac_coarse_time()
        if now &- lastLook < Self.pause { return nil }
        lastLook = now
        return movedCompanion
    }

    private var movedCompanion: Companion? { companions.first { FileIdentity($0.path) != $0.identity } }

    /// Throws if the log must not be copied, or if the file must not be written to outside of a
    /// commit that the hook checks.
    func check(_ database: Database) throws {
        if database.hasMoved() {
            emptyLogs(database)
            throw DatabaseError.lost(.file, of: database.description, at: database.path(of: "main"))
        }
        if let companion = movedCompanion {
            throw DatabaseError.lost(.log, of: database.description, at: companion.path)
        }
    }

    // MARK: - The log

    /// Copies the logs of lost files into the files that they belong to, unless other connections
    /// have written to them. Call it outside of transactions.
    func emptyLogs(_ database: Database) {
        guard database.isInAutocommit else { return }
        if !isLogEmpty, loss != .log, loss == .file || database.hasMoved() {
            isLogEmpty = emptyLog(of: "main", after: version, database)
        }
        lostAttachments.removeAll { name in
            // The log of a database contains nothing of this connection if it has not written to
            // that database.
            guard let version = attachedVersions[database.path(of: name)] else { return true }
            return emptyLog(of: name, after: version, database)
        }
        owesEmptyLog = loss == .file && !isLogEmpty || !lostAttachments.isEmpty
    }

    /// Empties a log. Returns false if this must be tried again.
    private func emptyLog(of name: String, after version: UInt32, _ database: Database) -> Bool {
        var isEmpty = false
        database.unheard(steps: nil) {
            // SQLite updates the version number only when it reads the log.
            let sql = "SELECT 1 FROM \(name.quotedDatabaseIdentifier).sqlite_master LIMIT 1"
            guard (try? database.querySilently(sql)) != nil, database.pagerVersion(of: name) == version else {
                return
            }
            // After the first checkpoint, other connections find nothing to copy in the log, even
            // if readers keep it from being truncated.
            for kind in [SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_TRUNCATE] {
                isEmpty = sqlite3_wal_checkpoint_v2(database.pointer, name, kind, nil, nil) == SQLITE_OK
            }
        }
        return isEmpty
    }

    /// Makes a connection that is about to close leave the replacements of its file and log alone.
    func leave(_ database: Database) {
        // The mark's descriptor is closed with the connection. If closing fails, the next commit
        // opens another.
        mark = nil
        for attached in database.attachments where database.hasMoved(attached.name) {
            _ = lose(attached: attached.name, database)
        }
        if loss == .file || database.hasMoved() || owesEmptyLog {
            emptyLogs(database)
        } else {
            // A connection that looked for our log has created an empty one.
            guard let log = movedCompanion, FileIdentity.size(log.path) ?? 0 > 0 else { return }
        }
        _ = shellac_db_config(database.pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _ = shellac_persist_wal(database.pointer, 1)
    }
}

extension DatabaseError {
    /// Returns the error of a database whose file or log no longer has the name it was opened by.
    static func lost(
        _ part: FilePlace.Part, of description: String, at path: String,
        _ code: ResultCode = .SQLITE_READONLY_DBMOVED
    ) -> DatabaseError {
        DatabaseError(
            resultCode: code,
            message: "the database \(description) has lost its \(part.rawValue): what is at \(path) now is "
                + (FileIdentity(path) == nil ? "nothing" : "another file") + ". Close it, and open it again")
    }
}

extension Database {
    /// Starts checking the places of the database files, if there are any.
    func watchPlace() {
        guard !configuration.readonly, hasAttachments || FilePlace.path(of: self) != nil else { return }
        hooks.place = FilePlace(self)
        setCommitHook(for: .place, true)
    }

    /// Throws if the file has lost its name. Called before a write that is not a commit.
    func checkPlace() throws { try hooks.place?.check(self) }

    /// Returns whether a database's file is no longer the file at its path.
    func hasMoved(_ name: String = "main") -> Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(pointer, name, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Returns the version number of a database's content, as last read by the connection. Each
    /// commit increments it, whether by this connection or another. See SQLITE_FCNTL_DATA_VERSION.
    fileprivate func pagerVersion(of name: String = "main") -> UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(pointer, name, SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    fileprivate func path(of name: String) -> String {
        sqlite3_db_filename(pointer, name).map(String.init(cString:)) ?? ""
    }

    /// Whether there are attached databases.
    var hasAttachments: Bool { Features.databaseName.map { $0(pointer, 2) != nil } ?? false }

    /// The attached databases, each with whether the transaction writes to it.
    fileprivate var attachments: [(name: String, isWritten: Bool)] {
        guard let name = Features.databaseName else { return [] }
        var (attachments, number): ([(String, Bool)], Int32) = ([], 2)
        while let attached = name(pointer, number) {
            let isWritten = sqlite3_txn_state(pointer, attached) == SQLITE_TXN_WRITE
            attachments.append((String(cString: attached), isWritten))
            number += 1
        }
        return attachments
    }
}
