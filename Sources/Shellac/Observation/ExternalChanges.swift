/// Tells that other connections have committed changes: those of other processes, and others of this one.
///
/// ```swift
/// for try await _ in dbQueue.externalChanges {
///     let players = try await dbQueue.read { db in try Player.fetchAll(db) }
///     …
/// }
/// ```
///
/// Several commits may be told as one. The commits of the queue, or of the pool, itself are not told: they have
/// ``TransactionObserver``s.
///
/// ## How it knows
///
/// SQLite tells nobody of other connections' commits. It is asked, every now and then, for its `PRAGMA data_version`:
/// the first page of the file is looked at, or the index of the write-ahead log, and the file is not read. Between two
/// questions the task sleeps, and no thread waits. A question waits for its turn with the accesses that write, like
/// any asynchronous one; while another connection holds the file locked, it is asked again later.
///
/// What is told is what was committed since the sequence was made. It ends when the task is cancelled, and when the database
/// is closed or freed: the sequence does not keep it alive. An error of the file is thrown.
public struct ExternalChanges: AsyncSequence, Sendable {
    public typealias Element = Void
    public typealias Failure = any Error

    private weak let writer: (any DatabaseWriter)?
    private let interval: Duration
    /// The version when the sequence was made, or nil where it could not be found out.
    private let version: Int64?

    fileprivate init(_ writer: any DatabaseWriter, _ interval: Duration) {
        self.writer = writer
        self.interval = interval
        version = try? writer.unsafeReentrantWrite { db in try db.dataVersionWithoutWaiting }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(writer: writer, interval: interval, version: version)
    }

    /// Asks for the changes one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate weak var writer: (any DatabaseWriter)?
        fileprivate let interval: Duration
        fileprivate var version: Int64?

        /// Waits for a change. Returns nil when there will be none any more.
        public mutating func next() async throws -> Void? {
            while true {
                do {
                    try await Task.sleep(for: interval)
                    guard let present = try await presentVersion() else { return nil }
                    guard let known = version else {
                        version = present
                        continue
                    }
                    version = present
                    if present != known { return () }
                } catch is CancellationError {
                    return nil
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    continue
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    return nil  // the database is closed
                }
            }
        }

        /// The database is held while it is asked, and not longer.
        private func presentVersion() async throws -> Int64? {
            guard let writer else { return nil }
            return try await writer.writeWithoutTransaction { db in try db.dataVersionWithoutWaiting }
        }
    }
}

extension DatabaseWriter {
    /// The commits of other connections, and of other processes, from now on: asked for ten times a second.
    ///
    /// This waits for the access, unless it is called inside of one.
    public var externalChanges: ExternalChanges { externalChanges(pollingEvery: .milliseconds(100)) }

    /// The commits of other connections, and of other processes, from now on.
    ///
    /// - Parameter interval: How long to sleep between two questions. One takes some microseconds.
    public func externalChanges(pollingEvery interval: Duration) -> ExternalChanges {
        ExternalChanges(self, interval)
    }
}

extension Database {
    /// The number that other connections' commits change. A lock is not waited for.
    var dataVersionWithoutWaiting: Int64 {
        get throws {
            try withoutWaiting { try Int64.fetchOne(cachedStatement(sql: "PRAGMA data_version")) ?? 0 }
        }
    }
}
