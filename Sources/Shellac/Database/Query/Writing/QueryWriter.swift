/// A writer to which a request is written piece by piece.
///
/// There are two writers. ``SQLWriter`` produces the SQL. ``ShapeWriter`` produces a key that
/// distinguishes requests with different SQL, in a fraction of the time. The same code writes to
/// either, so both get the same values in the same order. That is why a statement found by its
/// shape gets the right arguments.
protocol QueryWriter {
    /// Whether the writer needs the conditions on the rows of the queries that it writes.
    static var asksForConditions: Bool { get }
    /// The connection that provides the schema.
    var database: Database? { get }
    /// The tables of the query that is being written, and of the enclosing ones.
    var current: QueryTables? { get set }
    var enclosing: [QueryTables] { get set }
    /// The table of unqualified columns. Nil if SQLite determines it.
    var scope: ColumnScope? { get set }
    /// Sets the table of the columns that follow.
    mutating func begin(_ scope: ColumnScope)
    /// Writes SQL.
    mutating func text(_ text: StaticString)
    /// Writes SQL that is unknown at compile time: a keyword, the name of a function.
    mutating func keyword(_ text: String)
    /// Writes a name, quoted.
    mutating func name(_ name: String)
    /// Writes a parameter, and binds a value.
    mutating func value(_ value: DatabaseValue)
    /// Writes an SQL fragment without late parts, with its values.
    mutating func plainFragment(_ fragment: SQL) throws
    /// Writes a query inside an SQL fragment.
    mutating func query(_ query: Subquery, at place: SQLPlace) throws
    /// Writes an expression. Adds parentheses unless it binds tighter than a level.
    mutating func expression(_ expression: SQLExpression, above level: Precedence) throws
    /// Writes the name of a type's table.
    mutating func table(of type: any TableRecord.Type) throws
    /// Writes the selection of a type.
    mutating func selection(of type: any TableRecord.Type) throws
    /// Writes the selection of a type whose table is joined with others.
    mutating func joinedSelection(of type: any TableRecord.Type, alias: String?) throws
    /// Writes the columns that identify the rows of a table, with separators between them.
    mutating func rowKey(of source: QuerySource, _ separator: StaticString) throws
    /// Writes the condition on the rows with the given primary keys.
    mutating func condition(_ keys: KeyCondition) throws
    /// Writes the condition of a query whose key columns belong to the named table.
    mutating func condition(_ condition: SQLExpression, of table: @autoclosure () -> String?) throws
}

extension QueryWriter {
    /// Writes an SQL fragment with its values.
    mutating func fragment(_ fragment: SQL, as role: SQLRole = .expression) throws {
        if fragment.lateParts.isEmpty { return try plainFragment(fragment) }
        for segment in try fragment.segments(as: role) {
            switch segment {
            case .text(let text): keyword(text)
            case .value(let value): self.value(value)
            case .late(let part, let place): try (part as? LatePart)?.write(to: &self, at: place)
            }
        }
    }

    /// Writes elements, with commas between them.
    mutating func list<Element>(_ elements: [Element], _ write: (inout Self, Element) throws -> Void) rethrows
    {
        var isFirst = true
        for element in elements {
            if !isFirst { text(", ") }
            isFirst = false
            try write(&self, element)
        }
    }

    /// Writes operands joined by an operator whose order of evaluation does not matter.
    ///
    /// If there are many, they are split into halves in parentheses. SQLite refuses a tree deeper
    /// than 1000, as it arises if each operator is an operand of the next. See "Limits In SQLite",
    /// section "Maximum Depth Of An Expression Tree".
    mutating func balanced<Element>(
        _ operands: ArraySlice<Element>, _ text: StaticString, _ write: (inout Self, Element) throws -> Void
    ) throws {
        guard operands.count > 64 else {
            for (index, operand) in zip(operands.indices, operands) {
                if index > operands.startIndex { self.text(text) }
                try write(&self, operand)
            }
            return
        }
        let middle = operands.startIndex + operands.count / 2
        self.text("(")
        try balanced(operands[..<middle], text, write)
        self.text(")")
        self.text(text)
        self.text("(")
        try balanced(operands[middle...], text, write)
        self.text(")")
    }

