// Pieces of SQL that are put together step by step.

extension SQL {
    /// Whether there is no text.
    public var isEmpty: Bool { sql.isEmpty }

    /// Adds another piece behind this one.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// query.append(literal: " WHERE score > \(100)")
    /// ```
    public mutating func append(literal piece: SQL) { self += piece }

    /// Adds a text behind this piece, which becomes SQL as it is. Never give it what comes from outside of the program.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        self += SQL(sql: sql, arguments: arguments)
    }

    /// Joins all pieces with a separator between them.
    public init(elements: some Sequence<SQL>, separator: String = "") {
        self = elements.joined(separator: separator)
    }

    /// Returns the text, with a question mark for each value, and the values.
    ///
    /// Question marks of the text without values stay: who runs it binds them.
    ///
    /// - Throws: a ``DatabaseError`` when values have other names than the parameters of the text.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        let piece = try positional
        return (piece.sql, piece.arguments)
    }
}

extension SQLInterpolation {
    /// `\(literal: piece)`: another piece of SQL, with its values.
    public mutating func appendInterpolation(literal piece: SQL) { appendInterpolation(piece) }

    /// `\(key)`: the name of a coding key, quoted.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }
}
