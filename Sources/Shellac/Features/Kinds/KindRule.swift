// The rule of single-table inheritance: a class writes and updates only rows of its own kind.

/// The rule of a class with kinds.
final class KindRule: SaveRule {
    let kind: ClassKind

    init(_ kind: ClassKind) { self.kind = kind }

    override var declaration: String { "databaseKinds" }
    override var ownColumns: [String] { [kind.column] }
    override var insertedColumns: [String] { [kind.column] }
    override var rowCondition: String? { kind.ownRows }

    override func check(_ names: [String]) throws { try kind.checkSaving(names) }

    override func shape(
        _ columns: inout WrittenColumns, beside layout: RowLayout, in table: TableSchema
    ) { columns.added.append((kind.column, kind.inserted)) }

    /// Throws if the record's row exists, and is of another kind.
    override func explainMissingRow(to writer: RecordWriter) throws { try writer.checkRow(isOf: kind) }

    /// Throws if the row that was in the way is of another kind.
    override func explainIgnoredUpsert(to writer: RecordWriter) throws {
        try writer.checkRowInTheWay(isOf: kind)
    }
}

extension RecordWriter {
    /// Checks that the record's row, if there is one, is of the record's kind.
    ///
    /// - Throws: ``RecordError/kindChanged(recordType:kind:row:)``, and
    ///   ``RecordError/unknownKind(recordType:kind:row:)``.
    /// - Returns: Whether there is one.
    @discardableResult
    fileprivate func checkRow(isOf kind: ClassKind) throws -> Bool {
        guard hasKey else { return false }
        let statement = try statements.comparison()
        try statement.begin { bindKey(to: $0, from: 1) }
        defer { statement.abandon() }
        guard try statement.step() else { return false }
        try kind.checkRow(Row(statement.row))
        return true
    }

    /// Checks that the row that blocked an upsert is of the record's kind, whichever unique index
    /// has found it.
    ///
    /// - Throws: ``RecordError/kindChanged(recordType:kind:row:)`` and
    ///   ``RecordError/unknownKind(recordType:kind:row:)``. Also a ``DatabaseError`` if a row must
    ///   have been in the way, and cannot be found.
    fileprivate func checkRowInTheWay(isOf kind: ClassKind) throws {
        var isFound = try checkRow(isOf: kind)
        var unsearched: [String] = []
        if let name = plan.rowIDColumn, let place = columns.layout.column(named: name), !columns.isNull(place)
        {
            let sql = "SELECT * FROM \(plan.quotedTable) WHERE \(RecordPlan.condition([name]))"
            if let row = try Row.fetchOne(database, sql: sql, arguments: [columns[place]]) {
                try kind.checkRow(row)
            }
        }
        for index in plan.table.indexes where index.isUnique {
            guard let search = try search(for: index, kind) else {
                unsearched.append(index.name)
                continue
            }
            if let row = try Row.fetchOne(search.statement, arguments: search.arguments) {
                try kind.checkRow(row)
                isFound = true
            }
        }
        // If nothing is in the way, a trigger has ignored the row, or a constraint with an ON
        // CONFLICT clause has.
        let mayBeIgnored = try !plan.canTakeManyRows(on: database)
        if unsearched.isEmpty, isFound || mayBeIgnored { return }
        let indexes = unsearched.joined(separator: ", ")
        throw DatabaseError(
            message:
                "a \(kind.type) was not upserted, and nothing was written: a row of another kind is in its way in the table "
                + "\(plan.tableName)\(mayBeIgnored ? ", unless a trigger or a constraint has ignored it" : ""), and cannot be shown"
                + (indexes.isEmpty ? "" : ", as it cannot be looked up in the index \(indexes)"))
    }

    /// Returns a search for the row that conflicts with the new one in a unique index. Nil if the
    /// new row's values in the index are not known.
    ///
    /// SQLite computes the keys and the condition of the index from the new row. The row is in a
    /// subquery, whose columns have the names, affinities and collations of the table's. (Its LIMIT
    /// keeps SQLite from replacing the columns with the values: see "The SQLite Query Optimizer
    /// Overview", section "Subquery Flattening".)
    private func search(
        for index: IndexInfo, _ kind: ClassKind
    ) throws -> (statement: Statement, arguments: StatementArguments)? {
        let table = plan.table
        var text: IndexText?
        if index.isPartial || index.hasExpressions {
            let sql = try database.schema.objects(.index, in: table.schemaName).first {
                CaseInsensitiveName.matches($0.name, index.name)
            }?.sql
            text = sql.flatMap { IndexText($0) }
            guard let text, text.keys.count == index.keys.count else { return nil }
            // Only the table itself can compute its generated columns, and an expression may use
            // them.
            if table.columns.contains(where: \.isGenerated) { return nil }
        } else if index.columns.contains(where: { table.column(named: $0)?.isGenerated ?? true }) {
            return nil
        }
        let own = table.columns.filter { !$0.isGenerated && !$0.isHidden }
        var arguments: [DatabaseValue] = []
        let values = own.map { column in
            let given: DatabaseValue
            if let place = columns.layout.column(named: column.name) {
                given = columns[place]
            } else if CaseInsensitiveName.matches(column.name, kind.column) {
                given = kind.kind ?? .null
            } else {
                return column.defaultValueSQL.map { "(\($0))" } ?? "NULL"
            }
            arguments.append(column.affinity.storing(given))
            return "?"
        }
        let keys = index.keys.enumerated().map { place, key in
            "(\(key.column?.quotedDatabaseIdentifier ?? text?.keys[place] ?? "NULL"))"
        }
        let collated = zip(keys, index.keys).map { "\($0) COLLATE \($1.collation.quotedDatabaseIdentifier)" }
        let condition = text?.condition.map { "(\($0))" } ?? "1"
        let names = own.map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
        let source = table.name.quoted(in: table.schemaName)
        let sql = """
            SELECT * FROM \(source) WHERE \(condition) AND (\(collated.joined(separator: ", "))) = (\
            SELECT \(keys.joined(separator: ", ")) FROM (\
            SELECT \(names) FROM \(source) WHERE 0 UNION ALL SELECT \(values.joined(separator: ", ")) LIMIT 1) WHERE \(condition))
            """
        // An index may accept names that a statement does not: texts in double quotes.
        guard let statement = try? database.makeStatement(sql: sql) else { return nil }
        return (statement, StatementArguments(arguments))
    }
}
