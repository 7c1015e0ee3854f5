/// A counter whose tables both exist, and the triggers that maintain it.
///
/// ## The life of a count
///
/// Triggers on the counted table add and subtract one. They run whenever SQLite runs triggers: for
/// all statements, foreign key actions, and other triggers. They miss three things, each of which
/// has a trigger of its own:
///
/// - *A row of the counter's table is inserted, or its key changes.* If foreign keys are deferred
///   or not enforced, rows that refer to it may already exist. ON UPDATE CASCADE, too, has counted
///   its rows once more. So the rows are counted again: SQLite runs foreign key actions before
///   AFTER triggers. This also corrects a count that was inserted by hand.
/// - *REPLACE* deletes rows without running their triggers unless `recursive_triggers` is on, and
///   no connection has to turn it on. So a BEFORE trigger notes the conflicting rows with the keys
///   they refer to. An AFTER trigger subtracts those that are gone. If SQLite ignores the new row
///   in the end, or updates an old one instead, the AFTER trigger does not run. The next BEFORE
///   trigger starts with empty notes. A row whose own DELETE trigger has run is removed from the
///   notes.
/// - *A table that refers to itself*: the row being written is also a row that has a count. No
///   trigger adds to it, since AFTER triggers run in no defined order. Its rows are counted again
///   instead.
///
/// The notes are a table beside the counter. It is empty except in the middle of a statement, or
/// after an ignored row has left notes in it. Changes to the notes are not reported.
struct CounterTriggers {
    let parent: TableSchema
    let mark: CounterMark
    let child: TableSchema
    /// The columns of the counted table.
    let origin: [String]
    /// The columns that they refer to.
    let destination: [String]
    /// The columns that identify a row of the counted table.
    private let key: [RowKeyColumn]
    private let uniqueKeys: [UniqueKey]

    private var baseName: String { Self.baseName(parent.name, mark) }

    static func baseName(_ parent: String, _ mark: CounterMark) -> String {
        "\(CounterMark.ownPrefix)\(CounterMark.word(parent)).\(CounterMark.word(mark.column))"
    }

    private var isTree: Bool { CaseInsensitiveName.matches(parent.name, child.name) }

