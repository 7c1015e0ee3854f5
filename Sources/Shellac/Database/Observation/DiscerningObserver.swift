/// An observer of an upper layer that is asked of each row, inside of SQLite's hook, how much it wants to hear of it.
///
/// A row that it does not want is not kept until its statement stands: so rows that concern nobody cost neither memory nor
/// time. It is told rows by its own method, and not by those of other observers.
protocol DiscerningObserver: TransactionObserver {
    /// Returns how much is wanted of a row that is about to be changed. The connection must not be used.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - route: The table, and what is done to it.
    ///   - columns: The columns of the table, where they are known.
    ///   - generation: The state of the schema that they belong to.
    func wish(
        for row: ChangingRow, _ route: Audience.Route, _ columns: StoredColumns?, generation: UInt64
    ) -> RowWish

    /// A row was changed that was wanted: its statement, and the savepoints around it, stand.
    func rowDidChange(_ event: DatabaseEvent, _ values: RowValues?, _ wish: RowWish)

    /// Rows may have been changed that SQLite does not tell.
    func databaseDidChange(_ kinds: [DatabaseEventKind])

    /// A statement has run against another schema than it was known to: nothing is known of what it has changed. The
    /// end of a transaction follows.
    func schemaMayHaveChanged()

    /// A statement has run that is no transaction, as VACUUM: row ids may be others.
    func databaseMayHaveChanged()
}

/// How much a ``DiscerningObserver`` wants to hear of a row.
enum RowWish: UInt8 {
    /// Nothing.
    case nothing
    /// That it was changed.
    case row
    /// Its values, before and after.
    case values
    /// That a row was changed, whichever: it was not asked, or has wanted too much already.
    case anything
}
