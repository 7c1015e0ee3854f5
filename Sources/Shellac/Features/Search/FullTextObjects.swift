/// The tables, the view and the triggers of one full-text index.
///
/// ## The life of an entry
///
/// FTS5 stores the words of a row, but not its text. To remove a row's words, it needs the very
/// text that they came from ("External Content Tables" in the SQLite documentation).
/// So everything depends on knowing that text when the row has already changed.
///
/// - *An inserted row* is read from its table, and its words are added, unless the index has them.
///   (A trigger of the user may have run before, and may have changed the row.)
/// - *An update* first notes the text that the index has, in a table of notes. Afterwards, the
///   words of the noted text are removed, and those of the row as it is now are added.
/// - *A deletion* removes the words of the noted text, or else of the old row.
/// - *REPLACE* deletes rows without their triggers, unless `recursive_triggers` is on. So a row
///   that is about to be inserted or updated notes all rows that it conflicts with. Afterwards,
///   the words of those that are gone are removed.
///
/// A note always contains the text that the index has of its row, and whatever changes the entry
/// of a row deletes its note. So it does no harm if a note remains, because SQLite has ignored a
/// row, or updated another one instead of inserting it. Nor does it matter how often triggers of
/// the user, and foreign key actions, change rows in the middle of a statement. They may use up the
/// note of a row whose key has changed, and so an update also adds a row that the index lacks.
///
/// FTS5 reads the rows through a view. SQLite rewrites it, like triggers, when the table or a
/// column is renamed. The columns of the view and of the index keep their first names.
struct FullTextObjects {
    let name: String
    let table: TableSchema
    /// The columns of the table that are indexed, as they are named now.
    let columns: [String]
    /// The names that the columns have in the index.
    let indexColumns: [String]
    private let key: String

    /// The prefix of the names of everything but the index.
    static let ownPrefix = OwnName.prefix + "search "

    static func viewName(_ index: String) -> String { ownPrefix + index }
    static func notesName(_ index: String) -> String { "\(ownPrefix)\(index) notes" }
    static func wordsName(_ index: String) -> String { "\(ownPrefix)\(index) words" }
    static func triggerPrefix(_ index: String) -> String { "\(ownPrefix)\(index) on " }

    /// - Throws: a ``DatabaseError`` if the table cannot have such an index.
    init(name: String, table: TableSchema, columns: [String], indexColumns: [String]? = nil) throws {
        self.name = name
        self.table = table
        key = try Self.key(of: table)
        self.columns = columns
        // FTS5 reserves these names.
        self.indexColumns =
            indexColumns
            ?? columns.map { column in
                ["rowid", "rank", name].contains { CaseInsensitiveName.matches($0, column) }
                    ? column + "_" : column
            }
    }

