/// The columns that records of a type encode, and their saving statements, each prepared once.
final class RecordStatements {
    let layout: RowLayout
    /// The layout, for use without reference counting.
    let layoutReference: Unretained<RowLayout>
    /// The names of all columns.
    let allNames: Set<String>
    /// The columns that an update sets if the key is exact: all that are not in the primary key. If
    /// there are no others, the update sets the key to itself, so that observers are notified, and
    /// a missing row is noticed.
    let allColumns: ColumnMask
    /// The places of the columns of the primary key, in its order. Empty unless all are encoded.
    let keyColumns: [Int]
    let keyMask: ColumnMask
    /// Whether each row that is found by a key holds exactly the record's values in the key.
    let hasExactKey: Bool
    /// The columns that statements write, apart from the encoded values, as rules have it.
    let written: WrittenColumns
    /// Whether the primary key may hold a date, because it is not a row id.
    let mayHaveDateInKey: Bool
    /// Whether names that Swift treats as equal always have the same bytes.
    let hasASCIINames: Bool
    /// The place of the column that is the row id.
    let rowIDColumn: Int?

    /// Whether the row id is encoded under a name that is not a column's.
    private(set) lazy var namesHiddenRowID = layout.names.contains { name in
        TableSchema.rowIDNames.contains { CaseInsensitiveName.matches($0, name) }
    }

    /// The time at which the plan last looked for the shape.
    var lastUse: UInt64 = 0

    unowned(unsafe) let plan: RecordPlan  // the plan owns this
    private unowned(unsafe) let database: Database  // it owns this

    private struct Key: Hashable {
        var verb: Verb
        var mask = ColumnMask()
        var expected: ExpectedColumns?
        var resolution: Database.ConflictResolution
        var returning: String?
        var computed: String?
        var computes = false
        /// Distinguishes statements that run at the same time. A saving statement may call a
        /// function that saves.
        var copy = 0
    }
    private enum Verb { case insert, upsert, update, delete, exists, compare }
    private var statements: [Key: Statement] = [:]
    /// The statements used last. They are also among the others.
    @exclusivity(unchecked) private var lastInsertion:
        (resolution: Database.ConflictResolution, computes: Bool, statement: Unretained<Statement>)?
    @exclusivity(unchecked) private var lastUpdate: Update?

    /// A statement that updates. It is read in place, because copying it would count its
    /// references.
    private struct Update: ~Copyable {
        let mask: ColumnMask
        let expected: ExpectedColumns?
        let resolution: Database.ConflictResolution
        let computes: Bool
        let statement: Unretained<Statement>

        @inline(__always)
        func isFree(
            for mask: ColumnMask, _ row: ExpectedRow?, _ resolution: Database.ConflictResolution,
            _ computes: Bool
        ) -> Bool {
            let isSame = self.mask == mask && self.resolution == resolution && self.computes == computes
            guard isSame, row?.hasColumns(expected) ?? (expected == nil) else { return false }
            return statement.use { !$0.isInUse }
        }
    }

    private typealias ManyInsertion = (count: Int, computes: Bool, statement: Statement)
    @exclusivity(unchecked) private var lastManyInsertion: ManyInsertion?
    @exclusivity(unchecked) private var lastFewInsertion: ManyInsertion?

    init(_ names: [String], plan: RecordPlan, database: Database) {
        self.plan = plan
        self.database = database
        let key = plan.table.places(ofKey: plan.key, in: names)
        keyColumns = key.count == max(plan.key.count, 1) ? key : []
        let layout = RowLayout(
            names: names, sql: nil, affinities: names.map(plan.table.affinity(ofColumn:)),
            key: plan.table.key(keyColumns.map { names[$0] }))
        self.layout = layout
        hasExactKey = layout.key.comparisons.allSatisfy(\.isExact)
        layoutReference = Unretained(layout)
        allNames = Set(names)
        mayHaveDateInKey = plan.rowIDColumn == nil && !keyColumns.isEmpty
        hasASCIINames = names.allSatisfy { $0.utf8.allSatisfy { $0 < 128 } }
        keyMask = ColumnMask(keyColumns)
        var written = WrittenColumns()
        for rule in plan.rules { rule.shape(&written, beside: layout, in: plan.table) }
        self.written = written
        let others = ColumnMask(names.indices.filter { !key.contains($0) })
            .subtracting(written.leftAlone)
        allColumns = others.isEmpty ? ColumnMask(key) : others
        rowIDColumn = plan.rowIDColumn.flatMap(layout.column(named:))
    }

    deinit { row?.recycle() }

    // MARK: - A row to read

    /// The row in which rows of these columns are read, one at a time.
    private var row: LiveRow?
    private var isReading = false

