// Cursors and sets of records found by their keys, and access by key to tables without a type.

extension FetchableRecord where Self: TableRecord {
    /// Returns a cursor over the records with the given composite keys, or values of a unique
    /// index. Keys without a record are skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values by columns, for one record after the other. A nil among them finds
    ///     nothing. The records come in this order.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` if several rows could
    ///   have the values. The cursor throws it when it reaches them.
    public static func fetchCursor(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> AnyCursor<Self> {
        var rest = keys.makeIterator()
        return AnyCursor {
            while let key = rest.next() {
                if let record = try fetchOne(db, key: key) { return record }
            }
            return nil
        }
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// Fetches the records with the given composite keys, as a set. Keys without a record are
    /// skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values by columns, for one record after the other. A nil among them finds
    ///     nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` if several rows could
    ///   have the values.
    public static func fetchSet(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Set<Self> { try Set(fetchAll(db, keys: keys)) }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// Returns a cursor over the records with the given ids, in no particular order. Ids without a
    /// record are skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The ids, which are the values of the primary key. Nils find nothing. UUIDs are
    ///     searched in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table. The cursor throws the
    ///   errors of its steps.
    public static func fetchCursor(_ db: Database, ids: some Sequence<ID>) throws -> AnyCursor<Self> {
        try fetchCursor(db, keys: ids)
    }
}

extension FetchableRecord where Self: Record {
    /// Returns a cursor over the records with the given primary keys, in no particular order. Keys
    /// without a record are skipped.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The values of the primary key, which has one column. Nils find nothing. Dates, data
    ///     and UUIDs are searched in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table. The cursor throws the
    ///   errors of its steps.
    @_disfavoredOverload
    public static func fetchCursor(
        _ db: Database, ids: some Sequence<some DatabaseValueConvertible>
    ) throws -> AnyCursor<Self> { try fetchCursor(db, keys: ids) }
}

// MARK: - Tables without a type

extension Table {
    /// Returns whether there is a row with the given primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    public func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try all().filter(key: key).exists(db)
    }

    /// Returns whether there is a row with the given composite primary key, or values of a unique
    /// index.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values by columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` if several rows could
    ///   have the values.
    public func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try all().filter(key: key).exists(db)
    }

    /// Deletes the row with the given primary key. Returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    @discardableResult
    public func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try all().filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the row with the given composite primary key, or values of a unique index. Returns
    /// whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values by columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` if several rows could
    ///   have the values.
    @discardableResult
    public func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try all().filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the rows with the given primary keys. Returns the number of deleted rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values of the primary key, which has one column. Nils find nothing.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    @discardableResult
    public func deleteAll(_ db: Database, keys: some Sequence<some DatabaseValueConvertible>) throws -> Int {
        try all().filter(keys: keys).deleteAll(db)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Returns whether there is a row with the given id.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The id, which is the value of the primary key. Nil finds nothing.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    public func exists(_ db: Database, id: RowDecoder.ID) throws -> Bool { try exists(db, key: id) }

    /// Deletes the row with the given id. Returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The id, which is the value of the primary key. Nil finds nothing.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` if the primary key has
    ///   several columns, and a ``DatabaseError`` if there is no such table.
    @discardableResult
    public func deleteOne(_ db: Database, id: RowDecoder.ID) throws -> Bool { try deleteOne(db, key: id) }
}
