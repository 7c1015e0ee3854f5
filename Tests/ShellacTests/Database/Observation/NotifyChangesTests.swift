import Shellac
import TestSupport
import Testing

/// The observers that `notifyChanges` notifies of changes that SQLite does not report, in accesses
/// that read.
@Suite("What notifyChanges tells")
struct NotifyChangesTests {
    /// The ways to read of a queue and of a pool, and of what is opened for reading alone.
    enum Reading: CaseIterable {
        case queue, unsafeQueue, reentrantQueue, readOnlyQueue
        case pool, unsafePool, readOnlyPool, snapshot
    }

    @Test("is told to nobody in an access that reads", arguments: Reading.allCases)
    func notifyWherever(reading: Reading) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("notified.sqlite")
        var configuration = Configuration()
        let pool = try DatabasePool(path: path)
        try pool.write { db in try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        let observer = ObserverSpy()
        func notify(_ db: Database) throws { try db.notifyChanges(in: DatabaseRegion(table: "player")) }
        switch reading {
        case .queue, .unsafeQueue, .reentrantQueue:
            let queue = try DatabaseQueue(path: path)
            queue.add(transactionObserver: observer, extent: .databaseLifetime)
            switch reading {
            case .queue: try queue.read(notify)
            case .unsafeQueue: try queue.unsafeRead(notify)
            default: try queue.unsafeReentrantRead(notify)
            }
        case .readOnlyQueue:
            configuration.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            queue.add(transactionObserver: observer, extent: .databaseLifetime)
            try queue.read(notify)
        case .pool, .unsafePool, .snapshot:
            pool.add(transactionObserver: observer, extent: .databaseLifetime)
            switch reading {
            case .pool: try pool.read(notify)
            case .unsafePool: try pool.unsafeRead(notify)
            default: try pool.makeSnapshot().read(notify)
            }
        case .readOnlyPool:
            configuration.readonly = true
            let other = try DatabasePool(path: path, configuration: configuration)
            other.add(transactionObserver: observer, extent: .databaseLifetime)
            try other.read(notify)
        }
        #expect(observer.log == [])
    }

    @Test(
        "is told to the observers of a connection that is opened for reading, in its other accesses",
        arguments: [true, false])
    func notifyReadOnly(isPool: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("notified.sqlite")
        try DatabasePool(path: path).write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
        }
        var configuration = Configuration()
        configuration.readonly = true
        let reader: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        let observer = ObserverSpy()
        reader.add(transactionObserver: observer, extent: .databaseLifetime)
        try reader.writeWithoutTransaction { db in
            try db.notifyChanges(in: DatabaseRegion(table: "player"))
        }
        #expect(observer.log == ["undetected", "willCommit", "didCommit"])
    }
}
