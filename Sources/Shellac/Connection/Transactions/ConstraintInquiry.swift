// Completes constraint errors with details that SQLite omits: table, columns, foreign key.

import CSQLite

/// Looks up what SQLite does not say of a constraint that a statement has violated.
///
/// It is asked when the statement has ended, and before its transaction does: see ``TransactionLog``. It never makes things worse:
/// what cannot be found out stays unknown.
struct ConstraintInquiry {
    let database: Database
    let effects: StatementEffects

    /// How many thousand instructions of SQLite's machine an answer may take: some tenths of a second.
    static var greatestSteps: Int { 5_000 }

    /// Returns the error of a statement that has just ended, with what can be found out.
    static func complete(_ error: any Error, of statement: Statement) -> any Error {
        guard var refusal = error as? DatabaseError, let constraint = refusal.constraint,
            !statement.database.running.isRehearsal, !statement.database.isClosed
        else { return error }
        let inquiry = ConstraintInquiry(database: statement.database, effects: statement.effects)
        refusal.constraint =
            switch constraint.kind {
            case .check: inquiry.completeCheck(constraint)
            case .foreignKey: inquiry.completeForeignKey(constraint, of: statement)
            case .unique where constraint.table == nil: inquiry.completeIndex(constraint)
            case .unique, .notNull, .dataType:
                constraint.isDoubtful ? inquiry.completeNames(constraint, refusal.message ?? "") : constraint
            case .trigger, .other: constraint
            }
        // SQLite calls a constraint that has no name by its expression, which says them already.
        if let values = refusal.constraint?.values, !values.isEmpty,
            let name = constraint.name, CheckExpressions.ValueList(name) == nil
        {
            let list = values.prefix(10).map(\.shortLiteral).joined(separator: ", ")
            refusal = refusal.saying("it accepts \(list)\(values.count > 10 ? " and others" : "")")
        }
        return refusal
    }

    private func read(_ sql: String, _ arguments: [DatabaseValue] = []) -> [[DatabaseValue]] {
        database.unheard(steps: Self.greatestSteps) { (try? database.readUnheard(sql, arguments)) ?? [] }
    }

    // MARK: - Names

    /// The names of the tables that the statement may write, each with its database.
    private var tables: [(schema: String, name: String)] {
        let names = Set(effects.writes.map(\.table)).sorted()
        return effects.databases.sorted().flatMap { schema in names.map { (schema, $0) } }
    }

    private func columns(of table: (schema: String, name: String)) -> [String] {
        read(
            "SELECT name FROM pragma_table_xinfo(?, ?)",
            [table.name.databaseValue, table.schema.databaseValue]
        ).compactMap { String.fromDatabaseValue($0[0]) }
    }

    /// Finds the table and the columns of names that have dots or commas.
    private func completeNames(_ constraint: DatabaseError.Constraint, _ message: String)
        -> DatabaseError.Constraint
    {
        for table in tables {
            let columns = columns(of: table)
            guard let start = message.firstRange(of: "\(table.name)."),
                let found = Self.split(message[start.upperBound...], into: columns, of: table.name)
            else { continue }
            var constraint = constraint
            (constraint.table, constraint.columns) = (table.name, found)
            return constraint
        }
        return constraint
    }

    /// Splits `a, table.b` into the columns that a table has, if it can be done.
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

    /// Finds the table of a unique index on expressions, and those of its columns that are none.
    private func completeIndex(_ constraint: DatabaseError.Constraint) -> DatabaseError.Constraint {
        guard let index = constraint.name else { return constraint }
        var constraint = constraint
        for schema in effects.databases.sorted() {
            let quoted = schema.quotedDatabaseIdentifier
            let rows = read(
                "SELECT tbl_name FROM \(quoted).sqlite_master WHERE type = 'index' AND name = ?",
                [index.databaseValue])
            guard let table = rows.first.flatMap({ String.fromDatabaseValue($0[0]) }) else { continue }
            constraint.table = table
            constraint.columns = read(
                "SELECT name FROM pragma_index_info(?, ?) WHERE name IS NOT NULL ORDER BY seqno",
                [index.databaseValue, schema.databaseValue]
            ).compactMap { String.fromDatabaseValue($0[0]) }
        }
        return constraint
    }

    // MARK: - CHECK

    /// Finds the table of a CHECK constraint, and the columns that stand in its expression. Where several tables that are written
    /// have such a constraint, it is not known which.
    private func completeCheck(_ constraint: DatabaseError.Constraint) -> DatabaseError.Constraint {
        guard let name = constraint.name else { return constraint }
        var found: [(table: (schema: String, name: String), expression: String, name: String)] = []
        for table in tables {
            let rows = read(
                "SELECT sql FROM \(table.schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'table' AND name = ?",
                [table.name.databaseValue])
            guard let sql = rows.first.flatMap({ String.fromDatabaseValue($0[0]) }) else { continue }
            let checks = CheckExpressions(sql)
            guard let expression = checks.expression(named: name) else { continue }
            found.append((table, expression, checks.name(ofExpression: expression)))
        }
        guard let first = found.first, found.count == 1 else { return constraint }
        var constraint = constraint
        (constraint.table, constraint.name) = (first.table.name, first.name)
        let columns = columns(of: first.table)
        for word in CheckExpressions.names(in: first.expression) {
            guard let column = columns.first(where: { CaseInsensitiveName.matches($0, word) }),
                !constraint.columns.contains(column)
            else { continue }
            constraint.columns.append(column)
        }
        if let list = CheckExpressions.ValueList(first.expression) {
            constraint.values = read("SELECT \(list.sql)").first ?? []
        }
        return constraint
    }

