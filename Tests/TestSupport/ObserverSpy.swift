public import Shellac

/// An observer that keeps its notifications, in order, each as one word or a few:
/// `insert player 1`, `willCommit`.
///
/// It is used on the connection's side, and read when the access has ended.
public final class ObserverSpy: TransactionObserver {
    /// The notifications so far.
    public private(set) var log: [String] = []
    /// The kinds that it was asked for.
    public private(set) var questions: [DatabaseEventKind] = []

    /// A filter of the changes that it observes.
    public var filter: (DatabaseEventKind) -> Bool = { _ in true }
    /// Called with each change, in addition to keeping it.
    public var onChange: ((DatabaseEvent) -> Void)?
    public var onWillCommit: (() throws -> Void)?
    public var onCommit: ((Database) -> Void)?
    public var onRollback: ((Database) -> Void)?

    public init() {}

    /// Returns the notifications so far, and forgets them.
    @discardableResult
    public func removeAll() -> [String] {
        defer { log = [] }
        return log
    }

    /// Keeps a word of the test's own.
    public func note(_ word: String) { log.append(word) }

    public func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        questions.append(eventKind)
        return filter(eventKind)
    }

    public func databaseDidChange(with event: DatabaseEvent) {
        log.append("\(event.kind) \(event.tableName) \(event.rowID)")
        onChange?(event)
    }

    public func databaseDidChange() { log.append("undetected") }

    public func databaseWillCommit() throws {
        log.append("willCommit")
        try onWillCommit?()
    }

    public func databaseDidCommit(_ db: Database) {
        log.append("didCommit")
        onCommit?(db)
    }

    public func databaseDidRollback(_ db: Database) {
        log.append("didRollback")
        onRollback?(db)
    }
}

extension DatabaseQueue {
    /// A database in memory with a table of players, and an observer of it.
    public static func withSpy(_ sql: String = "") throws -> (DatabaseQueue, ObserverSpy) {
        let queue = try withPlayers()
        if !sql.isEmpty { try queue.inDatabase { db in try db.execute(sql: sql) } }
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy)
        return (queue, spy)
    }
}
