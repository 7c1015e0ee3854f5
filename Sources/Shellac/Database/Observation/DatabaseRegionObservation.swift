// Region observation: a callback after each commit that changes a region, and cancellables.

import Synchronization

/// Tells of each transaction that has changed some part of a database.
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
/// The function is called right after the commit, on the connection's side, and can use the database. A transaction
/// that has changed nothing in the region, or was rolled back, is not told.
///
/// All is seen that the connection does: also the rows that `REPLACE` deletes, and changes of WITHOUT ROWID tables, where
/// the running SQLite has the pre-update hook (``TransactionObservationOptions/hiddenChanges``). Not seen are changes by
/// other connections, to virtual tables, and to the schema: ``Database/notifyChanges(in:)`` tells them.
public struct DatabaseRegionObservation: Sendable {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Tracks regions: requests, queries, tables.
    ///
    /// - Parameter regions: The regions, which are found out at the start. A change of one of them is told; without any,
    ///   nothing is.
    public init(tracking regions: any DatabaseRegionConvertible & Sendable...) {
        self.init(tracking: regions)
    }

    /// Tracks regions: requests, queries, tables.
    ///
    /// - Parameter regions: The regions, which are found out at the start. A change of one of them is told; without any,
    ///   nothing is.
    public init(tracking regions: [any DatabaseRegionConvertible & Sendable]) {
        region = { db in
            try regions.reduce(into: DatabaseRegion()) { region, other in
                try region.formUnion(other.databaseRegion(db))
            }
        }
    }

    /// Starts. It goes on until what it returns is cancelled or freed, or the database is closed.
    ///
    /// The region is found out here, once. This waits for the access, unless it is called inside of one.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - onError: Called, before this returns, when the region cannot be found out.
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

/// Something that goes on until it is cancelled.
public protocol DatabaseCancellable: AnyObject, Sendable {
    /// Ends it. It may be called more than once, and by any thread.
    func cancel()
}

/// Ends what it stands for when it is cancelled, or freed.
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private let isCancelled = Atomic<Bool>(false)
    nonisolated(unsafe) private var end: (@Sendable () -> Void)?  // touched by the first who cancels

    /// Creates what calls a function when it is cancelled or freed.
    ///
    /// - Parameter cancel: Called once, by the thread that is the first to cancel, or that frees it.
    public init(cancel: @escaping @Sendable () -> Void) { end = cancel }

    deinit { cancel() }

    public func cancel() {
        if isCancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
        let end = end
        self.end = nil
        end?()
    }
}

/// What hears of changes for an observation.
private final class RegionObserver: TransactionObserver, @unchecked Sendable {
    // `isChanged` is used on the connection's side alone.
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