    /// Runs a function with a row over packed columns. The row is valid until the function returns.
    func withRow<Result>(on packed: PackedRow, _ body: (Row) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(packed) {} }
        if isReading { return try body(Row(packed)) }
        let row = self.row ?? .make(layout: layout)
        self.row = row
        isReading = true
        defer { isReading = false }
        return try row.standing(on: packed.bytes) { try body(Row(row)) }
    }

    /// The columns that were requested last, and their names. Records of a type often change in
    /// the same columns.
    @exclusivity(unchecked) var lastColumns: (mask: ColumnMask, names: Set<String>)?

    // MARK: - Statements

    private func statement(_ key: Key, _ sql: () -> String) throws -> Statement {
        var key = key
        while let statement = statements[key] {
            if !statement.isInUse { return statement }
            key.copy += 1
        }
        switch key.verb {
        case .insert, .upsert, .update: try checkRules()
        case .delete, .exists, .compare: break
        }
        let returning = key.returning.map { " RETURNING \($0)" } ?? ""
        let statement = try prepare(sql: sql() + returning)
        statement.bypassAdvice()
        if statements.count > 256 {
            lastInsertion = nil
            lastUpdate = nil
            database.withRecords { $0.retire(Array(statements.values)) }
            statements = [:]
        }
        statements[key] = statement
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

    private func names(_ mask: ColumnMask) -> [String] {
        layout.names.indices.filter(mask.contains).map { layout.names[$0].quotedDatabaseIdentifier }
    }

    private var keyNames: [String] { keyColumns.map { layout.names[$0] } }

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
        if returning == nil, let lastInsertion, lastInsertion.resolution == resolution,
            lastInsertion.computes == computes, lastInsertion.statement.use({ !$0.isInUse })
        {
            return lastInsertion.statement
        }
        let key = Key(
            verb: .insert, resolution: resolution, returning: returning?.selection, computes: computes)
        let statement = Unretained(
            try statement(key) {
                if rowIDColumn == nil { plan.warnOfMissingRowID() }
                return insertionSQL(resolution, computes: computes)
            })
        if returning == nil { lastInsertion = (resolution, computes, statement) }
        return statement
    }

    /// Returns a statement that inserts all columns of many rows.
    ///
    /// - Parameter isFull: Whether this is the maximum number of rows of one statement. The
    ///   statement for it is kept. So is the last one for fewer rows, because lists may have the
    ///   same length.
    func insertion(ofRows count: Int, isFull: Bool, computes: Bool) throws -> Statement {
        if let last = isFull ? lastManyInsertion : lastFewInsertion, last.count == count,
            last.computes == computes, !last.statement.isInUse
        {
            return last.statement
        }
        try checkRules()
        let sql =
            insertionSQL(.abort, computes: computes)
            + String(repeating: ", \(inserted(computes))", count: count - 1)
        let statement =
            isFull ? try prepare(sql: sql) : try database.cachedStatement(sql: sql)
        statement.bypassAdvice()
        let last = (count, computes, statement)
        if isFull { lastManyInsertion = last } else { lastFewInsertion = last }
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
        let key = Key(
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
                assignments = names(ColumnMask([0])).map { "\($0) = \(plan.quotedTable).\($0)" }
            }
            let list = assignments.joined(separator: ", ")
            let conditions = plan.rules.compactMap(\.rowCondition).joined(separator: " AND ")
            let condition = conditions.isEmpty ? "" : " WHERE \(conditions)"
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
        if hasExactKey || !keyMask.contains(column) { return "excluded.\(name)" }
        let isSame = names(keyMask).map { "\(plan.quotedTable).\($0) = excluded.\($0)" }
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
        if returning == nil, lastUpdate?.isFree(for: mask, row, resolution, computes) ?? false,
            let statement = lastUpdate?.statement
        {
            return statement
        }
        let expected = row?.columns
        let key = Key(
            verb: .update, mask: mask, expected: expected, resolution: resolution,
            returning: returning?.selection, computes: computes)
        let statement = try statement(key) {
            let assignments =
                names(mask).map { "\($0) = ?" } + (computes ? written.computed?.assignments ?? [] : [])
            return
                "UPDATE \(resolution.orClause)\(plan.quotedTable) SET \(assignments.joined(separator: ", ")) "
                + "WHERE \(plan.ownCondition(keyNames))"
                + conditions(on: expected).map { " AND \($0)" }.joined()
        }
        let reference = Unretained(statement)
        if returning == nil {
            lastUpdate = Update(
                mask: mask, expected: expected, resolution: resolution, computes: computes,
                statement: reference)
        }
        return reference
    }

    /// Returns a query for the row with the key. Its first columns are the results of the
    /// comparisons with the expected values.
    func comparison(with expected: ExpectedColumns) throws -> Statement {
        try statement(Key(verb: .compare, expected: expected, resolution: .abort)) {
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
        try statement(Key(verb: .delete, resolution: .abort)) {
            "DELETE FROM \(plan.quotedTable) WHERE \(plan.ownCondition(keyNames))"
        }
    }

    /// Returns a query for the existence of the row with the key.
    func existence() throws -> Statement {
        try statement(Key(verb: .exists, resolution: .abort)) {
            "SELECT 1 FROM \(plan.quotedTable) WHERE \(plan.ownCondition(keyNames))"
        }
    }
}
