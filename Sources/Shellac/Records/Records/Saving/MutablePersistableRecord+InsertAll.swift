// Insertions of many records, many at a time.

extension MutablePersistableRecord {
    /// Inserts records, by one statement for many of them.
    ///
    /// ```swift
    /// var players = names.map { Player(id: nil, name: $0, score: 0) }
    /// try dbQueue.write { db in
    ///     try Player.insertAll(db, &players)      // each has its id
    ///     // INSERT INTO "player" ("id", "name", "score") VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)
    /// }
    /// ```
    ///
    /// Either all records are inserted, or none: when one fails, the error is thrown, and the records and the database
    /// are as they were before. Each record is inserted as ``insert(_:)`` does it, with its callbacks. Where these have to
    /// see the rows before, because the type implements `willInsert`, `willSave`, `aroundInsert` or `aroundSave`, or
    /// because a class overrides them or the methods that save, there is one statement for each record. There is, too,
    /// where the table has triggers or conflict clauses, where the policy of the type or `onConflict` resolves conflicts,
    /// and for a virtual table or a view.
    ///
    /// What the `didInsert` or `didSave` of a class record changes in a later one may come too late for the statement: then
    /// it is kept, and the later record has changes.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. Without any, nothing is done.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type
    ///     says. A record that `.ignore` has left out is as it was.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public static func insertAll(
        _ db: Database, _ records: inout [Self], onConflict resolution: Database.ConflictResolution? = nil
    ) throws {
        db.checkAccess()
        if Self.self is Record.Type {
            // They are objects of that class: the array holds the same references.
            return try Record.insertAll(unsafeBitCast(records, to: [Record].self), resolution, in: db)
        }
        if records.count < 2 {
            if !records.isEmpty { try records[0].insert(db, onConflict: resolution) }
            return
        }
        let policy = resolution ?? persistenceConflictPolicy.conflictResolutionForInsert
        let plan = try db.plan(for: Self.self).object
        // An object's class may be below the one that is known here.
        let mayTakeMany =
            try policy == .abort && !(Self.self is AnyObject.Type) && plan.canTakeManyRows(on: db)
        if mayTakeMany, plan.isIdle(.insertion) {
            return try insertMany(db, &records, from: 0, plan)
        }
        let before = records
        do {
            try db.inSavepoint {
                try records[0].insert(db, onConflict: resolution)
                if mayTakeMany, plan.isIdle(.insertion) {
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

    /// Inserts those from an index on. The records are not changed before all of them are inserted.
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
                    perform: { _ = try $0.fillingInsertion(of: nil, isUpsert: false, batch.take) })
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
        } else if count <= InsertionBatch.mostRows, plan.filling == nil {
            // One statement is whole by itself, unless several records are to have one date.
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

    /// Inserts records, and returns them as the database holds them, in the same order.
    ///
    /// ```swift
    /// let players = try Player.insertAndFetchAll(db, newPlayers)
    /// ```
    ///
    /// Either all records are inserted, or none. There is one statement for each of them.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. Without any, nothing is done.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when a conflict was resolved by ignoring a
    ///   record, and all that `insert` throws.
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
    /// Inserts records, by one statement for many of them.
    ///
    /// ```swift
    /// try Country.insertAll(db, [Country(code: "FR", name: "France"), Country(code: "IT", name: "Italy")])
    /// // INSERT INTO "country" ("code", "name") VALUES (?, ?), (?, ?)
    /// ```
    ///
    /// Either all records are inserted, or none: see
    /// the `insertAll` of ``MutablePersistableRecord``. Class records have their row ids and
    /// remember their rows then, as after ``Record/insert(_:)``. They may be of several classes.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. Without any, nothing is done.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict resolution: Database.ConflictResolution? = nil
    ) throws {
        var all = Array(records)
        try insertAll(db, &all, onConflict: resolution)
    }
}
