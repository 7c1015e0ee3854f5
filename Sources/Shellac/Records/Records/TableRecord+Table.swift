// Row counts, existence checks and deletions in a type's table, with conditions on keys.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Questions of a type to its table, and deletions there. Deleting by the type calls no callback of its records.

extension TableRecord {
    /// Fetches the number of rows in the table.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public static func fetchCount(_ db: Database) throws -> Int {
        let plan = try plan(on: db)
        if plan.isConditioned { return try all().fetchCount(db) }
        return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(plan.quotedTable)") ?? 0
    }

    // MARK: - Existence

    /// Whether there is a row with a primary key.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table.
    public static func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        let plan = try plan(on: db)
        try plan.checkKeyHasOneColumn()
        if plan.isConditioned { return try filter(key: key).exists(db) }
        return try exists(db, plan, (plan.keyCondition(), [storedKey(key, plan)]))
    }

    /// Whether there is a row with a composite primary key, or with the values of a unique index.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values by columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could have the values.
    public static func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        let plan = try plan(on: db)
        let condition = try plan.condition(key, of: Self.self)
        if plan.isConditioned { return try filter(key: key).exists(db) }
        return try exists(db, plan, condition)
    }

    private static func exists(
        _ db: Database, _ plan: RecordPlan, _ key: (condition: String, values: [DatabaseValue])?
    ) throws -> Bool {
        guard let key else { return false }
        let sql = "SELECT EXISTS (SELECT 1 FROM \(plan.quotedTable) WHERE \(key.condition))"
        return try Bool.fetchOne(db, sql: sql, arguments: StatementArguments(key.values)) ?? false
    }

    // MARK: - Deletion

    /// Deletes all rows of the table. Returns how many there were.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table, and when other rows refer to one of these by a foreign key
    ///   that does not let them go.
    @discardableResult
    public static func deleteAll(_ db: Database) throws -> Int {
        let plan = try plan(on: db)
        if plan.isConditioned { return try all().deleteAll(db) }
        return try delete(db, "DELETE FROM \(plan.quotedTable)", [])
    }

    /// Deletes the row with a primary key. Returns whether there was one.
    ///
    /// ```swift
    /// let isDeleted = try Player.deleteOne(db, key: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. A date, data or a UUID is looked for as the
    ///     type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @discardableResult
    public static func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        let plan = try plan(on: db)
        try plan.checkKeyHasOneColumn()
        if plan.isConditioned { return try filter(key: key).deleteAll(db) > 0 }
        let sql = try "DELETE FROM \(plan.quotedTable) WHERE \(plan.keyCondition())"
        return try delete(db, sql, [storedKey(key, plan)]) > 0
    }

    /// Deletes the row with a composite primary key, or with the values of a unique index. Returns whether there
    /// was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values by columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could have the values.
    @discardableResult
    public static func deleteOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Bool {
        let plan = try plan(on: db)
        guard let (condition, values) = try plan.condition(key, of: Self.self) else { return false }
        if plan.isConditioned { return try filter(key: key).deleteAll(db) > 0 }
        return try delete(db, "DELETE FROM \(plan.quotedTable) WHERE \(condition)", values) > 0
    }

    /// Deletes the rows with some primary keys. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values of the primary key, which has one column. Nils find nothing. Dates, data and UUIDs are looked for as
    ///     the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: some Sequence<some DatabaseValueConvertible>
    ) throws -> Int {
        let plan = try plan(on: db)
        try plan.checkKeyHasOneColumn()
        if plan.isConditioned { return try filter(keys: keys).deleteAll(db) }
        return try KeyLists(keys.map { try storedKey($0, plan) }).reduce(0) { count, list in
            try count + delete(db, "DELETE FROM \(plan.quotedTable) WHERE \(plan.condition(list))", list)
        }
    }

    /// Deletes the rows with some composite keys. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values by columns, for one record after the other. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could have the values.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> Int {
        try keys.reduce(0) { try $0 + (deleteOne(db, key: $1) ? 1 : 0) }
    }

    private static func delete(_ db: Database, _ sql: String, _ values: [DatabaseValue]) throws -> Int {
        let statement = try db.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments(values))
        return Int(sqlite3_changes(db.pointer))
    }

    /// Returns how records of the type are found.
    static func plan(on db: Database) throws -> RecordPlan {
        db.checkAccess()
        return try db.plan(for: self).object
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Whether there is a row with an id.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The id, which is the value of the primary key. Nil finds nothing. A UUID is looked for as the type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table.
    public static func exists(_ db: Database, id: ID) throws -> Bool { try exists(db, key: id) }

    /// Deletes the row with an id. Returns whether there was one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - id: The id, which is the value of the primary key. Nil finds nothing. A UUID is looked for as the type stores it.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @discardableResult
    public static func deleteOne(_ db: Database, id: ID) throws -> Bool { try deleteOne(db, key: id) }

    /// Deletes the rows with some ids. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - ids: The ids, which are the values of the primary key. Nils find nothing. UUIDs are looked for as the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has several columns, and a
    ///   ``DatabaseError`` when there is no such table, or when other rows refer to one by a foreign key that does not let it
    ///   go.
    @discardableResult
    public static func deleteAll(_ db: Database, ids: some Sequence<ID>) throws -> Int {
        try deleteAll(db, keys: ids)
    }
}

