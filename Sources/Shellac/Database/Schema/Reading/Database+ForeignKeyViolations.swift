/// A row that refers to a missing row: see ``Database/foreignKeyViolations(in:in:)``.
public struct ForeignKeyViolation: Hashable, Sendable, CustomStringConvertible {
    /// The table of the referring row.
    public let originTable: String
    /// The row id of the referring row. Nil in a table without row ids.
    public let originRowID: Int64?
    /// The referenced table.
    public let destinationTable: String
    /// The number of the foreign key among those of the table: see ``ForeignKeyInfo``.
    public let foreignKeyId: Int

    public var description: String {
        "\(originRowID.map { "the row \($0)" } ?? "a row") of table \(originTable) refers to a row of "
            + "table \(destinationTable) that does not exist"
    }

    /// Returns a sentence that describes the violation, with the columns of the foreign key and
    /// their values if they can be determined.
    ///
    /// - Throws: a ``DatabaseError`` if the schema or the row cannot be read.
    public func failureDescription(_ db: Database) throws -> String {
        let columns = try String.fetchAll(
            db, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?) WHERE id = ? ORDER BY seq",
            arguments: [originTable, foreignKeyId])
        var text = "FOREIGN KEY constraint violation - \(description), by \(columns.joined(separator: ", "))"
        guard let originRowID, let rowID = try db.tableSchema(originTable, in: nil).rowIDName else {
            return text
        }
        let row = try Row.fetchOne(
            db,
            sql:
                "SELECT * FROM \(originTable.quotedDatabaseIdentifier) WHERE \(rowID.quotedDatabaseIdentifier) = ?",
            arguments: [originRowID])
        if let row { text += ", in \(row)" }
        return text
    }
}

extension Database {
    /// Returns a cursor over the rows that violate foreign keys of one table, or of all tables.
    ///
    /// ```swift
    /// let violations = try db.foreignKeyViolations()
    /// while let violation = try violations.next() { print(violation) }
    /// ```
    ///
    /// - Parameters:
    ///   - tableName: The table whose foreign keys are checked. All tables if nil.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func foreignKeyViolations(
        in tableName: String? = nil, in schemaName: String? = nil
    ) throws -> AnyCursor<ForeignKeyViolation> {
        var sql = "PRAGMA "
        if let schemaName { sql += "\(schemaName.quotedDatabaseIdentifier)." }
        sql += "foreign_key_check"
        if let tableName {
            let table = try tableSchema(tableName, in: schemaName)
            sql =
                "PRAGMA \(table.schemaName.quotedDatabaseIdentifier).foreign_key_check"
                + "(\(table.name.quotedDatabaseIdentifier))"
        }
        return try Row.fetchCursor(makeStatement(sql: sql)).map { row in
            try ForeignKeyViolation(
                originTable: row[0], originRowID: row[1], destinationTable: row[2], foreignKeyId: row[3])
        }
    }

    /// Checks the foreign keys of one table, or of all tables.
    ///
    /// - Parameters:
    ///   - tableName: The table whose foreign keys are checked. All tables if nil.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY` that names the first
    ///   violating row. An error of another code if there is no such table.
    public func checkForeignKeys(in tableName: String? = nil, in schemaName: String? = nil) throws {
        guard let violation = try foreignKeyViolations(in: tableName, in: schemaName).next() else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: try violation.failureDescription(self))
    }
}
