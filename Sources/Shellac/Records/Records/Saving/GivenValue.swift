/// A value that the database has assigned to a record in place of its own.
///
/// It may be the row id, a date, or the key of the row that conflicted in an upsert.
struct GivenValue {
    let name: String
    let old: DatabaseValue
    let new: DatabaseValue
    /// The affinity for comparing values that the record may encode in another storage class.
    var affinity: ColumnAffinity?

    var reversed: Self { Self(name: name, old: new, new: old, affinity: affinity) }

    /// Whether a value is encoded as one that is stored as the other, or as the same date.
    static func isEncoded(
        _ encoded: DatabaseValue, as value: DatabaseValue, _ affinity: ColumnAffinity?
    ) -> Bool {
        if ColumnAffinity.isStored(encoded, as: value, in: affinity) { return true }
        return StoredDate(encoded)?.isEqual(to: StoredDate(value)) ?? false
    }
}

extension Record {
    /// Sets values in the record. Listed columns are set one by one. The others are set by a row of
    /// all columns that the record encodes. If the record by now encodes another value than the old
    /// one, it keeps that value.
    final func take(_ given: [GivenValue]) throws {
        let row = try encoded().row()
        var values = row.databaseValues
        var hasChanged = false
        let listsColumns = Overrides.listing(type(of: self))
        for value in given {
            guard let column = row.layout.column(named: value.name), values[column] != value.new,
                GivenValue.isEncoded(values[column], as: value.old, value.affinity)
            else { continue }
            values[column] = value.new
            if listsColumns, try give(value.new, to: value.name) { continue }
            hasChanged = true
        }
        if hasChanged { try updateFromRow(Row(.make(row.layout, values: values))) }
    }

    /// Whether a column encodes the given value, one that is stored as it, or the same date.
    final func encodes(
        _ value: DatabaseValue, in name: String, _ affinity: ColumnAffinity? = nil
    ) throws -> Bool {
        let columns = try encoded()
        guard let column = columns.layout.column(named: name) else { return false }
        return GivenValue.isEncoded(columns[column], as: value, affinity)
    }

    /// Sets values in the record. Returns one that the record has not taken, if there is any.
    final func takeOrRefuse(_ given: [GivenValue]) throws -> GivenValue? {
        try take(given)
        return try given.first { try !encodes($0.new, in: $0.name) }
    }

    /// Notes values that are about to be set in the record. A rollback removes them.
    final func noteGiven(_ given: GivenValues, in db: Database) {
        _ = db.transactionLog.note(self, given, rowID: nil, moment: 0, in: db)
    }

    /// Restores the values that the record had before a save that is rolled back, unless others
    /// were set since.
    final func takeAway(_ given: GivenValues) {
        do {
            try take(given.values.map(\.reversed))
        } catch {
            let names = given.values.map(\.name).joined(separator: ", ")
            ErrorLog.warn(
                "a save of a \(type(of: self)) was rolled back, but the record has kept its \(names): \(error)"
            )
        }
    }
}

/// Values that were set in a record, as the journal notes them. Records with the same values share
/// one object.
final class GivenValues {
    let values: [GivenValue]

    init(_ values: [GivenValue]) { self.values = values }
}
