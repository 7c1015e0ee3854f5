extension Statement {
    /// Checks that arguments are as many as the statement has parameters, and that their names are known. Nothing is bound.
    ///
    /// - Throws: a ``DatabaseError`` that says what is missing, or too much.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try arguments.resolved(for: self)
    }

    /// Sets the arguments for the runs to come, without a check: parameters that get no value are NULL, and values that no parameter
    /// takes are left out.
    ///
    /// It is for arguments that somebody else has checked. Others belong into ``setArguments(_:)``, which tells of a misspelled name.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        var positional = arguments.values[...]
        self.arguments = StatementArguments(
            parameterNames.map { name in
                name.flatMap { arguments.namedValues?[$0] } ?? positional.popFirst() ?? .null
            })
    }
}
