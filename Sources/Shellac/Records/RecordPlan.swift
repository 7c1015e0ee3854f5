import CSQLite

/// How the records of a type are saved in its table and found there, on one connection.
///
/// A plan is good for one state of the schema. What belongs to the columns that records encode stands in a
/// ``RecordShape``: there is one, as a rule, since all records of a type encode the same columns.
final class RecordPlan {
    let table: TableSchema
    /// The columns of the primary key: none where the table is a view, and the type does not say.
    let key: [String]
    let schemaGeneration: UInt64
    private let selection: String
    private unowned(unsafe) let database: Database  // which owns this

    /// The columns that were encoded last.
    @exclusivity(unchecked) private var lastShape: Unmanaged<RecordShape>?
    /// The columns that were encoded last.
    var shape: RecordShape? { lastShape?.takeUnretainedValue() }
    private var shapes: [[String]: RecordShape] = [:]
    private var selections: [String: Statement] = [:]
    @exclusivity(unchecked) private var byKey: Statement?

    /// How class records of the type take the row id that an insertion gave them.
    enum RowIDRoad {
        case unknown, updateFromRow, didInsert
        /// They do not, and read no rows.
        case none
        /// One did not, and the log has said so: the others are asked again.
        case doubtful
    }
    @exclusivity(unchecked) var rowIDRoad = RowIDRoad.unknown
    /// Whether no callback of a struct is called with a database around an insertion. Nil until one was inserted.
    @exclusivity(unchecked) var hasDefaultCallbacks: Bool?
    /// Whether one statement may insert many rows. Nil until it was asked.
    @exclusivity(unchecked) var takesManyRows: Bool?

    /// Whether a class overrides the methods that save.
    let overridesMethods: Bool
    /// Whether it overrides these, or callbacks that are called with a database around a save.
    let overridesWhatSaves: Bool
    /// Whether it overrides a callback that tells it of its insertion.
    let overridesInsertionCallbacks: Bool
    /// The stamps of the type, if it has any.
    let stamps: RecordStamps?

    init(_ type: any TableRecord.Type, _ generation: UInt64, on database: Database) throws {
        let name = type.databaseTableName
        if name.isEmpty {
            Misuse.trap(
                "\(type) has no table. Override `class var databaseTableName` to give it one.")
        }
        self.database = database
        schemaGeneration = generation
        try database.queries.checkTableName(of: type)
        table = try type.tableSchema(on: database)
        rowIDColumn = table.primaryKey.rowIDColumn
        isView = table.kind == .view
        key = type.databasePrimaryKey ?? table.primaryKey.columns
        selection = try type.selectionSQL
        stamps = RecordStamps(type)
        let recordType = type as? Record.Type
        overridesMethods = recordType.map(Overrides.methods) ?? true
        overridesWhatSaves = overridesMethods || recordType.map(Overrides.callbacks) ?? true
        overridesInsertionCallbacks = recordType.map(Overrides.insertionCallbacks) ?? true
    }

    var tableName: String { table.name }
    let isView: Bool
    /// The column that is the row id.
    let rowIDColumn: String?

    // MARK: - Shapes

    /// Packs what a record encodes, and returns its shape, which is there as long as this plan is.
    @inline(__always)
    func pack(_ columns: PackedColumns, _ encode: PackedColumns.Encode) throws -> Unmanaged<RecordShape> {
        if let lastShape,
            try lastShape.use({ $0.layoutReference }).use({ try columns.pack(exactly: $0, encode) })
        {
            return lastShape
        }
        try columns.pack(makeLayout: layout(for:), encode)
        return Unmanaged.passUnretained(findShape(columns.layout.names))
    }

    /// Compares what a record encodes with what it remembers, and packs it if there is a difference.
    ///
    /// - Returns: The shape, and nil where the record has not changed.
    @inline(__always)
    func packChanged(
        _ columns: PackedColumns, from row: RememberedRow.Look?, _ encode: PackedColumns.Encode
    ) throws -> Unmanaged<RecordShape>? {
        if let row, let lastShape {
            let hasChanged = try lastShape.use({ $0.layoutReference }).use { layout in
                guard row.layout.use({ layout.hasSameNames(as: $0) }) else { return nil as Bool? }
                return try row.whileInUse { try columns.packChanged(from: row, as: layout, encode) }
            }
            if let hasChanged { return hasChanged ? lastShape : nil }
        }
        return try pack(columns, encode)
    }

    /// The layout for some columns.
    func layout(for names: [String]) -> RowLayout { findShape(names).layout }

    @inline(never)
    private func findShape(_ names: [String]) -> RecordShape {
        if names.isEmpty {
            Misuse.trap(
                "a record of the table \(tableName) encodes no column, and cannot be saved. Implement encode(to:)."
            )
        }
        let found: RecordShape
        if let known = shapes[names] {
            found = known
        } else {
            found = RecordShape(names, plan: self, database: database)
            shapes[names] = found
        }
        lastShape = Unmanaged.passUnretained(found)
        return found
    }

    // MARK: - Selections

    var quotedTable: String { tableName.quotedDatabaseIdentifier }

    /// Selects rows, by an SQL text that stands behind the table.
    func select(_ rest: String) throws -> Statement {
        if let statement = selections[rest], !statement.isInUse { return statement }
        let statement = try database.prepare(
            sql: "SELECT \(selection) FROM \(quotedTable)\(rest)", persistent: true)
        if selections.count > 64 { selections.removeAll() }
        selections[rest] = statement
        return statement
    }

    /// Selects the row that has a primary key of one column.
    @inline(__always)
    func selectByKey() throws -> Statement {
        if let byKey, !byKey.isInUse { return byKey }
        let statement = try select(" WHERE \(keyCondition())")
        byKey = statement
        return statement
    }

    /// What finds the row of a primary key.
    func keyCondition() throws -> String {
        guard !key.isEmpty else { throw noKeyError }
        return Self.condition(key)
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
