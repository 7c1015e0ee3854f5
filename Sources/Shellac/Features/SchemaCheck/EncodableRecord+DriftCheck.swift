// Whether records fit their tables. A program asks in its own tests: each release changes both.

extension FetchableRecord where Self: EncodableRecord & TableRecord {
    /// Compares what the type encodes, and what it reads from rows, with its table.
    ///
    /// ```swift
    /// @Test func playersFitTheirTable() throws {
    ///     let dbQueue = try DatabaseQueue()
    ///     try migrator.migrate(dbQueue)
    ///     try dbQueue.read { db in try Player.checkSchema(db) }
    /// }
    /// ```
    ///
    /// These are found:
    ///
    /// - a missing table, and missing columns, also those that are read as optionals, which are nil without an error
    /// - properties of a class that have the name of a column, and no line in ``Record/columns(_:)``
    /// - generated columns that are encoded
    /// - NOT NULL columns without a default, and primary keys, that are not encoded
    /// - defaults that the record overwrites with NULL
    /// - foreign keys without an index
    /// - columns of another affinity than the values that are encoded in them
    /// - default filters that cannot be asked, soft deletes without their column, or that cannot cascade, and unique indexes that count
    ///   deleted rows
    /// - ``Record/databaseKinds`` that the table cannot tell, and rows of unknown kinds
    /// - counters that no triggers keep, and counts that are wrong
    /// - cases of an enum that the column's CHECK refuses, and values in the column that are no cases
    ///
    /// To see what the type encodes, a record is made from the first row of its table, or from a row of invented values
    /// where there is none. A type that refuses these, as one that reads names of colours might, says so:
    /// fill the table, or call ``EncodableRecord/checkSchema(_:)`` on an instance. Nothing is written.
    ///
    /// - Throws: a ``SchemaDriftError`` with all faults.
    public static func checkSchema(_ db: Database) throws {
        if let error = try SchemaDriftError(DriftCheck.faults(of: Self.self, in: db)) { throw error }
    }
}

extension EncodableRecord where Self: TableRecord {
    /// Compares what this record encodes with its table.
    ///
    /// ```swift
    /// let player = Player(id: 1, name: "Arthur", team: .red)
    /// try player.checkSchema(db)
    /// ```
    ///
    /// It finds what ``FetchableRecord/checkSchema(_:)`` finds, but for what is read. The columns that the record
    /// encodes as NULL have no affinity to check: give it values.
    ///
    /// - Throws: a ``SchemaDriftError`` with all faults, and what `encode(to:)` throws.
    public func checkSchema(_ db: Database) throws {
        if let error = try SchemaDriftError(DriftCheck.faults(of: self, in: db)) { throw error }
    }
}

extension Database {
    /// Compares what several types encode, and what they read from rows, with their tables.
    ///
    /// ```swift
    /// try dbQueue.read { db in
    ///     try db.checkSchema(of: Player.self, Team.self, Game.self)
    /// }
    /// ```
    ///
    /// See ``FetchableRecord/checkSchema(_:)`` for what is found.
    ///
    /// - Parameter types: The types. All are compared, also where one has faults.
    /// - Throws: a ``SchemaDriftError`` with the faults of all types.
    public func checkSchema(
        of types: any (FetchableRecord & EncodableRecord & TableRecord).Type...
    ) throws {
        var faults: [SchemaFault] = []
        for type in types { faults += try DriftCheck.faults(of: type, in: self) }
        if let error = SchemaDriftError(faults) { throw error }
    }
}
