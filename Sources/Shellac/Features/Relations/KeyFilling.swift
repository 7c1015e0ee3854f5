/// A key that foreign keys are to become. All records of a list become the same, and mostly, all have had none before.
struct KeyFilling {
    let columns: [String]
    private let key: [DatabaseValue]
    /// What becomes of a foreign key that is NULL.
    let ofNull: GivenValues

    /// - Parameter key: Nil stands for NULL.
    init(_ columns: [String], _ key: [DatabaseValue]?) {
        self.columns = columns
        self.key = key ?? columns.map { _ in .null }
        ofNull = Self.changes(columns, columns.map { _ in .null }, self.key)
    }

    /// What becomes of another foreign key.
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
    /// The first of some columns that is one of the primary key.
    func keyColumn(among columns: [String]) -> String? {
        columns.first { name in key.contains { CaseInsensitiveName.matches($0, name) } }
    }
}

extension Record {
    /// Fills a foreign key in, which a rollback takes away again.
    ///
    /// - Returns: Whether the record has been given the key now, and has neither a row nor a key that one could have: so it
    ///   is to be inserted. One that stands twice in a list is given the key once.
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
        if try db.plan(for: type(of: self)).use({ $0.listsColumns }), try take(all: given.values) {
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

    /// Gives the record values of columns that it lists. False where it has not taken one of them.
    private func take(all given: [GivenValue]) throws -> Bool {
        for index in given.indices where try !give(given[index].new, to: given[index].name) { return false }
        return true
    }

    /// Whether a record that remembers no row encodes NULL in all columns of a foreign key, and no primary key: the short
    /// way to what most records have that are saved along with another.
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
