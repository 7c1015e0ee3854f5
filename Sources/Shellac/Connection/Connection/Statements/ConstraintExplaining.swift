// Where a layer above tells more of a violated constraint than SQLite does.

/// Tells of a violated constraint what SQLite does not say. The layer of constraints has ``Database`` conform to it.
protocol ConstraintExplaining {
    /// Returns the error of a statement that has just ended, with what can be found out.
    func explain(_ refusal: DatabaseError, of statement: Statement) -> DatabaseError
}

extension Database {
    /// Returns the error of a statement that has just ended, with what can be found out of the constraint that it has violated.
    @inline(never)
    func explained(_ error: any Error, of statement: Statement) -> any Error {
        guard let refusal = error as? DatabaseError, refusal.constraint != nil, !running.isRehearsal,
            !isClosed,
            let constraints = self as Any as? any ConstraintExplaining
        else { return error }
        return constraints.explain(refusal, of: statement)
    }
}
