// The plan for one record type on one connection: table, primary key, and cached statements.

import CSQLite

/// The plan by which one connection saves and finds the records of a type.
///
/// A plan is valid for one state of the schema. A ``RecordStatements`` belongs to the columns that
/// records encode. There is usually one, since all records of a type encode the same columns.
final class RecordPlan {
    let table: TableSchema
    /// The columns of the primary key. Empty if the table is a view and the type does not name
    /// them.
    let key: [String]
    let schemaGeneration: UInt64
    private let selection: String
    private unowned(unsafe) let database: Database  // which owns this

    /// The statements of the columns that were encoded last.
    private var lastStatements: Unretained<RecordStatements>?
    /// The statements of the columns that were encoded last.
    var statements: RecordStatements? { lastStatements?.object }
    /// The statements by their columns, sorted by name. A record that encodes the same columns in
    /// another order uses the same statements.
    private var statementsByColumns: [ExactNames: RecordStatements] = [:]
    /// The number of sets of columns whose statements are kept. Records that encode a dictionary
    /// may each have other columns.
    private static var maximumStatements: Int { 64 }
    /// The number of times that statements were looked up.
    private var lookUps: UInt64 = 0
    var statementsCount: Int { statementsByColumns.count }
    /// Whether a record of the type has encoded its primary key.
    var hasEncodedKey = false
    /// Whether the log contains a warning about a class that leaves out its row id while it has
    /// none.
    var hasWarnedOfRowID = false
    @exclusivity(unchecked) private var byKey: Statement?

    /// The way in which class records of the type adopt their row ids.
    var rowIDAdoption = RowIDAdoption.unknown
    /// The callbacks that are known to do nothing. For a struct, they are found out as records are
    /// saved.
    var idleCallbacks: CallbackSet
    /// Whether one statement may insert many rows. Nil until it is first needed.
    var takesManyRows: Bool?
    /// The statement that selects the largest row id. Nil until it is first needed.
    var largestRowID: Statement?

    /// The type of the records.
    let tableType: any TableRecord.Type
    private let recordType: Record.Type?
    private let typeName: String
    /// Whether a class lists its columns. Otherwise, it leaves them to `Codable`.
    let listsColumns: Bool
    /// Whether a class overrides the methods that save records.
    let overridesMethods: Bool
    /// Whether a class overrides a callback for its insertion.
    let overridesInsertionCallbacks: Bool
    /// The rules that features add to the saves of the type. Empty for most types.
    let rules: [SaveRule]
    /// Whether a rule fills in columns.
    let isFilled: Bool
    /// Whether a rule withholds columns from updates.
    let withholdsColumns: Bool
    /// Whether only some rows of the table belong to the type.
    let isConditioned: Bool
    /// The statement that selects a row of the type by its primary key, if only some rows of the
    /// table belong to the type.
    private var amongOwn: OwnRowSelection?
    init(_ type: any TableRecord.Type, _ generation: UInt64, on database: Database) throws {
        tableType = type
        recordType = type as? Record.Type
        typeName = "\(type)"
        if let recordType { try FirstUse.check(recordType) }
        self.database = database
        schemaGeneration = generation
        try database.queries.checkTableName(of: type)
        table = try type.tableSchema(on: database)
        rowIDColumn = table.primaryKey.rowIDColumn
        isView = table.kind == .view
        key = type.primaryKey(of: table)
        selection = try type.selectionSQL
        rules = try SaveRule.rules(of: type, in: table)
        isFilled = rules.contains(where: \.fillsColumns)
        withholdsColumns = rules.contains(where: \.withholdsColumns)
        isConditioned = type._ownConditions != nil
        listsColumns = recordType.map(Overrides.listing) ?? false
        overridesMethods = recordType.map(Overrides.methods) ?? true
        // An overridden method that saves gets the columns, and may read the record, as a callback
        // may.
        idleCallbacks = overridesMethods ? [] : recordType.map(Overrides.idleCallbacks) ?? []
        overridesInsertionCallbacks = recordType.map(Overrides.insertionCallbacks) ?? true
    }

    /// Copies facts about the type that stay valid when the schema has changed.
    func learn(from old: RecordPlan) {
        rowIDAdoption = old.rowIDAdoption
        idleCallbacks = old.idleCallbacks
        hasEncodedKey = old.hasEncodedKey
        hasWarnedOfRowID = old.hasWarnedOfRowID
        for (rule, oldRule) in zip(rules, old.rules) { rule.learn(from: oldRule) }
    }

