// Validation of arguments without binding them, and the setter that skips validation.

extension Statement {
    /// Checks that arguments fit the parameters of the statement, without binding them.
    ///
    /// - Parameter arguments: The arguments. Their number must equal that of the parameters, and
    ///   their names must be names of parameters.
    /// - Throws: a ``DatabaseError`` that lists missing or superfluous arguments.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try arguments.resolved(for: self)
    }

    /// Sets the arguments for later runs, without a check.
    ///
    /// Use it for arguments that were already checked. For others, use ``setArguments(_:)``, which
    /// reports a misspelled name.
    ///
    /// - Parameter arguments: The arguments. A parameter without an argument is NULL, and
    ///   superfluous values are ignored.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        var positional = arguments.values[...]
        self.arguments = StatementArguments(
            parameterNames.map { name in
                name.flatMap { arguments.namedValues?[$0] } ?? positional.popFirst() ?? .null
            })
    }
}
