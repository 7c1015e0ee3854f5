// Detects that a database file or its log was moved or replaced, and refuses commits then.

import CSQLite

/// The place of the file that a connection writes to: the name that it was opened by, and those of its log and index.
///
/// A write-ahead log belongs to a file, and is found by the name of it. A connection whose file was moved, deleted or replaced goes on
/// writing to that file, and to a log that lies beside whatever has the name now. What it commits is lost, and whoever opens the
/// other file takes the log for its own. See "How To Corrupt An SQLite Database File", section 2.4. With a rollback journal, SQLite looks
/// by itself; with a log it does not.
///
/// ## The loss of a file
///
/// 1. SQLite's commit hook is called, before anything of the commit is written. The VFS is asked whether the file has moved, unless it has
///    been asked in the same few milliseconds and the file's entry is as it was then: see ``FileMark``. Now and then, the log and its index
///    are looked for, too.
/// 2. The hook refuses the commit. The statement throws the error, and so does each later one that writes, until the connection is
///    closed: the file may come back, and what took its place may have been changed by the log meanwhile. Reading goes on.
/// 3. The log is emptied into the file that it belongs to, wherever that is now. So it does no harm to the one that took its place. Where
///    somebody else has written to the log since this connection has, it may be theirs, and is left alone.
/// 4. Nor is anything copied, cut or deleted when the connection is closed.
///
/// A log that has lost its name still has what was committed. Closing copies it to the file, unless another one has taken its place.
///
/// An attached database is treated in the same way. A commit that writes to it is refused once its
/// file has moved, and its log is emptied. A statement that writes elsewhere is not refused; an
/// immediate transaction is, because it begins to write in all databases.
final class FilePlace {
    /// What has lost its name.
    enum Part: String {
        case file, log
    }

    /// The part that was lost, if one was.
    private(set) var loss: Part?
    /// The error of the commit that was refused last.
    private(set) var refusal: DatabaseError?
    /// The number that the pager has after the last commit, unless others have written since.
    private var version: UInt32
    private var isLogEmpty = false
    /// The same number of each attached database that was written to, by its path.
    private var attachedVersions: [String: UInt32] = [:]
    /// The names of the attached databases whose files were lost, and whose logs are to be emptied.
    private var lostAttachments: [String] = []
    /// Whether there may be a log that is to be emptied.
    private(set) var owesEmptyLog = false
    /// The log and its index, where another file in their place is a loss.
    private var companions: [Companion] = []
    private var lastLook: UInt64 = 0
    /// The file's entry when the VFS was asked last, and the time of that.
    private var mark: FileMark?
    private var lastAnswer: UInt64 = 0

    /// A file that lies beside the database.
    private struct Companion {
        let path: String
        let identity: FileIdentity
    }

    init(_ database: Database) { version = database.pagerVersion() }

    /// How many nanoseconds the log is not looked for after it was found.
    private static var pause: UInt64 { 100_000_000 }

    /// The name of the file of a connection, or nil where it has none.
    static func path(of database: Database) -> String? {
        sqlite3_db_filename(database.pointer, "main").map(String.init(cString:)).flatMap {
            $0.isEmpty ? nil : $0
        }
    }

    /// Keeps an eye on the log as well, which stays as long as the connection is open.
    func noteLog(of database: Database) {
        guard let path = Self.path(of: database) else { return }
        companions = ["-wal", "-shm"].compactMap { suffix in
            FileIdentity(path + suffix).map { Companion(path: path + suffix, identity: $0) }
        }
    }

    // MARK: - Writing

    /// SQLite is about to commit. Returns whether it may.
    func allowsCommit(_ database: Database) -> Bool {
        if loss != nil { return false }
        refusal = nil
        if hasMoved(database) {
            refusal = lose(.file, database)
        } else if let name = database.attachments.first(where: { $0.isWritten && database.hasMoved($0.name) }
        )?.name {
            refusal = lose(attached: name, database)
        } else if let companion = lostCompanion() {
            refusal = lose(.log, database, companion.path)
        }
        guard refusal == nil else { return false }
        version = database.pagerVersion() &+ 1
        for attached in database.attachments where attached.isWritten {
            attachedVersions[database.path(of: attached.name)] = database.pagerVersion(of: attached.name) &+ 1
        }
        return true
    }

