/// The columns of the tables whose rows are told with their values: inside of SQLite's hooks nobody can be asked.
final class ObservedColumns {
    /// The columns, by the number of the table's name: see ``TableNames``.
    @exclusivity(unchecked) private var columns: [Int32: StoredColumns] = [:]
    /// The state of the schema that they are of.
    private var schemaGeneration: UInt64 = 0

    subscript(table: Int32) -> StoredColumns? { columns[table] }

    /// Learns the columns of a statement's tables.
    ///
    /// - Parameter number: Gives the number of a table's name.
    func learn(_ plan: ObservationPlan, on database: Database, number: (TableSchema) -> Int32) throws {
        let generation = try database.schemaGeneration
        if generation != schemaGeneration {
            schemaGeneration = generation
            columns = [:]
        } else if plan.schemaGeneration == generation {
            return
        }
        for name in Set(plan.kinds.map(\.tableName)) {
            for table in try database.schema.tables(named: name) where table.kind == .table {
                let number = number(table)
                if columns[number] == nil { columns[number] = try storedColumns(of: table, on: database) }
            }
        }
        plan.schemaGeneration = generation
    }

    private func storedColumns(of table: TableSchema, on database: Database) throws -> StoredColumns {
        let columns = StoredColumns(table, database)
        guard let lost = columns.lostColumn else { return columns }
        throw DatabaseError(
            message:
                "the values of column \(lost) of table \(table.name) cannot be observed: SQLite confuses it with "
                + "the primary key. Declare the INTEGER PRIMARY KEY before the virtual columns, or observe the table "
                + "without its values.")
    }
}
