// Registers tables for stamps by triggers, so that bulk updates and raw SQL are stamped too.

extension Database {
    /// Stamps the tables of record types, whoever writes them.
    ///
    /// Call it after migrations. From then on bulk updates, raw SQL and cascades on this connection stamp what they
    /// write, by temporary triggers which call `stamp()`: an SQL function that returns ``transactionDate`` in the format
    /// of a `Date`, or NULL while stamps are suspended. The triggers follow the schema: they are there again after a
    /// table was dropped and created. What another connection writes is not stamped, unless it registers the types, too.
    /// When another connection changes the schema, the triggers follow at the next transaction, or when a statement
    /// cannot run without. What is registered does not follow transactions: it stays when one is rolled back.
    ///
    /// An insertion writes `created` and `updated` where they are NULL, or where they have a default value of
    /// `CURRENT_TIMESTAMP`; an update writes `updated` unless it changes one of both. An update that sets a stamp to what
    /// it was does not count as explicit. The update of a stamp is one more change for observers.
    ///
    /// Types that have one table may each declare some of its stamps. While a temporary table or view of the same name
    /// hides the table, it is not stamped, since the statements of a trigger cannot say which database they mean: the log
    /// tells (``Database/logError``).
    ///
    /// - Parameter types: The types. Where one of them has no stamps, this traps.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, for views, virtual tables, and tables that a
    ///   temporary one hides, for columns of STRICT tables that hold no text, and where another type has declared other
    ///   stamps for the same table.
    public func register(_ types: any MutablePersistableRecord.Type...) throws { try register(types) }

    func register(_ types: [any MutablePersistableRecord.Type]) throws {
        checkAccess()
        for type in types where type.databaseStamps.isEmpty {
            Misuse.trap(
                "\(type) was registered, and has no stamps. Declare them by `databaseStamps`, or do not register it."
            )
        }
        try stamps.register(types)
    }

    /// Stamps a table, whoever writes it, in place of what was registered for it before.
    ///
    /// ```swift
    /// try db.register(DatabaseStamps(updated: "updatedAt"), on: "player")
    /// ```
    ///
    /// - Parameters:
    ///   - stamps: The stamps. Those without any column end the stamping of the table.
    ///   - tableName: The name of the table, which is in `main`.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, and for the other tables and columns that
    ///   ``Database/register(_:)`` refuses.
    public func register(_ stamps: DatabaseStamps, on tableName: String) throws {
        checkAccess()
        try self.stamps.register(stamps, on: tableName)
    }
}

extension DatabaseWriter {
    /// Stamps the tables of record types, whoever writes them on the writing connection: see ``Database/register(_:)``.
    ///
    /// ```swift
    /// try dbQueue.register(Player.self, Team.self)
    /// ```
    ///
    /// - Parameter types: The types. Where one of them has no stamps, this traps.
    /// - Throws: what ``Database/register(_:)`` throws.
    public func register(_ types: any MutablePersistableRecord.Type...) throws {
        try writeWithoutTransaction { db in try db.register(types) }
    }

    /// Stamps a table, whoever writes it on the writing connection, in place of what was registered for it before.
    ///
    /// - Parameters:
    ///   - stamps: The stamps. Those without any column end the stamping of the table.
    ///   - tableName: The name of the table, which is in `main`.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, and for the other tables and columns that
    ///   ``Database/register(_:)`` refuses.
    public func register(_ stamps: DatabaseStamps, on tableName: String) throws {
        try writeWithoutTransaction { db in try db.register(stamps, on: tableName) }
    }
}
