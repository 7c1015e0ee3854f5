// Matches arguments to the parameters of a statement, by name and by position.

extension StatementArguments {
    /// Returns the values in the order of a statement's parameters.
    ///
    /// - Throws: a ``DatabaseError`` that lists missing, unknown, or superfluous values.
    func resolved(for statement: Statement) throws -> [DatabaseValue] {
        try resolved(for: statement.parameterNames) { complaint in
            DatabaseError(
                resultCode: .SQLITE_MISUSE, message: complaint, sql: statement.sql, arguments: self,
                publicStatementArguments: statement.database.configuration.publicStatementArguments)
        }
    }

    /// Returns the values in the order of parameters.
    ///
    /// - Parameters:
    ///   - parameters: The names of the parameters, without their prefix.
    ///   - makeError: A function that creates the error from a sentence, which lists missing,
    ///     unknown, or superfluous values.
    /// - Throws: the error.
    func resolved(
        for parameters: [String?], _ makeError: (String) -> DatabaseError
    ) throws -> [DatabaseValue] {
        var missing: [String] = []
        var resolved: [DatabaseValue] = []
        var positional = values[...]
        var unused = Set((namedValues ?? [:]).keys)
        for (index, name) in parameters.enumerated() {
            if let name, let value = namedValues?[name] {
                resolved.append(value)
                unused.remove(name)
            } else if let value = positional.popFirst() {
                resolved.append(value)
            } else {
                missing.append(name ?? "\(index + 1)")
            }
        }
        var wrongNumber: String {
            "wrong number of arguments: \(values.count) for \(parameters.count) parameters"
        }
        if !missing.isEmpty {
            throw makeError(
                namedValues == nil ? wrongNumber : "missing arguments: \(missing.joined(separator: ", "))")
        }
        if !positional.isEmpty { throw makeError(wrongNumber) }
        if !unused.isEmpty {
            throw makeError("unknown arguments: \(unused.sorted().joined(separator: ", "))")
        }
        return resolved
    }
}
