// The comparison of several classes of one table with the table, and with the stored rows.

extension DriftCheck {
    /// Checks that the table can distinguish the classes, and that its rows have listed kinds.
    ///
    /// The columns of the other classes are compared as for any class.
    ///
    /// - Returns: Whether the classes can be checked.
    mutating func checkClasses(_ classes: RecordClasses) throws -> Bool {
        do {
            try classes.check(table)
        } catch let error as DatabaseError {
            add(.kindsInvalid(message: error.message ?? "\(error.resultCode)"), classes.column)
            return false
        }
        guard classes.isBase else { return true }
        for (value, count) in try classes.unknownValues(in: table, on: db) {
            add(.unknownKind(kind: value, count: count), classes.column)
        }
        return true
    }
}
