/// A column of a table that is being created, or added to one.
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
/// SQL that you give is SQL: never make it of what comes from outside of the program.
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
    /// Whether triggers keep the column.
    var isCounter = false

    init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }

    // MARK: - Keys

    /// Makes the column the primary key.
    ///
    /// An `.integer` column becomes another name of the row id. Other primary keys accept NULL, unless they are
    /// ``notNull(onConflict:)``: see "CREATE TABLE" in the SQLite documentation.
    /// ``TableDefinition/primaryKey(_:_:onConflict:)`` takes care of it.
    ///
    /// - Parameters:
    ///   - conflictResolution: What SQLite does when a row has the key of another one.
    ///   - autoincrement: Whether the row ids of deleted rows are never used again: see "SQLite Autoincrement".
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
    /// - Parameter conflictResolution: What SQLite does with NULL; it throws by default. `.replace` stores the default value, if
    ///   there is one.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        notNullClause = "NOT NULL\(conflictResolution.clause)"
        return self
    }

    /// Refuses a value that another row has. SQLite makes an index for it. NULLs are no values here.
    ///
    /// - Parameter conflictResolution: What SQLite does with a row of such a value; it throws by default.
    @discardableResult
    public func unique(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        uniqueClause = "UNIQUE\(conflictResolution.clause)"
        return self
    }

    /// Adds an index on the column, named as ``Database/create(indexOn:in:columns:options:condition:)`` does.
    ///
    /// A ``unique(onConflict:)`` column has an index already, and gets no other.
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

    /// Refuses a value that an enum does not have.
    ///
    /// ```swift
    /// enum Kind: String, CaseIterable, DatabaseValueConvertible { case cat, dog }
    ///
    /// t.column("kind", .text).notNull().check(in: Kind.self)
    /// // "kind" TEXT NOT NULL CHECK ("kind" IN ('cat', 'dog'))
    /// ```
    ///
    /// NULL is accepted, unless the column is ``notNull(onConflict:)``. What is refused is told with the values that are not:
    /// ``DatabaseError/Constraint/values``.
    ///
    /// The table keeps the cases that the enum has now. When it gets another one, ``Database/rebuild(table:in:options:copying:body:)``
    /// says so to the table, and `checkSchema` finds out where that was forgotten. A migration that is to do the same for ever names its
    /// values itself, in SQL.
    ///
    /// - Parameter type: The enum. At least one of its cases can be stored.
    @discardableResult
    public func check<Value: CaseIterable & DatabaseValueConvertible>(in type: Value.Type) -> Self {
        guard let values = CaseValues(type)?.all, !values.isEmpty else {
            Misuse.trap(
                "the column \(name) is to hold a \(type), which has no case that could be stored. "
                    + "Give it one, or say the condition by check(sql:).")
        }
        checks.append(.values(values))
        return self
    }

    private func expression(_ check: Check) -> String {
        switch check {
        case .sql(let sql): return sql
        case .values(let values):
            // Swift tells texts apart that another collation takes for equal.
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
    /// - Parameter value: The value, which is written into the SQL as a literal.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        let literal = value.databaseValue.sqlLiteral
        // A text with a NUL in it has no literal, and is written as an expression, which needs parentheses.
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

    /// Sets how the texts of the column compare.
    ///
    /// ```swift
    /// t.column("email", .text).unique().collate(.nocase)
    /// ```
    ///
    /// - Parameter collation: The name of one of SQLite's collations, or of one that each connection has which uses the table.
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation
        return self
    }

    /// Sets how the texts of the column compare: each connection that uses the table must have the collation.
    ///
    /// - Parameter collation: The collation, of which the table has the name.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        collate(Database.CollationName(rawValue: collation.name))
    }

    /// Computes the value from other columns of the row: see "Generated Columns" in the SQLite documentation.
    ///
    /// ```swift
    /// t.column("total", .integer).generatedAs(sql: "score + bonus", .stored)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: The expression, as SQL, without parentheses around it.
    ///   - qualification: Whether it is computed at each reading, or stored.
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
    ///   - table: The table that is referred to. SQLite accepts one that does not exist yet.
    ///   - column: The column that is referred to; the primary key if nil.
    ///   - onDelete: What happens to this row when the other one is deleted.
    ///   - onUpdate: What happens to this row when the key of the other one changes.
    ///   - isDeferred: Whether the key is checked at the end of the transaction, and not at once.
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

    /// Whether the column is the primary key, by a constraint of its own.
    var isPrimaryKey: Bool { primaryKeyClause != nil }

    /// Whether an index must be created.
    var needsIndex: Bool { wantsIndex && uniqueClause == nil }

    /// Refuses NULL, by a clause that says more.
    func notNull(sql: String) { notNullClause = sql }

    /// Refuses NULL, unless that has been said already.
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
