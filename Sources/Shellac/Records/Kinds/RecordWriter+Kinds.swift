// What a save does where the row that it was to find is of another kind.

extension RecordWriter {
    /// Checks that the record's row, if there is one, is of the record's kind.
    ///
    /// - Throws: ``RecordError/kindChanged(recordType:kind:row:)``, and ``RecordError/unknownKind(recordType:kind:row:)``.
    @inline(__always)
    func checkKind() throws {
        if let kind = withPlan({ $0.kind }) { try checkRow(isOf: kind) }
    }

    @inline(never)
    private func checkRow(isOf kind: ClassKind) throws {
        guard hasKey else { return }
        let statement = try statements.comparison(with: ExpectedColumns())
        try statement.begin { bindKey(to: $0, from: 1) }
        defer { statement.abandon() }
        if try statement.step() { try kind.checkRow(Row(statement.row)) }
    }

    /// Checks that the row which was in the way of an upsert is of the record's kind, whichever unique index has found it.
    @inline(never)
    func checkKindInTheWay() throws {
        guard let kind = plan.kind else { return }
        try checkRow(isOf: kind)
        let names = columns.layout.names
        for index in plan.table.indexes where index.isUnique && !index.isPartial {
            let places = index.keys.compactMap { $0.column.flatMap(columns.layout.column(named:)) }
            guard places.count == index.keys.count, !places.contains(where: columns.isNull) else { continue }
            let sql =
                "SELECT * FROM \(plan.quotedTable) WHERE \(RecordPlan.condition(places.map { names[$0] }))"
            let found = try Row.fetchOne(
                database, sql: sql, arguments: StatementArguments(places.map { columns[$0] }))
            if let found { try kind.checkRow(found) }
        }
    }
}
