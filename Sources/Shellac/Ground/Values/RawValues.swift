// Enums with raw values, and other types that wrap one, conform with one line:
//
//     enum Color: Int, DatabaseValueConvertible { case red, white, rose }
//
// They have no fast path, to a column or from one. It would bypass the type's own `databaseValue`
// and `fromDatabaseValue`.

extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value, as a column stores it.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Returns the value of a stored raw value. Returns nil if there is none, as for an unknown
    /// case of an enum.
    ///
    /// - Parameter value: The stored raw value. If it does not convert, the result is nil, too.
    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}
