// The status of a pool's write-ahead log: its frames, its size, and the readers that hold it.

import CSQLite

/// What a pool's write-ahead log holds, and who keeps it from becoming smaller.
///
/// ```swift
/// let status = try dbPool.walStatus
/// if status.byteCount > 100_000_000, let reader = status.oldestReader {
///     print("\(reader.label) has been reading for \(reader.age): \(reader.sql ?? "")")
/// }
/// ```
public struct WALStatus: Sendable {
    /// A connection of this process that sees some state of the database, and keeps the log from being begun anew.
    public struct Reader: Sendable {
        /// The name of the connection: `server.reader.2`, say, where the label of the pool is `server`.
        public let label: String
        /// The statement that it has run last, if it has run one since it sees its state. A writer tells none.
        public let sql: String?
        /// How long the connection has seen its state: a few milliseconds more or less.
        public let age: Duration
    }

    /// How many frames the log has. A frame is a page that was written.
    public let frameCount: Int
    /// How many of them are copied to the database file.
    public let checkpointedFrameCount: Int
    /// The size of the log's file. It does not become smaller when the log is begun anew.
    public let byteCount: Int
    /// The connections of this process that are in the way, the one that began first at the beginning. Other processes are not
    /// among them.
    public let readers: [Reader]
    /// Why the log was not copied when that was tried last, if it was not.
    public let checkpointFailure: (any Error)?

    /// The connection that has been in the way for the longest time.
    public var oldestReader: Reader? { readers.first }
}

extension DatabasePool {
    /// What the write-ahead log holds, and who of this process keeps it from becoming smaller.
    ///
    /// It waits for nobody, and reads nothing of the file.
    ///
    /// - Throws: a ``DatabaseError`` when the pool is closed, or its file cannot be opened, or was moved, deleted or replaced.
    public var walStatus: WALStatus {
        get throws {
            if isClosed { throw opening.closedError }
            try opening.checkPlace()
            let index = try logIndex.read(opening)
            // Whoever closes the pool meanwhile has closed that connection before, or has not met it.
            if isClosed { logIndex.close() }
            let readers = opening.group.activities.compactMap { activity in
                activity.age.map { WALStatus.Reader(label: activity.label, sql: activity.sql, age: $0) }
            }
            return WALStatus(
                frameCount: index.frames, checkpointedFrameCount: index.copied,
                byteCount: FileIdentity.size(opening.path + "-wal") ?? 0,
                readers: readers.sorted { $0.age > $1.age }, checkpointFailure: checkpointer?.failure)
        }
    }
}

/// Reads the index of a log, by a connection of its own: nobody else waits for it.
final class LogIndex: Sendable {
    private struct State {
        var database: Database?
        /// The threads that are about to open it.
        var opening: [UInt] = []
    }
    private let state = Lock(State())

    func read(_ opening: ReaderOpening) throws -> (frames: Int, copied: Int) {
        // Once more where the pool has been closed meanwhile, which this is asked of afterwards, too.
        while true {
            try open(opening)
            if let index = try readOpen(opening) { return index }
        }
    }

    /// Opens the connection, where there is none.
    ///
    /// That runs functions of the user: what prepares connections, and what hears of their statements. They may wait for somebody
    /// who asks for the status, too, and so nobody waits for them; and they may ask for it themselves, in vain.
    private func open(_ opening: ReaderOpening) throws {
        let thread = shellac_thread()
        let (isOpen, isOpening) = state.withLock { state in
            let (isOpen, isOpening) = (state.database != nil, state.opening.contains(thread))
            if !isOpen, !isOpening { state.opening.append(thread) }
            return (isOpen, isOpening)
        }
        if isOpen { return }
        if isOpening {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message:
                    "the log of the database \(opening.description) was looked at while a connection is opened for that"
            )
        }
        defer { state.withLock { state in state.opening.removeAll { $0 == thread } } }
        let connection = try opening.openForIndex()
        let isLate = state.withLock { state in
            if state.database == nil { state.database = connection }
            return state.database !== connection
        }
        if isLate { connection.giveUp() }
    }

    /// Reads the index, unless the connection is closed.
    private func readOpen(_ opening: ReaderOpening) throws -> (frames: Int, copied: Int)? {
        let read = state.withLock { state -> (code: Int32, frames: UInt32, copied: UInt32)? in
            guard let connection = state.database else { return nil }
            var (frames, copied): (UInt32, UInt32) = (0, 0)
            let code = shellac_wal_index(connection.pointer, &frames, &copied)
            return (code, frames, copied)
        }
        guard let read else { return nil }
        guard read.code == SQLITE_OK else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: read.code),
                message: "the database \(opening.description) has no write-ahead log any more")
        }
        return (Int(read.frames), Int(read.copied))
    }

    /// Closes the connection. It is opened anew when it is needed.
    func close() { state.withLock { $0.database.take() }?.giveUp() }
}
