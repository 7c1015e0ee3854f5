// Database values from and to values of which no type is known.

extension DatabaseValue.Storage {
    /// The Swift value: an `Int64`, a `Double`, a `String` or a `Data`, or nil for NULL.
    public var value: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .int64(let integer): integer
        case .double(let double): double
        case .string(let text): text
        case .blob(let bytes): bytes
        }
    }
}

extension DatabaseValue {
    /// Makes a database value of anything. Nil where it is none that SQLite stores.
    ///
    /// - Parameter value: The value, which must be ``DatabaseValueConvertible``. An optional is its value, or NULL.
    public init?(value: Any) {
        if let convertible = value as? any DatabaseValueConvertible {
            self = convertible.databaseValue
        } else if case Optional<Any>.none = value {
            self = .null
        } else {
            return nil
        }
    }
}

extension StatementArguments {
    /// Creates arguments of values by position, of any types. Nil where one of them is none that SQLite stores.
    ///
    /// - Parameter values: The values, in the order of the parameters, as ``DatabaseValue/init(value:)`` takes them.
    public init?(_ values: [Any]) {
        var converted: [DatabaseValue] = []
        for value in values {
            guard let value = DatabaseValue(value: value) else { return nil }
            converted.append(value)
        }
        self.init(converted)
    }

    /// Creates arguments of values by name, of any types. Nil where a name is no text, or a value is none that SQLite stores.
    ///
    /// - Parameter dictionary: The values by the names of the parameters, without `:`, `@` or `$`.
    public init?(_ dictionary: [AnyHashable: Any]) {
        var converted: [String: (any DatabaseValueConvertible)?] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: value) else { return nil }
            converted[name] = value
        }
        self.init(converted)
    }
}
