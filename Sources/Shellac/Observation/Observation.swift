/// An observer, and how long it is told.
final class Observation {
    let extent: TransactionObservationExtent
    /// What identifies the observer, also when it is gone.
    let identifier: ObjectIdentifier
    private weak var weakObserver: (any TransactionObserver)?
    private let strongObserver: (any TransactionObserver)?

    /// Whether the observer was removed: it may still be on a list that is being walked.
    @exclusivity(unchecked) var isRemoved = false
    /// Whether no changes are told until the end of the transaction.
    @exclusivity(unchecked) var isPaused = false

    init(_ observer: any TransactionObserver, extent: TransactionObservationExtent) {
        self.extent = extent
        identifier = ObjectIdentifier(observer)
        weakObserver = extent == .observerLifetime ? observer : nil
        strongObserver = extent == .observerLifetime ? nil : observer
    }

    /// The observer, as long as it lives and is to be told.
    @inline(__always)
    var observer: (any TransactionObserver)? { isRemoved ? nil : strongObserver ?? weakObserver }
}

/// Those who want to hear of a statement's changes.
final class Audience {
    struct Listener {
        let observation: Observation
        /// The kinds of changes that it wants.
        let kinds: [DatabaseEventKind]
    }
    let listeners: [Listener]

    init(_ listeners: [Listener]) { self.listeners = listeners }
}

/// What is kept of a statement between two of its runs: what it may do, and who wanted to hear of it last time.
final class ObservationPlan {
    let kinds: [DatabaseEventKind]
    /// What the observers answered last time, each for all kinds, and the list of observers that was asked.
    @exclusivity(unchecked) var answers: [Bool] = []
    @exclusivity(unchecked) var version: UInt = 0
    @exclusivity(unchecked) var audience: Audience?

    init(_ kinds: [DatabaseEventKind]) { self.kinds = kinds }
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
}

/// The names of tables that SQLite has told, each made a string once.
struct TableNames {
    struct Name {
        let schema: String
        let table: String
        fileprivate let schemaBytes: ContiguousArray<CChar>
        fileprivate let tableBytes: ContiguousArray<CChar>
    }
    private(set) var names: [Name] = []
    private var last = 0

    /// The number of a name.
    mutating func number(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Int32 {
        if last < names.count, Self.matches(names[last], schema, table) { return Int32(last) }
        last = names.firstIndex { Self.matches($0, schema, table) } ?? names.count
        if last == names.count {
            let (schema, table) = (String(cString: schema), String(cString: table))
            names.append(
                Name(
                    schema: schema, table: table, schemaBytes: schema.utf8CString,
                    tableBytes: table.utf8CString))
        }
        return Int32(last)
    }

    private static func matches(
        _ name: Name, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>
    ) -> Bool {
        areEqual(name.tableBytes, table) && areEqual(name.schemaBytes, schema)
    }

    private static func areEqual(_ bytes: ContiguousArray<CChar>, _ text: UnsafePointer<CChar>) -> Bool {
        var index = 0
        for byte in bytes {
            if text[index] != byte { return false }
            index += 1
        }
        return true
    }
}
