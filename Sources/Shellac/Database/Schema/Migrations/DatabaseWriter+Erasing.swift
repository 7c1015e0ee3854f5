// Erases a database: drops all objects of main and resets its version numbers.

extension DatabaseWriter {
    /// Drops everything in the database `main`, and resets its version numbers: all, or nothing.
    ///
    /// ```swift
    /// try dbQueue.erase()
    /// try migrator.migrate(dbQueue)
    /// ```
    ///
    /// The file keeps its size until ``vacuum()``.
    ///
    /// - Throws: a ``DatabaseError``. Nothing is dropped then.
    public func erase() throws { try barrierWriteWithoutTransaction { db in try db.eraseEverything() } }
}
