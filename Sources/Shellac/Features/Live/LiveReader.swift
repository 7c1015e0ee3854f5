/// Somebody whom a ``LiveQuery`` fetches for. Where another query fetches the same, the reader goes over to that one.
class LiveReader: @unchecked Sendable {  // its query has a lock; the rest is that of the subclass
    /// Guards which query readers belong to. It is one lock for all: it is held for a few instructions, when a reader comes
    /// or leaves, and each one of its own would take a hundred bytes.
    private static let places = Lock(0)
    private var query: LiveQuery?
    private var hasLeft = false

    /// Begins with a query of its own. Returns what ends it, for a reader whose values go to a mailbox.
    final func start<Value>(with query: LiveQuery, to mailbox: LiveMailbox<Value>) -> AnyDatabaseCancellable {
        move(to: query)
        query.start()
        return AnyDatabaseCancellable {
            mailbox.cancel()
            self.leave()
        }
    }

    /// Goes over to a query that has the reader already.
    final func move(to query: LiveQuery) {
        let isLate = Self.places.withLock { _ in
            if !hasLeft { self.query = query }
            return hasLeft
        }
        if isLate { query.remove(self) }
    }

    /// Leaves: the reader wants to hear nothing more.
    final func leave() {
        let left = Self.places.withLock { _ -> LiveQuery? in
            defer { (query, hasLeft) = (nil, true) }
            return query
        }
        left?.remove(self)
    }
}
