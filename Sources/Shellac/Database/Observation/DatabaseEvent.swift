/// A kind of change that a statement may make. See ``TransactionObserver/observes(eventsOfKind:)``.
public enum DatabaseEventKind: Hashable, Sendable {
    /// Rows of the table are inserted.
    case insert(tableName: String)
    /// Rows of the table are deleted.
    case delete(tableName: String)
    /// Rows of the table are updated. The columns are those that the statement names, whether or
    /// not their values change, and the generated columns of the table.
    case update(tableName: String, columnNames: Set<String>)

    /// The name of the table, as it was created.
    public var tableName: String {
        switch self {
        case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
        }
    }
}

/// A row that was inserted, updated or deleted. See
/// ``TransactionObserver/databaseDidChange(with:)``.
public struct DatabaseEvent: Hashable, Sendable {
    /// The kind of change to a row.
    public enum Kind: String, Hashable, Sendable, CustomStringConvertible {
        /// The row was inserted.
        case insert
        /// The row was updated.
        case update
        /// The row was deleted.
        case delete

        public var description: String { rawValue }
    }

    /// The kind of change.
    public let kind: Kind
    /// The name of the table, as it was created.
    public let tableName: String
    /// The row id. The new one for an updated row.
    public let rowID: Int64
    /// The name of the database: `main`, `temp`, or the name of an attached one.
    public let databaseName: String
    /// Whether the statement names the row id among the updated columns. The row may then have had
    /// another id.
    var mayHaveMoved = false
    /// Whether the row belongs to a WITHOUT ROWID table.
    var hasNoRowID = false

    /// Returns an event that can be kept. (This event can be kept, too, because it is a value.)
    public func copy() -> DatabaseEvent { self }
}

extension DatabaseEventKind {
    /// Returns the kinds of changes that a statement may make, in a stable order. SQLite does not
    /// report changes to its own tables.
    static func kinds(of effects: StatementEffects) -> [DatabaseEventKind] {
        var kinds: [DatabaseEventKind] = []
        var columns: [String: Set<String>] = [:]
        for write in effects.writes {
            switch write {
            case .insert(let table): kinds.append(.insert(tableName: table))
            case .delete(let table): kinds.append(.delete(tableName: table))
            case .update(let table, let column): columns[table, default: []].insert(column)
            }
        }
        kinds += columns.map { .update(tableName: $0, columnNames: $1) }
        kinds.removeAll { kind in
            // The tables of SQLite, and ours.
            CaseInsensitiveName.matches(String(kind.tableName.prefix(7)), "sqlite_")
                || OwnName.contains(kind.tableName)
        }
        return kinds.sorted { ($0.tableName, $0.order) < ($1.tableName, $1.order) }
    }

    private var order: Int {
        switch self {
        case .insert: 0
        case .update: 1
        case .delete: 2
        }
    }

    /// Whether an event is of this kind.
    func contains(_ kind: DatabaseEvent.Kind, tableName: String) -> Bool {
        switch (self, kind) {
        case (.insert(let name), .insert), (.delete(let name), .delete), (.update(let name, _), .update):
            name == tableName
        default: false
        }
    }
}
