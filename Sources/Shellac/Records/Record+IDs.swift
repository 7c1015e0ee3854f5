// Class records are found by `id` without being Identifiable: also those whose `id` is no value, but the ObjectIdentifier that Swift
// gives to classes.

extension FetchableRecord where Self: Record {
    /// Fetches the record with a primary key, or nil.
    ///
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, a
    ///   ``DatabaseError`` when there is no such table, and what making a record throws: mostly a ``RowDecodingError``.
    @_disfavoredOverload  // where the type is Identifiable, its own ID is meant
    public static func fetchOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Self? {
        try fetchOne(db, key: id)
    }

    /// Finds the record with a primary key.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is none.
    @_disfavoredOverload
    public static func find(_ db: Database, id: some DatabaseValueConvertible) throws -> Self {
        try find(db, key: id)
    }

    /// Fetches the records with some primary keys as an array, in no particular order. Keys without a record are
    /// skipped.
    ///
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, a
    ///   ``DatabaseError`` when there is no such table, and what making a record throws: mostly a ``RowDecodingError``.
    @_disfavoredOverload
    public static func fetchAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> [Self] { try fetchAll(db, keys: ids) }

    /// Whether there is a row with a primary key.
    ///
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table.
    @_disfavoredOverload
    public static func exists(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try exists(db, key: id)
    }

    /// Deletes the row with a primary key. Returns whether there was one.
    ///
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @_disfavoredOverload @discardableResult
    public static func deleteOne(_ db: Database, id: some DatabaseValueConvertible) throws -> Bool {
        try deleteOne(db, key: id)
    }

    /// Deletes the rows with some primary keys. Returns how many there were.
    ///
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @_disfavoredOverload @discardableResult
    public static func deleteAll(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> Int { try deleteAll(db, keys: ids) }

    /// Requests the row with a primary key. Nil finds nothing.
    @_disfavoredOverload
    public static func filter(id: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: id)
    }

    /// Requests the rows with some primary keys.
    @_disfavoredOverload
    public static func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> QueryInterfaceRequest<Self> { all().filter(keys: ids) }
}

extension RefinableRequest where RowDecoder: Record {
    /// Restricts the request to the row with a primary key. Nil finds nothing.
    @_disfavoredOverload
    public func filter(id: some DatabaseValueConvertible) -> Refined {
        filter(key: id)
    }

    /// Restricts the request to the rows with some primary keys.
    @_disfavoredOverload
    public func filter(
        ids: some Sequence<some DatabaseValueConvertible>
    ) -> Refined { filter(keys: ids) }
}