    /// - Throws: a ``DatabaseError`` if the counter cannot count these rows.
    init(_ mark: CounterMark, of parent: TableSchema, _ child: TableSchema, _ db: Database) throws {
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the counter \(mark.column) of the table \(parent.name) cannot count \(child.name): \(reason)"
            )
        }
        switch child.kind {
        case .table: break
        case .view: throw refuse("it is a view. Count the rows of its table")
        case .virtualTable, .tableValuedFunction:
            throw refuse("it is a virtual table, and SQLite has no triggers on virtual tables")
        }
        guard !Database.isSQLiteInternalTable(child.name) else { throw refuse("it belongs to SQLite") }
        (self.mark, self.parent, self.child) = (mark, parent, child)
        (origin, destination) = try Self.reference(mark, of: parent, child, db, refuse)
        if let column = origin.first(where: { child.column(named: $0)?.isGenerated == true }) {
            throw refuse(
                "its column \(column) is generated, and a trigger does not see when it changes. Count "
                    + "by a column that is stored as it is given")
        }
        guard let key = child.keyOfRow else {
            throw refuse("its rows have neither a primary key nor a row id that SQL could use")
        }
        self.key = key
        let objects = try db.schema.objects(.index, in: child.schemaName)
        uniqueKeys = child.indexes.filter(\.isUnique).map { index in
            UniqueKey(index: index, sql: objects.first { $0.name == index.name }?.sql ?? "")
        }
    }

    /// Finds the columns that refer to the counter's table.
    private static func reference(
        _ mark: CounterMark, of parent: TableSchema, _ child: TableSchema, _ db: Database,
        _ refuse: (String) -> DatabaseError
    ) throws -> (origin: [String], destination: [String]) {
        for name in mark.originColumns where child.column(named: name) == nil {
            throw refuse("it has no column \(name)")
        }
        func names(_ columns: [String]) -> Set<CaseInsensitiveName> {
            Set(columns.map(CaseInsensitiveName.init))
        }
        let keys = try db.foreignKeys(on: child.name, in: child.schemaName).filter {
            CaseInsensitiveName.matches($0.destinationTable, parent.name)
        }
        let named = keys.filter {
            mark.originColumns.isEmpty || names($0.originColumns) == names(mark.originColumns)
        }
        if named.count > 1 {
            let list = named.map { "[\($0.originColumns.map { "\"\($0)\"" }.joined(separator: ", "))]" }
            throw refuse(
                "\(named.count) foreign keys refer to \(parent.name). Say which one counts: using: \(list.joined(separator: " or "))"
            )
        }
        guard let foreignKey = named.first else {
            if mark.originColumns.isEmpty {
                throw refuse(
                    "it has no foreign key to \(parent.name). Declare one, by belongsTo or references, in the definition of \(child.name), "
                        + "or say which columns refer to it: using: [\"…\"]")
            }
            let key = parent.primaryKey.columns
            guard key.count == mark.originColumns.count else {
                throw refuse(
                    "\(mark.originColumns.joined(separator: ", ")) cannot refer to the primary key of \(parent.name), "
                        + "which is \(key.isEmpty ? "missing" : key.joined(separator: ", "))")
            }
            return (mark.originColumns, key)
        }
        guard !foreignKey.destinationColumns.isEmpty,
            foreignKey.destinationColumns.allSatisfy({ parent.column(named: $0) != nil }),
            parent.uniqueKey(of: foreignKey.destinationColumns) != nil
        else {
            throw refuse(
                "its foreign key (\(foreignKey.originColumns.joined(separator: ", "))) does not refer to a "
                    + "unique key of \(parent.name)"
            )
        }
        return (foreignKey.originColumns, foreignKey.destinationColumns)
    }

    // MARK: - SQL

    private var parentName: String { parent.name.quotedDatabaseIdentifier }
    private var childName: String { child.name.quotedDatabaseIdentifier }
    private var counter: String { mark.column.quotedDatabaseIdentifier }
    private var notes: String { notesName.quotedDatabaseIdentifier }
    var notesName: String { baseName }

    /// The pairs of columns, quoted.
    private var pairs: [(origin: String, destination: String)] {
        zip(origin, destination).map { ($0.quotedDatabaseIdentifier, $1.quotedDatabaseIdentifier) }
    }

    // These names differ from any name that a table or a column beside them may have.
    private static var counted: String { "\"shellac counted\"" }
    private static var noted: String { "\"shellac noted\"" }

    private static func all(_ conditions: [String]) -> String { conditions.joined(separator: " AND ") }
    private static func any(_ conditions: [String]) -> String { "(\(conditions.joined(separator: " OR ")))" }

    /// Returns SQL for the number of rows that refer to a row of the counter's table.
    ///
    /// The referenced column comes first, so that its collation and affinity apply, as for a
    /// foreign key.
    private func count(of row: String, in schemaName: String? = nil) -> String {
        let conditions = pairs.map { "\(row).\($0.destination) = \(Self.counted).\($0.origin)" }
        return
            "(SELECT COUNT(*) FROM \(child.name.quoted(in: schemaName)) AS \(Self.counted) WHERE \(Self.all(conditions)))"
    }

    /// Returns one statement that counts again, and corrects, all rows whose count is wrong.
    func recount(in schemaName: String) -> String {
        let count = count(of: parentName, in: schemaName)
        return
            "UPDATE \(parent.name.quoted(in: schemaName)) SET \(counter) = \(count) WHERE \(counter) IS NOT \(count)"
    }

    /// Returns a query for the number of wrong counts.
    func countOfWrong(in schemaName: String) -> String {
        let count = count(of: parentName, in: schemaName)
        return "SELECT COUNT(*) FROM \(parent.name.quoted(in: schemaName)) WHERE \(counter) IS NOT \(count)"
    }

    /// Returns the SQL of the notes' table, which stores the keys of rows and the keys they refer
    /// to.
    func notesSQL(in schemaName: String) -> String {
        let columns = key.indices.map { "k\($0)" } + origin.indices.map { "f\($0)" }
        return
            "CREATE TABLE IF NOT EXISTS \(notesName.quoted(in: schemaName)) (\(columns.joined(separator: ", ")))"
    }

    /// Whether the triggers that the schema requires are there, and their notes.
    func arePresent(on db: Database) throws -> Bool {
        let present = try db.schema.objects(.trigger, in: parent.schemaName)
        return try triggers().allSatisfy { wanted in
            present.contains { $0.name == wanted.name && $0.sql == wanted.sql }
        } && db.schema.contains(.table, notesName, in: parent.schemaName)
    }

    /// Returns the names and the SQL of all triggers, as SQLite stores them.
    func triggers() -> [(name: String, sql: String)] {
        var triggers: [(name: String, sql: String)] = []
        func add(
            _ what: String, _ event: String, _ table: String, when condition: String? = nil, _ body: String...
        ) {
            let name = "\(baseName) \(what)"
            let when = condition.map { "WHEN \($0) " } ?? ""
            triggers.append(
                (
                    name,
                    "CREATE TRIGGER \(name.quotedDatabaseIdentifier) \(event) ON \(table) FOR EACH ROW "
                        + "\(when)BEGIN \(body.filter { !$0.isEmpty }.joined(separator: " ")) END"
                ))
        }
        let recounted =
            "UPDATE \(parentName) SET \(counter) = \(count(of: parentName)) WHERE \(matching("NEW", destination))"

        add("insert", "AFTER INSERT", childName, adding("+ 1", to: "NEW"))
        add("delete", "AFTER DELETE", childName, adding("- 1", to: "OLD", isDeleted: true))
        let loop = Self.any(
            ["NEW", "OLD"].map { row in
                "(\(Self.all(pairs.map { "\(row).\($0.destination) = \(row).\($0.origin)" })))"
            })
        add(
            "update", "AFTER UPDATE\(columns(origin, of: child))", childName, when: changing(origin),
            adding("- 1", to: "OLD"), adding("+ 1", to: "NEW"), isTree ? "\(recounted) AND \(loop);" : "")

        let ways = uniqueKeys.map { "(\($0.condition(child)))" } + rowIDWay
        let isOther = Self.any(key.map { "t.\($0.collated) IS NOT OLD.\($0.sql)" })
        let others = ways.map { "\($0) AND \(isOther)" }
        add("before insert", "BEFORE INSERT", childName, when: conflicting(ways), noting(ways))
        add("replace", "AFTER INSERT", childName, when: isNoted, subtractingReplaced)
        // This runs before other triggers and foreign key actions react to the deletion.
        add(
            "before delete", "BEFORE DELETE", childName, when: isNoted,
            "DELETE FROM \(notes) WHERE \(isRow("OLD", of: notes));")
        add("delete replaced", "AFTER DELETE", childName, when: isNoted, subtractingBeforehand)
        let unique = columnsOfUniqueKeys
        add("before update", "BEFORE UPDATE\(unique)", childName, when: conflicting(others), noting(others))
        add(
            "update replace", "AFTER UPDATE\(unique)", childName, when: isNoted, subtractingReplaced,
            isTree ? "\(recounted);" : "")

        add(
            "parent insert", "AFTER INSERT", parentName, when: "NEW.\(counter) IS NOT \(count(of: "NEW"))",
            "\(recounted);")
        add(
            "parent update", "AFTER UPDATE\(columns(destination, of: parent))", parentName,
            when: changing(destination),
            "\(recounted) AND \(counter) IS NOT \(count(of: parentName));")
        return triggers
    }

    private func matching(_ row: String, _ columns: [String]) -> String {
        Self.all(
            zip(destination, columns).map {
                "\($0.quotedDatabaseIdentifier) = \(row).\($1.quotedDatabaseIdentifier)"
            })
    }

    /// A condition that leaves out the row of a self-referencing table that is being written.
    private var exceptOwn: String {
        isTree ? " AND " + Self.any(pairs.map { "\($0.destination) IS NOT NEW.\($0.destination)" }) : ""
    }

    private func adding(_ number: String, to row: String, isDeleted: Bool = false) -> String {
        "UPDATE \(parentName) SET \(counter) = \(counter) \(number) WHERE \(matching(row, origin))\(isDeleted ? "" : exceptOwn);"
    }

    /// Returns the columns of an update trigger, ` OF "a", "b"`. `SET rowid = …` fires only a
    /// trigger that names the row id as the statement does.
    private func columns(_ names: [String], of table: TableSchema) -> String {
        let isRowID =
            table.primaryKey.rowIDColumn.map { column in
                names.contains { CaseInsensitiveName.matches($0, column) }
            } ?? false
        let all = names + (isRowID ? TableSchema.rowIDNames.filter { table.column(named: $0) == nil } : [])
        return " OF " + all.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
    }

    private func changing(_ names: [String]) -> String {
        Self.any(names.map(\.quotedDatabaseIdentifier).map { "NEW.\($0) COLLATE BINARY IS NOT OLD.\($0)" })
    }

    // MARK: - Replaced rows

    private var rowIDWay: [String] {
        guard child.primaryKey.tableHasRowID, let name = key.first else { return [] }
        return ["t.\(name.sql) = NEW.\(name.sql)"]
    }

    /// The columns whose update may make a row replace others. Empty if any update may do so.
    private var columnsOfUniqueKeys: String {
        var names =
            child.primaryKey.tableHasRowID
            ? child.primaryKey.rowIDColumn.map { [$0] } ?? [] : child.primaryKey.columns
        for index in uniqueKeys {
            guard let columns = index.columns(child) else { return "" }
            names += columns
        }
        if child.primaryKey.tableHasRowID {
            names += TableSchema.rowIDNames.filter { child.column(named: $0) == nil }
        }
        var seen: Set<CaseInsensitiveName> = []
        names = names.filter { seen.insert(CaseInsensitiveName($0)).inserted }
        return " OF " + names.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
    }

    private var isNoted: String { "EXISTS (SELECT 1 FROM \(notes))" }

    private func conflicting(_ ways: [String]) -> String {
        Self.any([isNoted] + ways.map { "EXISTS (SELECT 1 FROM \(childName) AS t WHERE \($0))" })
    }

    private func noting(_ ways: [String]) -> String {
        let columns = key.map(\.sql) + origin.map(\.quotedDatabaseIdentifier)
        let values = columns.map { "t.\($0)" }.joined(separator: ", ")
        let rows = ways.map { "SELECT \(values) FROM \(childName) AS t WHERE \($0)" }.joined(
            separator: " UNION ")
        return "DELETE FROM \(notes); INSERT INTO \(notes) \(rows);"
    }

    private func isRow(_ row: String, of notes: String) -> String {
        // The column of the notes has no collation of its own, and comes first: see "Datatypes In
        // SQLite".
        "(\(Self.all(key.enumerated().map { "\(notes).k\($0)\($1.collation) = \(row).\($1.sql)" })))"
    }

    private func isThere(_ notes: String) -> String {
        let isSame = Self.all(key.enumerated().map { "t.\($1.collated) = \(notes).k\($0)" })
        return "EXISTS (SELECT 1 FROM \(childName) AS t WHERE \(isSame))"
    }

    /// Returns SQL that subtracts the noted rows that are gone.
    private func subtracting(where isGone: String) -> String {
        let refers = Self.all(
            pairs.enumerated().map { "\(parentName).\($1.destination) = \(Self.noted).f\($0)" })
        let list = pairs.map(\.destination).joined(separator: ", ")
        let noted = origin.indices.map { "f\($0)" }.joined(separator: ", ")
        return
            "UPDATE \(parentName) SET \(counter) = \(counter) - (SELECT COUNT(*) FROM \(notes) AS \(Self.noted) WHERE \(refers) AND \(isGone)) "
            + "WHERE \(pairs.count > 1 ? "(\(list))" : list) IN (SELECT \(noted) FROM \(notes))"
    }

    private var subtractingReplaced: String {
        let isGone = "(\(isRow("NEW", of: Self.noted)) OR NOT \(isThere(Self.noted)))"
        return "\(subtracting(where: isGone))\(exceptOwn); DELETE FROM \(notes);"
    }

    /// SQL that subtracts, when a row is deleted, the noted rows that are already gone. ON DELETE
    /// CASCADE may have deleted the very row that was to replace them.
    ///
    /// The notes remain, but no longer count. An update that is still in progress writes the row as
    /// it was read before all this, including its counter.
    private var subtractingBeforehand: String {
        let forgotten = origin.indices.map { "f\($0) = NULL" }.joined(separator: ", ")
        return
            "\(subtracting(where: "NOT \(isThere(Self.noted))")); UPDATE \(notes) SET \(forgotten) WHERE NOT \(isThere(notes));"
    }
}
