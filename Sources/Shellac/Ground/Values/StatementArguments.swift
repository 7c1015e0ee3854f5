/// The values that a statement binds to its parameters: by position, by name, or both.
///
/// ```swift
/// try db.execute(
///     sql: "INSERT INTO player (name, score) VALUES (?, ?)",
///     arguments: ["Arthur", 1000])
///
/// try db.execute(
///     sql: "UPDATE player SET score = :score WHERE id = :id",
///     arguments: ["score": 1100, "id": 1])
/// ```
///
/// A named value is bound to the parameters `:name`, `@name` and `$name`. A named parameter may
/// also take a positional value. There must be exactly as many values as the statement has
/// parameters.
public struct StatementArguments: Hashable, Sendable {
    /// The positional values.
    @usableFromInline var positional: PositionalValues
    /// The named values, keyed by parameter name without its prefix.
    @usableFromInline var namedValues: [String: DatabaseValue]?

    /// Creates arguments without values.
    @inlinable
    public init() {
        positional = .many([])
        namedValues = nil
    }

    /// Creates positional arguments.
    ///
    /// - Parameter values: The values, in the order of the parameters. Nil is NULL.
    public init(_ values: some Sequence<(any DatabaseValueConvertible)?>) {
        positional = .many(values.map { $0?.databaseValue ?? .null })
        namedValues = nil
    }

    /// Creates positional arguments, all of one type.
    ///
    /// - Parameter values: The values, in the order of the parameters.
    public init<Value: DatabaseValueConvertible>(_ values: some Sequence<Value>) {
        positional = .many(values.map(\.databaseValue))
        namedValues = nil
    }

    /// Returns positional arguments of any types.
    ///
    /// They are those of a literal, and take less time to make, because the compiler knows the type
    /// of each. Use them where a statement runs thousands of times:
    ///
    /// ```swift
    /// let statement = try db.cachedStatement(sql: "INSERT INTO point VALUES (?, ?, ?)")
    /// for point in points { try statement.execute(arguments: .values(point.x, point.y, point.name)) }
    /// ```
    ///
    /// - Parameter value: The values, in the order of the parameters. Nil is NULL.
    @inlinable
    public static func values<each Value: DatabaseValueConvertible>(
        _ value: repeat each Value
    ) -> StatementArguments {
        var count = 0
        for _ in repeat (each Value).self { count += 1 }
        var values: [DatabaseValue] = []
        values.reserveCapacity(count)
        for value in repeat each value { values.append(value.databaseValue) }
        var arguments = StatementArguments()
        arguments.positional = .many(values)
        return arguments
    }

    /// Creates named arguments.
    ///
    /// - Parameter dictionary: The values, keyed by parameter name without `:`, `@` or `$`. Nil is
    ///   NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        positional = .many([])
        namedValues = dictionary.mapValues { $0?.databaseValue ?? .null }
    }

    /// The positional values.
    var values: [DatabaseValue] {
        get { positional.array }
        set { positional = .many(newValue) }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { values.isEmpty && (namedValues ?? [:]).isEmpty }

    /// Returns the first arguments followed by the second. A name in both has the value of the
    /// second.
    public static func + (first: StatementArguments, second: StatementArguments) -> StatementArguments {
        var sum = first
        sum += second
        return sum
    }

    /// Returns the first arguments followed by the second, as `+` does.
    public static func &+ (first: StatementArguments, second: StatementArguments) -> StatementArguments {
        first + second
    }

    /// Appends arguments, as `+=` does. Returns the replaced values of names that were in both.
    ///
    /// - Parameter arguments: The arguments.
    @discardableResult
    public mutating func append(contentsOf arguments: StatementArguments) -> [String: DatabaseValue] {
        let replaced = (namedValues ?? [:]).filter { arguments.namedValues?[$0.key] != nil }
        self += arguments
        return replaced
    }

    /// Appends the second arguments to the first.
    public static func += (first: inout StatementArguments, second: StatementArguments) {
        first.values += second.values
        guard let names = second.namedValues else { return }
        first.namedValues = (first.namedValues ?? [:]).merging(names) { _, second in second }
    }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        positional = PositionalValues(elements)
        namedValues = nil
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}

extension StatementArguments: CustomStringConvertible {
    public var description: String {
        var items = values.map(\.debugDescription)
        for (name, value) in (namedValues ?? [:]).sorted(by: { $0.key < $1.key }) {
            items.append("\(name): \(value.debugDescription)")
        }
        return "[\(items.joined(separator: ", "))]"
    }
}
