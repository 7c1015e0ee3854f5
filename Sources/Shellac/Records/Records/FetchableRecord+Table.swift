// Fetching records from their table: all of them, or by their keys.

extension FetchableRecord where Self: TableRecord {
    // MARK: - All

    /// Returns a cursor over all records of the table.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table. The cursor throws the errors of
    ///   its steps.
    @inlinable
    public static func fetchCursor(_ db: Database) throws -> DatabaseCursor<Self> {
        try fetchCursor(selection(on: db))
    }

    /// Fetches all records of the table, as an array.
    ///
    /// ```swift
    /// let players = try dbQueue.read { db in try Player.fetchAll(db) }
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table. Errors of decoding a record,
    ///   mostly a ``RowDecodingError``, are passed on.
    @inlinable
    public static func fetchAll(_ db: Database) throws -> [Self] { try fetchAll(selection(on: db)) }

    /// Returns a statement that selects all records.
    @usableFromInline
    static func selection(on db: Database) throws -> Statement {
        _ = try plan(on: db)
        return try statement(of: all(), on: db)
    }

    /// Prepares a request for the type's rows, and binds its arguments.
    private static func statement(of request: QueryInterfaceRequest<Self>, on db: Database) throws
        -> Statement
    {
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        try prepared.statement.setArguments(prepared.arguments)
        return prepared.statement
    }

    /// Fetches one record of the table: the first that SQLite finds.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table. Errors of decoding a record,
    ///   mostly a ``RowDecodingError``, are passed on.
    public static func fetchOne(_ db: Database) throws -> Self? {
        _ = try plan(on: db)
        return try all().fetchOne(db)
    }

    // MARK: - One key

    /// Fetches the record with a primary key, or nil.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. Dates, data
    ///     and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns, or a ``DatabaseError`` when there is no such table. Errors of decoding a
    ///   record, mostly a ``RowDecodingError``, are passed on.
    @inlinable
    public static func fetchOne<Key: DatabaseValueConvertible>(_ db: Database, key: Key) throws -> Self? {
        let value = mayStore(Key.self) ? try storedKey(key, on: db) : key.databaseValue
        guard let statement = try beginSelection(of: value, on: db) else { return nil }
        defer { statement.abandon() }
        guard try statement.step() else { return nil }
        return try keptElement(of: statement.row)
    }

    /// Begins to select the record with a primary key. Returns nil for NULL, which is no record's
    /// key.
    @usableFromInline
    static func beginSelection(of key: DatabaseValue, on db: Database) throws -> Statement? {
        let plan = try plan(on: db)
        try plan.checkKeyHasOneColumn()
        if key.isNull { return nil }
        guard db.readRecorder == nil else {
            let statement = try statement(of: filter(key: key), on: db)
            try statement.begin(nil as StatementArguments?)
            return statement
        }
        if plan.selections.isConditioned {
            let selection = try plan.selectOwnByKey(self)
            try selection.begin(key)
            return selection.statement
        }
        let statement = try plan.selectByKey()
        try statement.begin { key.bind(to: $0, at: 1) }
        return statement
    }

    /// Fetches the record with a composite primary key, or with the values of a unique index, or
    /// nil.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: ["email": "arthur@example.com"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values, by their columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could
    ///   have the values.
    public static func fetchOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Self? {
        _ = try plan(on: db)
        return try filter(key: key).fetchOne(db)
    }

    /// Finds the record with a primary key.
    ///
    /// ```swift
    /// let player = try Player.find(db, key: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The value of the primary key, which has one column. Nil finds nothing. Dates, data
    ///     and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no such
    ///   record.
    @inlinable
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        if let record = try fetchOne(db, key: key) { return record }
        throw try notFound(key, on: db)
    }

    @usableFromInline @inline(never)
    static func notFound(_ key: some DatabaseValueConvertible, on db: Database) throws -> RecordError {
        let plan = try plan(on: db)
        let value = try storedKey(key, plan)
        return .recordNotFound(databaseTableName: plan.tableName, key: [plan.key.first ?? "": value])
    }

    /// Finds the record with a composite primary key, or with the values of a unique index.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - key: The values, by their columns. A nil among them finds nothing.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no such
    ///   record.
    public static func find(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Self {
        if let record = try fetchOne(db, key: key) { return record }
        let values = try key.map { column, value in (column, try storedKeyValue(value, in: column)) }
        throw RecordError.recordNotFound(
            databaseTableName: try plan(on: db).tableName, key: Dictionary(uniqueKeysWithValues: values))
    }

    // MARK: - Many keys

    /// Returns a cursor over the records with the given primary keys, in no particular order. It
    /// skips keys without a record.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values of the primary key, which has one column. Nils find nothing. Dates,
    ///     data and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns, and a ``DatabaseError`` when there is no such table. The cursor throws
    ///   the errors of its steps.
    public static func fetchCursor(
        _ db: Database, keys: some Sequence<some DatabaseValueConvertible>
    ) throws -> AnyCursor<Self> {
        var lists = try keyLists(keys, on: db)
        var cursor: DatabaseCursor<Self>?
        return AnyCursor {
            db.checkAccess()  // and keep it alive
            while true {
                if let record = try cursor?.next() { return record }
                guard let list = lists.next() else { return nil }
                cursor = nil
                cursor = try filter(keys: list).fetchCursor(db)
            }
        }
    }

    /// Fetches the records with the given primary keys as an array, in no particular order. It
    /// skips keys without a record.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, keys: [1, 2, 3])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values of the primary key, which has one column. Nils find nothing. Dates,
    ///     data and UUIDs are looked up in the form in which the type stores them.
    /// - Throws: ``RecordError/compositeKey(databaseTableName:columns:)`` when the primary key has
    ///   several columns, or a ``DatabaseError`` when there is no such table. Errors of decoding a
    ///   record, mostly a ``RowDecodingError``, are passed on.
    public static func fetchAll(
        _ db: Database, keys: some Sequence<some DatabaseValueConvertible>
    ) throws -> [Self] {
        var records: [Self] = []
        for list in try keyLists(keys, on: db) { records += try filter(keys: list).fetchAll(db) }
        return records
    }

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

    /// Fetches the records with the given composite keys, as an array. It skips keys without a
    /// record.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - keys: The values by their columns, one dictionary for each record. A nil among them
    ///     finds nothing. The records come in this order, and a key that occurs twice returns its
    ///     record twice.
    /// - Throws: ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could
    ///   have the values.
    public static func fetchAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]
    ) throws -> [Self] {
        try keys.compactMap { try fetchOne(db, key: $0) }
    }
}
