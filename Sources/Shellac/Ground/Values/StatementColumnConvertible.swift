// The protocol of types that are read from a statement's column by SQLite's C interface.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A statement of SQLite's C interface.
public typealias SQLiteStatement = OpaquePointer

/// A type that reads itself from a column of a running statement, with SQLite's C interface.
///
/// ```swift
/// struct Meters: DatabaseValueConvertible, StatementColumnConvertible {
///     var value: Double
///
///     init(value: Double) { self.value = value }
///
///     init?(sqliteStatement: SQLiteStatement, index: CInt) {
///         value = sqlite3_column_double(sqliteStatement, index)
///     }
///
///     var databaseValue: DatabaseValue { value.databaseValue }
///
///     static func fromDatabaseValue(_ value: DatabaseValue) -> Meters? {
///         Double.fromDatabaseValue(value).map { Meters(value: $0) }
///     }
/// }
/// ```
///
/// If a conforming type is also ``DatabaseValueConvertible``, the initializer reads it from a
/// statement's current row, unless the value is NULL. Elsewhere,
/// ``DatabaseValueConvertible/fromDatabaseValue(_:)`` reads it. Both must accept the same values.
///
/// For new types, prefer ``DatabaseValueConvertible/fromSQLiteValue(_:)``. It does the same without
/// the C interface, and for values from any source.
public protocol StatementColumnConvertible {
    /// Reads the value in a column, which is not NULL. Fails if it does not convert.
    ///
    /// - Parameters:
    ///   - sqliteStatement: A statement with a current row.
    ///   - index: The column, from 0.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

extension StatementColumnConvertible where Self: DatabaseValueConvertible {
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let pointer = sqlite3_column_value(sqliteStatement, index),
            let value = Self.fromDatabaseValue(SQLiteValue(pointer).databaseValue)
        else { return nil }
        self = value
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? {
        // (The value is packed first: reading a column with the C interface may convert the value
        // inside SQLite.)
        let known = value.databaseValue
        guard !known.isNull, let column = value.statementColumn else { return fromDatabaseValue(known) }
        return Self(sqliteStatement: column.statement, index: column.index)
    }
}

extension SQLiteValue {
    /// The statement whose current row contains the value, and the column.
    fileprivate var statementColumn: (statement: SQLiteStatement, index: CInt)? {
        guard case .sqlite(_, let row?, let column) = source, let statement = row.storage.pointee.statement
        else { return nil }
        return (statement, CInt(truncatingIfNeeded: row.storage.pointee.firstColumn + column))
    }
}

// For an integer type that conforms to both protocols, its own fast path is faster.
extension _DatabaseInteger where Self: StatementColumnConvertible {
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? {
        guard let integer = value.integer else { return exactly(value.databaseValue) }
        return Self(exactly: integer)
    }
}

extension Int: StatementColumnConvertible {}
extension Int64: StatementColumnConvertible {}
extension Int32: StatementColumnConvertible {}
extension Int16: StatementColumnConvertible {}
extension Int8: StatementColumnConvertible {}
extension UInt32: StatementColumnConvertible {}
extension UInt16: StatementColumnConvertible {}
extension UInt8: StatementColumnConvertible {}
extension Bool: StatementColumnConvertible {}
extension Double: StatementColumnConvertible {}
extension String: StatementColumnConvertible {}
extension Data: StatementColumnConvertible {}
extension Date: StatementColumnConvertible {}
extension DatabaseValue: StatementColumnConvertible {}