    /// Returns whether the given callbacks are known to do nothing.
    func hasNoCallbacks(for callbacks: CallbackSet) -> Bool { idleCallbacks.isSuperset(of: callbacks) }

    var tableName: String { table.name }
    let isView: Bool
    /// The column that is the row id, if any.
    let rowIDColumn: String?

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
        let key = ExactNames(names).sorted
        let found: RecordStatements
        if let known = statementsByColumns[key] {
            found = known
        } else {
            if statementsByColumns.count >= Self.maximumStatements { forgetOldestStatements() }
            found = RecordStatements(names, plan: self, database: database)
            statementsByColumns[key] = found
            if !found.keyColumns.isEmpty { hasEncodedKey = true }
        }
        lookUps += 1
        found.lastUse = lookUps
        let reference = Unretained(found)
        lastStatements = reference
        return reference
    }

    /// Removes the least recently used statements. Records that are being saved may still use them.
    private func forgetOldestStatements() {
        guard let oldest = statementsByColumns.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return
        }
        statementsByColumns[oldest.key] = nil
        if lastStatements?.context == Unretained(oldest.value).context {
            lastStatements = nil
        }
        database.withRecords { $0.retire([oldest.value]) }
    }

    /// Warns of a class that omits its row id while it is nil. No column is filled in, so its
    /// records do not get their row ids.
    func warnOfMissingRowID() {
        guard let recordType, let rowIDColumn, !hasWarnedOfRowID, table.kind == .table,
            !Overrides.callbacks(recordType, around: .insert).contains("didInsert")
        else { return }
        hasWarnedOfRowID = true
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
            message: "the table \(tableName) has no column \(missing), which \(typeName) encodes\(question)")
    }

    // MARK: - Selections

    var quotedTable: String { tableName.quotedDatabaseIdentifier }

    private func select(where condition: String) throws -> Statement {
        try database.prepare(
            sql: "SELECT \(selection) FROM \(quotedTable) WHERE \(condition)", persistent: true)
    }

    /// Returns the statement that selects a row by a single-column primary key.
    @inline(__always)
    func selectByKey() throws -> Statement {
        if let byKey, !byKey.isInUse { return byKey }
        let statement = try select(where: keyCondition())
        byKey = statement
        return statement
    }

    /// Returns the statement that selects a row by a single-column primary key, if it is a row of
    /// the type. The SQL of the type's conditions is written once.
    func selectOwnByKey(_ type: any TableRecord.Type) throws -> OwnRowSelection {
        if let amongOwn, !amongOwn.statement.isInUse { return amongOwn }
        var writer = SQLWriter(database)
        if let condition = type._ownConditions?.condition {
            writer.text(" AND ")
            try writer.inQuery(SelectQuery(QuerySource(.type(type)))) {
                try $0.expression(condition, above: .and)
            }
        }
        let statement = try select(where: keyCondition() + writer.sql)
        let selection = OwnRowSelection(statement: statement, values: writer.arguments)
        amongOwn = selection
        return selection
    }

    /// Returns the condition that finds a row by its primary key.
    func keyCondition() throws -> String {
        guard !key.isEmpty else { throw noKeyError }
        return Self.condition(key)
    }

    /// Returns the condition that finds a record's row, as long as it meets the conditions of the
    /// type's rules.
    func ownCondition(_ columns: [String]) -> String {
        Self.condition(columns) + rules.compactMap(\.rowCondition).map { " AND \($0)" }.joined()
    }

    static func condition(_ columns: [String]) -> String {
        columns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: " AND ")
    }

    private var noKeyError: DatabaseError {
        DatabaseError(
            message: "\(tableName) has no primary key to find a row by: "
                + "declare one in `static var databasePrimaryKey`, or fetch by a query")
    }
}

/// A statement that selects a row of the type by its key. The key is bound first, and then the
/// values in the conditions of the type.
struct OwnRowSelection {
    let statement: Statement
    let values: [DatabaseValue]

    /// Begins to select the row of a key.
    func begin(_ key: DatabaseValue) throws {
        try statement.begin { pointer in
            var code = key.bind(to: pointer, at: 1)
            for (index, value) in values.enumerated() {
                let bound = value.bind(to: pointer, at: Int32(index + 2))
                if bound != SQLITE_OK { code = bound }
            }
            return code
        }
    }
}
