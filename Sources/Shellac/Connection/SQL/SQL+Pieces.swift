// Step-by-step composition of SQL from pieces.

extension SQL {
    /// Whether the text is empty.
    public var isEmpty: Bool { text.isEmpty }

    /// Appends another piece.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// query.append(literal: " WHERE score > \(100)")
    /// ```
    ///
    /// - Parameter piece: The piece, which keeps its values. Nothing is inserted between the two,
    ///   so include a space in one of them.
    public mutating func append(literal piece: SQL) { self += piece }

    /// Appends a text.
    ///
    /// - Parameters:
    ///   - sql: The text, which becomes SQL as it is. Never pass text from outside of the program.
    ///   - arguments: The values of the parameters in the text. Without any, the code that runs the
    ///     SQL may bind them.
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        self += SQL(sql: sql, arguments: arguments)
    }

    /// Joins all pieces with a separator.
    ///
    /// - Parameters:
    ///   - elements: The pieces, in order. Without any, the text is empty.
    ///   - separator: The SQL between two pieces, used unchanged, such as `", "`.
    public init(elements: some Sequence<SQL>, separator: String = "") {
        self = elements.joined(separator: separator)
    }

    /// Returns the text, with a question mark for each value, and the values.
    ///
    /// Question marks in a text without values are kept, for the code that runs it to bind.
    ///
    /// - Parameter db: A connection, whose schema an interpolated request may read.
    /// - Throws: a ``DatabaseError`` if names of values do not match the parameters of the text. It
    ///   also throws the error of a request that cannot be written.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        let piece = try written(on: db).positional
        return (piece.text, piece.values)
    }
}

extension SQLInterpolation {
    /// `\(literal: piece)`: another piece of SQL, with its values.
    ///
    /// - Parameter piece: The piece, which is handled as in an interpolation without a label.
    public mutating func appendInterpolation(literal piece: SQL) { appendInterpolation(piece) }

    /// `\(key)`: the name of a coding key, quoted.
    ///
    /// - Parameter key: The key. Its string value is the name, even if it has an integer value.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }
}
