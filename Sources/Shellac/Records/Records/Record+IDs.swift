// Class records are found by `id` without being Identifiable: also those whose `id` is no value, but the ObjectIdentifier that Swift
// gives to classes.

extension FetchableRecord where Self: Record {
    /// Fetches the record with a primary key, or nil.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, a
    ///   ``DatabaseError`` when there is no such table, and what making a record throws: mostly a ``RowDecodingError``.
    @_disfavoredOverload  // where the type is Identifiable, its own ID is meant
    public static func fetchOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Self? {
        try fetchOne(db, key: id)
    }

    /// Finds the record with a primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    @_disfavoredOverload
    public static func find(_ db: Database, id: some DatabaseValueConvertible) throws -> Self {
        try find(db, key: id)
    }

    /// Fetches the records with some primary keys as an array, in no particular order. Keys without a record are
    /// skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The values of the primary key, which has one column. Nils find nothing. Dates, data and UUIDs are looked for as the
    ///     type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, a
    ///   ``DatabaseError`` when there is no such table, and what making a record throws: mostly a ``RowDecodingError``.
    @_disfavoredOverload
    public static func fetchAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> [Self] { try fetchAll(db, keys: ids) }

    /// Whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table.
    @_disfavoredOverload
    public static func exists(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try exists(db, key: id)
    }

    /// Deletes the row with a primary key. Returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @_disfavoredOverload @discardableResult
    public static func deleteOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try deleteOne(db, key: id)
    }

    /// Deletes the rows with some primary keys. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The values of the primary key, which has one column. Nils find nothing. Dates, data and UUIDs are looked for as the
    ///     type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @_disfavoredOverload @discardableResult
    public static func deleteAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> Int { try deleteAll(db, keys: ids) }

    /// Requests the row with a primary key.
    ///
    /// - Parameter id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for
    ///   as the type stores it.
    @_disfavoredOverload
    public static func filter(id: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: id)
    }

    /// Requests the rows with some primary keys.
    ///
    /// - Parameter ids: The values of the primary key, which has one column. Nils find nothing. Dates, data and UUIDs are looked
    ///   for as the type stores them.
    @_disfavoredOverload
    public static func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> QueryInterfaceRequest<Self> { all().filter(keys: ids) }
}

extension RefinableRequest where RowDecoder: Record {
    /// Restricts the request to the row with a primary key.
    ///
    /// - Parameter id: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for
    ///   as the type stores it.
    @_disfavoredOverload
    public func filter(id: some DatabaseValueConvertible) -> Refined {
        filter(key: id)
    }

    /// Restricts the request to the rows with some primary keys.
    ///
    /// - Parameter ids: The values of the primary key, which has one column. Nils find nothing. Dates, data and UUIDs are looked
    ///   for as the type stores them.
    @_disfavoredOverload
    public func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> Refined { filter(keys: ids) }
}
