// Upserts a record by INSERT with ON CONFLICT DO UPDATE, and reads the resulting row.

import CSQLite

/// The changes that an upsert makes to a conflicting row, instead of just overwriting it.
struct UpsertClause {
    /// The columns of the unique index of the conflict. If empty, any index.
    var target: [String] = []
    var strategy = UpsertUpdateStrategy.allColumns
    var assignments: [ColumnAssignment] = []
}

extension RecordWriter {
    /// Inserts the record, or updates the conflicting row. Returns nil if nothing was written.
    func upsert(
        _ save: inout Save, _ clause: UpsertClause?, _ returning: Returning?
    ) throws -> InsertionSuccess? {
        let names = columns.layout.names.map(\.quotedDatabaseIdentifier)
        var selections = returning.map { [$0.selection] } ?? []
        // The statement returns the values of the conflicting row, or at least its key. The row id
        // is always returned.
        let tellsKeyAlone = clause == nil && save.untouched.isEmpty
        var told = tellsKeyAlone ? statements.key.columns : Array(names.indices)
        if tellsKeyAlone, told == statements.rowIDColumn.map({ [$0] }) { told = [] }
        selections += told.map { names[$0] }
        let filled = save.filled
        let unread = filled?.unread ?? []
        selections += unread.map { names[filled?.columns[$0].column ?? 0] }
        // SQLite's last row id applies only to an insertion.
        let hasRowID = plan.table.primaryKey.tableHasRowID && plan.table.kind == .table
        let rowIDName =
            plan.rowIDColumn ?? TableSchema.rowIDNames.first { plan.table.column(named: $0) == nil }
        selections.append(hasRowID ? rowIDName?.quotedDatabaseIdentifier ?? "NULL" : "NULL")
        let (statement, arguments) = try upsertion(save, clause, selections.joined(separator: ", "))
        var rowID: Int64?
        var hasRow = false
        do {
            try statement.begin { bindAll(and: arguments, to: $0) }
            while try statement.step() {
                let row = statement.row
                hasRow = true
                var position = row.count - 1 - unread.count
                save.upserted = zip(told, position - told.count..<position).map { column, position in
                    (column, row.value(at: position).databaseValue)
                }
                for index in unread {
                    filled?.columns[index].stored = row.value(at: position).databaseValue
                    position += 1
                }
                rowID = row.value(at: row.count - 1).int64
                returning?.take(Row(row))
            }
        } catch {
            guard let error = error as? DatabaseError, error.sql == statement.sql else { throw error }
            throw error.with(StatementArguments((0..<columns.count).map { columns[$0] } + arguments))
        }
        guard hasRow || plan.isView else {
            for rule in plan.rules { try rule.explainIgnoredUpsert(to: self) }
            return nil
        }
        if let rowID, let column = statements.rowIDColumn, !told.contains(column), !columns.isNull(column) {
            save.upserted?.append((column, rowID.databaseValue))
        }
        return InsertionSuccess(
            rowID: rowID ?? sqlite3_last_insert_rowid(connection), rowIDColumn: plan.rowIDColumn)
    }

    /// The columns that are written to a conflicting row.
    private func columnsOfRowInTheWay(_ save: borrowing Save) -> ColumnMask {
        (save.filled?.rowInTheWay ?? allColumns).subtracting(save.untouched)
    }

    private func bindAll(and arguments: [DatabaseValue], to pointer: OpaquePointer) -> Int32 {
        var code = bindAll(to: pointer)
        for (index, value) in arguments.enumerated() {
            let bound = value.bind(to: pointer, at: Int32(columns.count + index + 1))
            if bound != SQLITE_OK { code = bound }
        }
        return code
    }

    /// Returns the statement, and the values of its assignments.
    private func upsertion(
        _ save: borrowing Save, _ clause: UpsertClause?, _ selection: String
    ) throws -> (statement: Statement, arguments: [DatabaseValue]) {
        let computed = save.filled?.computedInTheWay
        let computes = computes(save.filled)
        guard let clause else {
            let statement = try statements.upsertion(
                selection, updating: columnsOfRowInTheWay(save), isPartial: !save.untouched.isEmpty,
                computed: computed,
                computes: computes)
            return (statement, [])
        }
        var writer = SQLWriter(database)
        writer.keyword(statements.insertionSQL(.abort, computes: computes))
        writer.text(" ON CONFLICT ")
        if !clause.target.isEmpty {
            writer.text("(")
            writer.list(clause.target) { $0.name($1) }
            writer.text(") ")
            // SQLite needs the condition of a partial index, exactly as the index has it: see
            // "UPSERT" in its documentation.
            if let condition = plan.table.partialCondition(of: clause.target, plan.traits.type) {
                writer.text("WHERE ")
                writer.keyword(condition)
                writer.text(" ")
            }
        }
        let specified = Set(clause.assignments.map { CaseInsensitiveName($0.column) })
        func isFree(_ name: String) -> Bool { !specified.contains(CaseInsensitiveName(name)) }
        let names = columns.layout.names
        var assignments = clause.assignments.filter { $0.value != nil }
        if clause.strategy == .allColumns {
            let mask = columnsOfRowInTheWay(save)
            let excluded = TableAlias("excluded")
            for index in names.indices where mask.contains(index) && isFree(names[index]) {
                let isKey = !statements.key.isExact && statements.key.mask.contains(index)
                let value: any SQLExpressible =
                    isKey
                    ? SQL(sql: statements.valueInTheWay(of: index)).sqlExpression
                    : excluded[Column(names[index])]
                assignments.append(Column(names[index]).set(to: value))
            }
        }
        if let computed, isFree(computed.column) {
            assignments.append(Column(computed.column).set(to: SQLExpression.function(computed.function, [])))
        }
        // The statement must return the row, even if it stays as it is.
        if assignments.isEmpty, let name = names.first { assignments = [Column(name).set(to: Column(name))] }
        writer.text("DO UPDATE SET ")
        try writer.list(assignments) { try $1.write(to: &$0) }
        for rule in plan.rules { try rule.check(names) }
        if let condition = plan.rules.rowCondition {
            writer.text(" WHERE ")
            writer.keyword(condition)
        }
        writer.text(" RETURNING ")
        writer.keyword(selection)
        return (try database.cachedStatement(sql: writer.sql), writer.arguments)
    }
}
