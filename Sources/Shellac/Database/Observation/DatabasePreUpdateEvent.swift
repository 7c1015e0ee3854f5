/// A row that was inserted, updated or deleted, with its values. See
/// ``TransactionObserver/databaseWillChange(with:)``.
public struct DatabasePreUpdateEvent: Hashable, Sendable {
    /// What is done to the row.
    public let kind: DatabaseEvent.Kind
    /// The name of the table, as it was created.
    public let tableName: String
    /// The name of the database: `main`, `temp`, or that of an attached one.
    public let databaseName: String
    /// The row's id before the change: nil for an insertion, and in a WITHOUT ROWID table.
    public let initialRowID: Int64?
    /// The row's id after the change: nil for a deletion, and in a WITHOUT ROWID table.
    public let finalRowID: Int64?
    /// The names of the columns, in the order of the values. Virtual generated columns have none: SQLite does not store
    /// them.
    public let columnNames: [String]
    /// The values before the change: nil for an insertion.
    public let initialDatabaseValues: [DatabaseValue]?
    /// The values after the change: nil for a deletion.
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

    /// The value of a column before the change. Nil for an insertion, and where there is no such column.
    ///
    /// - Parameter name: The name of the column, whatever its case. Virtual generated columns have no value.
    public func initialDatabaseValue(named name: String) -> DatabaseValue? {
        index(of: name).flatMap { initialDatabaseValues?[$0] }
    }

    /// The value of a column after the change. Nil for a deletion, and where there is no such column.
    ///
    /// - Parameter name: The name of the column, whatever its case. Virtual generated columns have no value.
    public func finalDatabaseValue(named name: String) -> DatabaseValue? {
        index(of: name).flatMap { finalDatabaseValues?[$0] }
    }

    private func index(of name: String) -> Int? {
        columnNames.firstIndex { CaseInsensitiveName.matches($0, name) }
    }

    /// An event that can be kept. (So can this one: it is a value.)
    public func copy() -> DatabasePreUpdateEvent { self }
}

/// What an observer wants to hear of beside the changes that all observers hear of.
///
/// SQLite tells it by its pre-update hook, which not every SQLite has: asking for it throws where it is missing.
/// A connection has one such hook: do not use SQLite's session extension on it meanwhile.
public struct TransactionObservationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The values of the changed rows, before and after: ``TransactionObserver/databaseWillChange(with:)`` is called.
    public static let rowValues = TransactionObservationOptions(rawValue: 1)

    /// The changes that SQLite hides from observers: the deletion of rows that `ON CONFLICT REPLACE` replaces, and all
    /// changes to WITHOUT ROWID tables.
    ///
    /// A statement that inserts or updates may delete rows this way:
    /// ``TransactionObserver/observes(eventsOfKind:)`` is asked for the deletions, too. The ``DatabaseEvent/rowID``
    /// of a row in a WITHOUT ROWID table is 0: use its values to tell it from others.
    public static let hiddenChanges = TransactionObservationOptions(rawValue: 2)
}
