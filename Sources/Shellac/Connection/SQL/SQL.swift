/// A piece of SQL, with the values that it binds.
///
/// Interpolated values are bound, and never become part of the text:
///
/// ```swift
/// let name = "O'Brien"
/// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(1)")
/// // UPDATE player SET name = ? WHERE id = ?
///
/// let ids = [1, 2, 3]
/// let table = "player"
/// let query: SQL = "SELECT * FROM \(identifier: table) WHERE id IN \(ids)"
/// let rows = try Row.fetchAll(db, literal: query)
/// // SELECT * FROM "player" WHERE id IN (?,?,?)
/// ```
///
/// An interpolated request is written when the literal runs, in the form that SQL requires in its
/// place. An operand gets parentheses. There are none if they are already there, or if the query is
/// a statement or a part of one.
///
/// ```swift
/// let best = Player.select(Column("id")).filter(Column("score") > 100)
/// let teams: SQL = "SELECT * FROM team WHERE captainID IN (\(best))"
/// let copy: SQL = "INSERT INTO favorite \(best)"
/// ```
public struct SQL: Hashable, Sendable {
    /// The stored text, with a NUL in the place of each late part. A NUL of the caller's is an
    /// error in any case.
    private(set) var text: String

    /// The values of the text.
    private(set) var values: StatementArguments

    /// The parts that are written when the connection is known.
    private(set) var lateParts: [LateSQL] = []

    /// The text, with a question mark for each value.
    ///
    /// An interpolated request is written into it if it needs no connection. Otherwise, its place
    /// is taken by `\(…)`, which SQLite rejects: call ``build(_:)``.
    public var sql: String { lateParts.isEmpty ? text : writtenWithoutConnection.text }

    /// The values.
    public var arguments: StatementArguments {
        lateParts.isEmpty ? values : writtenWithoutConnection.values
    }

    /// Creates a piece from a text and values.
    ///
    /// - Parameters:
    ///   - sql: The text, which becomes SQL as it is. Never pass text from outside of the program.
    ///   - arguments: The values of the parameters in the text. Without any, the code that runs the
    ///     SQL may bind them.
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        (text, values) = (sql, arguments)
    }

    init(_ part: LateSQL) {
        self.init(sql: "\0")
        lateParts = [part]
    }

    /// Returns a piece with another text, and the same late parts. Late parts beyond its end are
    /// left out.
    func replacingText(_ change: (String) -> String) -> SQL {
        var piece = self
        piece.text = change(text)
        if !lateParts.isEmpty { piece.lateParts = Array(lateParts.prefix(piece.text.utf8.count { $0 == 0 })) }
        return piece
    }

    /// Concatenates two fragments and their arguments.
    ///
    /// Each fragment keeps its meaning. Parameters with names or numbers become question marks, so
    /// that they never take the values of the other fragment. A comment at the end of the first
    /// fragment is closed.
    public static func + (first: SQL, second: SQL) -> SQL {
        var sum = first
        sum += second
        return sum
    }

    /// Appends another piece. A comment at the end of this one is closed.
    public static func += (first: inout SQL, second: SQL) {
        first = first.inFrontOfOthers
        first.append(second.amongOthers)
    }

    /// Appends a piece that is already prepared for its place among others.
    mutating func append(_ piece: SQL) {
        text += piece.text
        values += piece.values
        if !piece.lateParts.isEmpty { lateParts += piece.lateParts }
    }

    /// The piece, prepared for a place among others. If its values do not fit, it remains
    /// unchanged, and SQLite will report the error.
    private var amongOthers: SQL { values.isEmpty ? self : (try? positional) ?? self }

    /// The piece, prepared for a place in front of others: its last comment is closed.
    fileprivate var inFrontOfOthers: SQL {
        amongOthers.replacingText(\.closingLastComment)
    }
}

extension Sequence<SQL> {
    /// Joins all pieces with a separator.
    ///
    /// ```swift
    /// let conditions: [SQL] = ["score > \(100)", "name LIKE \("A%")"]
    /// let query: SQL = "SELECT * FROM player WHERE \(conditions.joined(separator: " AND "))"
    /// ```
    ///
    /// - Parameter separator: The SQL between two pieces, used unchanged. It is empty by default.
    public func joined(separator: String = "") -> SQL {
        var joined = SQL(sql: "")
        for (index, piece) in enumerated() {
            if index > 0 { joined.append(SQL(sql: separator)) }
            joined.append(piece.inFrontOfOthers)
        }
        return joined
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(sql: value) }

    @_documentation(visibility: internal)
    public init(stringInterpolation: SQLInterpolation) { self = stringInterpolation.fragment }
}

/// A collector for the parts of an ``SQL`` literal.
public struct SQLInterpolation: StringInterpolationProtocol {
    fileprivate var fragment = SQL(sql: "")

    @_documentation(visibility: internal)
    public init(literalCapacity: Int, interpolationCount: Int) {}

    @_documentation(visibility: internal)
    public mutating func appendLiteral(_ literal: String) { fragment.append(SQL(sql: literal)) }

    /// `\(name)`: binds a value.
    ///
    /// - Parameter value: The value. Nil is NULL.
    public mutating func appendInterpolation(_ value: (any DatabaseValueConvertible)?) {
        fragment.append(SQL(sql: "?", arguments: [value]))
    }

    /// `\(ids)`: binds a list of values, in parentheses.
    ///
    /// - Parameter values: The values. An empty list is valid in SQLite, too: `IN ()` finds
    ///   nothing.
    public mutating func appendInterpolation<Values: Sequence>(_ values: Values)
    where Values.Element: DatabaseValueConvertible {
        let values = values.map(\.databaseValue)
        let marks = values.map { _ in "?" }.joined(separator: ",")
        fragment.append(SQL(sql: "(\(marks))", arguments: StatementArguments(values)))
    }

    // A blob is a sequence of values, but also a single value.

    /// `\(data)`: binds a blob.
    ///
    /// - Parameter value: The bytes, which are a single value rather than a list.
    public mutating func appendInterpolation<Value: DatabaseValueConvertible & Sequence>(_ value: Value)
    where Value.Element: DatabaseValueConvertible {
        fragment.append(SQL(sql: "?", arguments: [value]))
    }

    /// `\(identifier: table)`: a name, quoted.
    ///
    /// - Parameter name: The name, without quotes.
    public mutating func appendInterpolation(identifier name: String) {
        fragment.append(SQL(sql: name.quotedDatabaseIdentifier))
    }

    /// `\(fragment)`: another piece of SQL, with its values.
    ///
    /// - Parameter fragment: The piece, which keeps its own meaning. A comment at its end is
    ///   closed.
    public mutating func appendInterpolation(_ fragment: SQL) {
        self.fragment.append(fragment.inFrontOfOthers)
    }

    /// `\(sql: text)`: a text that becomes SQL as it is.
    ///
    /// - Parameters:
    ///   - sql: The text. Never pass text from outside of the program.
    ///   - arguments: The values of the parameters in the text.
    public mutating func appendInterpolation(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) {
        appendInterpolation(SQL(sql: sql, arguments: arguments))
    }
}
