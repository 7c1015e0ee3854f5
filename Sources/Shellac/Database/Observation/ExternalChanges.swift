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
/// Where that number changes at each question, as with a VFS that gives the present state of a replica, the content of the
/// database is compared, up to 16 MB. A larger one is told as changed at each question, unless there is something else to
/// compare: see ``DatabaseWriter/externalChanges(pollingEvery:comparing:)``.
///
/// What is told is what was committed since the sequence was made. It ends when the task is cancelled, and when the database
/// is closed or freed: the sequence does not keep it alive. An error of the file is thrown.
public struct ExternalChanges: AsyncSequence, Sendable {
    public typealias Element = Void
    public typealias Failure = any Error

    private weak let writer: (any DatabaseWriter)?
    private let interval: Duration
    /// What there was when the sequence was made, where that could be found out.
    private let version: ExternalVersion

    fileprivate init(
        _ writer: any DatabaseWriter, _ interval: Duration, _ comparison: ExternalVersion.Comparison?
    ) {
        self.writer = writer
        self.interval = interval
        let blank = ExternalVersion(comparing: comparison)
        let version = try? writer.unsafeReentrantWrite { db in
            try ExternalVersion(of: db, comparing: comparison)
        }
        self.version = version ?? blank
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(writer: writer, interval: interval, version: version)
    }

    /// Asks for the changes one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate weak var writer: (any DatabaseWriter)?
        fileprivate let interval: Duration
        fileprivate var version: ExternalVersion

        /// Waits for a change. Returns nil when there will be none any more.
        ///
        /// - Throws: what the access throws: a ``DatabaseError``.
        public mutating func next() async throws -> Void? {
            while true {
                do {
                    try await Task.sleep(for: interval)
                    guard let (present, hasChanged) = try await look() else { return nil }
                    version = present
                    if hasChanged { return () }
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
        private func look() async throws -> (ExternalVersion, hasChanged: Bool)? {
            guard let writer else { return nil }
            return try await writer.writeWithoutTransaction { [version] db in
                var version = version
                let hasChanged = try version.hasChanged(db)
                return (version, hasChanged)
            }
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
    /// ```swift
    /// let changes = replica.externalChanges(pollingEvery: .seconds(1)) { db in
    ///     try DatabaseValue.fetchOne(db, sql: "SELECT MAX(updatedAt) FROM player")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: How long to sleep between two questions. One takes some microseconds.
    ///   - comparison: What to compare where SQLite takes the file for changed at each question: see ``ExternalChanges``. It is
    ///     asked for nowhere else, and may only read.
    public func externalChanges(
        pollingEvery interval: Duration,
        comparing comparison: (@Sendable (Database) throws -> DatabaseValue?)? = nil
    ) -> ExternalChanges {
        guard let comparison else { return ExternalChanges(self, interval, nil) }
        return ExternalChanges(self, interval) { db in try db.readOnly { try comparison(db) } }
    }
}
