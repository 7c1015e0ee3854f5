// Deleted rows that a rule keeps in their table: bulk deletions, and restorations.

extension SelectQuery {
    /// Returns the rules that may delete the rows in another way than by DELETE. Most types have
    /// none.
    func deletionRules(on db: Database) throws -> [SaveRule] {
        guard let type = source.type, type.deletionColumn != nil else { return [] }
        return try db.plan(for: type).use { Array($0.rules) }
    }
}

extension MutablePersistableRecord {
    /// Restores the record's row, if a rule of its type keeps deleted rows.
    ///
    /// - Returns: Whether it was deleted.
    /// - Throws: a ``DatabaseError`` if the type declares no such rule.
    func restoreRow(in db: Database) throws -> Bool {
        db.checkAccess()
        try recordType.checkKeepsDeletedRows()
        for rule in try db.plan(for: recordType).use({ $0.rules }) {
            if let isRestored = try rule.restore(self, in: db) { return isRestored }
        }
        return false
    }
}

extension Record {
    /// Restores the row of a saved record, unless the record remembers that it is not deleted.
    final func restoreDeletedRow(in db: Database) throws {
        for rule in try db.plan(for: type(of: self)).use({ $0.rules }) where rule.mayHaveDeleted(self) {
            _ = try rule.restore(self, in: db)
        }
    }
}
