// Completes the errors of violated constraints: adds the table, the columns and the foreign key.

import CSQLite

/// A lookup of the facts that SQLite does not report about a violated constraint.
///
/// It runs when the statement has ended, while its transaction, if any, is still open. It never
/// makes things worse: facts that it cannot find stay unknown.
struct ConstraintInquiry {
    let database: Database
    let effects: StatementEffects

    /// The most virtual machine instructions that a lookup may take, in thousands: some tenths of a
    /// second.
    static var greatestSteps: Int { 5_000 }

    /// Reads the schema. Returns nil if it cannot be read, for example in a transaction that SQLite
    /// has ended.
    private func read<Answer>(_ body: (SchemaCache) throws -> Answer) -> Answer? {
        database.unheard(steps: nil) { try? body(database.schema) }
    }

    // MARK: - Names

    /// The tables that the statement may write.
    private var tables: [TableSchema] {
        let names = Set(effects.writes.map(\.table)).sorted()
        return effects.databases.sorted().flatMap { database in
            names.compactMap { name in read { try $0.table(name, in: database) } ?? nil }
        }
    }

    /// Finds the table and the columns if their names contain dots or commas.
    fileprivate func completeNames(
        _ constraint: DatabaseError.Constraint, _ message: String
    ) -> DatabaseError.Constraint {
        for table in tables {
            guard let start = message.firstRange(of: "\(table.name)."),
                let found = Self.split(
                    message[start.upperBound...], into: table.allColumns.map(\.name), of: table.name)
            else { continue }
            var constraint = constraint
            (constraint.table, constraint.columns) = (table.name, found)
            return constraint
        }
        return constraint
    }

    /// Splits `a, table.b` into columns of a table. Returns nil if that is impossible.
    private static func split(_ text: Substring, into columns: [String], of table: String) -> [String]? {
        for column in columns where text.hasPrefix(column) {
            let rest = text.dropFirst(column.count)
            if rest.isEmpty { return [column] }
            let separator = ", \(table)."
            if rest.hasPrefix(separator),
                let others = split(rest.dropFirst(separator.count), into: columns, of: table)
            {
                return [column] + others
            }
        }
        return nil
    }

    /// Finds the table of a unique index on expressions, and the plain columns in the index.
    fileprivate func completeIndex(_ constraint: DatabaseError.Constraint) -> DatabaseError.Constraint {
        guard let index = constraint.name else { return constraint }
        var constraint = constraint
        for table in tables {
            guard let found = table.indexes.first(where: { $0.name == index }) else { continue }
            (constraint.table, constraint.columns) = (table.name, found.columns)
        }
        return constraint
    }

    // MARK: - CHECK

    /// Finds the table of a CHECK constraint, and the columns in its expression. If several written
    /// tables have such a constraint, both stay unknown.
    fileprivate func completeCheck(_ constraint: DatabaseError.Constraint) -> DatabaseError.Constraint {
        guard let name = constraint.name else { return constraint }
        let found = tables.compactMap { table in
            let checks = CheckExpressions(table.sql)
            return checks.expression(named: name).map { (table, $0, checks.name(ofExpression: $0)) }
        }
        guard let (table, expression, name) = found.first, found.count == 1 else { return constraint }
        var constraint = constraint
        (constraint.table, constraint.name) = (table.name, name)
        for word in CheckExpressions.names(in: expression) {
            guard let column = table.column(named: word)?.name, !constraint.columns.contains(column)
            else { continue }
            constraint.columns.append(column)
        }
        if let list = CheckExpressions.ValueList(expression) {
            constraint.values = database.unheard(steps: Self.greatestSteps) {
                (try? database.querySilently("SELECT \(list.sql)"))?.first ?? []
            }
        }
        return constraint
    }

    // MARK: - Foreign keys

    fileprivate func completeForeignKey(
        _ constraint: DatabaseError.Constraint, of statement: Statement
    ) -> DatabaseError.Constraint {
        guard database.configuration.namesForeignKeys else { return constraint }
        let key: ForeignKeyInfo? =
            switch effects.transaction {
            case .commit, .release: keyOfCommit()
            case nil: ForeignKeyRehearsal(statement)?.violatedKey()
            case .begin, .rollback, .savepoint, .rollbackTo: nil
            }
        guard let key else { return constraint }
        var constraint = constraint
        (constraint.table, constraint.columns) = (key.originTable, key.originColumns)
        constraint.foreignKey = DatabaseError.Constraint.ForeignKey(
            originTable: key.originTable, originColumns: key.originColumns,
            destinationTable: key.destinationTable, destinationColumns: key.destinationColumns)
        return constraint
    }

    /// Returns the foreign key that a transaction violates and so cannot be committed. The changes
    /// of the transaction are still there. Returns nil if several keys are violated: rows that
    /// violated another key before cannot be distinguished from the transaction's own.
    private func keyOfCommit() -> ForeignKeyInfo? {
        guard !database.isInAutocommit, let names = read({ try $0.databaseNames() }) else { return nil }
        var keys: Set<ForeignKeyInfo> = []
        for name in names {
            let violations = database.unheard(steps: Self.greatestSteps) {
                try? database.querySilently(
                    "SELECT DISTINCT \"table\", fkid FROM pragma_foreign_key_check(NULL, ?)",
                    [name.databaseValue])
            }
            guard let violations else { return nil }
            for row in violations {
                guard let table = String.fromDatabaseValue(row[0]),
                    let number = Int.fromDatabaseValue(row[1]),
                    let found = read({ schema in
                        try schema.table(table, in: name).flatMap { table in
                            try schema.foreignKeys(of: table).first { $0.id == number }
                        }
                    }), let key = found
                else { return nil }
                keys.insert(key)
            }
        }
        return keys.count == 1 ? keys.first : nil
    }
}

extension Database: ConstraintExplaining {
    func explain(_ refusal: DatabaseError, of statement: Statement) -> DatabaseError {
        guard let constraint = refusal.constraint else { return refusal }
        let inquiry = ConstraintInquiry(database: self, effects: statement.effects)
        var refusal = refusal
        refusal.constraint =
            switch constraint.kind {
            case .check: inquiry.completeCheck(constraint)
            case .foreignKey: inquiry.completeForeignKey(constraint, of: statement)
            case .unique where constraint.table == nil: inquiry.completeIndex(constraint)
            case .unique, .notNull, .dataType:
                constraint.isDoubtful ? inquiry.completeNames(constraint, refusal.message ?? "") : constraint
            case .trigger, .other: constraint
            }
        // SQLite names a constraint without a name by its expression, which already lists the
        // values.
        if let values = refusal.constraint?.values, !values.isEmpty,
            let name = constraint.name, CheckExpressions.ValueList(name) == nil
        {
            let list = values.prefix(10).map(\.shortLiteral).joined(separator: ", ")
            refusal = refusal.saying("it accepts \(list)\(values.count > 10 ? " and others" : "")")
        }
        return refusal
    }
}

extension StatementEffects.Write {
    /// The name of the table.
    var table: String {
        switch self {
        case .insert(let table), .delete(let table), .update(let table, _): table
        }
    }
}
