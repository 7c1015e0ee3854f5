// The state shared by all connections of one queue or pool.

import Synchronization

/// The connections of one queue or one pool, and their shared state.
final class ConnectionGroup: Sendable {
    /// The commit number of the only connection that writes.
    let commits = CommitNumber()

    /// The dates that each belong to only one of their transactions.
    let distinctDates = DistinctDates()

    /// The shutdown of all connections.
    let serviceEnd = ServiceEnd()

    /// The reporter of their work, if there is one.
    let reporter: Reporter?

    /// Whether an access requires extra work, because it is reported, or because new accesses are
    /// refused.
    private let attention: Atomic<Bool>

    init(reporter: Reporter? = nil) {
        self.reporter = reporter
        attention = Atomic(reporter != nil)
    }

    @inline(__always)
    var needsAttention: Bool { attention.load(ordering: .relaxed) }

    /// The error of a commit that the storage has refused afterwards. New accesses throw it, until
    /// the database is closed.
    private let refusedCommit = Lock<DatabaseError?>(nil)

    func refuse(_ error: DatabaseError) {
        refusedCommit.withLock { if $0 == nil { $0 = error } }
        _ = attention.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Forgets the error, because a closed database throws its own error.
    func forgetRefusal() { refusedCommit.withLock { $0 = nil } }

    func checkRefusal() throws { if let error = refusedCommit.withLock({ $0 }) { throw error } }

    /// Refuses new accesses from now on.
    func beginServiceEnd() {
        serviceEnd.begin()
        attention.store(true, ordering: .sequentiallyConsistent)
    }

    /// The open connections. They are retained, since they may be used on any thread. So each of
    /// them must eventually be closed, whatever happens.
    private let open = Lock<[ObjectIdentifier: Database]>([:])

    func add(_ database: Database) { open.withLock { $0[ObjectIdentifier(database)] = database } }

    /// Removes a connection, which the caller is about to close.
    func remove(_ database: Database) { open.withLock { $0[ObjectIdentifier(database)] = nil } }

    var connections: [Database] { open.withLock { Array($0.values) } }

    /// The activities of the connections that can be inspected.
    private let activityList = Lock<[ConnectionActivity]>([])

    func add(_ activity: ConnectionActivity) { activityList.withLock { $0.append(activity) } }
    func remove(_ activity: ConnectionActivity) { activityList.withLock { $0.removeAll { $0 === activity } } }
    var activities: [ConnectionActivity] { activityList.withLock { $0 } }

    /// Descriptions of objects that keep the connections from being closed.
    private let living = Lock<[ObjectIdentifier: @Sendable () -> String?]>([:])

    /// Registers an object that keeps the connections from being closed, as long as its name is not
    /// nil.
    func keepOpen(for object: AnyObject, _ name: @escaping @Sendable () -> String?) {
        living.withLock { $0[ObjectIdentifier(object)] = name }
    }

    func noLongerKeepOpen(for object: AnyObject) { living.withLock { $0[ObjectIdentifier(object)] = nil } }

    var livingNames: [String] { living.withLock { Array($0.values) }.compactMap { $0() } }

    /// The shared objects of upper layers, by type.
    private let shared = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns an object that an upper layer shares between the connections. It is created at the
    /// first request.
    func shared<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
        shared.withLock { shared in
            if let known = shared[ObjectIdentifier(Value.self)] as? Value { return known }
            let made = make()
            shared[ObjectIdentifier(Value.self)] = made
            return made
        }
    }
}
