/// A column of a table that is being created, or a column being added to one.
///
/// ```swift
/// try db.create(table: "player") { t in
///     t.autoIncrementedPrimaryKey("id")
///     t.column("email", .text).notNull().unique()
///     t.column("score", .integer).notNull().defaults(to: 0).check(sql: "score >= 0")
///     t.column("teamId", .integer).references("team", onDelete: .cascade).indexed()
/// }
/// ```
///
/// The SQL that you pass is used as it is: never build it from untrusted input.
public final class ColumnDefinition {
    let name: String
    let type: Database.ColumnType?

    private struct PrimaryKey {
        var conflictResolution: Database.ConflictResolution?
        var isAutoincrementing: Bool
    }
    private var primaryKeyClause: PrimaryKey?
    private var notNullClause: String?
    private var uniqueClause: String?
    private enum Check {
        case sql(String)
        case values([DatabaseValue])
    }
    private var checks: [Check] = []
    private var defaultClause: String?
    private var collation: Database.CollationName?
    private var references: [ReferencesClause] = []
    private var generatedClause: String?
    private var wantsIndex = false
    /// Whether triggers maintain the column.
    var isMaintained = false

    init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }

    // MARK: - Keys

    /// Makes the column the primary key.
    ///
    /// An `.integer` column becomes another name of the row id. Other primary keys accept NULL
    /// unless they are ``notNull(onConflict:)``: see "CREATE TABLE" in the SQLite documentation.
    /// ``TableDefinition/primaryKey(_:_:onConflict:)`` adds NOT NULL itself.
    ///
    /// - Parameters:
    ///   - conflictResolution: The policy for a row with the key of another row.
    ///   - autoincrement: Whether the row ids of deleted rows are never reused: see "SQLite
    ///     Autoincrement".
    @discardableResult
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKeyClause = PrimaryKey(
            conflictResolution: conflictResolution, isAutoincrementing: autoincrement)
        return self
    }

    /// Refuses NULL.
    ///
    /// - Parameter conflictResolution: The policy for NULL. An error by default. `.replace` stores
    ///   the default value, if there is one.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        notNullClause = "NOT NULL\(conflictResolution.clause)"
        return self
    }

    /// Refuses a value that another row has. SQLite creates an index for it. NULLs do not count as
    /// values here.
    ///
    /// - Parameter conflictResolution: The policy for a row with such a value. An error by default.
    @discardableResult
    public func unique(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        uniqueClause = "UNIQUE\(conflictResolution.clause)"
        return self
    }

    /// Adds an index on the column, named like those of
    /// ``Database/create(indexOn:in:columns:options:condition:)``.
    ///
    /// A ``unique(onConflict:)`` column already has an index, and gets no other.
    @discardableResult
    public func indexed() -> Self {
        wantsIndex = true
        return self
    }

    // MARK: - Values

    /// Refuses a row for which an SQL condition is false.
    ///
    /// ```swift
    /// t.column("name", .text).check(sql: "LENGTH(name) > 0")
    /// ```
    ///
    /// - Parameter sql: The condition, as SQL. A row for which it is NULL is accepted.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(.sql(sql.embeddedSQL))
        return self
    }

    /// Refuses a value that is not a case of an enum.
    ///
    /// ```swift
    /// enum Kind: String, CaseIterable, DatabaseValueConvertible { case cat, dog }
    ///
    /// t.column("kind", .text).notNull().check(in: Kind.self)
    /// // "kind" TEXT NOT NULL CHECK ("kind" IN ('cat', 'dog'))
    /// ```
    ///
    /// NULL is accepted unless the column is ``notNull(onConflict:)``. The error for a refused
    /// value lists the accepted values: ``DatabaseError/Constraint/values``.
    ///
    /// The table accepts the cases that the enum has now. When the enum gets another case,
    /// ``Database/rebuild(table:in:options:copying:body:)`` updates the table. `checkSchema`
    /// reports a forgotten update. For a migration that must always do the same, write the values
    /// in SQL.
    ///
    /// - Parameter type: The enum. At least one of its cases must be storable.
    @discardableResult
    public func check<Value: CaseIterable & DatabaseValueConvertible>(in type: Value.Type) -> Self {
        guard let values = CaseValues(type)?.all, !values.isEmpty else {
            Misuse.trap(
                "the column \(name) has a check for \(type), which has no case that can be stored. Add a "
                    + "case, or write the condition with check(sql:).")
        }
        checks.append(.values(values))
        return self
    }

    private func expression(_ check: Check) -> String {
        switch check {
        case .sql(let sql): return sql
        case .values(let values):
            // Swift distinguishes strings that another collation considers equal.
            let isBinary = collation.map { CaseInsensitiveName.matches($0.rawValue, "BINARY") } ?? true
            let list = values.map(\.sqlLiteral).joined(separator: ", ")
            return "\(name.quotedDatabaseIdentifier)\(isBinary ? "" : " COLLATE BINARY") IN (\(list))"
        }
    }

    /// Sets the value of a row that is inserted without one.
    ///
    /// ```swift
    /// t.column("name", .text).defaults(to: "Anonymous")
    /// ```
    ///
    /// - Parameter value: The value, written into the SQL as a literal.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        let literal = value.databaseValue.sqlLiteral
        // A string that contains a NUL has no literal. It is written as an expression, which needs
        // parentheses.
        defaultClause = "DEFAULT \(literal.hasPrefix("CAST") ? "(\(literal))" : literal)"
        return self
    }

    /// Sets the value of a row that is inserted without one, as an SQL expression.
    ///
    /// ```swift
    /// t.column("creationDate", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
    /// ```
    ///
    /// - Parameter sql: The expression, as SQL, without parentheses around it.
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultClause = "DEFAULT (\(sql.embeddedSQL))"
        return self
    }

    /// Sets the collation of the column, which compares its strings.
    ///
    /// ```swift
    /// t.column("email", .text).unique().collate(.nocase)
    /// ```
    ///
    /// - Parameter collation: The name of one of SQLite's collations, or of a collation that every
    ///   connection using the table has.
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation
        return self
    }

    /// Sets the collation of the column. Each connection that uses the table must have it.
    ///
    /// - Parameter collation: The collation. The table stores its name.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        collate(Database.CollationName(rawValue: collation.name))
    }

    /// Computes the value from other columns of the row: see "Generated Columns" in the SQLite
    /// documentation.
    ///
    /// ```swift
    /// t.column("total", .integer).generatedAs(sql: "score + bonus", .stored)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: The expression, as SQL, without parentheses around it.
    ///   - qualification: Whether the value is computed at each reading, or stored.
    @discardableResult
    public func generatedAs(sql: String, _ qualification: GeneratedColumnQualification = .virtual) -> Self {
        generatedClause = "GENERATED ALWAYS AS (\(sql.embeddedSQL)) \(qualification.rawValue)"
        return self
    }

    // MARK: - References

    /// Makes the column a foreign key.
    ///
    /// ```swift
    /// t.column("teamId", .integer).references("team", onDelete: .cascade)
    /// ```
    ///
    /// - Parameters:
    ///   - table: The referenced table. SQLite accepts one that does not exist yet.
    ///   - column: The referenced column. The primary key if nil.
    ///   - onDelete: The action on this row when the referenced row is deleted.
    ///   - onUpdate: The action on this row when the key of the referenced row changes.
    ///   - isDeferred: Whether the key is checked at the end of the transaction instead of at once.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete: Database.ForeignKeyAction? = nil,
        onUpdate: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) -> Self {
        references.append(
            ReferencesClause(
                table: table, columns: column.map { [$0] }, onDelete: onDelete, onUpdate: onUpdate,
                isDeferred: isDeferred))
        return self
    }

    // MARK: - SQL

    /// Whether the column is the primary key, through a constraint of its own.
    var isPrimaryKey: Bool { primaryKeyClause != nil }

    /// Whether an index must be created.
    var needsIndex: Bool { wantsIndex && uniqueClause == nil }

    /// Refuses NULL with the given clause, which contains more than NOT NULL.
    func notNull(sql: String) { notNullClause = sql }

    /// Refuses NULL, unless the column already does.
    func notNullByDefault() { notNullClause = notNullClause ?? "NOT NULL" }

    var sql: String {
        var words = [name.quotedDatabaseIdentifier]
        if let type, !type.rawValue.isEmpty { words.append(type.rawValue) }
        if let primaryKeyClause {
            words.append("PRIMARY KEY\(primaryKeyClause.conflictResolution.clause)")
            if primaryKeyClause.isAutoincrementing { words.append("AUTOINCREMENT") }
        }
        if let notNullClause { words.append(notNullClause) }
        if let uniqueClause { words.append(uniqueClause) }
        words += checks.map { "CHECK (\(expression($0)))" }
        if let defaultClause { words.append(defaultClause) }
        if let collation { words.append("COLLATE \(collation.rawValue.quotedDatabaseIdentifier)") }
        words += references.map(\.sql)
        if let generatedClause { words.append(generatedClause) }
        return words.joined(separator: " ")
    }
}
