// Enums with raw values, and other types that wrap one, conform with one line:
//
//     enum Color: Int, DatabaseValueConvertible { case red, white, rose }
//
// There is no short way, to a column or from one: it would pass by what a type says itself of `databaseValue` and
// `fromDatabaseValue`.

extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value, as a column stores it.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Returns the value of a raw value that was stored, or nil where there is none, as for an unknown case of an enum.
    ///
    /// - Parameter value: The stored raw value. Nil is returned where it does not convert, too.
    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}
