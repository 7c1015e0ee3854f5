extension StatementArguments {
    /// Returns the values in the order of a statement's parameters.
    ///
    /// - Throws: a ``DatabaseError`` that names the values that are missing, unknown, or too many.
    func resolved(for statement: Statement) throws -> [DatabaseValue] {
        var missing: [String] = []
        var resolved: [DatabaseValue] = []
        var positional = values[...]
        var unused = Set((namedValues ?? [:]).keys)
        for (index, name) in statement.parameterNames.enumerated() {
            if let name, let value = namedValues?[name] {
                resolved.append(value)
                unused.remove(name)
            } else if let value = positional.popFirst() {
                resolved.append(value)
            } else {
                missing.append(name ?? "\(index + 1)")
            }
        }
        var complaint: String?
        if !missing.isEmpty {
            complaint =
                namedValues == nil
                ? "wrong number of arguments: \(values.count) for \(statement.parameterCount) parameters"
                : "missing arguments: \(missing.joined(separator: ", "))"
        } else if !positional.isEmpty {
            complaint =
                "wrong number of arguments: \(values.count) for \(statement.parameterCount) parameters"
        } else if !unused.isEmpty {
            complaint = "unknown arguments: \(unused.sorted().joined(separator: ", "))"
        }
        if let complaint {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: complaint, sql: statement.sql, arguments: self,
                publicStatementArguments: statement.database.configuration.publicStatementArguments)
        }
        return resolved
    }
}
