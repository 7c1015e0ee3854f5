// The comparison of a soft delete with its table, and with the rows that are deleted along.

extension SoftDeleteRule: CheckedRule {
    /// The table must have the column, unique indexes must ignore deleted rows, and cascades must
    /// find their rows.
    func check(_ check: inout DriftCheck, of type: any TableRecord.Type) throws -> Bool {
        if check.table.column(named: deletion.column) == nil {
            // SQLite may take the name of a missing column for a text, which is not NULL: all rows
            // would count as deleted.
            let nearest =
                check.table.columns.map(\.name).nearest(to: deletion.column)
                .map { " (did you mean \($0)?)" } ?? ""
            check.add(
                .filterInvalid(
                    message: "it has no column \(deletion.column)\(nearest), which databaseSoftDelete names"))
            return false
        }
        check.checkUniqueIndexes(of: type, deletion)
        for cascade in deletion.cascades {
            do {
                try check.check(cascade, of: type, deletion)
            } catch {
                let sentence = DriftCheck.sentence(of: error)
                // Other errors name it first.
                let name = error is DatabaseError ? "\(cascade.name): " : ""
                check.add(
                    .filterInvalid(message: "its databaseSoftDelete cannot cascade: \(name)\(sentence)"))
            }
        }
        return true
    }
}

extension DriftCheck {
    fileprivate mutating func checkUniqueIndexes(of type: any TableRecord.Type, _ deletion: SoftDelete) {
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
    fileprivate func check(
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
            _ = try QueryInterfaceRequest<Row>(query).makePreparedRequest(db, forSingleResult: true)
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
}
