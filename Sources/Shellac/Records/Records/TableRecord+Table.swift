// Row counts, existence checks and deletions in a type's table, with conditions on keys.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Deleting rows by their type calls no callback of the records.

extension TableRecord {
    /// Fetches the number of rows in the table.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public static func fetchCount(_ db: Database) throws -> Int {
        _ = try plan(on: db)
        return try all().fetchCount(db)
    }

    // MARK: - Existence

    /// Returns whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. Dates, data
    ///     and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns, and a ``DatabaseError`` when there is no such table.
    public static func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try plan(on: db).checkKeyHasOneColumn()
        return try filter(key: key).exists(db)
    }

    /// Returns whether there is a row with a composite primary key, or with the values of a unique
    /// index.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values, by their columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could
    ///   have the values.
    public static func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        _ = try plan(on: db)
        return try filter(key: key).exists(db)
    }

    // MARK: - Deletion

    /// Deletes all rows of the table. Returns their number.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table, or when a foreign key of another
    ///   row prevents the deletion.
    @discardableResult
    public static func deleteAll(_ db: Database) throws -> Int {
        _ = try plan(on: db)
        return try all().deleteAll(db)
    }

    /// Deletes the row with a primary key. Returns whether there was one.
    ///
    /// ```swift
    /// let isDeleted = try Player.deleteOne(db, key: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. Dates, data
    ///     and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns. A ``DatabaseError`` when there is no such table, or when a foreign key of
    ///   another row prevents the deletion.
    @discardableResult
    public static func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        try plan(on: db).checkKeyHasOneColumn()
        return try filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the row with a composite primary key, or with the values of a unique index. Returns
    /// whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values, by their columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could
    ///   have the values.
    @discardableResult
    public static func deleteOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Bool {
        _ = try plan(on: db)
        return try filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the rows with the given primary keys. Returns the number of deleted rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values of the primary key, which has one column. Nils find nothing. Dates,
    ///     data and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns. A ``DatabaseError`` when there is no such table, or when a foreign key of
    ///   another row prevents the deletion.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: some Sequence<some DatabaseValueConvertible>
    ) throws -> Int {
        try keyLists(keys, on: db).reduce(0) { try $0 + filter(keys: $1).deleteAll(db) }
    }

    /// Deletes the rows with the given composite keys. Returns the number of deleted rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values by their columns, one dictionary for each record. A nil among them
    ///     finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could
    ///   have the values.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Int {
        try keys.reduce(0) { try $0 + (deleteOne(db, key: $1) ? 1 : 0) }
    }

    /// Returns the plan by which records of the type are found.
    static func plan(on db: Database) throws -> RecordPlan {
        db.checkAccess()
        return try db.plan(for: self).object
    }
}

// MARK: - Keys

extension TableRecord {
    /// Returns whether the record type may define how values of the given type are stored. The
    /// compiler computes this for a type that is known at compile time.
    @inlinable @inline(__always)
    static func mayStore<Value>(_ type: Value.Type) -> Bool {
        Value.self == UUID.self || Value.self == Date.self || Value.self == Data.self
            || Value.self == UUID?.self
            || Value.self == Date?.self || Value.self == Data?.self
    }

    @usableFromInline @inline(never)
    static func storedKey(_ key: some DatabaseValueConvertible, on db: Database) throws -> DatabaseValue {
        try storedKey(key, plan(on: db))
    }

    /// Returns a value of a single-column primary key, as the type stores it.
    static func storedKey<Key: DatabaseValueConvertible>(_ key: Key, _ plan: RecordPlan) throws
        -> DatabaseValue
    {
        guard mayStore(Key.self), let column = plan.key.first else { return key.databaseValue }
        return try KeyValue(key).stored(by: Self.self, in: column)
    }

    /// Returns values of a single-column primary key, in lists that each fit in one statement.
    static func keyLists(
        _ keys: some Sequence<some DatabaseValueConvertible>, on db: Database
    ) throws -> KeyLists {
        let plan = try plan(on: db)
        try plan.checkKeyHasOneColumn()
        return try KeyLists(keys.map { try storedKey($0, plan) })
    }

    /// Returns a value as the type stores it in a column.
    static func storedKeyValue(
        _ value: (any DatabaseValueConvertible)?, in column: String
    ) throws -> DatabaseValue {
        guard let value else { return .null }
        return try KeyValue(value).stored(by: Self.self, in: column)
    }
}

extension RecordPlan {
    /// Throws unless the primary key has one column.
    @inline(__always)
    func checkKeyHasOneColumn() throws {
        if key.count != 1 { throw try compositeKeyError() }
    }

    private func compositeKeyError() throws -> RecordError {
        _ = try keyCondition()  // throws if there is no key at all
        return .compositeKey(databaseTableName: tableName, columns: key)
    }
}

/// Keys in lists that each fit in one statement, without duplicates and NULL.
///
/// Each list is padded with its last key, so that a few statements serve any number of keys.
struct KeyLists: Sequence, IteratorProtocol {
    private var rest: ArraySlice<DatabaseValue>

    private static let maximumKeys = 512

    init(_ keys: [DatabaseValue]) {
        var seen: Set<DatabaseValue> = []
        rest = keys.filter { !$0.isNull && seen.insert($0).inserted }[...]
    }

    mutating func next() -> [DatabaseValue]? {
        if rest.isEmpty { return nil }
        defer { rest = rest.dropFirst(Self.maximumKeys) }
        return rest.prefix(Self.maximumKeys).filledUp()
    }
}

extension ArraySlice<DatabaseValue> {
    /// Returns the keys, padded by repetitions of the last one, so that all lists have one of a few
    /// lengths.
    ///
    /// - Parameter width: The number of values in a key.
    func filledUp(width: Int = 1) -> [DatabaseValue] {
        var length = width
        while length < count { length *= 2 }
        let last = suffix(width)
        return (count..<length).reduce(into: Array(self)) { list, place in
            list.append(last[last.startIndex + place % width])
        }
    }
}
