/// The new value of a foreign key, for all records of a list. Most of these had none before.
struct KeyFilling {
    let columns: [String]
    private let key: [DatabaseValue]
    /// The changes of a foreign key that is NULL.
    let ofNull: GivenValues

    /// - Parameter key: The new value. Nil means NULL.
    init(_ columns: [String], _ key: [DatabaseValue]?) {
        self.columns = columns
        self.key = key ?? columns.map { _ in .null }
        ofNull = Self.changes(columns, columns.map { _ in .null }, self.key)
    }

    /// Returns the changes of a foreign key with the given value.
    func changes(of old: [DatabaseValue]) -> GivenValues { Self.changes(columns, old, key) }

    private static func changes(
        _ columns: [String], _ old: [DatabaseValue], _ new: [DatabaseValue]
    ) -> GivenValues {
        GivenValues(
            columns.indices.compactMap { index in
                old[index] == new[index]
                    ? nil : GivenValue(name: columns[index], old: old[index], new: new[index])
            })
    }
}

extension RecordPlan {
    /// Returns the first of the given columns that belongs to the primary key, or nil.
    func keyColumn(among columns: [String]) -> String? {
        columns.first { name in key.contains { CaseInsensitiveName.matches($0, name) } }
    }
}

extension Record {
    /// Fills in a foreign key. A rollback removes it again.
    ///
    /// - Returns: Whether the record got the key now, remembers no row and has no primary key, so
    ///   that it must be inserted. A record that occurs twice in a list gets the key once.
    @discardableResult
    final func fill(
        _ filling: KeyFilling, of definition: RelationDefinition, in db: Database
    ) throws -> Bool {
        let (isNull, isNew) = try newKeys(filling.columns, in: db)
        let given =
            try isNull
            ? filling.ofNull : filling.changes(of: encodedKey(filling.columns, of: definition, in: db))
        if given.values.isEmpty { return false }
        noteGiven(given, in: db)
        // A class that lists its columns need not be encoded again.
        if try db.plan(for: type(of: self)).use({ $0.traits.listsColumns }), try take(all: given.values) {
            return isNew
        }
        if let value = try takeOrRefuse(given.values) {
            throw RelationError.unsound(
                relation: definition.name(),
                reason:
                    "\(type(of: self)) has not taken its key: list the column \(value.name) in columns(_:)")
        }
        return isNew
    }

    /// Sets columns that the record lists. Returns false if the record has not taken one of the
    /// values.
    private func take(all given: [GivenValue]) throws -> Bool {
        for index in given.indices where try !give(given[index].new, to: given[index].name) { return false }
        return true
    }

    /// Returns whether the record encodes NULL in all columns of a foreign key, and whether it has
    /// no primary key. Both are false if the record remembers a row. This is the fast path for most
    /// records that are saved along with another.
    private func newKeys(_ columns: [String], in db: Database) throws -> (isNull: Bool, isNew: Bool) {
        guard RememberedRow.View(self) == nil else { return (false, false) }
        return try db.withWriter(for: self) { writer in
            let isNew = !writer.hasKey
            for name in columns {
                let column = writer.columns.useLayout { $0.column(named: name) }
                guard let column, writer.columns.isNull(column) else { return (false, isNew) }
            }
            return (true, isNew)
        }
    }
}