    private static func key(of table: TableSchema) throws -> String {
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the table \(table.name) cannot have a full-text index: \(reason)")
        }
        switch table.kind {
        case .table: break
        case .view: throw refuse("it is a view. Index its table")
        case .virtualTable, .tableValuedFunction:
            throw refuse("it is a virtual table, and SQLite has no triggers on virtual tables")
        }
        guard !Database.isSQLiteInternalTable(table.name) else { throw refuse("it belongs to SQLite") }
        guard table.primaryKey.tableHasRowID else {
            throw refuse("it is WITHOUT ROWID, and FTS5 finds rows by their row id")
        }
        guard let key = table.primaryKey.rowIDColumn else {
            throw refuse(
                "it has no INTEGER PRIMARY KEY. FTS5 finds rows by their row id, and VACUUM may give the "
                    + "rows of such a table other ones")
        }
        return key
    }

    // MARK: - SQL

    private var tableName: String { table.name.quotedDatabaseIdentifier }
    private var index: String { name.quotedDatabaseIdentifier }
    private var notes: String { Self.notesName(name).quotedDatabaseIdentifier }
    private var sizes: String { "\(name)_docsize".quotedDatabaseIdentifier }
    private var id: String { key.quotedDatabaseIdentifier }
    private var quotedColumns: [String] { columns.map(\.quotedDatabaseIdentifier) }
    private var noteColumns: String { columns.indices.map { "c\($0)" }.joined(separator: ", ") }
    private var entryColumns: String {
        (["rowid"] + indexColumns.map(\.quotedDatabaseIdentifier)).joined(separator: ", ")
    }

    /// The statements that create the index, without its triggers.
    func creation(_ declaration: FullTextIndex, _ storage: FullTextStorage) -> [String] {
        let place = table.schemaName
        let view = Self.viewName(name)
        return [
            "CREATE VIEW \(view.quoted(in: place)) (\(entryColumns)) AS "
                + "SELECT \(([id] + quotedColumns).joined(separator: ", ")) FROM \(tableName)",
            "CREATE TABLE \(Self.notesName(name).quoted(in: place)) (k INTEGER PRIMARY KEY, \(noteColumns))",
            "CREATE VIRTUAL TABLE \(name.quoted(in: place)) USING fts5"
                + "(\(storage.arguments(indexColumns))\(Self.options(declaration)))",
            "CREATE VIRTUAL TABLE \(Self.wordsName(name).quoted(in: place)) USING fts5vocab(\(index), row)",
            "INSERT INTO \(name.quoted(in: place)) (\(index), rank) VALUES ('rank', \(declaration.rank.quotedDatabaseLiteral))",
        ]
    }

    /// The options of the table of FTS5, behind its columns.
    static func options(_ declaration: FullTextIndex) -> String {
        ", content=\(viewName(declaration.name).quotedDatabaseLiteral), content_rowid='rowid', "
            + "tokenize=\(declaration.tokenizer.sql.quotedDatabaseLiteral)"
    }

    /// The statements that index all rows again.
    var refilling: [String] {
        [
            "DELETE FROM \(Self.notesName(name).quoted(in: table.schemaName))",
            "INSERT INTO \(name.quoted(in: table.schemaName)) (\(index)) VALUES ('rebuild')",
        ]
    }

    /// The statements that drop an index, whose table may be gone.
    static func removal(of name: String, in schemaName: String) -> [String] {
        [
            "DROP TABLE IF EXISTS \(wordsName(name).quoted(in: schemaName))",
            "DROP TABLE IF EXISTS \(name.quoted(in: schemaName))",
            "DROP VIEW IF EXISTS \(viewName(name).quoted(in: schemaName))",
            "DROP TABLE IF EXISTS \(notesName(name).quoted(in: schemaName))",
        ]
    }

    /// Returns the names and the SQL of all triggers, as SQLite stores them.
    func triggers(_ db: Database) throws -> [(name: String, sql: String)] {
        let objects = try db.schema.objects(.index, in: table.schemaName)
        let uniqueKeys = table.indexes.filter(\.isUnique).map { index in
            UniqueKey(index: index, sql: objects.first { $0.name == index.name }?.sql ?? "")
        }
        func trigger(_ what: String, _ event: String, when condition: String? = nil, _ body: String...)
            -> (name: String, sql: String)
        {
            let name = "\(Self.triggerPrefix(name))\(what)"
            let when = condition.map { "WHEN \($0) " } ?? ""
            return (
                name,
                "CREATE TRIGGER \(name.quotedDatabaseIdentifier) \(event) ON \(tableName) FOR EACH ROW "
                    + "\(when)BEGIN \(body.map { "\($0);" }.joined(separator: " ")) END"
            )
        }
        let ways = ["(t.\(id) = NEW.\(id))"] + uniqueKeys.map { "(\($0.condition(table)))" }
        let others = ways.map { "\($0) AND t.\(id) IS NOT OLD.\(id)" }
        let changes =
            ["NEW.\(id) IS NOT OLD.\(id)"]
            + quotedColumns.map {
                "NEW.\($0) COLLATE BINARY IS NOT OLD.\($0) OR typeof(NEW.\($0)) IS NOT typeof(OLD.\($0))"
            }
        let isNoted = "EXISTS (SELECT 1 FROM \(notes))"
        return [
            trigger("before insert", "BEFORE INSERT", when: conflicting(ways), noting(ways)),
            trigger(
                "insert", "AFTER INSERT", removing("k = NEW.\(id)"), forgetting("k = NEW.\(id)"), adding),
            trigger("before update", "BEFORE UPDATE", when: conflicting(others), noting(others)),
            // The table has the old row until the update.
            trigger(
                "update", "BEFORE UPDATE", when: "(\(changes.joined(separator: " OR ")))",
                noting(["(t.\(id) = OLD.\(id))"])),
            trigger(
                "updated", "AFTER UPDATE", when: "(\(isNoted) OR NOT \(isIndexed("NEW.\(id)")))",
                removing("k IN (OLD.\(id), NEW.\(id))"),
                forgetting("k IN (OLD.\(id), NEW.\(id))"), adding),
            trigger(
                "delete", "AFTER DELETE",
                "INSERT INTO \(index) (\(index), \(entryColumns)) SELECT 'delete', k, \(noteColumns) "
                    + "FROM \(notes) WHERE k = OLD.\(id)",
                "INSERT INTO \(index) (\(index), \(entryColumns)) SELECT 'delete', OLD.\(id), "
                    + "\(quotedColumns.map { "OLD.\($0)" }.joined(separator: ", ")) WHERE \(isIndexed("OLD.\(id)"))",
                "DELETE FROM \(notes) WHERE k = OLD.\(id)"),
        ]
    }

    private func isIndexed(_ id: String) -> String {
        "EXISTS (SELECT 1 FROM \(sizes) AS d WHERE d.id = \(id))"
    }

    private func conflicting(_ ways: [String]) -> String {
        "(\(ways.map { "EXISTS (SELECT 1 FROM \(tableName) AS t WHERE \($0))" }.joined(separator: " OR ")))"
    }

    /// Returns SQL that notes the text of rows as the index has it.
    private func noting(_ ways: [String]) -> String {
        let ids = ways.map { "SELECT t.\(id) FROM \(tableName) AS t WHERE \($0)" }.joined(
            separator: " UNION ")
        let values = (["t.\(id)"] + quotedColumns.map { "t.\($0)" }).joined(separator: ", ")
        return "INSERT INTO \(notes) SELECT \(values) FROM \(tableName) AS t WHERE t.\(id) IN (\(ids)) "
            + "AND \(isIndexed("t.\(id)")) AND NOT EXISTS (SELECT 1 FROM \(notes) AS n WHERE n.k = t.\(id))"
    }

    /// Returns the condition of notes that are used up by now: those of given rows, and of rows
    /// that are gone.
    private func isOver(_ condition: String) -> String {
        "\(condition) OR NOT EXISTS (SELECT 1 FROM \(tableName) AS t WHERE t.\(id) = k)"
    }

    private func removing(_ condition: String) -> String {
        "INSERT INTO \(index) (\(index), \(entryColumns)) SELECT 'delete', k, \(noteColumns) FROM \(notes) "
            + "WHERE \(isOver(condition))"
    }

    private func forgetting(_ condition: String) -> String {
        "DELETE FROM \(notes) WHERE \(isOver(condition))"
    }

    /// SQL that adds the words of the row as it is now, unless the index has them.
    private var adding: String {
        let values = (["t.\(id)"] + quotedColumns.map { "t.\($0)" }).joined(separator: ", ")
        return "INSERT INTO \(index) (\(entryColumns)) SELECT \(values) FROM \(tableName) AS t "
            + "WHERE t.\(id) = NEW.\(id) AND NOT \(isIndexed("NEW.\(id)"))"
    }
}

