/// A sequence of the commits of other connections, in this process and in others.
///
/// ```swift
/// for try await _ in dbQueue.externalChanges {
///     let players = try await dbQueue.read { db in try Player.fetchAll(db) }
///     …
/// }
/// ```
///
/// Several commits may be reported as one. Commits of the queue or pool itself are not reported:
/// use ``TransactionObserver``s for those.
///
/// ## Detecting commits
///
/// SQLite does not notify anyone of other connections' commits. So the sequence polls its
/// `PRAGMA data_version`. This checks the first page of the file, or the index of the write-ahead
/// log, without reading the file. Between two polls the task sleeps, and no thread waits. A poll
/// waits for its turn among the writing accesses, like any asynchronous access. If another
/// connection has locked the file, it is repeated later.
///
/// With some VFS the number changes at each poll, as with one that presents the current state of a
/// replica. Then the content of the database is compared, up to 16 MB. A larger database is
/// reported as changed at each poll, unless there is something else to compare: see
/// ``DatabaseWriter/externalChanges(pollingEvery:comparing:)``.
///
/// The sequence reports commits made since it was created. It ends when the task is cancelled, and
/// when the database is closed or freed: the sequence does not keep it alive. It throws errors of
/// the file.
public struct ExternalChanges: AsyncSequence, Sendable {
    public typealias Element = Void
    public typealias Failure = any Error

    private weak let writer: (any DatabaseWriter)?
    private let interval: Duration
    /// The version when the sequence was created, if it could be determined.
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

    /// An iterator that polls for the changes one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate weak var writer: (any DatabaseWriter)?
        fileprivate let interval: Duration
        fileprivate var version: ExternalVersion

        /// Waits for a change. Returns nil if there will be no more.
        ///
        /// - Throws: the error of the access, a ``DatabaseError``.
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

        /// Polls once. The database is retained only meanwhile.
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
    /// The commits of other connections and other processes from now on, polled ten times a second.
    ///
    /// This waits for the access, unless it is called inside of one.
    public var externalChanges: ExternalChanges { externalChanges(pollingEvery: .milliseconds(100)) }

    /// Returns the commits of other connections and other processes from now on.
    ///
    /// ```swift
    /// let changes = replica.externalChanges(pollingEvery: .seconds(1)) { db in
    ///     try DatabaseValue.fetchOne(db, sql: "SELECT MAX(updatedAt) FROM player")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: The time to sleep between two polls. A poll takes some microseconds.
    ///   - comparison: Returns a value to compare if SQLite considers the file changed at each
    ///     poll: see ``ExternalChanges``. It is called only then, and may only read.
    public func externalChanges(
        pollingEvery interval: Duration,
        comparing comparison: (@Sendable (Database) throws -> DatabaseValue?)? = nil
    ) -> ExternalChanges {
        guard let comparison else { return ExternalChanges(self, interval, nil) }
        return ExternalChanges(self, interval) { db in try db.readOnly { try comparison(db) } }
    }
}
