/// An observer, and how long it is told.
final class Observation {
    let extent: TransactionObservationExtent
    let options: TransactionObservationOptions
    /// What identifies the observer, also when it is gone.
    let identifier: ObjectIdentifier
    private weak var weakObserver: (any TransactionObserver)?
    @exclusivity(unchecked) private var strongObserver: (any TransactionObserver)?

    /// Whether the observer was removed: it may still be on a list that is being walked.
    @exclusivity(unchecked) private(set) var isRemoved = false
    /// Whether the transaction has ended that it was to observe: it is told so, and nothing else.
    @exclusivity(unchecked) var hasEnded = false
    /// Whether the observer was added when a transaction was about to end: it hears of the next one.
    @exclusivity(unchecked) var isLate = false
    /// Whether no changes are told until the end of the transaction.
    @exclusivity(unchecked) var isPaused = false

    init(
        _ observer: any TransactionObserver, extent: TransactionObservationExtent,
        options: TransactionObservationOptions
    ) {
        self.extent = extent
        self.options = options
        identifier = ObjectIdentifier(observer)
        weakObserver = extent == .observerLifetime ? observer : nil
        strongObserver = extent == .observerLifetime ? nil : observer
    }

    /// The observer is told nothing any more, and let go of: what is kept of statements may keep this.
    func remove() {
        isRemoved = true
        let observer = strongObserver
        strongObserver = nil
        withExtendedLifetime(observer) {}
    }

    /// The observer, as long as it lives and is to be told.
    @inline(__always)
    var observer: (any TransactionObserver)? {
        if isRemoved { return nil }
        if let strongObserver { return strongObserver }
        return weakObserver
    }

    /// Tells an event to the observer, if it is still there.
    @inline(__always)
    func tell(_ event: DatabaseEvent) {
        if !isPaused, let observer { Self.tell(observer, event) }
    }

    /// (An object that is held weakly is slow to retain.)
    @inline(never)
    private static func tell(_ observer: any TransactionObserver, _ event: DatabaseEvent) {
        observer.databaseDidChange(with: event)
    }

    /// What the observer answers to 64 kinds of changes, as bits. Nil where the observer is gone.
    ///
    /// An object that is held weakly is slow to retain, and it is retained once here.
    @inline(__always)
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

/// Those who want to hear of a statement's changes.
final class Audience {
    struct Listener {
        let observation: Observation
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
        let wanted: [Observation]
        /// The same, to be followed without counting.
        let wantedReferences: [Unmanaged<Observation>]
        let mayHaveMoved: Bool

        fileprivate init(
            _ audience: Audience, _ kind: DatabaseEvent.Kind, _ table: Int32, _ name: TableNames.Name
        ) {
            (self.table, self.kind) = (table, kind)
            (tableName, databaseName) = (name.table, name.schema)
            wanted = audience.listeners
                .filter { $0.kinds.contains { $0.contains(kind, tableName: name.table) } }.map(\.observation)
            wantedReferences = wanted.map { Unmanaged.passUnretained($0) }
            mayHaveMoved =
                kind == .update && audience.movedTables.contains(CaseInsensitiveName(name.table))
        }
    }

    /// The route of the last change.
    @exclusivity(unchecked) private var lastRoute: Route? {
        didSet { lastReference = lastRoute.map { Unmanaged.passUnretained($0) } }
    }
    @exclusivity(unchecked) private var lastReference: Unmanaged<Route>?

    init(_ listeners: [Listener], movedTables: Set<CaseInsensitiveName> = []) {
        self.listeners = listeners
        self.movedTables = movedTables
        needsPreUpdateHook = listeners.contains { !$0.observation.options.isEmpty }
        wantsValues = listeners.contains { $0.observation.options.contains(.rowValues) }
    }

    @inline(__always)
    func route(
        _ kind: DatabaseEvent.Kind, _ table: Int32, _ tables: @autoclosure () -> TableNames
    ) -> Route {
        withRoute(kind, table, tables()) { $0 }
    }

