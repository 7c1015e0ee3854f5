// Insertions of many records with progress reports.

extension MutablePersistableRecord {
    /// Inserts records, many of them with each statement, and reports the progress.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try Player.insertAll(db, &players) { progress in
    ///         print("\(progress.completedCount) of \(progress.totalCount ?? 0)")
    ///     }
    /// }
    /// ```
    ///
    /// It inserts like `insertAll(_:_:onConflict:)`: all records, or none.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - progress: A function that gets the number of inserted records, after each thousand and
    ///     at the end. An error that it throws undoes all insertions.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks
    ///   and `progress`.
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
    /// Inserts records, many of them with each statement, and reports the progress.
    ///
    /// It inserts like `insertAll(_:_:onConflict:)`: all records, or none. See the `insertAll` of
    /// ``MutablePersistableRecord`` that takes `progress`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - records: The records. If there are none, nothing is done.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - progress: A function that gets the number of inserted records, after each thousand and
    ///     at the end. An error that it throws undoes all insertions.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks
    ///   and `progress`.
    public static func insertAll(
        _ db: Database, _ records: some Sequence<Self>,
        onConflict resolution: Database.ConflictResolution? = nil, progress: (WorkProgress) throws -> Void
    ) throws {
        var all = Array(records)
        try insertAll(db, &all, onConflict: resolution, progress: progress)
    }
}
