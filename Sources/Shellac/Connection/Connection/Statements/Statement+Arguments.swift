// Validation of arguments without binding them, and the setter that skips validation.

extension Statement {
    /// Checks that arguments fit the parameters of the statement. Nothing is bound.
    ///
    /// - Parameter arguments: The arguments, which must be as many as the parameters, and have no names but theirs.
    /// - Throws: a ``DatabaseError`` that says what is missing, or too much.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try arguments.resolved(for: self)
    }

    /// Sets the arguments for the runs to come, without a check.
    ///
    /// It is for arguments that somebody else has checked. Others belong into ``setArguments(_:)``, which tells of a misspelled name.
    ///
    /// - Parameter arguments: The arguments. A parameter that gets none of them is NULL, and values that no parameter takes are
    ///   left out.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        var positional = arguments.values[...]
        self.arguments = StatementArguments(
            parameterNames.map { name in
                name.flatMap { arguments.namedValues?[$0] } ?? positional.popFirst() ?? .null
            })
    }
}
