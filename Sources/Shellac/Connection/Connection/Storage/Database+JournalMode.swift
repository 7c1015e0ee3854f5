// Refuses changes of the journal mode that would remove a pool's write-ahead log.

extension Database {
    /// Throws an error if a statement would remove a write-ahead log that other connections need.
    ///
    /// SQLite itself only refuses this while another connection is open.
    func check(_ change: StatementEffects.JournalModeChange, sql: String) throws {
        guard hooks.keepsLog, change.databaseName == nil || change.databaseName == "main",
            let mode = JournalMode(rawValue: change.mode), mode != .wal
        else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the database \(description) keeps its journal mode, WAL: without a log, the readers and "
                + "the writer of a pool would wait for each other. Close the pool, and use a DatabaseQueue "
                + "for the mode \(mode.rawValue)",
            sql: sql)
    }
}
