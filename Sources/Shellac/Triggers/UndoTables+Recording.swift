/// The triggers that record the rows of a table before they are changed.
///
/// What is recorded of a row is its first change in a transaction, so that it does not matter which trigger of which
/// writer comes first, nor how often a row is changed. Nothing that is recorded is ever wrong: a row that is noted in
/// vain, because its change was ignored in the end, is found to be unchanged when the group is made.
///
/// - *UPDATE* and *DELETE*: BEFORE triggers, since an AFTER UPDATE trigger may run when a stamp was written already.
/// - *INSERT*: the new key, as one that was not there. It is known before the insertion, unless SQLite finds a row id.
///   AFTER triggers run in an order that SQLite does not promise, but those of the connection come before those of the
///   table. Where the connection has others on the table, the row id is foreseen.
/// - *REPLACE* deletes rows without running their triggers. So each insertion, and each update of a unique column,
///   notes the rows that it might replace.
///
/// `ON CONFLICT DO NOTHING` it is, and not `OR IGNORE`: `INSERT OR REPLACE` would have its own way in the triggers, too.
extension UndoTables {
    /// Name and SQL of the triggers.
    ///
    /// - Parameter foreseesRowIDs: Whether other temporary triggers may run before ours.
    func triggers(
        _ schema: TableSchema, _ indexes: [UniqueKey], function: String, foreseesRowIDs: Bool,
        isAutoIncremented: Bool
    ) -> [(name: String, sql: String)] {
        let epoch = "\(function)(\(number))"
        func note(_ row: String) -> String {
            let values = layout.key.map { "\(row).\($0.sql)" } + [epoch, "1"] + columns("\(row).")
            return "INSERT INTO \(before) VALUES (\(values.joined(separator: ", "))) ON CONFLICT DO NOTHING;"
        }
        func noteMissing(_ key: [String], where condition: String = "1") -> String {
            "INSERT INTO \(before) (\(keys()), epoch, e) SELECT \(key.joined(separator: ", ")), \(epoch), 0 "
                + "WHERE \(condition) ON CONFLICT DO NOTHING;"
        }
        func noteRows(where condition: String) -> String {
            let values = layout.key.map { "t.\($0.sql)" } + [epoch, "1"] + columns("t.")
            return "INSERT INTO \(before) SELECT \(values.joined(separator: ", ")) FROM \(table) AS t "
                + "WHERE \(condition) ON CONFLICT DO NOTHING;"
        }
        let newKey = layout.key.map { "NEW.\($0.sql)" }
        let sameKey = layout.key.map { key in
            "t.\(key.sql)\(key.collation.map { " COLLATE \($0.quotedDatabaseIdentifier)" } ?? "") = NEW.\(key.sql)"
        }.joined(separator: " AND ")
        let hasMoved = layout.key.map {
            "(NEW.\($0.sql) COLLATE BINARY IS NOT OLD.\($0.sql))"
        }.joined(separator: " OR ")
        let replaced = indexes.map { noteRows(where: $0.condition(schema)) }

        var triggers: [(name: String, sql: String)] = []
        func add(_ event: String, _ condition: String? = nil, _ body: [String]) {
            let name = "\(prefix) \(schema.name) \(event)"
            let when = [condition, epoch].compactMap(\.self).joined(separator: " AND ")
            triggers.append(
                (
                    name,
                    "CREATE TRIGGER \(name.quotedDatabaseIdentifier) \(event) ON \(table) FOR EACH ROW "
                        + "WHEN \(when) BEGIN \(body.joined(separator: " ")) END"
                ))
        }
        add("BEFORE UPDATE", nil, [note("OLD")])
        add("BEFORE DELETE", nil, [note("OLD")])
        add("AFTER INSERT", nil, [noteMissing(newKey)])

        // SQLite says -1 for a row id that is not known yet.
        let isUnknown = layout.hasRowID ? "NEW.\(layout.key[0].sql) IS -1" : "0"
        var insertion = [noteRows(where: sameKey)] + replaced
        if layout.hasRowID, foreseesRowIDs {
            var last = "coalesce((SELECT max(\(layout.key[0].sql)) FROM \(table)), 0)"
            if isAutoIncremented {
                let name = schema.name.quotedDatabaseLiteral
                last =
                    "max(\(last), coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = \(name)), 0))"
            }
            insertion.append(
                noteMissing(["CASE WHEN \(isUnknown) THEN \(last) + 1 ELSE \(newKey[0]) END"]))
        } else {
            insertion.append(noteMissing(newKey, where: "NOT (\(isUnknown))"))
        }
        let isNeededForKnownOnly = layout.hasRowID && !foreseesRowIDs && replaced.isEmpty
        add("BEFORE INSERT", isNeededForKnownOnly ? "NOT (\(isUnknown))" : nil, insertion)

        // An update of other columns moves and replaces nothing. `SET rowid = …` goes by that name alone.
        var unique: [String]? = layout.key.map(\.name) + (layout.hasRowID ? TableSchema.rowIDNames : [])
        for index in indexes {
            unique = index.columns(schema).flatMap { columns in unique.map { $0 + columns } }
        }
        let names = unique.map { names in
            var seen: Set<CaseInsensitiveName> = []
            return names.filter { seen.insert(CaseInsensitiveName($0)).inserted }
        }
        let list = names.map { $0.map(\.quotedDatabaseIdentifier).joined(separator: ", ") }
        let event = "BEFORE UPDATE" + (list.map { " OF \($0)" } ?? "")
        var move = [noteRows(where: "\(sameKey) AND (\(hasMoved))")] + replaced
        move.append(noteMissing(newKey, where: hasMoved))
        let name = "\(prefix) \(schema.name) BEFORE MOVE"
        triggers.append(
            (
                name,
                "CREATE TRIGGER \(name.quotedDatabaseIdentifier) \(event) ON \(table) FOR EACH ROW "
                    + "WHEN \(epoch) BEGIN \(move.joined(separator: " ")) END"
            ))
        return triggers
    }
}

