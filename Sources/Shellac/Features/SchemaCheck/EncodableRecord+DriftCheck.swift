// Checks that records fit their tables, for the program's own tests: each release changes both.

extension FetchableRecord where Self: EncodableRecord & TableRecord {
    /// Compares the columns that the type encodes, and those that it reads from rows, with its
    /// table.
    ///
    /// ```swift
    /// @Test func playersFitTheirTable() throws {
    ///     let dbQueue = try DatabaseQueue()
    ///     try migrator.migrate(dbQueue)
    ///     try dbQueue.read { db in try Player.checkSchema(db) }
    /// }
    /// ```
    ///
    /// It finds:
    ///
    /// - a missing table, and missing columns, even those that are read as optionals, which are nil
    ///   without an error
    /// - properties of a class that have the name of a column, but no line in
    ///   ``Record/columns(_:)``
    /// - generated columns that are encoded
    /// - NOT NULL columns without a default, and primary keys, that are not encoded
    /// - defaults that the record overwrites with NULL
    /// - foreign keys without an index
    /// - columns whose affinity does not fit the values that are encoded in them
    /// - default filters that SQLite cannot compile, soft deletes without their column, or that
    ///   cannot cascade, and unique indexes that count deleted rows
    /// - ``Record/databaseKinds`` that the table cannot distinguish, and rows of unknown kinds
    /// - counters that no triggers maintain, and wrong counts
    /// - cases of an enum that the column's CHECK refuses, and values in the column that are no
    ///   cases
    ///
    /// To find what the type encodes, the check makes a record from the first row of its table. If
    /// the table is empty, it makes one from invented values. A type may refuse these, as one that
    /// reads names of colours might. The error then says so: fill the table, or call
    /// ``EncodableRecord/checkSchema(_:)`` on an instance. Nothing is written.
    ///
    /// - Throws: A ``SchemaDriftError`` with all faults.
    public static func checkSchema(_ db: Database) throws {
        if let error = try SchemaDriftError(DriftCheck.faults(of: Self.self, in: db)) { throw error }
    }
}

extension EncodableRecord where Self: TableRecord {
    /// Compares the columns that this record encodes with its table.
    ///
    /// ```swift
    /// let player = Player(id: 1, name: "Arthur", team: .red)
    /// try player.checkSchema(db)
    /// ```
    ///
    /// It finds the faults of ``FetchableRecord/checkSchema(_:)``, except those of reading. Columns
    /// that the record encodes as NULL have no affinity to check: give it values.
    ///
    /// - Throws: A ``SchemaDriftError`` with all faults, and errors of `encode(to:)`.
    public func checkSchema(_ db: Database) throws {
        if let error = try SchemaDriftError(DriftCheck.faults(of: self, in: db)) { throw error }
    }
}

extension Database {
    /// Compares the columns that several types encode, and those that they read from rows, with
    /// their tables.
    ///
    /// ```swift
    /// try dbQueue.read { db in
    ///     try db.checkSchema(of: Player.self, Team.self, Game.self)
    /// }
    /// ```
    ///
    /// See ``FetchableRecord/checkSchema(_:)`` for the faults that it finds.
    ///
    /// - Parameter types: The types. All are compared, even if one has faults.
    /// - Throws: A ``SchemaDriftError`` with the faults of all types.
    public func checkSchema(
        of types: any (FetchableRecord & EncodableRecord & TableRecord).Type...
    ) throws {
        var faults: [SchemaFault] = []
        for type in types { faults += try DriftCheck.faults(of: type, in: self) }
        if let error = SchemaDriftError(faults) { throw error }
    }
}