    /// Writes expressions, with commas between them.
    mutating func list(_ expressions: [SQLExpression]) throws {
        try list(expressions) { try $0.expression($1, above: .lowest) }
    }
}

/// Writes the SQL of a request, with the fewest parentheses.
struct SQLWriter: QueryWriter {
    static var asksForConditions: Bool { true }
    private(set) var sql = ""
    private(set) var arguments: [DatabaseValue] = []
    /// The connection that provides the primary keys.
    let database: Database?
    var current: QueryTables?
    var enclosing: [QueryTables] = []
    var scope: ColumnScope?
    /// The generated names of unnamed tables: see ``TableAlias``.
    private var givenNames: [String: String] = [:]
    /// Whether a table got a generated name.
    var hasGivenNames: Bool { !givenNames.isEmpty }
    /// Whether the SQL depends on the schema.
    private(set) var dependsOnSchema = false
    /// The table of key columns, if they could belong to another one.
    private var keyTable: String?

    init(_ database: Database?) { self.database = database }

    var fragment: SQL { SQL(sql: sql, arguments: StatementArguments(arguments)) }

    mutating func begin(_ scope: ColumnScope) {}
    mutating func text(_ text: StaticString) { sql += text.description }
    mutating func keyword(_ text: String) { sql += text }
    mutating func name(_ name: String) { sql += known(name).quotedDatabaseIdentifier }

    /// Returns the name of a table in the statement.
    private mutating func known(_ name: String) -> String {
        guard AliasNumber.isUnnamed(name) else { return name }
        if let given = givenNames[name] { return given }
        let given = "shellac_table\(givenNames.count)"
        givenNames[name] = given
        return given
    }

    mutating func value(_ value: DatabaseValue) {
        sql += "?"
        arguments.append(value)
    }

    mutating func plainFragment(_ fragment: SQL) throws {
        let fragment = try fragment.positional
        sql += fragment.text.embeddedSQL
        arguments += fragment.values.values
    }

    mutating func query(_ query: Subquery, at place: SQLPlace) throws {
        guard case .query(let clauses) = place else {
            sql += "("
            try query.write(to: &self)
            sql += ")"
            return
        }
        let around = sql
        sql = ""
        try query.write(to: &self)
        let own = SQLPlace.Clauses(of: sql)
        if clauses.contains(.conflict) {
            sql = "SELECT * FROM (\(sql)) WHERE true"
        } else if !own.isDisjoint(with: clauses.conflicting) {
            sql = "SELECT * FROM (\(sql))"
        }
        sql = around + sql
    }

    mutating func expression(_ expression: SQLExpression, above level: Precedence) throws {
        switch expression.form {
        case .value(let value): self.value(value)
        case .column(let column):
            if let scope, scope.isColumn(column) {
                name(scope.table)
                sql += "."
            }
            name(column)
        case .tree(let tree):
            let tree = unsafeDowncast(tree, to: ExpressionTree.self)
            if case .late(let late) = tree.syntax { return try self.expression(known(late), above: level) }
            if tree.syntax.precedence > level {
                try tree.write(to: &self)
            } else {
                sql += "("
                try tree.write(to: &self)
                sql += ")"
            }
        }
    }

    mutating func table(of type: any TableRecord.Type) throws {
        try database?.queries.checkTableName(of: type)
        name(type.databaseTableName)
    }

    mutating func selection(of type: any TableRecord.Type) throws {
        try list(type.databaseSelection) { try $1.sqlSelection.write(to: &$0) }
    }

    mutating func joinedSelection(of type: any TableRecord.Type, alias: String?) throws {
        let table = alias ?? type.databaseTableName
        try list(type.databaseSelection) { writer, selectable in
            switch selectable.sqlSelection.form {
            case .allColumns: try SQLSelection(.allColumns(of: table)).write(to: &writer)
            case .expression(let expression, let name):
                guard case .column(let column) = expression.form else {
                    return try selectable.sqlSelection.write(to: &writer)
                }
                let qualified = SQLExpression(.column(table: table, name: column))
                try SQLSelection(.expression(qualified, name: name)).write(to: &writer)
            }
        }
    }

    // MARK: - Primary keys

