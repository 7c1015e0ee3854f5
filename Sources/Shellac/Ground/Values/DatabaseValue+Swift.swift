// Conversions between database values and values of unknown types.

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
    /// Creates a database value from any value. Returns nil if SQLite cannot store it.
    ///
    /// - Parameter value: The value, which must be ``DatabaseValueConvertible``. An optional
    ///   becomes its value, or NULL.
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
    /// Creates positional arguments from values of any type. Returns nil if SQLite cannot store one
    /// of them.
    ///
    /// - Parameter values: The values, in the order of the parameters, as
    ///   ``DatabaseValue/init(value:)`` accepts them.
    public init?(_ values: [Any]) {
        var converted: [DatabaseValue] = []
        for value in values {
            guard let value = DatabaseValue(value: value) else { return nil }
            converted.append(value)
        }
        self.init(converted)
    }

    /// Creates named arguments from values of any type. Returns nil if a name is not a text, or if
    /// SQLite cannot store a value.
    ///
    /// - Parameter dictionary: The values, keyed by parameter name without `:`, `@` or `$`.
    public init?(_ dictionary: [AnyHashable: Any]) {
        var converted: [String: (any DatabaseValueConvertible)?] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: value) else { return nil }
            converted[name] = value
        }
        self.init(converted)
    }
}