// MARK: - Keys

extension TableRecord {
    /// Whether the type says how values of another one are stored. Where that is known to the compiler, so is the answer.
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

    /// Returns a value of a primary key of one column, as the type stores it.
    static func storedKey<Key: DatabaseValueConvertible>(_ key: Key, _ plan: RecordPlan) throws
        -> DatabaseValue
    {
        guard mayStore(Key.self), let column = plan.key.first else { return key.databaseValue }
        return try KeyValue(key).stored(by: Self.self, in: column)
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
    /// Throws unless one value is a primary key.
    @inline(__always)
    func checkKeyHasOneColumn() throws {
        if key.count != 1 { throw try compositeKeyError() }
    }

    private func compositeKeyError() throws -> RecordError {
        _ = try keyCondition()  // throws where there is no key at all
        return .compositeKey(databaseTableName: tableName, columns: key)
    }

    /// Returns the condition that finds the row of a unique key, or nil where a value is NULL: no row has it.
    func condition(
        _ key: [String: (any DatabaseValueConvertible)?], of type: (some TableRecord).Type
    ) throws -> (condition: String, values: [DatabaseValue])? {
        var values: [CaseInsensitiveName: DatabaseValue] = [:]
        for (name, value) in key {
            let column = table.column(named: name)?.name ?? name
            values[CaseInsensitiveName(name)] = try type.storedKeyValue(value, in: column)
        }
        let isDeclared = !self.key.isEmpty && Set(values.keys) == Set(self.key.map(CaseInsensitiveName.init))
        guard values.count == key.count else {
            throw RecordError.notAUniqueKey(databaseTableName: tableName, columns: Array(key.keys))
        }
        let columns =
            try isDeclared
            ? self.key
            : table.uniqueKey(of: Array(key.keys), among: QueryTables(SelectQuery(QuerySource(.type(type)))))
        let found = columns.compactMap { values[CaseInsensitiveName($0)] }
        guard found.count == columns.count, !found.contains(where: \.isNull) else { return nil }
        return (Self.condition(columns), found)
    }

    /// Returns the condition that finds the rows of primary keys of one column.
    func condition(_ list: [DatabaseValue]) -> String {
        "\((key.first ?? "").quotedDatabaseIdentifier) IN (\(String.questionMarks(list.count)))"
    }
}

/// Keys in lists that one statement can take, without duplicates and NULL.
///
/// A list is filled up with its last key, so that a few statements do for all numbers of keys.
struct KeyLists: Sequence, IteratorProtocol {
    private var rest: ArraySlice<DatabaseValue>

    private static let mostKeys = 512

    init(_ keys: [DatabaseValue]) {
        var seen: Set<DatabaseValue> = []
        rest = keys.filter { !$0.isNull && seen.insert($0).inserted }[...]
    }

    mutating func next() -> [DatabaseValue]? {
        if rest.isEmpty { return nil }
        defer { rest = rest.dropFirst(Self.mostKeys) }
        return rest.prefix(Self.mostKeys).filledUp()
    }
}

extension ArraySlice<DatabaseValue> {
    /// The keys, of which the last one stands there several times: so a few lengths do for all lists.
    ///
    /// - Parameter width: How many values make a key.
    func filledUp(width: Int = 1) -> [DatabaseValue] {
        var length = width
        while length < count { length *= 2 }
        let last = suffix(width)
        return (count..<length).reduce(into: Array(self)) { list, place in
            list.append(last[last.startIndex + place % width])
        }
    }
}