    /// Runs a function with the same, which is not counted.
    @inline(__always)
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
}

/// What is kept of a statement between two of its runs: what it may do, and who wanted to hear of it last time.
final class ObservationPlan {
    /// The kinds that all observers are asked for, and then those that only observers of hidden changes are asked for.
    let kinds: [DatabaseEventKind]
    let openKindCount: Int
    /// What the observers answered last time, as bits, and the list of observers that was asked. Each has one number,
    /// or another one for each 64 kinds.
    @exclusivity(unchecked) var answers: [UInt64] = []
    @exclusivity(unchecked) var version: UInt = 0
    /// When they were asked: see ``Broker/moment``.
    @exclusivity(unchecked) var moment: UInt = 0
    /// The state of the schema in which the columns of the tables were learnt.
    @exclusivity(unchecked) var schemaGeneration: UInt64 = 0
    @exclusivity(unchecked) var audience: Audience? {
        didSet {
            audienceReference = audience.map { Unmanaged.passUnretained($0) }
            needsPreUpdateHook = audience?.needsPreUpdateHook ?? false
        }
    }
    @exclusivity(unchecked) private(set) var audienceReference: Unmanaged<Audience>?
    @exclusivity(unchecked) private(set) var needsPreUpdateHook = false

    /// How many numbers keep the answers of an observer.
    let wordCount: Int

    /// Keeps answers. Returns whether they differ from those of last time.
    @inline(__always)
    func keep(_ word: UInt64, at index: Int) -> Bool {
        // (One that told changes where there are none would only make the audience once more.)
        if answers[index] == word { return false }
        answers[index] = word
        return true
    }

    /// Whether an observer wanted a kind.
    func answer(of observer: Int, to kind: Int) -> Bool {
        answers[observer * wordCount + kind / 64] & 1 << UInt64(kind % 64) != 0
    }

    init(_ effects: StatementEffects, _ database: Database) {
        let open = DatabaseEventKind.kinds(of: effects).map { kind in
            guard case .update(let table, var columns) = kind else { return kind }
            columns.formUnion(database.generatedColumns(of: table, in: effects.databases))
            return .update(tableName: table, columnNames: columns)
        }
        openKindCount = open.count
        // Every insertion, and every update, may replace rows.
        var hidden = Set(open.map { DatabaseEventKind.delete(tableName: $0.tableName) })
        hidden.subtract(open)
        kinds = open + hidden.sorted { $0.tableName < $1.tableName }
        wordCount = (kinds.count + 63) / 64
    }
}

/// A change that waits to be told.
struct HeldEvent {
    let audience: Audience
    let rowID: Int64
    /// The number of the table's name: see ``TableNames``.
    let table: Int32
    let kind: DatabaseEvent.Kind
    /// Whether a statement made it that ran inside of the one whose event it is now.
    var isNested = false
    /// Whether only the pre-update hook has told it.
    var isHidden = false
    var values: RowValues?
    /// Whether something was changed that SQLite does not tell.
    var isUndetected = false

    init(
        audience: Audience, rowID: Int64, table: Int32, kind: DatabaseEvent.Kind, isHidden: Bool = false,
        values: RowValues? = nil
    ) {
        self.audience = audience
        self.rowID = rowID
        self.table = table
        self.kind = kind
        self.isHidden = isHidden
        self.values = values
    }

    /// Something was changed that SQLite does not tell.
    init(undetectedBy audience: Audience) {
        self.init(audience: audience, rowID: 0, table: -1, kind: .update)
        isUndetected = true
    }
}

/// The values of a changed row, before and after.
final class RowValues {
    let columns: StoredColumns
    let initialRowID: Int64?
    let finalRowID: Int64?
    let initial: [DatabaseValue]?
    let final: [DatabaseValue]?

    init(_ row: ChangingRow, _ columns: StoredColumns) {
        self.columns = columns
        initial = row.initialValues(columns)
        final = row.finalValues(columns)
        initialRowID = columns.hasRowID && initial != nil ? row.initialRowID : nil
        finalRowID = columns.hasRowID && final != nil ? row.finalRowID : nil
    }
}

extension Database {
    /// The generated columns of a table: they may change with any other.
    fileprivate func generatedColumns(of table: String, in databases: Set<String>) -> [String] {
        databases.flatMap { name -> [String] in
            let columns = try? schema.table(table, in: name)?.allColumns
            return columns?.filter(\.isGenerated).map(\.name) ?? []
        }
    }
}
