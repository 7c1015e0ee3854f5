// Pieces of SQL that are put together step by step.

extension SQL {
    /// Whether there is no text.
    public var isEmpty: Bool { text.isEmpty }

    /// Adds another piece behind this one.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// query.append(literal: " WHERE score > \(100)")
    /// ```
    ///
    /// - Parameter piece: The piece, which keeps its values. Nothing stands between the two: a space is part of one of them.
    public mutating func append(literal piece: SQL) { self += piece }

    /// Adds a text behind this piece.
    ///
    /// - Parameters:
    ///   - sql: The text, which becomes SQL as it is. Never give it what comes from outside of the program.
    ///   - arguments: The values of the parameters in the text. Where there are none, whoever runs the SQL may bind them.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        self += SQL(sql: sql, arguments: arguments)
    }

    /// Joins all pieces with a separator between them.
    ///
    /// - Parameters:
    ///   - elements: The pieces, in order. Without any, the text is empty.
    ///   - separator: SQL that stands between two pieces, as it is, such as `", "`.
    public init(elements: some Sequence<SQL>, separator: String = "") {
        self = elements.joined(separator: separator)
    }

    /// Returns the text, with a question mark for each value, and the values.
    ///
    /// Question marks of the text without values stay: who runs it binds them.
    ///
    /// - Parameter db: A connection, whose schema an interpolated request may ask.
    /// - Throws: a ``DatabaseError`` when values have other names than the parameters of the text, and what a request throws that
    ///   cannot be written.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        let piece = try written(on: db).positional
        return (piece.text, piece.values)
    }
}

extension SQLInterpolation {
    /// `\(literal: piece)`: another piece of SQL, with its values.
    ///
    /// - Parameter piece: The piece, as an interpolation without a label takes it.
    public mutating func appendInterpolation(literal piece: SQL) { appendInterpolation(piece) }

    /// `\(key)`: the name of a coding key, quoted.
    ///
    /// - Parameter key: The key. Its text is the name, whatever its number.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }
}
