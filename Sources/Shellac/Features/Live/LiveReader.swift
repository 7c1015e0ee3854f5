/// A reader that a ``LiveQuery`` fetches for.
///
/// If another query fetches the same, the reader moves to that one.
class LiveReader: @unchecked Sendable {  // its query has a lock; see the subclass for the rest
    /// The lock for the readers' queries. It is one lock for all readers: it is held for a few
    /// instructions, when a reader comes or leaves. A lock for each would take a hundred bytes.
    private static let places = Lock(0)
    private var query: LiveQuery?
    private var hasLeft = false

    /// Starts with a query of its own. Returns an object that ends the reading, for a reader whose
    /// values go to a mailbox.
    final func start<Value>(with query: LiveQuery, to mailbox: LiveMailbox<Value>) -> AnyDatabaseCancellable {
        move(to: query)
        query.start()
        return AnyDatabaseCancellable {
            mailbox.cancel()
            self.leave()
        }
    }

    /// Moves to a query that has the reader already.
    final func move(to query: LiveQuery) {
        let isLate = Self.places.withLock { _ in
            if !hasLeft { self.query = query }
            return hasLeft
        }
        if isLate { query.remove(self) }
    }

    /// Leaves the query: the reader gets nothing more.
    final func leave() {
        let left = Self.places.withLock { _ -> LiveQuery? in
            defer { (query, hasLeft) = (nil, true) }
            return query
        }
        left?.remove(self)
    }
}