    private mutating func schema(of source: QuerySource) throws -> (table: TableSchema, key: [String]) {
        let database = try schema()
        dependsOnSchema = true
        let table = try database.tableSchema(of: source)
        return (table, try source.primaryKey(of: table))
    }

    mutating func rowKey(of source: QuerySource, _ separator: StaticString) throws {
        let table = source.alias.map { known($0).quotedDatabaseIdentifier + "." } ?? ""
        // Any number of rows may have NULL in their key: see "CREATE TABLE", section "The PRIMARY
        // KEY".
        let key: [String]
        if let database, let rowID = try database.tableSchema(of: source).rowIDName {
            dependsOnSchema = true
            key = [rowID]
        } else {
            key = try schema(of: source).key
        }
        sql += key.map { table + $0.quotedDatabaseIdentifier }.joined(separator: separator.description)
    }

    mutating func condition(_ condition: SQLExpression, of table: @autoclosure () -> String?) throws {
        let outer = keyTable
        keyTable = table()
        defer { keyTable = outer }
        try expression(condition, above: .lowest)
    }

    /// Writes a column of a key.
    private mutating func keyColumn(_ column: String) {
        if let keyTable = keyTable ?? scope?.table {
            name(keyTable)
            sql += "."
        }
        name(column)
    }

    mutating func condition(_ keys: KeyCondition) throws {
        let source = keys.source
        let (table, primaryKey) = try schema(of: source)
        let keys = try keys.keys { (table, primaryKey) }
        switch keys {
        case .values(let values):
            guard primaryKey.count == 1 else {
                throw RecordError.compositeKey(databaseTableName: table.name, columns: primaryKey)
            }
            keyColumn(primaryKey[0])
            if values.count == 1 {
                sql += " = "
                value(values[0])
            } else if let json = keys.json {
                // Without the +, it would be a column, and SQLite would not convert the key for it:
                // see "Datatypes In SQLite".
                sql += " IN (SELECT +value FROM json_each("
                value(json)
                sql += "))"
            } else {
                sql += " IN ("
                list(values) { $0.value($1) }
                sql += ")"
            }
        case .rows(let columns, let rows):
            let names = Set(columns.map(CaseInsensitiveName.init))
            let isDeclared = names == Set(primaryKey.map(CaseInsensitiveName.init))
            if !isDeclared {
                let current = tables.last { $0.source.tableName == source.tableName }
                _ = try table.uniqueKey(of: columns, among: current ?? QueryTables(SelectQuery(source)))
            }
            try balanced(rows[...], " OR ") { writer, row in
                for (place, (column, value)) in zip(columns, row).enumerated() {
                    if place > 0 { writer.sql += " AND " }
                    writer.keyColumn(column)
                    writer.sql += " = "
                    writer.value(value)
                }
            }
        }
    }
}

extension Database {
    /// Returns the table of a source whose rows are found by their keys.
    func tableSchema(of source: QuerySource) throws -> TableSchema {
        guard let name = source.tableName else {
            throw DatabaseError(message: "only the rows of a table can be found by primary key")
        }
        return try source.type?.tableSchema(on: self) ?? tableSchema(name)
    }
}

extension QuerySource {
    /// Returns the columns of the primary key.
    func primaryKey(of table: TableSchema) throws -> [String] {
        let key = type?.primaryKey(of: table) ?? table.primaryKey.columns
        guard !key.isEmpty else { throw DatabaseError(missingPrimaryKeyOf: table.name) }
        return key
    }
}

extension DatabaseError {
    init(missingPrimaryKeyOf table: String) {
        self.init(
            message: "\(table) has no primary key to find a row by: declare one with `static var "
                + "databasePrimaryKey`, or fetch by a query")
    }
}

extension TableRecord {
    /// Returns the columns of the primary key, as given by the type, or else by the schema.
    static func primaryKey(of table: TableSchema) -> [String] {
        databasePrimaryKey ?? table.primaryKey.columns
    }

    /// The SQL between `SELECT` and `FROM`.
    static var selectionSQL: String {
        get throws {
            var writer = SQLWriter(nil)
            try writer.selection(of: self)
            return try writer.fragment.literalSQL(on: nil)
        }
    }
}
