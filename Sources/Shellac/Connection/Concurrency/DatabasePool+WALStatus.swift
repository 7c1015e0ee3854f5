// The status of a pool's write-ahead log: its frames, its size, and the readers that hold it.

import CSQLite

/// The content of a pool's write-ahead log, and the readers that keep it from shrinking.
///
/// ```swift
/// let status = try dbPool.walStatus
/// if status.byteCount > 100_000_000, let reader = status.oldestReader {
///     print("\(reader.label) has been reading for \(reader.age): \(reader.sql ?? "")")
/// }
/// ```
public struct WALStatus: Sendable {
    /// A connection of this process that sees some state of the database, and so keeps the log from
    /// being restarted.
    public struct Reader: Sendable {
        /// The name of the connection, for example `server.reader.2` if the label of the pool is
        /// `server`.
        public let label: String
        /// The last statement of the connection, if it has run one since it sees its state. It is
        /// nil for a writer.
        public let sql: String?
        /// The time since the connection sees its state, give or take a few milliseconds.
        public let age: Duration
    }

    /// The number of frames in the log. A frame is a page that was written.
    public let frameCount: Int
    /// The number of frames that are copied to the database file.
    public let checkpointedFrameCount: Int
    /// The size of the log's file. It does not shrink when the log is restarted.
    public let byteCount: Int
    /// The connections of this process that are in the way, the one that began first at the
    /// beginning. Connections of other processes are not included.
    public let readers: [Reader]
    /// The error of the last attempt to copy the log, if it failed.
    public let checkpointFailure: (any Error)?

    /// The connection that has been in the way for the longest time.
    public var oldestReader: Reader? { readers.first }
}

extension DatabasePool {
    /// The content of the write-ahead log, and the readers of this process that keep it from
    /// shrinking.
    ///
    /// It waits for no access, and does not read the file.
    ///
    /// - Throws: A ``DatabaseError`` if the pool is closed, or if its file cannot be opened, or was
    ///   moved, deleted or replaced.
    public var walStatus: WALStatus {
        get throws {
            if isClosed { throw opening.closedError }
            try opening.checkPlace()
            let index = try logIndex.read(opening)
            // A concurrent closing of the pool has closed that connection before, or has missed it.
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

/// The reader of a log's index. It has a connection of its own, so no other access waits for it.
final class LogIndex: Sendable {
    private struct State {
        var database: Database?
        /// The threads that are about to open it.
        var opening: [UInt] = []
    }
    private let state = Lock(State())

    func read(_ opening: ReaderOpening) throws -> (frames: Int, copied: Int) {
        // Retries if the pool was closed meanwhile. The caller checks for that afterwards, too.
        while true {
            try open(opening)
            if let index = try readOpen(opening) { return index }
        }
    }

    /// Opens the connection if there is none.
    ///
    /// This runs functions of the user, which prepare connections and trace their statements. They
    /// may wait for another thread that requests the status, too, so no thread waits for them. They
    /// may request the status themselves, which throws.
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
                    "the log of the database \(opening.description) was inspected while the connection for "
                    + "that is still being opened"
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

    /// Closes the connection. It is reopened when it is needed.
    func close() { state.withLock { $0.database.take() }?.giveUp() }
}
