/// An error of a record.
public enum RecordError: Error, Hashable, Sendable {
    /// There is no row for a key. Thrown by `update`, `updateChanges`, `reload` and `find`, and by
    /// methods that save and fetch if a conflict was resolved by ignoring the record. The key of a
    /// record that was never saved is usually NULL: `insert` or `save` it.
    case recordNotFound(databaseTableName: String, key: [String: DatabaseValue])

    /// A record cannot take the values that the database has stored. Thrown by `reload`,
    /// `insert(_:refreshing:)`, and by an insertion that fills in the row id.
    ///
    /// The row has been written nevertheless.
    case rowNotTaken(recordType: String, reason: String)

    /// The copy of a record, which is needed to save it, could not be made. Thrown by `save(in:)`
    /// and related methods. Nothing has been saved.
    case notCopied(recordType: String, reason: String)

    /// A dictionary is not a unique key of the table.
    case notAUniqueKey(databaseTableName: String, columns: [String])

    /// A dictionary is the key of a unique index that leaves out rows, and the type's default
    /// filter does not leave out these rows. So several rows could have the values.
    case partialUniqueKey(databaseTableName: String, columns: [String], index: String, condition: String)

    /// One value was given for a primary key of several columns.
    case compositeKey(databaseTableName: String, columns: [String])

    /// A record does not encode a column that should be updated.
    case columnNotEncoded(databaseTableName: String, column: String)

    /// A row has another primary key than the record that should take it. Thrown by `merge`. The
    /// record is unchanged.
    case otherKey(databaseTableName: String, key: [String: DatabaseValue], rowKey: [String: DatabaseValue])

    /// A row has other values in some columns than the record remembers, or values that the record
    /// has never read. Thrown by ``Record/update(_:checking:)``, which has written nothing.
    ///
    /// The row has its current values. ``Record/merge(_:)-(Row)`` takes it. If the row is gone, the
    /// error is ``recordNotFound(databaseTableName:key:)`` instead.
    case stale(columns: [String], row: CurrentRow)

    /// A row is of another kind than the record, or than the requested class. Its kind was changed
    /// by other code, or raw SQL has found it. Nothing was written.
    ///
    /// The row has its current values. The kind is the value in the column of
    /// ``Record/databaseKinds``.
    case kindChanged(recordType: String, kind: DatabaseValue, row: CurrentRow)

    /// A row is of a kind that ``Record/databaseKinds`` does not list, if that is an error.
    case unknownKind(recordType: String, kind: DatabaseValue, row: CurrentRow)

    /// A record has no primary key to find its row by. Thrown by the loop over `follow(in:)`.
    case noKey(databaseTableName: String, columns: [String])
}

extension RecordError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .recordNotFound(let table, let key):
            let isThere = !key.isEmpty && !key.values.contains(where: \.isNull)
            return "there is no row in the table \(table) for the key \(Self.description(of: key))"
                + (isThere ? "" : ": a record that has no key was never saved. Call insert or save")
        case .rowNotTaken(let type, let reason):
            return "a \(type) did not take its row: \(reason)"
        case .notCopied(let type, let reason):
            return "a \(type) could not be copied: \(reason)"
        case .notAUniqueKey(let table, let columns):
            let names = columns.sorted().joined(separator: ", ")
            return
                "(\(names)) is not a unique key of the table \(table): fetch by the primary key, by the "
                + "columns of a unique index, or by a query"
        case .partialUniqueKey(let table, let columns, let index, let condition):
            return
                "(\(columns.joined(separator: ", "))) is a unique key of some rows of the table \(table): the index \(index) holds those "
                + "WHERE \(condition). Declare this as a condition of databaseDefaultFilter, or fetch by a query"
        case .compositeKey(let table, let columns):
            return
                "the primary key of the table \(table) has several columns (\(columns.joined(separator: ", "))): "
                + "give their values as a dictionary"
        case .columnNotEncoded(let table, let column):
            return
                "the column \(column) cannot be updated: the record of the table \(table) does not encode it"
        case .otherKey(let table, let key, let rowKey):
            return
                "the row of the table \(table) has the key \(Self.description(of: rowKey)), but the record "
                + "that should take it has \(Self.description(of: key)): merge a row into the record with "
                + "the same key"
        case .stale(let columns, let row):
            return
                "the row of the table \(row.databaseTableName) differs from what the record remembers, in "
                + "\(columns.joined(separator: ", ")): other code has changed it, or the record has never "
                + "read it. Merge the row into the record, or reload it, and save again"
        case .kindChanged(let type, let kind, let row):
            return
                "a row of the table \(row.databaseTableName) is of the kind \(kind.sqlLiteral), which is "
                + "not a kind of \(type): other code has changed the kind, or raw SQL has found the row. "
                + "Fetch the row again with the base class"
        case .unknownKind(let type, let kind, let row):
            return
                "a row of the table \(row.databaseTableName) is of the kind \(kind.sqlLiteral), which the databaseKinds of \(type) do not "
                + "list: list it, or say unknown: .base"
        case .noKey(let table, let columns):
            let key = columns.isEmpty ? "it encodes none" : "\(columns.joined(separator: ", ")) is NULL"
            return
                "a record of the table \(table) has no primary key (\(key)), and so it has no row to "
                + "follow: save it first"
        }
    }

    private static func description(of key: [String: DatabaseValue]) -> String {
        DatabaseValue.description(of: key.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}
