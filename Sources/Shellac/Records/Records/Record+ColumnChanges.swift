/// The old and the new value of a column in which a record differs from the database.
public struct DatabaseColumnChange: Hashable, Sendable {
    /// The value that the database holds, or held. Nil if it is unknown, which is not NULL.
    public let old: DatabaseValue?
    /// The value that the record has, or had when it was saved.
    public let new: DatabaseValue
}

extension DatabaseColumnChange: CustomStringConvertible {
    /// Both values, as in `0 → 1000`, or `"" → "Arthur"`. An unknown value is a question mark.
    public var description: String { "\(old?.inWords ?? "?") → \(new.inWords)" }
}

extension Record {
    /// The columns that differ from the database, with the database's value and the record's value.
    ///
    /// ```swift
    /// player.score = 1000
    /// for (column, change) in try player.databaseColumnChanges {
    ///     print("\(column): \(change)")   // score: 0 → 1000
    /// }
    /// ```
    ///
    /// A record whose primary key was changed identifies another row, whose values are unknown. So
    /// this contains all of its columns. The same holds if the key was NULL, or became NULL.
    ///
    /// - Throws: any error that ``encode(to:)`` throws.
    public final var databaseColumnChanges: [String: DatabaseColumnChange] {
        get throws {
            let columns = try encoded()
            guard let snapshot, snapshot.count > 0 else {
                return columns.changes(ColumnMask(0..<columns.count), in: nil)
            }
            let mask = columns.changes(from: snapshot)
            if mask.isEmpty { return [:] }
            snapshot.layout.learnKey(of: type(of: self))
            let key = snapshot.layout.key(of: type(of: self))
            let places = columns.layout.places(of: key)
            guard columns.hasOtherKey(places, of: key, than: snapshot) else {
                return columns.changes(mask, in: snapshot)
            }
            return columns.changes(ColumnMask(0..<columns.count), in: nil)
                .merging(columns.changes(ColumnMask(places.filter(mask.contains)), in: snapshot)) { $1 }
        }
    }

    /// The columns that the last save changed, with the old and new values in the database.
    ///
    /// It is empty for a record that was not saved, or whose save was rolled back.
    public final var savedDatabaseColumnChanges: [String: DatabaseColumnChange] {
        guard let (before, after) = lastSave else { return [:] }
        let layout = after.layout
        var changes: [String: DatabaseColumnChange] = [:]
        // The values that were remembered before belong to another row.
        let hasOtherKey =
            before.map { after.hasOtherKey(layout.places(of: layout.key), of: layout.key, than: $0) } ?? false
        // If columns have the same name, the leftmost counts.
        for (column, name) in layout.names.enumerated() where layout.column(named: name) == column {
            let (new, affinity) = (after.column(column), layout.affinity(ofColumn: column))
            let place = hasOtherKey ? nil : before?.layout.column(named: name)
            if let before, let place {
                if new.isStored(as: before.column(place), in: affinity) { continue }
            }
            changes[name] = DatabaseColumnChange(
                old: place.flatMap { before?.storedValue(at: $0) }, new: after.storedValue(at: column))
        }
        return changes
    }
}

extension PackedColumns {
    /// Returns some of the columns, with the values that a row has for them. The old value is nil
    /// if the row lacks the column.
    fileprivate func changes(_ mask: ColumnMask, in row: PackedRow?) -> [String: DatabaseColumnChange] {
        var changes: [String: DatabaseColumnChange] = [:]
        for (column, name) in layout.names.enumerated() where mask.contains(column) {
            let old = row?.layout.column(named: name).flatMap { row?.storedValue(at: $0) }
            changes[name] = DatabaseColumnChange(old: old, new: self[column])
        }
        return changes
    }
}
