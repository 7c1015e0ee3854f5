// Insertions of many records with few statements.

extension MutablePersistableRecord {
    /// Inserts records, many of them with each statement.
    ///
    /// ```swift
    /// var players = names.map { Player(id: nil, name: $0, score: 0) }
    /// try dbQueue.write { db in
    ///     try Player.insertAll(db, &players)      // each has its id
    ///     // INSERT INTO "player" ("id", "name", "score") VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)
    /// }
    /// ```
    ///
    /// Either all records are inserted, or none. If one fails, the error is thrown, and the records
    /// and the database are as they were before. Each record is inserted as by ``insert(_:)``, with
    /// its callbacks.
    ///
    /// In some cases, there is one statement for each record:
    ///
    /// - The callbacks have to see the rows before. This is so if the type implements `willInsert`,
    ///   `willSave`, `aroundInsert` or `aroundSave`, or if a class overrides these or the saving
    ///   methods.
    /// - The table has triggers or conflict clauses.
    /// - The policy of the type or `onConflict` resolves conflicts.
    /// - The table is a virtual table or a view.
    ///
    /// If the `didInsert` or `didSave` of a class record changes a later record, the change may
    /// come too late for the statement. Then the change is kept, and the later record has changes.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. If there are none, nothing is done.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies. A record that `.ignore` leaves out is unchanged.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public static func insertAll(
        _ db: Database, _ records: inout [Self], onConflict resolution: Database.ConflictResolution? = nil
    ) throws {
        db.checkAccess()
        if Self.self is Record.Type {
            // They are objects of that class, so the array holds the same references.
            return try Record.insertAll(unsafeBitCast(records, to: [Record].self), resolution, in: db)
        }
        if records.count < 2 {
            if !records.isEmpty { try records[0].insert(db, onConflict: resolution) }
            return
        }
        let policy = resolution ?? persistenceConflictPolicy.conflictResolutionForInsert
        let plan = try db.plan(for: Self.self).object
        // The class of an object may be a subclass of the type that is known here.
        let mayTakeMany =
            try policy == .abort && !(Self.self is AnyObject.Type) && plan.canTakeManyRows(on: db)
        if mayTakeMany, plan.hasNoCallbacks(for: .insertion) {
            return try insertMany(db, &records, from: 0, plan)
        }
        let before = records
        do {
            try db.inSavepoint {
                try records[0].insert(db, onConflict: resolution)
                if mayTakeMany, plan.hasNoCallbacks(for: .insertion) {
                    try insertMany(db, &records, from: 1, plan)
                } else {
                    for index in records.indices.dropFirst() {
                        try records[index].insert(db, onConflict: resolution)
                    }
                }
                return .commit
            }
        } catch {
            records = before
            throw error
        }
    }

    /// Inserts the records from an index on. No record changes before all of them are inserted.
    private static func insertMany(
        _ db: Database, _ records: inout [Self], from first: Int, _ plan: RecordPlan
    ) throws {
        let count = records.count - first
        var rowIDs: [Int64] = []
        func insert(isAlone: Bool) throws {
            let batch = InsertionBatch(plan, of: count, isAlone: isAlone, on: db)
            for index in first..<records.count {
                try db.withWriter(
                    Unretained(plan), encoding: { try records[index]._encodeColumns(to: &$0) },
                    perform: { try $0.gather(nil, in: batch) })
            }
            try batch.insert()
            rowIDs = batch.rowIDs
        }
        func insertInSavepoint() throws {
            try db.inSavepoint {
                try insert(isAlone: false)
                return .commit
            }
        }
        if first > 0 {
            try insert(isAlone: false)  // there is a savepoint already
        } else if count <= InsertionBatch.maximumRows, !plan.rules.fillColumns {
            // One statement is atomic by itself, unless several records must share one date.
            do { try insert(isAlone: true) } catch is SeveralStatements { try insertInSavepoint() }
        } else {
            try insertInSavepoint()
        }
        let rowIDColumn = plan.rowIDColumn
        for (offset, rowID) in rowIDs.enumerated() {
            let insertion = InsertionSuccess(rowID: rowID, rowIDColumn: rowIDColumn)
            records[first + offset].didInsert(insertion)
            records[first + offset].didSave(PersistenceSuccess(insertion: insertion))
        }
    }

    /// Inserts records, and returns them as the database stores them, in the same order.
    ///
    /// ```swift
    /// let players = try Player.insertAndFetchAll(db, newPlayers)
    /// ```
    ///
    /// Either all records are inserted, or none. There is one statement for each record.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. If there are none, nothing is done.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring a record, and any error of `insert`.
    public static func insertAndFetchAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> [Self] where Self: FetchableRecord {
        db.checkAccess()
        var fetched: [Self] = []
        let records = Array(records)
        if records.isEmpty { return [] }
        try db.inSavepoint {
            fetched = try records.map { record in try record.insertAndFetch(db, onConflict: resolution) }
            return .commit
        }
        return fetched
    }
}

extension PersistableRecord {
    /// Inserts records, many of them with each statement.
    ///
    /// ```swift
    /// try Country.insertAll(db, [Country(code: "FR", name: "France"), Country(code: "IT", name: "Italy")])
    /// // INSERT INTO "country" ("code", "name") VALUES (?, ?), (?, ?)
    /// ```
    ///
    /// Either all records are inserted, or none: see the `insertAll` of
    /// ``MutablePersistableRecord``. Class records then have their row ids and remember their rows,
    /// as after ``Record/insert(_:)``. They may be of several classes.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. If there are none, nothing is done.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict resolution: Database.ConflictResolution? = nil
    ) throws {
        var all = Array(records)
        try insertAll(db, &all, onConflict: resolution)
    }
}
