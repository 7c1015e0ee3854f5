/// A value that the database gave a record, in the place of another one: its row id, a date, the key of a row that was in
/// the way of an upsert.
struct GivenValue {
    let name: String
    let old: DatabaseValue
    let new: DatabaseValue
    /// How values are compared that the record may encode in another class than they are stored in.
    var affinity: ColumnAffinity?

    var reversed: Self { Self(name: name, old: new, new: old, affinity: affinity) }

    /// Whether a value is encoded as one that is stored as another, or as the same date.
    static func isEncoded(
        _ encoded: DatabaseValue, as value: DatabaseValue, _ affinity: ColumnAffinity?
    ) -> Bool {
        if ColumnAffinity.isStored(encoded, as: value, in: affinity) { return true }
        return StoredDate(encoded)?.isEqual(to: StoredDate(value)) ?? false
    }
}

extension Record {
    /// Gives the record values: those of columns that it lists alone, and the others by a row of all that it encodes. Where
    /// it encodes another value than the one that it had, by now, that is kept.
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

    /// Whether a column is encoded as a value, or as one that is stored as it, or as the same date.
    final func encodes(
        _ value: DatabaseValue, in name: String, _ affinity: ColumnAffinity? = nil
    ) throws -> Bool {
        let columns = try encoded()
        guard let column = columns.layout.column(named: name) else { return false }
        return GivenValue.isEncoded(columns[column], as: value, affinity)
    }

    /// Gives the record values. Returns one that it has not taken, if there is any.
    final func takeOrRefuse(_ given: [GivenValue]) throws -> GivenValue? {
        try take(given)
        return try given.first { try !encodes($0.new, in: $0.name) }
    }

    /// Notes values that are about to be given to the record: a rollback takes them away.
    final func noteGiven(_ given: GivenValues, in db: Database) {
        _ = db.transactionLog.note(self, given, rowID: nil, moment: 0, in: db)
    }

    /// Has the record get the values back that it had before a save that is rolled back, unless it was given others since.
    final func takeAway(_ given: GivenValues) {
        do {
            try take(given.values.map(\.reversed))
        } catch {
            let names = given.values.map(\.name).joined(separator: ", ")
            ErrorLog.warn(
                "a save of a \(type(of: self)) was rolled back, and the record has kept its \(names): \(error)"
            )
        }
    }
}

/// Values that a record was given, as the journal notes them. Records that are given the same share one.
final class GivenValues {
    let values: [GivenValue]

    init(_ values: [GivenValue]) { self.values = values }
}
