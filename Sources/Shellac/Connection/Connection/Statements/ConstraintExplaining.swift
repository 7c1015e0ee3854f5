// The point where an upper layer adds to SQLite's report of a violated constraint.

/// A source of facts about a violated constraint that SQLite does not report. The layer of
/// constraints makes ``Database`` conform to it.
protocol ConstraintExplaining {
    /// Returns the error of a statement that has just ended, with the facts that can be found out.
    func explain(_ refusal: DatabaseError, of statement: Statement) -> DatabaseError
}

extension Database {
    /// Returns the error of a statement that has just ended, with the facts that can be found out
    /// about the constraint that it has violated.
    @inline(never)
    func explained(_ error: any Error, of statement: Statement) -> any Error {
        guard let refusal = error as? DatabaseError, refusal.constraint != nil, !running.isRehearsal,
            !isClosed,
            let constraints = self as Any as? any ConstraintExplaining
        else { return error }
        return constraints.explain(refusal, of: statement)
    }
}
