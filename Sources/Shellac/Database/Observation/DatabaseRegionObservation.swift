// Region observation: a callback after each commit that changes a region, and cancellables.

import Synchronization

/// An observation that reports each transaction that has changed a part of a database.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: SQL("SELECT name, score FROM player"))
/// let cancellable = observation.start(in: dbQueue) { error in
///     print("the players cannot be observed: \(error)")
/// } onChange: { db in
///     print("players have changed")
/// }
/// ```
///
/// The function is called right after the commit, in the connection's isolation, and can use the
/// database. Transactions that have changed nothing in the region, or were rolled back, are not
/// reported.
///
/// The observation sees everything that the connection changes. That includes rows deleted by
/// `REPLACE`, and changes of WITHOUT ROWID tables, if the running SQLite has the pre-update hook
/// (``TransactionObservationOptions/hiddenChanges``). It does not see changes by other connections,
/// to virtual tables, or to the schema. Report those with ``Database/notifyChanges(in:)``.
public struct DatabaseRegionObservation: Sendable {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Creates an observation of regions: requests, queries, tables.
    ///
    /// - Parameter regions: The regions, which are determined at the start. A change of any of them
    ///   is reported. Without any, nothing is.
    public init(tracking regions: any DatabaseRegionConvertible & Sendable...) {
        self.init(tracking: regions)
    }

    /// Creates an observation of regions: requests, queries, tables.
    ///
    /// - Parameter regions: The regions, which are determined at the start. A change of any of them
    ///   is reported. Without any, nothing is.
    public init(tracking regions: [any DatabaseRegionConvertible & Sendable]) {
        region = { db in
            try regions.reduce(into: DatabaseRegion()) { region, other in
                try region.formUnion(other.databaseRegion(db))
            }
        }
    }

    /// Starts the observation. It continues until the returned object is cancelled or freed, or the
    /// database is closed.
    ///
    /// The region is determined here, once. This waits for the access, unless it is called inside
    /// of one.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - onError: Called before this returns, when the region cannot be determined.
    ///   - onChange: Called after each transaction that has changed the region.
    public func start(
        in writer: any DatabaseWriter, onError: (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        do {
            return try writer.unsafeReentrantWrite { db in
                let observer = RegionObserver(try region(db), onChange)
                try db.add(
                    transactionObserver: observer,
                    options: PreUpdateFunctions.found == nil ? [] : .hiddenChanges)
                // The database holds the observer weakly.
                return AnyDatabaseCancellable { observer.isCancelled.store(true, ordering: .relaxed) }
            }
        } catch {
            onError(error)
            return AnyDatabaseCancellable {}
        }
    }
}

/// An operation that continues until it is cancelled.
public protocol DatabaseCancellable: AnyObject, Sendable {
    /// Cancels the operation. It may be called more than once, and by any thread.
    func cancel()
}

/// An operation that ends when this object is cancelled or freed.
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private let isCancelled = Atomic<Bool>(false)
    nonisolated(unsafe) private var end: (@Sendable () -> Void)?  // used by the first cancel

    /// Creates an object that calls a function when it is cancelled or freed.
    ///
    /// - Parameter cancel: Called once, by the thread that cancels first, or that frees the object.
    public init(cancel: @escaping @Sendable () -> Void) { end = cancel }

    deinit { cancel() }

    public func cancel() {
        if isCancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
        let end = end
        self.end = nil
        end?()
    }
}

/// The transaction observer behind an observation.
private final class RegionObserver: TransactionObserver, @unchecked Sendable {
    // Only the connection's isolation uses `isChanged`.
    private let region: DatabaseRegion
    private let onChange: @Sendable (Database) -> Void
    private var isChanged = false
    let isCancelled = Atomic<Bool>(false)

    init(_ region: DatabaseRegion, _ onChange: @escaping @Sendable (Database) -> Void) {
        self.region = region
        self.onChange = onChange
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        !isCancelled.load(ordering: .relaxed) && region.isModified(byEventsOfKind: eventKind)
    }

    func databaseDidChange(with event: DatabaseEvent) {
        guard region.isModified(by: event) else { return }
        isChanged = true
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidChange() {
        isChanged = true
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ db: Database) {
        guard isChanged else { return }
        isChanged = false
        if !isCancelled.load(ordering: .relaxed) { onChange(db) }
    }

    func databaseDidRollback(_ db: Database) { isChanged = false }
}