    // MARK: - Foreign keys

    private func completeForeignKey(_ constraint: DatabaseError.Constraint, of statement: Statement)
        -> DatabaseError.Constraint
    {
        let key: DatabaseError.Constraint.ForeignKey? =
            switch effects.transaction {
            case .commit, .release: keyOfCommit()
            case nil: ForeignKeyRehearsal(statement)?.violatedKey()
            case .begin, .rollback, .savepoint, .rollbackTo: nil
            }
        guard let key else { return constraint }
        var constraint = constraint
        (constraint.table, constraint.columns, constraint.foreignKey) = (
            key.originTable, key.originColumns, key
        )
        return constraint
    }

    /// Returns the foreign key that a transaction violates which cannot be committed: its changes are still there. Rows that
    /// violated another one before are not told from its own: then it is not known.
    private func keyOfCommit() -> DatabaseError.Constraint.ForeignKey? {
        guard sqlite3_get_autocommit(database.pointer) == 0 else { return nil }
        return database.unheard(steps: Self.greatestSteps) {
            var keys: Set<DatabaseError.Constraint.ForeignKey> = []
            for schema in (try? database.readUnheard("SELECT name FROM pragma_database_list")) ?? [] {
                guard let schema = String.fromDatabaseValue(schema[0]),
                    let rows = try? database.readUnheard(
                        "SELECT DISTINCT \"table\", fkid FROM pragma_foreign_key_check(NULL, ?)",
                        [schema.databaseValue])
                else { return nil }
                for row in rows {
                    guard let table = String.fromDatabaseValue(row[0]),
                        let number = Int.fromDatabaseValue(row[1]),
                        let key = SchemaForeignKeys(database, schema).keys.first(where: {
                            $0.number == number && $0.key.originTable == table
                        })
                    else { return nil }
                    keys.insert(key.key)
                }
            }
            return keys.count == 1 ? keys.first : nil
        }
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

/// The CHECK constraints in the SQL of a table.
struct CheckExpressions {
    /// The names, where they have one, and the expressions.
    private var all: [(name: String?, expression: String)] = []

    init(_ sql: String) {
        let tokens = SQLTokens(sql)
        let list = tokens.meaningful
        var name: String?
        var index = 0
        while index < list.count {
            let word = tokens.text(list[index].range)
            if CaseInsensitiveName.matches(word, "CONSTRAINT"), index + 1 < list.count {
                name = Self.unquoted(tokens.text(list[index + 1].range))
                index += 2
                continue
            }
            if CaseInsensitiveName.matches(word, "CHECK"), index + 1 < list.count,
                case .opening = list[index + 1].kind
            {
                let start = index + 1
                var depth = 0
                repeat {
                    index += 1
                    if case .opening = list[index].kind { depth += 1 }
                    if case .closing = list[index].kind { depth -= 1 }
                } while depth > 0 && index + 1 < list.count
                let range = list[start].range.upperBound..<list[index].range.lowerBound
                all.append((name, tokens.text(range)))
            }
            if case .comma = list[index].kind { name = nil }
            index += 1
        }
    }

    /// Returns the expression of the constraint that has a name, or that SQLite calls by its expression.
    ///
    /// SQLite takes the quotes from such a name as from any other: `"kind" IN ('cat')` is called `kind`. Where that is said of several, it
    /// is not known which is meant.
    func expression(named name: String) -> String? {
        let found =
            all.first { $0.name.map { CaseInsensitiveName.matches($0, name) } ?? false }
            ?? all.first { $0.name == nil && Self.trimmed($0.expression) == name }
        if let found { return found.expression }
        let quoted = all.filter { constraint in
            guard constraint.name == nil, let first = SQLTokens(constraint.expression).meaningful.first,
                case .quoted = first.kind
            else { return false }
            return Self.unquoted(SQLTokens(constraint.expression).text(first.range)) == name
        }
        return quoted.count == 1 ? quoted[0].expression : nil
    }

    /// Returns what a constraint is called that has an expression.
    func name(ofExpression expression: String) -> String {
        all.first { $0.expression == expression }?.name ?? String(Self.trimmed(expression))
    }

    /// Returns the words of an expression that may be names.
    static func names(in expression: String) -> [String] {
        let tokens = SQLTokens(expression)
        return tokens.meaningful.compactMap { token in
            switch token.kind {
            case .word, .quoted: unquoted(tokens.text(token.range))
            default: nil
            }
        }
    }

    /// The expressions of all constraints.
    var expressions: [String] { all.map(\.expression) }

    /// Returns a name without its quotes. A text between single quotes is none.
    static func unquoted(_ text: String) -> String {
        text.hasPrefix("'") ? text : SQLTokens.unquoted(text)
    }

    private static func trimmed(_ text: String) -> Substring {
        let isBlank: (Character) -> Bool = { $0.isWhitespace }
        let rest = text.drop(while: isBlank)
        return rest.prefix(
            (rest.lastIndex { !isBlank($0) }).map { rest.distance(from: rest.startIndex, to: $0) + 1 } ?? 0)
    }
}
