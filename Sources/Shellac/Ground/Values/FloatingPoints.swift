// Double and Float as database values. SQLite has no not-a-number, so it is stored as NULL.
//
// They read from a REAL and from an INTEGER, since a REAL column may hold either.

extension Double: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(.double(self)) }
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(self) }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Double? {
        switch value.storage {
        case .int64(let integer): Double(integer)
        case .double(let double): double
        default: nil
        }
    }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Double? {
        value.real ?? fromDatabaseValue(value.databaseValue)
    }
}

/// A float, stored as the double of the same value. A stored double is rounded to the nearest float
/// when it is read.
extension Float: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { Double(self).databaseValue }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(value).map(Float.init)
    }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Float? {
        Double.fromSQLiteValue(value).map(Float.init)
    }
}
