// Enums with raw values, and other types that wrap one, conform with one line:
//
//     enum Color: Int, DatabaseValueConvertible { case red, white, rose }

extension DatabaseValueConvertible where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }

    @inlinable
    public static func fromSQLiteValue(_ value: SQLiteValue) -> Self? {
        RawValue.fromSQLiteValue(value).flatMap(Self.init(rawValue:))
    }
}
