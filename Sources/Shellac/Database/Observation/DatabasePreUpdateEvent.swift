/// A changed row with its values: see ``TransactionObserver/databaseWillChange(with:)``.
///
/// The row was inserted, updated or deleted.
public struct DatabasePreUpdateEvent: Hashable, Sendable {
    /// The kind of change.
    public let kind: DatabaseEvent.Kind
    /// The name of the table, as it was created.
    public let tableName: String
    /// The name of the database: `main`, `temp`, or the name of an attached one.
    public let databaseName: String
    /// The row id before the change. Nil for an insertion, and in a WITHOUT ROWID table.
    public let initialRowID: Int64?
    /// The row id after the change. Nil for a deletion, and in a WITHOUT ROWID table.
    public let finalRowID: Int64?
    /// The names of the columns, in the order of the values. Virtual generated columns are left
    /// out: SQLite does not store their values.
    public let columnNames: [String]
    /// The values before the change. Nil for an insertion.
    public let initialDatabaseValues: [DatabaseValue]?
    /// The values after the change. Nil for a deletion.
    public let finalDatabaseValues: [DatabaseValue]?

    init(_ route: Audience.Route, _ values: RowValues) {
        kind = route.kind
        tableName = route.tableName
        databaseName = route.databaseName
        initialRowID = values.initialRowID
        finalRowID = values.finalRowID
        columnNames = values.columns.names
        initialDatabaseValues = values.initial
        finalDatabaseValues = values.final
    }

    /// Returns the value of a column before the change. Nil for an insertion, and if there is no
    /// such column.
    ///
    /// - Parameter name: The name of the column, in any case. Virtual generated columns have no
    ///   value.
    public func initialDatabaseValue(named name: String) -> DatabaseValue? {
        index(of: name).flatMap { initialDatabaseValues?[$0] }
    }

    /// Returns the value of a column after the change. Nil for a deletion, and if there is no such
    /// column.
    ///
    /// - Parameter name: The name of the column, in any case. Virtual generated columns have no
    ///   value.
    public func finalDatabaseValue(named name: String) -> DatabaseValue? {
        index(of: name).flatMap { finalDatabaseValues?[$0] }
    }

    private func index(of name: String) -> Int? {
        columnNames.firstIndex { CaseInsensitiveName.matches($0, name) }
    }

    /// Returns an event that can be kept. (This event can be kept, too, because it is a value.)
    public func copy() -> DatabasePreUpdateEvent { self }
}

/// Further information that an observer can request.
///
/// SQLite reports it through its pre-update hook, which not every SQLite has. If the hook is
/// missing, requesting it throws an error. A connection has one such hook: do not use SQLite's
/// session extension on it at the same time.
public struct TransactionObservationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The values of the changed rows, before and after:
    /// ``TransactionObserver/databaseWillChange(with:)`` is called.
    public static let rowValues = TransactionObservationOptions(rawValue: 1)

    /// The changes that SQLite hides from observers: the deletion of rows that
    /// `ON CONFLICT REPLACE` replaces, and all changes to WITHOUT ROWID tables.
    ///
    /// A statement that inserts or updates may delete rows this way. So
    /// ``TransactionObserver/observes(eventsOfKind:)`` is called for the deletions, too. The
    /// ``DatabaseEvent/rowID`` of a row in a WITHOUT ROWID table is 0. Use its values to
    /// distinguish it from others.
    public static let hiddenChanges = TransactionObservationOptions(rawValue: 2)
}
