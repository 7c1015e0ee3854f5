// Registers tables for stamps by triggers, so that bulk updates and raw SQL are stamped too.

extension Database {
    /// Stamps the tables of record types, for all kinds of writes.
    ///
    /// Call it after migrations. From then on bulk updates, raw SQL and cascades on this connection
    /// stamp the rows that they write. Temporary triggers do this, which call `stamp()`: an SQL
    /// function that returns ``transactionDate`` in the format of a `Date`, or NULL while stamps
    /// are suspended.
    ///
    /// The triggers follow the schema: they are created again after a table was dropped and
    /// created. Writes of another connection are not stamped, unless it registers the types, too.
    /// When another connection changes the schema, the triggers follow at the next transaction, or
    /// when a statement cannot run without them. The registration does not follow transactions: it
    /// stays when one is rolled back.
    ///
    /// An insertion writes `created` and `updated` if they are NULL, or if they have a default
    /// value of `CURRENT_TIMESTAMP`. An update writes `updated` unless it changes one of both. An
    /// update that sets a stamp to its present value does not count as explicit. The update of a
    /// stamp is one more change for observers.
    ///
    /// Several types of one table may each declare some of its stamps. The table is not stamped
    /// while a temporary table or view with the same name hides it. (The statements of a trigger
    /// cannot name a database.) The log then has a message (``Database/logError``).
    ///
    /// - Parameter types: The types. If one of them has no stamps, this traps.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, and for views, virtual
    ///   tables, and tables that a temporary one hides. Also for columns of STRICT tables that hold
    ///   no text, and if another type has declared other stamps for the same table.
    public func register(_ types: any MutablePersistableRecord.Type...) throws { try register(types) }

    func register(_ types: [any MutablePersistableRecord.Type]) throws {
        checkAccess()
        for type in types where type.databaseStamps.isEmpty {
            Misuse.trap(
                "\(type) has no stamps to register. Declare them in `databaseStamps`, or do not register the type."
            )
        }
        try stamps.register(types)
    }

    /// Stamps a table, for all kinds of writes. It replaces earlier registrations for the table.
    ///
    /// ```swift
    /// try db.register(DatabaseStamps(updated: "updatedAt"), on: "player")
    /// ```
    ///
    /// - Parameters:
    ///   - stamps: The stamps. If they have no column, the table is no longer stamped.
    ///   - tableName: The name of the table, which is in `main`.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, and for the other tables
    ///   and columns that ``Database/register(_:)`` refuses.
    public func register(_ stamps: DatabaseStamps, on tableName: String) throws {
        checkAccess()
        try self.stamps.register(stamps, on: tableName)
    }
}

extension DatabaseWriter {
    /// Stamps the tables of record types, for all kinds of writes on the writing connection: see
    /// ``Database/register(_:)``.
    ///
    /// ```swift
    /// try dbQueue.register(Player.self, Team.self)
    /// ```
    ///
    /// - Parameter types: The types. If one of them has no stamps, this traps.
    /// - Throws: The errors of ``Database/register(_:)``.
    public func register(_ types: any MutablePersistableRecord.Type...) throws {
        try writeWithoutTransaction { db in try db.register(types) }
    }

    /// Stamps the tables of record types, without blocking a thread: see
    /// ``Database/register(_:)``.
    ///
    /// - Parameter types: The types. If one of them has no stamps, this traps.
    /// - Throws: The errors of ``Database/register(_:)``, and `CancellationError`.
    public nonisolated(nonsending) func register(_ types: any MutablePersistableRecord.Type...) async throws {
        try await writeWithoutTransaction { db in try db.register(types) }
    }

    /// Stamps a table, for all kinds of writes on the writing connection. It replaces earlier
    /// registrations for the table.
    ///
    /// - Parameters:
    ///   - stamps: The stamps. If they have no column, the table is no longer stamped.
    ///   - tableName: The name of the table, which is in `main`.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, and for the other tables
    ///   and columns that ``Database/register(_:)`` refuses.
    public func register(_ stamps: DatabaseStamps, on tableName: String) throws {
        try writeWithoutTransaction { db in try db.register(stamps, on: tableName) }
    }

    /// Stamps a table, without blocking a thread.
    ///
    /// - Parameters:
    ///   - stamps: The stamps. If they have no column, the table is no longer stamped.
    ///   - tableName: The name of the table, which is in `main`.
    /// - Throws: The errors of the synchronous form, and `CancellationError`.
    public nonisolated(nonsending) func register(_ stamps: DatabaseStamps, on tableName: String) async throws
    {
        try await writeWithoutTransaction { db in try db.register(stamps, on: tableName) }
    }
}
