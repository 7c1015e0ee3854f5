// The comparison of a type's default filter, and of its soft delete, with its table.

extension DriftCheck {
    /// Checks the default filter and the soft delete of a type. The table must have the columns of
    /// its conditions, unique indexes must ignore deleted rows, and cascades must find their rows.
    mutating func checkFilters<T: TableRecord>(of type: T.Type) throws {
        guard type._ownConditions != nil else { return }
        let deletion = type.databaseSoftDelete
        if let name = deletion?.column, table.column(named: name) == nil {
            // SQLite may take the name of a missing column for a text, which is not NULL: all rows
            // would count as deleted.
            let nearest = table.columns.map(\.name).nearest(to: name).map { " (did you mean \($0)?)" } ?? ""
            return add(
                .filterInvalid(message: "it has no column \(name)\(nearest), which databaseSoftDelete names"))
        }
        do {
            _ = try type.all().prepare(db, forSingleResult: true)
        } catch {
            add(.filterInvalid(message: Self.sentence(of: error)))
        }
        guard let deletion else { return }
        checkUniqueIndexes(of: type, deletion)
        for cascade in deletion.cascades {
            do {
                try check(cascade, of: type, deletion)
            } catch {
                let sentence = Self.sentence(of: error)
                // Other errors name it first.
                let name = error is DatabaseError ? "\(cascade.name): " : ""
                add(.filterInvalid(message: "its databaseSoftDelete cannot cascade: \(name)\(sentence)"))
            }
        }
    }

    private mutating func checkUniqueIndexes(of type: any TableRecord.Type, _ deletion: SoftDelete) {
        // All kinds of a table share one soft delete, so the fault names the base class.
        let base = (type as? Record.Type)?.rowClasses?.base
        for index in table.indexes
        where index.isUnique && !index.isPartial && index.origin != .primaryKeyConstraint {
            let holdsDate = index.columns.contains { CaseInsensitiveName.matches($0, deletion.column) }
            add(
                holdsDate
                    ? .uniqueIndexOfDates(name: index.name, softDelete: deletion.column)
                    : .uniqueIndexOfDeletedRows(name: index.name, softDelete: deletion.column),
                index.columns, of: base ?? type)
        }
    }

    /// Throws if the rows of a cascade cannot be found, or cannot be deleted.
    private func check(
        _ cascade: any SoftDeleteCascade, of type: any TableRecord.Type, _ deletion: SoftDelete
    ) throws {
        let columns = try cascade.ownerColumns(of: type, on: db)
        for name in columns where !hasColumn(name) {
            throw DatabaseError(message: "the table \(table.name) has no column \(name)")
        }
        // Outside of a transaction, each call gives another date.
        let date = try db.transactionDate
        // The owner does not matter, as nothing is fetched.
        let owner = columns.map { _ in 0.databaseValue }
        for query in try cascade.rows(along: [owner], of: type, on: db) {
            guard let target = query.source.type else { continue }
            let own = try target.softDeletion()
            _ = try QueryInterfaceRequest<Row>(query).prepare(db, forSingleResult: true)
            let schema = try target.tableSchema(on: db)
            if schema.column(named: own.column) == nil {
                throw DatabaseError(
                    message:
                        "the table \(schema.name) has no column \(own.column), which the databaseSoftDelete of \(target) names"
                )
            }
            let dates = try (
                type.storedKeyValue(date, in: deletion.column), target.storedKeyValue(date, in: own.column)
            )
            if dates.0 != dates.1 {
                throw DatabaseError(
                    message:
                        "\(target) stores dates in \(own.column) in another form (\(dates.1) instead of "
                        + "\(dates.0)): give both types the same strategy for dates"
                )
            }
        }
    }

    private static func sentence(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.message ?? "\(error.resultCode)"
    }
}