/// A unique index of a table, as far as REPLACE has to do with it.
struct UniqueKey: Hashable {
    let index: IndexInfo
    /// The SQL of the index, where somebody wrote it.
    let sql: String

    /// The columns by whose updates a row may come to replace others. Nil where it may be any.
    func columns(_ schema: TableSchema) -> [String]? {
        if index.isPartial || index.hasExpressions { return nil }
        if index.columns.contains(where: { schema.column(named: $0)?.isGenerated == true }) { return nil }
        return index.columns
    }

    /// Whether a row `t` has the keys that the row NEW has, or will have.
    func condition(_ schema: TableSchema) -> String {
        let text = index.isPartial || index.hasExpressions ? IndexText(sql) : nil
        var conditions = index.keys.enumerated().map { place, key in
            let collation = "COLLATE \(key.collation.quotedDatabaseIdentifier)"
            guard let column = key.column else {
                let expression = text?.keys[place] ?? "NULL"
                let new = schema.columns.map(\.name.quotedDatabaseIdentifier).map { "NEW.\($0) AS \($0)" }
                return "(\(expression)) \(collation) = (SELECT \(expression) "
                    + "FROM (SELECT \(new.joined(separator: ", "))))"
            }
            let quoted = column.quotedDatabaseIdentifier
            var value = "NEW.\(quoted)"
            // With NOT NULL ON CONFLICT REPLACE, the default value takes the place of NULL.
            if let info = schema.column(named: column), info.isNotNull, let value2 = info.defaultValueSQL {
                value = "coalesce(\(value), \(value2))"
            }
            return "t.\(quoted) \(collation) = \(value)"
        }
        if let condition = text?.condition { conditions.append("(\(condition))") }
        return conditions.joined(separator: " AND ")
    }
}
