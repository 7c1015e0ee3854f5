// The versions of a row that the journal has, as records.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A version of a row: its values after a transaction that has changed it.
///
/// ```swift
/// for version in try player.databaseHistory(db) {
///     print(version.date, version.note["author"] as Any, version.changes)
/// }
/// ```
public struct JournalVersion: Hashable, Sendable {
    /// A column that a transaction has changed.
    public struct Change: Hashable, Sendable, CustomStringConvertible {
        /// The value before.
        public let old: DatabaseValue
        /// The value after.
        public let new: DatabaseValue

        public var description: String { "\(old.inWords) → \(new.inWords)" }
    }

    /// The number of the entry.
    public let number: Int64
    /// The date of the transaction.
    public let date: Date
    /// The note of the transaction.
    public let note: JournalNote
    /// The change of the row.
    public let operation: Changeset.Change.Operation
    /// The values after the transaction, by column. Nil if the row was deleted.
    ///
    /// They are found by going back from the present row. So a column that was added later has
    /// its present value, and a column that is gone is missing.
    public let values: [String: DatabaseValue]?
    /// The columns that the transaction has changed. An insertion and a deletion have none.
    public let changes: [String: Change]
    /// The name of the table.
    let table: String
    /// The values of the primary key, in its order.
    let key: [DatabaseValue]

    /// Returns the version as a record, of the class that the row names.
    ///
    /// - Parameters:
    ///   - db: A connection.
    ///   - type: The type of the record.
    /// - Returns: The record, or nil if the row was deleted.
    /// - Throws: the errors of the type's initializer.
    public func record<Element: FetchableRecord>(
        _ db: Database, of type: Element.Type = Element.self
    ) throws -> Element? {
        try values.flatMap { try Element.record(of: Row($0), db) }
    }
}

extension TableRecord {
    /// Returns the versions of a row that the journal has, the oldest first.
    ///
    /// - Parameters:
    ///   - db: A connection. If it can write, the journal's index of keys is brought up to date,
    ///     so that the next call is faster.
    ///   - key: The values of the primary key, in the order of the key.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public static func databaseHistory(
        _ db: Database, key: any DatabaseValueConvertible...
    ) throws -> [JournalVersion] {
        try JournalHistory(db, table: databaseTableName).versions(of: key.map(\.databaseValue))
    }
}

extension TableRecord where Self: EncodableRecord {
    /// Returns the versions of this record's row that the journal has, the oldest first.
    ///
    /// - Parameter db: A connection. If it can write, the journal's index of keys is brought up
    ///   to date, so that the next call is faster.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public func databaseHistory(_ db: Database) throws -> [JournalVersion] {
        let history = try JournalHistory(db, table: type(of: self).databaseTableName)
        return try history.versions(of: history.key(in: databaseDictionary))
    }
}

extension Database {
    /// Sets a row to the values of a version, as a new change.
    ///
    /// A row that was deleted is inserted again. If the version is a deletion, the row is
    /// deleted. Columns that the version lacks stay as they are. Observers and the journal see
    /// the change.
    ///
    /// - Parameter version: A version of the row.
    /// - Throws: a ``DatabaseError``.
    public func restore(_ version: JournalVersion) throws {
        checkAccess()
        let history = try JournalHistory(self, table: version.table)
        try history.restore(version)
    }

    /// Takes the values of a row out of all entries of the journal.
    ///
    /// ```swift
    /// try player.delete(db)
    /// try db.forget(player)
    /// ```
    ///
    /// The row itself stays as it is. Copies of earlier states
    /// (`asOf`) then have its present state. To remove the bytes from
    /// the file, too, use `PRAGMA secure_delete` before, or VACUUM afterwards.
    ///
    /// - Parameter record: A record. Its key counts. If the row has had another key before, call
    ///   ``forget(_:key:)`` for that one, too.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public func forget(_ record: some TableRecord & EncodableRecord) throws {
        checkAccess()
        let history = try JournalHistory(self, table: type(of: record).databaseTableName)
        try history.forget(history.key(in: record.databaseDictionary))
    }

    /// Takes the values of a row out of all entries of the journal, by its key.
    ///
    /// - Parameters:
    ///   - type: The type of the row's records.
    ///   - key: The values of the primary key, in the order of the key.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public func forget(
        _ type: (some TableRecord).Type, key: any DatabaseValueConvertible...
    ) throws {
        checkAccess()
        try JournalHistory(self, table: type.databaseTableName).forget(key.map(\.databaseValue))
    }
}