// MARK: - Existing indexes

extension FullTextObjects {
    /// Returns the names of the indexes of a database.
    static func names(_ db: Database, in schemaName: String) throws -> [String] {
        try db.schema.objects(.view, in: schemaName).map(\.name).filter { $0.hasPrefix(ownPrefix) }
            .map { String($0.dropFirst(ownPrefix.count)) }
    }

    /// Reads an existing index. Nil if its table is gone.
    init?(existing name: String, in schemaName: String, _ db: Database) throws {
        guard let view = try db.schema.object(.view, Self.viewName(name), in: schemaName),
            let names = Self.names(inView: view.sql),
            let table = try db.schema.table(names.table, in: schemaName), table.kind == .table
        else { return nil }
        let indexColumns = try db.schema.table(name, in: schemaName)?.columns.map(\.name)
        try self.init(name: name, table: table, columns: names.columns, indexColumns: indexColumns)
    }

    /// Reads the names from the SQL of a view, which SQLite rewrites when one of them changes.
    private static func names(inView sql: String) -> (columns: [String], table: String)? {
        // The names before are quoted, so the first words outside of quotes are those of the view.
        var names: [String] = []
        var texts: [String] = [""]
        var rest = Substring(sql)
        while let first = rest.unicodeScalars.first {
            guard first == "\"" else {
                texts[texts.count - 1].unicodeScalars.append(first)
                rest.unicodeScalars.removeFirst()
                continue
            }
            var name = String.UnicodeScalarView()
            rest.unicodeScalars.removeFirst()
            while let scalar = rest.unicodeScalars.popFirst() {
                if scalar == "\"" {
                    guard rest.unicodeScalars.first == "\"" else { break }
                    rest.unicodeScalars.removeFirst()
                }
                name.append(scalar)
            }
            names.append(String(name))
            texts.append("")
        }
        guard let select = texts.firstIndex(where: { $0.contains("SELECT") }), names.count > select + 1,
            texts[texts.count - 2].contains("FROM"), let table = names.last
        else { return nil }
        // The first column is the key.
        return (Array(names[(select + 1)..<(names.count - 1)]), table)
    }

    /// Whether the triggers and the table of notes are as the schema requires.
    func arePresent(_ db: Database) throws -> Bool {
        let present = try db.schema.objects(.trigger, in: table.schemaName)
        return try triggers(db).allSatisfy { wanted in
            present.contains { $0.name == wanted.name && $0.sql == wanted.sql }
        } && db.schema.contains(.table, Self.notesName(name), in: table.schemaName)
    }
}

/// The options by which FTS5 stores an index, besides its columns and its tokenizer.
struct FullTextStorage {
    /// The columns whose words are not indexed.
    var unindexed: [String] = []
    /// Options, as SQL.
    var options: [String] = []

    /// Returns the columns and the options, as SQL.
    func arguments(_ columns: [String]) -> String {
        let columns = columns.map { column in
            let isIndexed = !unindexed.contains { CaseInsensitiveName.matches($0, column) }
            return column.quotedDatabaseIdentifier + (isIndexed ? "" : " UNINDEXED")
        }
        return (columns + options).joined(separator: ", ")
    }
}
