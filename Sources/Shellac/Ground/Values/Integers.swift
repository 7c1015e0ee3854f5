// Bool and the integers of 8 to 64 bits as database values, with range checks on reading.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Integers of every width, and Bool.
//
// An integer reads from an INTEGER, and from a REAL that is a whole number. One that is out of
// bounds does not convert. Reading it throws an error, and never traps.

/// A Swift integer that is stored as an SQLite integer. Do not conform to this protocol: it is for
/// the types below.
public protocol _DatabaseInteger: DatabaseValueConvertible, FixedWidthInteger, Codable {}

extension _DatabaseInteger {
    @inlinable
    public var databaseValue: DatabaseValue { DatabaseValue(.int64(Int64(self))) }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(Int64(self)) }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? { exactly(value) }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? {
        guard let integer = value.integer else { return exactly(value.databaseValue) }
        return Self(exactly: integer)
    }
}

extension Int64: _DatabaseInteger {}
extension Int: _DatabaseInteger {}
extension Int32: _DatabaseInteger {}
extension Int16: _DatabaseInteger {}
extension Int8: _DatabaseInteger {}
extension UInt32: _DatabaseInteger {}
extension UInt16: _DatabaseInteger {}
extension UInt8: _DatabaseInteger {}

extension FixedWidthInteger {
    /// Converts a stored number to an integer, if that loses nothing.
    @inlinable
    static func exactly(_ value: DatabaseValue) -> Self? {
        switch value.storage {
        case .int64(let integer): Self(exactly: integer)
        case .double(let double): Self(exactly: double)
        case .null, .string, .blob: nil
        }
    }
}

/// An unsigned integer, stored as an SQLite integer if possible.
///
/// SQLite's integers are signed, of 64 bits. A larger one is stored as a blob of 8 bytes in
/// big-endian order. Nothing is lost, and it correctly sorts after all integers. SQL cannot
/// calculate with it.
extension UInt64: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue {
        if let integer = Int64(exactly: self) { return DatabaseValue(.int64(integer)) }
        return DatabaseValue(.blob(withUnsafeBytes(of: bigEndian) { Data($0) }))
    }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> UInt64? {
        guard case .blob(let data) = value.storage, data.count == 8 else { return exactly(value) }
        let integer = data.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        // Smaller numbers are stored as integers.
        return integer > Int64.max ? integer : nil
    }

    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> UInt64? {
        guard let integer = value.integer else { return fromDatabaseValue(value.databaseValue) }
        return Self(exactly: integer)
    }
}

/// An unsigned integer, stored like a `UInt64`.
extension UInt: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { UInt64(self).databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> UInt? {
        UInt64.fromDatabaseValue(value).flatMap { UInt(exactly: $0) }
    }

    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> UInt? {
        UInt64.fromSQLiteValue(value).flatMap { UInt(exactly: $0) }
    }
}

/// A Boolean, stored as 0 or 1. When it is read, 0 is false, and every other number is true.
extension Bool: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(.int64(self ? 1 : 0)) }
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(self ? 1 as Int64 : 0) }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Bool? {
        switch value.storage {
        case .int64(let integer): integer != 0
        case .double(let double): double != 0
        default: nil
        }
    }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Bool? {
        guard let integer = value.integer else { return fromDatabaseValue(value.databaseValue) }
        return integer != 0
    }
}
