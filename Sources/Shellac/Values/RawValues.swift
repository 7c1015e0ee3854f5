// Enums with raw values, and other types that wrap one, conform with one line:
//
//     enum Color: Int, DatabaseValueConvertible { case red, white, rose }
//
// There is no short way, to a column or from one: it would pass by what a type says itself of `databaseValue` and
// `fromDatabaseValue`.

extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}
