// The plan for one record type on one connection: table, primary key, and cached statements.

/// The plan by which one connection saves and finds the records of a type.
///
/// A plan is valid for one state of the schema. A ``RecordStatements`` belongs to the columns that
/// records encode. There is usually one, since all records of a type encode the same columns.
final class RecordPlan {
    let table: TableSchema
    /// The columns of the primary key. Empty if the table is a view and the type does not name
    /// them.
    let key: [String]
    /// The column that is the row id, if any.
    let rowIDColumn: String?
    let schemaGeneration: UInt64
    unowned(unsafe) let database: Database  // which owns this

    let traits: RecordTraits
    var learned: LearnedTraits
    let rules: SaveRules
    @exclusivity(unchecked) var selections: KeySelections
    var bulk = BulkInsertion()

    /// The statements of the columns that were encoded last.
    private var lastStatements: Unretained<RecordStatements>?
    private var shapes = StatementsByColumns()

    init(_ type: any TableRecord.Type, _ generation: UInt64, on database: Database) throws {
        if let recordType = type as? Record.Type { try FirstUse.check(recordType) }
        self.database = database
        schemaGeneration = generation
        try database.queries.checkTableName(of: type)
        table = try type.tableSchema(on: database)
        rowIDColumn = table.primaryKey.rowIDColumn
        key = type.primaryKey(of: table)
        selections = KeySelections(columns: try type.selectionSQL, isConditioned: type._ownConditions != nil)
        rules = try SaveRules(of: type, in: table)
        traits = RecordTraits(type)
        learned = LearnedTraits(traits)
    }

    /// Copies facts about the type that stay valid when the schema has changed.
    func learn(from old: RecordPlan) {
        learned = old.learned
        for (rule, oldRule) in zip(rules, old.rules) { rule.learn(from: oldRule) }
    }

    /// Returns whether the given callbacks are known to do nothing.
    func hasNoCallbacks(for callbacks: CallbackSet) -> Bool {
        learned.idleCallbacks.isSuperset(of: callbacks)
    }

    var tableName: String { table.name }
    var quotedTable: String { tableName.quotedDatabaseIdentifier }
    var isView: Bool { table.kind == .view }

    /// The statements of the columns that were encoded last.
    var statements: RecordStatements? { lastStatements?.object }
    var statementsCount: Int { shapes.count }

    // MARK: - Shapes

    /// Packs the values that a record encodes. Returns its statements, which live as long as this
    /// plan.
    @inline(__always)
    func pack(_ columns: PackedColumns, _ encode: PackedColumns.Encode) throws -> Unretained<RecordStatements>
    {
        if let lastStatements,
            try lastStatements.use({ $0.layoutReference }).use({ try columns.pack(exactly: $0, encode) })
        {
            return lastStatements
        }
        var statements: Unretained<RecordStatements>?
        try columns.pack(
            makeLayout: { names in
                let found = findStatements(names)
                statements = found
                return found.use { $0.layout }
            }, encode)
        return statements.unsafelyUnwrapped
    }

    /// Compares the values that a record encodes with its remembered row, and packs them if they
    /// differ.
    ///
    /// - Returns: The statements, or nil if the record has not changed.
    @inline(__always)
    func packChanged(
        _ columns: PackedColumns, from row: RememberedRow.View?, _ encode: PackedColumns.Encode
    ) throws -> Unretained<RecordStatements>? {
        if let row, let lastStatements {
            let hasChanged = try lastStatements.use({ $0.layoutReference }).use { layout in
                guard row.layout.use({ layout.hasSameNames(as: $0) }) else { return nil as Bool? }
                return try row.whileInUse { try columns.packChanged(from: row, as: layout, encode) }
            }
            if let hasChanged { return hasChanged ? lastStatements : nil }
        }
        return try pack(columns, encode)
    }

    /// Returns the statements of the given columns, which may have them in another order.
    @inline(never)
    private func findStatements(_ names: [String]) -> Unretained<RecordStatements> {
        if names.isEmpty {
            Misuse.trap(
                "a record of the table \(tableName) encodes no columns, so it cannot be saved. "
                    + "List its columns in columns(_:), or implement encode(to:)."
            )
        }
        let found = shapes.find(names) { RecordStatements($0, plan: self, database: database) }
        if !found.statements.key.columns.isEmpty { learned.hasEncodedKey = true }
        if let forgotten = found.forgotten { database.withRecords { $0.retire([forgotten]) } }
        let reference = Unretained(found.statements)
        lastStatements = reference
        return reference
    }

    /// Warns of a class that omits its row id while it is nil. No column is filled in, so its
    /// records do not get their row ids.
    func warnOfMissingRowID() {
        guard let recordType = traits.recordType, let rowIDColumn, !learned.hasWarnedOfRowID,
            table.kind == .table,
            !Overrides.callbacks(recordType, around: .insert).contains("didInsert")
        else { return }
        learned.hasWarnedOfRowID = true
        ErrorLog.warn(
            "\(recordType) was inserted, but did not get its row id (\(rowIDColumn)), because it does not encode that "
                + "column. List it in columns(_:), or encode it in encode(to:), even if it is nil.")
    }

    /// Returns the error of a statement that saves a record. If the record encodes a column that
    /// the table lacks, the error says so and suggests the intended column.
    func tellingColumn(_ error: DatabaseError, encoding names: [String]) -> DatabaseError {
        let missing = names.first { name in
            table.column(named: name) == nil
                && !TableSchema.rowIDNames.contains { CaseInsensitiveName.matches($0, name) }
        }
        guard let missing else { return error }
        let question = table.columns.map(\.name).question(for: missing)
        return error.with(
            message:
                "the table \(tableName) has no column \(missing), which \(traits.type) encodes\(question)")
    }
}
