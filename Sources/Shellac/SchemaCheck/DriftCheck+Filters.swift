// The comparison of a type's default filter, and of the column that says which rows are deleted, with its table.

extension DriftCheck {
    /// Checks that the table has the columns of the type's conditions, and that its unique indexes leave deleted rows alone.
    mutating func checkFilters<T: TableRecord>(of type: T.Type) throws {
        guard type._ownConditions != nil else { return }
        do {
            _ = try type.all().prepare(db, forSingleResult: true)
        } catch let error as DatabaseError {
            add(.filterInvalid(message: error.message ?? "\(error.resultCode)"))
            return
        }
        guard let deletion = type.databaseSoftDelete else { return }
        for index in table.indexes
        where index.isUnique && !index.isPartial && index.origin != .primaryKeyConstraint {
            add(
                .uniqueIndexOfDeletedRows(name: index.name, softDelete: deletion.column),
                index.keys.compactMap(\.column))
        }
    }
}
