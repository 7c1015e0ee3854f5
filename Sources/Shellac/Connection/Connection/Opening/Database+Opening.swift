// The setup of a newly opened connection, some later settings, memory release and interrupts.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts of SQLite that an upper layer adds to each connection, such as tokenizers. The layer
/// of full-text search makes ``Database`` conform to it.
protocol ConnectionAdditions {
    /// Adds the parts to a connection that was just opened.
    func addToConnection()
}

extension Database {
    /// Sets up a connection that was just opened, according to its configuration.
    ///
    /// - Parameter prepare: Internal setup that runs before the user's, which may revert it.
    func setUp(path: String, _ prepare: () throws -> Void = {}) throws {
        do {
            setBusyMode(configuration.busyMode)
            try LoadedExtensions.load(into: pointer)
            try configure()
            addTextCollationsWhenNeeded()
            (self as Any as? any ConnectionAdditions)?.addToConnection()
            try asking {
                try prepareStorage()
                try checkFormat()
                try prepare()
                watchPlace()
            }
        } catch let error as DatabaseError {
            throw DatabaseError(
                resultCode: error.extendedResultCode,
                message: OpeningFailure.message(
                    path: path, vfs: configuration.vfs, code: error.extendedResultCode.rawValue,
                    reason: error.message ?? "\(error.extendedResultCode)"))
        }
        trace(nil)
        for prepare in configuration.preparations { try prepare(self) }
    }

    private func configure() throws {
        func turn(_ verb: Int32, on: Bool) throws { try check(shellac_db_config(pointer, verb, on ? 1 : 0)) }
        try turn(SQLITE_DBCONFIG_ENABLE_FKEY, on: configuration.foreignKeysEnabled)
        try turn(SQLITE_DBCONFIG_DQS_DML, on: configuration.acceptsDoubleQuotedStringLiterals)
        try turn(SQLITE_DBCONFIG_DQS_DDL, on: configuration.acceptsDoubleQuotedStringLiterals)
        if configuration.toleratesDamage { try turn(SQLITE_DBCONFIG_WRITABLE_SCHEMA, on: true) }
    }

    /// Sets whether foreign keys are enforced.
    ///
    /// Unlike `PRAGMA foreign_keys`, this is not a statement. So nothing can refuse it, such as a
    /// cancellation. A change makes SQLite prepare every statement again.
    func setForeignKeysEnforced(_ enforced: Bool) throws {
        checkAccess()
        guard sqliteConnection != nil else { throw closedError() }
        try check(shellac_db_config(pointer, SQLITE_DBCONFIG_ENABLE_FKEY, enforced ? 1 : 0))
    }

    /// Sets whether `ALTER TABLE … RENAME TO` leaves references in triggers, views and foreign keys
    /// unchanged. See "PRAGMA legacy_alter_table" in the SQLite documentation.
    func setLegacyAlterTable(_ legacy: Bool) throws {
        checkAccess()
        guard sqliteConnection != nil else { throw closedError() }
        try check(shellac_db_config(pointer, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, legacy ? 1 : 0))
    }

    /// Whether the transaction has violated a foreign key, which must be fixed before the commit.
    var hasBrokenForeignKeys: Bool {
        checkAccess()
        guard sqliteConnection != nil else { return false }
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
        return current != 0
    }

    /// Reads the file, to detect a file that is not a database, and sets the journal mode.
    private func checkFormat() throws {
        do {
            try makeStatement(sql: "SELECT 1 FROM sqlite_master LIMIT 1").execute()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Another connection holds a lock. The first access will report it.
        }
        guard configuration.journalMode != .default, !configuration.readonly else { return }
        let mode = configuration.journalMode.rawValue
        let result = try String.fetchOne(makeStatement(sql: "PRAGMA journal_mode = \(mode)")) ?? ""
        // In-memory and temporary databases support no other mode than their own.
        guard result == mode || result == "memory" || result == "off" || result == "delete" && !isFile else {
            throw DatabaseError(
                message: "the journal mode cannot be changed from \(result) to \(mode)")
        }
    }

    private var isFile: Bool { sqlite3_db_filename(pointer, "main").map { $0.pointee != 0 } ?? false }

    // MARK: - Memory and maintenance

    /// Releases as much memory as possible: prepared statements, and SQLite's page cache.
    public func releaseMemory() {
        checkAccess()
        guard !isClosed else { return }
        statementCache.removeAll()
        sqlite3_db_release_memory(pointer)
    }

    /// Interrupts the running statements, which then throw `SQLITE_INTERRUPT`.
    ///
    /// Functions and traces, which SQLite calls in the middle of a statement, may call this. To
    /// interrupt from another thread, see ``DatabaseReader/interrupt()``.
    public func interrupt() {
        checkAccess()
        guard !isClosed else { return }
        sqlite3_interrupt(pointer)
    }
}
