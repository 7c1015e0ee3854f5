// Insertions of many records that tell how far they have come.

extension MutablePersistableRecord {
    /// Inserts records, by one statement for many of them, and tells how far it has come.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try Player.insertAll(db, &players) { progress in
    ///         print("\(progress.completedCount) of \(progress.totalCount ?? 0)")
    ///     }
    /// }
    /// ```
    ///
    /// It inserts as `insertAll(_:_:onConflict:)` does: all records, or none.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    ///   - progress: Hears of the number of records that were inserted, after each thousand and at the end. An error that it throws
    ///     undoes all of them.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks and `progress` throw.
    public static func insertAll(
        _ db: Database, _ records: inout [Self], onConflict resolution: Database.ConflictResolution? = nil,
        progress: (WorkProgress) throws -> Void
    ) throws {
        let before = records
        let total = before.count
        do {
            try db.inSavepoint {
                var first = 0
                while first < total {
                    let end = min(first + 1_000, total)
                    var some = Array(before[first..<end])
                    try insertAll(db, &some, onConflict: resolution)
                    records.replaceSubrange(first..<end, with: some)
                    first = end
                    let isCompleted = end == total
                    try progress(WorkProgress(completed: end, of: total, rows: end, isCompleted: isCompleted))
                }
                return .commit
            }
        } catch {
            records = before
            throw error
        }
    }
}

extension PersistableRecord {
    /// Inserts records, by one statement for many of them, and tells how far it has come.
    ///
    /// It inserts as `insertAll(_:_:onConflict:)` does: all records, or none. See the `insertAll` of ``MutablePersistableRecord`` that
    /// takes `progress`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. Without any, nothing is done.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    ///   - progress: Hears of the number of records that were inserted, after each thousand and at the end. An error that it
    ///     throws undoes all of them.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks and `progress` throw.
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict resolution: Database.ConflictResolution? = nil, progress: (WorkProgress) throws -> Void
    ) throws {
        var all = Array(records)
        try insertAll(db, &all, onConflict: resolution, progress: progress)
    }
}
