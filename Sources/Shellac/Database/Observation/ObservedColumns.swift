/// The columns of the tables whose row values are reported.
///
/// They are read in advance, because SQLite's hooks cannot run queries.
final class ObservedColumns {
    /// The columns, by the number of the table's name: see ``TableNames``.
    @exclusivity(unchecked) private var columns: [Int32: StoredColumns] = [:]
    /// The state of the schema that they belong to.
    private(set) var schemaGeneration: UInt64 = 0

    subscript(table: Int32) -> StoredColumns? { columns[table] }

    /// Reads the columns of a statement's tables.
    ///
    /// - Parameters:
    ///   - known: The state of the schema, if it was just checked.
    ///   - number: Returns the number of a table's name.
    func learn(
        _ plan: ObservationPlan, known: UInt64?, on database: Database, number: (TableSchema) -> Int32
    ) throws {
        let generation = try known ?? database.schemaGeneration
        if generation != schemaGeneration {
            schemaGeneration = generation
            columns = [:]
        } else if plan.schemaGeneration == generation {
            return
        }
        for name in Set(plan.kinds.map(\.tableName)) {
            for table in try database.schema.tables(named: name) where table.kind == .table {
                let number = number(table)
                let stored = columns[number] ?? StoredColumns(table, database)
                // (A discerning observer then does without its values.)
                if plan.wantsValues, let lost = stored.lostColumn { throw lostColumn(lost, of: table) }
                columns[number] = stored
            }
        }
        plan.schemaGeneration = generation
    }

    private func lostColumn(_ name: String, of table: TableSchema) -> DatabaseError {
        DatabaseError(
            message:
                "the values of column \(name) of table \(table.name) cannot be observed: SQLite confuses it with "
                + "the primary key. Declare the INTEGER PRIMARY KEY before the virtual columns, or observe the table "
                + "without its values.")
    }
}
