/// Those who want to hear of a statement's changes.
final class Audience {
    struct Listener {
        let registration: ObserverRegistration
        /// The kinds of changes that it wants.
        let kinds: [DatabaseEventKind]
    }
    let listeners: [Listener]
    /// The tables whose row ids may be updated.
    let movedTables: Set<CaseInsensitiveName>
    /// Whether the pre-update hook is needed.
    let needsPreUpdateHook: Bool
    /// Whether somebody wants the values of rows.
    let wantsValues: Bool

    /// Where changes of a kind to a table go.
    final class Route {
        let table: Int32
        let kind: DatabaseEvent.Kind
        let tableName: String
        let databaseName: String
        let wanted: [ObserverRegistration]
        /// Those who want events, to be followed without counting.
        let wantedReferences: [Unretained<ObserverRegistration>]
        let mayHaveMoved: Bool
        /// The one of them who is asked of each row, and whether there are others.
        private let discerningRegistration: ObserverRegistration?
        let hasOthers: Bool

        /// Who is asked of each row, until it is removed.
        @inline(__always)
        var discerning: (any DiscerningObserver)? { discerningRegistration?.discerning }

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

    /// Whether the broker keeps this until the transaction has ended, for runs and events that refer to it.
    var isKept = false

    /// Runs a function with the route of a change, which is not counted.
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

    /// Tells that something was changed that SQLite does not tell.
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
