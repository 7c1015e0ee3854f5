// The comparison of a class with kinds with its table, and with the stored rows.

extension DriftCheck {
    /// Checks that the table can distinguish the classes, and that its rows have listed kinds.
    ///
    /// The columns of the other classes are compared as for any class.
    ///
    /// - Returns: Whether the classes can be checked.
    mutating func checkKinds(_ kind: ClassKind) throws -> Bool {
        do {
            try kind.check(table)
        } catch let error as DatabaseError {
            add(.kindsInvalid(message: error.message ?? "\(error.resultCode)"), kind.column)
            return false
        }
        if kind.isBase { try checkRows(of: kind) }
        return true
    }

    private mutating func checkRows(of kind: ClassKind) throws {
        let name = table.name.quoted(in: table.schemaName)
        let sql = "SELECT \(kind.quotedColumn), COUNT(*) FROM \(name) GROUP BY 1 ORDER BY 1"
        for row in try Row.fetchAll(db, sql: sql) {
            let values = row.databaseValues
            if kind.listed.contains(where: { $0.kind == values[0] }) { continue }
            // Records of an unlisted base class have no kind.
            if values[0].isNull, kind.unknown == .base { continue }
            let count = Int.fromDatabaseValue(values[1]) ?? 0
            add(.unknownKind(kind: values[0], count: count), kind.column)
        }
    }
}
