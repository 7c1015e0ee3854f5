/// The triggers that record the rows of a table before they are changed.
///
/// They record a row before its first change in a transaction. So neither the order of the triggers
/// matters, nor the number of its changes. No record is ever wrong: if a change was ignored in the
/// end, its row is found to be unchanged when the group is made.
///
/// - *UPDATE* and *DELETE*: BEFORE triggers, since an AFTER UPDATE trigger may run when the row was
///   filled in already.
/// - *INSERT*: the new key, as one that did not exist. It is known before the insertion, unless
///   SQLite chooses a row id. A BEFORE trigger sees that as -1 ("CREATE TRIGGER", section "Cautions
///   On The Use Of BEFORE triggers"). An inserted row may also have the id -1: the two cases look
///   the same, and the note is true of both. SQLite does not promise the order of AFTER triggers,
///   but those of the connection come before those of the table. Triggers of a source and of
///   callbacks begin with the note, too: see ``noteOfInsertion(function:)``. If the program has
///   temporary triggers on the table, the row id is foreseen.
/// - *REPLACE* deletes rows without running their triggers. So each insertion, and each update of a
///   unique column, notes the rows that it might replace.
///
/// The triggers use `ON CONFLICT DO NOTHING`, and not `OR IGNORE`: an `INSERT OR REPLACE` would
/// override that in the triggers, too.
extension UndoTables {
    /// Returns the statement of an AFTER INSERT trigger that notes the new row, as one that did not
    /// exist.
    func noteOfInsertion(function: String) -> String {
        noteMissing(layout.key.map { "NEW.\($0.sql)" }, epoch(function), where: epoch(function))
    }

    /// Returns the SQL for the number of the running transaction, or 0 if nothing must be recorded.
    private func epoch(_ function: String) -> String { "\(function)(\(number))" }

    private func noteMissing(_ key: [String], _ epoch: String, where condition: String = "1") -> String {
        "INSERT INTO \(before) (\(keys()), epoch, e) SELECT \(key.joined(separator: ", ")), \(epoch), 0 "
            + "WHERE \(condition) ON CONFLICT DO NOTHING;"
    }

    /// Returns the names and the SQL of the triggers.
    ///
    /// - Parameter foreseesRowIDs: Whether temporary triggers of the program may run before
    ///   Shellac's.
    func triggers(
        _ schema: TableSchema, _ indexes: [UniqueKey], function: String, foreseesRowIDs: Bool,
        isAutoIncremented: Bool
    ) -> [(name: String, sql: String)] {
        let epoch = epoch(function)
        let names = (layout.key.indices.map { "k\($0)" } + ["epoch", "e"] + numbered("c")).joined(
            separator: ", ")
        func note(_ row: String) -> String {
            let values = layout.key.map { "\(row).\($0.sql)" } + [epoch, "1"] + columns("\(row).")
            return
                "INSERT INTO \(before) (\(names)) VALUES (\(values.joined(separator: ", "))) ON CONFLICT DO NOTHING;"
        }
        func noteRows(where condition: String) -> String {
            let values = layout.key.map { "t.\($0.sql)" } + [epoch, "1"] + columns("t.")
            return
                "INSERT INTO \(before) (\(names)) SELECT \(values.joined(separator: ", ")) FROM \(table) AS t "
                + "WHERE \(condition) ON CONFLICT DO NOTHING;"
        }
        let newKey = layout.key.map { layout.hasRowID ? "NEW.\($0.sql)" : schema.newValue(of: $0.name) }
        let sameKey = zip(layout.key, newKey).map { "t.\($0.collated) = \($1)" }.joined(separator: " AND ")
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

        let key = newKey[0]
        var insertion = [noteRows(where: sameKey)] + replaced
        if layout.hasRowID, foreseesRowIDs {
            var last = "coalesce((SELECT max(\(layout.key[0].sql)) FROM \(table)), 0)"
            if isAutoIncremented {
                let name = schema.name.quotedDatabaseLiteral
                last =
                    "max(\(last), coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = \(name)), 0))"
            }
            // After the greatest id, SQLite chooses one at random.
            let hasNext = "\(key) IS -1 AND \(last) < \(Int64.max)"
            insertion.append(noteMissing(newKey, epoch))
            insertion.append(noteMissing(["\(last) + 1"], epoch, where: hasNext))
            insertion.append(
                "UPDATE \(before) SET isForeseen = 1 WHERE k0 = \(key) AND epoch = \(epoch);")
            insertion.append(
                "UPDATE \(before) SET isForeseen = 1 WHERE \(hasNext) AND k0 = \(last) + 1 AND epoch = \(epoch);"
            )
            add("BEFORE INSERT", nil, insertion)
            // If SQLite has chosen an id at random, its note may hold what other triggers have made
            // of the new row. (SQLite chooses ids up to 2^62, and none that exists: see "SQLite
            // Autoincrement".)
            let nothing = (["e"] + numbered("c")).map { $0 == "e" ? "e = 0" : "\($0) = NULL" }
            let correction =
                "UPDATE \(before) SET \(nothing.joined(separator: ", ")) WHERE k0 = \(key) AND epoch = \(epoch) "
                + "AND isForeseen IS NULL AND \(key) BETWEEN 1 AND \(Int64(1) << 62) "
                + "AND (SELECT max(\(layout.key[0].sql)) FROM \(table)) = \(Int64.max);"
            add("AFTER INSERT", nil, [noteMissing(newKey, epoch), correction])
        } else {
            // SQLite gives -1 for a row id that is not known yet. A row -1 may exist, and be
            // replaced.
            let isKnown =
                layout.hasRowID
                ? "(\(key) IS NOT -1 OR EXISTS (SELECT 1 FROM \(table) WHERE \(layout.key[0].sql) = -1))"
                : nil
            let isGiven =
                layout.hasRowID
                ? "\(key) IS NOT -1" : newKey.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            insertion.append(noteMissing(newKey, epoch, where: isGiven))
            add("BEFORE INSERT", replaced.isEmpty ? isKnown : nil, insertion)
            add("AFTER INSERT", nil, [noteMissing(newKey, epoch)])
        }

        // An update of other columns moves and replaces nothing. `SET rowid = …` counts only by
        // that name.
        var unique: [String]? = layout.key.map(\.name) + (layout.hasRowID ? TableSchema.rowIDNames : [])
        for index in indexes {
            unique = index.columns(schema).flatMap { columns in unique.map { $0 + columns } }
        }
        let watched = unique.map { names in
            var seen: Set<CaseInsensitiveName> = []
            return names.filter { seen.insert(CaseInsensitiveName($0)).inserted }
        }
        let list = watched.map { $0.map(\.quotedDatabaseIdentifier).joined(separator: ", ") }
        let event = "BEFORE UPDATE" + (list.map { " OF \($0)" } ?? "")
        var move = [noteRows(where: "\(sameKey) AND (\(hasMoved))")] + replaced
        move.append(noteMissing(newKey, epoch, where: hasMoved))
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
