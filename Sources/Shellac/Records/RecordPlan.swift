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
    @exclusivity(unchecked) private(set) var shape: RecordShape?
    private var shapes: [[String]: RecordShape] = [:]
    private var selections: [String: Statement] = [:]
    @exclusivity(unchecked) private var byKey: Statement?

    /// How class records of the type take the row id that an insertion gave them.
    enum RowIDRoad {
        case unknown, updateFromRow, didInsert, none
    }
    @exclusivity(unchecked) var rowIDRoad = RowIDRoad.unknown

    /// Whether a class overrides callbacks that are called with a database around a save, or the methods that save.
    let overridesCallbacks: Bool
    let overridesWhatSaves: Bool
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
        table = try database.tableSchema(name)
        key = type.databasePrimaryKey ?? table.primaryKey.columns
        selection = type.selectionSQL
        stamps = RecordStamps(type)
        overridesCallbacks = (type as? Record.Type).map(Overrides.callbacks) ?? true
        overridesWhatSaves = (type as? Record.Type).map { Overrides.whatSaves($0) ?? true } ?? true
    }

    var tableName: String { table.name }
    var isView: Bool { table.kind == .view }
    /// The column that is the row id.
    var rowIDColumn: String? { table.primaryKey.rowIDColumn }

    // MARK: - Shapes

    /// The shape of the columns that were packed.
    @inline(__always)
    func shape(of columns: PackedColumns) -> RecordShape {
        if let shape, shape.layout === columns.layout { return shape }
        return findShape(columns.layout.names)
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
        shape = found
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

extension TableRecord {
    /// What stands between `SELECT` and `FROM`.
    static var selectionSQL: String { databaseSelection.map(\.selectionSQL.sql).joined(separator: ", ") }
}
