// Lookup of class records by `id`, even if they are not Identifiable.
//
// This includes classes whose `id` is not a value, but the ObjectIdentifier that Swift gives to
// classes.

extension FetchableRecord where Self: Record {
    /// Fetches the record with the given primary key, or nil.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data
    ///     or a UUID is searched in the form in which the type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns. A ``DatabaseError`` if there is no such table. Any error that making a
    ///   record throws, usually a ``RowDecodingError``.
    @_disfavoredOverload  // an Identifiable type uses its own ID
    public static func fetchOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Self? {
        try fetchOne(db, key: id)
    }

    /// Finds the record with the given primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data
    ///     or a UUID is searched in the form in which the type stores it.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is none.
    @_disfavoredOverload
    public static func find(_ db: Database, id: some DatabaseValueConvertible) throws -> Self {
        try find(db, key: id)
    }

    /// Fetches the records with the given primary keys as an array, in no particular order. Keys
    /// without a record are skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The values of the primary key, which has one column. Nils find nothing. Dates, data
    ///     and UUIDs are searched in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns. A ``DatabaseError`` if there is no such table. Any error that making a
    ///   record throws, usually a ``RowDecodingError``.
    @_disfavoredOverload
    public static func fetchAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> [Self] { try fetchAll(db, keys: ids) }

    /// Returns whether there is a row with the given primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data
    ///     or a UUID is searched in the form in which the type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    @_disfavoredOverload
    public static func exists(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try exists(db, key: id)
    }

    /// Deletes the row with the given primary key. Returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data
    ///     or a UUID is searched in the form in which the type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns. A ``DatabaseError`` if there is no such table, or if other rows refer to
    ///   the row by a foreign key that prevents the deletion.
    @_disfavoredOverload @discardableResult
    public static func deleteOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try deleteOne(db, key: id)
    }

    /// Deletes the rows with the given primary keys. Returns the number of deleted rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The values of the primary key, which has one column. Nils find nothing. Dates, data
    ///     and UUIDs are searched in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns. A ``DatabaseError`` if there is no such table, or if other rows refer to
    ///   a row by a foreign key that prevents the deletion.
    @_disfavoredOverload @discardableResult
    public static func deleteAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> Int { try deleteAll(db, keys: ids) }

    /// Requests the row with the given primary key.
    ///
    /// - Parameter id: The value of the primary key, which has one column. Nil finds nothing. A
    ///   date, data or a UUID is searched in the form in which the type stores it.
    @_disfavoredOverload
    public static func filter(id: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: id)
    }

    /// Requests the rows with the given primary keys.
    ///
    /// - Parameter ids: The values of the primary key, which has one column. Nils find nothing.
    ///   Dates, data and UUIDs are searched in the form in which the type stores them.
    @_disfavoredOverload
    public static func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> QueryInterfaceRequest<Self> { all().filter(keys: ids) }
}

extension RefinableRequest where RowDecoder: Record {
    /// Restricts the request to the row with the given primary key.
    ///
    /// - Parameter id: The value of the primary key, which has one column. Nil finds nothing. A
    ///   date, data or a UUID is searched in the form in which the type stores it.
    @_disfavoredOverload
    public func filter(id: some DatabaseValueConvertible) -> Refined {
        filter(key: id)
    }

    /// Restricts the request to the rows with the given primary keys.
    ///
    /// - Parameter ids: The values of the primary key, which has one column. Nils find nothing.
    ///   Dates, data and UUIDs are searched in the form in which the type stores them.
    @_disfavoredOverload
    public func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> Refined { filter(keys: ids) }
}
