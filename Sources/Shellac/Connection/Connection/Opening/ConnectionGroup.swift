// The state shared by all connections of one queue or pool.

import Synchronization

/// The connections that belong together, as those of one queue or one pool, and what they share.
final class ConnectionGroup: Sendable {
    /// The number of the commits of the only one that writes.
    let commits = CommitNumber()

    /// The dates that their transactions have had to themselves.
    let distinctDates = DistinctDates()

    /// The orderly end of all of them.
    let serviceEnd = ServiceEnd()

    /// Who hears of what they do.
    let reporter: Reporter?

    /// Whether an access is more than an access: somebody hears of it, or none begins any more.
    private let attention: Atomic<Bool>

    init(reporter: Reporter? = nil) {
        self.reporter = reporter
        attention = Atomic(reporter != nil)
    }

    @inline(__always)
    var needsAttention: Bool { attention.load(ordering: .relaxed) }

    /// The error of a commit that the storage has refused afterwards. No access begins any more, until the database is closed.
    private let refusedCommit = Lock<DatabaseError?>(nil)

    func refuse(_ error: DatabaseError) {
        refusedCommit.withLock { if $0 == nil { $0 = error } }
        _ = attention.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Forgets it: a database that is closed says so.
    func forgetRefusal() { refusedCommit.withLock { $0 = nil } }

    func checkRefusal() throws { if let error = refusedCommit.withLock({ $0 }) { throw error } }

    /// Has no access begin any more.
    func beginServiceEnd() {
        serviceEnd.begin()
        attention.store(true, ordering: .sequentiallyConsistent)
    }

    /// The connections that are open. They are kept: whoever asks follows them on any thread. So each of them is closed in the end,
    /// whatever happens.
    private let open = Lock<[ObjectIdentifier: Database]>([:])

    func add(_ database: Database) { open.withLock { $0[ObjectIdentifier(database)] = database } }

    /// Forgets a connection, which is about to be closed by whoever calls.
    func remove(_ database: Database) { open.withLock { $0[ObjectIdentifier(database)] = nil } }

    var connections: [Database] { open.withLock { Array($0.values) } }

    /// What those connections do that others want to see.
    private let activityList = Lock<[ConnectionActivity]>([])

    func add(_ activity: ConnectionActivity) { activityList.withLock { $0.append(activity) } }
    func remove(_ activity: ConnectionActivity) { activityList.withLock { $0.removeAll { $0 === activity } } }
    var activities: [ConnectionActivity] { activityList.withLock { $0 } }

    /// What keeps the connections from being closed, in words.
    private let living = Lock<[ObjectIdentifier: @Sendable () -> String?]>([:])

    /// Names something that keeps the connections from being closed, as long as its name is not nil.
    func keepOpen(for object: AnyObject, _ name: @escaping @Sendable () -> String?) {
        living.withLock { $0[ObjectIdentifier(object)] = name }
    }

    func noLongerKeepOpen(for object: AnyObject) { living.withLock { $0[ObjectIdentifier(object)] = nil } }

    var livingNames: [String] { living.withLock { Array($0.values) }.compactMap { $0() } }

    /// What upper layers share, by its type.
    private let shared = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns what an upper layer shares among the connections. It is made when it is first asked for.
    func shared<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
        shared.withLock { shared in
            if let known = shared[ObjectIdentifier(Value.self)] as? Value { return known }
            let made = make()
            shared[ObjectIdentifier(Value.self)] = made
            return made
        }
    }
}
