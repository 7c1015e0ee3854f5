// The comparison of an enum with its column: with the column's CHECK, and with the stored values.

extension DriftCheck {
    /// The maximum number of reported values that are no case.
    private static let maximumValues = 10

    /// Compares the cases of a type, if it lists any.
    mutating func checkCases(of type: (any Any.Type)?, in column: ColumnInfo) throws {
        guard let cases = type.flatMap(CaseValues.init) else { return }
        try checkConstraints(cases, column)
        try checkRows(cases, column)
    }

    private mutating func checkConstraints(_ cases: CaseValues, _ column: ColumnInfo) throws {
        guard table.kind == .table else { return }
        for list in CheckExpressions(table.sql).valueLists(of: column.name) {
            // If the list has other things than literals, it does not define the set of values.
            guard let row = try? Row.fetchOne(db.makeStatement(sql: "SELECT \(list.sql)")) else { continue }
            let accepted = Set(row.databaseValues.map(column.affinity.storing))
            let refused = cases.all.filter { !accepted.contains(column.affinity.storing($0)) }
            if !refused.isEmpty { add(.casesRefused(type: cases.typeName, values: refused), column.name) }
        }
    }

    private mutating func checkRows(_ cases: CaseValues, _ column: ColumnInfo) throws {
        let known = cases.all
        // Too many cases for the variables of a statement are compared in Swift alone.
        let listed = known.count <= 500 ? known : []
        let name = column.name.quotedDatabaseIdentifier
        let condition =
            listed.isEmpty
            ? "" : " AND \(name) COLLATE BINARY NOT IN (\(listed.map { _ in "?" }.joined(separator: ", ")))"
        let statement = try db.makeStatement(
            sql: "SELECT \(name), COUNT(*) FROM \(table.name.quoted(in: table.schemaName)) "
                + "WHERE \(name) IS NOT NULL\(condition) GROUP BY \(name) COLLATE BINARY ORDER BY 2 DESC, 1")
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(listed))
        var told = 0
        while told < Self.maximumValues, let row = try rows.next() {
            let value = row.databaseValues[0]
            if cases.accepts(value) { continue }
            let count = Int.fromDatabaseValue(row.databaseValues[1]) ?? 0
            add(.unknownCase(type: cases.typeName, value: value, count: count), column.name)
            told += 1
        }
    }
}

extension Database {
    /// Compares an enum with a column, without a record whose properties connect them.
    ///
    /// ```swift
    /// try db.checkCases(of: Kind.self, in: "kind", of: "animal")
    /// ```
    ///
    /// ``checkSchema(of:)`` does so for the properties of records.
    ///
    /// - Parameters:
    ///   - type: The enum.
    ///   - column: The name of the column.
    ///   - tableName: The name of the table, or of a view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: A ``SchemaDriftError`` if the column's CHECK refuses a case, or if rows hold a
    ///   value that is no case. A ``DatabaseError`` if there is no such table or column.
    public func checkCases<Value: CaseIterable & DatabaseValueConvertible>(
        of type: Value.Type, in column: String, of tableName: String, in schemaName: String? = nil
    ) throws {
        let table = try tableSchema(tableName, in: schemaName)
        guard let column = table.column(named: column) else {
            throw DatabaseError(
                message:
                    "the table \(table.name) has no column \(column)\(table.columns.map(\.name).question(for: column))"
            )
        }
        var check = DriftCheck(table, for: type, self)
        try check.checkCases(of: type, in: column)
        if let error = SchemaDriftError(check.faults) { throw error }
    }
}
