/// An observer of an upper layer that decides for each row how much it needs to know.
///
/// It decides inside of SQLite's hook.
///
/// Rows that it does not need are not buffered, so irrelevant rows cost neither memory nor time. It
/// receives rows through a method of its own instead of the one of other observers.
protocol RowFilteringObserver: TransactionObserver {
    /// Returns how much the observer needs to know about a row that is about to change. The
    /// connection must not be used.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - route: The table, and the kind of change.
    ///   - columns: The columns of the table, if they are known.
    ///   - generation: The state of the schema that the columns belong to.
    func wish(
        for row: ChangingRow, _ route: Audience.Route, _ columns: StoredColumns?, generation: UInt64
    ) -> RowInterest

    /// Called for a needed row whose change is final within the transaction: its statement has
    /// ended, and so have the savepoints around it.
    func rowDidChange(_ event: DatabaseEvent, _ values: RowValues?, _ wish: RowInterest)

    /// Called when rows may have changed in a way that SQLite does not report.
    func databaseDidChange(_ kinds: [DatabaseEventKind])

    /// Called when a statement has run against another schema than expected, so its changes are
    /// unknown. The end of a transaction follows.
    func schemaMayHaveChanged()

    /// Called after a statement that is no transaction, such as VACUUM. Row ids may have changed.
    func databaseMayHaveChanged()
}

/// The detail that a ``RowFilteringObserver`` needs about a row.
enum RowInterest: UInt8 {
    /// Nothing.
    case nothing
    /// The fact that it was changed.
    case row
    /// Its values, before and after.
    case values
    /// The fact that some row was changed. The observer was not asked, or has already requested too
    /// much.
    case anything
}
