/// A row change of a run, waiting to be delivered.
struct RowEvent {
    /// The interested observers. The broker keeps the audience until the transaction has ended.
    let audience: Unretained<Audience>
    let rowID: Int64
    /// The number of the table's name: see ``TableNames``.
    let table: Int32
    let kind: DatabaseEvent.Kind
    /// The detail that the discerning observer requested: see ``RowFilteringObserver``.
    let wish: RowInterest
    var marks: Marks
    private(set) var values: RowValues?

    struct Marks: OptionSet {
        let rawValue: UInt8

        /// The change was made by a statement that ran inside of the one that now has the event.
        static let nested = Marks(rawValue: 1)
        /// Only the pre-update hook has reported it.
        static let hidden = Marks(rawValue: 2)
        /// A change that SQLite does not report.
        static let undetected = Marks(rawValue: 4)
    }

    init(
        audience: Unretained<Audience>, rowID: Int64, table: Int32, kind: DatabaseEvent.Kind,
        marks: Marks = [], values: RowValues? = nil, wish: RowInterest = .anything
    ) {
        self.audience = audience
        self.rowID = rowID
        self.table = table
        self.kind = kind
        self.marks = marks
        self.values = values
        self.wish = wish
    }

    /// Creates an event for a change that SQLite does not report.
    init(undetectedBy audience: Unretained<Audience>) {
        self.init(audience: audience, rowID: 0, table: -1, kind: .update, marks: .undetected)
    }
}

/// The values of a changed row, before and after.
final class RowValues: Sendable {
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

/// The events of a run. Their memory has a single owner, and the next run uses it again.
struct EventBuffer: ~Copyable {
    private(set) var count = 0
    private var capacity = 0
    private var base: UnsafeMutablePointer<RowEvent>?
    /// Whether an event has values, which must be released with it.
    private var hasValues = false

    deinit {
        base?.deinitialize(count: count)
        base?.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// The events. The buffer is valid until one is added.
    var events: UnsafeBufferPointer<RowEvent> { UnsafeBufferPointer(start: base, count: count) }

    mutating func append(_ event: consuming RowEvent) {
        if count == capacity { grow() }
        if event.values != nil { hasValues = true }
        (base.unsafelyUnwrapped + count).initialize(to: event)
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        capacity = max(16, capacity * 2)
        let larger = UnsafeMutablePointer<RowEvent>.allocate(capacity: capacity)
        if let base {
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
        }
        base = larger
    }

    /// Removes the events. (A large buffer is freed.)
    mutating func removeAll() {
        if hasValues { releaseValues() }
        count = 0
        if capacity > 256 { shrink() }
    }

    @inline(never)
    private mutating func releaseValues() {
        base?.deinitialize(count: count)
        hasValues = false
    }

    @inline(never)
    private mutating func shrink() {
        base?.deallocate()
        (base, capacity) = (nil, 0)
    }

    /// Replaces these events with others.
    mutating func replace(with events: [RowEvent]) {
        removeAll()
        for event in events { append(event) }
    }

    /// Marks an event that the pre-update hook has just reported as no longer hidden. Returns
    /// whether there is one.
    mutating func show(rowID: Int64, table: Int32, kind: DatabaseEvent.Kind) -> Bool {
        let hidden = events.lastIndex {
            $0.marks.contains(.hidden) && $0.rowID == rowID && $0.table == table && $0.kind == kind
        }
        guard let hidden else { return false }
        base.unsafelyUnwrapped[hidden].marks.remove(.hidden)
        return true
    }
}
