// The statements that save records of a type, for the columns that the records encode.

/// The columns that records of a type encode, and their saving statements, each prepared once.
final class RecordStatements {
    let layout: RowLayout
    /// The layout, for use without reference counting.
    var layoutReference: Unretained<RowLayout> { Unretained(layout) }
    let key: EncodedKey
    /// The place of the column that is the row id.
    let rowIDColumn: Int?
    /// The columns that an update sets if the key is exact: all that are not in the primary key. If
    /// there are no others, the update sets the key to itself, so that observers are notified, and
    /// a missing row is noticed.
    let allColumns: ColumnMask
    /// The columns that statements write, apart from the encoded values, as rules have it.
    let written: WrittenColumns
    @exclusivity(unchecked) var names: ColumnNames

    unowned(unsafe) let plan: RecordPlan  // the plan owns this
    private unowned(unsafe) let database: Database  // it owns this
    @exclusivity(unchecked) private var prepared = PreparedSaves()
    var reading = RowReading()

    init(_ names: [String], plan: RecordPlan, database: Database) {
        self.plan = plan
        self.database = database
        let places = plan.table.places(ofKey: plan.key, in: names)
        let keyColumns = places.count == max(plan.key.count, 1) ? places : []
        let layout = RowLayout(
            names: names, sql: nil, affinities: names.map(plan.table.affinity(ofColumn:)),
            key: plan.table.key(keyColumns.map { names[$0] }))
        self.layout = layout
        key = EncodedKey(
            columns: keyColumns, isExact: layout.key.comparisons.allSatisfy(\.isExact),
            isRowID: plan.rowIDColumn != nil)
        self.names = ColumnNames(names)
        var written = WrittenColumns()
        for rule in plan.rules { rule.shape(&written, beside: layout, in: plan.table) }
        self.written = written
        let others = ColumnMask(names.indices.filter { !places.contains($0) })
            .subtracting(written.leftAlone)
        allColumns = others.isEmpty ? ColumnMask(places) : others
        rowIDColumn = plan.rowIDColumn.flatMap(layout.column(named:))
    }

    deinit { reading.end() }

    // MARK: - Statements

    private func statement(_ key: PreparedSaves.Key, _ sql: () -> String) throws -> Statement {
        var key = key
        if let statement = prepared.find(&key) { return statement }
        switch key.verb {
        case .insert, .upsert, .update: try checkRules()
        case .delete, .exists, .compare: break
        }
        let returning = key.returning.map { " RETURNING \($0)" } ?? ""
        let statement = try prepare(sql: sql() + returning)
        statement.bypassAdvice()
        let forgotten = prepared.keep(statement, key)
        if !forgotten.isEmpty { database.withRecords { $0.retire(forgotten) } }
        return statement
    }

    /// Throws if a rule of the type refuses records of these columns.
    private func checkRules() throws { for rule in plan.rules { try rule.check(layout.names) } }

    /// - Throws: an error that names the type if it encodes a column that the table lacks.
    private func prepare(sql: String) throws -> Statement {
        do {
            return try database.prepare(sql: sql, persistent: true)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw plan.tellingColumn(error, encoding: layout.names)
        }
    }

    private func quotedNames(_ mask: ColumnMask) -> [String] {
        layout.names.indices.filter(mask.contains).map { layout.names[$0].quotedDatabaseIdentifier }
    }

    private var keyNames: [String] { key.columns.map { layout.names[$0] } }

    func insertionSQL(_ resolution: Database.ConflictResolution, computes: Bool) -> String {
        let columns =
            layout.names + written.added.map(\.column) + (computes ? written.computed?.inserted ?? [] : [])
        let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        return
            "INSERT \(resolution.orClause)INTO \(plan.quotedTable) (\(list)) VALUES \(inserted(computes))"
    }

    /// Returns the values of one inserted row: the encoded columns, and those that rules add.
    private func inserted(_ computes: Bool) -> String {
        let values =
            layout.names.indices.map { written.inserted[$0] ?? "?" } + written.added.map(\.value)
            + (computes ? written.computed?.insertedValues ?? [] : [])
        return "(\(values.joined(separator: ", ")))"
    }

    /// Returns a statement that inserts all columns.
    @inline(__always)
    func insertion(
        _ resolution: Database.ConflictResolution, _ returning: Returning?, computes: Bool
    ) throws -> Unretained<Statement> {
        if returning == nil, let last = prepared.lastInsertion, last.isFree(for: resolution, computes) {
            return last.statement
        }
        let key = PreparedSaves.Key(
            verb: .insert, resolution: resolution, returning: returning?.selection, computes: computes)
        let statement = Unretained(
            try statement(key) {
                if rowIDColumn == nil { plan.warnOfMissingRowID() }
                return insertionSQL(resolution, computes: computes)
            })
        if returning == nil {
            prepared.setLast(.init(resolution: resolution, computes: computes, statement: statement))
        }
        return statement
    }

    /// Returns a statement that inserts all columns of many rows.
    ///
    /// - Parameter isFull: Whether this is the maximum number of rows of one statement. The
    ///   statement for it is kept. So is the last one for fewer rows, because lists may have the
    ///   same length.
    func insertion(ofRows count: Int, isFull: Bool, computes: Bool) throws -> Statement {
        if let last = prepared.insertion(ofRows: count, isFull: isFull, computes: computes) { return last }
        try checkRules()
        let sql =
            insertionSQL(.abort, computes: computes)
            + String(repeating: ", \(inserted(computes))", count: count - 1)
        let statement =
            isFull ? try prepare(sql: sql) : try database.cachedStatement(sql: sql)
        statement.bypassAdvice()
        prepared.setLast(statement, ofRows: count, isFull: isFull, computes: computes)
        return statement
    }

