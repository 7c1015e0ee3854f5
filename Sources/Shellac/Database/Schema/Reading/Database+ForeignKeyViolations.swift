/// A row that refers to a row which is not there: see ``Database/foreignKeyViolations(in:in:)``.
public struct ForeignKeyViolation: Hashable, Sendable, CustomStringConvertible {
    /// The table of the row that refers.
    public let originTable: String
    /// The row id of the row that refers. Nil in a table without row ids.
    public let originRowID: Int64?
    /// The table that is referred to.
    public let destinationTable: String
    /// The number of the foreign key among those of the table: see ``ForeignKeyInfo``.
    public let foreignKeyId: Int

    public var description: String {
        "\(originRowID.map { "the row \($0)" } ?? "a row") of table \(originTable) refers to a row of table "
            + "\(destinationTable) that is not there"
    }

    /// Returns the violation in words, with the columns of the foreign key and their values, as far as these are known.
    ///
    /// - Throws: a ``DatabaseError`` when the schema or the row cannot be read.
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
    /// Returns a cursor over the rows that violate foreign keys, of one table or of all.
    ///
    /// ```swift
    /// let violations = try db.foreignKeyViolations()
    /// while let violation = try violations.next() { print(violation) }
    /// ```
    ///
    /// - Parameters:
    ///   - tableName: The table whose foreign keys are checked; all tables if nil.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` when there is no such table.
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

    /// Checks the foreign keys of one table, or of all.
    ///
    /// - Parameters:
    ///   - tableName: The table whose foreign keys are checked; all tables if nil.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY` that names the first row that violates one, and one of
    ///   another code when there is no such table.
    public func checkForeignKeys(in tableName: String? = nil, in schemaName: String? = nil) throws {
        guard let violation = try foreignKeyViolations(in: tableName, in: schemaName).next() else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: try violation.failureDescription(self))
    }
}
