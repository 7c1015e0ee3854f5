// The plan for one record type on one connection: table, primary key, and cached statements.

import CSQLite

/// How the records of a type are saved in its table and found there, on one connection.
///
/// A plan is good for one state of the schema. What belongs to the columns that records encode stands in a
/// ``RecordStatements``: there is one of these, as a rule, since all records of a type encode the same columns.
final class RecordPlan {
    let table: TableSchema
    /// The columns of the primary key: none where the table is a view, and the type does not say.
    let key: [String]
    let schemaGeneration: UInt64
    private let selection: String
    private unowned(unsafe) let database: Database  // which owns this

    /// The columns that were encoded last.
    private var lastStatements: Unretained<RecordStatements>?
    /// The columns that were encoded last.
    var statements: RecordStatements? { lastStatements?.object }
    /// The statements by their columns, in the order of their names: a record that encodes the same columns in another order
    /// is saved by the same statements.
    private var statementsByColumns: [ExactNames: RecordStatements] = [:]
    /// For how many sets of columns statements are kept. Records may encode a dictionary, each other columns.
    private static var maximumStatements: Int { 64 }
    /// Counts the times that statements were looked for.
    private var lookUps: UInt64 = 0
    var statementsCount: Int { statementsByColumns.count }
    /// Whether a record of the type has encoded its primary key.
    var hasEncodedKey = false
    /// Whether the log was told of a class that leaves out its row id while it has none.
    var hasWarnedOfRowID = false
    @exclusivity(unchecked) private var byKey: Statement?

    /// How class records of the type take their row ids.
    var rowIDAdoption = RowIDAdoption.unknown
    /// The callbacks that are known to do nothing. Those of a struct are learnt.
    var idleCallbacks: CallbackSet
    /// Whether one statement may insert many rows. Nil until it was asked.
    var takesManyRows: Bool?
    /// Asks for the largest row id. Nil until it was needed.
    var largestRowID: Statement?

    /// The type of the records.
    let tableType: any TableRecord.Type
    private let recordType: Record.Type?
    private let typeName: String
    /// Whether a class lists columns, or leaves them to `Codable`.
    let listsColumns: Bool
    /// Whether a class overrides the methods that save.
    let overridesMethods: Bool
    /// Whether it overrides a callback that tells it of its insertion.
    let overridesInsertionCallbacks: Bool
    /// What the class is among the kinds of its table. Nil where that has records of one class.
    let kind: ClassKind?
    /// Whether the type's rows are some of the table's, as they are wherever deleted ones stay.
    let isConditioned: Bool
    /// The column that says when a row was deleted, which stays.
    let softDeleteColumn: String?
    /// Selects the row of a primary key, where the type's rows are some of the table's.
    private var amongOwn: OwnRowSelection?
    /// What fills in columns that records of the type leave to it, if there is any.
    let filling: ColumnFilling?
    /// Whether there is any.
    var isFilled: Bool { filling != nil }

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
        filling = ColumnFilling.of(type)
        kind = recordType.flatMap(ClassKind.of)
        isConditioned = type._ownConditions != nil
        softDeleteColumn = type.databaseSoftDelete?.column
        try kind?.check(table)
        listsColumns = recordType.map(Overrides.listing) ?? false
        overridesMethods = recordType.map(Overrides.methods) ?? true
        // A method that saves is told the columns, and may look around, as a callback may.
        idleCallbacks = overridesMethods ? [] : recordType.map(Overrides.idleCallbacks) ?? []
        overridesInsertionCallbacks = recordType.map(Overrides.insertionCallbacks) ?? true
    }

    /// Takes over what was learnt of the type, which still holds when the schema has changed.
    func learn(from old: RecordPlan) {
        rowIDAdoption = old.rowIDAdoption
        idleCallbacks = old.idleCallbacks
        hasEncodedKey = old.hasEncodedKey
        hasWarnedOfRowID = old.hasWarnedOfRowID
        filling?.learn(from: old.filling)
    }

    /// Whether some callbacks are known to do nothing.
    func isIdle(_ callbacks: CallbackSet) -> Bool { idleCallbacks.isSuperset(of: callbacks) }

    var tableName: String { table.name }
    let isView: Bool
    /// The column that is the row id.
    let rowIDColumn: String?

    // MARK: - Shapes

    /// Packs what a record encodes, and returns its statements, which are there as long as this plan is.
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

    /// Compares what a record encodes with what it remembers, and packs it if there is a difference.
    ///
    /// - Returns: The statements, and nil where the record has not changed.
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

    /// The statements of some columns, which may have them in another order.
    @inline(never)
    private func findStatements(_ names: [String]) -> Unretained<RecordStatements> {
        if names.isEmpty {
            Misuse.trap(
                "a record of the table \(tableName) encodes no column, and cannot be saved. "
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

    /// Forgets the statements that were looked for the longest time ago. Records that are being saved may still have them.
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

    /// Tells of a class that leaves its row id out where it has none, and so is not given one: no column is filled in.
    func warnOfMissingRowID() {
        guard let recordType, let rowIDColumn, !hasWarnedOfRowID, table.kind == .table,
            !Overrides.callbacks(recordType, around: .insert).contains("didInsert")
        else { return }
        hasWarnedOfRowID = true
        ErrorLog.warn(
            "\(recordType) was inserted, and has not been given its row id (\(rowIDColumn)), as it does not encode it. "
                + "List it in columns(_:), or encode it in encode(to:), also where it is nil.")
    }

    /// The error of a statement that saves a record. Where the record encodes a column that the table lacks, it says so,
    /// and which column may be meant.
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

    /// Selects the row that has a primary key of one column.
    @inline(__always)
    func selectByKey() throws -> Statement {
        if let byKey, !byKey.isInUse { return byKey }
        let statement = try select(where: keyCondition())
        byKey = statement
        return statement
    }

    /// Selects the row that has a primary key of one column, if it is one of the type's. The conditions of a type are written once.
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

    /// What finds the row of a primary key.
    func keyCondition() throws -> String {
        guard !key.isEmpty else { throw noKeyError }
        return Self.condition(key)
    }

    /// What finds the row of a record, which is still of the record's kind.
    func ownCondition(_ columns: [String]) -> String {
        Self.condition(columns) + (kind.map { " AND \($0.ownRows)" } ?? "")
    }

    static func condition(_ columns: [String]) -> String {
        columns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: " AND ")
    }

    private var noKeyError: DatabaseError {
        DatabaseError(
            message: "\(tableName) has no primary key to find a row by: "
                + "say which by `static var databasePrimaryKey`, or fetch by a query")
    }
}

/// The selection of a row among those of its type: the key is bound first, and then what the conditions of the type compare with.
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
