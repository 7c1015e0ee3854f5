/// The observers that are interested in a statement's changes.
final class Audience {
    struct Listener {
        let registration: ObserverRegistration
        /// The kinds of changes that the observer is interested in.
        let kinds: [DatabaseEventKind]
    }
    let listeners: [Listener]
    /// The tables whose row ids may be updated.
    let movedTables: Set<CaseInsensitiveName>
    /// Whether the pre-update hook is needed.
    let needsPreUpdateHook: Bool
    /// Whether an observer needs the values of rows.
    let wantsValues: Bool

    /// The destination of one kind of changes to one table.
    final class Route {
        let table: Int32
        let kind: DatabaseEvent.Kind
        let tableName: String
        let databaseName: String
        let wanted: [ObserverRegistration]
        /// The interested observers, as references without retain and release.
        let wantedReferences: [Unretained<ObserverRegistration>]
        let mayHaveMoved: Bool
        /// The one of them that decides about each row. Others may exist: see `hasOthers`.
        private let discerningRegistration: ObserverRegistration?
        let hasOthers: Bool

        /// The observer that decides about each row, until it is removed.
        @inline(__always)
        var discerning: (any RowFilteringObserver)? { discerningRegistration?.discerning }

        fileprivate init(
            _ audience: Audience, _ kind: DatabaseEvent.Kind, _ table: Int32, _ name: TableNames.Name
        ) {
            (self.table, self.kind) = (table, kind)
            (tableName, databaseName) = (name.table, name.schema)
            wanted = audience.listeners
                .filter { $0.kinds.contains { $0.contains(kind, tableName: name.table) } }.map(\.registration)
            wantedReferences = wanted.map { Unretained($0) }
            discerningRegistration = wanted.first { $0.discerning != nil }
            hasOthers = wanted.contains { $0.discerning == nil }
            mayHaveMoved =
                kind == .update && audience.movedTables.contains(CaseInsensitiveName(name.table))
        }
    }

    /// The route of the last change.
    @exclusivity(unchecked) private var lastRoute: Route? {
        didSet { lastReference = lastRoute.map { Unretained($0) } }
    }
    private var lastReference: Unretained<Route>?

    init(_ listeners: [Listener], movedTables: Set<CaseInsensitiveName> = []) {
        self.listeners = listeners
        self.movedTables = movedTables
        needsPreUpdateHook = listeners.contains { !$0.registration.options.isEmpty }
        wantsValues = listeners.contains { $0.registration.options.contains(.rowValues) }
    }

    /// Whether the broker keeps this audience until the transaction ends, because runs and events
    /// refer to it.
    var isKept = false

    /// Runs a function with the route of a change, without retaining the route.
    func withRoute<Result>(
        _ kind: DatabaseEvent.Kind, _ table: Int32, _ tables: @autoclosure () -> TableNames,
        _ body: (Route) -> Result
    ) -> Result {
        if let lastReference, lastReference.use({ $0.table == table && $0.kind == kind }) {
            return lastReference.use(body)
        }
        return body(findRoute(kind, table, tables()))
    }

    @inline(never)
    private func findRoute(_ kind: DatabaseEvent.Kind, _ table: Int32, _ tables: TableNames) -> Route {
        let route = Route(self, kind, table, tables.names[Int(table)])
        lastRoute = route
        return route
    }

    /// Reports a change that SQLite did not report.
    @inline(never)
    func tellUndetectedChange() {
        for listener in listeners where !listener.registration.isPaused {
            if let discerning = listener.registration.discerning {
                discerning.databaseDidChange(listener.kinds)
            } else {
                listener.registration.observer?.databaseDidChange()
            }
        }
    }
}

extension DatabaseEvent {
    init(_ kind: Kind, _ rowID: Int64, _ route: Audience.Route) {
        self.init(
            kind: kind, tableName: route.tableName, rowID: rowID, databaseName: route.databaseName,
            mayHaveMoved: route.mayHaveMoved)
    }
}