    /// Whether the file has moved. A folder that moves takes its files along and leaves their entries as they are: so the VFS is asked as
    /// soon as the clock has moved.
    private func hasMoved(_ database: Database) -> Bool {
        let now = shellac_coarse_time()
        if now == lastAnswer, mark?.isUnchanged() == true { return false }
        lastAnswer = now
        if mark == nil { mark = Self.path(of: database).flatMap { FileMark($0) } }
        // It is noted first: what changes meanwhile is found by the next look.
        mark?.note()
        return database.hasMoved()
    }

    private func lose(_ part: Part, _ database: Database, _ path: String? = nil) -> DatabaseError {
        loss = part
        owesEmptyLog = true
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

    /// Throws where the log must not be copied, or the file not be written to without a commit that is asked for.
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

    /// Empties the logs of what was lost into the files that they belong to, unless somebody else has written to them. It is called
    /// outside of transactions.
    func emptyLogs(_ database: Database) {
        guard database.isInAutocommit else { return }
        if loss == .log { isLogEmpty = true }
        if !isLogEmpty, loss != nil || database.hasMoved() {
            isLogEmpty = emptyLog(of: "main", after: version, database)
        }
        lostAttachments.removeAll { name in
            // Nothing of this connection is in the log of a database that it has not written to.
            guard let version = attachedVersions[database.path(of: name)] else { return true }
            return emptyLog(of: name, after: version, database)
        }
        owesEmptyLog = loss != nil && !isLogEmpty || !lostAttachments.isEmpty
    }

    /// Empties a log. Returns false where that is to be tried again.
    private func emptyLog(of name: String, after version: UInt32, _ database: Database) -> Bool {
        var isEmpty = false
        database.unheard(steps: nil) {
            // The number is that of the last look at the log.
            let sql = "SELECT 1 FROM \(name.quotedDatabaseIdentifier).sqlite_master LIMIT 1"
            guard (try? database.readUnheard(sql)) != nil, database.pagerVersion(of: name) == version else {
                return
            }
            // Those who look for the log find nothing to copy after the first one, also where readers keep it from being cut.
            for kind in [SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_TRUNCATE] {
                isEmpty = sqlite3_wal_checkpoint_v2(database.pointer, name, kind, nil, nil) == SQLITE_OK
            }
        }
        return isEmpty
    }

    /// Has the connection, which is about to be closed, leave alone what has taken the place of its file or its log.
    func leave(_ database: Database) {
        // Its descriptor is closed with the connection. The next commit opens another, if closing fails.
        mark = nil
        for attached in database.attachments where database.hasMoved(attached.name) {
            _ = lose(attached: attached.name, database)
        }
        if loss == .file || database.hasMoved() || owesEmptyLog {
            emptyLogs(database)
        } else {
            // One without content was made by whoever has looked for ours.
            guard let log = movedCompanion, FileIdentity.size(log.path) ?? 0 > 0 else { return }
        }
        _ = shellac_db_config(database.pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _ = shellac_persist_wal(database.pointer, 1)
    }
}

extension DatabaseError {
    /// The error of a database whose file, or log, has not the name any more by which it was opened.
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
    /// Keeps an eye on the places of the files, if there are any.
    func watchPlace() {
        guard !configuration.readonly, hasAttachments || FilePlace.path(of: self) != nil else { return }
        hooks.place = FilePlace(self)
        setCommitHook(for: .place, true)
    }

    /// Throws where the file has lost its name, before something is written by another way than a commit.
    func checkPlace() throws { try hooks.place?.check(self) }

    /// Whether the file of a database is not what has its name now.
    func hasMoved(_ name: String = "main") -> Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(pointer, name, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// The number of the content of a database that the connection has seen last: each commit is one more, its own as those of
    /// others. See SQLITE_FCNTL_DATA_VERSION.
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

    /// The attached databases, and whether the transaction writes to them.
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