    /// Returns a statement that inserts all columns, or updates columns of the conflicting row.
    ///
    /// - Parameters:
    ///   - mask: The columns that are updated.
    ///   - isPartial: Whether the statement returns the row even if no column is updated.
    ///   - computed: A column that an SQL function computes.
    func upsertion(
        _ returning: String, updating mask: ColumnMask, isPartial: Bool,
        computed: (column: String, function: String)?, computes: Bool
    ) throws -> Statement {
        let key = PreparedSaves.Key(
            verb: .upsert, mask: mask, resolution: .abort, returning: returning, computed: computed?.column,
            computes: computes)
        return try statement(key) {
            var assignments = layout.names.indices.filter(mask.contains).map { column in
                "\(layout.names[column].quotedDatabaseIdentifier) = \(valueInTheWay(of: column))"
            }
            if let computed {
                assignments.append("\(computed.column.quotedDatabaseIdentifier) = \(computed.function)()")
            }
            if assignments.isEmpty, isPartial {
                assignments = quotedNames(ColumnMask([0])).map { "\($0) = \(plan.quotedTable).\($0)" }
            }
            let list = assignments.joined(separator: ", ")
            let condition = plan.rules.rowCondition.map { " WHERE \($0)" } ?? ""
            return "\(insertionSQL(.abort, computes: computes)) ON CONFLICT DO "
                + (list.isEmpty ? "NOTHING" : "UPDATE SET \(list)\(condition)")
        }
    }

    /// Returns the SQL of the value that an upsert writes to a column of the conflicting row. This
    /// is the record's value.
    ///
    /// In a column of the key, the record's letters are written if the row has the record's key. If
    /// the row conflicts in another unique index, it keeps its key.
    func valueInTheWay(of column: Int) -> String {
        let name = layout.names[column].quotedDatabaseIdentifier
        if key.isExact || !key.mask.contains(column) { return "excluded.\(name)" }
        let isSame = quotedNames(key.mask).map { "\(plan.quotedTable).\($0) = excluded.\($0)" }
            .joined(separator: " AND ")
        return "CASE WHEN \(isSame) THEN excluded.\(name) ELSE \(plan.quotedTable).\(name) END"
    }

    /// Returns a statement that updates some columns of the row with the key.
    ///
    /// - Parameter row: The values that the row must hold. Nil if no values are expected.
    @inline(__always)
    func update(
        _ mask: ColumnMask, _ row: ExpectedRow?, _ resolution: Database.ConflictResolution,
        _ returning: Returning?, computes: Bool
    ) throws -> Unretained<Statement> {
        if returning == nil,
            let statement = prepared.update(mask, row, resolution, computes: computes)
        {
            return statement
        }
        let expected = row?.columns
        let key = PreparedSaves.Key(
            verb: .update, mask: mask, expected: expected, resolution: resolution,
            returning: returning?.selection, computes: computes)
        let statement = try statement(key) {
            let assignments =
                quotedNames(mask).map { "\($0) = ?" } + (computes ? written.computed?.assignments ?? [] : [])
            return
                "UPDATE \(resolution.orClause)\(plan.quotedTable) SET \(assignments.joined(separator: ", ")) "
                + "WHERE \(plan.ownCondition(keyNames))"
                + conditions(on: expected).map { " AND \($0)" }.joined()
        }
        let reference = Unretained(statement)
        if returning == nil {
            prepared.setLast(
                PreparedSaves.Update(
                    mask: mask, expected: expected, resolution: resolution, computes: computes,
                    statement: reference))
        }
        return reference
    }

    /// Returns a query for the row with the key. Its first columns are the results of the
    /// comparisons with the expected values.
    func comparison(with expected: ExpectedColumns = ExpectedColumns()) throws -> Statement {
        try statement(.init(verb: .compare, expected: expected, resolution: .abort)) {
            "SELECT \((conditions(on: expected) + ["*"]).joined(separator: ", ")) FROM \(plan.quotedTable) "
                + "WHERE \(RecordPlan.condition(keyNames))"
        }
    }

    /// Returns the conditions that columns hold values exactly as they are stored. A text is
    /// compared byte by byte, whatever the column's collation is.
    private func conditions(on expected: ExpectedColumns?) -> [String] {
        guard let expected else { return [] }
        let names = layout.names.indices.filter(expected.encoded.contains).map { layout.names[$0] }
        return (names + (expected.others ?? [])).map { name in
            let isBinary = !plan.isView && plan.table.comparison(ofColumn: name).collation == .binary
            return "\(name.quotedDatabaseIdentifier)\(isBinary ? "" : " COLLATE BINARY") IS ?"
        }
    }

    /// Returns a statement that deletes the row with the key.
    func deletion() throws -> Statement {
        try statement(.init(verb: .delete, resolution: .abort)) {
            "DELETE FROM \(plan.quotedTable) WHERE \(plan.ownCondition(keyNames))"
        }
    }

    /// Returns a query for the existence of the row with the key.
    func existence() throws -> Statement {
        try statement(.init(verb: .exists, resolution: .abort)) {
            "SELECT 1 FROM \(plan.quotedTable) WHERE \(plan.ownCondition(keyNames))"
        }
    }
}
