/// An added observer, and the time for which it is notified.
final class ObserverRegistration {
    let extent: TransactionObservationExtent
    let options: TransactionObservationOptions
    /// The identity of the observer, which remains after it is freed.
    let identifier: ObjectIdentifier
    private weak var weakObserver: (any TransactionObserver)?
    @exclusivity(unchecked) private var strongObserver: (any TransactionObserver)?
    /// The observer, if it decides about each row. It is retained until it is removed.
    @exclusivity(unchecked) private(set) var discerning: (any RowFilteringObserver)?

    /// Whether the observer was removed. It may still be in a list that is being iterated.
    private(set) var isRemoved = false
    /// Whether the transaction that it was to observe has ended. It gets that notification, and no
    /// other.
    var hasEnded = false
    /// Whether the observer was added when a transaction was about to end. It is notified only of
    /// the next one.
    var isLate = false
    /// Whether it gets no changes until the end of the transaction.
    var isPaused = false

    init(
        _ observer: any TransactionObserver, extent: TransactionObservationExtent,
        options: TransactionObservationOptions
    ) {
        self.extent = extent
        self.options = options
        identifier = ObjectIdentifier(observer)
        weakObserver = extent == .observerLifetime ? observer : nil
        strongObserver = extent == .observerLifetime ? nil : observer
        discerning = observer as? any RowFilteringObserver
    }

    /// Stops notifying the observer, and releases it. Cached statements may keep the registration
    /// alive.
    func remove() {
        isRemoved = true
        let observer = strongObserver
        strongObserver = nil
        discerning = nil
        withExtendedLifetime(observer) {}
    }

    /// The observer, as long as it lives and is to be notified.
    var observer: (any TransactionObserver)? {
        if isRemoved { return nil }
        if let strongObserver { return strongObserver }
        return weakObserver
    }

    /// Delivers an event to the observer, if it still exists.
    func tell(_ event: DatabaseEvent) {
        if !isPaused, let observer { Self.tell(observer, event) }
    }

    /// Delivers an event to an observer that has options.
    @inline(never)
    func tell(_ told: DatabaseEvent, _ event: RowEvent, _ route: Audience.Route) {
        let (values, isHidden) = (event.values, event.marks.contains(.hidden))
        guard !isPaused, let observer else { return }
        let wish = event.wish
        var event = told
        event.hasNoRowID = values?.columns.hasRowID == false
        if let discerning {
            if wish != .nothing { discerning.rowDidChange(event, values, wish) }
            return
        }
        if isHidden, !options.contains(.hiddenChanges) { return }
        if let values, options.contains(.rowValues) {
            observer.databaseWillChange(with: DatabasePreUpdateEvent(route, values))
            if isPaused || isRemoved { return }
        }
        observer.databaseDidChange(with: event)
    }

    /// (Retaining a weakly held object is slow.)
    @inline(never)
    private static func tell(_ observer: any TransactionObserver, _ event: DatabaseEvent) {
        observer.databaseDidChange(with: event)
    }

    /// Returns the observer's answers to 64 kinds of changes, as bits. Nil if the observer has been
    /// freed.
    ///
    /// Retaining a weakly held object is slow, and this retains it once.
    func answers(to plan: ObservationPlan, from start: Int) -> UInt64? {
        guard let observer else { return nil }
        let end = isPaused ? 0 : options.contains(.hiddenChanges) ? plan.kinds.count : plan.openKindCount
        return Self.answers(observer, plan, start, min(end, start &+ 64))
    }

    @inline(never)
    private static func answers(
        _ observer: any TransactionObserver, _ plan: ObservationPlan, _ start: Int, _ end: Int
    ) -> UInt64 {
        var (word, index): (UInt64, Int) = (0, start)
        while index < end {
            if observer.observes(eventsOfKind: plan.kinds[index]) { word |= 1 &<< UInt64(index &- start) }
            index &+= 1
        }
        return word
    }
}
